"""Graded answers in a table with any column names -> examples, by a mapping in the settings."""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import AfterValidator, Field

from gradegpt.chains.chain import parse_prompt
from gradegpt.core.errors import InputError, MissingError
from gradegpt.core.mistakes import suggest
from gradegpt.core.records import validate
from gradegpt.core.schema import AnswerType, Example, Item, Tolerance, TrainingRow, Verdict
from gradegpt.core.settings import Settings
from gradegpt.core.shipped import found
from gradegpt.tables import TableRow, form_of, opened
from gradegpt.tables.columns import FIELDS, Columns, accepted, dig, has_column, key_of, read_item
from gradegpt.tables.inputs import CheckedInput, check_input
from gradegpt.tables.labels import read_label

Split = Literal["train", "dev", "test"]
SplitPart = Split | Literal["fit", "calibrate"]
"""A split, or one of the two parts of ``train``: to fit a judge, and to calibrate it."""
_PARTS: Final[dict[SplitPart, tuple[float, float]]] = {
    "train": (0, 0.75), "dev": (0.75, 0.80), "test": (0.80, math.inf),
    "fit": (0, 0.625), "calibrate": (0.625, 0.75),
}  # fmt: skip
"""From which share of all questions on, and below which, a part has them."""
_SHOWN = 8
"""Values of a label's column that an error message shows."""
_DEFAULTS: Final = {
    "id": "id", "question": "question", "context": "context", "reference": "reference",
    "response": "response", "answer_type": "answer_type", "verdict": "label", "lang": "lang",
    "labelled_by": "label_by",
}  # fmt: skip
"""The columns of the fields that are read without being named. The other fields of an item are not:
in a file of another project such a column may hold anything."""
_BESIDE: Final[tuple[str, ...]] = ("lang", "labelled_by", "source")
_NAMES: Final = (*FIELDS, "verdict", *_BESIDE)


def _in_settings(columns: Mapping[str, str]) -> str:
    return f"fields: {json.dumps(columns, ensure_ascii=False)}"


def _known(fields: dict[str, str]) -> dict[str, str]:
    for field in fields:
        if field not in _NAMES:
            near = suggest(field, _NAMES, cutoff=0.7) or f"; use one of {', '.join(_NAMES)}"
            raise ValueError(f"there is no field {field!r}{near}")
    return fields


class PartSettings(Settings):
    """A table of any form, or one split of its questions, by a hash of each question's text.

    ``where`` keeps the rows with one of some values in a column: ``split=train|dev``.
    """

    path: Annotated[str, AfterValidator(found)]
    split: SplitPart | None = None
    where: Annotated[str, Field(pattern=r"^(?:[^=]+=.+)?$")] = ""

    def keeps(self, row: TableRow) -> bool:
        """Whether the row has one of the values of ``where``."""
        name, _, wanted = self.where.partition("=")
        return not name or str(dig(row, name)) in wanted.split("|")


class Source(PartSettings):
    """A file of graded answers, a table of any form (``gradegpt.tables``), and how to read it.

    ``fields: null`` means that the rows are this project's own: examples with their own source,
    tolerance and answer type; or training rows as ``data_gen`` writes them, each read as the
    example in its prompt, with its pattern as the source. For other files ``fields`` names the
    column of a field where it has another name, "" for none. Only answer types of ``AnswerType``
    are kept; set ``fields.answer_type`` to "" where the file's types mean something else. A label
    is read in the usual forms (``gradegpt.tables.labels``).

    ``split`` keeps one part of the questions (train 75 %, dev 5 %, test 20 %, by a hash of the
    question's text, so that all answers to a question are in the same part, in every file).
    ``sheet`` is one of a workbook; ``reference_separator`` splits accepted answers; ``tolerance``
    is the policy of all its rows; ``licence`` is noted in each training row. ``set_aside`` is a
    text file of lines ``id | why its label is wrong``: these rows are left out.
    """

    name: str = ""
    fields: Annotated[dict[str, str], AfterValidator(_known)] | None = Field(default={})
    sheet: str = ""
    reference_separator: str = ""
    tolerance: Tolerance | None = None
    set_aside: Annotated[str, AfterValidator(found)] | None = None
    licence: str = ""

    def column(self, field: str) -> str:
        """The column of a field; empty where the file has none."""
        return (_DEFAULTS | (self.fields or {})).get(field, "")

    @property
    def columns(self) -> Columns:
        """The columns of an item's fields, and of what is known beside them."""
        named = {field: name for field in _NAMES if (name := self.column(field))}
        fields = {field: named[field] for field in FIELDS if field in named}
        also = {field: named[field] for field in _BESIDE if field in named}
        return Columns(fields, (), (), _in_settings, also=also)

    @property
    def label(self) -> str:
        """The source's name in tables: ``name``, or the file's name without its suffix."""
        path = Path(self.path)
        return self.name or (path.stem if form_of(path) else path.name)


