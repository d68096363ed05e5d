"""The forms of tables; a file's form is found by its suffix, else by its first bytes."""

from __future__ import annotations

import codecs
import csv
import importlib
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradegpt.core.errors import needs
from gradegpt.core.records import MAX_LINE_BYTES


class Form(StrEnum):
    """The file format of a table."""

    JSONL = "jsonl"
    JSON = "json"
    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"
    XLSX = "xlsx"


TableRow = dict[str, Any]
Rows = Iterator[tuple[int, TableRow | str]]
"""Rows with their number in the file. A text instead of a row is the error of that row."""

SUFFIXES: Final = {f".{form}": form for form in Form} | {".ndjson": Form.JSONL}
SEPARATED: Final = {Form.CSV: ",", Form.TSV: "\t"}
"""The forms whose cells are separated, each with its usual separator."""
UTF8: Final = "utf-8"
_BY_LINE: Final = frozenset((Form.JSONL, Form.CSV, Form.TSV))
_START: Final = 4_096
_HEAD: Final = 20
"""The rows among which a table has its header."""
_SAMPLE: Final = 2**20
_OF_JSON: Final = (str, int, float, list, tuple, dict)
_MARKS: Final = {
    codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
_OLDER: Final = ["gb18030", "big5", "cp1252"]
"""The encodings among which one is found for a text that is not Unicode."""
csv.field_size_limit(MAX_LINE_BYTES)  # for the whole process; the default is 128 KiB a cell


class Layout(NamedTuple):
    """What a file's form leaves open: the encoding, the separator of cells, a workbook's sheet.

    ``above`` are the texts of the rows above the header.
    """

    encoding: str = UTF8
    separator: str = ","
    sheet: str = ""
    above: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """What is unusual about it, for people; empty where nothing is."""
        names = {"utf-8-sig": "", UTF8: "", "cp1252": "Windows-1252"}
        encoding = names.get(self.encoding, self.encoding.upper())
        cells = f"cells separated by {self.separator!r}" if self.separator == ";" else ""
        title = " ".join(text for text in self.above if text) or "blank lines"
        above = f"left out above the header: {title}" if self.above else ""
        parts = (encoding and f"read as {encoding}", cells, above)
        return ", ".join(part for part in parts if part)


def layout_of(path: Path, form: Form, sheet: str = "") -> Layout:
    """The encoding and the separator of a file, found in its text."""
    if not path.is_file() or form in (Form.PARQUET, Form.XLSX):
        return Layout(sheet=sheet)
    encoding = encoding_of(path)
    if form not in SEPARATED:
        return Layout(encoding)
    with path.open(encoding=encoding, errors="replace", newline="") as lines:
        head = [*islice(lines, _HEAD)]
    rows = {s: [*csv.reader(head, delimiter=s)] for s in (SEPARATED[form], ",", ";", "\t")}
    above = {s: above_header(of) for s, of in rows.items()}

    def likely(separator: str) -> tuple[bool, int]:
        cells = len(next(iter(rows[separator][len(above[separator]) :]), []))
        return cells > 1 and not any(above[separator]), cells

    best = max(rows, key=likely)
    return Layout(encoding, best, above=above[best])


def above_header(rows: Iterable[Sequence[Any]]) -> tuple[str, ...]:
    """The texts of the rows above the header: blank ones, and titles, which have the first cell.

    The row below the header has as many cells, unlike text that only holds the separator.

    >>> above_header([["Class 3b", ""], [], ["question", "response"], ["2+2=?", "4"]])
    ('Class 3b', '')
    >>> above_header([["question"], ["2+2=?"]])
    ()
    """
    head = [*islice(rows, _HEAD)]
    texts = [[str(cell) for cell in row if cell not in (None, "")] for row in head]
    first = next((n for n, cells in enumerate(texts) if cells), 0)
    header = first
    if texts and [*head[first][:1]] == texts[first]:
        below = (n for n in range(first, len(head) - 1) if texts[n][1:])
        header = next((n for n in below if len(head[n]) == len(head[n + 1])), first)
    return tuple("".join(cells) for cells in texts[:header])


def encoding_of(path: Path) -> str:
    """The encoding of a text: by its mark, UTF-8 if it is, else as charset-normalizer finds it.

    A text of which only a few bytes are not UTF-8 is taken for damaged UTF-8.
    """
    with path.open("rb") as file:
        start = file.read(_SAMPLE)
        marked = next((name for mark, name in _MARKS.items() if start.startswith(mark)), "")
        if marked or _is_utf8(start, file):
            return marked or UTF8
    from charset_normalizer import from_bytes

    wrong = len(start) - len(start.decode(errors="ignore").encode())
    if 4 * wrong < sum(byte > 127 for byte in start):
        return UTF8
    best = from_bytes(start, cp_isolation=_OLDER).best()
    return best.encoding if best else UTF8


def _is_utf8(start: bytes, rest: Any) -> bool:
    decoder, part = codecs.getincrementaldecoder(UTF8)(), start
    try:
        while part:
            decoder.decode(part)
            part = rest.read(_SAMPLE)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def form_of(path: str | Path) -> Form | None:
    """The form that the suffix names."""
    return SUFFIXES.get(Path(path).suffix.lower())


def sniffed(path: Path) -> Form | None:
    """The form of a file without a known suffix, by its first bytes; JSON Lines by default.

    None for what is no text, such as a PDF or an old Excel file.
    """
    start = b""
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(_START)
    if start.startswith(b"PAR1"):
        return Form.PARQUET
    if start.startswith(b"PK\x03\x04"):
        return Form.XLSX
    mark = next((mark for mark in _MARKS if start.startswith(mark)), b"")
    if start.startswith(b"%PDF") or (b"\0" in start and not mark):
        return None
    text = start.decode(_MARKS.get(mark, UTF8), "ignore").lstrip()
    if text.startswith(("[", "{\n", "{\r\n")):
        return Form.JSON
    head = text.partition("\n")[0]
    if text.startswith("{") or not any(separator in head for separator in ",;\t"):
        return Form.JSONL
    return Form.TSV if "\t" in head else Form.CSV


def plain(value: Any) -> Any:
    """A value that JSON can hold: bytes as their number, dates, decimals and the like as text."""
    if isinstance(value, bytes):
        return f"({len(value):,} bytes)"
    return value if value is None or isinstance(value, _OF_JSON) else str(value)


def place(name: str, form: Form, number: int) -> str:
    """The place of a row: ``file:line``, or ``file: row n`` where rows are not lines."""
    return f"{name}:{number}" if form in _BY_LINE else f"{name}: row {number}"


def library(module: str, name: str) -> Any:
    """A module; raises ``MissingError``, which begins with ``name``, where it is not installed."""
    with needs(name, "gradegpt[tables]"):
        return importlib.import_module(module)
