"""A grader's text on a response by a rubric: a line for each criterion, and nothing else.

Such as::

    Criterion 1: quote "so E = λ/(2πεr)"; reason: the field as required; points: 4
    Criterion 2: quote none; reason: no capacitance is given; points: 0

The evidence comes before the points, as in the chains of ``chains.chain``. The points are summed
here; a model's own sum is not asked for.

The prompts, for a rubric and for a grading, are in the question's language and in this project's
own words. As in ARB (tables 10 and 11) the rubric is made from question and reference solution,
and a response is graded by the rubric without the solution. Texts are not shortened, as points may
depend on any line of them; each is in a frame that nothing inside it can close.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from gradegpt.chains.chain import RESPONSE, defuse, needs_gloss
from gradegpt.chains.prompts import prompt_text
from gradegpt.chains.quote import quotes_verbatim
from gradegpt.core.schema import Item, Message, Row

from ..asking import conversation
from .form import NUMBER, SAME, TOTAL, Rubric, render_rubric, written

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


Faults = tuple[tuple[GradingFault, str], ...]
"""Each fault of a grading with its place."""


def shown(text: str) -> str:
    """A text as a rubric prompt shows it: defused, and without lines that parse as a grading.

    The length stays the same. The ``<`` of a frame of these prompts becomes ``‹``, and the colon of
    ``Criterion 1:`` becomes a full-width one, so that even a grader that copies such a line from a
    response writes nothing that is read as points.
    """
    return _GRADED_LINE.sub(r"\1：", _FRAMES.sub("‹", defuse(text)))


def parse_grading(text: str, rubric: Rubric, response: str) -> Grading | Faults:
    """Read a grader's text as points by ``rubric`` for ``response``.

    Every criterion must occur once, in any order, with 0 to its points, and a quote from one line
    of the response as it was shown; points require a quote. With any other line, or any fault,
    there is no grading, and all faults are returned.
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
    return tuple(faults) or Grading(awards=tuple(found[number] for number in numbers))


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


def make_prompt(item: Item, total: float = TOTAL) -> tuple[Message, ...]:
    """The prompt for a rubric of ``total`` points from the solution, or else the steps."""
    answers = " or ".join(f"<reference>\n{shown(one)}\n</reference>" for one in item.accepted)
    user = (
        f"{_asked(item)}Reference Solution: <solution>\n{shown(solution_of(item))}\n</solution>\n"
        f"Reference Answer: {answers}\nRubric:"
    )
    system = prompt_text("rubric_make", chinese=needs_gloss(item.question))
    return conversation(system.format(total=written(total)), user)


def grade_prompt(item: Item, rubric: Rubric) -> tuple[Message, ...]:
    """The prompt for the points of ``item.response`` by ``rubric``."""
    user = (
        f"{_asked(item)}Rubric: <rubric>\n{shown(render_rubric(rubric))}\n</rubric>\n"
        f"{RESPONSE}{shown(item.response)}\n</response>\nGrading:"
    )
    return conversation(prompt_text("rubric_grade", chinese=needs_gloss(item.question)), user)


def solution_of(item: Item) -> str:
    """The reference solution, or its steps, one per line."""
    return item.solution or "\n".join(item.steps)


def _asked(item: Item) -> str:
    context = f"Context: <context>\n{shown(item.context)}\n</context>\n" if item.context else ""
    return f"Question: <question>\n{shown(item.question)}\n</question>\n{context}"
