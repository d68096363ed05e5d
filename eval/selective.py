"""Risk and coverage: how often a judge errs if it decides the rows of which it is surest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradegpt.core.schema import Example, Judgement, Row
from gradegpt.judges.statistics import Share, Values, numbered, proportion, says_yes
from gradegpt.tables.importers.labelled import item_key

_POINTS: Final = 50
"""The most points of a curve."""


class CurvePoint(Row):
    """The rows decided at a threshold: their share of all labelled rows, and the share in error.

    ``confidence`` is the least confidence of a decided row, None where a row has none.
    """

    n_rows: int
    coverage: float
    risk: Share
    confidence: float | None


class RiskCoverage(Row):
    """The risk-coverage curve (El-Yaniv and Wiener 2010) of a judge on ``n_rows`` labelled rows.

    ``points`` rise in coverage, at most 50. The curve continues through the ``n_withheld`` verdicts
    that the judge withheld; ``operating`` is what it decided, None where that is nothing. There are
    no points where no row has a confidence.
    """

    n_rows: int
    n_withheld: int
    points: tuple[CurvePoint, ...]
    operating: CurvePoint | None


class Ranked(NamedTuple):
    """Rows with a verdict, given or withheld, by falling confidence; all arrays are ``[n]``.

    ``ends`` are the numbers of rows that some threshold decides: equal confidences go together.
    """

    confidence: Values
    wrong: NDArray[np.bool_]
    question: NDArray[np.int64]
    decided: NDArray[np.bool_]
    ends: NDArray[np.int64]


def risk_coverage(
    examples: Sequence[Example], judgements: Sequence[Judgement]
) -> RiskCoverage | None:
    """The curve of one judge; None where it gave no verdict and withheld none.

    A verdict without a confidence is decided at every threshold, and comes first. A withheld
    verdict without one is not on the curve.
    """
    rows = ranked(examples, judgements)
    if not len(rows.wrong):
        return None
    known = bool(np.isfinite(rows.confidence).any())
    # At most so many points, about equally far apart, with the last.
    wanted = np.ceil(np.arange(1, _POINTS + 1) / _POINTS * rows.ends[-1])
    ends = map(int, np.unique(rows.ends[np.searchsorted(rows.ends, wanted)]))
    decided = np.flatnonzero(rows.decided)
    return RiskCoverage(
        n_rows=len(examples),
        n_withheld=int((~rows.decided).sum()),
        points=tuple(
            _point(rows, np.arange(end), len(examples)) for end in ends
        ) if known else (),
        operating=_point(rows, decided, len(examples)) if len(decided) else None,
    )  # fmt: skip


def ranked(examples: Sequence[Example], judgements: Sequence[Judgement]) -> Ranked:
    """The rows of the curve, in its order."""
    keys = numbered(item_key(example) for example in examples)
    known = [
        (
            np.inf if j.confidence is None else j.confidence,
            says_yes(j.verdict or j.withheld) is not says_yes(example.verdict),
            int(key),
            j.verdict is not None,
        )
        for key, example, j in zip(keys, examples, judgements, strict=True)
        if j.verdict is not None or (j.withheld is not None and j.confidence is not None)
    ]
    known.sort(key=lambda row: -row[0])
    columns = np.array(known, dtype=np.float64).reshape(-1, 4).T
    confidence = columns[0]
    ends = np.flatnonzero(confidence[:-1] != confidence[1:]) + 1
    return Ranked(
        confidence, columns[1].astype(bool), numbered(map(str, columns[2].astype(int))),
        columns[3].astype(bool), np.append(ends, len(confidence)),
    )  # fmt: skip


def _point(rows: Ranked, chosen: NDArray[np.int64], n_rows: int) -> CurvePoint:
    confidence = rows.confidence[chosen]
    return CurvePoint(
        n_rows=len(chosen),
        coverage=len(chosen) / n_rows,
        risk=proportion(rows.wrong[chosen], rows.question[chosen]),
        confidence=float(confidence.min()) if np.isfinite(confidence).all() else None,
    )
