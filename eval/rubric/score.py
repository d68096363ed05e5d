"""The scores of graded responses: points, agreement with humans, and errors of rubric grading.

The tables of ARB, section 4.4: table 5 has mean points and their correlation with human points,
table 4 the errors. Scores are over graded responses only; the others are counted separately.
Intervals are over questions, as answers to one question are not independent.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from gradegpt.core.schema import Outcome, Row
from gradegpt.judges.statistics import (
    DRAWS,
    Interval,
    Values,
    numbered,
    pearson,
    resampled,
    resampled_rows,
    share_interval,
    spearman,
    sums,
    varied,
)

from .form import SAME
from .grading import HALLUCINATED
from .rows import GradeRow, People


class Mean(Row):
    """A number over ``n`` responses, with its interval over questions.

    None where resampling does not vary a number that is no share, as of one question.
    """

    value: float
    interval: Interval | None
    n: int
    n_questions: int


class ComparedPoints(Row):
    """The model's points and human points, as shares of the rubric's total.

    ``difference``: the model's minus the human points. ``pearson`` and ``spearman`` are None where
    one side gave all responses the same points.
    """

    people: Mean | None
    model: Mean | None
    difference: Mean | None
    pearson: Mean | None
    spearman: Mean | None


class RubricErrors(Row):
    """The rate of each error among the responses in which it can be detected (table 4).

    ``alternative_solutions``: a human gave full points overall, and fewer by the rubric.
    ``extra_credit`` and ``reduced_credit``: a criterion for which the model gave more, or fewer,
    points than a human. ``hallucinated_rubric``: the reply has a criterion that the rubric does not
    have, or more points than it allows; detected in all replies, without human points.
    """

    alternative_solutions: Mean | None
    extra_credit: Mean | None
    reduced_credit: Mean | None
    hallucinated_rubric: Mean | None


class RubricScores(Row):
    """The scores of a whole graded file.

    ``points``: the mean share of the total; ``by_rubric``: compared with human points by the
    rubric, so only the grader's errors count (table 5); ``on_the_whole``: compared with overall
    human points, so errors of the rubric count, too. ``spread``: of the rubrics, as
    measured, in [0, 1]; ``rated_…`` by humans, from 1 to 5.
    """

    n_rows: int
    n_questions: int
    outcomes: dict[str, int]
    faults: dict[str, int]
    cut_off: int
    points: Mean | None
    by_rubric: ComparedPoints | None
    on_the_whole: ComparedPoints | None
    errors: RubricErrors
    spread: Mean | None
    rated_coverage: Mean | None
    rated_spread: Mean | None


def rubric_scores(
    grades: Sequence[GradeRow], people: Mapping[str, People] | None = None
) -> RubricScores:
    """Every score of graded rows; without ``people`` those that need no human points."""
    known = people or {}
    pairs = [(row, known[row.id]) for row in grades if row.id in known]
    rubrics = list({row.rubric: row for row in grades}.values())
    return RubricScores(
        n_rows=len(grades),
        n_questions=len(rubrics),
        outcomes=dict(sorted(Counter(row.outcome.value for row in grades).items())),
        faults=dict(Counter(fault.value for row in grades for fault in row.faults).most_common()),
        cut_off=sum(bool(row.meta.get("cut_off")) for row in grades),
        points=_share((row, _of_total(row)) for row in grades),
        by_rubric=_compared(pairs, _by_rubric),
        on_the_whole=_compared(pairs, lambda person: person.points),
        errors=RubricErrors(
            alternative_solutions=_share((row, _alternative(row, p)) for row, p in pairs),
            extra_credit=_share((row, _credit(row, p, 1)) for row, p in pairs),
            reduced_credit=_share((row, _credit(row, p, -1)) for row, p in pairs),
            hallucinated_rubric=_share((row, _hallucinated(row)) for row in grades),
        ),
        spread=_share((row, row.spread) for row in rubrics),
        rated_coverage=_mean((row, p.coverage) for row, p in pairs),
        rated_spread=_mean((row, p.spread) for row, p in pairs),
    )


def _share(values: Iterable[tuple[GradeRow, float | None]]) -> Mean | None:
    """``_mean`` of values in [0, 1]; its interval has a width even for one question."""
    return _mean(values, share_interval)


def _mean(
    values: Iterable[tuple[GradeRow, float | None]],
    interval_of: Callable[[Values, int], Interval | None] = lambda values, _: varied(values),
) -> Mean | None:
    """The mean over rows that have a value; None where none has."""
    some = [(row.rubric, value) for row, value in values if value is not None]
    if not some:
        return None
    question = numbered(name for name, _ in some)
    cells = sums(question, [value for _, value in some], np.ones(len(some)))
    totals = resampled(cells, DRAWS, 0)
    drawn = totals[:, 0] / totals[:, 1]
    return Mean(
        value=float(drawn[0]), interval=interval_of(drawn, len(cells)), n=len(some),
        n_questions=len(cells),
    )  # fmt: skip


def _correlation(
    of: Callable[[Values, Values], float], names: Sequence[str], x: Values, y: Values
) -> Mean | None:
    """``pearson`` or ``spearman`` of ``[n]`` and ``[n]``; None where it is not defined."""
    question = numbered(names)
    values = resampled_rows(of, question, x, y, draws=DRAWS, seed=0)
    if np.isnan(values[0]):
        return None
    n_questions = int(question.max()) + 1
    return Mean(value=float(values[0]), interval=varied(values), n=len(x), n_questions=n_questions)


def _compared(
    pairs: Sequence[tuple[GradeRow, People]], given: Callable[[People], float | None]
) -> ComparedPoints | None:
    """Compare the model's points with the human points that ``given`` returns."""
    some = [
        (row, row.points / row.total, points / row.total)
        for row, person in pairs
        if row.points is not None and (points := given(person)) is not None
    ]
    if not some:
        return None
    names = [row.rubric for row, _, _ in some]
    model, people = np.array([m for _, m, _ in some]), np.array([p for _, _, p in some])
    return ComparedPoints(
        people=_share((row, p) for row, _, p in some),
        model=_share((row, m) for row, m, _ in some),
        difference=_mean((row, m - p) for row, m, p in some),
        pearson=_correlation(pearson, names, model, people),
        spearman=_correlation(spearman, names, model, people),
    )


def _of_total(row: GradeRow) -> float | None:
    return None if row.points is None else row.points / row.total


def _by_rubric(person: People) -> float | None:
    return math.fsum(person.criteria) if person.criteria else None


def _alternative(row: GradeRow, person: People) -> float | None:
    by_rubric = _by_rubric(person)
    if person.points is None or by_rubric is None:
        return None
    return float(person.points > row.total - SAME and by_rubric < row.total - SAME)


def _credit(row: GradeRow, person: People, sign: int) -> float | None:
    """Whether the model gave a criterion more points (sign 1) or fewer (-1) than the human."""
    if not person.criteria or row.points is None:
        return None
    pairs = zip(row.awards, person.criteria, strict=True)
    return float(any(sign * (award.points - given) > SAME for award, given in pairs))


def _hallucinated(row: GradeRow) -> float | None:
    replied = row.outcome in (Outcome.JUDGED, Outcome.UNPARSED)
    return float(not HALLUCINATED.isdisjoint(row.faults)) if replied else None
