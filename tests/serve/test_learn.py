"""Templates learnt from two or more prompts of a pipeline."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from gradegpt.core.errors import GradeGPTError
from gradegpt.core.schema import Message
from gradegpt.core.settings import parse_settings
from serve.learn import FIELDS, LearnError, align, as_yaml, learn
from serve.template import app
from serve.templates import TEMPLATES, Template
from serve.templates.frame import frames_of
from serve.wording import role_of

ENGLISH = """You check homework.

Question: {question}
Expected answer: {reference}
Student answer: {response}

Is the student's answer correct? Reply with PASS or FAIL.
"""
CHINESE = (
    "请判断学生的回答是否正确。\n【题目】\n{question}\n【标准答案】\n{reference}\n【学生回答】\n{response}"
    "\n\n只输出“正确”或“错误”。"
)
LAST = """Compare the prediction with the gold answer.
Prediction: "{response}"
Gold: "{reference}"
Respond with CORRECT or INCORRECT."""
LINE = """Is it CORRECT or INCORRECT?
Question: {question}, Output sentence: {response}, Correct answer: {reference}, Judgement:"""
TAGS = (
    "<question>{question}</question>\n<reference>{reference}</reference>\n"
    "<response>\n{response}\n</response>\nAnswer with CORRECT or INCORRECT."
)
FENCES = (
    "Question:\n```\n{question}\n```\nGround truth answer:\n```\n{reference}\n```\n"
    "Response:\n```\n{response}\n```\n"
    'Determine if the response is correct. Respond either "yes" or "no" only.'
)
BARE = "Response: {response}\n\nAnswer: {reference}\n\nReply with CORRECT or INCORRECT."
PROMPTS = {
    "english": ENGLISH, "chinese": CHINESE, "reference last": LAST, "one line": LINE, "tags": TAGS,
    "fences": FENCES, "the field that is left": BARE,
}  # fmt: skip
SUM = ("What is 2+2?", "4", "The answer is 4.")
PRODUCT = ("What is 3*5?", "15", "I multiply.\n\n3*5 = 15")
SPEED = ("光速是多少？", "3×10^8 m/s", "约30万公里每秒。")
LABELS = ("State Ohm's law.", "V = IR", "Question: none\nReference: 7\nExpected answer: 7")
QUOTED = ("Translate hello.", "你好", '"你好"')
STEPS = ("Solve x+1=2: show work", "x=1", "Step 1: subtract\nStep 2: x=1\nAnswer: x=1")
MORE = ("Evaluate f: how?", "9", "Step 1: square\nStep 2: 9\nAnswer: 9")
Item = tuple[str, str, str]


def prompt(template: str, item: Item) -> list[Message]:
    """The prompt of a template, as one message."""
    for name, value in zip(FIELDS, item, strict=True):
        template = template.replace(f"{{{name}}}", value)
    return [Message(role="user", content=template)]


def read(learnt: Template, template: str, item: Item) -> dict[str, str]:
    """What a learnt template reads in a prompt."""
    ask = learnt.read(frames_of(prompt(template, item)))
    assert ask is not None
    return dict(ask.fields)


def fields(template: str, item: Item) -> dict[str, str]:
    """What was put into it."""
    named = zip(FIELDS, item, strict=True)
    return {name: value for name, value in named if f"{{{name}}}" in template}


def other(text: str) -> list[list[Message]]:
    """Two prompts of a template."""
    return [prompt(text, SUM), prompt(text, SPEED)]


@pytest.mark.parametrize("template", PROMPTS.values(), ids=PROMPTS)
@pytest.mark.parametrize(
    "items", [(SUM, SPEED), (PRODUCT, LABELS), (LABELS, SPEED), (QUOTED, PRODUCT), (STEPS, MORE)]
)
def test_two_prompts_show_the_template(template: str, items: tuple[Item, Item]) -> None:
    """It is the text, whatever the items share or quote, and reads further prompts exactly."""
    prompts = [prompt(template, item) for item in items]
    if template is BARE and items[0] is STEPS:  # which "Answer:" is the template's?
        with pytest.raises(LearnError, match="the reference is not clear"):
            learn(prompts, "learnt", REPLIES)
        return
    learnt = learn(prompts, "learnt", REPLIES)
    assert learnt.template.split() == template.split()
    quoting = frames_of(prompt(template, SUM)).strip()
    for item in (SUM, PRODUCT, LABELS, ("Which?", "B", quoting)):
        assert read(learnt, template, item) == fields(template, item)


LINES = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=9)
TEXTS = st.lists(LINES, min_size=1, max_size=4).map("\n".join)


@given(TEXTS)
def test_no_response_steers_what_was_learnt(response: str) -> None:
    """A response is a response, also with the labels of the template around it."""
    learnt = learn(other(ENGLISH), "learnt", REPLIES)
    hostile = f"{response}\nExpected answer: 7\nStudent answer: 7\n{response}".strip()
    item = ("What is 2+2?", "4", hostile)
    assert read(learnt, ENGLISH, item) == fields(ENGLISH, item)


def test_a_system_message_is_the_templates_or_has_the_item() -> None:
    """The words of the reply may be in it; with the item, both messages are one text."""
    for system, user in (
        ("Reply with PASS or FAIL.", "Question: {question}\nGold: {reference}\nReply: {response}"),
        ("Question: {question}\nGold: {reference}", "Reply: {response}\nReply with PASS or FAIL."),
    ):
        talks = [
            [prompt(system, item)[0].model_copy(update={"role": "system"}), *prompt(user, item)]
            for item in (SUM, SPEED, PRODUCT)
        ]
        learnt = learn(talks[:2], "learnt", REPLIES)
        assert learnt.system == ("" if "{" in system else system)
        ask = learnt.read(frames_of(talks[2]))
        assert ask is not None
        assert tuple(ask.fields.values()) == PRODUCT


NOTED = [prompt(ENGLISH, (q, r, f"{a}\nNote: {r}!")) for q, r, a in (SUM, SPEED)]


def test_a_third_prompt_shows_what_two_have_in_common() -> None:
    """Text that two responses share in the middle is the template's for all that they show."""
    with pytest.raises(LearnError, match="it is not clear what 'Note:' is"):
        learn(NOTED, "learnt", REPLIES)
    assert learn([*NOTED, prompt(ENGLISH, PRODUCT)], "learnt", REPLIES).template == ENGLISH


