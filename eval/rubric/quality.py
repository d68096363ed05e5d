"""The quality of a rubric without a model: its points, their spread, and its coverage.

People rated coverage and spread of points from 1 to 5 (ARB, table 4). Here both are measured.
Measured coverage is a lower bound: a criterion that names a step without the solution's numbers,
formulas or names is not counted as covering it. The bounds are this project's own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Final

from gradegpt.answers.spans import sentences
from gradegpt.answers.text import fold
from gradegpt.rules.reference import reference_answers
from gradegpt.schema import Item, Row

from .form import SAME, Criterion, Rubric, written
from .prompts import solution_of

LEAST_COVERAGE: Final = 0.5
"""Below it, most steps of the solution are in no criterion."""
LEAST_SPREAD: Final = 0.7
"""Normalised entropy: of 10 points 8, 1, 1 have 0.58; 7, 2, 1 have 0.73; 4, 3, 3 have 0.99."""
MOST_SHARE: Final = 0.6
"""A criterion with a larger share decides between pass and fail by itself."""

_PROSE: Final = r"\s,;，。；：、（）\u3400-\u9fff"
_MATH: Final = re.compile(
    r"\$\$(.{1,2000}?)\$\$|\$(.{1,2000}?)\$|\\\((.{1,2000}?)\\\)|\\\[(.{1,2000}?)\\\]"
    rf"|((?<![^{_PROSE}])[^{_PROSE}]{{1,200}}?=[^{_PROSE}]+)",
    re.DOTALL,
)
_RELATION: Final = re.compile(
    r"=|≈|≤|≥|[<>;]|,(?!\d{3}(?!\d))|\b(?:or|and)\b|[或和]"
    r"|\\(?:approx|[Rr]ightarrow|implies|equiv|sim|quad|qquad)(?![a-zA-Z])"
)
_NUMBER: Final = re.compile(r"(?<![A-Za-z0-9.])\d+(?:,\d{3})*(?:\.\d+)?(?!\d)")
_QUANTITY: Final = re.compile(rf"-?\s*(?:{_NUMBER.pattern})\s*[A-Za-zμΩ°%/^\d\u3400-\u9fff.]*")
_NAME: Final = re.compile(
    r"[A-Z][a-z]{2,}(?=(?:['’]s?)?\s+(?:theorem|law|lemma|rule|formula|equation|inequality))"
    r"|(?<=[a-z,] )[A-Z][a-z]{2,}"  # not at the beginning of a sentence
    r"|[\u4e00-\u9fff]{2}(?:定理|定律|公式|法则|不等式|原理)"
)
_NOT_CORE: Final = re.compile(r"[^\w+^-]|_|frac(?![a-z])")
_SHORTEST: Final = 3
"""The least length of a formula that a text does not contain by chance."""
_LONGEST: Final = 80
"""Characters of a final answer; a longer reference is a statement or a proof."""

Term = tuple[str, str]
"""The kind and the value of a number, formula or name in a text."""


class Defect(StrEnum):
    """A defect of a rubric; the value is its name in a table."""

    EMPTY = "no criteria"
    SUM = "points that do not sum to the total"
    NOT_POSITIVE = "a criterion without positive points"
    DUPLICATE = "a criterion twice"
    COVERAGE = "steps of the solution in no criterion"
    ANSWER = "the final answer in no criterion"
    SPREAD = "points spread too unevenly"
    SHARE = "a criterion with most of the points"


class Quality(Row):
    """The measurements of a rubric; undefined ones are None.

    ``coverage``: the share of the solution's steps that some criterion mentions, in [0, 1];
    ``covers_answer``: whether a criterion contains an accepted answer; ``spread``: entropy of the
    points over that of equal points, in [0, 1]; ``largest``: the largest share of the points of one
    criterion. ``defects`` are the measurements out of bounds, each with its place or its value.
    """

    n_criteria: int
    points_sum: float
    coverage: float | None
    covers_answer: bool | None
    spread: float | None
    largest: float | None
    defects: tuple[tuple[Defect, str], ...]


def check_rubric(rubric: Rubric, item: Item) -> Quality:
    """Measure the rubric of an item.

    A step is represented by its numbers, formulas and names that neither the question nor an
    earlier step has. A step without any is left out; ``coverage`` is None if that leaves none.
    """
    steps = _steps(item) if rubric.criteria else []
    missing = [step for step, terms in steps if not _mentioned(terms, rubric.criteria)]
    found = Quality(
        n_criteria=len(rubric.criteria),
        points_sum=rubric.points_sum,
        coverage=1 - len(missing) / len(steps) if steps else None,
        covers_answer=_covers_answer(rubric.criteria, item),
        spread=_spread([criterion.points for criterion in rubric.criteria]),
        largest=_largest([criterion.points for criterion in rubric.criteria]),
        defects=(),
    )
    return found.model_copy(update={"defects": tuple(_defects(rubric, item, found, missing))})


def key_terms(text: str) -> set[Term]:
    r"""The numbers, the sides of the formulas and the names in a text.

    Of a formula only letters, digits, signs and powers are kept, so that ``\frac{a}{b}`` equals
    ``a/b``. A number in a formula is not listed by itself, unless it is a whole side.
    """
    found: set[Term] = set()
    for match in _MATH.finditer(text):
        for side in _RELATION.split(fold(match[match.lastindex or 0])):
            if _QUANTITY.fullmatch(side.strip()):
                found |= _numbers(side)
            elif len(core := _core(side)) >= _SHORTEST:
                found.add(("formula", core))
    prose = fold(_MATH.sub(" ; ", text))
    return found | _numbers(prose) | {("name", name.casefold()) for name in _NAME.findall(prose)}


def _numbers(text: str) -> set[Term]:
    found = (Decimal(number.replace(",", "")) for number in _NUMBER.findall(text))
    return {("number", f"{number.normalize():f}") for number in found}


def _core(text: str) -> str:
    return _NOT_CORE.sub("", fold(text)).strip("+-")


def _steps(item: Item) -> list[tuple[str, set[Term]]]:
    """The steps of the solution that add key terms, each with the terms that it adds."""
    known = key_terms(f"{item.context or ''}\n{item.question}")
    steps = list[tuple[str, set[Term]]]()
    for step in item.steps or _sentences(solution_of(item)):
        new = key_terms(step) - known
        known |= new
        if new:
            steps.append((step, new))
    return steps


def _sentences(solution: str) -> list[str]:
    """Sentences and lines; a formula over several lines is not split."""
    text = _MATH.sub(lambda match: " ".join(match[0].split()), solution)
    return [text[start:end] for start, end in sentences(text)]


def _mentioned(terms: set[Term], criteria: Sequence[Criterion]) -> bool:
    return any(_mentions(criterion.text, term) for criterion in criteria for term in terms)


def _mentions(text: str, term: Term) -> bool:
    kind, value = term
    if kind == "formula":
        return value in _core(text)
    return value in fold(text).casefold() if kind == "name" else term in _numbers(fold(text))


def _covers_answer(criteria: Sequence[Criterion], item: Item) -> bool | None:
    """None without criteria, or where no reference is short enough to be a final answer."""
    answers = [answer for one in item.accepted for answer in reference_answers(one)]
    short = [answer for answer in answers if len(answer) <= _LONGEST]
    if not short or not criteria:
        return None
    return any(_holds(criterion.text, answer) for criterion in criteria for answer in short)


def _holds(text: str, answer: str) -> bool:
    terms = key_terms(f"${answer.strip().strip('$')}$")
    if terms and all(_mentions(text, term) for term in terms):
        return True
    words = re.escape(fold(answer).strip().casefold())
    return bool(re.search(rf"(?<![a-z0-9]){words}(?![a-z0-9])", fold(text).casefold()))


def _spread(points: Sequence[float]) -> float | None:
    """Shannon entropy of the shares over the logarithm of their number; None for fewer than two."""
    positive = [one for one in points if one > 0]
    if len(positive) < 2:
        return None
    shares = [one / math.fsum(positive) for one in positive]
    return -math.fsum(share * math.log(share) for share in shares) / math.log(len(shares))


def _largest(points: Sequence[float]) -> float | None:
    positive = [one for one in points if one > 0]
    return max(positive) / math.fsum(positive) if positive else None


def _defects(
    rubric: Rubric, item: Item, found: Quality, missing: Sequence[str]
) -> Iterator[tuple[Defect, str]]:
    if not rubric.criteria:
        yield Defect.EMPTY, ""
        return
    if abs(found.points_sum - rubric.total) > SAME:
        yield Defect.SUM, f"{written(found.points_sum)} instead of {written(rubric.total)}"
    first: dict[frozenset[str], int] = {}
    for number, criterion in enumerate(rubric.criteria, 1):
        if criterion.points <= 0:
            yield Defect.NOT_POSITIVE, f"{number} has {written(criterion.points)}"
        words = frozenset(re.findall(r"\w+", fold(criterion.text).casefold()))
        if first.setdefault(words, number) != number:
            yield Defect.DUPLICATE, f"{number} is {first[words]} again"
    if found.coverage is not None and found.coverage < LEAST_COVERAGE:
        yield Defect.COVERAGE, f"{found.coverage:.0%} covered; not: {missing[0]}"
    if found.covers_answer is False:
        yield Defect.ANSWER, " or ".join(item.accepted)
    if found.spread is not None and found.spread < LEAST_SPREAD:
        yield Defect.SPREAD, f"{found.spread:.2f}, at least {LEAST_SPREAD}"
    if found.largest is not None and found.largest > MOST_SHARE:
        yield Defect.SHARE, f"{found.largest:.0%}, at most {MOST_SHARE:.0%}"
