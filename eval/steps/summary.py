"""The summary of step scores: process against answers, positions of errors, human agreement.

OlympicArena, section 4.4 (figure 4, b and c), and appendix C.6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from gradegpt.core.schema import Item, Judgement, Outcome, Row, Verdict
from gradegpt.judges.statistics import (
    DRAWS,
    Interval,
    Share,
    numbered,
    pearson,
    ratio,
    resampled,
    score,
    share_interval,
    spearman,
    table,
)
from gradegpt.tables.importers.labelled import item_key

from ..judging import tagged
from .rules import StepScores, place

LABELS: Final = "step_labels"
"""The key of ``meta`` with the human labels of each step of a response: a list of 0 and 1."""
BINS: Final = 10
_LEAST: Final = 3
"""The least number of pairs for a correlation, as two always lie on a line."""
_OPEN: Final = 2
"""The column of ``gradegpt.judges.statistics`` for rows without a verdict."""


class Correlation(Row):
    """The correlation of answer and process scores over ``n`` pairs; None where undefined."""

    n: int
    pearson: float | None
    spearman: float | None


class StepGroup(Row):
    """Some rows: ``process`` is the mean process score, ``accuracy`` that of the answers.

    ``n_scored`` rows have a process score, over ``steps_scored`` (a share) of all steps. In the
    ``correlation`` the answer is 1 or 0, so Pearson's is the point-biserial one (OlympicArena,
    figure 4b). Rules score a response's last step by its answer, which raises the correlation.
    ``process_if_right`` and ``process_if_wrong`` are the means over right and wrong answers.
    """

    n_rows: int
    n_scored: int
    steps_scored: float | None
    process: Share | None
    accuracy: Share | None
    process_if_right: Share | None
    process_if_wrong: Share | None
    correlation: Correlation


class WrongSteps(Row):
    """The positions of steps with score 0, in tenths of the response (OlympicArena, figure 4c).

    ``first`` counts the first such step of each response, ``every`` all such steps;
    ``share_after_middle`` is over all of them, where a step in the middle counts half: it is 1/2
    where errors are equally likely everywhere. ``first_after_open`` counts first errors with an
    earlier step without a score, which may be wrong.
    """

    first: tuple[int, ...]
    every: tuple[int, ...]
    share_after_middle: float | None
    first_after_open: int


class HumanAgreement(Row):
    """Step scores against human labels; accuracy and kappa over the steps that have a score.

    OlympicArena, section 3.4, reports 83 % agreement of its model with humans.
    """

    n_rows: int
    n_steps: int
    n_scored: int
    accuracy: float | None
    kappa: float | None
    interval: Interval | None


class StepSummary(Row):
    """The summary of a file; ``between`` correlates the means of a tag's values."""

    overall: StepGroup
    tags: dict[str, dict[str, StepGroup]]
    between: dict[str, Correlation]
    errors: WrongSteps
    human: HumanAgreement | None
    not_scored: dict[str, int]


class ScoredItem(NamedTuple):
    """An item, its step scores, the judgement of its answer, and the number of its question."""

    item: Item
    steps: StepScores
    judgement: Judgement | None
    question: int

    @property
    def right(self) -> bool | None:
        """Whether the answer is right, where it was judged."""
        verdict = self.judgement.verdict if self.judgement else None
        return None if verdict is None else verdict is Verdict.CORRECT


def summarise(
    items: Sequence[Item],
    steps: Sequence[StepScores],
    judgements: Sequence[Judgement] = (),
    *,
    seed: int = 0,
) -> StepSummary:
    """Every figure of scored items; without judgements, figures of answers are None."""
    keys = numbered(map(item_key, items)).tolist()
    judged: Sequence[Judgement | None] = judgements or [None] * len(items)
    rows = [ScoredItem(*row) for row in zip(items, steps, judged, keys, strict=True)]
    groups = {
        tag: {value: _group(own, seed) for value, own in values.items()}
        for tag, values in tagged(rows, lambda row: row.item.tags).items()
    }
    return StepSummary(
        overall=_group(rows, seed),
        tags=groups,
        between={tag: _between(values.values()) for tag, values in groups.items()},
        errors=_errors(steps),
        human=_human(rows, seed),
        not_scored=dict(
            sorted(Counter(s.reason for s in steps if s.outcome is not Outcome.JUDGED).items())
        ),
    )


