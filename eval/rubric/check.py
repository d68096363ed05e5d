"""Rubrics beside their items: what is out of bounds, before anything is graded by it."""

from __future__ import annotations

from pathlib import Path

from gradegpt.errors import InputError
from gradegpt.rubric import Defect, Quality, check_rubric
from gradegpt.schema import Row

from .rows import no_rubric, read_items, read_rubrics, rubric_of


class Finding(Row):
    """A rubric with a defect: whose it is, where it is written, and what is the matter."""

    id: str
    where: str
    defect: Defect
    detail: str = ""


def check_files(items: Path, rubrics: Path) -> tuple[list[Quality], list[Finding]]:
    """Each item's rubric measured, in order, and every defect; no rubric is one too.

    Raises:
        InputError: items or rubrics that cannot be used, or a rubric for no item.

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
        raise InputError(f"{known[name][0]}: id: {name!r} is that of no item in {items}")
    return measured, found
