"""References of a benchmark that cannot be right: ``gradegpt eval.references FILE.jsonl``.

What an annotator of a question bank overlooks, and a grader then counts against every model: a
number with a variable in it, an interval turned round, an option that is not there (OlympicArena,
appendix B.1, has the checks of its annotation; the rest is what its answer types imply).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.markup import escape

from gradegpt.answers.intervals import ORDER
from gradegpt.answers.options import options
from gradegpt.answers.quantity import quantity
from gradegpt.answers.read import read
from gradegpt.answers.text import fold
from gradegpt.answers.types import CHOICE, AnswerType, Leaf, Options, Region
from gradegpt.cli import run
from gradegpt.errors import InputError
from gradegpt.importers.labelled import item_key
from gradegpt.judges.parallel import judge_many
from gradegpt.records import read_objects, validate, write_rows
from gradegpt.rules.asked import asked
from gradegpt.rules.compare import compare
from gradegpt.rules.reference import answer_kind, reference_answers
from gradegpt.schema import Item, Outcome, Row, Verdict

from .console import empty_table, terminal

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class Fault(StrEnum):
    """What is wrong with a reference; the value is how a table says it."""

    EMPTY = "no reference"
    NOT_A_NUMBER = "a number that is none"
    EQUALS_SIGN = "an expression with an equals sign"
    UNIT_TWICE = "a unit that the row states as well"
    UNIT_MISSING = "no unit, and the solution has one"
    TURNED_ROUND = "an interval whose ends are turned round"
    NOT_AN_INTERVAL = "an interval that is none"
    OPTION_WITHOUT_TEXT = "an option without text"
    NO_SUCH_OPTION = "an option that the question does not have"
    NO_OPTION = "a choice without a letter"
    NOT_ITSELF = "not accepted against itself"
    ANOTHER_ANSWER = "the question again, with another reference"
    TWICE = "the question again"


class Finding(Row):
    """A row with a fault: where it stands, what its reference is, and what is the matter."""

    line: int
    id: str
    fault: Fault
    reference: str
    detail: str = ""


class Columns(Row):
    """Which column holds what; one that a file does not have says nothing."""

    question: str = "question"
    context: str = "context"
    reference: str = "reference"
    answer_type: str = "answer_type"
    unit: str = "unit"
    solution: str = "solution"


TYPES: Final = {kind.value: kind for kind in AnswerType} | {
    "numerical": AnswerType.NUMBER, "expression": AnswerType.EXPRESSION,
    "equation": AnswerType.EQUATION, "interval": AnswerType.INTERVAL, "tuple": AnswerType.TUPLE,
    "sc": AnswerType.SINGLE_CHOICE, "mc": AnswerType.MULTIPLE_CHOICE, "tf": AnswerType.TRUE_FALSE,
    "nv": AnswerType.NUMBER, "set": AnswerType.SET, "in": AnswerType.INTERVAL,
    "ex": AnswerType.EXPRESSION, "eq": AnswerType.EQUATION, "tup": AnswerType.TUPLE,
    "mpv": AnswerType.MULTI_PART, "ma": AnswerType.MULTI_ANSWER, "code": AnswerType.CODE,
    "ot": AnswerType.TEXT,
}  # fmt: skip
"""Types by our names and by those of OlympiadBench and OlympicArena; others state none."""

_INTERVAL: Final = re.compile(r"[\[(](?P<low>[^,;\[\]()]+)[,;](?P<high>[^,;\[\]()]+)[\])]")
_BARE: Final = re.compile(r"\\boxed\{|\$|[。.；;\s]+$")
_NEXT_TO: Final = (
    r"(?<![\d.]){}\s*(?P<unit>\\?(?:mathrm|text|rm)?\s*\{{?\s*[A-Za-zμΩ°][^\s,.;，。；}}]*)"
)


def check_file(
    path: Path, columns: Columns | None = None, *, separator: str = ""
) -> tuple[int, list[Finding]]:
    """Every faulty reference of a JSON Lines file, in its order, and how many rows there are.

    Raises:
        InputError: no row has the columns of question and reference.

    """
    named = columns or Columns()
    rows = list(read_objects(path))
    if not any(named.reference in row and named.question in row for _, row in rows):
        there = ", ".join(rows[0][1]) if rows else "no rows"
        raise InputError(
            f"{path}: no columns {named.question!r} and {named.reference!r}; it has {there}. "
            "Name them with --question and --reference"
        )
    found: list[Finding] = []
    items: list[tuple[int, Item, dict[str, Any]]] = []
    for line, row in rows:
        item = _item(row, named, separator, f"{path}:{line}")
        if item is None:
            found.append(_finding(line, row, Fault.EMPTY, ""))
        else:
            items.append((line, item, row))
    for line, item, row in items:
        unit, solution = (str(row.get(name) or "") for name in (named.unit, named.solution))
        for reference in item.reference:
            found += (
                _finding(line, row, fault, reference, detail)
                for fault, detail in faults(item, reference, unit, solution)
            )
    found += _not_themselves(items)
    found += _again(items)
    return len(rows), sorted(found, key=lambda finding: finding.line)


def faults(
    item: Item, reference: str, unit: str = "", solution: str = ""
) -> Iterator[tuple[Fault, str]]:
    """What is wrong with one reference of an item.

    A type that the row states is held to; where it states none, only what shows its type by itself
    can be at fault.
    """
    kind, text = answer_kind(item, reference), fold(reference)
    stated = item.answer_type is not None
    if kind in CHOICE:
        yield from _of_options(reference, item)
    if kind is AnswerType.NUMBER:
        value = read(reference, kind, asked(item)).value
        if isinstance(value, Leaf) and value.quantity is not None:
            yield from _of_units(reference, unit, solution)
        elif stated:
            yield Fault.NOT_A_NUMBER, ""
    if stated and kind is AnswerType.EXPRESSION and "=" in ORDER.sub("", text.replace("==", "=")):
        yield Fault.EQUALS_SIGN, ""
    if kind is AnswerType.INTERVAL:
        turned = next(filter(_is_turned, _INTERVAL.finditer(text)), None)
        if turned is not None:
            yield Fault.TURNED_ROUND, turned[0]
        elif stated and not isinstance(read(reference, kind, asked(item)).value, Region):
            yield Fault.NOT_AN_INTERVAL, ""


def _of_options(reference: str, item: Item) -> Iterator[tuple[Fault, str]]:
    listed = options(asked(item))
    for letter, words in listed.items():
        if not words.strip(" .。:：、"):
            yield Fault.OPTION_WITHOUT_TEXT, letter
    value = read(reference, answer_kind(item, reference), asked(item)).value
    if not isinstance(value, Options):
        yield Fault.NO_OPTION, ""
        return
    missing = [letter for letter in value.letters if listed and letter not in listed]
    if missing:
        yield Fault.NO_SUCH_OPTION, f"{', '.join(missing)} of {''.join(listed)}"


def _of_units(reference: str, unit: str, solution: str) -> Iterator[tuple[Fault, str]]:
    told = quantity(fold(reference))
    if told is None:
        return
    if unit and told.unit:
        yield Fault.UNIT_TWICE, unit
    if not unit and not told.unit and not told.percent and solution:
        bare = re.escape(_BARE.sub("", reference).strip())
        for last in list(re.finditer(_NEXT_TO.format(bare), solution))[-1:]:
            measured = quantity(fold(last[0]))
            if measured is not None and measured.unit:
                yield Fault.UNIT_MISSING, measured.unit


def _is_turned(match: re.Match[str]) -> bool:
    low, high = (quantity(match[name].strip()) for name in ("low", "high"))
    if low is None or high is None:
        return False
    ends = (low.value, high.value)
    return not any(isinstance(end, complex) for end in ends) and ends[0] > ends[1]  # type: ignore[operator]


def _not_themselves(items: Iterable[tuple[int, Item, dict[str, Any]]]) -> Iterator[Finding]:
    """References that the rules do not call correct when a response gives them word for word."""
    told = [
        (
            line,
            row,
            reference,
            item.model_copy(update={"reference": (reference,), "response": said}),
        )
        for line, item, row in items
        for reference in item.reference
        for said in (_given(reference),)
    ]
    said = judge_many([item for *_, item in told])
    for (line, row, reference, item), judgement in zip(told, said, strict=True):
        text = answer_kind(item, reference) in (AnswerType.TEXT, AnswerType.CODE)
        if judgement.verdict is not Verdict.CORRECT and not (
            text and judgement.outcome is not Outcome.JUDGED
        ):
            yield _finding(line, row, Fault.NOT_ITSELF, reference, judgement.reason)


def _given(reference: str) -> str:
    return " ".join(reference_answers(reference)[:1]) or reference


def _again(items: Iterable[tuple[int, Item, dict[str, Any]]]) -> Iterator[Finding]:
    first: dict[str, tuple[int, Item]] = {}
    for line, item, row in items:
        if not item.question.strip():
            continue
        before, other = first.setdefault(item_key(item), (line, item))
        if before != line:
            same = any(_equal(one, two, item) for one in other.reference for two in item.reference)
            fault = Fault.TWICE if same else Fault.ANOTHER_ANSWER
            detail = f"line {before}" + ("" if same else f": {' | '.join(other.reference)}")
            yield _finding(line, row, fault, " | ".join(item.reference), detail)


def _equal(one: str, other: str, item: Item) -> bool:
    kind = answer_kind(item, one)
    first, second = (read(text, kind, asked(item)) for text in (one, other))
    return fold(one) == fold(other) or bool(compare(first, second, question=asked(item)).same)


def _item(row: dict[str, Any], columns: Columns, separator: str, where: str) -> Item | None:
    value = row.get(columns.reference)
    texts = value if isinstance(value, list) else [value]
    answers = [
        part.strip()
        for text in texts
        for part in (str(text).split(separator) if separator else [str(text)])
        if text is not None and part.strip()
    ]
    if not answers:
        return None
    kind = row.get(columns.answer_type)
    question = row.get(columns.question)
    values = {
        "id": str(row.get("id") or ""),
        "question": "" if question is None else str(question),
        "context": str(row.get(columns.context) or "") or None,
        "reference": answers,
        "response": answers[0],
        "answer_type": TYPES.get(str(kind).strip().lower()),
    }
    return validate(Item, values, where)


def _finding(
    line: int, row: dict[str, Any], fault: Fault, reference: str, detail: str = ""
) -> Finding:
    name = str(row.get("id") or "")
    return Finding(line=line, id=name, fault=fault, reference=reference, detail=detail)


@app.command(epilog="A file of your own: gradegpt eval.references bank.jsonl --reference answer")
def main(
    path: Annotated[Path, typer.Argument(metavar="FILE.JSONL", help="A benchmark, a row a line.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Write every finding there, as JSON Lines.")
    ] = None,
    question: Annotated[str, typer.Option(help="The column of the question.")] = "question",
    context: Annotated[str, typer.Option(help="The column of its context.")] = "context",
    reference: Annotated[str, typer.Option(help="The column of the reference.")] = "reference",
    answer_type: Annotated[str, typer.Option(help="The column of its type.")] = "answer_type",
    unit: Annotated[str, typer.Option(help="The column of its unit.")] = "unit",
    solution: Annotated[str, typer.Option(help="The column of a worked solution.")] = "solution",
    separator: Annotated[
        str, typer.Option(help="What stands between several accepted answers.")
    ] = "",
    show: Annotated[int, typer.Option(min=0, help="Findings shown of each fault.")] = 5,
) -> None:
    """Find references that cannot be right, before they are counted against a model.

    Each is shown with its line. Ends with exit code 1 where there is any, so that a benchmark's own
    checks can call it.
    """
    columns = Columns(
        question=question, context=context, reference=reference, answer_type=answer_type,
        unit=unit, solution=solution,
    )  # fmt: skip
    rows, found = check_file(path, columns, separator=separator)
    if out is not None:
        write_rows(out, (finding.model_dump(mode="json") for finding in found))
    print_findings(rows, found, show)
    if found:
        raise typer.Exit(1)


def print_findings(rows: int, found: list[Finding], show: int) -> None:
    """What was found, the most frequent fault first."""
    console = terminal()
    faulty = len({finding.line for finding in found})
    console.print(f"{faulty:,} of {rows:,} rows have a reference that cannot be right")
    table = empty_table()
    for name in ("fault", "rows", "line", "reference", ""):
        table.add_column(name, justify="right" if name in ("rows", "line") else "left")
    for fault, count in Counter(finding.fault for finding in found).most_common():
        mine = [finding for finding in found if finding.fault is fault][:show]
        for n, finding in enumerate(mine):
            first = (fault.value, f"{count:,}") if n == 0 else ("", "")
            texts = (escape(finding.reference[:60]), escape(finding.detail[:40]))
            table.add_row(*first, f"{finding.line:,}", *texts)
    if found:
        console.print(table)


if __name__ == "__main__":
    run(app, name="gradegpt eval.references")
