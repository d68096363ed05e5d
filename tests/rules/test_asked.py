"""The context of an item is part of its question for the rules and the profiles."""

from __future__ import annotations

import pytest

from gradegpt.core.schema import AnswerType, Item
from gradegpt.judges.calibration import type_of
from gradegpt.judges.profile import ProfileJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.rules.reference import asked

BANK = "Options for this part:\nA. sodium\nB. iron\nC. copper"


def item(reference: str, response: str, question: str = "", context: str | None = None) -> Item:
    return Item(reference=(reference,), response=response, question=question, context=context)


def verdict(*parts: str | None) -> str:
    judgement = RuleJudge().judge([item(*parts)])[0]  # type: ignore[arg-type]
    return (judgement.verdict or judgement.outcome).value


CASES = [
    pytest.param("B", "The answer is iron.", "Which one rusts?", BANK, id="options-listed-there"),
    pytest.param("B", "The answer is copper.", "Which one rusts?", BANK, id="another-of-them"),
    pytest.param("0.18", "The answer is 18.", "And for girls?", "What percentage of boys swim?",
                 id="percent"),
    pytest.param("18%", "The answer is 18.", "And for girls?", "What percentage of boys swim?",
                 id="percent-stated"),
    pytest.param("3.14159", "The answer is 3.1.", "Find the ratio.", "Round to one decimal place.",
                 id="rounding"),
    pytest.param("Newton", "Newton or Leibniz, it is about Newton.", "Who was first?",
                 "Compare Newton and Leibniz.", id="own-words"),
    pytest.param("2018", "The answer is March 18, 2018.", "Say it.", "When was it launched?",
                 id="when"),
]  # fmt: skip


@pytest.mark.parametrize(("reference", "response", "question", "context"), CASES)
def test_an_item_with_a_context_is_judged_as_if_its_question_began_with_it(
    reference: str, response: str, question: str, context: str
) -> None:
    """The verdict is that of an item whose question has the context in its text."""
    whole = f"{context}\n{question}"
    assert verdict(reference, response, question, context) == verdict(reference, response, whole)


@pytest.mark.parametrize(
    ("reference", "response", "question", "context", "without", "expected"),
    [
        ("B", "The answer is iron.", "Which one rusts?", BANK, "undecided", "correct"),
        ("B", "The answer is copper.", "Which one rusts?", BANK, "undecided", "incorrect"),
        ("18%", "The answer is 18.", "And for girls?", "What percentage of boys swim?",
         "undecided", "correct"),
        ("2018", "The answer is March 18, 2018.", "Say it.", "When was it launched?",
         "undecided", "correct"),
    ],
    ids=["option-text", "another-option-text", "percent", "year-of-a-date"],
)  # fmt: skip
def test_a_context_changes_the_verdicts_that_it_should(
    reference: str, response: str, question: str, context: str, without: str, expected: str
) -> None:
    """Items that are undecided with the question alone are decided with its context."""
    assert verdict(reference, response, question) == without
    assert verdict(reference, response, question, context) == expected


def test_options_of_an_earlier_part_are_not_those_of_this_one() -> None:
    """If the question lists options, only these are read."""
    before = "(1) Which is a metal?\nA. iron\nB. sulphur\nC. neon\nD. argon\nE. chlorine\nAnswer: A"
    own = "(2) Which is a gas at room temperature?\nA. sodium\nB. iron\nC. neon"
    assert "argon" not in asked(item("C", "C", own, before))
    assert verdict("C", "The answer is neon.", own, before) == "correct"
    assert verdict("C", "The answer is iron.", own, before) == "incorrect"


def test_parts_that_were_asked_before_are_not_counted_as_parts_of_this_one() -> None:
    """Two roots match in either order after two numbered parts; ACD is not three answer keys."""
    before = "第1～3题共用题干。1. 求 a。答：5\n2. 求 b。答：7"
    assert verdict("1, 2", "The answer is 2, 1.", "Find both roots.", before) == "correct"
    assert verdict("ACD", "故选 D、C、A。", "多选：哪些正确？", before) == verdict(
        "ACD", "故选 D、C、A。", "多选：哪些正确？"
    )


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
