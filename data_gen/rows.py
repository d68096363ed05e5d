"""The training rows of the chosen candidates, as lines of JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from gradegpt.core.records import dump

from .candidates import training_row
from .guards import GUARDED
from .real import CROSSED
from .selection import Keys
from .settings import DataGenSettings
from .shards import StageProgress, finished
from .sift import Sifted, read_rows_of, twins_of

_Rows = tuple[Path, frozenset[int]]
"""Rows of a shard that belong to one part."""


def lines_of(
    sifted: Sifted, chosen: Mapping[str, Keys], settings: DataGenSettings, progress: StageProgress
) -> dict[str, list[str]]:
    """The training rows of the chosen candidates as lines of JSON, of each part in order."""
    work = [
        (part, (sifted.paths[number], frozenset(rows.tolist())))
        for part, keys in chosen.items()
        for number, rows in keys.groupby("shard")["row"]
    ]
    write = partial(_lines, settings=settings)
    made: defaultdict[str, list[str]] = defaultdict(list, {part: [] for part in chosen})
    for done, lines in enumerate(finished(write, [rows for _, rows in work], settings), start=1):
        made[work[done - 1][0]] += lines
        progress("writing rows", done, len(work))
    return made


def _lines(rows: _Rows, settings: DataGenSettings) -> list[str]:
    licences = {source.label: source.licence for source in settings.sources}
    licences |= {f"{n}{end}": of for n, of in licences.items() for end in (CROSSED, GUARDED)}
    lines = []
    for c in read_rows_of(*rows):
        meta = {"licence": licences.get(c.source), "twins": twins_of(c, settings)}
        row = training_row(c, settings.formats, settings.prompt, settings.seed, meta)
        lines.append(f"{dump(row)}\n")
    return lines
