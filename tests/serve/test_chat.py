"""POST /v1/chat/completions: the OpenAI form of a judgement."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from gradegpt.chain import Chain, parse_chain, render_chain
from gradegpt.engines import Generation, Token
from gradegpt.errors import EngineError, EngineTimeoutError
from gradegpt.judges import ModelJudge
from gradegpt.schema import AnswerType, ChainFormat, Judgement, Outcome, Verdict
from serve.chat import content_of

ClientFor = Callable[..., TestClient]
Prompt = list[dict[str, str]]

CHAIN = render_chain(
    Chain(
        verdict=Verdict.CORRECT,
        key_sentence="The answer is 4.",
        reference_answer="4",
        answer_type=AnswerType.NUMBER,
        answer="4",
    ),
    ChainFormat.JUDGE_OF_CHAIN,
)


def ask(client: TestClient, prompt: Prompt, **more: Any) -> Any:
    return client.post(
        "/v1/chat/completions", json={"model": "gradegpt-nano", "messages": prompt, **more}
    )


def test_a_prompt_gets_the_chain_and_the_whole_judgement_beside_it(
    client_for: ClientFor, prompt: Prompt
) -> None:
    body = ask(client_for([CHAIN]), prompt, temperature=0.7, top_p=0.9).json()
    assert body["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": CHAIN, "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ]
    judgement = Judgement.model_validate(body["gradegpt"])
    assert (judgement.verdict, judgement.key_sentence) == ("correct", "The answer is 4.")
    assert (body["object"], body["model"]) == ("chat.completion", "gradegpt-nano")
    assert body["usage"] == {
        "prompt_tokens": 0,
        "completion_tokens": len(CHAIN.split(" ")),
        "total_tokens": len(CHAIN.split(" ")),
    }


def test_the_item_judged_is_the_item_in_the_prompt(client_for: ClientFor, prompt: Prompt) -> None:
    """The rules, which read the item and not the prompt, find the same answer."""
    body = ask(client_for(), prompt).json()
    assert parse_chain(body["choices"][0]["message"]["content"]).chain is not None
    assert (body["gradegpt"]["answer"], body["gradegpt"]["verdict"]) == ("4", "correct")


def test_content_in_parts_is_joined(client_for: ClientFor, prompt: Prompt) -> None:
    text = prompt[-1]["content"]
    parts = [{"type": "text", "text": text[:20]}, {"type": "text", "text": text[20:]}]
    assert ask(client_for(), [{"role": "user", "content": parts}]).status_code == 200  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("judgement", "content"),
    [
        (Judgement(id="", outcome=Outcome.JUDGED, verdict=Verdict.CORRECT, method="m"), "<Yes>"),
        (Judgement(id="", outcome=Outcome.JUDGED, verdict=Verdict.INCORRECT, method="m"), "<No>"),
        (Judgement(id="", outcome=Outcome.JUDGED, verdict=Verdict.INVALID, method="m"), "<No>"),
        (Judgement(id="", outcome=Outcome.UNDECIDED, method="m", reason="text:not-shown"),
         "No verdict was reached (undecided, text:not-shown)."),
        (Judgement(id="", outcome=Outcome.UNPARSED, method="m", chain="<yes>",
                   reason="chain:the last tag is <yes>"),
         "No verdict was reached (unparsed, chain:the last tag is ‹yes>)."),
    ],
    ids=["correct", "incorrect", "invalid", "undecided", "unparsed-near-tag"],
)  # fmt: skip
def test_without_a_chain_the_tag_stands_alone_and_without_a_verdict_there_is_none(
    judgement: Judgement, content: str
) -> None:
    assert content_of(judgement) == content


class _Unsure:
    """An engine that gives its tag a probability of one half."""

    name = "unsure"

    def generate(self, prompts: Any, *, max_new_tokens: int) -> list[Generation | EngineError]:
        return [Generation(CHAIN, 7, 3, (Token("<Yes>", -0.7),)) for _ in prompts]


def test_an_abstention_is_a_normal_reply_without_a_tag(
    client_for: ClientFor, prompt: Prompt
) -> None:
    """The chain, tag and all, is in the side field alone, where nobody takes it for a verdict."""
    judge = ModelJudge(_Unsure(), min_confidence=0.9)
    reply = ask(client_for(judge), prompt)
    body = reply.json()
    content = body["choices"][0]["message"]["content"]
    assert (reply.status_code, body["choices"][0]["finish_reason"]) == (200, "stop")
    assert content == "No verdict was reached (undecided, model:below-min-confidence)."
    assert not re.search(r"<\s*/?\s*(yes|no)\s*>", content, re.IGNORECASE)
    assert body["gradegpt"]["outcome"] == "undecided"
    assert body["gradegpt"]["chain"] == CHAIN
    assert body["usage"] == {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (EngineError("down"), 502, "engine_error"),
        (EngineTimeoutError("too slow"), 504, "engine_timeout"),
    ],
    ids=["error", "timeout"],
)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_failed_judgement_is_an_http_error_and_never_a_verdict(
    client_for: ClientFor,
    prompt: Prompt,
    error: EngineError,
    status: int,
    code: str,
    stream: bool,
) -> None:
    """Also in a stream: the judge is asked before the first event is sent."""
    reply = ask(client_for([error]), prompt, stream=stream)
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert str(error) in reply.json()["error"]["message"]


def test_an_unknown_prompt_is_422_and_told_how_it_must_look(client_for: ClientFor) -> None:
    reply = ask(client_for(), [{"role": "user", "content": "Is 4 right?"}])
    error = reply.json()["error"]
    assert (reply.status_code, error["param"]) == (422, "messages")
    for words in ("Question: <question>", "Judgment Result:", "POST /v1/judge"):
        assert words in error["message"]


def test_n_above_one_is_refused_with_the_reason(client_for: ClientFor, prompt: Prompt) -> None:
    reply = ask(client_for(), prompt, n=2)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, "n")
    assert reply.json()["error"]["message"] == (
        "n: 2; a judge gives one judgement, so n must be 1 or left out"
    )


def test_a_model_that_is_not_served_is_404(client_for: ClientFor, prompt: Prompt) -> None:
    reply = ask(client_for(served_model_name="judge-1"), prompt)
    error = reply.json()["error"]
    assert (reply.status_code, error["code"], error["param"]) == (404, "model_not_found", "model")
    assert "'judge-1' is" in error["message"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"messages": []}, "messages: list should have at least 1 item after validation, not 0"),
        ({"messages": [{"role": "user"}]}, "messages.0.content: field required"),
        ({"messages": [{"role": "user", "content": None}]},
         "messages.0.content: expected text, or a list of text parts"),
        ({"max_tokens": 0}, "max_tokens: input should be greater than or equal to 1"),
        ({"model": None}, "model: input should be a valid string"),
    ],
    ids=["no-messages", "no-content", "content-null", "max-tokens-0", "model-null"],
)  # fmt: skip
def test_a_wrong_field_is_422_and_named(
    client_for: ClientFor, prompt: Prompt, change: dict[str, Any], message: str
) -> None:
    reply = client_for().post(
        "/v1/chat/completions", json={"model": "gradegpt-nano", "messages": prompt, **change}
    )
    assert (reply.status_code, reply.json()["error"]["message"]) == (422, message)


def test_an_image_is_refused(client_for: ClientFor) -> None:
    message = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}
    reply = ask(client_for(), [message])  # type: ignore[list-item]
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "unsupported_value")


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_a_chain_over_max_tokens_gives_way_to_its_tag(
    client_for: ClientFor, prompt: Prompt, name: str
) -> None:
    """A cut chain would lose the verdict, which stands at its end."""
    body = ask(client_for([CHAIN]), prompt, **{name: 5}).json()
    assert body["choices"][0]["message"]["content"] == "<Yes>"
    assert body["gradegpt"]["chain"] == CHAIN
    room = ask(client_for([CHAIN]), prompt, **{name: 500}).json()
    assert room["choices"][0]["message"]["content"] == CHAIN


def test_a_stream_adds_up_to_the_reply(client_for: ClientFor, prompt: Prompt) -> None:
    options = {"stream_options": {"include_usage": True}}
    reply = ask(client_for([CHAIN]), prompt, stream=True, **options)
    assert reply.headers["content-type"].startswith("text/event-stream")
    events = [line.removeprefix("data: ") for line in reply.text.split("\n\n") if line]
    assert events.pop() == "[DONE]"
    chunks = [json.loads(event) for event in events]
    assert chunks[-1]["usage"]["completion_tokens"] == len(CHAIN.split(" "))
    assert chunks[-1]["choices"] == []
    told = [c["choices"][0] for c in chunks[:-1]]
    assert "".join(choice["delta"].get("content", "") for choice in told) == CHAIN
    assert [choice["finish_reason"] for choice in told] == [None] * (len(told) - 1) + ["stop"]
    assert chunks[-2]["gradegpt"]["verdict"] == "correct"
    assert len({chunk["id"] for chunk in chunks}) == 1
