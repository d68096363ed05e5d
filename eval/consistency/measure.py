"""An item's verdict before and after a change: how often it is the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from gradegpt.agreement import says_yes
from gradegpt.judges.base import Judge
from gradegpt.proportions import wilson
from gradegpt.records import write_json, write_rows
from gradegpt.schema import Item, Judgement, Row

from ..judging import judge_items, progress_bar, write_items
from .variations import VARIATIONS

_UNCHANGED: Final = "unchanged"


class Change(Row):
    """One kind of change: how many of its items keep their verdict.

    ``n`` items = ``same`` + ``flipped`` + ``now_open`` + ``now_decided``. Verdicts are two-way,
    ``correct`` or not; no verdict is the third result. ``share`` is ``same`` / ``n`` with Wilson's
    95 % limits, None where the change applies to no item.
    """

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

    change: str
    id: str
    reference: tuple[str, ...]
    before: Judgement
    after: Judgement
    response: str
    changed_response: str
    changed_question: str = ""


def change_of(name: str, before: Sequence[Judgement], after: Sequence[Judgement]) -> Change:
    """Count the pairs of judgements."""
    pairs = [(_result(a), _result(b)) for a, b in zip(before, after, strict=True)]
    same = sum(a is b for a, b in pairs)
    low, high = wilson(same, len(pairs))
    return Change(
        name=name, n=len(pairs), same=same,
        flipped=sum(a is not b and None not in (a, b) for a, b in pairs),
        now_open=sum(b is None is not a for a, b in pairs),
        now_decided=sum(a is None is not b for a, b in pairs),
        share=same / len(pairs) if pairs else None, low=float(low), high=float(high),
    )  # fmt: skip


def _result(judgement: Judgement) -> bool | None:
    return None if judgement.verdict is None else says_yes(judgement.verdict)


def consistency(
    items: Sequence[Item], judge: Judge, names: Sequence[str], folder: Path, *, overwrite: bool
) -> tuple[list[Change], list[Flip]]:
    """Judge the items, then each changed set of them; finished judgements are reused.

    Writes to ``folder``: items and judgements of each change, flips.jsonl and report.json.

    Raises:
        OutputError: the folder holds judgements of other items or by another judge, and
            ``overwrite`` is not set.

    """
    judged = dict(
        zip(
            (i.id for i in items), _judged(_UNCHANGED, items, judge, folder, overwrite), strict=True
        )
    )
    changes, flips = list[Change](), list[Flip]()
    for name in names:
        made = ((item, VARIATIONS[name](item)) for item in items)
        pairs = [(item, changed) for item, changed in made if changed is not None]
        changed = [after for _, after in pairs]
        after = _judged(name, changed, judge, folder, overwrite) if changed else ()
        before = [judged[item.id] for item, _ in pairs]
        changes.append(change_of(name, before, after))
        flips += _flips(name, pairs, before, after)
    write_rows(folder / "flips.jsonl", flips)
    report = {
        "judge": judge.fingerprint,
        "items": len(items),
        "changes": [c.model_dump() for c in changes],
    }
    write_json(folder / "report.json", report)
    return changes, flips


def _judged(
    name: str, items: Sequence[Item], judge: Judge, folder: Path, overwrite: bool
) -> tuple[Judgement, ...]:
    source = write_items(items, folder / "items" / f"{name}.jsonl")
    path = folder / "judgements" / f"{name}.jsonl"
    with progress_bar(name) as advance:
        return judge_items(
            name, judge, source, path, overwrite=overwrite, advance=advance
        ).judgements


def _flips(
    name: str,
    pairs: Sequence[tuple[Item, Item]],
    before: Sequence[Judgement],
    after: Sequence[Judgement],
) -> Iterator[Flip]:
    for (item, changed), old, new in zip(pairs, before, after, strict=True):
        if None not in (old.verdict, new.verdict) and _result(old) is not _result(new):
            question = changed.question if changed.question != item.question else ""
            yield Flip(
                change=name, id=item.id, reference=item.reference, before=old, after=new,
                response=item.response, changed_response=changed.response,
                changed_question=question,
            )  # fmt: skip
