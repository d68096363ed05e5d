"""How logs are recognised and read: what is in a file, and the values that logs have in common."""

from __future__ import annotations

import ast
import math
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from gradegpt.answers.options import LETTERS
from gradegpt.core.errors import InputError
from gradegpt.core.records import parse_json, validate
from gradegpt.core.schema import Item
from gradegpt.tables import Form, Table, TableRow, as_cell, sniffed

T = TypeVar("T")
_HEAD: Final = 65_536
_TABLES: Final = (Form.CSV, Form.TSV, Form.XLSX)


class Contents(NamedTuple):
    """What is in a file: ``lines`` of JSON, a ``json`` document, a ``zip``, or a ``table``.

    ``value`` is the first object of JSON Lines or the whole JSON document; ``names`` are the
    columns of a table, the members of a zip, or the keys of ``value``.
    """

    form: str
    names: frozenset[str] = frozenset()
    value: Any = None

    def is_document(self, *keys: str) -> bool:
        """Whether it is a JSON document with all these keys, on one line or several."""
        return self.form in ("json", "lines") and self.names.issuperset(keys)


Read = Item | str
"""A response of a log as an item; or the reason why a row cannot be graded again.

The item's ``meta`` has its ``task``, its ``old_scores`` (the number, or None, of each metric),
``where`` it is in the log, and perhaps why it is ``unscored``.
"""
LoggedFields = dict[str, Any]
"""``id``, or ``name`` within the task; ``question``, ``reference``, ``response``, ``metric`` and
``old``; perhaps ``task``, ``context``, ``needs``, and in ``unscored`` why there is no ``old``."""


class Tool(NamedTuple):
    """A kind of log: how it is recognised, and how it is read."""

    name: str
    fits: Callable[[Contents], bool]
    read: Callable[[Path], Iterator[Read]]


def contents_of(path: Path) -> Contents:
    """Find what is in a file, from its contents and never from its name.

    Raises:
        MissingError: the file is a workbook, and openpyxl is not installed.

    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"{", b"[")):
        return _json(path)
    if head.startswith(b"PK\x03\x04"):
        with suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as packed:
            members = packed.namelist()
            if "xl/workbook.xml" not in members:
                return Contents("zip", frozenset(members))
    if sniffed(path) not in _TABLES:
        return Contents("other")
    try:
        rows = (row for _, row in _table(path).rows() if not isinstance(row, str))
        return Contents("table", frozenset(next(rows, ())))
    except InputError:  # which the reader of tables will report
        return Contents("table")


def _json(path: Path) -> Contents:
    with path.open("rb") as file:
        first = _parsed(next((line for line in file if not line.isspace()), b""))
    if isinstance(first, dict):
        return Contents("lines", frozenset(first), first)
    value = _parsed(path.read_bytes())
    head = value[0] if isinstance(value, list) and value else value
    return Contents("json", frozenset(head), value) if isinstance(head, dict) else Contents("other")


def _parsed(raw: bytes) -> Any:
    with suppress(ValueError, RecursionError):
        return parse_json(raw)


def _table(path: Path) -> Table:
    return Table.of(path, form=sniffed(path))


def rows_of(path: Path) -> Iterator[tuple[str, TableRow]]:
    """``(where, row)`` of JSON Lines or of a table, whose cells are texts.

    Raises:
        InputError: a row that cannot be read; the message begins with its place.
        MissingError: the file is a workbook, and openpyxl is not installed.

    """
    table = _table(path)
    for where, row in table.valid():
        of_text = table.form in _TABLES
        yield where, {name: as_cell(cell) for name, cell in row.items()} if of_text else row


def document(path: Path) -> Any:
    """A JSON document.

    Raises:
        InputError: not JSON.

    """
    try:
        return parse_json(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error})") from error


def each(
    rows: Iterable[tuple[str, T]], read: Callable[[T, str, str], LoggedFields | str], task: str
) -> Iterator[Read]:
    """Every row as an item with its old score; ``task`` is that of rows that do not state theirs.

    ``read`` takes a row, its place and the task, and returns its fields, or the reason why it
    cannot be graded again.

    Raises:
        InputError: a row without a field that its tool always writes, or with another type.

    """
    for where, row in rows:
        try:
            found = read(row, where, task)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            what = f"{type(error).__name__}: {error}"
            raise InputError(f"{where}: not in the form that this tool writes ({what})") from error
        yield found if isinstance(found, str) else _item(where, {"task": task} | found)


def _item(where: str, found: LoggedFields) -> Read:
    """A row as an item with its old score; without a reference or a response it is left out."""
    accepted, response = references(found["reference"]), found["response"]
    if response is None or not accepted:
        return "no response text" if response is None else "no reference answer"
    solution, final = _final(accepted)
    values = {
        "id": found["id"] if "id" in found else f"{found['task']}/{found['name']}",
        "question": found["question"], "reference": final, "response": response,
        "context": found.get("context") or None,
        "needs": found.get("needs") if len(final) > 1 else None, "solution": solution,
        "meta": {
            "task": found["task"], "old_scores": {found["metric"]: score(found["old"])},
            "where": where.rsplit("/", 1)[-1],  # a log that was moved has the same items
        } | ({"unscored": found["unscored"]} if found.get("unscored") else {}),
    }  # fmt: skip
    return validate(Item, values, where)


def references(value: Any) -> tuple[str, ...]:
    """The reference answers in a value, one or several, without empty ones."""
    many = value if isinstance(value, list | tuple) else [value]
    texts = [str(v).strip() for v in many if isinstance(v, str | int | float)]
    return tuple(text for text in texts if text)


def listed(value: Any) -> Any:
    """The texts of a list that was written as Python shows it, or any other value unchanged.

    >>> listed("['red', 'crimson']"), listed("[1, 2]")
    (['red', 'crimson'], '[1, 2]')
    """
    if not (isinstance(value, str) and value.startswith("[") and value.endswith("]")):
        return value
    try:
        texts = ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value
    every = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    return list(dict.fromkeys(texts)) if every else value


def _final(accepted: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    # GSM8K's references are a solution, "####" and the answer; tools copy them unchanged.
    if len(accepted) == 1 and "####" in accepted[0]:
        solution, answer = (part.strip() for part in accepted[0].rsplit("####", 1))
        return solution, (answer or accepted[0],)
    return "", accepted


def score(value: Any) -> float | None:
    """A flag, a number or the text of either as a number; None for anything else."""
    if isinstance(value, str):
        flags = {"true": True, "false": False}
        value = flags.get(value.strip().lower(), value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def text(content: Any) -> str:
    """The text of a message's content: a string, or the texts among its parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(part for part in texts if isinstance(part, str))


def question_and_context(messages: Any) -> tuple[str, str | None]:
    """The last user turn, and the turns before it, without a system prompt."""
    if isinstance(messages, str):
        return messages, None
    turns = [m for m in messages or () if isinstance(m, dict) and m.get("role") != "system"]
    users = [n for n, turn in enumerate(turns) if turn.get("role") == "user"]
    if not users:
        return "", None
    before = "\n\n".join(text(turn.get("content")) for turn in turns[: users[-1]])
    return text(turns[users[-1]].get("content")), before or None


def with_options(question: str, options: Sequence[str]) -> str:
    """The question with its options below it, each with its letter."""
    lettered = zip(LETTERS, options, strict=False)
    return "\n".join([question, *(f"{letter}. {option}" for letter, option in lettered)])
