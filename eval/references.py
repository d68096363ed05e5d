"""Find references of a benchmark that cannot be right: ``gradegpt eval.references FILE.jsonl``.

A faulty reference counts against every model: a number with a variable in it, an interval with its
ends reversed, an option that the question does not have (OlympicArena, appendix B.1, describes the
checks of its annotation; the other checks follow from its answer types).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from gradegpt.answers.intervals import ORDER
from gradegpt.answers.options import options as options_of
from gradegpt.answers.quantity import quantity
from gradegpt.answers.read import read
from gradegpt.answers.text import fold
from gradegpt.answers.types import CHOICE, AnswerType, Leaf, Options, Region
from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.app.console import say_columns
from gradegpt.core.errors import InputError
from gradegpt.core.records import validate, write_rows
from gradegpt.core.schema import Item, Outcome, Row, Verdict
from gradegpt.judges.parallel import judge_many
from gradegpt.rules.asked import asked
from gradegpt.rules.compare import compare
from gradegpt.rules.reference import answer_kind, reference_answers
from gradegpt.tables import opened
from gradegpt.tables.columns import Columns, dig
from gradegpt.tables.importers.labelled import item_key
from gradegpt.tables.inputs import columns_in

from .console import say, show

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class ReferenceFault(StrEnum):
    """What is wrong with a reference; the value is the text of tables and files."""

    EMPTY = "no reference"
    NOT_A_NUMBER = "not a number"
    EQUALS_SIGN = "an expression with an equals sign"
    UNIT_TWICE = "a unit that the row states as well"
    UNIT_MISSING = "no unit, and the solution has one"
    ENDS_REVERSED = "an interval with its ends reversed"
    NOT_AN_INTERVAL = "not an interval"
    OPTION_WITHOUT_TEXT = "an option without text"
    NO_SUCH_OPTION = "an option that the question does not have"
    NO_OPTION = "a choice without a letter"
    NOT_ITSELF = "not accepted against itself"
    ANOTHER_ANSWER = "a repeated question with another reference"
    TWICE = "a repeated question"


class FaultyReference(Row):
    """A row with a faulty reference: its line, the reference, the fault and its detail."""

    line: int
    id: str
    fault: ReferenceFault
    reference: str
    detail: str = ""


UNIT: Final = "unit"
"""The unit of a reference, which a row may have beside its fields."""
TYPES: Final = {kind.value: kind for kind in AnswerType} | {
    "numerical": AnswerType.NUMBER, "expression": AnswerType.EXPRESSION,
    "equation": AnswerType.EQUATION, "interval": AnswerType.INTERVAL, "tuple": AnswerType.TUPLE,
    "sc": AnswerType.SINGLE_CHOICE, "mc": AnswerType.MULTIPLE_CHOICE, "tf": AnswerType.TRUE_FALSE,
    "nv": AnswerType.NUMBER, "set": AnswerType.SET, "in": AnswerType.INTERVAL,
    "ex": AnswerType.EXPRESSION, "eq": AnswerType.EQUATION, "tup": AnswerType.TUPLE,
    "mpv": AnswerType.MULTI_PART, "ma": AnswerType.MULTI_ANSWER, "code": AnswerType.CODE,
    "ot": AnswerType.TEXT,
}  # fmt: skip
"""Types by our names and by those of OlympiadBench and OlympicArena; others are not read."""

_INTERVAL: Final = re.compile(r"[\[(](?P<low>[^,;\[\]()]+)[,;](?P<high>[^,;\[\]()]+)[\])]")
_BARE: Final = re.compile(r"\\boxed\{|\$|[。.；;\s]+$")
_NEXT_TO: Final = (
    r"(?<![\d.]){}\s*(?P<unit>\\?(?:mathrm|text|rm)?\s*\{{?\s*[A-Za-zμΩ°][^\s,.;，。；}}]*)"
)


def check_file(
    path: Path, given: Mapping[str, str] | None = None, *, separator: str = ""
) -> tuple[int, list[FaultyReference]]:
    """The number of rows of a table, and its faulty references in order.

    Args:
        path: The table, of any form.
        given: Fields, and ``unit``, and the columns that hold them.
        separator: What separates several accepted answers.

    Raises:
        InputError: no column holds the question, or the reference.

    """
    with opened(str(path)) as table:
        none = {"response": ""}
        columns = columns_in(table, {**(given or {}), **none}, defaults=none, also=(UNIT,))
        rows = list(table.numbered())
    say_columns(columns)
    if missing := [field for field in ("question", "reference") if not columns.fields.get(field)]:
        how = f"name it: --map {missing[0]}=COLUMN; the columns are: {', '.join(columns.names)}"
        raise InputError(f"{path}: no column holds the {missing[0]}; {how}")
    found: list[FaultyReference] = []
    items: list[tuple[int, Item, dict[str, Any]]] = []
    for line, row in rows:
        item = _item(row, columns, separator, f"{path}:{line}")
        if item is None:
            found.append(_finding(line, row, ReferenceFault.EMPTY, ""))
        else:
            items.append((line, item, row))
    for line, item, row in items:
        unit, solution = columns.text(row, UNIT), columns.text(row, "solution")
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
) -> Iterator[tuple[ReferenceFault, str]]:
    """What is wrong with one reference of an item.

    A reference must have the type that its row states; without a stated type, only a reference that
    shows its type can be faulty.
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
            yield ReferenceFault.NOT_A_NUMBER, ""
    if stated and kind is AnswerType.EXPRESSION and "=" in ORDER.sub("", text.replace("==", "=")):
        yield ReferenceFault.EQUALS_SIGN, ""
    if kind is AnswerType.INTERVAL:
        reversed_ = next(filter(_is_reversed, _INTERVAL.finditer(text)), None)
        if reversed_ is not None:
            yield ReferenceFault.ENDS_REVERSED, reversed_[0]
        elif stated and not isinstance(read(reference, kind, asked(item)).value, Region):
            yield ReferenceFault.NOT_AN_INTERVAL, ""


