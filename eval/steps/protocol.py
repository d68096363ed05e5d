"""Score the steps of each item, by rules or by a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import typer

from gradegpt.core.errors import InputError
from gradegpt.core.records import read_rows, write_json
from gradegpt.core.schema import Item, Judgement, Outcome
from gradegpt.judges.rules import VERSION as RULES

from ..asking import Protocol, read_asked
from ..console import decimal, percent, say, show, shown
from ..judging import paired
from .chain import METHOD, build_step_prompt, read_step_reply
from .chain import VERSION as CHAIN
from .rules import VERSION as STEPS
from .rules import StepScores, not_judged, score_by_rules
from .split import response_steps
from .summary import BINS, LABELS, StepGroup, StepSummary, summarise

_BAR: Final = 40


def steps_protocol(
    path: Path,
    out: Path,
    columns: Mapping[str, str] | None = None,
    *,
    by_model: bool,
    judgements: Path | None = None,
) -> Protocol[StepScores]:
    """The step scores of the items of ``path``, by rules or by a model.

    Items without steps or without a reference solution are ``undecided`` and not asked about.
    ``judgements``, those of a judge for these items, compare the answers with the steps.

    Raises:
        InputError: a row is not an item, its ``meta.step_labels`` are not one 0 or 1 for each step
            of its response, or the judgements are of other rows.

    """
    asked = read_asked(path, columns=columns, answered=True)
    for one in asked:
        _check_labels(one.item, one.where)
    items = [one.item for one in asked]
    judged = (
        [j for _, j in paired(items, list(read_rows(judgements, Judgement)))] if judgements else []
    )

    def read(n: int, reply: str | None) -> StepScores:
        if not by_model:
            return score_by_rules(items[n])
        if reply is None:
            steps = len(response_steps(items[n]))
            return not_judged(items[n], METHOD, Outcome.FAILED, "engine:error", n_steps=steps)
        return read_step_reply(items[n], reply)

    def finish(rows: list[StepScores]) -> None:
        summary = summarise(items, rows, judged)
        written = out.with_name(out.name + ".summary.json")
        write_json(written, summary.model_dump(mode="json"))
        print_summary(summary)
        typer.echo(f"wrote {written}")

    return Protocol(
        source=path, rows=out, row_type=StepScores, max_new_tokens=4096,
        version=f"steps-{STEPS}|chain-{CHAIN}" if by_model else f"steps-{STEPS}|rules-{RULES}",
        prompts=[(build_step_prompt(item) or "") if by_model else "" for item in items],
        read=read, finish=finish,
    )  # fmt: skip


def _check_labels(item: Item, where: str) -> None:
    labels: Any = item.meta.get(LABELS)
    if labels is None:
        return
    where = f"{where}: meta.{LABELS}"
    if not isinstance(labels, list) or any(label not in (0, 1) for label in labels):
        raise InputError(f"{where}: {labels!r}; give a list of 0 and 1, one for each step")
    steps = response_steps(item)
    if len(labels) != len(steps):
        raise InputError(
            f"{where}: {len(labels)} labels for {len(steps)} steps; label the steps as "
            "eval.steps.split.split_steps cuts the response, or mark them with <STEP1>…</STEP1>"
        )


def print_summary(summary: StepSummary) -> None:
    """Print every figure of a summary; a dash marks an undefined figure."""
    groups = [("all", summary.overall)] + [
        (f"{tag}: {value}", group)
        for tag, values in summary.tags.items()
        for value, group in values.items()
    ]
    show(
        ("", "rows", "scored", "steps scored", "process score"),
        [
            (name, f"{g.n_rows:,}", f"{g.n_scored:,}", percent(g.steps_scored), shown(g.process))
            for name, g in groups
        ],
    )
    if summary.overall.accuracy is not None:
        show(
            ("", "answers right", "right", "wrong", "Pearson", "Spearman"),
            [(name, *_answers(group)) for name, group in groups],
            "process score where the answer is right, where it is wrong, and correlations",
        )
    for tag, one in summary.between.items():
        if one.pearson is not None:
            words = f"Pearson {decimal(one.pearson)}, Spearman {decimal(one.spearman)}"
            say(f"the means of the {one.n} values of {tag}: {words}")
    for line in _errors(summary):
        say(line)
    if (human := summary.human) is not None:
        say(
            f"people and scores agree on {percent(human.accuracy)} % of {human.n_scored:,} steps "
            f"(kappa {decimal(human.kappa)}); {human.n_steps - human.n_scored:,} labelled steps "
            "have no score"
        )
    for reason, count in summary.not_scored.items():
        say(f"no process score: {count:,} rows, {reason}")


def _answers(group: StepGroup) -> Sequence[str]:
    means = (group.process_if_right, group.process_if_wrong)
    correlations = (group.correlation.pearson, group.correlation.spearman)
    return (
        shown(group.accuracy), *(percent(share.value if share else None) for share in means),
        *map(decimal, correlations),
    )  # fmt: skip


def _errors(summary: StepSummary) -> Iterator[str]:
    errors = summary.errors
    if not sum(errors.every):
        yield "no step scores 0"
        return
    yield (
        f"{sum(errors.first):,} responses have a wrong step; in {errors.first_after_open:,} of "
        "them a step before it has no score, and may be the first error\n"
        f"{percent(errors.share_after_middle)} % of {sum(errors.every):,} wrong steps are after "
        "the middle\n\nwhere the first wrong step is, from the beginning (0) to the end (1)"
    )
    for n, count in enumerate(errors.first):
        bar = "█" * round(_BAR * count / max(errors.first))
        yield f"  {n / BINS:.1f}–{(n + 1) / BINS:.1f} {bar} {count:,}"
    yield ""