def source_of(answers: CheckedInput, label: str) -> Source:
    """A checked table as a source: the columns of an item, of the label, and of its metadata."""
    own = {field: answers.columns.fields.get(field, "") for field in FIELDS}
    others = {name: name if name in answers.columns.names else "" for name in _BESIDE}
    return Source(
        path=answers.table.name, sheet=answers.table.layout.sheet,
        reference_separator=answers.columns.separator, fields=own | others | {"verdict": label},
    )  # fmt: skip


def read_examples(source: Source) -> Iterator[Example]:
    """The labelled rows of a source, in order; rows without a label or a response are left out.

    Raises:
        MissingError: there is no such file, or no such ``set_aside``.
        InputError: a row without a mapped column, or with an unknown label; the message begins
            with ``file:line``.

    """
    with opened(source.path, source.sheet) as table:
        columns = source.columns
        rows = ((where, row) for where, row in table.valid() if source.keeps(row))
        examples = (_example(row, source, columns, where) for where, row in rows)
        aside = ids_in(source.set_aside)
        mine = (e for e in examples if e is not None and e.id not in aside and _in_split(e, source))
        yield from mine


def graded_answers(path: str, columns: Mapping[str, str]) -> list[Example]:
    """The labelled rows of a table; ``columns`` as in ``check_input``.

    Raises:
        MissingError: there is no such file.
        InputError: a row is no item, or there is no label.

    """
    answers = check_input(path, columns=columns)
    if (label := answers.columns.label(path)) is None:
        have = f"the columns are: {', '.join(answers.columns.names)}"
        raise InputError(f"{path}: no column of labels; name it: --map label=COLUMN; {have}")
    return list(read_examples(source_of(answers, label)))


def ids_in(path: str | None, setting: str = "set_aside") -> frozenset[str]:
    """The ids in a file whose lines are ``id | reason``; none without a file.

    Raises:
        MissingError: there is no such file.

    """
    if not path:
        return frozenset()
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise MissingError(f"{path}: {setting}: {error.strerror}") from error
    return frozenset(line.rsplit(" | ", 1)[0].strip() for line in lines if " | " in line)


def read_items(source: Source) -> Iterator[tuple[Item, str]]:
    """The items of a source with the row's language, in file order, labelled or not.

    Raises:
        MissingError: there is no such file.
        InputError: a row without a mapped column; the message begins with ``file:line``.

    """
    columns = source.columns
    with opened(source.path, source.sheet) as table:
        for where, row in table.valid():
            item = _item(row, source, columns, where) if source.keeps(row) else None
            if item is not None and _in_split(item, source):
                yield item, columns.text(row, "lang")


def _example(row: TableRow, source: Source, columns: Columns, where: str) -> Example | None:
    if source.fields is None:
        return _own(row, source, where)
    column = source.column("verdict")
    verdict = verdict_of(_cell(row, column, where), where, source, column)
    if verdict is None or (item := _item(row, source, columns, where)) is None:
        return None
    beside = {name: columns.text(row, name) for name in _BESIDE}
    beside["source"] = beside["source"] or source.label
    return Example(**dict(item), verdict=verdict, **beside)


def _own(row: TableRow, source: Source, where: str) -> Example | None:
    """An example in this project's own form, with ``verdict`` or ``label``; or a training row."""
    if "completion" in row:
        return _trained_on(validate(TrainingRow, row, where), where)
    if "label" in row and "verdict" not in row:
        verdict = verdict_of(row["label"], where, source, "label")
        row = {name: value for name, value in row.items() if name != "label"} | {"verdict": verdict}
        if verdict is None:
            return None
    example = validate(Example, row, where)
    return example if example.source else example.model_copy(update={"source": source.label})


