"""Two judges' judgements of the same items -> verdicts, agreement, scores, ranks and costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from gradegpt.agreement import Cells, estimate, numbered, resampled, says_yes, score, table
from gradegpt.importers.labelled import item_key
from gradegpt.proportions import wilson
from gradegpt.schema import Item, Judgement, Outcome, Row, Verdict

from ..estimate.paired import bonett_price, mcnemar
from ..metrics import Interval, Pair, compare_judges
from ..report.results import Results
from ..shares import Share, Values

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


class Model(Row):
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


class Cost(Row):
    """The tokens of one judge, and its seconds where its manifest states them."""

    prompt_tokens: int
    completion_tokens: int
    seconds: float | None


class Conversion(Row):
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
    pair: Pair
    kappa: Interval | None
    now_correct: int
    no_longer_correct: int
    p: float
    labelled: Rightness | None
    models: tuple[Model, ...]
    tau: float | None
    costs: dict[str, Cost]


def result_of(judgement: Judgement) -> str:
    """The verdict, or the outcome where there is none."""
    return (judgement.verdict or judgement.outcome).value


def conversion(
    results: Results, by: str, seconds: Mapping[str, float | None], *, seed: int = 0
) -> Conversion:
    """Compare the first two judges of the results; ``by`` is the tag that names the model."""
    (old, before), (new, after) = list(results.judges.items())[:2]
    counts = Counter((result_of(a), result_of(b)) for a, b in zip(before, after, strict=True))
    names = sorted({name for pair in counts for name in pair}, key=_place)
    both = _both(results.items, before, after)
    lost, gained = int(both[:, 1, 0].sum()), int(both[:, 0, 1].sum())
    models = _ranked(_models(results, by, before, after, seed))
    return Conversion(
        old=old, new=new, n_items=len(results.items),
        results={a: {b: counts[a, b] for b in names} for a in names},
        pair=compare_judges(None, (old, before), (new, after)),
        kappa=_kappa(both, results.bootstrap, seed),
        now_correct=gained, no_longer_correct=lost, p=mcnemar(gained, lost),
        labelled=_labelled(results.labels, before, after) if results.labelled else None,
        models=models, tau=_tau(models),
        costs={name: _cost(results.judges[name], seconds.get(name)) for name in (old, new)},
    )  # fmt: skip


def differing(results: Results) -> list[dict[str, Any]]:
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


def _place(name: str) -> int:
    return [*(v.value for v in Verdict), *(o.value for o in Outcome)].index(name)


def _both(items: Sequence[Item], before: Sequence[Judgement], after: Sequence[Judgement]) -> Cells:
    """The cells ``[questions, 2, 5]`` of the items that both judged: the old by the new verdict."""
    rows = [
        (item_key(item), says_yes(a.verdict), says_yes(b.verdict))
        for item, a, b in zip(items, before, after, strict=True)
        if a.verdict is not None and b.verdict is not None
    ]
    keys, old, new = zip(*rows, strict=True) if rows else ((), (), ())
    return table(old, new, numbered(keys))


def _kappa(both: Cells, draws: int, seed: int) -> Interval | None:
    """The interval of kappa over questions; None for one question, or where it is undefined."""
    if len(both) < 2:
        return None
    value, low, high = estimate(score(resampled(both, draws, seed))["kappa"])
    return None if np.isnan([value, low, high]).any() else Interval(low=low, high=high)


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
    results: Results, by: str, before: Sequence[Judgement], after: Sequence[Judgement], seed: int
) -> list[Model]:
    places: dict[str, list[int]] = {}
    for place, tags in enumerate(results.tags):
        places.setdefault((tags.get(by) or ("all",))[0], []).append(place)
    made = [
        _model(name, results.items, before, after, rows, results.bootstrap, seed)
        for name, rows in places.items()
    ]
    return [model for model in made if model is not None]


def _model(
    name: str,
    items: Sequence[Item],
    before: Sequence[Judgement],
    after: Sequence[Judgement],
    places: Sequence[int],
    draws: int,
    seed: int,
) -> Model | None:
    """None where a judge judged nothing of the model."""
    questions = numbered(item_key(items[n]) for n in places)
    counts = np.zeros((int(questions.max()) + 1, 4))
    rows = [
        [says_yes(j.verdict), j.verdict is not None]
        for judgements in (before, after)
        for j in (judgements[n] for n in places)
    ]
    np.add.at(counts, questions, np.hstack(np.split(np.array(rows, dtype=float), 2)))
    if not counts[:, 1].sum() or not counts[:, 3].sum():
        return None
    totals = resampled(counts, draws if len(counts) > 1 else 0, seed)
    with np.errstate(invalid="ignore"):
        old, new = totals[:, 0] / totals[:, 1], totals[:, 2] / totals[:, 3]
    value, low, high = estimate(new - old)
    if not low < high:
        mine = [items[n] for n in places]
        both = _both(mine, [before[n] for n in places], [after[n] for n in places])
        found = bonett_price(np.asarray(both.sum(axis=0)[:, :2].T, dtype=np.float64))
        low, high = float(found.low), float(found.high)
    return Model(
        name=name, n_items=len(places), old=_share(old, counts[:, 1]),
        new=_share(new, counts[:, 3]), difference=value, low=low, high=high,
    )  # fmt: skip


def _share(values: Values, judged: Values) -> Share:
    n = int((judged > 0).sum())
    value, low, high = estimate(values)
    if not low < high:
        low, high = (float(x) for x in wilson(n * value, n))
    return Share(value=value, interval=Interval(low=low, high=high), n_questions=n)


def _ranked(models: Sequence[Model]) -> tuple[Model, ...]:
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


def _tau(models: Sequence[Model]) -> float | None:
    if len(models) < LEAST_MODELS:
        return None
    from scipy.stats import kendalltau  # a second to load

    old, new = [m.old.value for m in models], [m.new.value for m in models]
    varies = len(set(old)) > 1 and len(set(new)) > 1
    return float(kendalltau(old, new).statistic) if varies else None


def _cost(judgements: Sequence[Judgement], seconds: float | None) -> Cost:
    return Cost(
        prompt_tokens=sum(j.prompt_tokens for j in judgements),
        completion_tokens=sum(j.completion_tokens for j in judgements),
        seconds=seconds,
    )
