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
from typing import Any, Final

from gradegpt.chains.chain import needs_gloss

FOLDS: Final = 5
STRONGEST: Final = 15
"""N-grams listed for each verdict."""
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
        None where undefined; 0.5 is chance. ``n`` and ``n_correct`` are counts. ``correct`` and
        ``incorrect`` list the n-grams that predict each verdict with the largest weights.

    """
    import numpy as np

    from gradegpt.judges.statistics import estimate, numbered, resampled, score, table

    truth = np.array(labels, dtype=bool)
    numbers = numbered(groups)
    found = {"n": len(truth), "n_correct": int(truth.sum()), **_UNDEFINED}
    predicted, signs = _classify(responses, truth, numbers, seed)
    if predicted is not None:
        cells = table(truth, predicted, numbers)
        drawn = score(resampled(cells, _DRAWS, np.random.default_rng(seed)))["balanced_accuracy"]
        interval = (round(v, _DECIMALS) for v in estimate(drawn))
        found |= zip(_UNDEFINED, interval, strict=True)
    return found | {"correct": signs[0], "incorrect": signs[1]}


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
    responses: Sequence[str], truth: Any, numbers: Any, seed: int
) -> tuple[Any, list[list[dict[str, Any]]]]:
    """Out-of-fold predictions (none where folds are undefined), and the n-grams of each verdict."""
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.model_selection import GroupKFold

    smallest = min(len(np.unique(numbers[truth])), len(np.unique(numbers[~truth])))
    if smallest < FOLDS:
        return None, [[], []]
    vectorizer = CountVectorizer(
        analyzer=ngrams, binary=True, min_df=_MIN_ROWS, max_features=_MAX_FEATURES, dtype=np.float32
    )
    try:
        matrix = vectorizer.fit_transform(responses)
    except ValueError:  # no n-gram is in five responses
        return None, [[], []]
    predicted = np.zeros(len(truth), dtype=bool)
    folds = GroupKFold(FOLDS, shuffle=True, random_state=seed)
    for train, test in folds.split(matrix, groups=numbers):
        predicted[test] = _fit(matrix[train], truth[train]).predict(matrix[test])
    weights = _fit(matrix, truth).coef_[0]
    names = vectorizer.get_feature_names_out()
    return predicted, [_strongest(names, side * weights, matrix, truth) for side in (1, -1)]


def _fit(matrix: Any, truth: Any) -> Any:
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import LogisticRegression

    if truth.all() or not truth.any():
        return DummyClassifier().fit(matrix, truth)
    # Strong shrinkage (C below 1): rare n-grams then stay out of the list, and fits are fast.
    model = LogisticRegression(C=0.05, class_weight="balanced", max_iter=500, tol=1e-3)
    return model.fit(matrix, truth)


def _strongest(names: Any, weights: Any, matrix: Any, truth: Any) -> list[dict[str, Any]]:
    """The n-grams with the largest weights, in log odds, and how many responses have them."""
    import numpy as np

    rows = np.asarray(matrix.sum(axis=0)).ravel()
    correct = np.asarray(matrix[truth].sum(axis=0)).ravel()
    # Rounded, then by name, because the last bits of a weight differ between machines. N-grams that
    # always occur together have the same weight; the longest of them is listed.
    rounded = np.round(weights, _DECIMALS)
    positive = np.flatnonzero(rounded > 0).tolist()
    chosen: dict[tuple[float, int, int], str] = {}
    for i in sorted(positive, key=lambda i: (-rounded[i], -len(names[i]), names[i])):
        chosen.setdefault((float(rounded[i]), int(rows[i]), int(correct[i])), str(names[i]))
        if len(chosen) == STRONGEST:
            break
    return [
        {"ngram": name, "weight": weight, "n": n, "share_correct": round(right / n, _DECIMALS)}
        for (weight, n, right), name in chosen.items()
    ]
