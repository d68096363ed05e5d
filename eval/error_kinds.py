"""Classify the error of every wrong answer of a judged file: ``gradegpt eval.protocol errors``."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from gradegpt.answers.json_list import json_object
from gradegpt.app.console import read_items
from gradegpt.chains.chain import defuse
from gradegpt.chains.fit import Budget, fit_middle, fit_response
from gradegpt.chains.prompts import prompt_text
from gradegpt.core.records import read_rows
from gradegpt.core.schema import Item, Judgement, Message, Row, Verdict
from gradegpt.judges.calibration import type_of
from gradegpt.judges.parts import PARTS, part_items, read_answers
from gradegpt.rules.profiles import LABELS
from gradegpt.rules.reference import asked
from gradegpt.tables.inputs import USUAL, Reading

from .asking import Prompt, Protocol, Reply, conversation
from .error_rules import ATLAS, MEANING, Category, of_answer
from .figures import Figure, ProtocolSummary, mean
from .judging import paired

_NAMED: Final = "\n".join(f"{category.value}: {text}." for category, text in MEANING.items())
EQUAL: Final = "equal by the rules: check the judgement"


class WrongAnswer(Row):
    """One wrong answer. ``part``: the number of its sub-question, from 1; none for the whole.

    ``by`` is what found the category, ``nobody`` for ``unknown``; ``detail`` are a model's words.
    """

    id: str
    part: int | None = None
    category: Category
    by: Literal["rules", "model", "nobody"]
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
    *,
    by_model: bool = False,
) -> Protocol[WrongAnswer]:
    """The error of every wrong answer; with ``by_model`` a model is asked what rules leave unknown.

    An answer that the rules find equal to the reference is not asked about: there the judgement
    itself is in doubt. A row judged in parts has an error for every part that is not right.

    Raises:
        InputError: items and judgements are not of the same rows.

    """
    judged = list(read_rows(judgements, Judgement))
    wrongs = wrong_answers([one.item for one in read_items(path, reading)], judged)
    errors = [by_rules(wrong) for wrong in wrongs]
    prompts: list[Prompt] = [
        error_prompt(wrong)
        if by_model and error.category is Category.UNKNOWN and error.detail != EQUAL
        else ""
        for wrong, error in zip(wrongs, errors, strict=True)
    ]

    def read(n: int, reply: Reply) -> WrongAnswer:
        category, why = parse_category(reply.reply) or (Category.UNKNOWN, "")
        if category is Category.UNKNOWN:
            return errors[n]
        found = {"category": category, "by": "model", "detail": why}
        return errors[n].model_copy(update=found)

    digest = hashlib.sha256("\n".join(prompt[-1].content for prompt in prompts if prompt).encode())
    return Protocol(
        source=judgements, out=out, version=f"errors-2|{digest.hexdigest()}", prompts=prompts,
        read=read, summary=lambda rows: summed_up(judged, list(rows.values())), max_new_tokens=256,
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


def by_rules(wrong: Wrong) -> WrongAnswer:
    """The category that the rules find, unless the answer equals one of the references."""
    item, judgement = wrong.item, wrong.judgement
    found: Category | None = Category.UNKNOWN
    reference, detail = item.reference[0], "the judge named no answer"
    if wrong.answer is not None:
        kind = type_of(item) if wrong.part else judgement.answer_type or type_of(item)
        policy, detail = judgement.tolerance or item.tolerance or "auto", ""
        each = {r: of_answer(r, wrong.answer, kind, asked(item), policy) for r in item.accepted}
        known = (text for text, one in each.items() if one is not Category.UNKNOWN)
        reference = next((r for r, one in each.items() if one is None), next(known, reference))
        found = each[reference]
    unknown = found in (None, Category.UNKNOWN)
    return WrongAnswer(
        id=judgement.id, part=wrong.part, category=found or Category.UNKNOWN,
        by="nobody" if unknown else "rules", detail=EQUAL if found is None else detail,
        reference=reference, answer=wrong.answer, reason=judgement.reason,
    )  # fmt: skip


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
            "by rules": mean(
                (e.id, float(e.by == "rules")) for e in errors if e.category is category
            ),
            "ATLAS": Figure(value=ATLAS[category] / 100, n=200) if category in ATLAS else None,
        }
        for category in Category
    }
    counts = {"rows": len(judgements), **verdicts, "wrong answers": len(errors)}
    return ProtocolSummary(figures=figures, counts=counts)
