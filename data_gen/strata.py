"""Select the rows by strata: each has its share of the rows, with balanced verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradegpt.schema import Verdict

from .keys import Keys, column, numbers, selection_order
from .settings import Stratum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places = NDArray[np.int64]
    Mask = NDArray[np.bool_]


def stratified(keys: Keys, strata: Sequence[Stratum], rows: int) -> Keys:
    """At most ``rows`` of the rows, in their order.

    In a stratum half of the rows of each source are correct. They are spread over as many questions
    as there are: a question's second row is taken after the first row of every question. A stratum
    with too few rows of either verdict stays short.
    """
    left = np.ones(len(keys), dtype=np.bool_)
    kept = [np.empty(0, dtype=np.int64)]
    for stratum in strata:
        mine = left & _accepted(stratum, keys)
        left &= ~mine
        part = keys.take(np.flatnonzero(mine))
        kept.append(np.flatnonzero(mine)[_pick(part, round(rows * stratum.share), stratum)])
    return keys.take(np.sort(np.concatenate(kept)))


def _pick(keys: Keys, size: int, stratum: Stratum) -> Places:
    turns = _round_robin(keys)
    if Verdict.CORRECT not in (stratum.verdicts or [*Verdict]):
        return turns[:size]
    right = column(keys, "verdict").among([Verdict.CORRECT])[turns]
    source = column(keys, "source").codes[turns]
    pairs = [np.empty((0, 2), dtype=np.int64)]
    # As many correct as incorrect rows of each source; otherwise its style predicts the verdict.
    for one in dict.fromkeys(source.tolist()):
        sides = [turns[(source == one) & side] for side in (~right, right)]
        count = min(map(len, sides))
        pairs.append(np.stack([side[:count] for side in sides], axis=1))
    found = np.concatenate(pairs)
    # A pair has the place of its incorrect row.
    chosen: Places = found[selection_order(keys.take(found[:, 0]))[: size // 2]].ravel()
    return chosen


def _round_robin(keys: Keys) -> Places:
    """The first row of every question, then the second one of every question, and so on."""
    order = selection_order(keys)
    groups = numbers(keys, "group")[order]
    together = np.argsort(groups, kind="stable")
    _, starts, counts = np.unique(groups[together], return_index=True, return_counts=True)
    turn = np.empty(len(order), dtype=np.int64)
    turn[together] = np.arange(len(order)) - np.repeat(starts, counts)
    turns: Places = order[np.argsort(turn, kind="stable")]
    return turns


def _accepted(stratum: Stratum, keys: Keys) -> Mask:
    """Which rows meet the conditions of a stratum."""
    conditions = {
        "source": stratum.sources,
        "origin": stratum.origins,
        "type": stratum.types,
        "verdict": stratum.verdicts,
        "lang": (stratum.lang,) * bool(stratum.lang),
        "response_lang": (stratum.response_lang,) * bool(stratum.response_lang),
    }
    accepted = np.ones(len(keys), dtype=np.bool_)
    for name, wanted in conditions.items():
        if wanted:
            accepted &= column(keys, name).among(wanted)
    if stratum.open is not None:
        labelled_by = column(keys, "labelled_by")
        ruled = [name for name in labelled_by.names if "rules" in name.split("+")]
        accepted &= labelled_by.among(ruled) != stratum.open
    return accepted
