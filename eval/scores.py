"""The scores of the model that answered, from judged rows.

Several answers to one question are samples of it. Rows without a verdict are left out of every
score and counted separately.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from gradegpt.answers.answer import Answer
from gradegpt.answers.json_list import Fault
from gradegpt.answers.read import read
from gradegpt.core.errors import InputError
from gradegpt.core.schema import AnswerType, Item, Judgement, Row, Verdict
from gradegpt.judges.calibration import type_of
from gradegpt.judges.statistics import Interval, Share, Values, numbered, ratio, sums
from gradegpt.rules.compare import compare
from gradegpt.rules.reference import asked
from gradegpt.rules.validity import refuses
from gradegpt.tables.importers.labelled import item_key

from .judging import paired, tagged
from .metrics import FEW_OPEN

ALPHAS: Final = (0.1, 0.2, 0.3, 0.6)
"""The accuracies above which a knowledge point counts as mastered (CMMaTH, appendix D.2)."""
MODEL: Final = "model"
"""The tag that says which model answered."""
THRESHOLDS: Final = (0.25, 0.5, 0.75, 1.0)
_ROUNDING: Final = 1e-9
_COMPARED: Final = 10
"""The most different answers to a question that are compared with each other."""
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


class Answers(NamedTuple):
    """Judged rows as arrays ``[n]``.

    ``verdict`` is 1 for correct, 0 incorrect, 2 invalid and -1 for none; ``alike`` the class of the
    answer among those of its question, -1 without one, and -2 where answers are not compared.
    """

    question: NDArray[np.int64]
    verdict: NDArray[np.int64]
    alike: NDArray[np.int64]
    none: NDArray[Any]
    outcome: NDArray[Any]

    def at(self, places: Sequence[int]) -> Answers:
        """The rows at these places, with questions numbered from 0."""
        chosen = Answers(*(column[places] for column in self))
        return chosen._replace(question=np.unique(chosen.question, return_inverse=True)[1])


_CODES: Final = {Verdict.INCORRECT: 0, Verdict.CORRECT: 1, Verdict.INVALID: 2, None: -1}


def answers_of(rows: Sequence[JudgedAnswer]) -> Answers:
    """The rows as arrays; equal answers to a question are found once, for every group of rows."""
    question = numbered(item_key(item) for item, _ in rows)
    alike = np.full(len(rows), -2)
    order = np.argsort(question, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(question[order])) + 1):
        if len(places) > 1 and rows[places[0]][0].answer_type is not AnswerType.CODE:
            answers = [rows[place] for place in places]
            alike[places] = classes(answers, by_text=_is_settled(answers))
    return Answers(
        question, np.array([_CODES[j.verdict] for _, j in rows]), alike,
        np.array([no_answer(*row) or "" for row in rows], dtype=object),
        np.array([j.outcome.value if j.verdict is None else "" for _, j in rows], dtype=object),
    )  # fmt: skip


def scores(
    items: Sequence[Item],
    judgements: Sequence[Judgement],
    *,
    ks: Sequence[int] = (),
    by: str = "",
) -> ModelScores:
    """Every score of judged rows; default ``ks`` are powers of two that all questions reach.

    There is no default ``k`` where some questions have more rows than others and no item has the
    ``meta.sample`` of ``eval.answer``: the rows may be no samples of one model. ``by`` is the tag
    that says who answered, besides ``model``, where several did: rows with one question are then no
    samples of one model. Neither is a knowledge point, nor is the task.

    Raises:
        InputError: items and judgements are not of the same rows, or no question has ``k`` answers.

    """
    rows = answers_of(paired(items, judgements))
    groups = tagged(range(len(items)), lambda n: items[n].tags)
    uneven = len({*np.bincount(rows.question)}) > 1 and not any("sample" in i.meta for i in items)
    several = by or len(groups.get(MODEL, ())) > 1 or uneven
    tags = {
        tag: {value: score_of(rows.at(own)) for value, own in values.items()}
        for tag, values in groups.items()
    }
    return ModelScores(
        overall=score_of(rows, ks or (() if several else _powers(rows))),
        tags=tags,
        ssr={
            tag: {f"{alpha:g}": ssr(values.values(), alpha) for alpha in ALPHAS}
            for tag, values in tags.items()
            if tag not in (by, MODEL, "task")
        },
    )


def _powers(rows: Answers) -> tuple[int, ...]:
    """The powers of two up to the answers of every question and the judged answers of one."""
    every, judged = sums(rows.question, rows.question >= 0, rows.verdict >= 0).T
    most = int(min(judged.max(), every.min()))
    return tuple(2**n for n in range(1, most.bit_length()) if 2**n <= most)


def score_of(rows: Answers, ks: Sequence[int] = ()) -> GroupScore:
    """The scores of some rows.

    Raises:
        InputError: no question has ``k`` judged answers.

    """
    n = len(rows.verdict)
    counted = sums(rows.question, rows.verdict == 1, rows.verdict >= 0, rows.verdict == 2)
    right, judged, none = counted.T
    kinds, open_ = Counter(rows.none), Counter(rows.outcome)
    return GroupScore(
        n_rows=n,
        n_questions=len(right),
        accuracy=ratio(np.stack([right, judged], axis=1)),
        accuracy_of_answers=ratio(np.stack([right, judged - none], axis=1)),
        consensus=_consensus(rows),
        bounds=Interval(low=right.sum() / n, high=1 - (judged - right).sum() / n),
        samples=tuple(_samples(k, right, judged) for k in ks),
        no_answer={kind.value: kinds[kind] for kind in NoAnswer if kinds[kind]},
        not_judged={outcome: open_[outcome] for outcome in sorted(open_) if outcome},
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


def ssr(points: Iterable[GroupScore], alpha: float) -> float | None:
    """Knowledge Successful Solve Rate: the share of knowledge points with an accuracy above alpha.

    CMMaTH, appendix D.2, equation 1: of all points. A point's accuracy is that of its judged rows,
    and 0 without any. None where no row is judged.
    """
    each = [point.accuracy.value if point.accuracy else None for point in points]
    solved = [value is not None and value > alpha for value in each]
    return float(np.mean(solved)) if any(value is not None for value in each) else None


def _texts(answers: Sequence[JudgedAnswer]) -> list[str]:
    return ["" if j.verdict in (None, Verdict.INVALID) else j.answer or "" for _, j in answers]


def _is_settled(answers: Sequence[JudgedAnswer]) -> bool:
    """Whether most answers are one text with one verdict: none that is equal to it changes that.

    This holds for every group of rows where all have the same tags.
    """
    counts = Counter(filter(None, texts := _texts(answers)))
    most, n = max(counts.items(), key=lambda one: one[1], default=("", 1))
    verdicts = {j.verdict for (_, j), text in zip(answers, texts, strict=True) if text == most}
    is_most = 2 * n > counts.total() and len(verdicts) == 1
    return is_most and all(item.tags == answers[0][0].tags for item, _ in answers)


def classes(answers: Sequence[JudgedAnswer], *, by_text: bool = False) -> list[int]:
    """A class number for each answer to a question, the same where the rules find two equal.

    -1 where the judge named no answer. Of many different answers the most frequent alone are
    compared, each with the first of its class: comparing all would take the square of their number.
    ``by_text`` compares none.
    """
    question, texts = asked(answers[0][0]), _texts(answers)
    frequent = dict(Counter(filter(None, texts)).most_common(0 if by_text else _COMPARED))
    known: dict[str, int] = {}
    firsts: dict[int, Answer] = {}
    for number, text in enumerate(dict.fromkeys(filter(None, texts))):
        known[text] = number
        if text in frequent:
            answer = read(text, type_of(answers[0][0]), question)
            same = (n for n, one in firsts.items() if compare(one, answer, question=question).same)
            known[text] = next(same, number)
            firsts.setdefault(known[text], answer)
    return [known.get(text, -1) for text in texts]


def _samples(k: int, right: Values, judged: Values) -> Samples:
    enough = judged >= k
    if not enough.any():
        raise InputError(f"k = {k}: no question has as many judged answers; choose a smaller k")
    tails = at_least(judged[enough], right[enough], k)

    def mean(values: Values) -> Share:
        share = ratio(np.stack([values, np.ones(len(values))], axis=1), judged[enough].sum())
        assert share is not None, "some question has enough answers"
        return share

    return Samples(
        k=k,
        pass_at_k=mean(tails[:, 1]),
        g_pass={f"{least:g}": mean(tails[:, level(least, k)]) for least in THRESHOLDS},
        mg_pass=mean(mg_pass(tails)),
    )


def _consensus(rows: Answers) -> Share | None:
    """Over questions with several samples; of equally frequent answers the earliest counts.

    Programs are not compared with each other, and have no consensus.
    """
    compared = np.bincount(rows.question[rows.alike > -2], minlength=rows.question.max() + 1) > 1
    known = rows.alike >= 0
    groups, place = np.unique(
        np.stack([rows.question[known], rows.alike[known]]), axis=1, return_inverse=True
    )
    n, right = sums(place.ravel(), place >= 0, rows.verdict[known] == 1).T
    order = np.lexsort((groups[1], -n, groups[0]))
    _, first = np.unique(groups[0][order], return_index=True)
    most = order[first]
    won = np.zeros(len(compared))
    won[groups[0][most]] = 2 * right[most] > n[most]
    return ratio(np.stack([won, compared], axis=1))


# --- of n answers to a question, c of them right, k are drawn: the exact share of all subsets


def at_least(n: Values, c: Values, k: int) -> Values:
    """The probability ``[questions, k + 1]`` of at least i right ones among ``k`` drawn answers.

    ``n`` answers to each question, ``c`` of them right; at i = 1 it is pass@k, 1 - C(n - c, k) /
    C(n, k) (Chen et al. 2021, arXiv 2107.03374, equation 1; OlympicArena, appendix C.5), at i =
    ceil(t k) G-Pass@k for the threshold t (Liu et al. 2024, arXiv 2412.13147): the tails of the
    hypergeometric distribution.

    >>> at_least(np.array([4]), np.array([3]), 2).round(6).tolist()
    [[1.0, 1.0, 0.5]]
    """
    i = np.arange(k + 1)
    n, c = n[:, None], c[:, None]
    possible = (i <= c) & (k - i <= n - c)
    ways = np.exp(_choose(c, i) + _choose(n - c, k - i) - _choose(n, np.array(k)))
    exact = np.where(possible, ways, 0.0)
    tails: Values = np.minimum(1.0, exact[:, ::-1].cumsum(axis=1)[:, ::-1])
    return tails


def _choose(n: Values, k: NDArray[np.int64]) -> Values:
    """The logarithm of a binomial coefficient, and anything where it is 0."""
    left = np.maximum(n - k, 0)
    chosen: Values = gammaln(n + 1) - gammaln(k + 1) - gammaln(left + 1)
    return chosen


def level(threshold: float, k: int) -> int:
    """The right answers of ``k`` that a threshold demands, at least one.

    >>> level(0.55, 20), level(1e-6, 20)
    (11, 1)
    """
    return max(1, math.ceil(threshold * k - _ROUNDING))


def mg_pass(tails: Values) -> Values:
    """G-Pass@k over the thresholds from 0.5 to 1: how reliably a model is right.

    Liu et al. 2024: 2/k times the sum of G-Pass@k at i/k, i from ceil(k/2) + 1 to k.
    """
    k = tails.shape[1] - 1
    summed: Values = 2 / k * tails[:, math.ceil(k / 2) + 1 :].sum(axis=1)
    return summed