def _of_options(reference: str, item: Item) -> Iterator[tuple[ReferenceFault, str]]:
    listed = options_of(asked(item))
    for letter, words in listed.items():
        if not words.strip(" .。:：、"):
            yield ReferenceFault.OPTION_WITHOUT_TEXT, letter
    value = read(reference, answer_kind(item, reference), asked(item)).value
    if not isinstance(value, Options):
        yield ReferenceFault.NO_OPTION, ""
        return
    missing = [letter for letter in value.letters if listed and letter not in listed]
    if missing:
        yield ReferenceFault.NO_SUCH_OPTION, f"{', '.join(missing)} of {''.join(listed)}"


def _of_units(reference: str, unit: str, solution: str) -> Iterator[tuple[ReferenceFault, str]]:
    given = quantity(fold(reference))
    if given is None:
        return
    if unit and given.unit:
        yield ReferenceFault.UNIT_TWICE, unit
    if not unit and not given.unit and not given.percent and solution:
        bare = re.escape(_BARE.sub("", reference).strip())
        for last in list(re.finditer(_NEXT_TO.format(bare), solution))[-1:]:
            measured = quantity(fold(last[0]))
            if measured is not None and measured.unit:
                yield ReferenceFault.UNIT_MISSING, measured.unit


def _is_reversed(match: re.Match[str]) -> bool:
    low, high = (quantity(match[name].strip()) for name in ("low", "high"))
    if low is None or high is None:
        return False
    ends = (low.value, high.value)
    return not any(isinstance(end, complex) for end in ends) and ends[0] > ends[1]  # type: ignore[operator]


def _not_themselves(items: Iterable[tuple[int, Item, dict[str, Any]]]) -> Iterator[FaultyReference]:
    """References that the rules do not judge correct when a response repeats them verbatim."""
    repeated = [
        (
            line,
            row,
            reference,
            item.model_copy(update={"reference": (reference,), "response": response}),
        )
        for line, item, row in items
        for reference in item.reference
        for response in (_given(reference),)
    ]
    judged = judge_many([item for *_, item in repeated])
    for (line, row, reference, item), judgement in zip(repeated, judged, strict=True):
        text = answer_kind(item, reference) in (AnswerType.TEXT, AnswerType.CODE)
        if judgement.verdict is not Verdict.CORRECT and not (
            text and judgement.outcome is not Outcome.JUDGED
        ):
            yield _finding(line, row, ReferenceFault.NOT_ITSELF, reference, judgement.reason)


