"""Whether a judge gives the same verdict to the same answer in another form."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gradegpt.core.records import read_rows
from gradegpt.core.schema import Item, Judgement, Row
from gradegpt.judges.base import Judge
from gradegpt.judges.statistics import says_yes, wilson

from .console import percent, say, show
from .judging import judge_items, write_items
from .variations import VARIATIONS

_SHOWN: Final = 10
"""The most flips that are printed; flips.jsonl has them all."""


class Consistency(Row):
    """One change of the items, and how many of them keep a judge's verdict.

    ``n`` items = ``same`` + ``flipped`` + ``now_open`` + ``now_decided``. Verdicts are two-way,
    ``correct`` or not; no verdict is the third result. ``share`` is ``same`` / ``n`` with Wilson's
    95 % limits, None where the change applies to no item.
    """

    judge: str
    name: str
    n: int
    same: int
    flipped: int
    now_open: int
    now_decided: int
    share: float | None
    low: float
    high: float


class Flip(Row):
    """An item whose verdict a change turned over, before and after."""

    judge: str
    change: str
    id: str
    reference: tuple[str, ...]
    before: Judgement
    after: Judgement
    response: str
    changed_response: str


def change_of(
    judge: str, name: str, before: Sequence[Judgement], after: Sequence[Judgement]
) -> Consistency:
    """Count the pairs of judgements."""
    pairs = [(_result(a), _result(b)) for a, b in zip(before, after, strict=True)]
    same = sum(a is b for a, b in pairs)
    low, high = wilson(same, len(pairs))
    return Consistency(
        judge=judge, name=name, n=len(pairs), same=same,
        flipped=sum(a is not b and None not in (a, b) for a, b in pairs),
        now_open=sum(b is None is not a for a, b in pairs),
        now_decided=sum(a is None is not b for a, b in pairs),
        share=same / len(pairs) if pairs else None, low=float(low), high=float(high),
    )  # fmt: skip


def _result(judgement: Judgement) -> bool | None:
    return None if judgement.verdict is None else says_yes(judgement.verdict)


def judged_again(
    name: str,
    judge: Judge,
    items: Sequence[Item],
    before: Sequence[Judgement],
    changes: Sequence[str],
    folder: Path,
    *,
    overwrite: bool,
) -> tuple[list[Consistency], list[Flip]]:
    """Let a judge judge the items after each change; finished judgements are reused.

    Raises:
        OutputError: the folder holds judgements of other items or by another judge, and
            ``overwrite`` is not set.

    """
    found, flips = list[Consistency](), list[Flip]()
    for change in changes:
        made = ((VARIATIONS[change](item), n) for n, item in enumerate(items))
        changed = [(item, n) for item, n in made if item is not None]
        after: Sequence[Judgement] = ()
        if changed:
            source = write_items([item for item, _ in changed], folder / f"{change}.jsonl")
            path = folder / name / f"{change}.jsonl"
            after = judge_items(change, judge, source, path, overwrite=overwrite).judgements
        found.append(change_of(name, change, [before[n] for _, n in changed], after))
        flips += (
            Flip(
                judge=name, change=change, id=items[n].id, reference=items[n].reference,
                before=before[n], after=new, response=items[n].response,
                changed_response=item.response,
            )
            for (item, n), new in zip(changed, after, strict=True)
            if None not in (before[n].verdict, new.verdict) and _result(before[n]) != _result(new)
        )  # fmt: skip
    return found, flips


def print_changes(changes: Sequence[Consistency]) -> None:
    """Print how often each change keeps each judge's verdict."""
    rows = [
        (
            one.name, one.judge, f"{one.n:,}", percent(one.share),
            f"{percent(one.low)} to {percent(one.high)}" if one.n else "–",
            *(f"{n:,}" for n in (one.flipped, one.now_open, one.now_decided)),
        )
        for one in changes
    ]  # fmt: skip
    names = ("change", "judge", "items", "same", "interval", "flipped", "now open", "now decided")
    show(names, rows, "the same verdict after a change, %")


def print_flips(path: Path) -> None:
    """Print the first verdicts that a change turned over."""
    flips = list(read_rows(path, Flip))
    for flip in flips[:_SHOWN]:
        verdicts = f"{flip.before.verdict} -> {flip.after.verdict}"
        say(f"{flip.change} {flip.judge} {flip.id}: {verdicts} ({flip.after.reason})")
    say(f"{len(flips):,} verdicts flipped: {path}")
