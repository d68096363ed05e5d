"""POST /v1/completions: raw prompts, answered for their parsers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

ClientFor = Callable[..., TestClient]
Prompt = list[dict[str, str]]


def ask(client: TestClient, prompt: Any, **more: Any) -> Any:
    return client.post("/v1/completions", json={"model": "any", "prompt": prompt, **more})


@pytest.fixture
def raw(prompt: Prompt) -> str:
    return prompt[-1]["content"]


def test_a_raw_prompt_gets_its_verdict(client_for: ClientFor, raw: str) -> None:
    """Also with chat markup around it, as for base models."""
    for text in (raw, f"User: {raw}\nAssistant:"):
        body = ask(client_for(), text).json()
        [choice] = body["choices"]
        assert choice["text"].endswith("<Yes>")
        assert (choice["finish_reason"], body["gradegpt"]["verdict"]) == ("stop", "correct")


def test_prompts_are_judged_together_and_answered_in_order(client_for: ClientFor, raw: str) -> None:
    body = ask(client_for(["<Yes>", "<No>"]), [raw, raw], n=2).json()
    assert [choice["text"] for choice in body["choices"]] == ["<Yes>", "<Yes>", "<No>", "<No>"]
    assert [choice["index"] for choice in body["choices"]] == [0, 1, 2, 3]
    assert (body["object"], body["usage"]["completion_tokens"]) == ("text_completion", 2)
    assert [judged["verdict"] for judged in body["gradegpt"]] == ["correct", "incorrect"]
    assert all("gradegpt" not in choice for choice in body["choices"])


def test_one_token_suffices_for_a_verdict(client_for: ClientFor, raw: str) -> None:
    [choice] = ask(client_for(), raw, max_tokens=1).json()["choices"]
    assert choice["text"] == "<Yes>"
    assert choice["reasoning_content"]


def test_a_stream_adds_up_to_the_reply(client_for: ClientFor, raw: str) -> None:
    reply = ask(client_for(), raw, stream=True, stream_options={"include_usage": True})
    events = [line.removeprefix("data: ") for line in reply.text.split("\n\n") if line]
    assert events.pop() == "[DONE]"
    text, usage = map(json.loads, events)
    assert text["choices"][0]["text"].endswith("<Yes>")
    assert text["gradegpt"]["replied"] == "correct"
    assert (usage["choices"], "total_tokens" in usage["usage"]) == ([], True)


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"prompt": [1, 2]}, 422, "prompt: expected text, or a list of texts; token ids"),
        ({"prompt": []}, 422, "prompt: expected at least one entry"),
        ({"prompt": "Is 4 right?"}, 422, "no known template"),
        ({"prompt": ["x"] * 257}, 413, "prompt: 257 prompts, counted n times, are more than 256"),
        (
            {"prompt": ["x"] * 3, "n": 128},
            413,
            "prompt: 384 prompts, counted n times, are more than 256",
        ),
        ({"echo": True}, 400, "echo: not supported by a judge"),
    ],
    ids=["tokens", "none", "unknown", "too-many", "many-choices", "echo"],
)
def test_what_cannot_be_done_is_refused(
    client_for: ClientFor, raw: str, change: dict[str, Any], status: int, message: str
) -> None:
    reply = ask(client_for(), **{"prompt": raw, **change})
    assert reply.status_code == status
    assert message in reply.json()["error"]["message"]
