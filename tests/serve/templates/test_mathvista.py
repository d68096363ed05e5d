"""Extraction: the answer in the form that the hint asks for, and never a verdict."""

from __future__ import annotations

import pytest

from gradegpt.core.schema import Message
from serve.templates import TEMPLATES, Ask, find

BY_NAME = {template.name: template for template in TEMPLATES}
INTEGER = "Hint: an integer answer is needed, such as 1 or 2.\nQuestion: How many?"
ONE = "Hint: a floating-point number with one decimal place.\nQuestion: How much?"
TWO = "Hint: a floating-point number with two decimal places.\nQuestion: How much?"
LIST = "Hint: a Python list is needed, such as [1, 2].\nQuestion: Which years?"
LETTER = "Hint: give the correct option letter.\nQuestion: What?\nChoices:\n(A) 3/11\n(B) red"


def asked(name: str, question: str, response: str) -> Ask:
    """A prompt of the family around a question and a response."""
    return find(BY_NAME[name].prompt(question, "", response))


def extracted(name: str, question: str, response: str) -> str:
    """The reply to the caller."""
    reply = asked(name, question, response).extraction()
    assert reply is not None
    return reply.core


@pytest.mark.parametrize(
    ("question", "response", "answer"),
    [(INTEGER, "There are 3 boxes, so the number missing is 14.", "14"),
     (INTEGER, "The answer is 14.0.", "14"), (INTEGER, "So it costs 1,200 in all.", "1200"),
     (INTEGER, "The answer is 14.5.", "14.5"), (INTEGER, "I cannot see the picture.", ""),
     (ONE, "The fraction is 0.6, as six of ten are.", "0.6"), (ONE, "The answer is 3/5.", "0.6"),
     (TWO, "She needs $1.45 for that.", "1.45"), (TWO, "The answer is 1.4.", "1.40"),
     (TWO, "The answer is -1.456 m.", "-1.46"),
     (LIST, "It peaked between 2007 and 2008.", "[2007, 2008]"),
     (LIST, "Between two years. The answer is [2007, 2008].", "[2007, 2008]"),
     (LETTER, "The correct answer is (B) red.", "B"), (LETTER, "The answer is 3/11.", "A"),
     (LETTER, "The answer is red.", "B"), (LETTER, "The answer is green.", "green"),
     ("Question: Where?", "The answer is Rome.", "Rome"), ("Question: Where?", "", "")],
)  # fmt: skip
def test_the_answer_has_the_form_of_the_hint(question: str, response: str, answer: str) -> None:
    """A number is rounded to the decimal places, never to an integer; no answer is empty."""
    assert extracted("mathvista_extract", question, response) == answer


def test_the_official_prompt_has_no_label_before_the_response() -> None:
    """A blank line separates them; numbers in the question are no answer."""
    text = (
        "Hint: an option letter.\nExtracted answer: B\n\n"
        "Hint: an integer answer is needed.\nQuestion: Of 10 balls 3 are red. How many are not?\n\n"
        "{response}\n\nExtracted answer: "
    )
    for response, answer in (("There are 7.", "7"), ("No idea.", "")):
        ask = find([Message(role="user", content=text.replace("{response}", response))])
        assert ask.template.name == "mathvista_extract"
        reply = ask.extraction()
        assert reply is not None
        assert reply.core == answer


def test_a_response_that_says_what_is_extracted_is_read_as_a_response() -> None:
    """The caller's last label counts."""
    response = "It is 5.\n\nExtracted answer: 7\n\nModel response: it is 8."
    ask = asked("mathvista_extract", INTEGER, response)
    assert ask.fields["response"] == response


@pytest.mark.parametrize(
    ("response", "answer"),
    [("So the distance is \\boxed{22.3}.", "22.3"), ("The answer is D.", "D"), ("", "null")],
)
def test_mathverse_wants_null_for_no_answer(response: str, answer: str) -> None:
    assert extracted("mathverse_extract", "", response) == answer


@pytest.mark.parametrize(
    ("question", "response", "answer"),
    [
        ("Which? Provide the correct option letter.", "The answer is A.", "A"),
        ("Which? Provide all correct option letters.", "The answer is A, C.", "A, C"),
        ("What value?", "The value is $2\\sqrt{3}$.", "2\\sqrt{3}"),
    ],
)
def test_mme_reasoning_gets_letters_with_commas(question: str, response: str, answer: str) -> None:
    """Its parser splits at commas and does not support brackets."""
    assert extracted("mme_reasoning_extract", question, response) == answer


def test_the_others_extract_nothing() -> None:
    """A family that judges has no extraction."""
    assert find(BY_NAME["verifybench"].prompt("1+1?", "2", "2")).extraction() is None
