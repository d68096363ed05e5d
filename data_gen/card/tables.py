"""The tables of the card, as cells of text, the same on both pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from gradegpt.schema import AnswerType

from .collect import UNNAMED, VERDICTS, ByVerdict, Facts
from .parts import Table

if TYPE_CHECKING:
    from .plots import Interval

DASH: Final = "–"
_TYPE_ORDER: Final = {kind.value: place for place, kind in enumerate(AnswerType)}


def count(n: int) -> str:
    """A whole number with thousands separators; a dash for 0."""
    return f"{n:,}" if n else DASH


def percent(share: float | None, *, places: int = 1) -> str:
    """A share in percent, or a dash where it is not defined."""
    return DASH if share is None else f"{100 * share:.{places}f} %"


def words(name: str) -> str:
    """A name as words of a sentence: ``hard_negative`` -> ``hard negative``."""
    return name.replace("_", " ")


def types_of(facts: Facts) -> list[str]:
    """Answer types in the order of ``AnswerType``; unstated ones come last."""
    return sorted(facts.balance, key=lambda kind: (_TYPE_ORDER.get(kind, len(_TYPE_ORDER)), kind))


def languages_of(facts: Facts) -> list[str]:
    """Languages of the questions, the most frequent first."""
    total: Counter[str] = Counter()
    for cells in facts.balance.values():
        for (lang, _), n in cells.items():
            total[lang] += n
    return by_size(total)


def by_size(counts: Mapping[str, int]) -> list[str]:
    """Names, the most frequent first; equally frequent ones in alphabetical order."""
    return sorted(counts, key=lambda name: (-counts[name], name))


def groups_of(groups: ByVerdict) -> list[str]:
    """Names of the groups, the largest first."""
    return by_size({name: verdicts.total() for name, verdicts in groups.items()})


def verdict_table(name: str, groups: ByVerdict, *, title: str = "") -> Table | None:
    """Rows of each group by verdict; none if no row states its group."""
    if set(groups) <= {UNNAMED}:
        return None
    return Table(
        title=title,
        head=(name, "rows", *VERDICTS, "share correct"),
        rows=tuple(
            (
                words(group),
                count(groups[group].total()),
                *(count(groups[group][v]) for v in VERDICTS),
                percent(groups[group]["correct"] / groups[group].total()),
            )
            for group in groups_of(groups)
        ),
    )


def balance_table(facts: Facts) -> Table:
    """Answer types by language of the question and verdict, with totals."""
    columns = [(lang, verdict) for lang in languages_of(facts) for verdict in VERDICTS]
    total: Counter[tuple[str, str]] = Counter()
    for cells in facts.balance.values():
        total.update(cells)

    def row(name: str, cells: Counter[tuple[str, str]]) -> tuple[str, ...]:
        return (name, *(count(cells[column]) for column in columns), count(cells.total()))

    return Table(
        head=("answer type", *(f"{lang} {verdict}" for lang, verdict in columns), "rows"),
        rows=(
            *(row(words(kind), facts.balance[kind]) for kind in types_of(facts)),
            row("all", total),
        ),
    )


def length_table(facts: Facts) -> Table:
    """Median lengths, and how often a correct response is longer than an incorrect one."""
    return Table(
        head=("origin", "response", *(f"{v}, median" for v in VERDICTS), "correct is longer"),
        rows=tuple(
            (
                words(origin),
                lang,
                *(_median(facts.lengths[origin, lang].get(v, ())) for v in VERDICTS),
                percent(longer_share(facts.lengths[origin, lang])),
            )
            for origin, lang in length_panels(facts)
        ),
    )


def length_panels(facts: Facts) -> list[tuple[str, str]]:
    """Origins, the most frequent first, by language of the response."""
    origins = groups_of(facts.facets["origin"])
    return sorted(facts.lengths, key=lambda panel: (origins.index(panel[0]), panel[1]))


def longer_share(lengths: Mapping[str, Sequence[int]]) -> float | None:
    """Of all pairs of a correct and an incorrect response, the share where the correct is longer.

    Ties count half. This is the area under the ROC curve; 0.5 means that length predicts nothing.
    """
    correct, incorrect = lengths.get("correct", ()), lengths.get("incorrect", ())
    if not correct or not incorrect:
        return None
    import numpy as np

    others = np.sort(np.asarray(incorrect))
    below = np.searchsorted(others, correct, "left") + np.searchsorted(others, correct, "right")
    return float(below.mean() / 2 / len(others))


def probe_table(scores: Iterable[Interval]) -> Table:
    """The scores of the artifact probe."""
    return Table(
        wide=True,
        head=("responses", "balanced accuracy", "95 % interval", "rows", "correct"),
        rows=tuple(
            (
                name,
                percent(score.get("balanced_accuracy")),
                f"{percent(score.get('low'))} to {percent(score.get('high'))}"
                if score.get("low") is not None
                else DASH,
                count(score.get("n", 0)),
                percent(score["n_correct"] / score["n"]) if score.get("n") else DASH,
            )
            for name, score in scores
        ),
    )


def ngram_table(side: str, ngrams: Sequence[Mapping[str, Any]]) -> Table:
    """The n-grams that predict one verdict."""
    return Table(
        title=f"N-grams that predict {side}",
        head=("n-gram", "weight", "responses", "of them correct"),
        rows=tuple(
            (
                str(ngram["ngram"]),
                f"{ngram['weight']:+.2f}",
                count(ngram["n"]),
                percent(ngram["share_correct"], places=0),
            )
            for ngram in ngrams
        ),
    )


def _median(values: Sequence[int]) -> str:
    return f"{sorted(values)[len(values) // 2]:,}" if values else DASH
