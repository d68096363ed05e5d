"""``openai``'s Responses API, and the base URLs that clients make of one variable."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import httpx2
import pytest

from gradegpt.core.schema import Item
from tests.serve.clients.rows import prompt_of, sums

if TYPE_CHECKING:
    import openai

SUMS = sums(2)


@pytest.fixture
def client(server: str) -> Iterator[openai.OpenAI]:
    import openai

    with openai.OpenAI(base_url=f"{server}/v1", api_key="none", max_retries=0) as client:
        yield client


def text_of(family: str, item: Item) -> str:
    return "\n\n".join(message.content for message in prompt_of(family, item))


def test_a_response_has_the_verdict_and_the_judgement(client: openai.OpenAI) -> None:
    """As text, as messages, as parts, and with the instructions as the system message."""
    for item, right in SUMS:
        prompt = text_of("opencompass", item)
        head, tail = prompt[:10], prompt[10:]
        parts = [{"type": "input_text", "text": head}, {"type": "input_text", "text": tail}]
        for given in (prompt, [{"role": "user", "content": prompt}],
                      [{"role": "user", "content": parts}]):  # fmt: skip
            reply = client.responses.create(
                model="gpt-5", input=cast(Any, given), instructions="You are a judge."
            )
            beside = cast(dict[str, Any], (reply.model_extra or {})["gradegpt"])
            assert (reply.output_text, reply.status) == ("A" if right else "B", "completed")
            assert (beside["adapter"], beside["outcome"]) == ("opencompass", "judged")
            assert reply.usage is not None
            assert reply.usage.total_tokens == reply.usage.input_tokens + reply.usage.output_tokens


def test_a_system_message_may_be_the_instructions(client: openai.OpenAI) -> None:
    """lm-eval's PISA judge has its task in the system message."""
    system, user = prompt_of("lm_eval_pisa", SUMS[0][0])
    reply = client.responses.create(
        model="gpt-5", instructions=system.content, input=user.content, max_output_tokens=16
    )
    assert reply.output_text == "1"


def test_a_stream_adds_up_to_the_whole(client: openai.OpenAI) -> None:
    """The package's own accumulator makes the same response of the events."""
    prompt = text_of("inspect_qa", SUMS[0][0])
    whole = client.responses.create(model="gpt-5", input=prompt)
    with client.responses.stream(model="gpt-5", input=prompt) as stream:
        deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
        last = stream.get_final_response()
    assert "".join(deltas) == last.output_text == whole.output_text
    assert whole.output_text.endswith("GRADE: C")
    assert cast(dict[str, Any], (last.model_extra or {})["gradegpt"])["replied"] == "correct"


def test_a_schema_gets_an_object(client: openai.OpenAI) -> None:
    schema = {
        "type": "object",
        "properties": {"correct": {"type": "string"}},
        "required": ["correct"],
    }
    reply = client.responses.create(
        model="gpt-5",
        input=text_of("hle", SUMS[1][0]),
        text={"format": {"type": "json_schema", "name": "grade", "schema": schema}},
    )
    assert json.loads(reply.output_text)["correct"] == "no"


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"input": []}, 422, "input: expected at least one entry"),
        ({"input": 4}, 422, "input:"),
        ({}, 422, "input: field required"),
        ({"input": "Is 4 right?"}, 422, "no known template"),
        ({"input": [{"type": "function_call", "name": "f"}]}, 400, "input.0: an item of type"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image"}]}]},
            400,
            "input.0: a part of type 'input_image'",
        ),
        ({"input": "hello", "previous_response_id": "resp_1"}, 400, "previous_response_id: "),
        ({"input": "hello", "background": True}, 400, "background: "),
        ({"input": "hello", "text": {"format": {"type": "yaml"}}}, 422, "text.format.type"),
        (
            {"input": "hello", "text": {"format": {"type": "json_object"}}},
            400,
            "recognised as one of connection checks",
        ),
    ],
)
def test_what_cannot_be_done_is_refused(
    server: str, body: dict[str, Any], status: int, message: str
) -> None:
    reply = httpx2.post(f"{server}/v1/responses", json={"model": "gpt-5", **body})
    assert reply.status_code == status
    assert message in reply.json()["error"]["message"]


CHAT = "/chat/completions"


@pytest.mark.parametrize("path", ["/v1", f"/v1{CHAT}", CHAT, f"/v1{CHAT}{CHAT}"])
def test_a_client_with_any_base_url_is_answered(server: str, path: str) -> None:
    """VLMEvalKit's variable is the whole URL: its wrapper adds no path, ``openai`` its own."""
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello"}]}
    reply = httpx2.post(f"{server}{path}", json=body)
    assert reply.json()["choices"][0]["message"]["content"].startswith("Hello!")
