"""Columns of a user's rows -> fields of an item: exact names first, then the usual other names.

This is the only place that decides which column is the reference. ``--map field=column`` names one,
with dots for nested values. A field that two columns may hold is an error. Other columns are left
alone; one whose name is nearly that of a field is said.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, time
from numbers import Number
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from gradegpt.answers.accepted import accepted_answers
from gradegpt.core.complaints import Complaint
from gradegpt.core.errors import ColumnsError, InputError, SettingsError
from gradegpt.core.mistakes import complaints, misspelt, suggest
from gradegpt.core.records import parse_json
from gradegpt.core.schema import Item

ALIASES: Final[dict[str, tuple[str, ...]]] = {
    "id": ("uid", "uuid", "idx", "index", "questionid", "sampleid", "itemid", "编号"),
    "question": (
        "problem", "query", "prompt", "input", "instruction", "questiontext",
        "问题", "题目", "题干",
    ),
    "reference": (
        "answer", "gold", "golden", "target", "groundtruth", "goldanswer", "goldenanswer",
        "referenceanswer", "correctanswer", "standardanswer", "finalanswer", "expected",
        "expectedanswer", "expectedoutput", "ideal", "references", "answers",
        "答案", "参考答案", "标准答案", "正确答案", "标答",
    ),
    "response": (
        "prediction", "output", "completion", "pred", "predicted", "predictedanswer",
        "modeloutput", "modelresponse", "modelanswer", "modelprediction", "generation",
        "generated", "generatedtext", "reply", "candidate", "candidateanswer", "studentanswer",
        "llmoutput", "llmresponse", "回答", "模型回答", "模型输出", "作答", "学生答案", "学生作答",
        "考生答案",
    ),
    "context": ("passage", "background", "材料"),
}  # fmt: skip
"""The usual other names of a field, without case, blanks and underscores."""
LABELS: Final = (
    "label", "verdict", "iscorrect", "correct", "correctness", "humanlabel", "humanverdict",
    "标签", "标注", "人工标注", "是否正确",
)  # fmt: skip
"""The usual names of a label's column. No judge sees one."""
LABEL: Final = "label"
ADDED: Final = (
    "verdict", "confidence", "outcome", "withheld", "method", "reason", "in_words", "answer",
)  # fmt: skip
"""The fields of a judgement that an output has as columns, and its reason in words."""

FIELDS: Final = tuple(Item.model_fields)


def key_of(name: object) -> str:
    """The letters and digits of a text, such as a column's name, without case."""
    return "".join(filter(str.isalnum, str(name).casefold()))


_USUAL: Final = {name: f for f in FIELDS for name in (key_of(f), *ALIASES.get(f, ()))}
REQUIRED: Final = ("reference", "response")
_MAIN: Final = ("question", *REQUIRED)
_TEXTS: Final = frozenset((*_MAIN, "id", "context", "solution", "steps", "parts"))
_STRUCTURED: Final = {
    "steps": "a list of texts",
    "parts": "a list of texts",
    "tests": 'the test cases of a program, [{"input": "1 2", "output": "3"}]',
    "tags": 'what the question is about, {"subject": "physics"}',
    "meta": "an object",
}
"""Fields that hold lists or objects: in a cell of text they are JSON."""
_NOT_EMPTY: Final = {"answer_type", "tolerance", "needs", "points", *_STRUCTURED}
"""Fields that an empty cell leaves out."""
_EXAMPLES: Final = 3
_SHOWN: Final = 60
"""Characters of a value that a message shows."""
_LONG: Final = 5
"""Letters of a name that may be misspelt: a shorter one is near too many others."""
_A_DATE: Final = (
    "a date, not text (spreadsheets turn 3/4 into a date)",
    "; format the cells as text and type them again",
)
_FAULT: Final = re.compile(r"#(?:N/A|NAME\?|REF!|VALUE!|DIV/0!|NULL!|NUM!)")
"""What a spreadsheet shows where a formula has no value."""
_WORD: Final = r"(?:[^\W\d_]{3,}|[\u3400-\u9fff]{2,})"
_BLANK: Final = re.compile(r"_{2,}|[(（]\s*[)）]")
_ALTERNATIVES: Final = re.compile(rf"{_WORD}[\w .'-]*?\s*(?P<sign>[/|;；])\s*{_WORD}[^=\\$]*")
"""A text like ``Batman/Superman``, and not like ``km/h``."""

