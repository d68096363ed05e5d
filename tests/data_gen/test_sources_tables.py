"""Tables: the same rows from every kind of file, and a broken one named with its place."""

from __future__ import annotations

import builtins
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from data_gen.sources import files, read_table
from gradegpt.errors import InputError, MissingError
from tests.data_gen.source_parts import Write, lines

ROWS = [{"question": "1+1=?", "answer": "2"}, {"question": '"甲,\n乙"？', "answer": "甲"}]


def parquet(path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(ROWS), path)


@pytest.mark.parametrize(
    ("name", "content", "places"),
    [
        ("t.jsonl", lines(ROWS), [":1", ":2"]),
        ("t.json", json.dumps(ROWS), [": row 1", ": row 2"]),
        ("object.json", json.dumps({"title": "x", "tags": [], "of": ROWS}), [": row 1", ": row 2"]),
        ("t.csv", 'question,answer\n1+1=?,2\n"""甲,\n乙""？",甲\n', [":2", ":3"]),
        ("t.tsv", 'question\tanswer\n1+1=?\t2\n\n"""甲,\n乙""？"\t甲\n', [":2", ":4"]),
        ("t.parquet", None, [": row 1", ": row 2"]),
    ],
)
def test_the_same_rows_come_from_every_kind_of_table(
    name: str, content: str | None, places: list[str], tmp_path: Path
) -> None:
    """Each with the file and the line or row where it stands."""
    path = tmp_path / name
    parquet(path) if content is None else path.write_text(content, encoding="utf-8")
    read = list(read_table(str(path)))
    assert [row for _, row in read] == ROWS
    assert [where for where, _ in read] == [f"{path}{place}" for place in places]


def test_a_json_object_may_hold_one_row_or_rows_by_their_ids(write: Write) -> None:
    """As MATH keeps a file a problem, and OpenCompass its predictions."""
    one = write("one.json", json.dumps(ROWS[0] | {"options": ["1", "2"]}))
    assert [row for _, row in read_table(one)] == [ROWS[0] | {"options": ["1", "2"]}]
    by_id = write("by_id.json", json.dumps({"7": {"prediction": "2"}}))
    assert [row for _, row in read_table(by_id)] == [{"id": "7", "prediction": "2"}]


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.jsonl", '{"a": 1}\nno\n', "a.jsonl:2: not a JSON object"),
        ("a.json", '[\n{"a": 1},\n]', "a.json:3: not JSON"),
        ("a.json", "7", "a.json: a int; expected a list"),
        ("a.json", '[{"a": 1}, 2]', "a.json: row 2: a int"),
        ("a.json", '{"a": [{"x": 1}], "b": [{"x": 1}]}', "2 lists of rows"),
        ("a.csv", "q,a\n1,2\n1,2,3\n", "a.csv:3: 3 cells under 2 columns"),
        ("a.csv", 'q,a\n"x"y,2\n', "a.csv:2: not a readable table"),
        ("a.parquet", "PAR0", "a.parquet: not a readable Parquet file"),
        ("a.xlsx", "", "a.xlsx: no reader for '.xlsx'; save it as .jsonl"),
    ],
)
def test_a_broken_table_is_named_with_its_place(
    name: str, content: str, complaint: str, write: Write
) -> None:
    """The message says file, line or row, and what to do."""
    path = write(name, content)
    with pytest.raises(InputError) as caught:
        list(read_table(path))
    assert complaint in str(caught.value)


def test_a_pattern_names_its_files_in_order(write: Write, tmp_path: Path) -> None:
    """A path that matches nothing is missing, not empty."""
    paths = tuple(write(name, lines(ROWS)) for name in ("a.jsonl", "b.jsonl"))
    assert files(str(tmp_path / "*.jsonl")) == paths
    assert len(list(read_table(str(tmp_path / "*.jsonl")))) == 4
    for absent in ("*.csv", "c.jsonl"):
        with pytest.raises(MissingError, match="no such file"):
            files(str(tmp_path / absent))


class Hub(ModuleType):
    """A stand-in for ``datasets`` that serves the rows or fails."""

    def __init__(self, failure: Exception | None = None) -> None:
        super().__init__("datasets")
        self.failure = failure
        self.asked: tuple[str, str | None] = ("", None)
        self.exceptions = type("exceptions", (), {"DatasetsError": type("E", (Exception,), {})})

    def load_dataset(self, name: str, config: str | None, *, streaming: bool) -> dict[str, Any]:
        assert streaming
        self.asked = (name, config)
        if self.failure:
            raise self.failure

        class Rows(list[dict[str, Any]]):
            features = ("question", "picture")

            def decode(self, enable: bool) -> list[dict[str, Any]]:
                assert not enable
                return ROWS

        return {"train": Rows([{"picture": "cannot be decoded"}]), "test": Rows()}


def test_a_hub_data_set_is_streamed_by_name_config_and_split(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of several splits one must be named: none is taken by default."""
    hub = Hub()
    monkeypatch.setitem(sys.modules, "datasets", hub)
    assert [row for _, row in read_table("hf:own/sums:main@train")] == ROWS
    assert hub.asked == ("own/sums", "main")
    with pytest.raises(InputError, match="name one of its splits: @train, @test"):
        list(read_table("hf:own/sums"))
    assert files("hf:own/sums") == ()


@pytest.mark.parametrize(
    ("failure", "error", "complaint"),
    [
        (ConnectionError("no\n route"), MissingError, r"\(no route\); check the name and the netw"),
        (ValueError("Config name is missing"), InputError, "Config name is missing; write hf:"),
    ],
)
def test_a_hub_that_does_not_answer_is_one_line(
    failure: Exception, error: type[Exception], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the data set, the cause and the way around."""
    monkeypatch.setitem(sys.modules, "datasets", Hub(failure))
    with pytest.raises(error, match=f"hf:own/sums: .*{complaint}"):
        list(read_table("hf:own/sums"))


@pytest.mark.parametrize(("path", "library"), [("t.parquet", "pyarrow"), ("hf:a/b", "datasets")])
def test_a_library_that_is_not_installed_is_named(
    path: str, library: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the command that installs it."""
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith(library):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingError, match=rf"needs {library}; .*gradegpt\[data\]"):
        list(read_table(path if path.startswith("hf:") else write(path, "")))


def test_importing_the_sources_loads_no_heavy_library() -> None:
    """They load when a table needs them."""
    heavy = "{'pyarrow', 'datasets', 'numpy', 'sympy'}"
    code = f"import sys, data_gen.sources; print({heavy} & {{*sys.modules}})"
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root
    )
    assert done.stdout.strip() == "set()"
