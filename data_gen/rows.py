"""Write the rows: a file of lines for each shard and part, then all lines in random order."""

from __future__ import annotations

import json
import random
import tempfile
from array import array
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from gradegpt.core.records import dump, read_lines, whole_file

from .candidates import training_row
from .selection import Keys
from .settings import DataGenSettings
from .shards import StageProgress, finished
from .sift import Sifted, read_rows_of

_ROW_GROUP: Final = 10_000
"""Rows of a row group of Parquet, which are in memory together."""


class _Lines(NamedTuple):
    """The rows of a shard that belong to one part, and the file of their lines."""

    shard: Path
    rows: frozenset[int]
    path: Path


def lines_of(
    sifted: Sifted,
    chosen: Mapping[str, Keys],
    settings: DataGenSettings,
    folder: Path,
    progress: StageProgress,
) -> dict[str, list[Path]]:
    """Write the training rows of the chosen candidates; return the files of each part, in order."""
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, list[Path]] = {}
    work = list[_Lines]()
    for part, keys in chosen.items():
        shards = [(sifted.paths[n], rows.tolist()) for n, rows in keys.groupby("shard")["row"]]
        mine = [
            _Lines(shard, frozenset(rows), folder / f"{shard.stem}.{part}.jsonl")
            for shard, rows in shards
        ]
        files[part] = [lines.path for lines in mine]
        work += mine
    write = partial(_write_lines, settings=settings)
    for done, _ in enumerate(finished(write, work, settings), start=1):
        progress("writing rows", done, len(work))
    return files


def _write_lines(lines: _Lines, settings: DataGenSettings) -> None:
    with whole_file(lines.path) as out:
        for _, candidate in read_rows_of(lines.shard, lines.rows):
            row = training_row(candidate, settings.formats, settings.prompt, settings.seed)
            out.write(dump(row) + "\n")


def write_shuffled(path: Path, files: Sequence[Path], rng: random.Random, folder: Path) -> int:
    """Write the lines of some files in random order; return their number.

    The lines are copied to a temporary file in ``folder``; 16 bytes of each are in memory.
    """
    ends = array("q", [0])
    with tempfile.TemporaryFile(dir=folder) as copied:
        for file in files:
            with file.open("rb") as lines:
                for line in lines:
                    copied.write(line)
                    ends.append(ends[-1] + len(line))
        order = array("q", range(len(ends) - 1))
        rng.shuffle(order)
        with whole_file(path) as out:
            for number in order:
                copied.seek(ends[number])
                out.write(copied.read(ends[number + 1] - ends[number]).decode())
    return len(order)


def write_parquet(path: Path) -> None:
    """Write the rows of a JSON Lines file as Parquet beside it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    left = (json.loads(line) for _, line in read_lines(path))
    first = pa.Table.from_pylist(list(islice(left, _ROW_GROUP)))
    temporary = path.with_name(f".{path.stem}.parquet.tmp")
    with pq.ParquetWriter(temporary, first.schema, compression="zstd") as out:
        out.write_table(first)
        while rows := list(islice(left, _ROW_GROUP)):
            out.write_table(pa.Table.from_pylist(rows, first.schema))
    temporary.replace(path.with_suffix(".parquet"))
