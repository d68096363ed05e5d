"""Tables: the same rows from every form of file, and errors with their place."""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradegpt import tables
from gradegpt.core.errors import InputError, MissingError
from gradegpt.core.records import whole_file
from gradegpt.core.schema import Verdict
from gradegpt.judges.rules import RuleJudge
from gradegpt.tables import Form, Table, each_row, files, form_of, opened, sniffed
from gradegpt.tables.binary import LONGEST, too_long
from gradegpt.tables.inputs import check_input

Write = Callable[[str, str], str]
ROWS = [{"question": "1+1=?", "answer": "2"}, {"question": '"甲,\n乙"？', "answer": "甲"}]


COLUMNS = list(ROWS[0])
WRITTEN = [form for form in Form if form is not Form.JSONL]


@pytest.fixture(name="write")
def _write(tmp_path: Path) -> Write:
    """Write a file of that name and content; its path."""

    def made(name: str, content: str) -> str:
        (tmp_path / name).write_text(content, encoding="utf-8")
        return str(tmp_path / name)

    return made


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def save(path: Path, form: Form, columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> None:
    with whole_file(path) as out:
        tables.write(out, form, columns, rows)


def read(path: Path, form: Form) -> Iterable[tuple[int, Any]]:
    return Table.of(path, form=form).rows()


@pytest.mark.parametrize(
    ("name", "content", "places"),
    [
        ("t.jsonl", lines(ROWS), [":1", ":2"]),
        ("t.json", json.dumps(ROWS), [": row 1", ": row 2"]),
        ("rows.json", json.dumps({"title": "x", "tags": [], "of": ROWS}), [": row 1", ": row 2"]),
        ("t.csv", 'question,answer\n1+1=?,2\n"""甲,\n乙""？",甲\n', [":2", ":3"]),
        ("t.tsv", 'question\tanswer\n1+1=?\t2\n\n"""甲,\n乙""？"\t甲\n', [":2", ":4"]),
    ],
)
def test_the_same_rows_are_read_from_every_form_of_table(
    name: str, content: str, places: list[str], write: Write
) -> None:
    """Each with the file and the line or row."""
    path = write(name, content)
    read = list(each_row(path))
    assert [row for _, row in read] == ROWS
    assert [where for where, _ in read] == [f"{path}{place}" for place in places]


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [("a.jsonl", '{"a": 1}\nno\n', "a.jsonl:2: not a JSON object"),
     ("a.json", '[\n{"a": 1},\n]', "a.json:3: not JSON"),
     ("a.json", "7", "a.json: expected a list of objects"),
     ("a.json", '[{"a": 1}, 2]', "a.json: row 2: int instead of an object"),
     ("a.json", '{"a": [{"x": 1}], "b": [{"x": 1}]}', "2 lists of rows"),
     ("a.csv", "q,a\n1,2\n1,2,3\n", "a.csv:3: 3 cells under 2 columns"),
     ("a.csv", 'q,a\n"x"y,2\n', "a.csv:2: not a readable table"),
     ("a.jsonl", "q,a\n1,2\n", "a.jsonl:1: not JSON; if it is a CSV file, name it .csv"),
     ("a.parquet", "PAR0", "a.parquet: not a readable Parquet file"),
     ("a.csv", "q,a,q\n1,2,3\n", "a.csv: the column 'q' occurs twice; rename one of them"),
     ("a.xlsx", "PK", "a.xlsx: not a readable workbook (File is not a zip file)"),
     ("a.csv", "q,a\n题目,答案\n1,\udcff\n", "a.csv:3: not UTF-8 (invalid start byte); save"),
     ("a.xls", "", "a.xls: unknown suffix '.xls'; save it as .jsonl")],
)  # fmt: skip
def test_the_error_of_a_broken_table_has_its_place(
    name: str, content: str, complaint: str, tmp_path: Path
) -> None:
    """The message says file, line or row, and what to do."""
    (tmp_path / name).write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(InputError) as caught:
        list(each_row(str(tmp_path / name)))
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("value", "row"),
    [(ROWS[0] | {"options": ["1", "2"]},) * 2, ({"7": {"a": "2"}}, {"id": "7", "a": "2"})],
)
def test_a_json_object_may_hold_one_row_or_rows_by_their_ids(
    value: dict[str, Any], row: dict[str, Any], write: Write
) -> None:
    """MATH has a file per problem, OpenCompass has predictions by id."""
    assert [row for _, row in each_row(write("t.json", json.dumps(value)))] == [row]