Hint = Callable[[Mapping[str, str]], str]
"""How messages write the options that read fields from columns."""


def on_command_line(columns: Mapping[str, str]) -> str:
    """The options of a command."""
    return " ".join(f"--map {shlex.quote(f'{field}={name}')}" for field, name in columns.items())


def in_python(columns: Mapping[str, str]) -> str:
    """The argument of a function."""
    return f"columns={columns}"


Seen = Mapping[str, Sequence[Any]]
"""The columns of a table, in order, each with its first values."""


_NONE: Final[Mapping[str, Any]] = {}


class Columns(NamedTuple):
    """The column of each field of an item in ``fields``; "" for a field that no column holds.

    ``labels`` are the columns that may hold the label, ``names`` all of the table. A field without
    a column has its value of ``defaults``; ``also`` are the columns of what a command reads beside
    the item, such as a unit; ``separator`` is between the accepted answers in a cell.
    """

    fields: Mapping[str, str]
    labels: tuple[str, ...]
    names: tuple[str, ...]
    hint: Hint
    defaults: Mapping[str, Any] = _NONE
    also: Mapping[str, str] = _NONE
    separator: str = ""

    def label(self, table: str) -> str | None:
        """The column of the label; None where there is none.

        Raises:
            InputError: several columns may hold it; the message begins with ``table``.

        """
        if len(self.labels) > 1:
            ways = " or ".join(self.hint({LABEL: column}) for column in self.labels)
            what = f"`label` may be any of {', '.join(self.labels)}; use {ways}"
            raise InputError(f"{table}: {what}")
        return next(iter(self.labels), None)

    def text(self, row: Mapping[str, Any], name: str) -> str:
        """The text of a field, or of what is read beside an item; empty for nothing."""
        value = dig(row, self.also.get(name) or self.fields.get(name, ""))
        return "" if _is_nothing(value) else str(value)

    @property
    def own(self) -> list[str]:
        """The names of the columns without those that ``gradegpt judge`` added."""
        return _own(self.names)

    @property
    def free(self) -> list[str]:
        """The table's own columns that hold neither a field nor a label."""
        taken = {*self.fields.values(), *self.labels, *self.also.values()}
        return [name for name in self.own if name not in taken]

    @property
    def beside(self) -> list[str]:
        """The same; none of a table that was judged."""
        return [] if self.is_judged else self.free

    @property
    def is_judged(self) -> bool:
        """Whether ``gradegpt judge`` or the server's page added columns."""
        return len(self.own) < len(self.names)

    @property
    def renamed(self) -> dict[str, str]:
        """The fields whose column has another name, with the column's name."""
        every = {**self.fields, **self.also}
        return {field: name for field, name in every.items() if field != name}

    @property
    def manifest(self) -> dict[str, Any]:
        """What the items depend on where not all columns have the names of their fields."""
        separator = {"separator": self.separator} if self.separator else {}
        return ({"columns": self.renamed} if self.renamed else {}) | separator

    @property
    def description(self) -> str:
        """The recognised columns in one line; empty where every column has its field's name."""
        told = {f: name for f, name in self.renamed.items() if name or f not in self.defaults}
        if len(self.labels) == 1 and LABEL not in self.labels:
            told[LABEL] = self.labels[0]
        return ", ".join(f"{field} = {name or '(none)'}" for field, name in told.items())

    @property
    def notes(self) -> list[str]:
        """What a user should know: which columns were recognised, and which may have been meant.

        These are nearly named like a field, or usually hold the question, the reference or the
        response, which another column holds here. A field that is wanted from no column is not one.
        """
        meant = {name: _meant(key_of(name)) for name in self.free}
        lines = [f"columns: {self.description}"] if self.description else []
        return lines + [
            f"{name!r} is not read; to read it, use {self.hint({field: name})}"
            for name, field in meant.items() if field and self.fields.get(field, name)
        ]  # fmt: skip


