"""The artifact probe: how well the response alone predicts the verdict.

A judge has to compare a response with a reference. Where a bag of words of the response predicts
the verdict, a model can learn the words instead ("annotation artifacts": Gururangan et al. 2018).
A linear classifier measures this on held-out questions.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from gradegpt.chains.chain import needs_gloss

FOLDS: Final = 5
_DRAWS: Final = 1000
_MIN_ROWS: Final = 5
_MAX_FEATURES: Final = 50_000
_DECIMALS: Final = 4
_UNIT: Final = re.compile(r"[\u3400-\u9fff]|[^\W\d_\u3400-\u9fff]+|\d+|[^\w\s]")
_UNDEFINED: Final = dict.fromkeys(("balanced_accuracy", "low", "high"))


def probe_artifacts(
    responses: Sequence[str], labels: Sequence[bool], groups: Sequence[str], seed: int
) -> dict[str, Any]:
    """Measure how well the words of a response predict its label; groups are questions.

    Returns:
        ``balanced_accuracy`` with its 95 % interval (``low``, ``high``), resampled by question, all
        None where undefined; 0.5 is chance. ``n`` and ``n_correct`` are counts.

    """
    import numpy as np

    from gradegpt.judges.statistics import estimate, numbered, resampled, score, table

    truth = np.array(labels, dtype=bool)
    numbers = numbered(groups)
    found = {"n": len(truth), "n_correct": int(truth.sum()), **_UNDEFINED}
    predicted = _classify(responses, truth, numbers, seed)
    if predicted is not None:
        cells = table(truth, predicted, numbers)
        drawn = score(resampled(cells, _DRAWS, np.random.default_rng(seed)))["balanced_accuracy"]
        interval = (round(v, _DECIMALS) for v in estimate(drawn))
        found |= zip(_UNDEFINED, interval, strict=True)
    return found


def ngrams(response: str) -> Iterator[str]:
    """Unigrams and bigrams of words, signs and Han characters, ignoring case.

    >>> list(ngrams("So x=2"))
    ['so', 'x', '=', '2', 'so x', 'x =', '= 2']
    """
    units = _UNIT.findall(unicodedata.normalize("NFKC", response).casefold())
    yield from units
    for one, other in pairwise(units):
        yield one + other if needs_gloss(one) and needs_gloss(other) else f"{one} {other}"


def _classify(responses: Sequence[str], truth: Any, numbers: Any, seed: int) -> Any:
    """Out-of-fold predictions; none where folds are undefined."""
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.model_selection import GroupKFold

    smallest = min(len(np.unique(numbers[truth])), len(np.unique(numbers[~truth])))
    if smallest < FOLDS:
        return None
    vectorizer = CountVectorizer(
        analyzer=ngrams, binary=True, min_df=_MIN_ROWS, max_features=_MAX_FEATURES, dtype=np.float32
    )
    try:
        matrix = vectorizer.fit_transform(responses)
    except ValueError:  # no n-gram is in five responses
        return None
    predicted = np.zeros(len(truth), dtype=bool)
    folds = GroupKFold(FOLDS, shuffle=True, random_state=seed)
    for train, test in folds.split(matrix, groups=numbers):
        predicted[test] = _fit(matrix[train], truth[train]).predict(matrix[test])
    return predicted


def _fit(matrix: Any, truth: Any) -> Any:
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import LogisticRegression

    if truth.all() or not truth.any():
        return DummyClassifier().fit(matrix, truth)
    # Strong shrinkage (C below 1): fits are fast.
    model = LogisticRegression(C=0.05, class_weight="balanced", max_iter=500, tol=1e-3)
    return model.fit(matrix, truth)
