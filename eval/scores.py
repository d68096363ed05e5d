"""The scores of the model that answered, from judged rows.

Several answers to one question are samples of it. Rows without a verdict are left out of every
score and counted separately.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Final

import numpy as np

from gradegpt.answers.json_list import Fault
from gradegpt.answers.read import read
from gradegpt.core.errors import InputError
from gradegpt.core.schema import AnswerType, Item, Judgement, Row, Verdict
from gradegpt.judges.calibration import type_of
from gradegpt.judges.statistics import Interval, Share, numbered, ratio
from gradegpt.rules.compare import compare
from gradegpt.rules.reference import asked
from gradegpt.rules.validity import refuses
from gradegpt.tables.importers.labelled import item_key

from .judging import paired, tagged
from .metrics import FEW_OPEN

ALPHAS: Final = (0.1, 0.2, 0.3, 0.6)
"""The accuracies above which a knowledge point counts as mastered (CMMaTH, appendix D.2)."""
_MODEL: Final = "model"
"""The tag that says which model answered."""
THRESHOLDS: Final = (0.25, 0.5, 0.75, 1.0)
_ROUNDING: Final = 1e-9
JudgedAnswer = tuple[Item, Judgement]


class NoAnswer(StrEnum):
    """Why a response has no answer (ATLAS, table 4); the first reason that applies.

    ``truncated``: it was cut off at the token limit (``meta.cut_off``, which ``eval.answer``
    writes), or ends in the middle. ``refusal``: it declines. ``json_error``: the requested JSON is
    missing or broken. ``unparsable``: no answer can be read for any other reason: it is empty,
    repeats itself, commits to no answer, or has a wrong number of sub-answers.
    """

    TRUNCATED = "truncated"
    REFUSAL = "refusal"
    JSON_ERROR = "json_error"
    UNPARSABLE = "unparsable"


_BY_REASON: Final = {
    "cut-off": NoAnswer.TRUNCATED,
    "refusal": NoAnswer.REFUSAL,
    Fault.NO_JSON: NoAnswer.JSON_ERROR,
    Fault.JSON_ERROR: NoAnswer.JSON_ERROR,
}
_EITHER: Final = "incomplete-or-refusal"
"""The reason for both in the profile of ATLAS, as its paper does not distinguish them."""


class Samples(Row):
    """Scores for which ``k`` answers to a question are needed; ``g_pass`` by threshold."""

    k: int
    pass_at_k: Share
    g_pass: dict[str, Share]
    mg_pass: Share


class GroupScore(Row):
    """The scores of one group of rows. ``accuracy`` is a micro-average over all judged rows.

    ``accuracy_of_answers`` leaves out responses that give no answer (``invalid``; OlympiadBench,
    appendix B, removes them); ``consensus`` is the accuracy of the answer that most samples of a
    question give. ``bounds`` are the accuracy with all rows without a verdict wrong, and right.
    ``no_answer`` counts rows by ATLAS's kinds, of which only cut-off ones may be right;
    ``not_judged`` the outcomes without verdict.
    """

    n_rows: int
    n_questions: int
    accuracy: Share | None
    accuracy_of_answers: Share | None
    consensus: Share | None
    bounds: Interval
    samples: tuple[Samples, ...]
    no_answer: dict[str, int]
    not_judged: dict[str, int]

    @property
    def many_open(self) -> bool:
        """Whether so many rows have no verdict that only the bounds may be quoted."""
        return sum(self.not_judged.values()) > FEW_OPEN * self.n_rows


class ModelScores(Row):
    """The scores of a whole judged file; ``tags`` by tag and value, ``ssr`` by tag and alpha."""

    overall: GroupScore
    tags: dict[str, dict[str, GroupScore]]
    ssr: dict[str, dict[str, float | None]]


def scores(
    items: Sequence[Item],
    judgements: Sequence[Judgement],
    *,
    ks: Sequence[int] = (),
    alphas: Sequence[float] = (),
    by: str = "",
    seed: int = 0,
) -> ModelScores:
    """Every score of judged rows; default ``ks`` are powers of two that all questions reach.

    ``by`` is the tag that says who answered, besides ``model``, where several did: rows with one
    question are then no samples of one model. Neither is a knowledge point, nor is the task.

    Raises:
        InputError: items and judgements are not of the same rows, or no question has ``k`` answers.

    """
    rows = paired(items, judgements)
    groups = tagged(rows, lambda row: row[0].tags)
    several = by or len(groups.get(_MODEL, ())) > 1
    ks = ks or (() if several else _powers(_by_question(rows)))
    return ModelScores(
        overall=score_of(rows, ks, seed),
        tags={
            tag: {value: score_of(own, (), seed) for value, own in values.items()}
            for tag, values in groups.items()
        },
        ssr={
            tag: {f"{alpha:g}": ssr(values.values(), alpha) for alpha in alphas or ALPHAS}
            for tag, values in groups.items()
            if tag not in (by, _MODEL, "task")
        },
    )


def _powers(questions: Sequence[Sequence[JudgedAnswer]]) -> tuple[int, ...]:
    """The powers of two up to the answers of every question and the judged answers of one."""
    judged = max(_counts(question)[1] for question in questions)
    most = min(judged, *map(len, questions))
    return tuple(2**n for n in range(1, most.bit_length()) if 2**n <= most)


def score_of(rows: Sequence[JudgedAnswer], ks: Sequence[int] = (), seed: int = 0) -> GroupScore:
    """The scores of some rows.

    Raises:
        InputError: no question has ``k`` judged answers.

    """
    questions = _by_question(rows)
    counted = [_counts(question) for question in questions]
    right, judged = (sum(column) for column in list(zip(*counted, strict=True))[:2])
    reasons = Counter(kind for item, judgement in rows if (kind := no_answer(item, judgement)))
    return GroupScore(
        n_rows=len(rows),
        n_questions=len(questions),
        accuracy=ratio([(right, n) for right, n, _ in counted], seed),
        accuracy_of_answers=ratio([(right, n - none) for right, n, none in counted], seed),
        consensus=_consensus(questions, seed),
        bounds=Interval(low=right / len(rows), high=1 - (judged - right) / len(rows)),
        samples=tuple(_samples(k, counted, seed) for k in ks),
        no_answer={kind.value: reasons[kind] for kind in NoAnswer if reasons[kind]},
        not_judged=dict(
            sorted(Counter(j.outcome.value for _, j in rows if j.verdict is None).items())
        ),
    )


def no_answer(item: Item, judgement: Judgement) -> NoAnswer | None:
    """Why a row's response has no answer; None where it has one, or was not judged."""
    if item.meta.get("cut_off") is True:
        return NoAnswer.TRUNCATED
    if judgement.verdict is not Verdict.INVALID:
        return None
    last = judgement.reason.rpartition(":")[2]
    if last == _EITHER:
        return NoAnswer.REFUSAL if refuses(item.response) else NoAnswer.TRUNCATED
    return _BY_REASON.get(last, NoAnswer.UNPARSABLE)


