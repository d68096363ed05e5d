"""The question of an item, and the accepted answers of its reference with their type."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers import values
from gradegpt.answers.json_list import listed
from gradegpt.answers.options import LETTERS, as_context, sequence
from gradegpt.answers.parts import marks, numbered
from gradegpt.answers.quantity import quantity
from gradegpt.answers.read import answer_type
from gradegpt.answers.truth import truth
from gradegpt.answers.types import CHOICE, AnswerType, Group
from gradegpt.core.schema import Item
from gradegpt.rules.choices import find_choice
from gradegpt.rules.claims import How, boxes, find_answer
from gradegpt.rules.cues import cue

_WORKED: Final = 40
"""Characters from which on a reference is searched for the answer that it announces."""
_SHORT: Final = 12
_SCORED = re.compile(r"[(（]\s*\d{1,2}\s*分\s*[)）]")
"""The points for a part of the answer: (5分)."""
_ANNOUNCED = cue("heading", before=r"\A", after=r"\s*(?=\S.{0,60}\Z)")
_LABELLED = re.compile(r"[(（]([A-HJ])[)）](?=\s*[^\s,，、;；和与&/(（.。])(?!\s*(?:and|or)\b)")
"""An option with its text: (A) $A$ and $F$."""
_SAME_AS = re.compile(r"(?<![#\\])\\?#\s*\\?#(?!#)")
"""Between two spellings of one answer: 3/10 ## 0.3."""
_SEVERAL: Final = (AnswerType.MULTI_ANSWER, AnswerType.MULTI_PART, AnswerType.TUPLE)
"""Stated types under which answer keys of several questions occur."""


def asked(item: Item) -> str:
    """The question, with its context before it if it has one.

    Rules that look for something in a question (its options, whether to round, the unit, its words)
    look for it in this text.
    """
    if not item.context or not item.question:
        return item.question or item.context or ""
    return f"{as_context(item.context, item.question)}\n{item.question}"


def answer_places(reference: str, kind: AnswerType, question: str = "") -> int:
    """The number of answers in the reference that have a fixed order."""
    if kind in CHOICE:
        return len(sequence(reference, question))
    value = values.read(reference)
    several = isinstance(value, Group) and (value.ordered or kind in _SEVERAL)
    return len(value.items) if isinstance(value, Group) and several else 1


def reference_answers(reference: str) -> tuple[str, ...]:
    """The accepted answers in a reference, which may be a solution or a list of names."""
    names = listed(reference)
    if not names:
        spelt = [piece for piece in _SAME_AS.split(reference) if piece.strip()]
        return tuple(map(reference_answer, spelt or [reference]))
    amounts = [amount for name in names if (amount := quantity(name)) is not None]
    distinct = 1 < len(names) == len({amount.value for amount in amounts})
    return (numbered(names),) if distinct else names  # not spellings of one answer


def reference_answer(reference: str) -> str:
    """The short answer in a reference, which may be a worked solution that ends with it."""
    text = _ANNOUNCED.sub("", _SCORED.sub("", reference.strip())).rstrip(".。")
    if text.strip("$ ").startswith("\\boxed") and (boxed := find_answer(text)):
        return boxed.answer
    if sequence(text) or len(text) <= _SHORT:
        return text
    if labelled := _LABELLED.match(text):
        return labelled[1]
    end = len(text.rstrip(" .。．$}\n)）"))
    chosen = find_choice(text) if text[end - 1] in LETTERS else None
    if chosen is not None and chosen.committed and chosen.end >= end:
        return chosen.letters or text
    if len(text) <= _WORKED and "\n" not in text:
        return text
    parts = boxes(text)
    if len(parts) > 1 and len(marks(text, anywhere=True)) == len(parts):
        return numbered(part.content for part in parts)
    found = find_answer(text)
    return found.answer if found and found.how in (How.BOXED, How.ANNOUNCED) else text


def answer_kind(item: Item, reference: str) -> AnswerType:
    """The stated type, unless the reference contradicts it: "True" is not a number."""
    all_of = item.needs == "all" and len(item.reference) > 1
    return kind_of(reference, asked(item), item.answer_type, all_of=all_of)


def kind_of(
    reference: str, question: str, stated: AnswerType | None, *, all_of: bool = False
) -> AnswerType:
    """As ``answer_kind``, of a question; ``all_of`` for one of several needed answers."""
    if stated is AnswerType.NUMBER and truth(reference) is not None:
        return AnswerType.TRUE_FALSE
    if stated in (None, *_SEVERAL) and len(sequence(reference, question)) > 1:
        return AnswerType.MULTIPLE_CHOICE
    return stated or (AnswerType.MULTI_ANSWER if all_of else answer_type(reference, question))