CLASS = [
    {"学号": f"2026{n:02}", "题目": "法国的首都是哪里？", "参考答案": "巴黎", "学生答案": given}
    for n, given in enumerate(("答案是巴黎。", "里昂", "巴黎", "我不知道"))
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk", "gb18030", "utf-16"])
@pytest.mark.parametrize("form", ["csv", "tsv", "semicolons.csv", "jsonl", "json"])
def test_a_text_is_read_in_its_encoding_with_its_separator(
    form: str, encoding: str, tmp_path: Path
) -> None:
    """As a Windows program saves it; the encoding is said unless it is Unicode's usual one."""
    rows = CLASS
    separator = {"csv": ",", "tsv": "\t"}.get(form, ";")
    table = [[*rows[0]], *([*row.values()] for row in rows)]
    texts = {"jsonl": lines(rows), "json": json.dumps(rows, ensure_ascii=False)}
    joined = "".join(separator.join(cells) + "\r\n" for cells in table)
    path = tmp_path / f"class.{form}"
    path.write_bytes(texts.get(form, joined).encode(encoding))
    found = Table.of(path)
    assert [row for _, row in found.rows()] == rows
    assert [row for part in found.parts(3) for _, row in part.rows()] == rows
    said = {"gbk": "read as GB18030", "gb18030": "read as GB18030", "utf-16": "read as UTF-16"}.get(
        encoding, ""
    )
    assert found.layout.description.startswith(said)
    assert ("separated by ';'" in found.layout.description) is (form == "semicolons.csv")


def test_the_files_of_a_pattern_are_in_order(write: Write, tmp_path: Path) -> None:
    """A pattern that matches nothing is an error."""
    paths = tuple(write(name, lines(ROWS)) for name in ("a.jsonl", "b.jsonl"))
    assert files(str(tmp_path / "*.jsonl")) == paths
    assert len(list(each_row(str(tmp_path / "*.jsonl")))) == 4
    for absent in ("*.csv", "c.jsonl"):
        with pytest.raises(MissingError, match="no such file"):
            files(str(tmp_path / absent))


@pytest.mark.parametrize(
    ("path", "how"), [("answers.jsonl", ", or .*: gradegpt example answers.jsonl"), ("x/a.csv", "")]
)
def test_a_file_of_the_readme_is_written_by_a_command(path: str, how: str) -> None:
    """The error of a missing one says which."""
    with pytest.raises(MissingError, match=f"{path}: no such file; check the path{how}$"):
        list(Table.of(path).rows())


@pytest.mark.parametrize(("path", "library"), [("t.parquet", "pyarrow"), ("t.xlsx", "openpyxl")])
def test_a_missing_library_is_an_error(
    path: str, library: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the command that installs it."""
    for module in (library, f"{library}.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingError, match=r" needs: pip install 'gradegpt\[tables\]'"):
        list(each_row(write(path, "")))


@pytest.mark.parametrize("form", WRITTEN)
def test_a_written_table_is_read_back(form: Form, tmp_path: Path) -> None:
    """In every form: with quotes, line ends, separators and texts like spreadsheet formulas."""
    rows = [*ROWS, {"question": "=1+1", "answer": "0.50\t, 'x'"}, {"question": "", "answer": "007"}]
    path = tmp_path / f"t.{form}"
    save(path, form, COLUMNS, iter(rows))
    again = [{k: v or "" for k, v in row.items()} for _, row in each_row(str(path))]
    assert again == rows
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


CELLS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(CELLS, CELLS), max_size=4), form=st.sampled_from(WRITTEN[:3]))
def test_any_text_is_read_back_from_forms_of_text(
    rows: list[tuple[str, str]], form: Form, tmp_path: Path
) -> None:
    """JSON, CSV and TSV: no character is lost or changed."""
    held = [{"a": one, "b": other} for one, other in rows]
    path = tmp_path / "t"
    save(path, form, ["a", "b"], held)
    assert [row for _, row in read(path, form)] == held


DAY = datetime.datetime(2026, 4, 3, tzinfo=datetime.UTC)
BIG = 10**30
TYPED = {"day": DAY, "raw": b"\xff\x00", "price": Decimal("1.50"), "days": [DAY.date()]}
TYPED_AS_TEXT = {"day": "2026-04-03 00:00:00+00:00", "raw": "(2 bytes)", "price": "1.50"}


def test_values_other_than_text_are_written_in_each_form(tmp_path: Path) -> None:
    """Text cells hold JSON; a workbook keeps numbers; a mixed Parquet column is text.

    So are dates, decimals, bytes and numbers beyond 64 bits, where the form has no such type.
    """
    rows = [{"a": 0.5, "b": ["x"], "c": 1}, {"a": None, "b": {"k": True}, "c": "one"}]
    wanted = {
        Form.CSV: [{"a": "0.5", "b": '["x"]', "c": "1"}, {"a": "", "b": '{"k": true}', "c": "one"}],
        Form.XLSX: [{"a": 0.5, "b": '["x"]', "c": 1}, {"a": "", "b": '{"k": true}', "c": "one"}],
        Form.PARQUET: [
            {"a": 0.5, "b": '["x"]', "c": "1"}, {"a": None, "b": '{"k": true}', "c": "one"},
        ],
        Form.JSON: rows,
    }  # fmt: skip
    for form, values in wanted.items():
        path = tmp_path / f"t.{form}"
        save(path, form, ["a", "b", "c"], rows)
        assert [row for _, row in read(path, form)] == values
        if form is not Form.PARQUET:
            save(path, form, list(TYPED), [TYPED])
            days = ["2026-04-03"]
            as_text = TYPED_AS_TEXT | {"days": days if form is Form.JSON else json.dumps(days)}
            assert [row for _, row in read(path, form)] == [as_text]
    save(tmp_path / "t", Form.PARQUET, ["day", "n"], [{"day": DAY, "n": BIG}])
    assert [*read(tmp_path / "t", Form.PARQUET)] == [(1, {"day": DAY, "n": str(BIG)})]


@pytest.mark.parametrize("form", Form)
def test_a_truth_value_is_read_from_every_form_as_the_text_of_a_csv(
    tmp_path: Path, form: Form
) -> None:
    """A workbook and JSON have values of their own for it."""
    said = [{"reference": value, "response": "TRUE"} for value in (True, False, "TRUE")]
    save(tmp_path / f"t.{form}", form, ["reference", "response"], said)
    with opened(str(tmp_path / f"t.{form}")) as table:
        items = [item for _, item in check_input(table).items()]
    assert [item.accepted[0].upper() for item in items] == ["TRUE", "FALSE", "TRUE"]
    verdicts = [one.verdict for one in RuleJudge().judge(items)]
    assert verdicts == [Verdict.CORRECT, Verdict.INCORRECT, Verdict.CORRECT]


def test_a_cell_of_a_long_response_is_read(write: Write) -> None:
    """Python's own limit is 131,072 characters."""
    path = write("t.csv", f"a\n{'x' * 200_000}\n")
    assert [len(row["a"]) for _, row in each_row(path)] == [200_000]


def test_the_rows_after_a_wrong_row_are_read(write: Write) -> None:
    """The wrong row is an error text in its place, in every form."""
    broken = {
        "t.jsonl": '{"a": "1"}\nno\n{"a": "2"}\n',
        "t.csv": "a\n1\n1,2\n2\n",
        "t.json": '[{"a": "1"}, 7, {"a": "2"}]',
    }
    for name, content in broken.items():
        rows = [row for _, row in Table.of(write(name, content)).rows()]
        assert [rows[0], rows[2]] == [{"a": "1"}, {"a": "2"}]
        assert isinstance(rows[1], str)


@pytest.mark.parametrize(
    ("content", "said", "line"),
    [
        ("Class 3b\na,b\n1,2\n", "left out above the header: Class 3b", 3),
        ("\n\na,b\n1,2\n", "left out above the header: blank lines", 4),
        ("Class 3b;\n;\na;b\n1;2\n",
         "cells separated by ';', left out above the header: Class 3b", 4),
        ("a,b\n1,2\n", "", 2),
    ],
)  # fmt: skip
def test_a_title_above_the_header_is_left_out_and_said(
    content: str, said: str, line: int, write: Write, tmp_path: Path
) -> None:
    """In a text and in a workbook, whose rows keep their numbers."""
    table = Table.of(write("t.csv", content))
    assert (table.layout.description, [*table.rows()]) == (said, [(line, {"a": "1", "b": "2"})])
    book = pytest.importorskip("openpyxl").Workbook()
    for cells in content.replace(";", ",").splitlines():
        book.active.append([cell or None for cell in cells.split(",")])
    book.save(tmp_path / "t.xlsx")
    table = Table.of(tmp_path / "t.xlsx")
    assert table.layout.description == said.rpartition("', ")[2]
    assert [*table.rows()] == [(line, {"a": "1", "b": "2"})]


@pytest.mark.parametrize(
    ("content", "columns"),
    [("question\nIs it a; or b?\nAnd c?\n", ["question"]),
     (",question\n0,a\n1,b\n", ["", "question"])],
)  # fmt: skip
def test_one_column_is_no_title(content: str, columns: list[str], write: Write) -> None:
    """Though its texts hold a separator, or rows have numbers."""
    first, _ = Table.of(write("t.csv", content)).rows()
    assert isinstance(first[1], dict)
    assert [*first[1]] == columns


def test_a_workbook_is_read_from_its_only_sheet_with_rows(tmp_path: Path) -> None:
    """With the sheet's row numbers; columns without a name are left out."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.create_sheet("empty")
    for cells in (["a", None, "b"], [1, "note", "x"], [None] * 3, [0.5, None, None]):
        book.active.append(cells)
    path = tmp_path / "t.xlsx"
    book.save(path)
    assert list(read(path, Form.XLSX)) == [(2, {"a": 1, "b": "x"}), (4, {"a": 0.5, "b": ""})]
    book["empty"].append(["a"])
    book.save(path)
    with pytest.raises(InputError, match="has the sheets 'Sheet', 'empty'; choose one by"):
        list(read(path, Form.XLSX))
    assert next(Table.of(path, sheet="Sheet").rows()) == (2, {"a": 1, "b": "x"})
    with pytest.raises(InputError, match="choose one by --sheet NAME"):
        list(Table.of(path, sheet="sheet").rows())


def test_a_date_that_is_shown_with_its_year_is_text(tmp_path: Path) -> None:
    """Without it may have been typed as 3/4, and is no answer."""
    openpyxl = pytest.importorskip("openpyxl")
    book, day = openpyxl.Workbook(), datetime.datetime(1949, 10, 1)  # noqa: DTZ001
    book.active.append(["whole", "time", "short"])
    book.active.append([day, day.replace(hour=15), day])
    book.active["C2"].number_format = "d-mmm"
    book.save(tmp_path / "t.xlsx")
    ((_, row),) = read(tmp_path / "t.xlsx", Form.XLSX)
    assert row == {"whole": "1949-10-01", "time": "1949-10-01 15:00:00", "short": day}


def test_control_characters_and_long_texts_in_a_workbook(tmp_path: Path) -> None:
    """Control characters are replaced; too long texts are found before anything is judged."""
    path = tmp_path / "t.xlsx"
    save(path, Form.XLSX, ["a"], [{"a": "x\x1by"}])
    assert list(read(path, Form.XLSX)) == [(2, {"a": "x\ufffdy"})]
    assert too_long({"a": "x" * LONGEST, "b": "x" * (LONGEST + 1)}) == "b"
    assert too_long({"a": "x" * LONGEST}) == ""


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (b"PAR1\x00", Form.PARQUET), (b"PK\x03\x04", Form.XLSX), (b' [{"a": 1}]', Form.JSON),
        (b'{\n "rows": []}', Form.JSON), (b'{"a": "x, y"}\n', Form.JSONL), (b"", Form.JSONL),
        (b"a,b\n", Form.CSV), (b"\xef\xbb\xbfa,b\tc,d\n", Form.TSV), (b"a word\n", Form.JSONL),
        ("a,b".encode("utf-16"), Form.CSV), (b"%PDF-1.4\n", None), (b"\xd0\xcf\x11\xe0\x00", None),
    ],
    ids=["parquet", "xlsx", "json", "json-object", "jsonl", "empty", "csv", "tsv", "words",
         "utf-16", "pdf", "xls"],
)  # fmt: skip
def test_a_file_without_a_known_suffix_is_recognised_by_its_first_bytes(
    content: bytes, form: Form, tmp_path: Path
) -> None:
    """By default as JSON Lines, whose reader reports errors."""
    (tmp_path / "t").write_bytes(content)
    assert sniffed(tmp_path / "t") is form
    assert form_of(tmp_path / "t") is None
    assert form_of("A.CSV") is Form.CSV


def test_standard_input_is_a_table_that_can_be_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its form is found by its first bytes; messages call it stdin."""
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"a,b\n1,2\n")))
    with opened("-") as source:
        assert list(source.rows()) == list(source.rows()) == [(2, {"a": "1", "b": "2"})]
        assert source.place(2) == "stdin:2"
    assert not source.path.exists()
