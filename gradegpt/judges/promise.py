"""A cascade with a promised error: thresholds by fixed-sequence testing on labelled rows.

For each kind of answer, confidences are tried from the highest down. The first from which the
cascade's verdicts might err more often than promised, by the upper Clopper-Pearson limit on the
labelled rows, ends the trying; the one before it is the threshold (Jung, Brahman and Choi 2024,
arXiv 2407.18370, algorithm 1). Calibrated confidences of all judges have one scale, so one
threshold serves all stages, and it is tested on what the whole cascade gives. Trying begins at
several numbers of rows, which share the probability of being wrong (Angelopoulos et al. 2021, arXiv
2110.01052, section 2.3), so that one error among the surest rows does not end it. A kind without a
threshold is left undecided. Needs scipy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from scipy.special import betainc
from typing_extensions import override

from gradegpt.core.errors import SettingsError
from gradegpt.core.schema import AnswerType, Item, Judgement
from gradegpt.judges.calibration import Calibration, Evidence, kind_of
from gradegpt.judges.statistics import clopper_pearson

CERTAINTY: Final = 0.95
"""The probability with which a promise holds for a kind of answer."""
LEVELS: Final = tuple(1 - 0.001 * 1.17**n for n in range(40))
"""The confidences that are tried, from 0.999 to 0.54."""
_STARTS: Final = 4


class Given(NamedTuple):
    """The labelled rows with a verdict: how many, how many wrong ones, and both by source."""

    rows: int
    wrong: int
    by_source: dict[str, tuple[int, int]]


class Promise:
    """The policy of a cascade that gives only verdicts whose error is bounded.

    ``missing`` says which verdicts are withheld: all on the kinds of answers for which nothing is
    promised, and why; on the others those below a confidence.

    Args:
        calibration: That of the last judge of the cascade, with its evidence.
        max_error: The bound on the share of wrong verdicts among those given, over all sources of
            rows together.

    Raises:
        SettingsError: no evidence, or no kind of answer for which a bound is met.

    """

    least: Final = math.inf

    def __init__(self, calibration: Calibration | None, max_error: float) -> None:
        if calibration is None or not calibration.evidence:
            raise SettingsError(
                "max_error: the last judge of the cascade has no calibration with labelled rows, "
                "so nothing can be promised; run gradegpt eval.calibrate for it"
            )
        self.thresholds: dict[str, float] = {}
        why: dict[str, str] = {}
        for kind in sorted({row.kind for row in calibration.evidence}):
            own = evidence_for(kind, calibration.evidence, max_error)
            found = lowest_threshold(own, max_error)
            if found is None:
                why[kind] = _why(own, max_error)
            else:
                self.thresholds[kind] = found
        if not self.thresholds:
            each = "\n  ".join(f"{kind}: {lacks}" for kind, lacks in why.items())
            raise SettingsError(
                "max_error: cannot be promised for any kind of answer; raise it, or label more "
                f"answers and run gradegpt eval.calibrate\n  {each}"
            )
        self.missing = [f"{kind}: all verdicts ({lacks})" for kind, lacks in why.items()]
        for least in sorted(set(self.thresholds.values())):
            kinds = (kind for kind, found in self.thresholds.items() if found == least)
            lacks = f"with them, more than {100 * max_error:g} % of those given may be wrong"
            lacks = lacks if least > LEVELS[-1] else "no lower one is tested"
            below = f"verdicts below the confidence {least:.4f} ({lacks})"
            self.missing.append(f"{', '.join(kinds)}: {below}")

    @override
    def __str__(self) -> str:
        """Equal texts mean equal decisions."""
        found = (f"{kind}={value:.4f}" for kind, value in self.thresholds.items())
        return f"promise({', '.join(found)})"

    def settles(self, item: Item, judgement: Judgement) -> bool:
        """Whether the confidence is at least the threshold for this kind of answer."""
        least, known = self.thresholds.get(kind_of(item)), judgement.confidence
        return least is not None and known is not None and known >= least


def lowest_threshold(rows: Sequence[Evidence], bound: float) -> float | None:
    """The lowest confidence from which verdicts err at most ``bound`` of the time, if any.

    The bound holds with the probability ``CERTAINTY``.
    """
    steps = [(least, given_from(rows, least)) for least in LEVELS]
    first = _fewest(bound, CERTAINTY)
    starts = min(_STARTS, 1 + int(math.log2(max(steps[-1][1].rows / first, 1))))
    share = 1 - (1 - CERTAINTY) / starts
    passed: list[float] = []
    for start in (_fewest(bound, share) * 2**n for n in range(starts)):
        for least, given in steps:
            if given.rows < start:
                continue
            _, upper = clopper_pearson(given.wrong, given.rows, 2 * share - 1)
            if upper > bound or _exceeds(given, bound):
                break
            passed.append(least)
    return min(passed, default=None)


def evidence_for(kind: str, rows: Sequence[Evidence], bound: float) -> list[Evidence]:
    """The rows of the kind; where they are too few to show the bound, of a broader group.

    That is the answer type in both languages, then all types but free text. Which one is taken
    depends on the number of verdicts alone, not on the errors.
    """
    kinds, answer_type = {row.kind for row in rows}, kind.rpartition(" ")[0]
    alike = {other for other in kinds if other.rpartition(" ")[0] == answer_type}
    text = {other for other in kinds if other.rpartition(" ")[0].endswith(AnswerType.TEXT.words)}
    groups = [{kind}, alike] if alike & text else [{kind}, alike, kinds - text]
    chosen = [[row for row in rows if row.kind in group] for group in groups]
    least = _fewest(bound, CERTAINTY)
    return next((own for own in chosen if given_from(own, 0).rows >= least), chosen[0])


def given_from(rows: Sequence[Evidence], least: float) -> Given:
    """What a cascade gives that asks until the confidence is at least ``least``."""
    n = wrong = 0
    by_source: dict[str, tuple[int, int]] = {}
    for row in rows:
        says = next((p > 0.5 for p in row.trail if p is not None and max(p, 1 - p) >= least), None)
        if says is None:
            continue
        bad = row.rows if says is not row.right else 0
        n, wrong = n + row.rows, wrong + bad
        a, b = by_source.get(row.source, (0, 0))
        by_source[row.source] = (a + bad, b + row.rows)
    return Given(n, wrong, by_source)


def _exceeds(given: Given, bound: float) -> bool:
    """Whether one source more likely than not has a larger error than the bound.

    Its error has a Beta prior at the rate of all sources, worth as many rows as have one error at
    the bound: a single wrong row of a small source does not decide.
    """
    rows = 1 / bound
    wrong = rows * max(given.wrong, 0.5) / given.rows
    return any(
        bad and betainc(wrong + bad, rows - wrong + n - bad, bound) < 0.5
        for bad, n in given.by_source.values()
    )


def _fewest(bound: float, level: float) -> int:
    """The fewest rows that, all right, show an error of at most ``bound``."""
    return math.ceil(math.log(1 - level) / math.log(1 - bound))


def _why(rows: Sequence[Evidence], bound: float) -> str:
    """What is missing for a promise, in words, by the best error that 20 rows or more show."""
    given = [g for least in LEVELS if (g := given_from(rows, least)).rows >= 20]
    best = min(given, key=lambda g: (g.wrong / g.rows, -g.rows), default=None)
    if best is None or best.wrong / best.rows < bound:
        return f"{sum(row.rows for row in rows):,} labelled rows are too few"
    return f"{best.wrong:,} of the {best.rows:,} surest labelled verdicts are wrong"
