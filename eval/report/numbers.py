"""The numbers of a report: every judge measured on every group of rows, labelled or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, count
from typing import Final, NamedTuple, TypeVar

from gradegpt.core.schema import AnswerType, Example, Judgement, Outcome, Row, Verdict
from gradegpt.judges.statistics import Interval, says_yes
from gradegpt.tables.importers.labelled import item_key

from ..judging import Advance, tagged
from ..metrics import JudgeMetrics, JudgePair, compare_judges, measure
from ..reliability import Reliability, calibrations
from ..selective import RiskCoverage, risk_coverage
from .results import JudgedRows

RESULTS: Final = (*Verdict, *(outcome for outcome in Outcome if outcome is not Outcome.JUDGED))
"""The results that a row can have: three verdicts, and three outcomes without one."""
T = TypeVar("T")
_TYPE_ORDER: Final = {kind.words: place for place, kind in enumerate(AnswerType)}


class MeasuredGroup(Row):
    """One judge on a group of rows. ``said`` counts its verdicts, and outcomes without one.

    ``score`` is the accuracy over the labelled rows that it judged or, where the page has no label
    at all, the share judged correct; in [0, 1] and None where nothing counts. ``metrics`` has the
    other scores where there are labels.
    """

    n_rows: int
    n_labelled: int
    said: dict[str, int]
    score: float | None
    interval: Interval | None
    metrics: JudgeMetrics | None


class ComparedJudges(NamedTuple):
    """Two judges, and the number of rows that only one of them judges correct."""

    pair: JudgePair
    first_only: int
    second_only: int


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
    pairs: list[ComparedJudges]

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
    examples = _examples(results)
    steps, total = count(1), 1 + sum(map(len, groups.values()))

    def measured(rows: Sequence[int]) -> dict[str, MeasuredGroup]:
        found = {
            name: _group(results, examples, judgements, rows)
            for name, judgements in results.judges.items()
        }
        advance(next(steps), total)
        return found

    overall = measured(every)
    return Numbers(
        n_questions=len({item_key(item) for item in results.items}),
        overall=overall,
        tags={
            tag: {
                value: overall if len(rows) == len(every) else measured(rows)
                for value, rows in sorted(values.items(), key=_in_order)
            }
            for tag, values in groups.items()
        },
        confusion={
            name: confusion(results.labels, judgements)
            for name, judgements in results.judges.items()
            if results.labelled
        },
        calibration=_each(results, examples, calibrations),
        risk=_each(results, examples, risk_coverage),
        pairs=_pairs(results, examples),
    )


def _in_order(group: tuple[str, list[int]]) -> int:
    """Answer types in their own order, other groups as they appear."""
    return _TYPE_ORDER.get(group[0], 0)


def _each(
    results: JudgedRows, examples: Sequence[Example | None], measured: Callable[..., T]
) -> dict[str, T]:
    """Every judge on all labelled rows; nothing where there are no labels."""
    known = [(n, e) for n, e in enumerate(examples) if e is not None and results.labelled]
    return {
        name: measured(
            [example for _, example in known],
            [judgements[n] for n, _ in known],
            bootstrap=results.bootstrap,
            seed=results.seed,
        )
        for name, judgements in results.judges.items()
        if known
    }


def result_of(judgement: Judgement) -> str:
    """The verdict, or the outcome where there is none."""
    return (judgement.verdict or judgement.outcome).value


def _examples(results: JudgedRows) -> list[Example | None]:
    """The labelled rows; without any label, all rows labelled correct.

    Against such labels the accuracy is the share judged correct. Items are valid already and are
    not checked again.
    """
    labels = results.labels if results.labelled else [Verdict.CORRECT] * len(results.items)
    return [
        Example.model_construct(**{**dict(item), "verdict": label}) if label else None
        for item, label in zip(results.items, labels, strict=True)
    ]


def _group(
    results: JudgedRows,
    examples: Sequence[Example | None],
    judgements: Sequence[Judgement],
    rows: Sequence[int],
) -> MeasuredGroup:
    scored = [(example, judgements[n]) for n in rows if (example := examples[n]) is not None]
    metrics = measure(
        [example for example, _ in scored],
        [judgement for _, judgement in scored],
        bootstrap=results.bootstrap,
        seed=results.seed,
    ) if scored else None  # fmt: skip
    found = Counter(result_of(judgements[n]) for n in rows)
    return MeasuredGroup(
        n_rows=len(rows),
        n_labelled=len(scored) if results.labelled else 0,
        said={word: found[word] for word in RESULTS},
        score=metrics.accuracy if metrics else None,
        interval=metrics.intervals.get("accuracy") if metrics else None,
        metrics=metrics if results.labelled else None,
    )


def confusion(
    labels: Sequence[Verdict | None], judgements: Sequence[Judgement]
) -> dict[str, dict[str, int]]:
    """The number of rows by label and result, for the labels that occur."""
    counts = Counter((label, result_of(j)) for label, j in zip(labels, judgements, strict=True))
    present = [label for label in Verdict if label in labels]
    return {label.value: {word: counts[label, word] for word in RESULTS} for label in present}


def _pairs(results: JudgedRows, examples: Sequence[Example | None]) -> list[ComparedJudges]:
    known = [example for example in examples if example is not None]
    every = known if results.labelled and len(known) == len(examples) else None
    resampling = {"bootstrap": results.bootstrap, "seed": results.seed}
    return [
        _compared(compare_judges(every, a, b, **resampling), a[1], b[1])
        for a, b in combinations(results.judges.items(), 2)
    ]


def _compared(pair: JudgePair, a: Sequence[Judgement], b: Sequence[Judgement]) -> ComparedJudges:
    both = Counter(
        (says_yes(one.verdict), says_yes(other.verdict))
        for one, other in zip(a, b, strict=True)
        if one.verdict is not None and other.verdict is not None
    )
    return ComparedJudges(pair, both[True, False], both[False, True])
