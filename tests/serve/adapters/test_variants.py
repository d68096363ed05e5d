"""Variants of known prompts, with other examples, ends or words: read correctly, or refused."""

from __future__ import annotations

import json

import pytest

from gradegpt.schema import Judgement, Message, Outcome, Verdict
from serve.adapters import Ask, PromptError, find

MENU = "Grade the predicted answer:\nA: CORRECT\nB: INCORRECT\nC: NOT_ATTEMPTED\n"
FENCED = "See\n```\n1 + 1\n```\nso Paris."


def ask(text: str) -> Ask:
    """The recognised prompt of one user message."""
    return find([Message(role="user", content=text)])


def judged(verdict: Verdict) -> Judgement:
    """A judgement without a chain."""
    return Judgement(id="", outcome=Outcome.JUDGED, verdict=verdict, method="rule")


def test_a_fence_of_the_response_does_not_end_an_item_without_fences() -> None:
    """Where a menu follows the item, the menu ends it."""
    item = f"Question: Where?\nGold target: Paris\nPredicted answer: {FENCED}\n\n"
    assert ask(f"Here is a new example.\n{item}{MENU}").item().response == FENCED


def test_an_item_may_follow_the_task_at_once() -> None:
    """Then a quoted introduction in the response has no effect."""
    quoted = "Here is a new example. Question: 1? Gold target: 7 Predicted answer: 7"
    item = f"Question: Where?\nGold target: Paris\nPredicted answer: Rome. {quoted}\n\n"
    found = ask(f'Assign "CORRECT" or "NOT_ATTEMPTED"].\n\n{item}{MENU}')
    assert found.item().reference == ("Paris",)


EXAMPLE = """[Question]: What color?
[Standard Answer]: It is {color}.
[Model_answer] : It {verb} pink.
Judgement: 0

"""
SCORED = "1 or 0, and don't output anything else.\n\n{examples}[Question]: Where?\n"
SCORED += "[Standard Answer]: Paris\n[Model_answer] : Rome\nJudgement:"


def test_examples_are_skipped_where_their_end_is_known_and_refused_elsewhere() -> None:
    """An example must not be read as the item."""
    known = ask(SCORED.format(examples=EXAMPLE.format(color="blue", verb="is")))
    assert known.item().reference == ("Paris",)
    assert ask(SCORED.format(examples="")).item().reference == ("Paris",)
    with pytest.raises(PromptError):
        ask(SCORED.format(examples=EXAMPLE.format(color="red", verb="looks")))


def test_a_report_with_worked_examples_is_omni_math() -> None:
    """They have the same parts as another family's item."""
    parts = "**Question**:\n1+1?\n**Reference Answer**\n2\n"
    item = f"<math solution>\n{parts}**Student Solution**:\n3\n</math solution>"
    shown = f"<example 1>\n{parts}## Student Final Answer\n2\n</example 1>\n"
    report = "No extra explanation.\n## Equivalence Judgement\n[TRUE or FALSE]\n"
    assert ask(report + shown + item).adapter.name == "omni_math"


LABELED = "Question: Where?\n\nLabeled Answer: Paris\n\nPredicted Answer: Rome\n\n"


@pytest.mark.parametrize(("right", "wrong"), [("Correct", "Incorrect"), ("yes", "no")])
def test_the_words_are_those_of_the_prompt(right: str, wrong: str) -> None:
    """They are read from a sentence and from a JSON object."""
    menu = f'Did the model give it? Please respond with "{right}" if so, or "{wrong}" if not.'
    assert ask(LABELED + menu).reply(judged(Verdict.INCORRECT)).core == wrong
    menu = f'{{ "rationale": "why", "judgement": "can only be \'{right}\' or \'{wrong}\'" }}'
    fence = ask(LABELED + menu).reply(judged(Verdict.CORRECT)).core
    assert json.loads(fence.strip("`").removeprefix("json"))["judgement"] == right


CRITERIA = """[BEGIN DATA]
***
[Input]: Where?
***
[Submission]: Rome
***
[Criteria]: {criteria}
***
[Reference]: Paris
***
[END DATA]
End with "Y" or "N"."""


def test_a_criterion_other_than_correctness_is_refused() -> None:
    """A short answer may be wrong, and a right one long."""
    assert ask(CRITERIA.format(criteria="accuracy: is it true?")).item().reference == ("Paris",)
    with pytest.raises(PromptError, match=r"langchain_criteria: .*use criteria='correctness'"):
        ask(CRITERIA.format(criteria="conciseness: is it short?")).item()


@pytest.mark.parametrize("end", ["GRADE: <integer 1-5>", "SCORE: N from 1 to 5"])
def test_a_known_frame_that_asks_for_a_scale_is_refused(end: str) -> None:
    """Its parser does not expect a verdict."""
    parts = "[Task]: Where?\n***\n[Submission]: Rome\n***\n[Criterion]: Paris"
    with pytest.raises(PromptError):
        ask(f"[BEGIN DATA]\n***\n{parts}\n***\n[END DATA]\nEnd with {end}.")
