"""Read and write JSON Lines: places of errors, resuming after a crash, equal bytes."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradegpt.core import records
from gradegpt.core.errors import InputError, OutputError, TooLargeError
from gradegpt.core.records import (
    ResumableWriter,
    dump,
    parse_line,
    read_rows,
    whole_file,
    whole_folder,
    write_rows,
)
from gradegpt.core.schema import AnswerType, Item, Judgement, Outcome, Verdict

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def _write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{}", "reference: field required; response: field required"),
        ('{"reference": "4", "response": 4}', "response: expected text"),
        ('{"reference": [], "response": ""}', "reference: expected at least one entry"),
        ('{"reference": "4", "response": "4", "answer": 4}', "answer: unknown field"),
        (
            '{"reference": "4", "response": "4", "tolerance": "5%"}',
            "tolerance: '5%' is no policy for numbers; use exact, auto, ",
        ),
        ('{"reference": "4", "response": "4"', "not a JSON object (Expecting"),
        ("4", "int instead of a JSON object"),
        ("[" * 100_000, "not a JSON object ("),
    ],
    ids=["empty", "number", "no reference", "unknown", "tolerance", "torn", "scalar", "deep"],
)
def test_an_error_names_file_line_and_field(tmp_path: Path, line: str, message: str) -> None:
    """Blank lines are counted, so the number is that of an editor."""
    path = _write(tmp_path / "items.jsonl", f'{{"reference": "4", "response": "4"}}\n\n{line}\n')
    rows = read_rows(path, Item)
    assert next(rows).reference == ("4",)
    with pytest.raises(InputError, match=rf"^{re.escape(str(path))}:3: {re.escape(message)}"):
        next(rows)


def test_a_line_over_the_limit_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row is one answer."""
    monkeypatch.setattr(records, "MAX_LINE_BYTES", 10)
    with pytest.raises(TooLargeError, match=r"^f:1: the line has 13 bytes; at most 10 are allowed"):
        parse_line(b'{"a": "1234"}', "f:1")


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (rb'{"a": "\ud83d\ude00"}', {"a": "😀"}),
        (rb'{"a": "x\ud83d"}', {"a": "x\ufffd"}),
        (b'{"a": 1}\r\n', {"a": 1}),
        ('{"题": "中"}'.encode(), {"题": "中"}),
    ],
    ids=["byte order mark", "surrogate pair", "half a pair", "windows", "chinese"],
)
def test_other_programs_json_is_read(raw: bytes, value: dict[str, object]) -> None:
    """Half a surrogate pair, which UTF-8 cannot encode, becomes a replacement character."""
    assert parse_line(raw, "f:1") == value


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_a_line_is_one_line_and_reads_back(row: dict[str, object]) -> None:
    """Any JSON object, also with line separators in its texts."""
    line = dump(row)
    assert "\n" not in line
    assert dump(row) == line
    assert parse_line(line.encode(), "f:1") == row


def test_equal_rows_are_equal_bytes() -> None:
    """Keys have the order of the class, Chinese is not escaped."""
    values = {"verdict": Verdict.CORRECT, "method": "rules", "outcome": Outcome.JUDGED, "id": "一"}
    judgement = Judgement.model_validate(values | {"answer_type": AnswerType.NUMBER})
    again = Judgement.model_validate(dict(reversed(values.items())) | {"answer_type": "number"})
    assert dump(judgement) == dump(again)
    assert dump(judgement).startswith('{"id": "一", "outcome": "judged", "verdict": "correct", ')


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    """An error while writing leaves the old file and no temporary one."""
    path = tmp_path / "deep" / "rows.jsonl"
    assert write_rows(path, [{"a": 1}, {"a": 2}]) == 2

    def broken() -> object:
        yield {"a": 3}
        raise ValueError("half-way")

    with pytest.raises(ValueError, match="half-way"):
        write_rows(path, broken())  # type: ignore[arg-type]
    assert path.read_text() == '{"a": 1}\n{"a": 2}\n'
    assert [p.name for p in path.parent.iterdir()] == ["rows.jsonl"]


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    """An error while writing leaves no folder, and an existing one is not overwritten."""
    path = tmp_path / "deep" / "model"
    with pytest.raises(FileExistsError), whole_folder(path) as made:
        made.mkdir()
    assert not [*path.parent.iterdir()]
    path.mkdir()
    with whole_folder(path) as made:
        (made / "a.txt").write_text("a")
        assert not [*path.iterdir()]
    assert [p.name for p in path.iterdir()] == ["a.txt"]
    assert [*path.parent.iterdir()] == [path]
    for taken in (path, path / "a.txt"):
        with pytest.raises(OutputError, match="exists already; choose another folder"):
            whole_folder(taken).__enter__()


@pytest.mark.parametrize("name", [".", "file/new", "file/deep/new"])
@pytest.mark.parametrize("write", [whole_file, whole_folder, ResumableWriter])
def test_an_output_that_cannot_be_written_is_an_error_with_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Any, name: str
) -> None:
    """It says why and what to do; an empty folder can become a folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    given = (Path(name), "fingerprint") if write is ResumableWriter else (Path(name),)
    with pytest.raises(OutputError) as caught, write(*given):
        pass
    message = str(caught.value)
    why = "is a folder; give|exists already; choose"
    if name != ".":
        why = r"cannot be written \((not a folder|Not a directory)\); choose another path$"
    assert re.match(rf"{re.escape(name)}: ({why})", message)


def test_an_error_of_another_file_is_not_one_of_the_output(tmp_path: Path) -> None:
    """Such as an input that vanishes; a full disk, which has no name, is one of the output."""
    with pytest.raises(FileNotFoundError), whole_file(tmp_path / "out.csv"):
        (tmp_path / "in.csv").read_text()
    full = OSError(errno.ENOSPC, "No space left on device")
    says = r"out\.csv: cannot be written \(No space left"
    with pytest.raises(OutputError, match=says), whole_file(tmp_path / "out.csv"):
        raise full
    assert not [*tmp_path.iterdir()]
