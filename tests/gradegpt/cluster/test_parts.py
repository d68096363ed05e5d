"""The input of a cluster: divided into parts, checked part by part, as one machine would."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from gradegpt.app.cluster.judging import Checked, check_files
from gradegpt.app.cluster.storage import OutputFolder, inputs, local
from gradegpt.core.errors import GradeGPTError, InputError, MissingError, SettingsError
from gradegpt.tables import Table
from gradegpt.tables.inputs import check_input

ROW = {"question": "2+2=?", "reference": "4", "response": "The answer is 4."}


def each(function: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
    """What the cluster does in tasks, here."""
    return [function(value) for value in values]


def lines(path: Path, rows: Sequence[Any]) -> Path:
    """A file with a row per line; text is written unchanged."""
    texts = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def table(path: Path, rows: Sequence[dict[str, Any]], group: int) -> Path:
    """A Parquet file with so many rows in a row group."""
    parquet.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=group)
    return path


def checked(*paths: Path, rows: int = 2, **options: Any) -> Checked:
    return check_files(inputs(map(str, paths)), each, rows=rows, **options)


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("end", ["\n", ""])
def test_parts_of_lines_are_the_file(tmp_path: Path, size: int, end: str) -> None:
    """Every row once, with its line number, in parts of so many rows; blank lines are no rows."""
    texts = ["", *(json.dumps({**ROW, "id": f"é{n}"}) for n in range(3)), "  ", "", "{", "[1]"]
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(texts) + end, encoding="utf-8")
    rows = [[*part.rows()] for part in Table.of(path).parts(size)]
    assert [row for part in rows for row in part] == [*Table.of(path).rows()]
    assert [len(part) for part in rows[:-1]] == [size] * (len(rows) - 1)


@pytest.mark.parametrize("group", [1, 3, 7, 100])
def test_parts_of_parquet_are_the_file_in_whatever_order_they_are_read(
    tmp_path: Path, group: int
) -> None:
    """A part begins anywhere in a row group."""
    path = table(tmp_path / "in.parquet", [{**ROW, "id": str(n)} for n in range(20)], group)
    parts = Table.of(path).parts(4)
    wanted = [*Table.of(path).rows()]
    for order in (parts, parts[::-1], random.Random(0).sample(parts, len(parts))):
        found = {part.start: [*part.rows()] for part in order}
        assert [row for first in sorted(found) for row in found[first]] == wanted


def test_files_of_a_store_are_read_like_local_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address with ``*`` is the files that match it; each is copied to this node once."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    paths = [
        lines(tmp_path / "a.jsonl", [ROW] * 3),
        table(tmp_path / "b.parquet", [ROW] * 3, group=2),
    ]
    folder = OutputFolder.of("memory://in")
    for path in paths:
        folder.write(path.name, path.read_bytes())
    there = check_files(inputs(["memory://in/*"]), each, rows=2)
    here = checked(*paths)
    assert [[*local(p).rows()] for p in there.parts] == [[*p.rows()] for p in here.parts]
    assert there.items == here.items == (2, 1, 2, 1)
    assert folder.names() == ["a.jsonl", "b.parquet"]
    folder.remove(folder.names())


BAD: list[tuple[list[Any], dict[str, Any]]] = [
    ([ROW, "{", ROW, "[]"], {}),
    ([ROW, {**ROW, "points": "x"}, {**ROW, "points": "x"}], {}),
    ([ROW, {"reference": "4"}, {"reference": "5"}, {"response": ""}], {}),
    ([{"prompt": "a", "query": "b", "gold": "c", "output": "d"}], {}),
    ([ROW], {"columns": {"reference": "gold"}}),
    ([ROW], {"columns": {"gold": "reference"}}),
    (["", " "], {}),
    (["{"], {"skip_bad": True}),
]


@pytest.mark.parametrize(("rows", "options"), BAD)
def test_the_same_is_wrong_as_on_one_machine(
    tmp_path: Path, rows: list[Any], options: dict[str, Any]
) -> None:
    """Errors and their words, though the rows were read by several tasks."""
    path = lines(tmp_path / "in.jsonl", rows)
    with pytest.raises((InputError, SettingsError)) as local:
        check_input(path, **options)
    with pytest.raises(type(local.value)) as found:
        checked(path, **options, rows=1)
    assert str(found.value) == str(local.value)


def test_rows_that_are_skipped_and_columns_are_those_of_one_machine(tmp_path: Path) -> None:
    """Also where a column is first seen in the last part, and the first value in another."""
    rows = [{**ROW, "needs": ""}, {"gold": "4"}, {**ROW, "needs": "any", "verdict": None}]
    path = lines(tmp_path / "in.jsonl", rows)
    local = check_input(path, skip_bad=True)
    found = checked(path, skip_bad=True, rows=1)
    assert found.columns == local.columns
    assert found.set_aside.listed() == local.set_aside.listed()
    assert (found.rows, found.items) == (local.rows, (1, 0, 1))


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("-", InputError, "without --on"),
        ("none.jsonl", MissingError, "no such file"),
        ("folder", InputError, r"folder/\*.parquet"),
        ("rows.txt", InputError, "unknown suffix '.txt'"),
        ("rows.csv", InputError, "there are no rows"),
        ("memory://none.jsonl", MissingError, "no such file"),
        ("memory://none/*.jsonl", MissingError, "no file matches"),
        ("nowhere://rows.jsonl", MissingError, "install what fsspec needs"),
        ("broken.parquet", InputError, "not a readable Parquet file"),
    ],
)
def test_an_input_that_cannot_be_read_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    error: type[GradeGPTError],
    words: str,
) -> None:
    """It says what to do."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "rows.txt").write_text("4")
    (tmp_path / "broken.parquet").write_text("PAR1")
    (tmp_path / "rows.csv").write_text("reference,response\n")
    with pytest.raises(error, match=words):
        check_files(inputs([name]), each)
