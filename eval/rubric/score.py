"""The scores of graded responses: points, agreement with humans, and errors of rubric grading.

The tables of ARB, section 4.4: table 5 has mean points and their correlation with human points,
table 4 the errors. Scores are over graded responses only; the others are counted separately.
Intervals are over questions, as answers to one question are not independent.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gradegpt.agreement import estimate, numbered, resampled
from gradegpt.rubric import HALLUCINATED
from gradegpt.rubric.form import SAME
from gradegpt.schema import Outcome, Row

from ..metrics import Interval, share_interval
from ..shares import DRAWS, Values, pearson, spearman
from .rows import GradeRow, People


class Estimate(Row):
    """A number over ``n`` responses, with its interval over questions.

    None where resampling does not vary a number that is no share, as of one question.
    """

    value: float
    interval: Interval | None
    n: int
    n_questions: int


class Compared(Row):
    """The model's points and human points, as shares of the rubric's total.

    ``difference``: the model's minus the human points. ``pearson`` and ``spearman`` are None where
    one side gave all responses the same points.
    """

    people: Estimate | None
    model: Estimate | None
    difference: Estimate | None
    pearson: Estimate | None
    spearman: Estimate | None


class RubricErrors(Row):
    """The rate of each error among the responses in which it can be detected (table 4).

    ``alternative_solutions``: a human gave full points overall, and fewer by the rubric.
    ``extra_credit`` and ``reduced_credit``: a criterion for which the model gave more, or fewer,
    points than a human. ``hallucinated_rubric``: the reply has a criterion that the rubric does not
    have, or more points than it allows; detected in all replies, without human points.
    """

    alternative_solutions: Estimate | None
    extra_credit: Estimate | None
    reduced_credit: Estimate | None
    hallucinated_rubric: Estimate | None


class RubricScores(Row):
    """The scores of a whole graded file.

    ``points``: the mean share of the total; ``by_rubric``: compared with human points by the
    rubric, so only the grader's errors count (table 5); ``on_the_whole``: compared with overall
    human points, so errors of the rubric count, too. ``coverage`` and ``spread``: of the rubrics,
    as measured, in [0, 1]; ``rated_…`` by humans, from 1 to 5.
    """

    n_rows: int
    n_questions: int
    outcomes: dict[str, int]
    faults: dict[str, int]
    cut_off: int
    points: Estimate | None
    by_rubric: Compared | None
    on_the_whole: Compared | None
    errors: RubricErrors
    coverage: Estimate | None
    spread: Estimate | None
    rated_coverage: Estimate | None
    rated_spread: Estimate | None


Pair = tuple[GradeRow, People]


def rubric_scores(
    grades: Sequence[GradeRow],
    people: Mapping[str, People] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> RubricScores:
    """Every score of graded rows; without ``people`` those that need no human points."""
    known = people or {}
    pairs = [(row, known[row.id]) for row in grades if row.id in known]
    rubrics = list({row.rubric: row for row in grades}.values())
    boot = Bootstrap(draws=draws, seed=seed)
    return RubricScores(
        n_rows=len(grades),
        n_questions=len(rubrics),
        outcomes=dict(sorted(Counter(row.outcome.value for row in grades).items())),
        faults=dict(Counter(fault.value for row in grades for fault in row.faults).most_common()),
        cut_off=sum(bool(row.meta.get("cut_off")) for row in grades),
        points=boot.share((row, _share(row)) for row in grades),
        by_rubric=_compared(pairs, _by_rubric, boot),
        on_the_whole=_compared(pairs, lambda person: person.points, boot),
        errors=RubricErrors(
            alternative_solutions=boot.share((row, _alternative(row, p)) for row, p in pairs),
            extra_credit=boot.share((row, _credit(row, p, 1)) for row, p in pairs),
            reduced_credit=boot.share((row, _credit(row, p, -1)) for row, p in pairs),
            hallucinated_rubric=boot.share((row, _hallucinated(row)) for row in grades),
        ),
        coverage=boot.share((row, row.coverage) for row in rubrics),
        spread=boot.share((row, row.spread) for row in rubrics),
        rated_coverage=boot.mean((row, p.coverage) for row, p in pairs),
        rated_spread=boot.mean((row, p.spread) for row, p in pairs),
    )


class Bootstrap(NamedTuple):
    """The bootstrap of intervals: questions are drawn with replacement, with their responses."""

    draws: int = DRAWS
    seed: int = 0

    def share(self, values: Iterable[tuple[GradeRow, float | None]]) -> Estimate | None:
        """``mean`` of values in [0, 1]; its interval has a width even for one question."""
        found, drawn = self._drawn(values)
        if found is None:
            return None
        return found.model_copy(update={"interval": share_interval(drawn, found.n_questions)})

    def mean(self, values: Iterable[tuple[GradeRow, float | None]]) -> Estimate | None:
        """The mean over rows that have a value; None where none has."""
        return self._drawn(values)[0]

    def _drawn(
        self, values: Iterable[tuple[GradeRow, float | None]]
    ) -> tuple[Estimate | None, Values]:
        some = [(row.rubric, value) for row, value in values if value is not None]
        if not some:
            return None, np.empty(0)
        questions = numbered(name for name, _ in some)
        sums = np.zeros((int(questions.max()) + 1, 2))
        np.add.at(sums, questions, [(value, 1.0) for _, value in some])
        totals = resampled(sums, self.draws, self.seed)
        drawn = totals[:, 0] / totals[:, 1]
        return _estimate(drawn, len(some), len(sums)), drawn

    def correlation(
        self, of: Callable[[Values, Values], float], names: Sequence[str], x: Values, y: Values
    ) -> Estimate | None:
        """``pearson`` or ``spearman`` of ``[n]`` and ``[n]``; None where it is not defined."""
        questions = numbered(names)
        groups = [np.flatnonzero(questions == n) for n in range(int(questions.max()) + 1)]
        rng = np.random.default_rng(self.seed)
        values = [of(x, y)]
        if np.isnan(values[0]):
            return None
        for draw in rng.integers(len(groups), size=(self.draws, len(groups))):
            rows = np.concatenate([groups[n] for n in draw])
            values.append(of(x[rows], y[rows]))
        return _estimate(np.array(values), len(x), len(groups))


def _estimate(values: Values, n: int, n_questions: int) -> Estimate:
    value, low, high = estimate(values)
    ends = Interval(low=low, high=high) if low < high else None
    return Estimate(value=value, interval=ends, n=n, n_questions=n_questions)


def _compared(
    pairs: Sequence[Pair], given: Callable[[People], float | None], boot: Bootstrap
) -> Compared | None:
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
    return Compared(
        people=boot.share((row, p) for row, _, p in some),
        model=boot.share((row, m) for row, m, _ in some),
        difference=boot.mean((row, m - p) for row, m, p in some),
        pearson=boot.correlation(pearson, names, model, people),
        spearman=boot.correlation(spearman, names, model, people),
    )


def _share(row: GradeRow) -> float | None:
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
