"""The numbers of a report: every judge measured on every group of rows, labelled or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations, count
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradegpt.core.schema import AnswerType, Example, Judgement, Outcome, Row, Verdict
from gradegpt.judges.statistics import Interval, numbered, proportion
from gradegpt.tables.importers.labelled import item_key

from ..judging import Advance, tagged
from ..metrics import FEW_OPEN, Graded, JudgeMetrics, JudgePair, compare_judges, graded, measured
from ..reliability import Reliability, calibrations
from ..selective import RiskCoverage, risk_coverage
from .results import JudgedRows, result_of

RESULTS: Final = (*Verdict, *(outcome for outcome in Outcome if outcome is not Outcome.JUDGED))
"""The results that a row can have: three verdicts, and three outcomes without one."""
_ORDER: Final = {kind.words: place for place, kind in enumerate(AnswerType)}
"""Groups that are answer types have their own order, others that of their appearance."""


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

    known = [n for n, label in enumerate(results.labels) if label is not None]
    examples = [  # Items are valid already and are not checked again.
        Example.model_construct(**{**dict(results.items[n]), "verdict": results.labels[n]})
        for n in known
    ]
    compared = {name: [of[n] for n in known] for name, of in results.judges.items() if known}
    overall = group(every)
    return Numbers(
        n_questions=int(question.max(initial=-1)) + 1,
        overall=overall,
        tags={
            tag: {
                value: overall if len(places) == len(every) else group(places)
                for value, places in sorted(values.items(), key=lambda of: _ORDER.get(of[0], 0))
            }
            for tag, values in groups.items()
        },
        confusion={
            name: confusion(results.labels, judgements)
            for name, judgements in results.judges.items()
            if results.labelled
        },
        calibration={name: calibrations(examples, of) for name, of in compared.items()},
        risk={name: risk_coverage(examples, of) for name, of in compared.items()},
        pairs=_pairs(results, rows),
    )


def _group(
    results: JudgedRows, rows: Graded, said: NDArray[np.int64], whole: bool
) -> MeasuredGroup:
    """The AUC has an interval over all rows alone, as it takes the longest."""
    scored = rows.at(rows.label >= 0)
    n, judged = len(scored.label), scored.result <= 1
    right = scored.result[judged] == scored.label[judged]
    share = proportion(right, scored.question[judged]) if len(right) else None
    resampling = {"bootstrap": results.bootstrap, "seed": results.seed}
    is_measured = results.labelled and n
    words = np.bincount(said, minlength=len(RESULTS)).tolist()
    return MeasuredGroup(
        n_rows=len(rows.label),
        n_labelled=n if results.labelled else 0,
        said=dict(zip(map(str, RESULTS), words, strict=True)),
        score=share.value if share else None,
        interval=share.interval if share else None,
        bounds=Interval(low=right.sum() / n, high=1 - (~right).sum() / n) if n else None,
        metrics=measured(scored, area=whole, **resampling) if is_measured else None,
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
