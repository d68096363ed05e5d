"""Which judgements to label, and the sheet for it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from gradegpt.core.errors import InputError, OutputError
from gradegpt.core.records import whole_file
from gradegpt.judges.statistics import Values
from gradegpt.tables import Form, form_of, write
from gradegpt.tables.outputs import encoding_for

from ..report.results import JudgedRows
from .estimate import Labels

_FEWEST: Final = 4
"""The fewest labels of a stratum, if it has so many items."""


def allocation(sizes: Values, n: int) -> Values:
    """``n`` labels for strata of these sizes ``[strata]``, in proportion to the sizes' square root.

    That is between as many labels of each stratum, which wastes them on small ones, and a
    proportional draw, which hardly sees the judge's errors in small ones: over the cases of
    ``benchmarks/intervals.py`` its interval is at most 8 % wider than the best of them, equal
    numbers give up to 39 %, a proportional draw up to 29 %.

    Raises:
        InputError: the strata have fewer than ``n`` items.

    """
    left = int(sizes.sum())
    if left < n:
        raise InputError(f"cannot pick {n:,} items, as {left:,} are without a label; pick fewer")
    quota = np.zeros_like(sizes)
    wanted = np.minimum(sizes, _FEWEST)
    if wanted.sum() <= n:
        quota = wanted
    weights = np.sqrt(sizes)
    while quota.sum() < n:
        behind = np.where(quota < sizes, quota / np.maximum(weights, 1), np.inf)
        quota[np.argmin(behind)] += 1
    return quota


def pick(strata: Sequence[str], labels: Labels, n: int, seed: int) -> list[int]:
    """The places of ``n`` items to label, in random order, drawn by ``allocation``.

    Items that have a label are not picked.

    Raises:
        InputError: fewer than ``n`` items have no label.

    """
    rng = random.Random(seed)
    places: dict[str, list[int]] = {name: [] for name in sorted(set(strata))}
    for place, (name, label) in enumerate(zip(strata, labels, strict=True)):
        if label is None:
            places[name].append(place)
    quota = allocation(np.array([len(items) for items in places.values()], dtype=float), n)
    picked = [
        place
        for items, k in zip(places.values(), quota, strict=True)
        for place in rng.sample(items, int(k))
    ]
    rng.shuffle(picked)
    return picked


def write_sheet(results: JudgedRows, picked: Sequence[int], out: Path | None) -> None:
    """Write items to label, with the other columns of their table and in its encoding.

    The sheet does not show the judge's verdict, which would influence whoever labels.

    Raises:
        OutputError: the name is missing or is none of a sheet, or the file exists.

    """
    form = form_of(out) if out else None
    if out is None or form not in (Form.CSV, Form.TSV, Form.XLSX):
        raise OutputError("--pick: needs the name of a .csv, .tsv or .xlsx, such as -o labels.csv")
    if out.exists():
        raise OutputError(f"{out}: exists already, and may hold labels; choose another name")
    assert results.source is not None
    table, held = results.source
    fields = ("question", "reference", "response", "label")
    columns = ("id", *(name for name in held.beside if name not in ("id", *fields)), *fields)
    own = [{name: results.row(n)[name] for name in ("id", *fields)} for n in picked]
    rows = [{**results.rows[n], **one, "label": ""} for n, one in zip(picked, own, strict=True)]
    with whole_file(out, encoding_for(table, form)) as file:
        write(file, form, columns, rows)