def _trained_on(row: TrainingRow, where: str) -> Example:
    item = parse_prompt(row.prompt)
    if item is None or "verdict" not in row.meta:
        what = "not a judge's training row, which has a judge's prompt and meta.verdict"
        raise InputError(f"{where}: {what}; for other rows name the columns with 'fields'")
    mapped = item.model_dump() | {
        "id": str(row.meta.get("id") or where.rsplit("/", 1)[-1]),
        "answer_type": _answer_type(row.meta.get("answer_type")),
        "verdict": row.meta["verdict"],
        "labelled_by": str(row.meta.get("labelled_by") or ""),
        "lang": str(row.meta.get("lang") or ""),
        "source": str(row.meta.get("pattern") or ""),
    }
    return validate(Example, mapped, where)


def _item(row: TableRow, source: Source, columns: Columns, where: str) -> Item | None:
    """The item of a row; none without a response."""
    if _cell(row, source.column("response"), where) is None:
        return None
    _cell(row, source.column("question"), where)
    reference, kind = source.column("reference"), source.column("answer_type")
    cells = row | {
        reference: accepted(_cell(row, reference, where), source.reference_separator),
        kind: _answer_type(dig(row, kind)),
    }
    item, wrong = read_item(cells, columns, where.rsplit("/", 1)[-1])
    if item is None:
        raise InputError(f"{where}: {'; '.join(map(str, wrong))}")
    return item.model_copy(update={"tolerance": source.tolerance}) if source.tolerance else item


def _in_split(item: Item, source: Source) -> bool:
    text = item.question or (source.reference_separator or " ").join(item.reference)
    return source.split is None or in_split(text, source.split)


def _cell(row: TableRow, name: str, where: str) -> Any:
    if name and not has_column(row, name):
        have = f"{', '.join(sorted(row))}; map columns with 'fields' in the settings"
        raise InputError(f"{where}: there is no column {name!r}; the row has: {have}")
    return dig(row, name) if name else None


def verdict_of(label: Any, where: str, source: Source, column: str) -> Verdict | None:
    """The verdict of a label; None without one.

    Raises:
        InputError: it has another form; the message counts the values of the column.

    """
    try:
        return read_label(label)
    except ValueError as error:
        raise InputError(unreadable(error, where, source, column)) from error


def unreadable(error: ValueError, where: str, source: Source, column: str) -> str:
    """What is wrong with a label, and the values of its column, counted."""
    with opened(source.path, source.sheet) as table:
        seen = Counter(repr(dig(row, column)) for _, row in table.valid())
    values = ", ".join(f"{value} ({n:,})" for value, n in seen.most_common(_SHOWN))
    more = f" and {len(seen) - _SHOWN:,} other values" if len(seen) > _SHOWN else ""
    held = f"the values of column {column!r}, with their counts: {values}{more}"
    return f"{where}: {error}; {held}"


def _answer_type(name: object) -> AnswerType | None:
    return AnswerType(name) if isinstance(name, str) and name in set(AnswerType) else None


def question_key(question: str) -> str:
    """The question without case, blanks and punctuation: equal keys mean the same question."""
    return key_of(unicodedata.normalize("NFKC", question))


def item_key(item: Item) -> str:
    """The key of an item's context and question, or of its references where it has neither.

    The context is included because parts of different problems may have the same words.
    """
    text = f"{item.context or ''}\n{item.question}".strip()
    return question_key(text or " ".join(item.reference))


def split_of(question: str) -> Split:
    """The part that a question belongs to, by a hash of its key: equal in every file and run."""
    return next(part for part in get_args(Split) if in_split(question, part))


def in_split(question: str, part: SplitPart) -> bool:
    """Whether a question belongs to a split, or to a part of ``train``."""
    first, end = _PARTS[part]
    return first <= question_share(question) < end


def question_share(question: str) -> float:
    """The place of a question's hash in [0, 1)."""
    digest = hashlib.sha256(question_key(question).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
