"""Select the rows: the share of each verdict is the same for all origins, languages and types."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gradegpt.schema import AnswerType, Verdict

from .candidates import Candidate
from .settings import Balance


class Cell(NamedTuple):
    """A combination of properties within which the verdicts are balanced."""

    real: bool
    lang: str
    kind: AnswerType


def choose(candidates: Iterable[Candidate], balance: Balance) -> list[Candidate]:
    """The rows to keep, in the candidates' order.

    In each cell ``correct`` and the other verdicts have the requested proportion, so the scarcer
    side bounds the size of the cell. A total number of rows is distributed evenly over the cells;
    small cells are taken whole.
    """
    cells: dict[Cell, dict[Verdict, list[Candidate]]] = defaultdict(lambda: defaultdict(list))
    everyone = list(candidates)
    for candidate in everyone:
        if candidate.verdict is not None:
            cell = Cell(candidate.origin != "synthetic", candidate.lang, candidate.kind)
            cells[cell][candidate.verdict].append(candidate)
    sizes = _sizes({cell: _capacity(parts, balance) for cell, parts in cells.items()}, balance)
    kept = {  # by object identity: several answers to a question may share an ``id``
        id(candidate)
        for cell, size in sizes.items()
        for candidate in _pick(cells[cell], size, balance)
    }
    return [candidate for candidate in everyone if id(candidate) in kept]


def _capacity(parts: dict[Verdict, list[Candidate]], balance: Balance) -> int:
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


def _pick(
    parts: dict[Verdict, list[Candidate]], size: int, balance: Balance
) -> Iterable[Candidate]:
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
        yield from sorted(parts[verdict], key=selection_order)[:count]


def _invalid(balance: Balance) -> float:
    """The share of invalid rows among synthetic ones: hardly any real response is invalid."""
    return balance.invalid / max(1 - balance.real, 0.2)


def selection_order(candidate: Candidate) -> tuple[bool, bytes]:
    """Labelled real answers come before counterfactual ones; otherwise the order is a digest's."""
    digest = hashlib.sha256(candidate.id.encode()).digest()
    return candidate.origin == "counterfactual", digest


def shortfalls(chosen: Sequence[Candidate], balance: Balance) -> list[dict[str, Any]]:
    """Targets of the balance that the set misses: ``{cell, wanted, have}``, in rows."""
    total = len(chosen)
    kinds = Counter(candidate.kind for candidate in chosen)
    langs = Counter(candidate.lang for candidate in chosen)
    verdicts = Counter(candidate.verdict for candidate in chosen)
    real = sum(candidate.origin != "synthetic" for candidate in chosen)
    wanted = [("rows", balance.rows, total), ("real", round(balance.real * total), real)]
    text_types = [kind for kind in AnswerType if kind is not AnswerType.CODE]
    wanted += [(f"type:{k}", round(balance.least_type * total), kinds[k]) for k in text_types]
    least = round(balance.least_language * total)
    wanted += [(f"lang:{lang}", least, langs[lang]) for lang in ("zh", "en")]
    for verdict, share in ((Verdict.CORRECT, balance.correct), (Verdict.INVALID, balance.invalid)):
        wanted.append((f"verdict:{verdict}", round(share * total * 0.99), verdicts[verdict]))
    return [{"cell": cell, "wanted": w, "have": have} for cell, w, have in wanted if have < w]