def ssr(points: Iterable[Sequence[JudgedAnswer]], alpha: float) -> float | None:
    """Knowledge Successful Solve Rate: the share of knowledge points with an accuracy above alpha.

    CMMaTH, appendix D.2, equation 1: of all points. A point's accuracy is that of its judged rows,
    and 0 without any. None where no row is judged.
    """
    each = [[j.verdict for _, j in rows if j.verdict is not None] for rows in points]
    solved = [v.count(Verdict.CORRECT) > alpha * len(v) for v in each]
    return float(np.mean(solved)) if any(each) else None


def classes(answers: Sequence[JudgedAnswer]) -> list[int | None]:
    """A class number for each row's answer, the same where the rules find two answers equal.

    None where the judge named no answer. An answer is compared with the first of each class.
    """
    found: list[int | None] = []
    firsts: list[tuple[str, Item]] = []
    for item, judgement in answers:
        if judgement.verdict in (None, Verdict.INVALID) or not judgement.answer:
            found.append(None)
            continue
        kind = type_of(item)
        answer = read(judgement.answer, kind, asked(item))
        same = (
            number
            for number, (first, _) in enumerate(firsts)
            if first == judgement.answer
            or compare(read(first, kind, asked(item)), answer, question=asked(item)).same
        )
        number = next(same, len(firsts))
        if number == len(firsts):
            firsts.append((judgement.answer, item))
        found.append(number)
    return found


