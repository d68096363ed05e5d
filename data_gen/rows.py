"""Write the rows: a file of lines for each batch of candidates, then all lines in random order."""

from __future__ import annotations

import json
import random
import tempfile
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TextIO

from gradegpt.records import dump, read_lines, whole_file

from .candidates import training_row
from .keys import Keys, numbers
from .settings import DataGenSettings
from .shards import Progress
from .sift import Batch, Sifted, read_batch
from .tasks import finished

if TYPE_CHECKING:
    from .quality.duplicates import Rows

PARTS: Final = ("train", "dev")
_ROW_GROUP: Final = 10_000
"""Rows of a row group of Parquet, which are in memory together."""

Lines = dict[str, list[Path]]
"""The files of a part's lines, in the order of the candidates."""


class _Work(NamedTuple):
    """A batch, the numbers of its rows in each part, and the files of their lines."""

    batch: Batch
    rows: Mapping[str, Rows]
    paths: Mapping[str, Path]


def judge_lines(
    sifted: Sifted,
    chosen: Mapping[str, Keys],
    settings: DataGenSettings,
    folder: Path,
    progress: Progress,
) -> Lines:
    """The training rows of the chosen candidates."""
    rows = {part: numbers(keys, "row") for part, keys in chosen.items()}
    work = [
        _Work(
            batch,
            {part: sifted.within(batch, of_part) for part, of_part in rows.items()},
            {part: folder / f"{batch.number:05d}.{part}.jsonl" for part in chosen},
        )
        for batch in sifted.batches
    ]
    write = partial(_write_batch, settings=settings)
    for done, _ in enumerate(finished(write, work, settings), start=1):
        progress("writing rows", done, len(work))
    return {part: [one.paths[part] for one in work] for part in chosen}


def _write_batch(work: _Work, settings: DataGenSettings) -> None:
    part_of = {row: part for part, rows in work.rows.items() for row in rows.tolist()}
    with _files(work.paths) as files:
        for number, candidate in read_batch(work.batch, part_of):
            row = training_row(candidate, settings.formats, settings.prompt, settings.seed)
            files[part_of[number]].write(dump(row) + "\n")


@contextmanager
def _files(paths: Mapping[str, Path]) -> Iterator[dict[str, TextIO]]:
    with ExitStack() as stack:
        yield {part: stack.enter_context(whole_file(path)) for part, path in paths.items()}


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