def _given(reference: str) -> str:
    return " ".join(reference_answers(reference)[:1]) or reference


def _again(items: Iterable[tuple[int, Item, dict[str, Any]]]) -> Iterator[FaultyReference]:
    first: dict[str, tuple[int, Item]] = {}
    for line, item, row in items:
        if not item.question.strip():
            continue
        before, other = first.setdefault(item_key(item), (line, item))
        if before != line:
            same = any(_equal(one, two, item) for one in other.reference for two in item.reference)
            fault = ReferenceFault.TWICE if same else ReferenceFault.ANOTHER_ANSWER
            detail = f"line {before}" + ("" if same else f": {' | '.join(other.reference)}")
            yield _finding(line, row, fault, " | ".join(item.reference), detail)


def _equal(one: str, other: str, item: Item) -> bool:
    kind = answer_kind(item, one)
    first, second = (read(text, kind, asked(item)) for text in (one, other))
    return fold(one) == fold(other) or bool(compare(first, second, question=asked(item)).same)


def _item(row: dict[str, Any], columns: Columns, separator: str, where: str) -> Item | None:
    value = dig(row, columns.fields["reference"])
    texts = value if isinstance(value, list) else [value]
    answers = [
        part.strip()
        for text in texts
        for part in (str(text).split(separator) if separator else [str(text)])
        if text is not None and part.strip()
    ]
    if not answers:
        return None
    values = {
        "id": columns.text(row, "id"),
        "question": columns.text(row, "question"),
        "context": columns.text(row, "context") or None,
        "reference": answers,
        "response": answers[0],
        "answer_type": TYPES.get(columns.text(row, "answer_type").strip().lower()),
    }
    return validate(Item, values, where)


def _finding(
    line: int, row: dict[str, Any], fault: ReferenceFault, reference: str, detail: str = ""
) -> FaultyReference:
    name = str(row.get("id") or "")
    return FaultyReference(line=line, id=name, fault=fault, reference=reference, detail=detail)


@app.command(epilog="A file of yours: gradegpt eval.references bank.csv --map reference=answer")
def main(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A benchmark: a table of any form.")],
    out: Annotated[Path | None, options.output("Write every finding there, as JSON Lines.")] = None,
    mapped: options.Map = None,
    separator: Annotated[str, typer.Option(help="The separator of several accepted answers.")] = "",
    most: Annotated[
        int, typer.Option("--show", min=0, help="FaultyReferences shown of each fault.")
    ] = 5,
) -> None:
    """Find references that cannot be right, before they are counted against a model.

    Each is shown with its line. The fields are question, reference, context, answer_type, unit and
    solution. The exit code is 1 if there is any fault, so a benchmark's own checks can call it.
    """
    columns = options.columns_of(mapped)
    rows, found = check_file(path, columns, separator=separator)
    if out is not None:
        write_rows(out, (finding.model_dump(mode="json") for finding in found))
    print_findings(rows, found, most)
    if found:
        raise typer.Exit(1)


def print_findings(rows: int, found: list[FaultyReference], most: int) -> None:
    """Print the findings, the most frequent fault first."""
    faulty = len({finding.line for finding in found})
    say(f"{faulty:,} of {rows:,} rows have a reference that cannot be right")
    cells = []
    for fault, count in Counter(finding.fault for finding in found).most_common():
        own = [finding for finding in found if finding.fault is fault][:most]
        for n, finding in enumerate(own):
            first = ("", "") if n else (fault.value, f"{count:,}")
            texts = (f"{finding.line:,}", finding.reference[:60], finding.detail[:40])
            cells.append((*first, *texts))
    if cells:
        show(("fault", "rows", "line", "reference", ""), cells)


if __name__ == "__main__":
    run(app, name="gradegpt eval.references")
