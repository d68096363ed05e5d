"""Check rubrics against their items before grading."""

from __future__ import annotations

from pathlib import Path

from gradegpt.errors import InputError
from gradegpt.rubric import Defect, Quality, check_rubric
from gradegpt.schema import Row

from .rows import no_rubric, read_items, read_rubrics, rubric_of


class Finding(Row):
    """A defect of a rubric: its item, the line of the rubric, the defect and its detail."""

    id: str
    where: str
    defect: Defect
    detail: str = ""


def check_files(items: Path, rubrics: Path) -> tuple[list[Quality], list[Finding]]:
    """The quality of each item's rubric, in order, and every defect; a missing rubric is a defect.

    Raises:
        InputError: items or rubrics cannot be used, or a rubric is for no item.

    """
    known, used = read_rubrics(rubrics), set[str]()
    measured: list[Quality] = []
    found: list[Finding] = []
    for where, item in read_items(items, answered=False):
        place, rubric = rubric_of(item, where, known) or (where, no_rubric(item))
        used.add(rubric.id)
        quality = check_rubric(rubric, item)
        measured.append(quality)
        found += (
            Finding(id=item.id, where=place, defect=defect, detail=detail or rubric.reason)
            for defect, detail in quality.defects
        )
    for name in known.keys() - used:
        raise InputError(
            f"{known[name][0]}: id: {name!r} is no item's id in {items}; "
            "remove the rubric or add the item"
        )
    return measured, found
