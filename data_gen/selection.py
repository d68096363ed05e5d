"""Select the rows: balanced by cells, or by strata with named shares.

The keys of the candidates are a ``pandas.DataFrame``, a row for each agreed candidate in order; its
columns are those of ``sift.key_of``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from gradegpt.core.schema import AnswerType, Verdict

from .settings import Balance, DataGenSettings, Stratum

Keys: TypeAlias = Any
"""A ``pandas.DataFrame``; its index has the candidates' numbers."""
Places: TypeAlias = Any
"""A part of the index of ``Keys``."""
NO_QUESTION: Final = 0
"""In the column ``shown``."""
_DEV_ROWS: Final = 400


def chosen_rows(keys: Keys, settings: DataGenSettings) -> dict[str, Keys]:
    """The rows of train and dev: by strata if the settings have any, else balanced by cells."""
    if not settings.strata:
        kept = balanced(keys, settings.balance) if settings.balance.correct else keys
        return _split(kept)
    sizes = {"train": settings.balance.rows, "dev": _DEV_ROWS}
    split = _split(keys)
    return {part: stratified(split[part], settings.strata, sizes[part]) for part in split}


def _split(keys: Keys) -> dict[str, Keys]:
    """Split by question.

    Two questions that look the same in a short prompt would leak: such rows stay in train alone.
    """
    dev, shown = keys["dev"], keys["shown"]
    leaks = shown.isin(shown[~dev]) & (shown != NO_QUESTION)
    return {"train": keys[~dev], "dev": keys[dev & ~leaks]}


def in_order(keys: Keys) -> Keys:
    """The rows in the order in which they are selected, that of a digest."""
    return keys.sort_values("order", kind="stable")


# --- balanced by cells ----------------------------------------------------------------------------


class Cell(NamedTuple):
    """A combination of properties within which the verdicts are balanced."""

    real: bool
    lang: str
    kind: AnswerType


def balanced(keys: Keys, balance: Balance) -> Keys:
    """The rows to keep, in their order.

    In each cell ``correct`` and the other verdicts have the requested proportion, so the scarcer
    side bounds the size of the cell. A total number of rows is distributed evenly over the cells;
    small cells are taken whole.
    """
    cells: defaultdict[Cell, dict[Verdict, Places]] = defaultdict(
        lambda: dict.fromkeys(Verdict, ())
    )
    for named, part in in_order(keys).groupby(["origin", "lang", "type", "verdict"], sort=False):
        origin, lang, kind, verdict = named
        cells[Cell(origin == "real", lang, AnswerType(kind))][Verdict(verdict)] = part.index
    sizes = _sizes({cell: _capacity(parts, balance) for cell, parts in cells.items()}, balance)
    kept = [p for cell, size in sizes.items() for p in _picked(cells[cell], size, balance)]
    return keys.loc[sorted(kept)]


def _capacity(parts: Mapping[Verdict, Places], balance: Balance) -> int:
    """How many rows the cell can have in the requested proportion."""
    right = len(parts[Verdict.CORRECT])
    wrong = len(parts[Verdict.INCORRECT]) + len(parts[Verdict.INVALID])
    return int(min(right / balance.correct, wrong / (1 - balance.correct)))


def _sizes(capacity: dict[Cell, int], balance: Balance) -> dict[Cell, int]:
    if not balance.rows:
        return capacity
    real = {cell: size for cell, size in capacity.items() if cell.real}
    written = {cell: size for cell, size in capacity.items() if not cell.real}
    wanted = min(sum(real.values()), round(balance.rows * balance.real))
    rest = min(sum(written.values()), balance.rows - wanted)
    return _fill_evenly(real, min(sum(real.values()), balance.rows - rest)) | _fill_evenly(
        written, rest
    )


def _fill_evenly(capacity: dict[Cell, int], total: int) -> dict[Cell, int]:
    """``total`` distributed evenly over the cells, none above its capacity."""
    sizes: dict[Cell, int] = {}
    left = total
    for number, (cell, size) in enumerate(
        sorted(capacity.items(), key=lambda pair: (pair[1], pair[0]))
    ):
        sizes[cell] = min(size, round(left / (len(capacity) - number)))
        left -= sizes[cell]
    return sizes


