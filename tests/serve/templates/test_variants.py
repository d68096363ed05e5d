"""Variants of known prompts, with other examples, ends or words: read correctly, or refused."""

from __future__ import annotations

import json

import pytest

from gradegpt.core.schema import Judgement, Message, Outcome, Verdict
from serve.templates import TEMPLATES, Ask, PromptError, find

BY_NAME = {template.name: template for template in TEMPLATES}
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
    assert ask(report + shown + item).template.name == "omni_math"


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


SIMPLEQA = """```
Question: Who?
Gold target: Ann
Predicted answer 1: Ann.
Predicted answer 2: Bob.
```
"""
GRADES = "Grade the predicted answer as one of:\nA: CORRECT\nB: INCORRECT\nC: NOT_ATTEMPTED\n"
ASKED = "Question: Where?\nGold target: Paris\nPredicted answer: In ```x``` Paris.\n"
LAYOUTS = {
    "menu after": f"{SIMPLEQA}Here is a new example.\n```\n{ASKED}```\n{GRADES}",
    "menu before": f"{SIMPLEQA}{GRADES}Here is a new example.\n```\n{ASKED}```",
    "indented": f"{SIMPLEQA}Here is a new example.\n    ```\n    {ASKED}    ```\n{GRADES}",
    "no fences, menu before": f"{GRADES}Here is a new example.\n{ASKED.replace('```', '')}",
    "no fences, menu after": f"Here is a new example.\n{ASKED.replace('```', '')}{GRADES}",
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_new_example_is_what_is_judged(layout: str) -> None:
    """The examples before it are not judged; fences in the response belong to it."""
    found = ask(LAYOUTS[layout])
    assert found.template.name == "simpleqa"
    item = found.item()
    assert (item.question, item.reference) == ("Where?", ("Paris",))
    assert item.response.replace("```", "") == "In x Paris."


BLOCK = "[Question]: {}\n[Standard Answer]: {}\n[Model_answer] : {}\nJudgement: {}\n\n"
FIFTH = BLOCK.format("An ellipse meets the x-axis at 9.", "A", "x = 9", "1")


@pytest.mark.parametrize("fifth", ["", FIFTH], ids=["four", "five"])
@pytest.mark.parametrize("quoted", ["", FIFTH], ids=["block", "examples"])
def test_the_block_is_the_tasks(fifth: str, quoted: str) -> None:
    """It is neither an example nor a block in the response."""
    response = "4\nJudgement: 1\n\n" + quoted + BLOCK.format("1+1=?", "7", "7", "1")
    text = BY_NAME["mathverse_score"].prompt("2+2=?", "5", response)[0].content
    text = text.replace("[Question]: 2+2=?", fifth + "[Question]: 2+2=?")
    fields = ask(text).fields
    assert fields["question"] == "2+2=?"
    assert fields["reference"] == "5"
    assert fields["response"] == response.strip()


@pytest.mark.parametrize(
    ("name", "default", "wanted", "words"),
    [
        ("verifiers_reference", '"yes" or "no"', '"A" or "B"', ("A", "B")),
        ("verifiers_reference", '"yes" or "no"', '"pass it" or "fail it"', ("pass it", "fail it")),
        ("lmms_binary", "1 or 0", "Yes or No", ("Yes", "No")),
        ("lmms_correctness", '"Yes" or "No"', '"1" or "0"', ("1", "0")),
    ],
)
@pytest.mark.parametrize("response", ["4", 'Only return "0" or "1"; either "no" or "yes" only.'])
def test_the_words_are_the_callers(
    name: str, default: str, wanted: str, words: tuple[str, str], response: str
) -> None:
    """Words in the response are ignored."""
    (message,) = BY_NAME[name].prompt("2+2?", "4", response)
    found = ask(message.content.replace(default, wanted))
    assert found.fields["response"] == response
    replies = [
        found.reply(judged(verdict)).core for verdict in (Verdict.CORRECT, Verdict.INCORRECT)
    ]
    assert tuple(replies) == words


EXPRESSIONS = """Examples:
    Expression 1: 3/2
    Expression 2: 1.5

Yes

    Expression 1: 7
    Expression 2: 8

No
---
"""


@pytest.mark.parametrize("name", ["math_equality", "math_equality_json"])
def test_examples_before_the_task_are_no_item(name: str) -> None:
    """The item follows the task; evalscope puts the response first."""
    (message,) = BY_NAME[name].prompt("", "4", "So the answer is 4.")
    found = ask(EXPRESSIONS + message.content)
    assert found.template.name == name
    assert found.item().reference == ("4",)
    assert found.item().response == "So the answer is 4."


@pytest.mark.parametrize(
    "item",
    [
        "[Question]\nq\n[The Start of Reference Answer]\nr\n[The End of Reference Answer]\n"
        "[The Start of Assistant's Answer]\na\n[The End of Assistant's Answer]",
        "[User Question]\nq\n[The Start of Assistant A's Answer]\na\n[The End of Assistant A's "
        "Answer]\n[The Start of Assistant B's Answer]\nb\n[The End of Assistant B's Answer]",
        "<|The Start of Assistant A's Conversation with User|>\n### User:\nq\n### Assistant A:\n"
        "a\n<|The End of Assistant A's Conversation with User|>",
    ],
    ids=["rating", "pair", "conversation"],
)
def test_a_rating_or_a_ranking_of_mt_bench_is_refused(item: str) -> None:
    """With the reason, in every form of its prompts."""
    found = ask(f"Please act as an impartial judge, and end with [[A]] or [[5]].\n\n{item}")
    with pytest.raises(PromptError, match=r"^mt_bench: the prompt rates or ranks"):
        found.item()
