"""Score the model that answered from a judged file: ``gradegpt eval.scores FILE JUDGEMENTS``.

Several answers to one question are samples of it. Rows without a verdict are left out of every
score and counted separately.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from gradegpt.answers.read import read
from gradegpt.core.errors import InputError
from gradegpt.core.schema import Item, Judgement, Row, Verdict
from gradegpt.judges.calibration import type_of
from gradegpt.judges.statistics import Share, numbered, ratio
from gradegpt.rules.asked import asked
from gradegpt.rules.compare import compare
from gradegpt.tables.importers.labelled import item_key

from ..judging import paired, tagged
from .rates import Rates, rates
from .sampled import g_pass_at_k, mg_pass_at_k, pass_at_k

ALPHAS: Final = (0.1, 0.2, 0.3, 0.6)
"""The accuracies above which a knowledge point counts as mastered (CMMaTH, appendix D.2)."""
THRESHOLDS: Final = (0.25, 0.5, 0.75, 1.0)
JudgedAnswer = tuple[Item, Judgement]


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
    question give. ``no_answer`` counts the reasons of invalid responses,
    ``rates`` counts them by ATLAS's kinds, ``not_judged`` the outcomes without verdict.
    """

    n_rows: int
    n_questions: int
    accuracy: Share | None
    accuracy_of_answers: Share | None
    consensus: Share | None
    samples: tuple[Samples, ...]
    no_answer: dict[str, int]
    rates: Rates
    not_judged: dict[str, int]


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
    alphas: Sequence[float] = ALPHAS,
    seed: int = 0,
) -> ModelScores:
    """Every score of judged rows; default ``ks`` are powers of two that all questions reach.

    Raises:
        InputError: items and judgements are not of the same rows, or no question has ``k`` answers.

    """
    rows = paired(items, judgements)
    ks = ks or _powers(_by_question(rows))
    groups = tagged(rows, lambda row: row[0].tags)
    return ModelScores(
        overall=score_of(rows, ks, seed),
        tags={
            tag: {value: score_of(own, (), seed) for value, own in values.items()}
            for tag, values in groups.items()
        },
        ssr={
            tag: {f"{alpha:g}": ssr(values.values(), alpha) for alpha in alphas}
            for tag, values in groups.items()
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
    return GroupScore(
        n_rows=len(rows),
        n_questions=len(questions),
        accuracy=ratio([(right, n) for right, n, _ in counted], seed),
        accuracy_of_answers=ratio([(right, n - none) for right, n, none in counted], seed),
        consensus=_consensus(questions, seed),
        samples=tuple(_samples(k, counted, seed) for k in ks),
        no_answer=_no_answer(rows),
        rates=rates(rows),
        not_judged=dict(
            sorted(Counter(j.outcome.value for _, j in rows if j.verdict is None).items())
        ),
    )


def ssr(points: Iterable[Sequence[JudgedAnswer]], alpha: float) -> float | None:
    """Knowledge Successful Solve Rate: the share of knowledge points with an accuracy above alpha.

    CMMaTH, appendix D.2, equation 1. A point's accuracy is that of its judged rows; points without
    any are left out. None where none is left.
    """
    accuracies = [
        np.mean([j.verdict is Verdict.CORRECT for j in judged])
        for rows in points
        if (judged := [j for _, j in rows if j.verdict is not None])
    ]
    return float(np.mean([a > alpha for a in accuracies])) if accuracies else None


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
    verdicts = Counter(j.verdict for _, j in question)
    judged = sum(n for verdict, n in verdicts.items() if verdict is not None)
    return verdicts[Verdict.CORRECT], judged, verdicts[Verdict.INVALID]


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
    """Over questions with several samples; of equally frequent answers the earliest counts."""
    right: list[tuple[float, float]] = []
    for question in questions:
        if len(question) < 2:
            continue
        numbers = classes(question)
        most = Counter(n for n in numbers if n is not None).most_common(1)
        equal = [j for n, (_, j) in zip(numbers, question, strict=True) if most and n == most[0][0]]
        verdicts = Counter(j.verdict for j in equal).most_common(1)
        right.append((float(bool(verdicts) and verdicts[0][0] is Verdict.CORRECT), 1))
    return ratio(right, seed)


def _no_answer(rows: Sequence[JudgedAnswer]) -> dict[str, int]:
    reasons = (j.reason for _, j in rows if j.verdict is Verdict.INVALID)
    return dict(sorted(Counter(reason.rpartition(":")[2] for reason in reasons).items()))
