"""A grader's text on a response by a rubric: a line for each criterion, and nothing else.

Such as::

    Criterion 1: quote "so E = λ/(2πεr)"; reason: the field as required; points: 4
    Criterion 2: quote none; reason: no capacitance is given; points: 0

The evidence comes before the points, as in the chains of ``gradegpt.chain``. The points are summed
here; a model's own sum is not asked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from gradegpt.chain import defuse
from gradegpt.quote import quotes_verbatim
from gradegpt.schema import Outcome, Row

from .form import NUMBER, SAME, Rubric

# The first `"; reason: ` ends the quote: a response with these words can shorten a quote of
# itself, but cannot write the points, which are the last on the line.
_LINE: Final = re.compile(
    r'Criterion (?P<number>[0-9]{1,3}): quote (?>none; reason: |"(?P<quote>.+?)"; reason: )'
    rf"(?P<reason>.+); points: (?P<points>{NUMBER})"
)
_FRAMES: Final = re.compile(r"<(?=\s*/?\s*(?:rubric|solution)\s*>)", re.IGNORECASE)
_GRADED_LINE: Final = re.compile(r"(criterion\s*[0-9]+\s*):", re.IGNORECASE)
_SHOWN: Final = 80


class GradingFault(StrEnum):
    """Why a grading cannot be used."""

    FORM = "line-not-read"
    MISSING = "criterion-missing"
    TWICE = "criterion-twice"
    NOT_IN_RUBRIC = "criterion-not-in-rubric"
    OVER_MAXIMUM = "points-over-maximum"
    NOT_VERBATIM = "quote-not-verbatim"
    NO_QUOTE = "points-without-quote"


HALLUCINATED: Final = frozenset({GradingFault.NOT_IN_RUBRIC, GradingFault.OVER_MAXIMUM})
"""Points that the rubric does not have (ARB, table 4: hallucinated rubric)."""


class Award(Row):
    """The points of one criterion and their evidence; no ``quote`` if the response has none."""

    number: int
    points: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    quote: str | None
    reason: str


class Grading(Row):
    """An award for every criterion of a rubric, in its order."""

    awards: tuple[Award, ...]

    @property
    def points(self) -> float:
        """The points that the response earned."""
        return math.fsum(award.points for award in self.awards)


class ParsedGrading(Row):
    """The result of parsing a grader's text: ``judged`` with a grading, or ``unparsed`` without.

    ``faults`` has each kind once; ``reason`` says where each fault is.
    """

    outcome: Outcome
    grading: Grading | None = None
    faults: tuple[GradingFault, ...] = ()
    reason: str = ""


def shown(text: str) -> str:
    """A text as a rubric prompt shows it: defused, and without lines that parse as a grading.

    The length stays the same. The ``<`` of a frame of these prompts becomes ``‹``, and the colon of
    ``Criterion 1:`` becomes a full-width one, so that even a grader that copies such a line from a
    response writes nothing that is read as points.
    """
    return _GRADED_LINE.sub(r"\1：", _FRAMES.sub("‹", defuse(text)))


def parse_grading(text: str, rubric: Rubric, response: str) -> ParsedGrading:
    """Read a grader's text as points by ``rubric`` for ``response``.

    Every criterion must occur once, in any order, with 0 to its points, and a quote from one line
    of the response as it was shown; points require a quote. With any other line, or any fault, the
    whole grading is unparsed.
    """
    response = shown(response)
    found: dict[int, Award] = {}
    faults: list[tuple[GradingFault, str]] = []
    for line in filter(None, map(str.strip, text.split("\n"))):
        award = _award(line)
        if award is None:
            faults.append((GradingFault.FORM, repr(line[:_SHOWN])))
            continue
        if award.number in found:
            faults.append((GradingFault.TWICE, str(award.number)))
        faults += ((fault, str(award.number)) for fault in _faults(award, rubric, response))
        found[award.number] = award
    numbers = range(1, len(rubric.criteria) + 1)
    faults += ((GradingFault.MISSING, str(number)) for number in numbers if number not in found)
    if faults:
        return _unread(faults)
    grading = Grading(awards=tuple(found[number] for number in numbers))
    return ParsedGrading(outcome=Outcome.JUDGED, grading=grading)


def _award(line: str) -> Award | None:
    match = _LINE.fullmatch(line)
    return match and Award(
        number=int(match["number"]), points=float(match["points"]),
        quote=match["quote"], reason=match["reason"],
    )  # fmt: skip


def _faults(award: Award, rubric: Rubric, response: str) -> Iterator[GradingFault]:
    if not 1 <= award.number <= len(rubric.criteria):
        yield GradingFault.NOT_IN_RUBRIC
    elif award.points > rubric.criteria[award.number - 1].points + SAME:
        yield GradingFault.OVER_MAXIMUM
    if award.quote is None and award.points > 0:
        yield GradingFault.NO_QUOTE
    if award.quote is not None and not quotes_verbatim(award.quote, response):
        yield GradingFault.NOT_VERBATIM


def _unread(faults: Sequence[tuple[GradingFault, str]]) -> ParsedGrading:
    reason = "; ".join(f"{fault.value} {where}" for fault, where in faults)
    kinds = tuple(dict.fromkeys(fault for fault, _ in faults))
    return ParsedGrading(outcome=Outcome.UNPARSED, faults=kinds, reason=f"grading:{reason}")
