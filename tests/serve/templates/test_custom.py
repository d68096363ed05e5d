"""Templates of one's own: tried at start, then recognised and answered like any family."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from gradegpt.chains.chain import KEY
from gradegpt.core.errors import MissingError, SettingsError
from gradegpt.core.schema import Judgement, Message, Outcome, Verdict
from serve.template import app
from serve.templates import TEMPLATES, PromptError, find
from serve.templates.trials import checked, chosen

TEMPLATE = """Ticket {ticket}, compare.
Q> {question}
K> {reference}
R> {response}
Say PASS or FAIL."""
ACME: dict[str, Any] = {
    "name": "acme",
    "template": TEMPLATE,
    "reply": {"correct": "PASS", "incorrect": "FAIL"},
}


def written(folder: Path, **changes: Any) -> Path:
    """A file with the template and some changes."""
    path = folder / "acme.yaml"
    path.write_text(yaml.safe_dump({**ACME, **changes}), encoding="utf-8")
    return path


def test_a_template_is_recognised_and_answered(tmp_path: Path) -> None:
    """Text in an ignored field may change; a quoted template is part of the response."""
    templates = chosen((), [written(tmp_path)])
    quoted = TEMPLATE.replace("{response}", "7")
    text = TEMPLATE.replace("{ticket}", "17").replace("{question}", "2+2=?")
    text = text.replace("{reference}", "4").replace("{response}", f"It is 5.\n{quoted}")
    ask = find([Message(role="user", content=text)], templates)
    assert ask.template.name == "acme"
    item = ask.item()
    assert (item.question, item.reference) == ("2+2=?", ("4",))
    assert item.response == f"It is 5.\n{quoted}"


def test_a_template_with_frames_reads_prompts_of_other_texts(tmp_path: Path) -> None:
    """With its tags and without others; the reply has the words of the prompt, and the reason."""
    loose = written(
        tmp_path, frames=["Q> {question} K> {reference} {} R> {response} Say"], tags=["PASS|FINE"],
        without=["of five"], options={"right": r"Say (\w+) or", "wrong": r"Say \w+ or (\w+)"},
        reply={"correct": "{right}", "incorrect": "{wrong}", "around": "{why}\n{verdict}",
               "hostile": "BAD"},
    )  # fmt: skip
    templates = chosen((), [loose])
    text = "Q> 2+2=? K> 4 Now R> It is 5. Say FINE or BAD."
    ask = find([Message(role="user", content=text)], templates)
    assert ask.item().reference == ("4 Now",)
    judged = Judgement(id="", outcome=Outcome.JUDGED, verdict=Verdict.INCORRECT, method="model")
    for said, whole in ((": 5", f"{KEY}: 5\nBAD"), (": BAD", None)):
        reply = ask.reply(judged.model_copy(update={"chain": KEY + said}))
        assert (reply.core, reply.whole) == ("BAD", whole)
    for other in (text.replace("FINE", "OK"), text + " One of five."):
        with pytest.raises(PromptError):
            find([Message(role="user", content=other)], templates)


FORMS = [
    ({"form": "words"}, "PASS"),
    ({"form": "line", "key": "Verdict"}, "Verdict: PASS"),
    ({"form": "boxed"}, r"\boxed{PASS}"),
    ({"form": "json", "key": "grade"}, '{"grade": "PASS"}'),
    ({"form": "json", "key": "ok", "value": "boolean", "correct": "true", "incorrect": "false",
      "because": "why"}, '{"why": "", "ok": true}'),
    ({"form": "json", "key": "score", "value": "number", "correct": "1", "incorrect": "0"},
     '{"score": 1}'),
    ({"form": "json", "keys": {"ok": "verdict", "why": "why"}}, '{"ok": "PASS", "why": ""}'),
    ({"form": "json", "key": "grade", "around": "```{verdict}```"}, '```{"grade": "PASS"}```'),
    ({"correct": "PASS {ticket}"}, "PASS 17"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "text"), FORMS, ids=lambda value: str(value)[:24])
def test_a_reply_has_the_form_of_the_template(
    tmp_path: Path, changes: dict[str, str], text: str
) -> None:
    """Plain words, a line, a box, or a JSON object with a typed value."""
    template = checked(written(tmp_path, reply={**ACME["reply"], **changes}), TEMPLATES)
    judged = Judgement(id="", outcome=Outcome.JUDGED, verdict=Verdict.CORRECT, method="rules")
    reply = template.write(judged, {"ticket": "17"})
    assert reply is not None
    assert reply.core == text
    assert template.write(judged.model_copy(update={"verdict": None}), {}) is None


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"template": "{reference} {response}"}, "text is needed between two fields"),
        ({"template": "A: {response}"}, r"has no \{reference\}"),
        ({"template": "{{reference}} x {{response}}"}, "doubled braces"),
        ({"template": "{response} x {response} y {reference}"}, "occurs twice"),
        ({"template": "{reference}\n{response}\n"}, "text is needed"),
        ({"system": "S {some}", "template": "{reference} R {response}"}, "text is needed"),
        ({"template": "K {reference} R {response}"}, "a response that quotes|also recognises"),
        ({"name": "hle"}, "'hle' is taken"),
        ({"name": "Acme Inc"}, "name"),
        ({"reply": {"correct": "A", "incorrect": "A"}}, "the same word"),
        ({"reply": {"correct": "A", "incorrect": "B", "form": "json"}}, "requires it"),
        ({"reply": {"correct": "A", "incorrect": "B", "form": "json", "key": "k",
                    "value": "number"}}, "'A' is no number"),
        ({"template": "Q", "reply": None}, r"template: has no \{reference\}"),
        ({"reply": None}, "reply: a template needs"),
        ({"code": "jsn"}, "code: 'jsn' is unknown; known are answer_a_line, atlas"),
        ({"frames": ["A: {reference"]}, r"has no \{response\}"),
        ({"frames": ["{reference} {response}"]}, "text is needed"),
        ({"frames": ["(A: {response}"]}, r"'\(A:' is no regular expression: missing \)"),
        ({"tags": ["["]}, r"'\[' is no reg"),
        ({"options": {"right": "say )"}}, r"'say \)' is no reg"),
        ({"reply": {"correct": "A", "incorrect": "B", "hostile": "("}}, r"reply: '\(' is no reg"),
        ({"reply": {"correct": "A", "incorrect": "B", "form": "json",
                    "keys": {"k": "verdct"}}}, "reply.keys.k: .*'verdict'"),
        ({"replies": {}}, "unknown setting 'replies'; did you mean 'reply'"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_a_template_that_cannot_work_is_an_error(
    tmp_path: Path, changes: dict[str, Any], complaint: str
) -> None:
    """It says where, what and what to do."""
    path = written(tmp_path, **changes)
    with pytest.raises(SettingsError, match=rf"{path}.*(?:{complaint})"):
        chosen((), [path])


def test_a_template_that_another_family_claims_is_refused(tmp_path: Path) -> None:
    """Else its prompts would be ambiguous; without that family it is accepted."""
    other = next(a for a in TEMPLATES if a.name == "verifiers_rubric")
    path = written(tmp_path, template=other.template)
    with pytest.raises(SettingsError, match=r"no other family: .*verifiers_rubric"):
        chosen((), [path])
    assert chosen(["hle"], [path])[-1].name == "acme"
    with pytest.raises(MissingError, match=r"none\.yaml: no such settings file"):
        chosen((), [tmp_path / "none.yaml"])


def test_the_command_prints_the_trials_and_what_it_reads(tmp_path: Path) -> None:
    sent = tmp_path / "sent.txt"
    sent.write_text(TEMPLATE.replace("{ticket}", "17"), encoding="utf-8")
    result = CliRunner().invoke(app, [str(written(tmp_path)), "--prompt", str(sent)])
    assert result.exit_code == 0
    for line in (
        "passed  Chinese",
        "reply   correct: PASS",
        "ticket: 17",
        "reference: {reference}",
    ):
        assert line in result.stdout.splitlines()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("Say PASS or FAIL.", "Say so."), "no 'Say PASS or FAIL.' where"),
        (("K>", "Key:"), "no 'K>'"),
    ],
)
def test_a_prompt_of_another_text_says_where_it_differs(
    tmp_path: Path, change: tuple[str, str], complaint: str
) -> None:
    """The first line of the template that is missing in it."""
    (sent := tmp_path / "sent.txt").write_text(TEMPLATE.replace(*change), encoding="utf-8")
    result = CliRunner().invoke(app, [str(written(tmp_path)), "--prompt", str(sent)])
    assert complaint in str(result.exception)


def test_a_server_lists_its_templates_with_their_trials(client_for: Any, tmp_path: Path) -> None:
    """And answers their prompts."""
    client = client_for(templates=(written(tmp_path),))
    [family] = [f for f in client.get("/v1/adapters").json()["data"] if f["name"] == "acme"]
    assert family["trials"]["a wrong response"] == "passed"
    messages = [m | {"content": m["content"]} for m in family["example"]]
    body = {"model": "x", "messages": messages}
    reply = client.post("/v1/chat/completions", json=body).json()
    assert reply["choices"][0]["message"]["content"] == "PASS"
    assert json.dumps(reply["gradegpt"]["adapter"]) == '"acme"'
