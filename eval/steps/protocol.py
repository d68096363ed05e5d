"""Score the steps of each item by a model, and the figures of the scores.

OlympicArena, section 4.4 (figure 4, b and c), and appendix C.6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from gradegpt.core.errors import InputError
from gradegpt.core.records import read_rows
from gradegpt.core.schema import Item, Judgement, Verdict
from gradegpt.judges.statistics import pearson, spearman
from gradegpt.tables.importers.labelled import item_key
from gradegpt.tables.inputs import USUAL, Reading

from ..asking import Protocol, read_asked
from ..figures import Figure, ProtocolSummary, grouped, mean, related
from ..judging import paired, tagged
from .chain import VERSION, StepScores, build_step_prompt, nothing_to_score, place, read_step_reply

_BINS: Final = 10


class ScoredItem(NamedTuple):
    """An item, its step scores, and whether its answer is right, where it was judged."""

    item: Item
    steps: StepScores
    right: bool | None

    @property
    def key(self) -> str:
        """The question, whose responses are not independent."""
        return item_key(self.item)


def steps_protocol(
    path: Path, out: Path, reading: Reading = USUAL, *, judgements: Path | None = None
) -> Protocol[StepScores]:
    """The step scores of the items of ``path``.

    Items without steps or without a reference solution are ``undecided`` and not asked about.
    ``judgements``, those of a judge for these items, compare the answers with the steps.

    Raises:
        InputError: a row is not an item, no row can be scored, or the judgements are of other rows.

    """
    items = [one.item for one in read_asked(path, reading=reading, answered=True)]
    prompts = [build_step_prompt(item) or "" for item in items]
    if not any(prompts):
        what = "give a response, and a reference solution in the column solution or steps"
        raise InputError(f"{path}: no row can be scored, {nothing_to_score(items[0])}; {what}")
    verdicts: list[Verdict | None] = [None] * len(items)
    if judgements:
        verdicts = [j.verdict for _, j in paired(items, list(read_rows(judgements, Judgement)))]

    def summary(rows: Mapping[int, StepScores]) -> ProtocolSummary:
        right = [None if verdict is None else verdict is Verdict.CORRECT for verdict in verdicts]
        return summarise([ScoredItem(items[n], row, right[n]) for n, row in rows.items()])

    return Protocol(
        source=path, out=out, max_new_tokens=4096,
        version=f"steps-{VERSION}", prompts=prompts,
        read=lambda n, reply: read_step_reply(items[n], reply.reply), summary=summary,
    )  # fmt: skip


def summarise(rows: Sequence[ScoredItem]) -> ProtocolSummary:
    """The figures of all rows, of each value of a tag, and between the values of each tag.

    In a correlation the answer is 1 or 0, so Pearson's is the point-biserial one (figure 4b).
    """
    tags = tagged(rows, lambda row: row.item.tags)
    judged = any(row.right is not None for row in rows)
    groups = {"all": _group(rows, judged=judged)} | {
        name: _group(own, judged=judged, draws=0) for name, own in grouped(tags)
    }
    if judged:
        groups |= {
            f"between values of {tag}": _between([groups[f"{tag}: {value}"] for value in values])
            for tag, values in tags.items()
        }
    return ProtocolSummary(figures=groups, counts=_counts([row.steps for row in rows]))


def _group(
    rows: Sequence[ScoredItem], *, judged: bool, draws: int = 2000
) -> dict[str, Figure | None]:
    figures = {"process score": mean((row.key, row.steps.mean) for row in rows)}
    if not judged:
        return figures
    pairs = [(row.key, row.right, row.steps.mean) for row in rows]
    return figures | {
        "answers right": mean((row.key, row.right) for row in rows),
        "process score if right": mean((key, mean) for key, right, mean in pairs if right),
        "if wrong": mean((key, mean) for key, right, mean in pairs if right is False),
        "Pearson": related(pearson, pairs, draws),
        "Spearman": related(spearman, pairs, draws),
    }


def _between(groups: Sequence[Mapping[str, Figure | None]]) -> dict[str, Figure | None]:
    """The correlation of the values' means (figure 4b)."""
    figures = [(group["answers right"], group["process score"]) for group in groups]
    means = [(str(n), a.value, p.value) for n, (a, p) in enumerate(figures) if a and p]
    return {"Pearson": related(pearson, means, 0), "Spearman": related(spearman, means, 0)}


def _counts(rows: Sequence[StepScores]) -> dict[str, Any]:
    """Rows without a score by reason, and the positions of errors in tenths (figure 4c)."""
    firsts = [row.first_error_at for row in rows if row.first_error_at is not None]
    every = [place(n, row.n_steps) for row in rows for n, s in enumerate(row.scores, 1) if s == 0]
    bins = [np.histogram(places, _BINS, (0, 1))[0].tolist() for places in (firsts, every)]
    reasons = Counter(row.reason for row in rows if row.mean is None)
    return {
        "rows": len(rows),
        "responses with a wrong step": len(firsts),
        "first wrong steps, by tenths of the response": bins[0],
        "all wrong steps, by tenths": bins[1],
    } | {f"no process score, {reason}": n for reason, n in sorted(reasons.items())}
