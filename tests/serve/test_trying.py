"""POST /v1/adapters/try: a template of one's own is tried, and nothing of it is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from starlette.testclient import TestClient

from gradegpt.core.settings import parse_settings
from serve import trying
from serve.templates import TEMPLATES, Template
from serve.templates.trials import Tried, answer, tried

ClientFor = Callable[..., TestClient]

ACME = """name: acme
template: |
  Ticket {ticket}
  Q> {question}
  K> {reference}
  R> {response}
  Say PASS or FAIL.
reply: {correct: PASS, incorrect: FAIL}
"""
SENT = "<|im_start|>user\nTicket 17\nQ> 2+2=?\nK> 4\nR>  It is 𝟒.\nSay PASS or FAIL.<|im_end|>\n"


def asked(template: str = ACME, **more: Any) -> dict[str, Any]:
    """What the process that tries templates is asked."""
    return {"template": template, "prompt": None, "adapters": [], "templates": [], **more}


def test_a_template_is_tried_and_reads_a_prompt(client_for: ClientFor) -> None:
    """The spans are those of the prompt as it was sent; the server's families stay the same."""
    client = client_for()
    before = client.get("/v1/adapters").json()
    reply = client.post("/v1/adapters/try", json={"template": ACME, "prompt": SENT})
    assert reply.status_code == 200
    done = Tried.model_validate(reply.json())
    assert (done.name, done.failed, len(done.trials)) == ("acme", [], 10)
    assert done.replies == {"correct": "PASS", "incorrect": "FAIL", "invalid": "FAIL"}
    assert done.read == {
        "ticket": "17", "question": "2+2=?", "reference": "4", "response": "It is 𝟒.",
    }  # fmt: skip
    assert done.spans is not None
    assert {name: SENT[start:end] for name, (start, end) in done.spans.items()} == done.read
    assert client.get("/v1/adapters").json() == before


@pytest.mark.parametrize(
    ("template", "complaint"),
    [
        ("name: [", "template:1:8: not valid YAML"),
        ("- a", "template: expected 'key: value' lines at the top, found a list"),
        ("a: &x 1\nb: *x", "template:2: *x: write the value instead of an alias"),
        ("[" * 500 + "]" * 500, "template: is nested too deeply"),
        ("extends: /etc/passwd", "unknown setting 'extends'"),
        (ACME.replace("acme", "hle"), "template: name: 'hle' is taken"),
        (ACME.replace("{response}", ""), "template: template: has no {response}"),
    ],
    ids=["yaml", "list", "alias", "deep", "extends", "taken", "field"],
)
def test_a_template_that_cannot_be_used_is_an_error(template: str, complaint: str) -> None:
    """It says where and what; no part of a request reads a file or grows without bound."""
    assert complaint in answer(asked(template))["error"]


def test_a_failed_trial_is_no_error_and_says_what_to_change() -> None:
    """A template that a family of this server claims; without that family it passes."""
    other = next(a for a in TEMPLATES if a.name == "verifiers_rubric")
    text = yaml.safe_dump({**yaml.safe_load(ACME), "template": other.template})
    [trial] = Tried.model_validate(answer(asked(text))["tried"]).failed
    assert trial.name == "no other family"
    assert "verifiers_rubric also recognises" in trial.error or "add more" in trial.error
    assert not Tried.model_validate(answer(asked(text, adapters=["hle"]))["tried"]).failed


def test_a_template_of_the_server_may_be_tried_again(tmp_path: Path) -> None:
    """The new one would replace it; one of another name would be ambiguous with it."""
    (tmp_path / "acme.yaml").write_text(ACME, encoding="utf-8")
    served = [str(tmp_path / "acme.yaml")]
    assert "error" not in answer(asked(templates=served))
    other = answer(asked(ACME.replace("acme", "acme_2"), templates=served))["tried"]
    assert [t["name"] for t in other["trials"] if not t["passed"]] == ["no other family"]


@pytest.mark.parametrize(
    ("prompt", "complaint"),
    [
        (SENT.replace("Say PASS or FAIL.", "Say so."), "has no 'Say PASS or FAIL.' where"),
        (SENT.replace("K>", "Key:"), "has no 'K>' where"),
        ("", "has no 'Ticket' where"),
        (SENT, ""),
    ],
)
def test_a_prompt_of_another_text_says_where_it_differs(prompt: str, complaint: str) -> None:
    """The first line of the template that is missing in it."""
    template = parse_settings(Template, ACME, "template")
    done = tried(template, (), "template", prompt)
    assert complaint in done.unread
    assert (done.read is None) == bool(complaint)


@pytest.mark.parametrize("name", ["template", "prompt"])
def test_a_text_over_the_limit_is_refused(client_for: ClientFor, name: str) -> None:
    """Before any of it is read."""
    reply = client_for().post(
        "/v1/adapters/try", json={"template": ACME, "prompt": "", name: "x" * 70_000}
    )
    assert (reply.status_code, reply.json()["error"]["code"]) == (413, "too_large")
    assert reply.json()["error"]["message"].startswith(f"{name}: has 70,000 characters")


def test_a_trial_is_killed_when_its_time_is_over(
    client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then another one may be tried. The error names the field of the request."""
    monkeypatch.setattr(trying, "_SECONDS", 0.01)
    client = client_for()
    reply = client.post("/v1/adapters/try", json={"template": ACME})
    error = reply.json()["error"]
    assert (reply.status_code, error["code"], error["param"]) == (422, "invalid_input", "template")
    assert "took longer than 0.01 s" in error["message"]
    assert not client.app.state.service.trying.locked()  # type: ignore[attr-defined]


def test_a_second_trial_at_the_same_time_is_refused_as_busy(client_for: ClientFor) -> None:
    """With the time after which to try again, so that trials never take more than one core."""
    client = client_for()
    asyncio.run(client.app.state.service.trying.acquire())  # type: ignore[attr-defined]
    reply = client.post("/v1/adapters/try", json={"template": ACME})
    assert (reply.status_code, reply.json()["error"]["code"]) == (429, "queue_full")
    assert int(reply.headers["Retry-After"]) >= 1
