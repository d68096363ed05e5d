"""VLMEvalKit's multiple choice: the option that a response gives, or ``Z``."""

from __future__ import annotations

import pytest

from gradegpt.core.schema import Message
from serve.templates import find

ENGLISH = """Match the answer with an option; Z for none.
Example 1:
Question: Which animal barks?
Options: A. cat B. dog
Answer: a big dog
Your output: B
Example 2:
Question: Which animal barks?
Options: A. cat B. dog
Answer: A fish
Your output: Z
Example 3:
Question: {question}?
Options: {options}
Answer: {response}
Your output: """
BLINK = """Match the answer with an option.
Example 1:
Question: Which point is closer?
Options: A. Point A
B. Point B
(Z) Failed
Answer: B is.
Your output: (B)
Example 3:
Question: Which point?
Options: (A) Point A
(B) Point B
(Z) Failed
Answer: There is no correct one.
Your output: (Z)
Example 4:
Question: {question}?
Options: {options}
(Z) Failed
Answer: {response}
Your output: """
WEMATH = ENGLISH.replace("Question: {question}?\nOptions: {options}\nAnswer: {response}\n",
    "Question: <start>\n{question}\nOptions: {options}\n<end>\nAnswer: <start>\n{response}\n<end>\n"
)  # fmt: skip
CHINESE = """给答案找出选项，没有则为 Z。
例 1:
问题: 哪种动物会叫?
选项: A. 猫 B. 狗
答案: 一只大狗
输出: B
例 2:
问题: 哪种动物会叫?
选项: A. 猫 B. 狗
答案: 鱼
输出: Z
例 3:
问题: {question}?
选项: {options}
答案: {response}
输出: """
PLANETS = "There are several options:\nA. Venus\nB. Mars\nC. Jupiter\nD. Saturn\n"
ZH_PLANETS = "A. 金星\nB. 火星\nC. 木星\nD. 土星"


def matched(template: str, response: str, options: str = PLANETS) -> str:
    """The letter in the reply."""
    asked = template.format(question="Which planet is red", options=options, response=response)
    ask = find([Message(role="user", content=asked)])
    assert ask.template.name == "option_match"
    reply = ask.extraction()
    assert reply is not None
    return reply.core


@pytest.mark.parametrize("template", [ENGLISH, BLINK, WEMATH], ids=["plain", "blink", "wemath"])
@pytest.mark.parametrize(
    ("response", "letter"),
    [("B", "B"), ("The answer is (C).", "C"), ("Mars", "B"), ("It is the planet Mars.", "B"),
     ("It is A or B.", "Z"), ("It can't be B.", "Z"), ("I cannot see the image.", "Z"),
     ("Neptune", "Z"), ("Answer: D", "D")],
)  # fmt: skip
def test_the_option_that_a_response_gives(template: str, response: str, letter: str) -> None:
    """By its letter or by its text; ``Z`` where it gives none or two."""
    assert matched(template, response) == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [("选 B。", "B"), ("火星", "B"), ("答案是 C", "C"), ("不选B。", "Z"), ("海王星", "Z")],
)
def test_chinese_questions(response: str, letter: str) -> None:
    assert matched(CHINESE, response, ZH_PLANETS) == letter


def test_options_on_one_line() -> None:
    assert matched(ENGLISH, "Mars", "A. Venus B. Mars C. Jupiter") == "B"


def test_a_response_that_quotes_the_frame_is_one() -> None:
    """The first frame counts."""
    quoted = ENGLISH.format(question="Which", options="A. x B. y", response="x")
    asked = ENGLISH.format(question="Which", options=PLANETS, response=f"Mars.\n{quoted}A")
    ask = find([Message(role="user", content=asked)])
    assert ask.fields["options"] == PLANETS.strip()
    assert ask.fields["response"].startswith("Mars.")