def dig(value: Any, path: str) -> Any:
    """The value at a dotted path, or None.

    A number selects an element of a list; a name is looked up in every element. A column whose own
    name contains dots is found, too.

    >>> dig({"choices": [{"text": "4"}, {"text": "5"}]}, "choices.text")
    ['4', '5']
    >>> dig({"solution": ["first", "second"]}, "solution.0")
    'first'
    """
    if isinstance(value, dict) and path in value:
        return value[path]
    head, _, rest = path.partition(".")
    if isinstance(value, dict):
        return dig(value[head], rest) if rest and head in value else None
    if not isinstance(value, list):
        return None
    if not head.isdecimal():
        found = [dig(element, path) for element in value]
        return [each for each in found if each is not None] or None
    element = value[int(head)] if int(head) < len(value) else None
    return dig(element, rest) if rest else element


def has_column(row: Iterable[str], path: str) -> bool:
    """Whether the names of a row's columns have that one, or the one that a dotted path begins."""
    return path in row or path.partition(".")[0] in row


def survey(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The columns of ``rows``, in order of appearance, each with its first three values."""
    seen: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            values = seen.setdefault(name, [])
            if len(values) < _EXAMPLES:
                is_empty = _is_nothing(value) or (isinstance(value, str) and not value)
                values.extend([] if is_empty else [value])
    return seen


def joined(surveys: Iterable[Seen]) -> dict[str, list[Any]]:
    """The survey of a table from those of its parts, in order."""
    seen: dict[str, list[Any]] = {}
    for part in surveys:
        for name, values in part.items():
            held = seen.setdefault(name, [])
            held += values[: _EXAMPLES - len(held)]
    return seen


def recognise(
    seen: Seen,
    given: Mapping[str, str] | None = None,
    *,
    name: str,
    hint: Hint = in_python,
    also: Sequence[str] = (),
    separator: str = "",
    required: Sequence[str] = (),
) -> Columns:
    """Find the fields among the columns: those ``given``, then exact names, then usual ones.

    The columns that ``gradegpt judge`` added to a table hold neither a field nor a label.

    Args:
        seen: The columns, as ``survey`` returns them.
        given: Fields and the columns that hold them, "" for none; ``label`` may be among them.
        name: What messages call the table.
        hint: How messages name the option that helps.
        also: What is read beside the fields of an item, by its exact name unless ``given``.
        separator: What is between the accepted answers in a cell; "" for one answer.
        required: The fields without which no row can be used.

    Raises:
        SettingsError: ``given`` names an unknown field or column.
        ColumnsError: no column, or any of several, holds a field; the message has every such field,
            and three values of each column.

    """
    given = dict(given or {})
    _check(given, seen, name, (*FIELDS, LABEL, *also))
    beside = {one: given.pop(one, one) for one in also if one in {*given, *seen}}
    label = [given.pop(field) for field in [*given] if _is_label(field)]
    fields = {field: given.get(field, field) for field in FIELDS if field in {*given, *seen}}
    absent = {field for field, column in fields.items() if not column}
    taken = {*fields.values(), *absent, *label, *beside}
    left = [column for column in _own(seen) if column not in taken]
    unclear = dict[str, list[str]]()
    for field in FIELDS:
        found = [column for column in left if _USUAL.get(key_of(column)) == field]
        if field not in fields and found:
            fields[field] = found[0]
            unclear |= {field: found} if found[1:] else {}
    usual = [column for column in left if _is_label(column) and column not in fields.values()]
    exact = [column for column in (LABEL, "verdict") if column in usual]
    labels = tuple(column for column in label or exact[:1] or usual if column)
    columns = Columns(fields, labels, tuple(seen), hint, also=beside, separator=separator)
    told = [_ambiguous(field, found, seen, name, hint) for field, found in unclear.items()]
    missing = [field for field in required if field not in fields] if seen else []
    named = _named(columns, missing, given) if missing else {}
    told += [_missing(columns, missing, named, seen, name)] if missing else []
    if told:
        raise ColumnsError("\n".join(told), hint(named))
    return columns


def with_fields(row: Any) -> Any:
    """A row, such as a request's, with the ``values_of`` its fields and without its label.

    Raises:
        InputError: two columns may hold one field.

    """
    if not isinstance(row, dict) or row.keys() <= {*FIELDS}:
        return values_of(row) if isinstance(row, dict) else row
    columns = recognise(survey([row]), name="row")
    fields = {column: field for field, column in columns.fields.items()}
    named = {n: value for n, value in row.items() if n not in columns.labels}
    return values_of({fields.get(name) or name: value for name, value in named.items()})


def read_item(
    row: Mapping[str, Any], columns: Columns, number: int | str
) -> tuple[Item | None, list[Complaint]]:
    """The item of a row, or none with at least one complaint.

    Numbers and flags are read as text, and no response as an empty one. A row without an ``id``
    gets its ``number``.
    """
    held = {
        field: dig(row, name)
        for field, name in columns.fields.items() if name and has_column(row, name)
    }  # fmt: skip
    if columns.separator and "reference" in held:
        held["reference"] = accepted(held["reference"], columns.separator)
    wrong = [Complaint(columns.fields[f], *w) for f in held if (w := _no_text(f, held[f]))]
    try:
        item = Item.model_validate({**columns.defaults, **values_of(held)})
    except ValidationError as error:
        explained = dict.fromkeys(_explained(text, columns) for text in complaints(error))
        return None, wrong + list(explained)
    if wrong:
        return None, wrong
    return (item if item.id else item.model_copy(update={"id": str(number)})), []


def accepted(reference: Any, separator: str) -> Any:
    """The accepted answers: as they are, or a text split at ``separator``."""
    if not isinstance(reference, str) or not separator:
        return reference
    return accepted_answers(reference, separator) or reference


def looks_like_several(item: Item) -> bool:
    """Whether an item's only reference seems to list several answers."""
    found = _ALTERNATIVES.fullmatch(item.reference[0]) if len(item.reference) == 1 else None
    several = accepted_answers(item.reference[0], found["sign"]) if found else ()
    return len(several) > 1 and not has_blanks(item, len(several))


def has_blanks(item: Item, n: int) -> bool:
    """Whether the question has ``n`` blanks to be filled in, at least two."""
    return 1 < n == len(_BLANK.findall(item.question))


def _own(names: Iterable[str]) -> list[str]:
    """The columns of a table without those that ``gradegpt judge`` added, once or several times."""
    own = [*names]
    for field in ADDED:
        added = [name for name in own if re.fullmatch(rf"(?:judged_)*{field}", name)]
        if added:
            own.remove(max(added, key=len))
        elif field != "in_words":  # the page has it in its language
            return [*names]
    return _own(own)


def _is_label(name: str) -> bool:
    return key_of(name) in LABELS


def _meant(key: str) -> str:
    """The field that a column may have been meant for, though it is not read."""
    field = _USUAL.get(key, "")
    near = misspelt(key, _USUAL) if len(key) >= _LONG and not field else ""
    return _USUAL[near] if near else field if field in _MAIN else ""


def _check(given: Mapping[str, str], seen: Seen, name: str, fields: Sequence[str]) -> None:
    for field, column in given.items():
        if field not in fields and not _is_label(field):
            meant = _USUAL.get(key_of(field))
            near = f"; did you mean {meant!r}?" if meant else suggest(field, fields, cutoff=0.7)
            near = near or f"; use one of {', '.join(fields)}"
            raise SettingsError(f"map {field}={column}: there is no field {field!r}{near}")
        if column and not has_column(seen, column):
            near = suggest(column, list(seen), cutoff=0.7)
            what = f"there is no column {column!r}{near}; the columns are: {', '.join(seen)}"
            raise SettingsError(f"{name}: map {field}={column}: {what}")


def _ambiguous(field: str, found: Sequence[str], seen: Seen, name: str, hint: Hint) -> str:
    ways = " or ".join(hint({field: column}) for column in found)
    head = f"{name}: `{field}` may be any of {', '.join(found)}; use {ways}"
    return "\n  ".join([head, *(f"{column}: {_values(seen[column])}" for column in found)])


def _named(columns: Columns, missing: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
    """The fields to name, with the one column that may be meant, or else ``COLUMN``.

    Those that may be left out are among them, and those known by a usual name, which may have been
    meant for a missing one, so that one message is enough.
    """
    usual = {f: columns.fields[f] for f in _MAIN if f in columns.fields and f not in given}
    usual = {field: column for field, column in usual.items() if column != field}
    answered = "response" in missing or columns.fields.get("response")
    optional = ("question", LABEL) if answered else ("question",)
    known = {*columns.fields, *([LABEL] if columns.labels else [])}
    wanted = [f for f in (*_MAIN, LABEL) if f in missing or (f in optional and f not in known)]
    only = columns.free[0] if len(columns.free) == len(wanted) == 1 else "COLUMN"
    near = {_meant(key_of(column)): column for column in reversed(columns.free)}
    named = {field: near.get(field, only) for field in wanted} | usual
    return {field: named[field] for field in (*_MAIN, LABEL) if field in named}


def _missing(
    columns: Columns, missing: Sequence[str], named: Mapping[str, str], seen: Seen, name: str
) -> str:
    optional = " and ".join(field for field in named if field not in {*missing, *columns.fields})
    but = f" ({optional} may be left out)" if optional else ""
    head = f"{name}: no column is known as {' or '.join(missing)}; name it{but}:"
    held = {column: field for field, column in columns.fields.items()}
    shown = (
        f"{column}{f' = {held[column]}' if column in held else ''}: {_values(seen[column])}"
        for column in columns.own
    )
    return "\n  ".join([head, columns.hint(named), *shown])


def _values(values: Sequence[Any]) -> str:
    """Values in one line, with control characters escaped."""
    texts = (repr(value).replace(r"\u3000", " ") for value in values)
    return " | ".join(t if len(t) <= _SHOWN else f"{t[: _SHOWN - 1]}…" for t in texts) or "(empty)"


def _explained(text: str, columns: Columns) -> Complaint:
    place, separator, what = text.partition(": ")
    if not separator:
        return Complaint("", text)
    field = place.partition(".")[0]
    if field in _STRUCTURED:
        place, what = field, f"expected {_STRUCTURED[field]}"
    leave = f"; if it is something else, use {columns.hint({field: ''})} to leave it out"
    shown = f"{columns.fields.get(field) or field}{place.removeprefix(field)}"
    return Complaint(shown, what, leave if field in _NOT_EMPTY else "")


def values_of(held: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as an item takes them: no response is an empty one, other empty ones are left out."""
    values = {field: _field_value(field, value) for field, value in held.items()}
    if _is_nothing(values.get("response", "")):
        values["response"] = ""
    empty = {f for f, v in values.items() if _is_nothing(v) or (f in _NOT_EMPTY and v == "")}
    return {field: value for field, value in values.items() if field not in empty & {*FIELDS}}


def _field_value(field: str, value: Any) -> Any:
    """A value as an item takes it: a number or a flag as text where the field is text."""
    value = value.tolist() if hasattr(value, "tolist") else value  # NumPy's
    if field in _STRUCTURED and isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = parse_json(value.encode())
    return _as_text(value) if field in _TEXTS else value


def _as_text(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_as_text(held) for held in value]
    is_number = isinstance(value, Number) and not _is_nothing(value)  # also True
    return str(value) if is_number or isinstance(value, date | time) else value


def _no_text(field: str, value: object) -> tuple[str, ...]:
    """Why a cell is no text, and what to do; empty for one that is, or for another field."""
    if field not in _TEXTS:
        return ()
    is_fault = isinstance(value, str) and _FAULT.fullmatch(value)
    if isinstance(value, date | time):
        return _A_DATE
    return (f"{value}: a formula without a value",) if is_fault else ()


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
