"""How much of a benchmark a model has memorised: ``gradegpt eval.protocol leakage``.

N-gram prediction accuracy (Xu et al. 2024, arXiv 2404.18824; OlympicArena, appendix E).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import typer
from pydantic import Field

from gradegpt.core.errors import EngineError, InputError
from gradegpt.core.records import read_objects, validate, write_json
from gradegpt.core.schema import Judgement, Row, Verdict
from gradegpt.judges.statistics import Share, ratio

from ..asking import Protocol, read_asked
from ..console import say, show, shown
from ..judging import tagged
from .grams import Continues, Gram, GramPlace, Match, cut, gram, starting_points

VERSION: Final = "1"
_WHERE: Final = ("all", *GramPlace)


class MemorisedItem(Row):
    """An item and its n-grams; none where it is too short, or where the request failed."""

    id: str
    tags: dict[str, str | tuple[str, ...]] = Field(default={})
    n_tokens: int
    grams: tuple[Gram, ...] = ()
    meta: dict[str, Any] = Field(default={})

    def leaked(self, kind: Match) -> bool:
        """Whether every one of its n-grams counts as predicted."""
        return bool(self.grams) and all(one.hit(kind) for one in self.grams)

    @property
    def leaked_by_any(self) -> bool:
        """OlympicArena counts the union of what the kinds detect."""
        return any(map(self.leaked, Match))


class Solved(Row):
    """Leaked instances that the model answers correctly (OlympicArena, tables 16 to 18).

    ``n_judged``: leaked items with a verdict. ``solved``: the sum, over these, of the share of
    their judged answers that are right, which is a count where each has one answer. The accuracies
    are those of leaked items and of the others.
    """

    n_judged: int
    solved: float
    accuracy: Share | None
    accuracy_of_others: Share | None


class Leakage(Row):
    """The figures of a group of items. ``n_items`` = measured + too short + failed.

    ``accuracy``: the share of n-grams predicted, by kind; ``parts``: by where they begin.
    ``n_leaked``: items with all n-grams predicted, by kind, and ``any``, the union of these.
    """

    n_items: int
    n_measured: int
    n_too_short: int
    n_failed: int
    accuracy: dict[Match, Share | None]
    parts: dict[GramPlace, dict[Match, Share | None]]
    n_leaked: dict[str, int]
    solved: Solved | None = None


class LeakageReport(Row):
    """A model on a file of items: ``k`` n-grams of ``n`` tokens each; ``tags`` by tag and value.

    ``leaked``: the ids of the items that any kind detects.
    """

    model: str
    k: int
    n: int
    overall: Leakage
    tags: dict[str, dict[str, Leakage]]
    leaked: tuple[str, ...]


class Continuing:
    """An engine whose prompts are lists of texts in tokens, and its replies the next tokens."""

    def __init__(self, model: Continues[Any]) -> None:
        self.name, self._model = model.name, model

    def generate(
        self, prompts: Sequence[Sequence[Any]], *, max_new_tokens: int
    ) -> list[Any | EngineError]:
        """The texts of all prompts are continued in one call; a prompt fails with one of them."""
        every = [prefix for prefixes in prompts for prefix in prefixes]
        replies = iter(self._model.continue_(every, max_new_tokens) if every else ())
        found = [[next(replies) for _ in prefixes] for prefixes in prompts]
        return [next((r for r in own if isinstance(r, EngineError)), own) for own in found]


def leakage_protocol(
    path: Path,
    out: Path,
    model: Continues[Any],
    *,
    k: int = 5,
    n: int = 5,
    columns: Mapping[str, str] | None = None,
    judgements: Path | None = None,
) -> Protocol[MemorisedItem]:
    """The n-grams of every item of ``path`` that the model predicts.

    ``out`` has the report, ``.items.jsonl`` beside it the items. ``judgements`` are those of the
    model's answers.

    Raises:
        InputError: the items or the judgements cannot be used.

    """
    items = [one.item for one in read_asked(path, "question", columns=columns)]
    texts = [cut(item, model) for item in items]
    starts = [starting_points(len(tokens), k, n) for tokens, _ in texts]
    right = right_by_item(judgements, {item.id for item in items}) if judgements else None

    def read(number: int, replies: Sequence[Any] | None) -> MemorisedItem:
        item, (tokens, asked) = items[number], texts[number]
        grams = (
            gram(
                start, GramPlace.QUESTION if start < asked else GramPlace.ANSWER,
                tokens[start : start + n], reply[:n], model,
            )
            for start, reply in zip(starts[number], replies or (), strict=False)
        )  # fmt: skip
        return MemorisedItem(id=item.id, tags=item.tags, n_tokens=len(tokens), grams=tuple(grams))

    def finish(rows: list[MemorisedItem]) -> None:
        found = report_of(rows, model=model.name, k=k, n=n, right=right)
        write_json(out, found.model_dump(mode="json"))
        print_report(found)
        typer.echo(f"wrote {out}")

    return Protocol(
        source=path, rows=out.with_name(f"{out.stem}.items.jsonl"), row_type=MemorisedItem,
        version=f"leakage-{VERSION}|{k}", read=read, finish=finish, max_new_tokens=n,
        prompts=[
            [tokens[:start] for start in own]
            for (tokens, _), own in zip(texts, starts, strict=True)
        ],
    )  # fmt: skip


def report_of(
    rows: Sequence[MemorisedItem],
    *,
    model: str,
    k: int,
    n: int,
    right: Mapping[str, float] | None = None,
) -> LeakageReport:
    """The report of all rows, and of the rows with each tag.

    ``right``: by item id the share of its answers that are right.
    """

    def leakage(some: Sequence[MemorisedItem]) -> Leakage:
        return leakage_of(some, right=right)

    groups = tagged(rows, lambda row: row.tags)
    tags = {t: {v: leakage(own) for v, own in values.items()} for t, values in groups.items()}
    ids = tuple(row.id for row in rows if row.leaked_by_any)
    return LeakageReport(model=model, k=k, n=n, overall=leakage(rows), tags=tags, leaked=ids)


def leakage_of(
    rows: Sequence[MemorisedItem],
    *,
    right: Mapping[str, float] | None = None,
) -> Leakage:
    """The figures of some rows; intervals are over items."""
    measured = [row for row in rows if row.grams]
    failed = sum("error" in row.meta for row in rows)
    shares = _accuracies(measured)
    leaked = {kind.value: sum(row.leaked(kind) for row in measured) for kind in Match}
    return Leakage(
        n_items=len(rows),
        n_measured=len(measured),
        n_too_short=len(rows) - len(measured) - failed,
        n_failed=failed,
        accuracy=shares["all"],
        parts={place: shares[place] for place in GramPlace},
        n_leaked=leaked | {"any": sum(row.leaked_by_any for row in measured)},
        solved=None if right is None else _solved(measured, right),
    )


def _accuracies(rows: Sequence[MemorisedItem]) -> dict[str, dict[Match, Share | None]]:
    """By where an n-gram begins and by kind: hits over n-grams, ``[items, places, kinds, 2]``."""
    cells = np.zeros((len(rows), len(_WHERE), len(Match), 2))
    for at, row in enumerate(rows):
        for one in row.grams:
            hits = [one.hit(kind) for kind in Match]
            for place in (0, _WHERE.index(one.part)):
                cells[at, place, :, 0] += hits
                cells[at, place, :, 1] += 1
    return {
        where: {kind: ratio(cells[:, place, at]) for at, kind in enumerate(Match)}
        for place, where in enumerate(_WHERE)
    }


def _solved(rows: Sequence[MemorisedItem], right: Mapping[str, float]) -> Solved:
    judged = [row for row in rows if row.id in right]
    leaked = [right[row.id] for row in judged if row.leaked_by_any]
    others = [right[row.id] for row in judged if not row.leaked_by_any]
    accuracy, of_others = (ratio([(share, 1) for share in some]) for some in (leaked, others))
    return Solved(
        n_judged=len(leaked), solved=sum(leaked), accuracy=accuracy, accuracy_of_others=of_others
    )


def right_by_item(path: Path, ids: Collection[str]) -> dict[str, float]:
    """By item, the share of its judged answers that are right; samples are ``id#0``, ``id#1``, ….

    Raises:
        InputError: a row is no judgement, or of no item; with ``file:line``.

    """
    verdicts: dict[str, list[bool]] = defaultdict(list)
    for number, row in read_objects(path):
        judgement = validate(Judgement, row, f"{path}:{number}")
        name = judgement.id if judgement.id in ids else judgement.id.rpartition("#")[0]
        if name not in ids:
            raise InputError(
                f"{path}:{number}: id: {judgement.id!r} is no item's id; "
                "give the judgements of this benchmark's answers"
            )
        if judgement.verdict is not None:
            verdicts[name].append(judgement.verdict is Verdict.CORRECT)
    return {name: sum(each) / len(each) for name, each in verdicts.items()}


def print_report(found: LeakageReport) -> None:
    """The tables of a command line."""
    whole = found.overall
    say(
        f"{whole.n_items:,} items = {whole.n_measured:,} measured + {whole.n_too_short:,} too "
        f"short + {whole.n_failed:,} failed; {found.k} n-grams of {found.n} in each"
    )
    rows = [("all", *_cells(whole, whole.accuracy), f"{whole.n_leaked['any']:,}")]
    for place, accuracy in whole.parts.items():
        rows.append((f"in the {place.value}", *_cells(whole, accuracy), ""))
    for tag, values in found.tags.items():
        for value, one in values.items():
            leaked = f"{one.n_leaked['any']:,}"
            rows.append((f"{tag}: {value}", *_cells(one, one.accuracy), leaked))
    show(("", "items", "exact", "edit distance", "ROUGE-L", "leaked"), rows)
    kinds = ", ".join(f"{whole.n_leaked[kind.value]:,} by {kind.value}" for kind in Match)
    say(f"leaked, all n-grams predicted: {whole.n_leaked['any']:,} ({kinds})")
    if (solved := whole.solved) is not None:
        say(
            f"of {solved.n_judged:,} leaked items with a verdict {solved.solved:g} are solved: "
            f"accuracy {shown(solved.accuracy)}, of the others {shown(solved.accuracy_of_others)}"
        )


def _cells(one: Leakage, accuracy: dict[Match, Share | None]) -> list[str]:
    return [f"{one.n_measured:,}", *(shown(accuracy[kind]) for kind in Match)]
