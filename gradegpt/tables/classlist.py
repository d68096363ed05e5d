"""A class list, one row a pupil and one column a question, as a table with a row for each answer.

The columns of questions are named by number: 第1题, Q1, (1), 填空1. The accepted answers are in a
row of their own, of which one cell says so (参考答案, key), or come beside the list; so may the
questions, beside which each answer has the name of its column. Rows of totals are no pupils.
"""

from __future__ import annotations

import re
from collections import Counter
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
_PUPIL: Final = re.compile(
    r"\s*([学考座]号|准考证号|姓名|学生(姓名)?|name|(student|pupil)([ _]?(id|no|number|name))?)\s*",
    re.IGNORECASE,
)
"""The columns that say who a pupil is; the page has the same."""
_FIELDS: Final = (
    ("question", "reference", "response", "question number", "Q{}"),
    ("题目", "参考答案", "学生答案", "题号", "第{}题"),
)
"""The columns of the answers, and the heading of a question."""
_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")


class NoReferencesError(InputError):
    """A class list has no references of the columns ``questions``."""

    def __init__(self, name: str, questions: Sequence[str]) -> None:
        what = f"no reference answers of {', '.join(questions)}"
        super().__init__(f"{name}: {what}; write them into a row that is called key, or 参考答案")
        self.questions = questions


class AnswerTable(Table):
    """The answers of a class list, each with its row and question; their numbers are from 1."""

    answers: Sequence[tuple[str, TableRow | str]]
    reading: Sequence[str]

    @property
    @override
    def notes(self) -> list[str]:
        return [*super().notes, *(f"{self.name}: {note}" for note in self.reading)]

    @override
    def rows(self) -> Rows:
        return ((number, row) for number, (_, row) in enumerate(self.answers, start=1))

    @override
    def place(self, number: int) -> str:
        return self.answers[number - 1][0]


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
        InputError: there is a row of references, but no column has the name of a question.

    """
    names = next((row for _, row in table.rows() if not isinstance(row, str)), {}).keys()
    asked = [name for name in names if _QUESTION.fullmatch(name)]
    given = {(columns or {}).get(field) for field in REQUIRED} & names
    if given or len(asked) == len(names) or {*map(key_of, names)} & (_REFERENCE | _RESPONSE):
        return table
    fields = _FIELDS[any(map(_CHINESE.search, names))]
    at, key = _row(table.rows(), asked, _REFERENCE)
    heads = [n for n, said in key.items() if _is_filled(said) and key_of(said) not in _REFERENCE]
    if not asked:
        if heads:
            how = f"rename {', '.join(heads)} to {fields[-1].format(1)}, {fields[-1].format(2)} …"
            raise InputError(f"{table.place(at)}: reference answers, but of no questions; {how}")
        return table
    accepted = {**(references or {}), **_of(key, asked)}
    accepted = {name: accepted[name] for name in asked if _is_filled(accepted.get(name))}
    without = [name for name in asked if name not in accepted]
    if not accepted or (without and references == {}):
        raise NoReferencesError(table.name, without)
    made = AnswerTable(*table)
    made.answers = [*_answers(table, asked, accepted, fields)]
    rows = [row for _, row in table.rows() if not isinstance(row, str)]
    pupils = [row for row in rows if _is_pupil(row, asked)]
    totals = [said for row in rows if (said := _said(row, asked, _TOTALS))]
    left = f"; left out: {', '.join(totals)}" if totals else ""
    made.reading = [f"class list of {len(pupils):,} pupils; questions: {', '.join(accepted)}{left}"]
    if without:
        made.reading += [f"no reference answer of {', '.join(without)}, not judged"]
    heads += [*names][[*names].index(asked[0]) :]  # what stands behind a question may be one
    others = [n for n in dict.fromkeys(heads) if not n.startswith((*asked,))]
    if others := [name for name in others if key_of(name) not in _TOTALS]:
        how = f"to judge one, rename it {fields[-1].format(len(asked) + 1)}"
        made.reading += [f"not judged, as no name of a question: {', '.join(others)}; {how}"]
    called = [
        " ".join(str(v or "") for n, v in row.items() if _PUPIL.fullmatch(n)) for row in pupils
    ]
    if same := [name for name, n in Counter(called).items() if n > 1 and name.strip()]:
        made.reading += [f"several pupils are called {', '.join(same)}; add a column of numbers"]
    return made


def _answers(
    table: Table, asked: Sequence[str], accepted: Mapping[str, Any], fields: Sequence[str]
) -> Iterator[tuple[str, TableRow | str]]:
    """A row for each pupil and question: the pupil's other cells, and the fields of an item.

    Of questions with one text each has its column's name before it.
    """
    texts = _of(_row(table.rows(), asked, _ASKED)[1], asked)
    times = Counter(map(str, texts.values()))
    question, reference, response, number_of, _ = fields
    for number, row in table.rows():
        if isinstance(row, str):
            yield table.place(number), row
        elif _is_pupil(row, asked):
            own = {name: value for name, value in row.items() if name not in asked}
            for name, wanted in accepted.items():
                text = texts.get(name, name)
                text = f"{name} {text}" if times[str(text)] > 1 else text
                answer = row[name] if _is_filled(row.get(name)) else ""
                item = {question: text, reference: wanted, response: answer}
                named = own | {number_of: name} if texts else own
                yield f"{table.place(number)}, {name}", {**named, **item}


def _row(rows: Rows, asked: Sequence[str], names: frozenset[str]) -> tuple[int, TableRow]:
    """The row, with its number, that says that it holds one of ``names``; 0 where none does."""
    held = ((n, row) for n, row in rows if not isinstance(row, str) and _said(row, asked, names))
    return next(held, (0, {}))


def _of(row: TableRow, asked: Sequence[str]) -> TableRow:
    """The cells of the questions that are filled."""
    return {name: row[name] for name in asked if _is_filled(row.get(name))}


def _is_pupil(row: TableRow, asked: Sequence[str]) -> bool:
    other = _said(row, asked, _REFERENCE | _ASKED | _TOTALS)
    return not other and any(map(_is_filled, row.values()))


def _said(row: TableRow | str, asked: Sequence[str], names: frozenset[str]) -> str:
    """The cell that says that a row holds one of ``names``; empty where none does."""
    own = [] if isinstance(row, str) else [row[name] for name in row if name not in asked]
    return next((str(value) for value in own if key_of(value) in names), "")


def _is_filled(value: object) -> bool:
    return value is not None and value != ""
