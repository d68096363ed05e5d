"""Judges by the graded answers to the same question: what people said of it, or of those alike.

From ten graded answers to a question on, the nearest of them, by TF-IDF of character n-grams (the
accepted answers count as right ones), say something that neither rules nor a model know: where a
teacher draws the line. A cascade adds their log odds to those of the judges before them.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from gradegpt.core.errors import needs
from gradegpt.core.schema import Example, Item, Judgement, Verdict
from gradegpt.judges.base import decided, undecided
from gradegpt.judges.calibration import OTHER, Calibration, Weights
from gradegpt.tables.importers.labelled import item_key

LEAST: Final = 10
"""Graded answers to a question from which on the judge has an opinion: three show nothing."""
_POWER: Final = 3
"""A cosine to this power is the weight of a graded answer."""
_PRIOR: Final = 0.4
"""The weight of knowing nothing, a probability of one half."""
_WEIGHT: Final = 1.0
"""What its log odds weigh beside those of the judges before it (docs/experiments/088)."""
NONE: Final = "neighbours:too-few-labels"
SAME: Final = "neighbours:same"
UNGRADED: Final = "neighbours:not-graded"
NEAREST: Final = "neighbours:nearest"
BY_HAND: Final = "person"
"""The method of a verdict that is a label."""


class _Graded(NamedTuple):
    """The graded answers to a question: their vectors ``[n, terms]`` and labels ``[n]``."""

    vectorizer: Any
    vectors: Any
    right: Any


class NeighbourJudge:
    """Judges by graded answers; an item whose question has fewer than ``LEAST`` is undecided.

    ``score`` is the probability that the response is right: the share of right ones among the
    graded answers, weighted by the cubed cosine.
    """

    name = "neighbours"

    def __init__(self, graded: Iterable[Example]) -> None:
        self._answers: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
        for example in graded:
            if example.verdict is not None:
                said = self._answers[item_key(example)][example.response.strip()]
                said.append(example.verdict is Verdict.CORRECT)
        self._read: dict[tuple[str, tuple[str, ...]], _Graded] = {}

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the graded answers."""
        rows = sorted(
            (q, a, sorted(said)) for q, some in self._answers.items() for a, said in some.items()
        )
        return f"neighbours-1|{hashlib.sha256(repr(rows).encode()).hexdigest()[:12]}"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """One judgement per item, in order.

        Raises:
            MissingError: scikit-learn is not installed.

        """
        return [self._judged(item) for item in items]

    def _judged(self, item: Item) -> Judgement:
        answers = self._answers.get(item_key(item), {})
        labels = [label for said in answers.values() for label in said]
        if len(labels) < LEAST or len({*labels}) < 2 or not item.response.strip():
            return undecided(item, self.name, NONE)
        chance = self._chance(item, answers)
        verdict = Verdict.CORRECT if chance > 0.5 else Verdict.INCORRECT
        return decided(item, verdict, self.name, NEAREST, score=max(chance, 1 - chance))

    def labels(self, item: Item) -> set[bool]:
        """The labels of this very answer to the question."""
        return {*self._answers.get(item_key(item), {}).get(item.response.strip(), ())}

    def _chance(self, item: Item, answers: dict[str, list[bool]]) -> float:
        key = item_key(item), tuple(item.reference)
        if key not in self._read:
            self._read[key] = _graded(answers, key[1])
        graded = self._read[key]
        alike = (graded.vectors @ graded.vectorizer.transform([item.response]).T).toarray()[:, 0]
        weights = alike.clip(0, 1) ** _POWER
        return float((weights @ graded.right + 0.5 * _PRIOR) / (weights.sum() + _PRIOR))


class LabelJudge:
    """Gives an answer that was graded itself its label; any other is undecided."""

    name = BY_HAND

    def __init__(self, graded: NeighbourJudge) -> None:
        self._graded = graded
        self.fingerprint = f"labels of {graded.fingerprint}"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """One judgement per item, in order."""
        return [self._judged(item) for item in items]

    def _judged(self, item: Item) -> Judgement:
        labels = self._graded.labels(item)
        if len(labels) != 1:
            return undecided(item, self.name, UNGRADED)
        verdict = Verdict.CORRECT if True in labels else Verdict.INCORRECT
        return decided(item, verdict, self.name, SAME)


def after(names: Iterable[str], asked_below: float) -> Calibration:
    """What the nearest graded answers add where the judges of these names are less sure."""
    return Calibration(
        judge=NeighbourJudge.name, after=tuple(names), asked_below=asked_below,
        weights={OTHER: Weights(own=_WEIGHT)},
    )  # fmt: skip


def _graded(answers: dict[str, list[bool]], reference: tuple[str, ...]) -> _Graded:
    with needs("labels", "gradegpt[serve]"):
        import numpy as np
        from sklearn.feature_extraction.text import TfidfVectorizer
    texts = [text for text, said in answers.items() for _ in said] + [*reference]
    right = [label for said in answers.values() for label in said] + [True] * len(reference)
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(2, 4), sublinear_tf=True)
    return _Graded(vectorizer, vectorizer.fit_transform(texts), np.array(right, dtype=float))
