"""What changes when one judge replaces another on the same items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from gradegpt.core.schema import Judgement, Row, Verdict
from gradegpt.judges.statistics import (
    Cells,
    Interval,
    Share,
    Values,
    estimate,
    mcnemar,
    numbered,
    resampled,
    says_yes,
    score,
    sums,
    table,
    varied,
    wilson,
)
from gradegpt.tables.importers.labelled import item_key

from ..console import decimal, percent, say, show, signed
from ..estimate.estimators import bonett_price
from ..metrics import JudgePair, compare_judges
from .numbers import RESULTS, result_of
from .results import JudgedRows

LEAST_MODELS: Final = 3
"""The fewest models whose ranks are correlated: two have one order or the other."""


class Rightness(Row):
    """The labelled items that both judged, and on how many of them only one judge is right.

    ``p`` is that of McNemar's exact test of equal accuracies.
    """

    n: int
    both_right: int
    old_only: int
    new_only: int
    both_wrong: int
    p: float


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


class JudgeCost(Row):
    """The tokens of one judge, and its seconds where its manifest states them."""

    prompt_tokens: int
    completion_tokens: int
    seconds: float | None


class Replacement(Row):
    """What changes when the judge ``old`` is replaced by ``new``.

    ``results`` counts the items by the results of both, ``results[old][new]``; a result is a
    verdict, or an outcome without one. ``pair`` is over the items that both judged, correct or not;
    ``p`` is McNemar's exact test of equal shares judged correct. ``tau`` is Kendall's tau-b of the
    models' scores; None for fewer than three models, or equal scores.
    """

    old: str
    new: str
    n_items: int
    results: dict[str, dict[str, int]]
    pair: JudgePair
    kappa: Interval | None
    now_correct: int
    no_longer_correct: int
    p: float
    labelled: Rightness | None
    models: tuple[ScoredModel, ...]
    tau: float | None
    costs: dict[str, JudgeCost]


def replacement(
    results: JudgedRows, by: str, seconds: Mapping[str, float | None] | None = None
) -> Replacement:
    """Compare the first two judges of the results; ``by`` is the tag that names the model."""
    (old, before), (new, after) = list(results.judges.items())[:2]
    counts = Counter((result_of(a), result_of(b)) for a, b in zip(before, after, strict=True))
    names = [word.value for word in RESULTS if any(word in pair for pair in counts)]
    verdicts = np.array([[*_yes(a), *_yes(b)] for a, b in zip(before, after, strict=True)])
    question = numbered(map(item_key, results.items))
    both = _both(question, verdicts)
    lost, gained = int(both[:, 1, 0].sum()), int(both[:, 0, 1].sum())
    models = _ranked(_models(results, by, question, verdicts))
    kappa = score(resampled(both, results.bootstrap, results.seed))["kappa"] if len(both) else None
    return Replacement(
        old=old, new=new, n_items=len(results.items),
        results={a: {b: counts[a, b] for b in names} for a in names},
        pair=compare_judges(None, (old, before), (new, after)),
        kappa=None if kappa is None or np.isnan(kappa[0]) else varied(kappa),
        now_correct=gained, no_longer_correct=lost, p=mcnemar(gained, lost),
        labelled=_labelled(results.labels, before, after) if results.labelled else None,
        models=models, tau=_tau(models),
        costs={name: _cost(results.judges[name], (seconds or {}).get(name)) for name in (old, new)},
    )  # fmt: skip


def _yes(judgement: Judgement) -> tuple[bool, bool]:
    """Whether it was judged correct, and whether it was judged."""
    return says_yes(judgement.verdict), judgement.verdict is not None


def differing(results: JudgedRows) -> list[dict[str, Any]]:
    """The items with another result: opposite verdicts first, then those that one left open."""
    (old, before), (new, after) = list(results.judges.items())[:2]
    rows = zip(results.items, before, after, results.labels, strict=True)
    found = [row for row in rows if result_of(row[1]) != result_of(row[2])]
    return [
        {
            "id": item.id, "question": item.question, "reference": " / ".join(item.reference),
            "response": item.response, "label": label.value if label else "",
            old: result_of(a), new: result_of(b), f"{old} reason": a.reason,
            f"{new} reason": b.reason,
        }
        for item, a, b, label in sorted(found, key=lambda row: _order(row[1], row[2]))
    ]  # fmt: skip


def _order(a: Judgement, b: Judgement) -> int:
    if a.verdict is None or b.verdict is None:
        return 1 if a.verdict is not b.verdict else 3
    return 0 if says_yes(a.verdict) is not says_yes(b.verdict) else 2


def _both(question: np.ndarray[Any, Any], verdicts: np.ndarray[Any, Any]) -> Cells:
    """The cells ``[questions, 2, 5]`` of the items that both judged: the old by the new verdict."""
    rows = verdicts[:, 1] & verdicts[:, 3]
    return table(verdicts[rows, 0], verdicts[rows, 2], numbered(map(str, question[rows])))


def _labelled(
    labels: Sequence[Verdict | None], before: Sequence[Judgement], after: Sequence[Judgement]
) -> Rightness:
    counts = Counter(
        (says_yes(a.verdict) is says_yes(label), says_yes(b.verdict) is says_yes(label))
        for label, a, b in zip(labels, before, after, strict=True)
        if label is not None and a.verdict is not None and b.verdict is not None
    )
    old, new = counts[True, False], counts[False, True]
    return Rightness(
        n=counts.total(), both_right=counts[True, True], old_only=old, new_only=new,
        both_wrong=counts[False, False], p=mcnemar(new, old),
    )  # fmt: skip


def _models(
    results: JudgedRows, by: str, question: np.ndarray[Any, Any], verdicts: np.ndarray[Any, Any]
) -> list[ScoredModel]:
    """The models of whose items both judges judged some."""
    places: dict[str, list[int]] = {}
    for place, tags in enumerate(results.tags):
        places.setdefault((tags.get(by) or ("all",))[0], []).append(place)
    judged = {name: rows for name, rows in places.items() if verdicts[rows][:, [1, 3]].any(0).all()}
    return [
        _model(name, numbered(map(str, question[rows])), verdicts[rows], results)
        for name, rows in judged.items()
    ]


def _model(
    name: str, question: np.ndarray[Any, Any], verdicts: np.ndarray[Any, Any], results: JudgedRows
) -> ScoredModel:
    counts = sums(question, *verdicts.T)
    totals = resampled(counts, results.bootstrap if len(counts) > 1 else 0, results.seed)
    with np.errstate(invalid="ignore"):
        old, new = totals[:, 0] / totals[:, 1], totals[:, 2] / totals[:, 3]
    value, low, high = estimate(new - old)
    if not low < high:
        both = _both(question, verdicts).sum(axis=0)[:, :2].T
        _, low, high = map(float, bonett_price(np.asarray(both, dtype=np.float64)))
    return ScoredModel(
        name=name, n_items=len(question), old=_share(old, counts[:, 1]),
        new=_share(new, counts[:, 3]), difference=value, low=low, high=high,
    )  # fmt: skip


def _share(values: Values, judged: Values) -> Share:
    n = int((judged > 0).sum())
    value, low, high = estimate(values)
    if not low < high:
        low, high = (float(x) for x in wilson(n * value, n))
    return Share(value=value, interval=Interval(low=low, high=high), n_questions=n)


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


def _cost(judgements: Sequence[Judgement], seconds: float | None) -> JudgeCost:
    return JudgeCost(
        prompt_tokens=sum(j.prompt_tokens for j in judgements),
        completion_tokens=sum(j.completion_tokens for j in judgements),
        seconds=seconds,
    )


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
    pair, kappa = found.pair, found.kappa
    interval = f" ({decimal(kappa.low)} to {decimal(kappa.high)})" if kappa else ""
    lines = [
        f"both judged {pair.n_both:,}: agree on {percent(pair.agreement)} %, kappa "
        f"{decimal(pair.kappa)}{interval}; {found.now_correct:,} now correct, "
        f"{found.no_longer_correct:,} no longer; McNemar's exact p {found.p:.3g}"
    ]
    if (right := found.labelled) is not None:
        lines.append(
            f"with labels {right.n:,}: right both {right.both_right:,}, only {found.old} "
            f"{right.old_only:,}, only {found.new} {right.new_only:,}, neither "
            f"{right.both_wrong:,}; McNemar's exact p {right.p:.3g}"
        )
    for name, cost in found.costs.items():
        time = "" if cost.seconds is None else f", {cost.seconds:,.1f} s"
        tokens = f"{cost.prompt_tokens:,} prompt and {cost.completion_tokens:,} completion tokens"
        lines.append(f"cost of {name}: {tokens}{time}")
    return lines