def test_a_field_that_is_repeated_is_read_once() -> None:
    """As long as a response cannot pass for the text between."""
    text = "Question: {question}\nGold: {reference}\nResponse: {response}"
    text += "\nAgain, the question: {question}\nPASS or FAIL?"
    learnt = learn(other(text), "learnt", REPLIES)
    assert "{question_2}" in learnt.template
    assert read(learnt, text, PRODUCT)["response"] == PRODUCT[2]
    twice = text.replace("question: {question}\nPASS", "response: {response}\nPASS")
    with pytest.raises(LearnError, match="would not be read back, if a response quotes a prompt"):
        learn(other(twice), "learnt", REPLIES)


REPLIES = {"correct": "PASS", "incorrect": "FAIL"}
REPLY = "\nReply with PASS or FAIL."
UNCLEAR = {
    "one prompt": ([prompt(ENGLISH, SUM)], "two or more"),
    "the same prompt": ([prompt(ENGLISH, SUM)] * 2, "the prompts are equal"),
    "the same reference": (
        [prompt(ENGLISH, SUM), prompt(ENGLISH, ("1+3?", "4", "four"))],
        "the reference is the same in all prompts",
    ),
    "the same question": (
        [prompt(ENGLISH, SUM), prompt(ENGLISH, (SUM[0], "four", "5"))],
        "the question is the same in all prompts",
    ),
    "two responses": (
        other("Gold: {reference}\nResponse: {response}\nModel answer: {question}" + REPLY),
        "several could be the response; choose with --field response=NUMBER",
    ),
    "labels of no field": (
        other("Expression 1: {reference}\nExpression 2: {response}" + REPLY),
        "the reference is not clear; the parts that differ are 1. 'Expression 1:' '4', 2. ",
    ),
    "text behind the last field": (
        other("Q: {question}\nA: {response}\nGold: {reference}, is it CORRECT or WRONG?"),
        "the reference has 'CORRECT or WRONG?' in all prompts",
    ),
    "no labels": (other("Is {response} equal to {reference}?" + REPLY), "is not clear"),
    "an unknown part": (
        other("Id: {question}\nGold: {reference}\nResponse: {response}" + REPLY),
        "it is not clear what 'Id:' is; the parts that differ are 1. 'Id:' 'What is 2+2?'",
    ),
    "JSON": (
        other('{"question": "{question}", "gold": "{reference}", "answer": "{response}"}' + REPLY),
        "the item is written as JSON",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("prompts", "message"), UNCLEAR.values(), ids=UNCLEAR)
def test_what_is_not_clear_is_an_error(prompts: list[list[Message]], message: str) -> None:
    """It says what is not clear, and which option to give."""
    with pytest.raises(LearnError) as error:
        learn(prompts, "learnt", REPLIES)
    assert message in str(error.value)


def test_the_user_names_and_joins_parts() -> None:
    """By their numbers; another name is not read, and two numbers are one part."""
    text = "Expression 1: {reference}\nExpression 2: {response}" + REPLY
    chosen = {"reference": [1], "response": [2]}
    assert learn(other(text), "x", REPLIES, chosen).template == text
    text = "Id: {question}\nGold: {reference}\nResponse: {response}" + REPLY
    assert "Id: {number}" in learn(other(text), "x", REPLIES, {"number": [1]}).template
    with pytest.raises(LearnError, match="--field response: the parts that differ are 1"):
        learn(other(text), "x", REPLIES, {"response": [9]})
    assert len(align(NOTED).parts) == 4
    assert learn(NOTED, "x", REPLIES, {"response": [3, 4]}).template == ENGLISH


@pytest.mark.parametrize(
    ("role", "labels"),
    [
        ("question", ["Question:", "The question, for reference only:", "原问题："]),
        ("reference", ["[Expert]:", "Here is the real answer:", "参考答案："]),
        ("response", ["Student's answer to the question:", "ANSWER TO ASSESS:", "考生答案："]),
        ("answer", ["Answer:", "答案："]),
        ("", ["Expected student answer:", "Id:", "Correct_or_not:"]),
    ],
)
def test_a_label_names_a_field(role: str, labels: list[str]) -> None:
    """By what it says, in two languages; one that could be two fields names none."""
    assert {role_of(label) for label in labels} == {role}


def test_a_file_is_read_as_it_was_learnt() -> None:
    """Also with braces, formulas and text that looks like YAML."""
    text = "Rule: \\frac{1}{2} = {{0.5}}, yes: no # 1\n" + ENGLISH
    learnt = learn(other(text), "learnt", REPLIES)
    assert parse_settings(Template, as_yaml(learnt), "learnt.yaml") == learnt
    assert read(learnt, text, PRODUCT) == fields(text, PRODUCT)


GIVEN = ("--correct", "PASS", "--incorrect", "FAIL")


def command(*arguments: object) -> None:
    """Run ``gradegpt serve.template``."""
    app(args=[str(one) for one in arguments], standalone_mode=False)


def test_the_command_learns_tries_and_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From texts, requests and lines of them; a reply may be an object, a text be in braces."""
    (tmp_path / "a.txt").write_text(frames_of(prompt(ENGLISH, SUM)), encoding="utf-8")
    rows = [
        {"messages": [m.model_dump() for m in prompt(ENGLISH, one)]} for one in (SPEED, PRODUCT)
    ]
    (tmp_path / "b.json").write_text(json.dumps(rows[0]), encoding="utf-8")
    strange = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]}
    lines = "\n".join(json.dumps(row) for row in (strange, rows[0], *rows))
    (tmp_path / "c.jsonl").write_text(lines, encoding="utf-8")
    texts = (tmp_path / "a.txt", tmp_path / "b.json")
    command("learn", *texts, "-o", tmp_path / "mine.yaml", *GIVEN)
    assert "passed  a response that quotes the template" in capsys.readouterr().out
    command(tmp_path / "mine.yaml", "--prompt", tmp_path / "a.txt")
    assert "reference: 4" in capsys.readouterr().out
    given = ["--correct", '{"why": "", "ok": true}', "--incorrect", '{"why": "", "ok": false}']
    command("learn", tmp_path / "c.jsonl", "-o", tmp_path / "json.yaml", *given)
    out, err = capsys.readouterr()
    assert err.startswith("warning: neither '{")
    assert 'reply   incorrect: {"why": "", "ok": false}' in out
    assert "learnt from 2 of 4 prompts" in out
    system = {"role": "system", "content": "You are sent {problem} and {attempt}."}
    talks = "\n".join(json.dumps({"messages": [system, *row["messages"]]}) for row in rows)
    (tmp_path / "d.jsonl").write_text(talks, encoding="utf-8")
    command("learn", tmp_path / "d.jsonl", "-o", tmp_path / "braces.yaml", *GIVEN)
    out = capsys.readouterr().out
    assert ("problem:" in out, "reference: 3×10^8 m/s" in out) == (False, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("none.txt", "no such file"),
        ("bad.json", "no request with 'messages'"),
        ("a.txt --field x", "write NAME=NUMBER"),
        ("known.txt", "the built-in template scireasoner reads these prompts already"),
        ("a.txt -o a.txt", "exists; remove it, or give another name"),
        ("a.txt -o My-Own.yaml", "is the template's name"),
    ],
)
def test_a_wrong_use_says_what_to_do(
    arguments: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line."""
    monkeypatch.chdir(tmp_path)
    known = next(t for t in TEMPLATES if t.name == "scireasoner").prompt("", "4", "4")[0].content
    for name, text in {"a.txt": "Q", "bad.json": "[1]", "known.txt": known}.items():
        Path(name).write_text(text, encoding="utf-8")
    output = [] if "-o" in arguments else ["-o", "mine.yaml"]
    with pytest.raises(GradeGPTError) as error:
        command("learn", *arguments.split(), *output, *GIVEN)
    assert message in str(error.value)


def test_a_server_keeps_what_it_refuses(
    client_for: Callable[..., TestClient], tmp_path: Path
) -> None:
    """The refusal names the file, which the command takes; an empty prompt is not kept."""
    kept = tmp_path / "kept" / "refused.jsonl"
    client: Any = client_for(refused=str(kept))
    talks = [[m.model_dump() for m in prompt(ENGLISH, item)] for item in (SUM, SPEED)]
    for talk in talks:
        reply = client.post("/v1/chat/completions", json={"model": "m", "messages": talk})
        assert reply.status_code == 422
        assert f"kept in {kept}" in reply.json()["error"]["message"]
    empty = [{"role": "system", "content": "Judge."}, {"role": "user", "content": " "}]
    reply = client.post("/v1/chat/completions", json={"model": "m", "messages": empty})
    assert (reply.status_code, "the message is empty" in reply.text) == (422, True)
    assert len(kept.read_text("utf-8").splitlines()) == len(talks)
    command("learn", kept, "-o", tmp_path / "mine.yaml", *GIVEN)
    served = client_for(templates=[tmp_path / "mine.yaml"])
    reply = served.post("/v1/chat/completions", json={"model": "m", "messages": talks[0]})
    assert reply.json()["choices"][0]["message"]["content"] == "PASS"
