"""The numbers of a report: every judge measured on every group of rows, labelled or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations, count
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradegpt.core.schema import AnswerType, Example, Judgement, Outcome, Row, Verdict
from gradegpt.judges.statistics import Interval, numbered
from gradegpt.tables.importers.labelled import item_key

from ..judging import Advance, tagged
from ..metrics import FEW_OPEN, Graded, JudgeMetrics, JudgePair, compare_judges, graded, measured
from ..reliability import Reliability, calibrations
from ..selective import RiskCoverage, risk_coverage
from .results import JudgedRows, result_of

RESULTS: Final = (*Verdict, *(outcome for outcome in Outcome if outcome is not Outcome.JUDGED))
"""The results that a row can have: three verdicts, and three outcomes without one."""
T = TypeVar("T")
_TYPE_ORDER: Final = {kind.words: place for place, kind in enumerate(AnswerType)}


class MeasuredGroup(Row):
    """One judge on a group of rows. ``said`` counts its verdicts, and outcomes without one.

    ``score`` is the accuracy over the labelled rows that it judged or, where the page has no label
    at all, the share judged correct; in [0, 1] and None where nothing counts. ``bounds`` are the
    score with all rows without a verdict wrong, and right. ``metrics`` has the other scores where
    there are labels.
    """

    n_rows: int
    n_labelled: int
    said: dict[str, int]
    score: float | None
    interval: Interval | None
    bounds: Interval | None
    metrics: JudgeMetrics | None

    @property
    def many_open(self) -> bool:
        """Whether so many scored rows have no verdict that only the bounds may be quoted."""
        return self.bounds is not None and self.bounds.high - self.bounds.low > FEW_OPEN

    @property
    def quoted(self) -> float | None:
        """The score; None where only its bounds may be quoted."""
        return None if self.many_open else self.score

    @property
    def span(self) -> Interval | None:
        """The interval of the score, or its bounds."""
        return self.bounds if self.many_open else self.interval


class Numbers(NamedTuple):
    """All numbers: by judge; by tag, value and judge; by judge, label and result.

    ``calibration`` is by judge and method; it and ``risk`` are empty where there are no labels.
    """

    n_questions: int
    overall: dict[str, MeasuredGroup]
    tags: dict[str, dict[str, dict[str, MeasuredGroup]]]
    confusion: dict[str, dict[str, dict[str, int]]]
    calibration: dict[str, dict[str, Reliability | None]]
    risk: dict[str, RiskCoverage | None]
    pairs: list[JudgePair]

    @property
    def several(self) -> dict[str, dict[str, dict[str, MeasuredGroup]]]:
        """The tags that have several values."""
        return {tag: values for tag, values in self.tags.items() if len(values) > 1}

    @property
    def measured(self) -> dict[str, JudgeMetrics]:
        """The scores of every judge on all labelled rows; empty where there are no labels."""
        return {name: group.metrics for name, group in self.overall.items() if group.metrics}


def numbers(results: JudgedRows, advance: Advance = lambda done, total: None) -> Numbers:
    """Measure every judge on all rows, and by every tag."""
    every = range(len(results.items))
    groups = tagged(every, lambda row: results.tags[row])
    question = numbered(map(item_key, results.items))
    # Against labels that are all correct, the accuracy is the share judged correct.
    labels = results.labels if results.labelled else [Verdict.CORRECT] * len(results.items)
    rows = {name: graded(question, labels, of) for name, of in results.judges.items()}
    said = {name: np.array([RESULTS.index(result_of(j)) for j in of])
            for name, of in results.judges.items()}  # fmt: skip
    steps, total = count(1), 1 + sum(map(len, groups.values()))

    def group(places: Sequence[int]) -> dict[str, MeasuredGroup]:
        at = np.array(places, dtype=np.int64)
        whole = len(at) == len(every)
        found = {name: _group(results, rows[name].at(at), said[name][at], whole) for name in rows}
        advance(next(steps), total)
        return found

    examples = [  # Items are valid already and are not checked again.
        Example.model_construct(**{**dict(item), "verdict": label})
        for item, label in zip(results.items, results.labels, strict=True)
        if label is not None
    ]
    overall = group(every)
    return Numbers(
        n_questions=int(question.max(initial=-1)) + 1,
        overall=overall,
        tags={
            tag: {
                value: overall if len(places) == len(every) else group(places)
                for value, places in sorted(values.items(), key=_in_order)
            }
            for tag, values in groups.items()
        },
        confusion={
            name: confusion(results.labels, judgements)
            for name, judgements in results.judges.items()
            if results.labelled
        },
        calibration=_each(results, examples, calibrations),
        risk=_each(
            results,
            examples,
            partial(risk_coverage, bootstrap=results.bootstrap, seed=results.seed),
        ),
        pairs=_pairs(results, rows),
    )


def _in_order(group: tuple[str, list[int]]) -> int:
    """Answer types in their own order, other groups as they appear."""
    return _TYPE_ORDER.get(group[0], 0)


def _each(results: JudgedRows, examples: Sequence[Example], of: Callable[..., T]) -> dict[str, T]:
    """Every judge on all labelled rows; nothing where there are no labels."""
    known = [n for n, label in enumerate(results.labels) if label is not None]
    return {
        name: of(examples, [judgements[n] for n in known])
        for name, judgements in results.judges.items()
        if known
    }


def _group(
    results: JudgedRows, rows: Graded, said: NDArray[np.int64], whole: bool
) -> MeasuredGroup:
    """The AUC has an interval over all rows alone, as it takes the longest."""
    scored = rows.at(rows.label >= 0)
    resampling = {"bootstrap": results.bootstrap, "seed": results.seed}
    metrics = measured(scored, area=whole, **resampling) if len(scored.label) else None
    words = np.bincount(said, minlength=len(RESULTS)).tolist()
    return MeasuredGroup(
        n_rows=len(rows.label),
        n_labelled=len(scored.label) if results.labelled else 0,
        said=dict(zip(map(str, RESULTS), words, strict=True)),
        score=metrics.accuracy if metrics else None,
        interval=metrics.intervals.get("accuracy") if metrics else None,
        bounds=metrics.bounds if metrics else None,
        metrics=metrics if results.labelled else None,
    )


def confusion(
    labels: Sequence[Verdict | None], judgements: Sequence[Judgement]
) -> dict[str, dict[str, int]]:
    """The number of rows by label and result, for the labels that occur."""
    counts = Counter((label, result_of(j)) for label, j in zip(labels, judgements, strict=True))
    present = [label for label in Verdict if label in labels]
    return {label.value: {word: counts[label, word] for word in RESULTS} for label in present}


def _pairs(results: JudgedRows, rows: Mapping[str, Graded]) -> list[JudgePair]:
    unknown = np.full(len(results.items), -1)
    given = {n: one if results.labelled else one._replace(label=unknown) for n, one in rows.items()}
    resampling = {"bootstrap": results.bootstrap, "seed": results.seed}
    return [compare_judges(a, b, **resampling) for a, b in combinations(given.items(), 2)]
