"""Classify the error of every wrong answer of a judged file: ``gradegpt eval.protocol errors``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from gradegpt.answers.json_list import json_object
from gradegpt.app.console import read_items
from gradegpt.chains.chain import defuse
from gradegpt.chains.fit import Budget, fit_middle, fit_response
from gradegpt.chains.prompts import prompt_text
from gradegpt.core.records import read_rows
from gradegpt.core.schema import Item, Judgement, Message, Row, Verdict
from gradegpt.judges.parts import PARTS, part_items, read_answers
from gradegpt.rules.profiles import LABELS
from gradegpt.rules.reference import asked
from gradegpt.tables.inputs import USUAL, Reading

from .asking import Protocol, Reply, conversation
from .figures import Figure, ProtocolSummary, mean
from .judging import paired


class Category(StrEnum):
    """What is wrong with an answer.

    The categories and their order are the paper's (ATLAS, table 6), the definitions in ``MEANING``
    our own; ``unknown`` is no category of the paper.
    """

    NUMERICAL = "numerical"
    MATHEMATICAL = "mathematical"
    MISSING = "missing"
    STRUCTURAL = "structural"
    METHOD = "method"
    CONTRADICTORY = "contradictory"
    UNIT = "unit"
    REASONING = "reasoning"
    CONCEPT = "concept"
    INCOMPLETE = "incomplete"
    UNKNOWN = "unknown"


ATLAS: Final = {
    Category.NUMERICAL: 27.0, Category.MATHEMATICAL: 16.5, Category.MISSING: 13.0,
    Category.STRUCTURAL: 11.0, Category.METHOD: 8.5, Category.CONTRADICTORY: 7.0,
    Category.UNIT: 5.0, Category.REASONING: 4.5, Category.CONCEPT: 4.0, Category.INCOMPLETE: 3.5,
}  # fmt: skip
"""Percent of 200 explanations of wrong answers (table 6); they add up to 100."""

MEANING: Final = {
    Category.NUMERICAL: "another number than the reference's",
    Category.MATHEMATICAL: "another formula, equation, expression or interval",
    Category.MISSING: "some of several values, options or sub-answers are not there",
    Category.STRUCTURAL: "another kind of thing, such as words for a value or more values",
    Category.METHOD: "it comes of a wrong approach or assumption",
    Category.CONTRADICTORY: "the opposite of the reference, such as yes for no",
    Category.UNIT: "another unit, or none where one is needed",
    Category.REASONING: "the argument that was asked for does not hold",
    Category.CONCEPT: "a principle or term is taken for another",
    Category.INCOMPLETE: "right as far as it goes, without details of the reference",
    Category.UNKNOWN: "none of these",
}
"""The definition of each category in the model's prompt."""

_NAMED: Final = "\n".join(f"{category.value}: {text}." for category, text in MEANING.items())


class WrongAnswer(Row):
    """One wrong answer. ``part``: the number of its sub-question, from 1; none for the whole.

    ``detail`` are the model's words.
    """

    id: str
    part: int | None = None
    category: Category
    detail: str = ""
    reference: str
    answer: str | None = None
    reason: str = ""


class Wrong(NamedTuple):
    """An answer that was judged wrong; its item has only its own question and reference."""

    item: Item
    judgement: Judgement
    answer: str | None
    part: int | None = None


def errors_protocol(
    path: Path,
    judgements: Path,
    out: Path,
    reading: Reading = USUAL,
) -> Protocol[WrongAnswer]:
    """The error of every wrong answer; a row judged in parts has one for every part that is wrong.

    Raises:
        InputError: items and judgements are not of the same rows.

    """
    judged = list(read_rows(judgements, Judgement))
    wrongs = wrong_answers([one.item for one in read_items(path, reading)], judged)

    def read(n: int, reply: Reply) -> WrongAnswer:
        wrong, found = wrongs[n], parse_category(reply.reply)
        category, why = found or (Category.UNKNOWN, "")
        return WrongAnswer(
            id=wrong.judgement.id, part=wrong.part, category=category, detail=why,
            reference=wrong.item.reference[0], answer=wrong.answer, reason=wrong.judgement.reason,
        )  # fmt: skip

    return Protocol(
        source=judgements, out=out, version="errors-3",
        prompts=[error_prompt(wrong) for wrong in wrongs], read=read, max_new_tokens=256,
        summary=lambda rows: summed_up(judged, list(rows.values())),
    )  # fmt: skip


def wrong_answers(items: Sequence[Item], judgements: Sequence[Judgement]) -> list[Wrong]:
    """Every answer that was judged incorrect; of rows judged in parts, the wrong or missing parts.

    Raises:
        InputError: items and judgements are not of the same rows.

    """
    found: list[Wrong] = []
    for item, judgement in paired(items, judgements):
        if judgement.verdict is Verdict.INCORRECT:
            found += _of_row(item, judgement)
    return found


def _of_row(item: Item, judgement: Judgement) -> Iterator[Wrong]:
    answers = read_answers(item)
    if not judgement.reason.startswith(PARTS) or isinstance(answers, Judgement):
        yield Wrong(item, judgement, judgement.answer)
        return
    labels = judgement.reason.removeprefix(PARTS).split(":")[0].split(",")
    parts = zip(labels, part_items(item, answers), answers, strict=True)
    for number, (label, part, answer) in enumerate(parts, 1):
        if label == LABELS[Verdict.INCORRECT]:
            yield Wrong(part, judgement, answer, number)
        elif label == LABELS[Verdict.INVALID]:
            yield Wrong(part, judgement, "", number)


def error_prompt(wrong: Wrong) -> tuple[Message, ...]:
    """The conversation that asks for the category of a wrong answer; texts are framed."""
    item, budget = wrong.item, Budget()
    question = defuse(fit_middle(asked(item), budget.question))
    reference = defuse(fit_response(" or ".join(item.accepted), budget.reference))
    answer = wrong.answer if wrong.part else item.response
    response = defuse(fit_response(answer or item.response, budget.response))
    grounds = defuse(fit_response(wrong.judgement.chain or wrong.judgement.reason, 400))
    user = (
        f"<question>\n{question}\n</question>\n<reference>\n{reference}\n</reference>\n"
        f"<response>\n{response}\n</response>\n<context>\nThe grader: {grounds}\n</context>"
    )
    return conversation(prompt_text("error_kinds").format(categories=_NAMED), user)


def parse_category(reply: str) -> tuple[Category, str] | None:
    """The category that a reply names, with its reason; None for an unparsed reply."""
    found = json_object(reply, "category")
    if not isinstance(found, dict) or found.get("category") not in list(Category):
        return None
    return Category(found["category"]), " ".join(str(found.get("why") or "").split())


def summed_up(judgements: Sequence[Judgement], errors: Sequence[WrongAnswer]) -> ProtocolSummary:
    """The share of each category among all errors, beside that of the paper, and all verdicts."""
    verdicts = Counter(str(judgement.verdict or "no verdict") for judgement in judgements)
    figures = {
        category.value: {
            "share of wrong answers": mean((e.id, float(e.category is category)) for e in errors),
            "ATLAS": Figure(value=ATLAS[category] / 100, n=200) if category in ATLAS else None,
        }
        for category in Category
    }
    counts = {"rows": len(judgements), **verdicts, "wrong answers": len(errors)}
    return ProtocolSummary(figures=figures, counts=counts)