def _picked(parts: Mapping[Verdict, Places], size: int, balance: Balance) -> list[int]:
    right = round(size * balance.correct)
    invalid, incorrect = (len(parts[v]) for v in (Verdict.INVALID, Verdict.INCORRECT))
    # An invalid response is recognised without the reference, so it is limited to its share:
    # among synthetic ones, as hardly any real response is invalid.
    share = balance.invalid / max(1 - balance.real, 0.2)
    nothing = min(invalid, max(round(size * share), size - right - incorrect))
    shares = {
        Verdict.CORRECT: right,
        Verdict.INVALID: nothing,
        Verdict.INCORRECT: min(incorrect, size - right - nothing),
    }
    return [place for verdict, count in shares.items() for place in parts[verdict][:count]]


def shortfalls(chosen: Keys, settings: DataGenSettings) -> list[dict[str, Any]]:
    """Targets of the balance that the set misses: ``{cell, wanted, have}``, in rows."""
    balance, total = settings.balance, len(chosen)
    verdicts = Counter(chosen["verdict"])
    real = int((chosen["origin"] != "synthetic").sum())
    wanted = [("rows", balance.rows, total), ("real", round(balance.real * total), real)]
    for verdict, share in ((Verdict.CORRECT, balance.correct), (Verdict.INVALID, balance.invalid)):
        wanted.append((f"verdict:{verdict}", round(share * total * 0.99), verdicts[verdict]))
    return [{"cell": cell, "wanted": w, "have": have} for cell, w, have in wanted if have < w]


# --- by strata ------------------------------------------------------------------------------------


def stratified(keys: Keys, strata: Sequence[Stratum], rows: int) -> Keys:
    """At most ``rows`` of the rows, in their order.

    In a stratum half of the rows of each source are correct. They are spread over as many questions
    as there are: a question's second row is taken after the first row of every question. A stratum
    with too few rows of either verdict stays short.
    """
    left, kept = keys, list[int]()
    for stratum in strata:
        mine = _accepted(stratum, left)
        kept += _of_stratum(left[mine], round(rows * stratum.share), stratum)
        left = left[~mine]
    return keys.loc[sorted(kept)]


def _of_stratum(keys: Keys, size: int, stratum: Stratum) -> list[int]:
    # The first row of every question, then the second one of every question, and so on.
    ordered = in_order(keys)
    turns = ordered.assign(turn=ordered.groupby("group").cumcount())
    turns = turns.sort_values("turn", kind="stable")
    if Verdict.CORRECT not in (stratum.verdicts or [*Verdict]):
        return list(turns.index[:size])
    partner: dict[int, int] = {}
    # As many correct as incorrect rows of each source; otherwise its style predicts the verdict.
    # Of twins: in each question.
    for _, rows in turns.groupby(["source", "twins"], sort=False):
        right = rows["verdict"] == Verdict.CORRECT
        partner.update(zip(rows.index[~right], rows.index[right], strict=False))
    # A pair has the place of its incorrect row.
    wrong = in_order(keys.loc[[*partner]]).index[: size // 2]
    return [place for one in wrong for place in (one, partner[one])]


def _accepted(stratum: Stratum, keys: Keys) -> Any:
    """Which rows meet the conditions of a stratum."""
    conditions = {
        "source": stratum.sources,
        "origin": stratum.origins,
        "verdict": stratum.verdicts,
        "lang": (stratum.lang,) * bool(stratum.lang),
        "response_lang": (stratum.response_lang,) * bool(stratum.response_lang),
    }
    accepted = keys["order"] >= 0
    for name, wanted in conditions.items():
        if wanted:
            accepted &= keys[name].isin(wanted)
    if stratum.open is not None:
        ruled = keys["labelled_by"].map(lambda labels: "rules" in labels.split("+"))
        accepted &= ruled != stratum.open
    return accepted
