"""The context of an item is part of its question for the rules and the profiles."""

from __future__ import annotations

from gradegpt.core.schema import AnswerType, Item
from gradegpt.judges.calibration import type_of
from gradegpt.judges.profile import ProfileJudge
from gradegpt.rules.reference import asked

BANK = "Options for this part:\nA. sodium\nB. iron\nC. copper"


def item(reference: str, response: str, question: str = "", context: str | None = None) -> Item:
    return Item(reference=(reference,), response=response, question=question, context=context)


def test_without_a_context_the_question_is_unchanged() -> None:
    """The same object is returned; without a question the context takes its place."""
    question = "第9～11题：What is 2+2?"
    assert asked(item("4", "4", question)) is question
    assert asked(item("4", "4", question, "")) is question
    assert asked(item("4", "4", "", question)) is question


def test_a_context_reaches_the_answer_type_and_the_profiles() -> None:
    """The letter of an option in the context is a choice; profiles read an option by its text."""
    named = item("B. iron", "\\boxed{iron}", "Which one rusts?", BANK)
    assert type_of(named) is AnswerType.SINGLE_CHOICE
    atlas = Item(reference=("B",), response='{"answers": ["iron"]}', question="Which one rusts?",
                 context=BANK, answer_type=AnswerType.SINGLE_CHOICE)  # fmt: skip
    judge = ProfileJudge("atlas")
    with_context, without = judge.judge([atlas, atlas.model_copy(update={"context": None})])
    assert with_context.verdict == "correct"
    assert without.verdict != "correct"
