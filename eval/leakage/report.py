"""How much of a benchmark a model has memorised, and whether it solves those items more often."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from gradegpt.errors import InputError
from gradegpt.records import read_objects, validate
from gradegpt.schema import Judgement, Row, Verdict

from ..shares import Share, ratio, tagged
from .grams import Kind, Part
from .measure import Measured

_WHERE: Final = ("all", *Part)


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


class Overlap(Row):
    """Items whose text shares an n-gram with a corpus, and how many of them are leaked."""

    n_items: int
    n_leaked: int
    accuracy: dict[Kind, Share | None]
    accuracy_of_others: dict[Kind, Share | None]


class Leakage(Row):
    """The figures of a group of items. ``n_items`` = measured + too short + failed.

    ``accuracy``: the share of n-grams predicted, by kind; ``parts``: by where they begin.
    ``n_leaked``: items with all n-grams predicted, by kind, and ``any``, the union of these.
    """

    n_items: int
    n_measured: int
    n_too_short: int
    n_failed: int
    accuracy: dict[Kind, Share | None]
    parts: dict[Part, dict[Kind, Share | None]]
    n_leaked: dict[str, int]
    solved: Solved | None = None
    overlap: Overlap | None = None


class Report(Row):
    """A model on a file of items: ``k`` n-grams of ``n`` tokens each; ``tags`` by tag and value.

    ``leaked``: the ids of the items that any kind detects.
    """

    model: str
    k: int
    n: int
    overall: Leakage
    tags: dict[str, dict[str, Leakage]]
    leaked: tuple[str, ...]


def report_of(
    rows: Sequence[Measured],
    *,
    model: str,
    k: int,
    n: int,
    right: Mapping[str, float] | None = None,
    overlapping: Collection[str] | None = None,
    seed: int = 0,
) -> Report:
    """The report of all rows, and of the rows with each tag.

    ``right``: by item id the share of its answers that are right; ``overlapping``: the ids of items
    whose text shares an n-gram with a corpus.
    """

    def leakage(some: Sequence[Measured]) -> Leakage:
        return leakage_of(some, right=right, overlapping=overlapping, seed=seed)

    groups = tagged(rows, lambda row: row.tags)
    tags = {t: {v: leakage(own) for v, own in values.items()} for t, values in groups.items()}
    ids = tuple(row.id for row in rows if row.leaked_by_any)
    return Report(model=model, k=k, n=n, overall=leakage(rows), tags=tags, leaked=ids)


def leakage_of(
    rows: Sequence[Measured],
    *,
    right: Mapping[str, float] | None = None,
    overlapping: Collection[str] | None = None,
    seed: int = 0,
) -> Leakage:
    """The figures of some rows; intervals are over items."""
    measured = [row for row in rows if row.grams]
    failed = sum(bool(row.error) for row in rows)
    shares = _accuracies(measured, seed)
    leaked = {kind.value: sum(row.leaked(kind) for row in measured) for kind in Kind}
    return Leakage(
        n_items=len(rows),
        n_measured=len(measured),
        n_too_short=len(rows) - len(measured) - failed,
        n_failed=failed,
        accuracy=shares["all"],
        parts={part: shares[part] for part in Part},
        n_leaked=leaked | {"any": sum(row.leaked_by_any for row in measured)},
        solved=None if right is None else _solved(measured, right, seed),
        overlap=None if overlapping is None else _overlap(measured, overlapping, seed),
    )


def _accuracies(rows: Sequence[Measured], seed: int) -> dict[str, dict[Kind, Share | None]]:
    """By where an n-gram begins and by kind: hits over n-grams, ``[items, places, kinds, 2]``."""
    cells = np.zeros((len(rows), len(_WHERE), len(Kind), 2))
    for at, row in enumerate(rows):
        for one in row.grams:
            hits = [one.hit(kind) for kind in Kind]
            for place in (0, _WHERE.index(one.part)):
                cells[at, place, :, 0] += hits
                cells[at, place, :, 1] += 1
    return {
        where: {kind: ratio(cells[:, place, at], seed) for at, kind in enumerate(Kind)}
        for place, where in enumerate(_WHERE)
    }


def _solved(rows: Sequence[Measured], right: Mapping[str, float], seed: int) -> Solved:
    judged = [row for row in rows if row.id in right]
    leaked = [right[row.id] for row in judged if row.leaked_by_any]
    others = [right[row.id] for row in judged if not row.leaked_by_any]
    accuracy, of_others = (
        ratio([(share, 1) for share in shares], seed) for shares in (leaked, others)
    )
    return Solved(
        n_judged=len(leaked), solved=sum(leaked), accuracy=accuracy, accuracy_of_others=of_others
    )


def _overlap(rows: Sequence[Measured], overlapping: Collection[str], seed: int) -> Overlap:
    own = [row for row in rows if row.id in overlapping]
    others = [row for row in rows if row.id not in overlapping]
    return Overlap(
        n_items=len(own),
        n_leaked=sum(row.leaked_by_any for row in own),
        accuracy=_accuracies(own, seed)["all"],
        accuracy_of_others=_accuracies(others, seed)["all"],
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
