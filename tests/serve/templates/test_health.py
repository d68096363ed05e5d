"""Connection checks are answered; nothing that could be judged is taken for one."""

from __future__ import annotations

import pytest

from gradegpt.core.schema import Message
from serve.templates import TEMPLATES, PromptError, find

HELPFUL = Message(role="system", content="You are a helpful assistant.")


def said(*messages: Message) -> str:
    """The reply to a conversation, which must be a connection check."""
    ask = find(messages)
    assert ask.template.name == "health"
    reply = ask.extraction()
    assert reply is not None
    return reply.core


@pytest.mark.parametrize(
    ("probe", "reply"),
    [("hello", "Hello!"), ("你好", "Hello!"), ("Hey how's it going?", "Hello!"),
     ("Hello, is this working?", "Hello!"), ("What's 1 + 1?", "2"), ("ping", "pong"),
     ("test", "The test"), ('Say "OK"', "OK"), ("Say this is a test", "this is a test"),
     ("who are you", "I am GradeGPT"), (" Hello\n", "Hello!")],
)  # fmt: skip
def test_a_connection_check_gets_a_plain_sentence(probe: str, reply: str) -> None:
    """With a system message of no content, and without."""
    message = Message(role="user", content=probe)
    assert said(message).startswith(reply)
    assert said(HELPFUL, message).startswith(reply)


@pytest.mark.parametrize(
    "text",
    ["hello 42", "hello\nThe answer is 4.", "Is the answer hello right?",
     "What's 1 + 1? The answer is 2.", "1+1=2", "Say yes", "Say OK if 4 is right", "ping" * 2, "",
     "hello " * 10_000],
)  # fmt: skip
def test_any_other_text_is_not_one(text: str) -> None:
    with pytest.raises(PromptError):
        find([Message(role="user", content=text)])


def test_no_instruction_of_a_judge_comes_before_one() -> None:
    """A response may be a greeting, with the task in the system message or in an earlier turn."""
    for task in (
        "Grade the answer. The reference is hello.",
        "You are a helpful assistant. Grade.",
    ):
        for role in ("system", "user"):
            with pytest.raises(PromptError):
                find([Message(role=role, content=task), Message(role="user", content="hello")])


def test_a_greeting_in_the_prompt_of_a_family_is_a_response() -> None:
    for template in TEMPLATES:
        if template.name != "health":
            assert find(template.prompt("1+1=?", "2", "hello")).template.name == template.name