def _by_question(rows: Sequence[JudgedAnswer]) -> list[list[JudgedAnswer]]:
    keys = numbered(item_key(item) for item, _ in rows)
    groups: dict[int, list[JudgedAnswer]] = {}
    for key, row in zip(keys.tolist(), rows, strict=True):
        groups.setdefault(key, []).append(row)
    return list(groups.values())


def _counts(question: Sequence[JudgedAnswer]) -> tuple[int, int, int]:
    """The numbers of correct, judged and invalid answers."""
    verdicts = [j.verdict for _, j in question if j.verdict is not None]
    return verdicts.count(Verdict.CORRECT), len(verdicts), verdicts.count(Verdict.INVALID)


def _samples(k: int, counted: Sequence[tuple[int, int, int]], seed: int) -> Samples:
    enough = [(right, n) for right, n, _ in counted if n >= k]
    if not enough:
        raise InputError(f"k = {k}: no question has as many judged answers; choose a smaller k")

    def mean(values: Iterator[float]) -> Share:
        share = ratio([(value, 1) for value in values], seed)
        assert share is not None, "some question has enough answers"
        return share

    return Samples(
        k=k,
        pass_at_k=mean(pass_at_k(n, c, k) for c, n in enough),
        g_pass={
            f"{least:g}": mean(g_pass_at_k(n, c, k, least) for c, n in enough)
            for least in THRESHOLDS
        },
        mg_pass=mean(mg_pass_at_k(n, c, k) for c, n in enough),
    )


def _consensus(questions: Sequence[Sequence[JudgedAnswer]], seed: int) -> Share | None:
    """Over questions with several samples; of equally frequent answers the earliest counts.

    Programs are not compared with each other, and have no consensus.
    """
    right: list[tuple[float, float]] = []
    for question in questions:
        if len(question) < 2 or type_of(question[0][0]) is AnswerType.CODE:
            continue
        numbers = classes(question)
        most = Counter(n for n in numbers if n is not None).most_common(1)
        equal = [j for n, (_, j) in zip(numbers, question, strict=True) if most and n == most[0][0]]
        verdicts = Counter(j.verdict for j in equal).most_common(1)
        right.append((float(bool(verdicts) and verdicts[0][0] is Verdict.CORRECT), 1))
    return ratio(right, seed)


# --- of n answers to a question, c of them right, k are drawn: the exact share of all subsets


def pass_at_k(n: int, c: int, k: int) -> float:
    """The probability that at least one of ``k`` answers is right: 1 - C(n - c, k) / C(n, k).

    Chen et al. 2021 (arXiv 2107.03374), equation 1; OlympicArena, appendix C.5.

    >>> pass_at_k(n=5, c=1, k=1)
    0.2
    """
    return _at_least(n, c, k, 1)


def g_pass_at_k(n: int, c: int, k: int, threshold: float) -> float:
    """The probability that at least ``threshold`` of ``k`` answers are right, and at least one.

    Liu et al. 2024 (arXiv 2412.13147): the tail of a hypergeometric distribution. Near
    0 it is pass@k, at 1 the probability that all are right.

    >>> g_pass_at_k(n=4, c=3, k=2, threshold=1.0)
    0.5
    """
    return _at_least(n, c, k, max(1, math.ceil(threshold * k - _ROUNDING)))


def mg_pass_at_k(n: int, c: int, k: int) -> float:
    """G-Pass@k over the thresholds from 0.5 to 1: how reliably a model is right.

    Liu et al. 2024: 2/k times the sum of G-Pass@k at i/k, i from ceil(k/2) + 1 to k.

    >>> mg_pass_at_k(n=4, c=4, k=4), mg_pass_at_k(n=4, c=3, k=4)
    (1.0, 0.5)
    """
    levels = range(math.ceil(k / 2) + 1, k + 1)
    return 2 / k * sum(_at_least(n, c, k, least) for least in levels)


def _at_least(n: int, c: int, k: int, least: int) -> float:
    """The probability of at least ``least`` of the ``c`` among ``k`` drawn from the ``n``."""
    ways = (math.comb(c, i) * math.comb(n - c, k - i) for i in range(least, min(c, k) + 1))
    return sum(ways) / math.comb(n, k)
