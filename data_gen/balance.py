"""Select the rows: the share of each verdict is the same for all origins, languages and types."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradegpt.schema import AnswerType, Verdict

from .keys import Keys, column, selection_order, tally
from .settings import Balance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places = NDArray[np.int64]


class Cell(NamedTuple):
    """A combination of properties within which the verdicts are balanced."""

    real: bool
    lang: str
    kind: AnswerType


def choose(keys: Keys, balance: Balance) -> Keys:
    """The rows to keep, in their order.

    In each cell ``correct`` and the other verdicts have the requested proportion, so the scarcer
    side bounds the size of the cell. A total number of rows is distributed evenly over the cells;
    small cells are taken whole.
    """
    if not len(keys):
        return keys
    cells = _cells(keys)
    sizes = _sizes({cell: _capacity(parts, balance) for cell, parts in cells.items()}, balance)
    kept = [part for cell, size in sizes.items() for part in _pick(cells[cell], size, balance)]
    return keys.take(np.sort(np.concatenate(kept)))


def _cells(keys: Keys) -> dict[Cell, dict[Verdict, Places]]:
    """The places of the rows of each cell and verdict, in the order of selection."""
    real = ~column(keys, "origin").among(["synthetic"])
    lang, kind, verdict = (column(keys, name) for name in ("lang", "type", "verdict"))
    shape = (2, *(len(c.names) for c in (lang, kind, verdict)))
    order = selection_order(keys)
    codes = np.ravel_multi_index((real, lang.codes, kind.codes, verdict.codes), shape)[order]
    grouped = np.argsort(codes, kind="stable")
    found, starts = np.unique(codes[grouped], return_index=True)
    cells: defaultdict[Cell, dict[Verdict, Places]] = defaultdict(
        lambda: dict.fromkeys(Verdict, order[:0])
    )
    for code, places in zip(found, np.split(order[grouped], starts[1:]), strict=True):
        is_real, in_lang, of_kind, with_verdict = np.unravel_index(code, shape)
        cell = Cell(bool(is_real), lang.names[in_lang], AnswerType(kind.names[of_kind]))
        cells[cell][Verdict(verdict.names[with_verdict])] = places
    return cells


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


def _pick(parts: Mapping[Verdict, Places], size: int, balance: Balance) -> Iterator[Places]:
    right = round(size * balance.correct)
    invalid, incorrect = (len(parts[v]) for v in (Verdict.INVALID, Verdict.INCORRECT))
    # An invalid response is recognised without the reference, so it is limited to its share.
    nothing = min(invalid, max(round(size * _invalid(balance)), size - right - incorrect))
    shares = {
        Verdict.CORRECT: right,
        Verdict.INVALID: nothing,
        Verdict.INCORRECT: min(incorrect, size - right - nothing),
    }
    for verdict, count in shares.items():
        yield parts[verdict][:count]


def _invalid(balance: Balance) -> float:
    """The share of invalid rows among synthetic ones: hardly any real response is invalid."""
    return balance.invalid / max(1 - balance.real, 0.2)


def shortfalls(chosen: Keys, balance: Balance) -> list[dict[str, Any]]:
    """Targets of the balance that the set misses: ``{cell, wanted, have}``, in rows."""
    total = len(chosen)
    kinds, langs, verdicts = (tally(chosen, name) for name in ("type", "lang", "verdict"))
    real = total - tally(chosen, "origin")["synthetic"]
    wanted = [("rows", balance.rows, total), ("real", round(balance.real * total), real)]
    text_types = [kind for kind in AnswerType if kind is not AnswerType.CODE]
    wanted += [(f"type:{k}", round(balance.least_type * total), kinds[k]) for k in text_types]
    least = round(balance.least_language * total)
    wanted += [(f"lang:{lang}", least, langs[lang]) for lang in ("zh", "en")]
    for verdict, share in ((Verdict.CORRECT, balance.correct), (Verdict.INVALID, balance.invalid)):
        wanted.append((f"verdict:{verdict}", round(share * total * 0.99), verdicts[verdict]))
    return [{"cell": cell, "wanted": w, "have": have} for cell, w, have in wanted if have < w]
