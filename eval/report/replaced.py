"""What changes when one judge replaces another on the same items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gradegpt.core.schema import Judgement, Row
from gradegpt.judges.statistics import (
    CONFIDENCE,
    Share,
    estimate,
    mcnemar,
    numbered,
    ratio,
    resampled,
    says_yes,
    sums,
    table,
    z_of,
)
from gradegpt.tables.importers.labelled import item_key

from ..console import decimal, percent, say, show, signed
from ..metrics import Graded, JudgePair, compare_judges, graded
from .numbers import RESULTS
from .results import JudgedRows, result_of

LEAST_MODELS: Final = 3
"""The fewest models whose ranks are correlated: two have one order or the other."""


class ScoredModel(Row):
    """A model's score, the share judged correct of its judged items, by each judge.

    ``low`` and ``high`` are the 95 % limits of ``difference``, the new score less the old one. A
    rank is 1 more than the number of models with a higher score.
    """

    name: str
    n_items: int
    old: Share
    new: Share
    difference: float
    low: float
    high: float
    old_rank: int = 0
    new_rank: int = 0


class Replacement(Row):
    """What changes when the judge ``old`` is replaced by ``new``.

    ``results`` counts the items by the results of both, ``results[old][new]``; a result is a
    verdict, or an outcome without one. ``pair`` is over the items that both judged, correct or not;
    ``p`` is McNemar's exact test of equal shares judged correct, ``p_right`` of equal accuracies on
    labelled items. ``tau`` is Kendall's tau-b of the models' scores; None for fewer than three
    models, or equal scores. ``costs`` has each judge's tokens, and its seconds where its manifest
    states them.
    """

    old: str
    new: str
    n_items: int
    results: dict[str, dict[str, int]]
    pair: JudgePair
    p: float
    p_right: float | None
    models: tuple[ScoredModel, ...]
    tau: float | None
    costs: dict[str, dict[str, int | float | None]]


def replacement(
    results: JudgedRows, by: str, seconds: Mapping[str, float | None] | None = None
) -> Replacement:
    """Compare the first two judges of the results; ``by`` is the tag that names the model."""
    (old, before), (new, after) = list(results.judges.items())[:2]
    counts = Counter((result_of(a), result_of(b)) for a, b in zip(before, after, strict=True))
    names = [word.value for word in RESULTS if any(word in pair for pair in counts)]
    question = numbered(map(item_key, results.items))
    one, other = (graded(question, results.labels, judged) for judged in (before, after))
    pair = compare_judges((old, one), (new, other), bootstrap=results.bootstrap, seed=results.seed)
    models = _ranked(_models(results, by, one, other))
    return Replacement(
        old=old, new=new, n_items=len(results.items), pair=pair,
        results={a: {b: counts[a, b] for b in names} for a in names},
        p=mcnemar(pair.second_only, pair.first_only),
        p_right=None if pair.b_right is None else mcnemar(pair.b_right, pair.a_right or 0),
        models=models, tau=_tau(models),
        costs={
            name: {
                "prompt_tokens": sum(j.prompt_tokens for j in judged),
                "completion_tokens": sum(j.completion_tokens for j in judged),
                "seconds": (seconds or {}).get(name),
            }
            for name, judged in ((old, before), (new, after))
        },
    )  # fmt: skip


def differing(results: JudgedRows) -> list[dict[str, Any]]:
    """The items with another result: opposite verdicts first, then those that one left open."""
    pairs = list(zip(*list(results.judges.values())[:2], strict=True))
    found = [n for n, (a, b) in enumerate(pairs) if result_of(a) != result_of(b)]
    return [results.row(n) for n in sorted(found, key=lambda n: _order(*pairs[n]))]


def _order(a: Judgement, b: Judgement) -> int:
    if a.verdict is None or b.verdict is None:
        return 1 if a.verdict is not b.verdict else 3
    return 0 if says_yes(a.verdict) is not says_yes(b.verdict) else 2


def _models(results: JudgedRows, by: str, old: Graded, new: Graded) -> list[ScoredModel]:
    """The models of whose items both judges judged some."""
    places: dict[str, list[int]] = {}
    for place, tags in enumerate(results.tags):
        places.setdefault((tags.get(by) or ("all",))[0], []).append(place)
    found = (_model(name, old.at(rows), new.at(rows), results) for name, rows in places.items())
    return [one for one in found if one is not None]


def _model(name: str, old: Graded, new: Graded, results: JudgedRows) -> ScoredModel | None:
    columns = [one.result == 1 for one in (old, new)] + [one.result <= 1 for one in (old, new)]
    _, question = np.unique(old.question, return_inverse=True)
    counts = sums(question, *columns)
    shares = [ratio(counts[:, [n, n + 2]]) for n in (0, 1)]
    if shares[0] is None or shares[1] is None:
        return None
    totals = resampled(counts, results.bootstrap if len(counts) > 1 else 0, results.seed)
    with np.errstate(invalid="ignore"):
        value, low, high = estimate(totals[:, 1] / totals[:, 3] - totals[:, 0] / totals[:, 2])
    if not low < high:
        both = columns[2] & columns[3]
        said = table(new.result[both] == 1, old.result[both]).sum(axis=0)[:, :2]
        low, high = paired_limits(said)
    return ScoredModel(
        name=name, n_items=len(old.label), old=shares[0], new=shares[1],
        difference=value, low=low, high=high,
    )  # fmt: skip


def paired_limits(counts: NDArray[np.int64]) -> tuple[float, float]:
    """Adjusted Wald limits of the difference of paired shares of ``counts`` ``[2, 2]``.

    Bonett and Price (2012), equation 4: one item is added to each of the two cells that differ.
    """
    n = int(counts.sum()) + 2
    more, less = (counts[1, 0] + 1) / n, (counts[0, 1] + 1) / n
    half = z_of(CONFIDENCE) * np.sqrt((more + less - (more - less) ** 2) / n)
    return max(-1.0, float(more - less - half)), min(1.0, float(more - less + half))


def _ranked(models: Sequence[ScoredModel]) -> tuple[ScoredModel, ...]:
    """The models with their ranks, by the old score."""
    ranked = (
        model.model_copy(
            update={
                "old_rank": 1 + sum(m.old.value > model.old.value for m in models),
                "new_rank": 1 + sum(m.new.value > model.new.value for m in models),
            }
        )
        for model in models
    )
    return tuple(sorted(ranked, key=lambda model: (model.old_rank, model.name)))


def _tau(models: Sequence[ScoredModel]) -> float | None:
    old, new = [m.old.value for m in models], [m.new.value for m in models]
    if len(models) < LEAST_MODELS or len(set(old)) == 1 or len(set(new)) == 1:
        return None
    from scipy.stats import kendalltau  # a second to load

    return float(kendalltau(old, new).statistic)


def print_replacement(found: Replacement) -> None:
    """Print the tables of a command line."""
    counts = [
        (name, *(f"{n:,}" if n else "" for n in row.values()))
        for name, row in found.results.items()
    ]
    title = f"{found.n_items:,} items: {found.old} (rows) and {found.new} (columns)"
    show(("", *found.results), counts, title)
    for line in _summary(found):
        say(line)
    models = [
        (
            one.name, f"{one.n_items:,}", percent(one.old.value), percent(one.new.value),
            signed(one.difference), f"{signed(one.low)} to {signed(one.high)}",
            str(one.old_rank) + (f" -> {one.new_rank}" if one.old_rank != one.new_rank else ""),
        )
        for one in found.models
    ]  # fmt: skip
    names = ("model", "items", found.old, found.new, "difference", "interval", "rank")
    show(names, models, "share judged correct of the judged items, %")
    if found.tau is not None:
        say(f"Kendall's tau of the {len(found.models)} models' scores: {found.tau:.2f}")


def _summary(found: Replacement) -> list[str]:
    pair, kappa = found.pair, found.pair.kappa_interval
    interval = f" ({decimal(kappa.low)} to {decimal(kappa.high)})" if kappa else ""
    lines = [
        f"both judged {pair.n_both:,}: agree on {percent(pair.agreement)} %, kappa "
        f"{decimal(pair.kappa)}{interval}; {pair.second_only:,} now correct, "
        f"{pair.first_only:,} no longer; McNemar's exact p {found.p:.3g}"
    ]
    if found.p_right is not None:
        lines.append(
            f"by the labels, where they differ {found.old} is right {pair.a_right:,} and "
            f"{found.new} {pair.b_right:,} times; McNemar's exact p {found.p_right:.3g}"
        )
    for name, cost in found.costs.items():
        prompt, completion, seconds = cost.values()
        time = "" if seconds is None else f", {seconds:,.1f} s"
        tokens = f"{prompt:,} prompt and {completion:,} completion tokens"
        lines.append(f"cost of {name}: {tokens}{time}")
    return lines
