"""What changes when one judge replaces another on the same items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradegpt.core.schema import Judgement, Row
from gradegpt.judges.statistics import (
    Interval,
    Share,
    numbered,
    ratio,
    resampled,
    says_yes,
    sums,
    varied,
)
from gradegpt.tables.importers.labelled import item_key

from ..console import decimal, percent, say, show, signed
from ..metrics import Graded, JudgePair, compare_judges, graded
from .numbers import RESULTS
from .results import JudgedRows, result_of


class ScoredModel(Row):
    """A model's score by each judge, the share judged correct of the items that both judged.

    These are ``n_both``; ``interval`` is that of ``difference``, the new score less the old one,
    and None where draws of questions do not vary it. A rank is 1 more than the number of models
    with a higher score.
    """

    name: str
    n_items: int
    n_both: int
    old: Share
    new: Share
    difference: float
    interval: Interval | None
    old_rank: int = 0
    new_rank: int = 0


class Replacement(Row):
    """What changes when the judge ``old`` is replaced by ``new``.

    ``results`` counts the items by the results of both, ``results[old][new]``; a result is a
    verdict, or an outcome without one. ``pair`` is over the items that both judged, correct or not.
    ``costs`` has each judge's tokens, and its seconds where its manifest states them.
    """

    old: str
    new: str
    n_items: int
    results: dict[str, dict[str, int]]
    pair: JudgePair
    models: tuple[ScoredModel, ...]
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
    return Replacement(
        old=old, new=new, n_items=len(results.items), pair=pair,
        results={a: {b: counts[a, b] for b in names} for a in names},
        models=_ranked(_models(results, by, one, other)),
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
    both = (old.result <= 1) & (new.result <= 1)
    _, question = np.unique(old.question, return_inverse=True)
    counts = sums(question, *((one.result == 1) & both for one in (old, new)), both)
    shares = [ratio(counts[:, [n, 2]]) for n in (0, 1)]
    if shares[0] is None or shares[1] is None:
        return None
    totals = resampled(counts, results.bootstrap if len(counts) > 1 else 0, results.seed)
    with np.errstate(invalid="ignore"):
        difference = (totals[:, 1] - totals[:, 0]) / totals[:, 2]
    return ScoredModel(
        name=name, n_items=len(old.label), n_both=int(both.sum()), old=shares[0], new=shares[1],
        difference=float(difference[0]), interval=varied(difference),
    )  # fmt: skip


def _ranked(models: Sequence[ScoredModel]) -> tuple[ScoredModel, ...]:
    """The models with their ranks, by the old score."""
    ranked = []
    for one in models:
        old = 1 + sum(other.old.value > one.old.value for other in models)
        new = 1 + sum(other.new.value > one.new.value for other in models)
        ranked.append(one.model_copy(update={"old_rank": old, "new_rank": new}))
    return tuple(sorted(ranked, key=lambda model: (model.old_rank, model.name)))


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
            one.name, f"{one.n_both:,} of {one.n_items:,}",
            percent(one.old.value), percent(one.new.value), signed(one.difference),
            f"{signed(one.interval.low)} to {signed(one.interval.high)}" if one.interval else "–",
            str(one.old_rank) + (f" -> {one.new_rank}" if one.old_rank != one.new_rank else ""),
        )
        for one in found.models
    ]  # fmt: skip
    names = ("model", "items", found.old, found.new, "difference", "interval", "rank")
    show(names, models, "share judged correct of the items that both judged, %")


def _summary(found: Replacement) -> list[str]:
    pair, kappa = found.pair, found.pair.kappa_interval
    interval = f" ({decimal(kappa.low)} to {decimal(kappa.high)})" if kappa else ""
    lines = [
        f"both judged {pair.n_both:,}: agree on {percent(pair.agreement)} %, kappa "
        f"{decimal(pair.kappa)}{interval}; {pair.second_only:,} now correct, "
        f"{pair.first_only:,} no longer"
    ]
    if pair.a_right is not None:
        lines.append(
            f"by the labels, where they differ {found.old} is right {pair.a_right:,} and "
            f"{found.new} {pair.b_right:,} times; balanced accuracy: {pair.in_words}"
        )
    for name, cost in found.costs.items():
        prompt, completion, seconds = cost.values()
        time = "" if seconds is None else f", {seconds:,.1f} s"
        tokens = f"{prompt:,} prompt and {completion:,} completion tokens"
        lines.append(f"cost of {name}: {tokens}{time}")
    return lines
