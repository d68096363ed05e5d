"""The numbers of the page: every judge measured on every group of rows, labelled or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, count
from typing import Final, NamedTuple

from gradegpt.agreement import numbered, says_yes
from gradegpt.importers.labelled import item_key
from gradegpt.schema import AnswerType, Example, Judgement, Outcome, Row, Verdict

from ..judging import Advance
from ..metrics import Interval, Metrics, Pair, compare_judges, measure
from ..shares import Share, ratio, tagged
from .results import Results

RESULTS: Final = (*Verdict, *(outcome for outcome in Outcome if outcome is not Outcome.JUDGED))
"""The results that a row can have: three verdicts, and three outcomes without one."""
_BINS: Final = 10
_TYPE_ORDER: Final = {kind.words: place for place, kind in enumerate(AnswerType)}


class Group(Row):
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
    metrics: Metrics | None


class Bin(Row):
    """Judged and labelled rows with a confidence between ``low`` and ``high``."""

    low: float
    high: float
    n_rows: int
    confidence: float
    accuracy: Share


class PairCounts(NamedTuple):
    """Two judges, and the number of rows that only one of them judges correct."""

    pair: Pair
    first_only: int
    second_only: int


class Numbers(NamedTuple):
    """All numbers: by judge; by tag, value and judge; by judge, label and result."""

    n_questions: int
    overall: dict[str, Group]
    tags: dict[str, dict[str, dict[str, Group]]]
    confusion: dict[str, dict[str, dict[str, int]]]
    confidence: dict[str, list[Bin]]
    pairs: list[PairCounts]


def numbers(results: Results, advance: Advance = lambda done, total: None) -> Numbers:
    """Measure every judge on all rows, and by every tag that has several values."""
    groups = tagged(range(len(results.items)), lambda row: results.tags[row])
    several = {
        tag: sorted(values.items(), key=lambda value: _TYPE_ORDER.get(value[0], 0))
        for tag, values in groups.items()
        if len(values) > 1
    }
    examples = _examples(results)
    steps, total = count(1), 1 + sum(map(len, several.values()))

    def measured(rows: Sequence[int]) -> dict[str, Group]:
        found = {
            name: _group(results, examples, judgements, rows)
            for name, judgements in results.judges.items()
        }
        advance(next(steps), total)
        return found

    return Numbers(
        n_questions=len({item_key(item) for item in results.items}),
        overall=measured(range(len(results.items))),
        tags={
            tag: {value: measured(rows) for value, rows in values}
            for tag, values in several.items()
        },
        confusion={
            name: confusion(results.labels, judgements)
            for name, judgements in results.judges.items()
            if results.labelled
        },
        confidence={name: reliability(results, name) for name in results.judges},
        pairs=_pairs(results, examples),
    )


def result_of(judgement: Judgement) -> str:
    """The verdict, or the outcome where there is none."""
    return (judgement.verdict or judgement.outcome).value


def _examples(results: Results) -> list[Example | None]:
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
    results: Results,
    examples: Sequence[Example | None],
    judgements: Sequence[Judgement],
    rows: Sequence[int],
) -> Group:
    scored = [(example, judgements[n]) for n in rows if (example := examples[n]) is not None]
    metrics = measure(
        [example for example, _ in scored],
        [judgement for _, judgement in scored],
        bootstrap=results.bootstrap,
        seed=results.seed,
    ) if scored else None  # fmt: skip
    found = Counter(result_of(judgements[n]) for n in rows)
    return Group(
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


def reliability(results: Results, judge: str) -> list[Bin]:
    """Accuracy by confidence, in tenths: the reliability diagram of DeGroot and Fienberg (1983).

    Over the judged rows that have a label and a confidence; verdicts are two-way.
    """
    keys = numbered(item_key(item) for item in results.items)
    bins: dict[int, list[tuple[int, float, bool]]] = {}
    for key, label, j in zip(keys, results.labels, results.judges[judge], strict=True):
        if label is not None and j.verdict is not None and j.confidence is not None:
            right = says_yes(j.verdict) is says_yes(label)
            place = min(int(j.confidence * _BINS), _BINS - 1)
            bins.setdefault(place, []).append((int(key), j.confidence, right))
    return [_bin(place, rows, results.seed) for place, rows in sorted(bins.items())]


def _bin(place: int, rows: Sequence[tuple[int, float, bool]], seed: int) -> Bin:
    questions: dict[int, tuple[int, int]] = {}
    for key, _, right in rows:
        n_right, n = questions.get(key, (0, 0))
        questions[key] = (n_right + right, n + 1)
    accuracy = ratio(list(questions.values()), seed)
    if accuracy is None:
        raise ValueError("a bin without a row")
    return Bin(
        low=place / _BINS,
        high=(place + 1) / _BINS,
        n_rows=len(rows),
        confidence=sum(confidence for _, confidence, _ in rows) / len(rows),
        accuracy=accuracy,
    )


def _pairs(results: Results, examples: Sequence[Example | None]) -> list[PairCounts]:
    known = [example for example in examples if example is not None]
    every = known if results.labelled and len(known) == len(examples) else None
    return [_pair_counts(every, a, b) for a, b in combinations(results.judges.items(), 2)]


def _pair_counts(
    examples: Sequence[Example] | None,
    a: tuple[str, Sequence[Judgement]],
    b: tuple[str, Sequence[Judgement]],
) -> PairCounts:
    both = Counter(
        (says_yes(one.verdict), says_yes(other.verdict))
        for one, other in zip(a[1], b[1], strict=True)
        if one.verdict is not None and other.verdict is not None
    )
    return PairCounts(compare_judges(examples, a, b), both[True, False], both[False, True])