def correlation(pairs: Sequence[tuple[float, float]]) -> Correlation:
    """Pearson's and Spearman's; None for fewer than three pairs, or where one side is constant.

    With 0 and 1 on one side Pearson's is the point-biserial correlation.
    """
    values = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    if len(values) < _LEAST or not np.ptp(values, axis=0).all():
        return Correlation(n=len(values), pearson=None, spearman=None)
    x, y = values.T
    return Correlation(n=len(values), pearson=pearson(x, y), spearman=spearman(x, y))


def _group(rows: Sequence[ScoredItem], seed: int) -> StepGroup:
    n_steps = sum(row.steps.n_steps for row in rows)
    known = sum(score is not None for row in rows for score in row.steps.scores)
    pairs = [
        (float(row.right), row.steps.mean)
        for row in rows
        if row.right is not None and row.steps.mean is not None
    ]
    return StepGroup(
        n_rows=len(rows),
        n_scored=sum(row.steps.mean is not None for row in rows),
        steps_scored=known / n_steps if n_steps else None,
        process=_mean(rows, _process, seed),
        accuracy=_mean(rows, lambda row: row.right, seed),
        process_if_right=_mean([row for row in rows if row.right is True], _process, seed),
        process_if_wrong=_mean([row for row in rows if row.right is False], _process, seed),
        correlation=correlation(pairs),
    )


def _process(row: ScoredItem) -> float | None:
    return row.steps.mean


def _mean(
    rows: Sequence[ScoredItem], value_of: Callable[[ScoredItem], float | None], seed: int
) -> Share | None:
    """The mean over rows that have a value; its interval draws questions with all their rows."""
    totals: dict[int, tuple[float, int]] = {}
    for row in rows:
        if (value := value_of(row)) is not None:
            total, n = totals.get(row.question, (0.0, 0))
            totals[row.question] = (total + value, n + 1)
    return ratio(totals.values(), seed)


def _between(groups: Iterable[StepGroup]) -> Correlation:
    return correlation(
        [(g.accuracy.value, g.process.value) for g in groups if g.accuracy and g.process]
    )


def _errors(rows: Sequence[StepScores]) -> WrongSteps:
    judged = [row for row in rows if row.outcome is Outcome.JUDGED]
    firsts = [row.first_error_at for row in judged if row.first_error_at is not None]
    every = [
        place(n, row.n_steps)
        for row in judged
        for n, score in enumerate(row.scores, 1)
        if score == 0
    ]
    after = sum(1.0 if at > 0.5 else 0.5 if at == 0.5 else 0.0 for at in every)
    return WrongSteps(
        first=_histogram(firsts),
        every=_histogram(every),
        share_after_middle=after / len(every) if every else None,
        first_after_open=sum(None in row.scores[: row.first_error or 0] for row in judged),
    )


def _histogram(places: Sequence[float]) -> tuple[int, ...]:
    counts, _ = np.histogram(places, bins=BINS, range=(0, 1))
    return tuple(counts.tolist())


def _human(rows: Sequence[ScoredItem], seed: int) -> HumanAgreement | None:
    labelled = [row for row in rows if row.item.meta.get(LABELS) is not None]
    if not labelled:
        return None
    labels = [
        (int(label), _OPEN if one is None else one, row.question)
        for row in labelled
        for label, one in zip(
            row.item.meta[LABELS], row.steps.scores or [None] * row.steps.n_steps, strict=True
        )
    ]
    truths, scored, questions = np.array(labels, dtype=np.int64).reshape(-1, 3).T
    cells = table(truths, scored, numbered(map(str, questions)))
    drawn = score(resampled(cells, DRAWS, seed))
    questions_scored = int((cells[:, :, :_OPEN].sum(axis=(1, 2)) > 0).sum())
    kappa = float(drawn["kappa"][0])
    n_scored = int((scored != _OPEN).sum())
    return HumanAgreement(
        n_rows=len(labelled),
        n_steps=len(labels),
        n_scored=n_scored,
        accuracy=float(drawn["accuracy"][0]) if n_scored else None,
        kappa=None if np.isnan(kappa) else kappa,
        interval=share_interval(drawn["accuracy"], questions_scored) if n_scored else None,
    )
