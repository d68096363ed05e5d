"""The folder of a run: a file for each part, written whole; a manifest at the end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO, TextIOWrapper
from typing import Any, Final, NamedTuple

from gradegpt.cluster.files import listed, read, remove, write
from gradegpt.cluster.judging import Job, State
from gradegpt.errors import OutputError
from gradegpt.inputs import items_of
from gradegpt.outputs import ADDED, with_columns
from gradegpt.records import EXISTS, dump
from gradegpt.records import FOLDER_MANIFEST as MANIFEST
from gradegpt.run import Counts, count
from gradegpt.schema import Judgement, Outcome
from gradegpt.tables import Form
from gradegpt.tables.parquet import pyarrow_for, write_parquet

BEGUN: Final = "_manifest.partial.json"
"""The manifest without the results, from the beginning of a run to its end."""


class Report(NamedTuple):
    """The counts of a part that is written; why the first of its failed rows failed."""

    number: int
    counts: Counts
    failure: str = ""


def part_name(number: int, form: Form) -> str:
    """The file of the part with that number."""
    return f"part-{number:05d}.{form}"


def begin(folder: str, record: Mapping[str, Any], *, overwrite: bool = False) -> list[str]:
    """Begin a run in a folder, or go on with one; the files that are there.

    Raises:
        OutputError: the folder is another run's or holds something else, or the run is complete.

    """
    there = [name for name in listed(folder) if not name.startswith(".")]
    before = {name: _json(folder, name) for name in (MANIFEST, BEGUN) if name in there}
    if there and not before:
        raise OutputError(f"{folder}: is not empty, and holds no run; choose another folder")
    if overwrite:
        remove(folder, [name for name in there if name.startswith("part-") or name in before])
        there = []
    elif before:
        _check(folder, next(iter(before.values())), record)
        if MANIFEST in before and not before[MANIFEST]["counts"]["n_failed"]:
            raise OutputError(f"{folder}: {EXISTS}")
    write(f"{folder}/{BEGUN}", _bytes(record))
    if MANIFEST in there:  # of a run with failed rows
        remove(folder, [MANIFEST])
    return there


def end(folder: str, manifest: Mapping[str, Any]) -> None:
    """Write the manifest; delete what only a run that was stopped needs."""
    write(f"{folder}/{MANIFEST}", _bytes(manifest))
    remove(folder, [n for n in listed(folder) if n == BEGUN or n.endswith(".tmp")])


def written(job: Job, state: State) -> Report:
    """Write a part whose rows are all judged; the rows are read again from the input."""
    number, part, _ = state.given
    judgements = [state.judgements[place] for place in range(len(state.judgements))]
    if job.form is Form.JSONL:
        data = "".join(f"{dump(judgement)}\n" for judgement in judgements).encode()
    else:
        found = items_of(part, job.columns, skip_bad=job.skip_bad)
        data = _parquet(job, with_columns((row for row, _ in found), judgements, job.names))
    write(f"{job.folder}/{part_name(number, job.form)}", data)
    failed = (j.reason for j in judgements if j.outcome is Outcome.FAILED)
    return Report(number, count(judgements), next(failed, ""))


def counted(job: Job, number: int) -> Report:
    """The counts of a part that an earlier run wrote."""
    data = read(f"{job.folder}/{part_name(number, job.form)}") or b""
    rows: Sequence[Mapping[str, Any]]
    if job.form is Form.JSONL:
        rows, names = [json.loads(line) for line in data.splitlines()], {n: n for n in ADDED}
    else:
        pyarrow, parquet = pyarrow_for(job.folder)
        names = dict(job.names)
        wanted = [names["outcome"], names["verdict"]]
        rows = parquet.read_table(pyarrow.BufferReader(data), columns=wanted).to_pylist()
    return Report(number, _counts((r[names["outcome"]], r[names["verdict"]]) for r in rows))


def added_types() -> dict[str, Any]:
    """The Arrow types of the columns that are added."""
    pyarrow, _ = pyarrow_for("Parquet")
    numbers = {"confidence": pyarrow.float64()}
    return {field: numbers.get(field, pyarrow.string()) for field in ADDED}


def _counts(ended: Iterable[tuple[str, str | None]]) -> Counts:
    made = (Judgement(id="", outcome=Outcome(o), verdict=v, method="") for o, v in ended)
    return count(made)


def _parquet(job: Job, rows: Iterable[dict[str, Any]]) -> bytes:
    columns, held = (*job.columns.names, *job.names.values()), BytesIO()
    with TextIOWrapper(held, encoding="utf-8") as out:
        write_parquet(out, columns, rows, job.types)
        return held.getvalue()


def _check(folder: str, before: Mapping[str, Any], record: Mapping[str, Any]) -> None:
    """Raise ``OutputError`` where the folder was begun by a run that differs, and name both."""
    for what, found in record.items():
        other = before.get(what)
        if _without_path(other) != _without_path(found):
            raise OutputError(
                f"{folder}: was begun with another {what}: {json.dumps(other)}; this run has "
                f"{json.dumps(found)}; choose another folder or pass --overwrite"
            )


def _without_path(value: Any) -> Any:
    """An input's entry without the names of its files: moved files are the same."""
    if not isinstance(value, dict):
        return value
    return value | {"files": [file | {"path": ""} for file in value.get("files", ())]}


def _json(folder: str, name: str) -> dict[str, Any]:
    try:
        return dict(json.loads(read(f"{folder}/{name}") or b""))
    except ValueError as error:
        what = f"{folder}/{name}: cannot be read ({error})"
        raise OutputError(f"{what}; choose another folder") from error


def _bytes(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()
