"""A class list, one row a pupil and one column a question, as a table with a row for each answer.

The columns of questions are named by number: 第1题, Q1, (1), 填空1. The accepted answers are in a
row of their own, of which one cell says so (参考答案, key), or come beside the list; so may the
questions. Rows of totals are no pupils.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from typing_extensions import override

from gradegpt.core.errors import InputError
from gradegpt.tables.columns import ALIASES, REQUIRED, key_of
from gradegpt.tables.forms import Rows, TableRow
from gradegpt.tables.table import Table

_QUESTION: Final = re.compile(
    r"\s*(?:(?:第\s*)?[\d一二三四五六七八九十百]+\s*小?题|(?:[一二三四五六七八九十]+、\s*)?"
    r"(?:(?:[QT]|question|item|problem|task|小?题目?|(?:填空|选择|判断|计算|解答|简答)题?)"
    r"\s*(?:[._-]\s*)?)?(?:\d+|[(（]\d+[)）]))"
    r"(?:[\s:：.、_-]+(?!得分|分数|score|points).*|[(（].*[)）])?",
    re.IGNORECASE,
)
_REFERENCE: Final = frozenset(("reference", "key", "answerkey", *ALIASES["reference"]))
_RESPONSE: Final = frozenset(("response", *ALIASES["response"]))
_ASKED: Final = frozenset(("question", *ALIASES["question"]))
_TOTALS: Final = frozenset((
    "fullmarks", "average", "mean", "total", "points",
    "满分", "分值", "平均", "平均分", "均分", "总分", "总计", "合计", "最高分", "最低分", "得分率",
))  # fmt: skip
_FIELDS: Final = (("question", "reference", "response"), ("题目", "参考答案", "学生答案"))
_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")


class NoReferencesError(InputError):
    """A class list has no references of the columns ``questions``."""

    def __init__(self, name: str, questions: Sequence[str]) -> None:
        what = f"no reference answers of {', '.join(questions)}"
        super().__init__(f"{name}: {what}; write them into a row that is called key, or 参考答案")
        self.questions = questions


class AnswerTable(Table):
    """The answers of a class list; the number of a row is its place among them."""

    answers: Sequence[TableRow | str]
    reading: Sequence[str]

    @property
    @override
    def notes(self) -> list[str]:
        return [*super().notes, *(f"{self.name}: {note}" for note in self.reading)]

    @override
    def rows(self) -> Rows:
        return iter(enumerate(self.answers, start=1))

    @override
    def place(self, number: int) -> str:
        return f"{self.name}: row {number}"


def by_answer(
    table: Table,
    references: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Table:
    """The answers of a class list; any other table as it is.

    Args:
        table: The table.
        references: The accepted answers of questions that have none in the list. A question
            without one is left out, but not where this is empty: then they are to be asked for.
        columns: Columns that hold fields; a table with one of references or responses is no list.

    Raises:
        NoReferencesError: no question has one, or one has none where ``references`` is empty.

    """
    names = next((row for _, row in table.rows() if not isinstance(row, str)), {}).keys()
    asked = [name for name in names if _QUESTION.fullmatch(name)]
    given = {(columns or {}).get(field) for field in REQUIRED} & names
    if given or len(asked) in (0, len(names)) or {*map(key_of, names)} & (_REFERENCE | _RESPONSE):
        return table
    rows = [row for _, row in table.rows()]
    accepted = {**(references or {}), **_beside(rows, asked, _REFERENCE)}
    accepted = {name: accepted[name] for name in asked if _is_filled(accepted.get(name))}
    without = [name for name in asked if name not in accepted]
    if not accepted or (without and references == {}):
        raise NoReferencesError(table.name, without)
    made = AnswerTable(*table)
    made.answers = [*_answers(rows, asked, accepted)]
    totals = [said for row in rows if (said := _said(row, asked, _TOTALS))]
    left = f"; left out: {', '.join(totals)}" if totals else ""
    pupils = len(made.answers) // len(accepted)
    made.reading = [f"class list of {pupils:,} pupils; questions: {', '.join(accepted)}{left}"]
    if without:
        made.reading += [f"no reference answer of {', '.join(without)}, not judged"]
    return made


def _answers(
    rows: Sequence[TableRow | str], asked: Sequence[str], accepted: Mapping[str, Any]
) -> Iterator[TableRow | str]:
    """A row for each pupil and question: the pupil's other cells, and the fields of an item."""
    texts, others = _beside(rows, asked, _ASKED), _REFERENCE | _ASKED | _TOTALS
    question, reference, response = _FIELDS[any(map(_CHINESE.search, asked))]
    for row in rows:
        if isinstance(row, str):
            yield row
        elif not _said(row, asked, others) and any(map(_is_filled, row.values())):
            own = {name: value for name, value in row.items() if name not in asked}
            for name in accepted:
                item = {question: texts.get(name, name), reference: accepted[name]}
                given = row.get(name)
                yield {**own, **item, response: given if _is_filled(given) else ""}


def _beside(
    rows: Sequence[TableRow | str], asked: Sequence[str], names: frozenset[str]
) -> TableRow:
    """The cells of the questions in the row that says that it holds one of ``names``."""
    found = next((r for r in rows if not isinstance(r, str) and _said(r, asked, names)), {})
    return {name: found[name] for name in asked if _is_filled(found.get(name))}


def _said(row: TableRow | str, asked: Sequence[str], names: frozenset[str]) -> str:
    """The cell that says that a row holds one of ``names``; empty where none does."""
    own = [] if isinstance(row, str) else [row[name] for name in row if name not in asked]
    return next((str(value) for value in own if key_of(value) in names), "")


def _is_filled(value: object) -> bool:
    return value is not None and value != ""
