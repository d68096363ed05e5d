"""The artifact probe: how well the response alone predicts the verdict.

A judge has to compare a response with a reference. Where a bag of words of the response predicts
the verdict, a model can learn the words instead ("annotation artifacts": Gururangan et al. 2018).
A linear classifier measures this on held-out questions and lists the n-grams with the largest
weights.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from gradegpt.chain import needs_gloss
from gradegpt.errors import InputError
from gradegpt.schema import Row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Floats = NDArray[np.float64]

FOLDS: Final = 5
STRONGEST: Final = 15
"""N-grams listed for each verdict."""
_DRAWS: Final = 1000
_MIN_ROWS: Final = 5
_MAX_FEATURES: Final = 50_000
_DECIMALS: Final = 4
_UNIT: Final = re.compile(r"[\u3400-\u9fff]|[^\W\d_\u3400-\u9fff]+|\d+|[^\w\s]")


class Score(Row):
    """Balanced accuracy with its 95 % interval, resampled by question; ``None`` if undefined."""

    n: int
    n_correct: int
    balanced_accuracy: float | None
    low: float | None
    high: float | None


class NgramWeight(Row):
    """An n-gram with its weight in the classifier, in log odds.

    ``n`` responses contain it, and ``share_correct`` of them are correct.
    """

    ngram: str
    weight: float
    n: int
    share_correct: float


NgramWeights = tuple[NgramWeight, ...]
"""The n-grams that predict one verdict, the largest weight first."""


class ArtifactProbe(Row):
    """Results of the probe; a balanced accuracy of 0.5 is chance."""

    n_groups: int
    overall: Score
    by_language: dict[str, Score]
    correct: NgramWeights
    incorrect: NgramWeights

    def as_dict(self) -> dict[str, Any]:
        """JSON values for the manifest."""
        return self.model_dump(mode="json")


def probe_artifacts(
    responses: Sequence[str], labels: Sequence[bool], groups: Sequence[str], seed: int
) -> ArtifactProbe:
    """Measure how well the words of a response predict its label; groups are questions.

    The language of a response is Chinese (``zh``) if it has a Han character, else ``en``. Leave
    invalid rows out: a missing answer is rightly recognised from the response alone.

    Raises:
        InputError: the three sequences differ in length.

    """
    import numpy as np

    from gradegpt.agreement import numbered

    if not len(responses) == len(labels) == len(groups):
        lengths = f"{len(responses)}, {len(labels)} and {len(groups)}"
        raise InputError(
            f"probe_artifacts: {lengths} responses, labels and groups; pass as many of each"
        )
    truth = np.array(labels, dtype=bool)
    numbers = numbered(groups)
    languages = np.array(["zh" if needs_gloss(r) else "en" for r in responses])
    predicted, signs = _classify(responses, truth, numbers, seed)
    rng = np.random.default_rng(seed)
    everyone = np.ones(len(truth), dtype=bool)
    return ArtifactProbe(
        n_groups=len(set(groups)),
        overall=_score(truth, predicted, numbers, everyone, rng),
        by_language={
            str(language): _score(truth, predicted, numbers, languages == language, rng)
            for language in np.unique(languages)
        },
        correct=signs[0],
        incorrect=signs[1],
    )


def ngrams(response: str) -> Iterator[str]:
    """Unigrams and bigrams of words, signs and Han characters, ignoring case.

    >>> list(ngrams("So x=2"))
    ['so', 'x', '=', '2', 'so x', 'x =', '= 2']
    """
    units = _UNIT.findall(unicodedata.normalize("NFKC", response).casefold())
    yield from units
    for one, other in pairwise(units):
        yield one + other if needs_gloss(one) and needs_gloss(other) else f"{one} {other}"


def _classify(
    responses: Sequence[str], truth: Any, numbers: Numbers, seed: int
) -> tuple[Any, tuple[NgramWeights, NgramWeights]]:
    """Out-of-fold predictions (none where folds are undefined), and the n-grams of each verdict."""
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.model_selection import GroupKFold

    smallest = min(len(np.unique(numbers[truth])), len(np.unique(numbers[~truth])))
    if smallest < FOLDS:
        return None, ((), ())
    vectorizer = CountVectorizer(
        analyzer=ngrams, binary=True, min_df=_MIN_ROWS, max_features=_MAX_FEATURES, dtype=np.float32
    )
    try:
        matrix = vectorizer.fit_transform(responses)
    except ValueError:  # no n-gram is in five responses
        return None, ((), ())
    predicted = np.zeros(len(truth), dtype=bool)
    folds = GroupKFold(FOLDS, shuffle=True, random_state=seed)
    for train, test in folds.split(matrix, groups=numbers):
        predicted[test] = _fit(matrix[train], truth[train]).predict(matrix[test])
    weights = _fit(matrix, truth).coef_[0]
    return predicted, _strongest_ngrams(vectorizer.get_feature_names_out(), weights, matrix, truth)


def _fit(matrix: Any, truth: Any) -> Any:
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import LogisticRegression

    if truth.all() or not truth.any():
        return DummyClassifier().fit(matrix, truth)
    # Strong shrinkage (C below 1): rare n-grams then stay out of the list, and fits are fast.
    model = LogisticRegression(C=0.05, class_weight="balanced", max_iter=500, tol=1e-3)
    return model.fit(matrix, truth)


def _strongest_ngrams(
    names: Any, weights: Floats, matrix: Any, truth: Any
) -> tuple[NgramWeights, NgramWeights]:
    import numpy as np

    rows = np.asarray(matrix.sum(axis=0)).ravel()
    correct = np.asarray(matrix[truth].sum(axis=0)).ravel()

    def strongest(side: int) -> NgramWeights:
        # Rounded, then by name, because the last bits of a weight differ between machines. N-grams
        # that always occur together have the same weight; the longest of them is listed.
        rounded = np.round(side * weights, _DECIMALS)
        chosen: dict[tuple[float, int, int], int] = {}
        for i in sorted(
            np.flatnonzero(rounded > 0).tolist(),
            key=lambda i: (-rounded[i], -len(names[i]), names[i]),
        ):
            chosen.setdefault((float(rounded[i]), int(rows[i]), int(correct[i])), i)
            if len(chosen) == STRONGEST:
                break
        return tuple(
            NgramWeight(
                ngram=str(names[i]),
                weight=round(side * weight, _DECIMALS),
                n=n,
                share_correct=round(n_correct / n, _DECIMALS),
            )
            for (weight, n, n_correct), i in chosen.items()
        )

    return strongest(1), strongest(-1)


def _score(
    truth: Any, predicted: Any, numbers: Numbers, chosen: Any, rng: np.random.Generator
) -> Score:
    import numpy as np

    from gradegpt.agreement import estimate, resampled, score, table

    size, positive = int(chosen.sum()), int(truth[chosen].sum())
    value = low = high = None
    if predicted is not None and 0 < positive < size:
        _, places = np.unique(numbers[chosen], return_inverse=True)
        cells = table(truth[chosen], predicted[chosen], places)
        drawn = score(resampled(cells, _DRAWS, rng))["balanced_accuracy"]
        value, low, high = (round(v, _DECIMALS) for v in estimate(drawn))
    return Score(n=size, n_correct=positive, balanced_accuracy=value, low=low, high=high)
