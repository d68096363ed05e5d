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


class ErrorKinds(StrEnum):
    """Whose kinds of error."""

    ATLAS = "atlas"
    CMMATH = "cmmath"


KINDS: Final[dict[ErrorKinds, dict[str, tuple[str, float | None]]]] = {
    ErrorKinds.ATLAS: {
        "numerical": ("another number than the reference's", 27.0),
        "mathematical": ("another formula, equation, expression or interval", 16.5),
        "missing": ("some of several values, options or sub-answers are not there", 13.0),
        "structural": ("another kind of thing, such as words for a value or more values", 11.0),
        "method": ("it comes of a wrong approach or assumption", 8.5),
        "contradictory": ("the opposite of the reference, such as yes for no", 7.0),
        "unit": ("another unit, or none where one is needed", 5.0),
        "reasoning": ("the argument that was asked for does not hold", 4.5),
        "concept": ("a principle or term is taken for another", 4.0),
        "incomplete": ("right as far as it goes, without details of the reference", 3.5),
    },
    ErrorKinds.CMMATH: {
        "perception": ("a diagram, or what the question says, is read or used wrongly", None),
        "reasoning": ("wrong logic or knowledge, or a symbol that is misinterpreted", None),
        "calculation": ("an equation is set up, calculated or solved wrongly", None),
        "reject": ("it does not solve a question that can be solved", None),
    },
}
"""The kinds of error of each paper, with their definitions in our words.

ATLAS, table 6: with the percent of 200 explanations of wrong answers. CMMaTH, section 5, whose
shares are in a figure without numbers.
"""
UNKNOWN: Final = "unknown"
"""None of a paper's kinds."""


class WrongAnswer(Row):
    """One wrong answer. ``part``: the number of its sub-question, from 1; none for the whole.

    ``detail`` are the model's words.
    """

    id: str
    part: int | None = None
    category: str
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
    kinds: ErrorKinds = ErrorKinds.ATLAS,
) -> Protocol[WrongAnswer]:
    """The error of every wrong answer; a row judged in parts has one for every part that is wrong.

    ``kinds`` names the paper whose kinds they are. An answer that is ``invalid``, as one that
    declines, counts as wrong where they include ``reject``.

    Raises:
        InputError: items and judgements are not of the same rows.

    """
    judged = list(read_rows(judgements, Judgement))
    wrongs = wrong_answers([one.item for one in read_items(path, reading)], judged, kinds)

    def read(n: int, reply: Reply) -> WrongAnswer:
        wrong = wrongs[n]
        category, why = parse_category(reply.reply, kinds)
        return WrongAnswer(
            id=wrong.judgement.id, part=wrong.part, category=category, detail=why,
            reference=wrong.item.reference[0], answer=wrong.answer, reason=wrong.judgement.reason,
        )  # fmt: skip

    return Protocol(
        source=judgements, out=out, version="errors-3",
        prompts=[error_prompt(wrong, kinds) for wrong in wrongs], read=read, max_new_tokens=256,
        summary=lambda rows: summed_up(judged, list(rows.values()), kinds),
    )  # fmt: skip


def wrong_answers(
    items: Sequence[Item], judgements: Sequence[Judgement], kinds: ErrorKinds = ErrorKinds.ATLAS
) -> list[Wrong]:
    """Every answer that was judged wrong; of rows judged in parts, the wrong or missing parts.

    Raises:
        InputError: items and judgements are not of the same rows.

    """
    wrong = {Verdict.INCORRECT, *([Verdict.INVALID] if "reject" in KINDS[kinds] else [])}
    return [
        one
        for item, judgement in paired(items, judgements)
        if judgement.verdict in wrong
        for one in _of_row(item, judgement)
    ]


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


def error_prompt(wrong: Wrong, kinds: ErrorKinds = ErrorKinds.ATLAS) -> tuple[Message, ...]:
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
    named = [f"{kind}: {meaning}." for kind, (meaning, _) in KINDS[kinds].items()]
    categories = "\n".join([*named, f"{UNKNOWN}: none of these."])
    return conversation(prompt_text("error_kinds").format(categories=categories), user)


def parse_category(reply: str, kinds: ErrorKinds = ErrorKinds.ATLAS) -> tuple[str, str]:
    """The category that a reply names, with its reason; ``unknown`` for an unparsed reply."""
    found = json_object(reply, "category")
    if not isinstance(found, dict) or str(found.get("category")) not in KINDS[kinds]:
        return UNKNOWN, ""
    return found["category"], " ".join(str(found.get("why") or "").split())


def summed_up(
    judgements: Sequence[Judgement],
    errors: Sequence[WrongAnswer],
    kinds: ErrorKinds = ErrorKinds.ATLAS,
) -> ProtocolSummary:
    """The share of each category among all errors, beside that of the paper, and all verdicts."""
    verdicts = Counter(str(judgement.verdict or "no verdict") for judgement in judgements)
    figures: dict[str, dict[str, Figure | None]] = {}
    for kind, (_, percent) in {**KINDS[kinds], UNKNOWN: ("", None)}.items():
        own = mean((error.id, float(error.category == kind)) for error in errors)
        figures[kind] = {"share of wrong answers": own}
        if kinds is ErrorKinds.ATLAS:
            figures[kind]["ATLAS"] = Figure(value=percent / 100, n=200) if percent else None
    counts = {"rows": len(judgements), **verdicts, "wrong answers": len(errors)}
    return ProtocolSummary(figures=figures, counts=counts)
