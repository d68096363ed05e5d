"""Find references of a benchmark that cannot be right: ``gradegpt eval.references FILE.jsonl``.

A faulty reference counts against every model: a number with a variable in it, an interval with its
ends reversed, an option that the question does not have. OlympicArena, appendix B.1, describes the
checks of its annotation; the other checks follow from its answer types, and from the solution.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer

from gradegpt.answers.intervals import ORDER
from gradegpt.answers.options import options as options_of
from gradegpt.answers.parts import marks, run_of_parts
from gradegpt.answers.quantity import quantity
from gradegpt.answers.read import read
from gradegpt.answers.text import fold
from gradegpt.answers.types import CHOICE, AnswerType, Group, Leaf, Options, Region
from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.app.console import report_columns
from gradegpt.core.records import validate, write_rows
from gradegpt.core.schema import Item, Outcome, Verdict
from gradegpt.judges.parallel import ParallelJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.rules.compare import compare
from gradegpt.rules.reference import answer_kind, asked, reference_answers
from gradegpt.tables import opened
from gradegpt.tables.columns import Columns, accepted, dig
from gradegpt.tables.importers.labelled import item_key
from gradegpt.tables.inputs import USUAL, Reading, columns_in

from .console import say
from .figures import Finding, show_findings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class ReferenceFault(StrEnum):
    """What is wrong with a reference; the value is the text of tables and files."""

    EMPTY = "no reference"
    PLACEHOLDER = "a placeholder, or a pointer to the solution"
    UNBALANCED = "a bracket that does not close"
    IMAGE = "an image"
    NOT_A_NUMBER = "not a number"
    A_NUMBER = "a number, which is not of its type"
    EQUALS_SIGN = "an expression with an equals sign"
    NO_EQUALS_SIGN = "an equation without an equals sign"
    TWO_VALUES = "two values that are not equal"
    UNIT_INSIDE = "a unit, which has a field of its own"
    ENDS_REVERSED = "an interval with its ends reversed"
    NOT_AN_INTERVAL = "not an interval"
    OPTION_WITHOUT_TEXT = "an option without text"
    NO_SUCH_OPTION = "an option that the question does not have"
    NO_OPTION = "a choice without a letter"
    SEVERAL_OPTIONS = "several options of a single choice"
    PARTS = "not as many parts as the question has"
    NOT_ITSELF = "not accepted against itself"
    SOLUTION = "another answer than the solution's"
    ANOTHER_ANSWER = "a repeated question with another reference"
    TWICE = "a repeated question"


FaultDetail = tuple[ReferenceFault, str]
UNIT: Final = "unit"
"""The unit of a reference, which a row may have beside its fields."""
_NUMBERS: Final = (
    AnswerType.EXPRESSION, AnswerType.EQUATION, AnswerType.INTERVAL, AnswerType.TUPLE,
    AnswerType.SET,
)  # fmt: skip
"""Types whose answers are no numbers (B.1, rule 2)."""
_NOT_PLAIN: Final = re.compile(r"\\(?![dt]?frac)|(?<![\\a-z])[A-Za-z√π]")
"""What a plain number does not have, but an expression such as √2/2 does."""
_INTERVAL: Final = re.compile(r"[\[(](?P<low>[^,;\[\]()]+)[,;](?P<high>[^,;\[\]()]+)[\])]")
_PLACEHOLDER: Final = re.compile(
    r"(?:todo|tb[da]|fixme|x{3,}|pending|placeholder|n/a|omitted|[?.…_-]+)\W*"
    r"|(?:see|refer to|as in|cf\.?)\s(?:the\s)?(?:full\s|above|below|solution|figure|diagram|text"
    r"|answer|explanation|proof|image).*"
    r"|略|答案略|[详参]?[见看](?:解[析答]|答案|图|上|下|分析).*|待[补定填].*",
    re.IGNORECASE | re.DOTALL,
)
_IMAGE: Final = re.compile(
    r"!\[[^\]]*\]\(|<img\b|\\includegraphics|\.(?:png|jpe?g|gif|svg|webp|bmp)\b", re.IGNORECASE
)
_RELATED: Final = re.compile(
    r"[=≤≥<>≡≈∼~→⇌⇒↔]|\\(?:leq?|geq?|equiv|sim|to|approx|x?(?:long)?rightarrow|rightleftharpoons)\b"
)
"""Signs of an equation, a relation or a reaction."""
_WITH_UNIT: Final = re.compile(r"\bunits?\b|单位", re.IGNORECASE)


class BenchmarkRow(NamedTuple):
    """A row of a benchmark: where it is, its item, its unit and its solution."""

    where: str
    item: Item
    unit: str
    solution: str

    def finding(self, fault: ReferenceFault, reference: str, detail: str = "") -> Finding:
        """What is wrong with a reference of it."""
        said = reference + (f" ({detail})" if detail else "")
        return Finding(id=self.item.id, where=self.where, fault=fault, detail=said)


def check_file(path: Path, reading: Reading = USUAL) -> tuple[int, list[Finding]]:
    """The number of rows of a table, and its faulty references in order.

    Args:
        path: The table, of any form.
        reading: Fields, and ``unit``, and the columns that hold them; the sheet and the separator.

    Raises:
        ColumnsError: no column holds the question, or the reference.

    """
    with opened(str(path), reading.sheet) as table:
        given, none = reading.without("response").columns, {"response": ""}
        columns = columns_in(
            table, given, defaults=none, also=(UNIT,), required=("question", "reference")
        )
        rows = list(table.numbered())
    report_columns(columns)
    found: dict[int, list[Finding]] = {}
    checked: list[tuple[int, BenchmarkRow]] = []
    for line, row in rows:
        where = f"{path}:{line}"
        item = _item(row, columns, reading.separator, where)
        if item is None:
            empty = Finding(id=columns.text(row, "id"), where=where, fault=ReferenceFault.EMPTY)
            found[line] = [empty]
        else:
            texts = (columns.text(row, UNIT), columns.text(row, "solution"))
            checked.append((line, BenchmarkRow(where, item, *texts)))
    units = any(one.unit for _, one in checked)
    for line, one in checked:
        found[line] = [
            one.finding(fault, reference, detail)
            for reference in one.item.reference
            for fault, detail in faults(one, reference, units_apart=units)
        ]
    for n, finding in (*_judged([one for _, one in checked]), *_again([one for _, one in checked])):
        found[checked[n][0]].append(finding)
    return len(rows), [finding for line in sorted(found) for finding in found[line]]


def faults(
    row: BenchmarkRow, reference: str, *, units_apart: bool = False
) -> Iterator[FaultDetail]:
    """What is wrong with one reference of an item.

    A reference must have the type that its row states; without a stated type, only a reference that
    shows its type can be faulty. ``units_apart``: whether rows of the file have their unit in a
    field of its own (B.1, rule 6).
    """
    text, kind = fold(reference).strip(), answer_kind(row.item, reference)
    question = row.item.question
    if _PLACEHOLDER.fullmatch(text.strip("$ ")) and text not in asked(row.item):
        yield ReferenceFault.PLACEHOLDER, ""
    elif _IMAGE.search(text):
        yield ReferenceFault.IMAGE, ""
    elif kind not in (AnswerType.CODE, AnswerType.TEXT) and not _closes(text):
        yield ReferenceFault.UNBALANCED, ""
    else:
        value = read(reference, kind, asked(row.item)).value
        if kind in CHOICE:
            yield from _of_options(value, row.item)
        elif kind is AnswerType.NUMBER and isinstance(value, Leaf) and value.quantity:
            unit, apart = value.quantity.unit, units_apart and not _WITH_UNIT.search(question)
            if unit and (row.unit or apart):
                yield ReferenceFault.UNIT_INSIDE, unit
        elif kind is AnswerType.INTERVAL:
            yield from _of_ends(text)
        if row.item.answer_type is not None:
            yield from _of_type(kind, value, text)
        yield from _of_sides(text)
        yield from _of_the_parts(row.item, reference, value)


def _closes(text: str) -> bool:
    """Whether brackets have their other and dollar signs come in pairs; intervals mix brackets."""
    signs = Counter(re.sub(r"\\[{}$]", "", text))
    outward = signs["["] + signs["]"] == 2  # ]0, 1] is an interval, too
    mixed = signs["("] + signs["["] == signs[")"] + signs["]"]
    return signs["{"] == signs["}"] and signs["$"] % 2 == 0 and (mixed or outward)


def _of_type(kind: AnswerType, value: object, text: str) -> Iterator[FaultDetail]:
    """B.1, rules 1 to 4, of a stated type."""
    plain = not _NOT_PLAIN.search(text) and quantity(text) is not None
    if kind is AnswerType.NUMBER and not (isinstance(value, Leaf) and value.quantity):
        yield ReferenceFault.NOT_A_NUMBER, ""
    elif kind in _NUMBERS and plain:
        yield ReferenceFault.A_NUMBER, kind.words
    elif kind is AnswerType.EQUATION and not _RELATED.search(text):
        yield ReferenceFault.NO_EQUALS_SIGN, ""
    elif kind is AnswerType.EXPRESSION and "=" in ORDER.sub("", text.replace("==", "=")):
        yield ReferenceFault.EQUALS_SIGN, ""
    elif kind is AnswerType.INTERVAL and not isinstance(value, Region) and text[:1] != "]":
        yield ReferenceFault.NOT_AN_INTERVAL, ""


def _of_ends(text: str) -> Iterator[FaultDetail]:
    for match in _INTERVAL.finditer(text):
        low, high = (_real(match[name]) for name in ("low", "high"))
        if low is not None and high is not None and low > high:
            yield ReferenceFault.ENDS_REVERSED, match[0]


def _of_sides(text: str) -> Iterator[FaultDetail]:
    """Sides of an equation that are numbers and differ: x = 2 = 3."""
    values = [value for side in text.strip("$").split("=") if (value := _real(side)) is not None]
    if any(abs(value - values[0]) > 0.01 * abs(value) for value in values[1:]):
        yield ReferenceFault.TWO_VALUES, ""


def _real(text: str) -> float | None:
    found = quantity(text.strip())
    return None if found is None or isinstance(found.value, complex) else float(found.value)


def _of_the_parts(item: Item, reference: str, value: object) -> Iterator[FaultDetail]:
    """Not as many parts as the question marks, such as two of three."""
    wanted, given = _marked_parts(item.question), _marked_parts(reference)
    if item.answer_type is AnswerType.MULTI_PART and isinstance(value, Group):
        given = given or len(value.items)
    if wanted > 1 and given > 1 and wanted != given and not options_of(item.question):
        yield ReferenceFault.PARTS, f"{given} for {wanted}"


def _marked_parts(text: str) -> int:
    """The number of parts that are marked from (1) on; 0 without marks."""
    return next((n for n in range(len(marks(text)), 1, -1) if run_of_parts(text, n)), 0)


def _of_options(value: object, item: Item) -> Iterator[FaultDetail]:
    listed = options_of(asked(item))
    for letter, words in listed.items():
        if not words.strip(" .。:：、"):
            yield ReferenceFault.OPTION_WITHOUT_TEXT, letter
    if not isinstance(value, Options):
        yield ReferenceFault.NO_OPTION, ""
        return
    if item.answer_type is AnswerType.SINGLE_CHOICE and len(value.letters) > 1:
        yield ReferenceFault.SEVERAL_OPTIONS, ""
    missing = [letter for letter in value.letters if listed and letter not in listed]
    if missing:
        yield ReferenceFault.NO_SUCH_OPTION, f"{', '.join(missing)} of {''.join(listed)}"


def _judged(rows: Sequence[BenchmarkRow]) -> Iterator[tuple[int, Finding]]:
    """What the rules say of a response that repeats a reference, or that is the solution."""
    judge = ParallelJudge(RuleJudge()).judge
    alone = [(n, text) for n, row in enumerate(rows) for text in row.item.reference]
    items = [
        rows[n].item.model_copy(
            update={
                "reference": (text,),
                "response": " ".join(reference_answers(text)[:1]) or text,
            }
        )
        for n, text in alone
    ]
    for (n, text), item, judgement in zip(alone, items, judge(items), strict=True):
        in_words = answer_kind(item, text) in (AnswerType.TEXT, AnswerType.CODE)
        undecided = in_words and judgement.outcome is not Outcome.JUDGED
        if judgement.verdict is not Verdict.CORRECT and not undecided:
            yield n, rows[n].finding(ReferenceFault.NOT_ITSELF, text, judgement.reason)
    solved = [n for n, row in enumerate(rows) if row.solution]
    said = [rows[n].item.model_copy(update={"response": rows[n].solution}) for n in solved]
    for n, judgement in zip(solved, judge(said), strict=True):
        if judgement.verdict is Verdict.INCORRECT:
            text, answer = " | ".join(rows[n].item.reference), f"not {judgement.answer}"
            yield n, rows[n].finding(ReferenceFault.SOLUTION, text, answer)


def _again(rows: Sequence[BenchmarkRow]) -> Iterator[tuple[int, Finding]]:
    first: dict[str, BenchmarkRow] = {}
    for n, row in enumerate(rows):
        if not row.item.question.strip():
            continue
        before = first.setdefault(item_key(row.item), row)
        if before is not row:
            texts = [" | ".join(one.item.reference) for one in (before, row)]
            same = any(
                _equal(one, two, row.item)
                for one in before.item.reference
                for two in row.item.reference
            )
            fault = ReferenceFault.TWICE if same else ReferenceFault.ANOTHER_ANSWER
            yield n, row.finding(fault, texts[1], f"{before.where}: {texts[0]}")


def _equal(one: str, other: str, item: Item) -> bool:
    kind = answer_kind(item, one)
    first, second = (read(text, kind, asked(item)) for text in (one, other))
    return fold(one) == fold(other) or bool(compare(first, second, question=asked(item)).same)


def _item(row: dict[str, Any], columns: Columns, separator: str, where: str) -> Item | None:
    value = accepted(dig(row, columns.fields["reference"]), separator)
    texts = value if isinstance(value, list | tuple) else [value]
    answers = [str(text).strip() for text in texts if text is not None and str(text).strip()]
    if not answers:
        return None
    values = {
        "id": columns.text(row, "id"),
        "question": columns.text(row, "question"),
        "context": columns.text(row, "context") or None,
        "reference": answers,
        "response": answers[0],
        "answer_type": AnswerType._missing_(columns.text(row, "answer_type")),
    }
    return validate(Item, values, where)


@app.command(epilog="A file of yours: gradegpt eval.references bank.csv --map reference=answer")
def main(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A benchmark: a table of any form.")],
    out: Annotated[Path | None, options.output("Write every finding there, as JSON Lines.")] = None,
    mapped: options.Map = None,
    sheet: options.Sheet = "",
    separator: options.Separator = "",
    most: Annotated[int, typer.Option("--show", min=0, help="Findings shown of each fault.")] = 5,
) -> None:
    """Find references that cannot be right, before they are counted against a model.

    Each is shown with its line. The fields are question, reference, context, answer_type, unit and
    solution. The exit code is 1 if there is any fault, so a benchmark's own checks can call it.
    """
    rows, found = check_file(path, options.reading_of(mapped, sheet, separator))
    if out is not None:
        write_rows(out, found)
    faulty = len({finding.where for finding in found})
    say(f"{faulty:,} of {rows:,} rows have a reference that cannot be right")
    show_findings(found, most)
    if found:
        raise typer.Exit(1)


if __name__ == "__main__":
    run(app, name="gradegpt eval.references")
