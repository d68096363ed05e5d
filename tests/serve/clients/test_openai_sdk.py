"""The ``openai`` package, unchanged but for the base URL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import pytest

from gradegpt.core.schema import Item
from tests.serve.clients.rows import prompt_of, sums

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletionMessageParam

SUMS = sums(2)


@pytest.fixture
def client(server: str) -> Iterator[openai.OpenAI]:
    import openai

    with openai.OpenAI(base_url=f"{server}/v1", api_key="none", max_retries=0) as client:
        yield client


def messages(family: str, item: Item) -> list[ChatCompletionMessageParam]:
    prompt = [message.model_dump() for message in prompt_of(family, item)]
    return cast("list[ChatCompletionMessageParam]", prompt)


@pytest.mark.parametrize(
    ("family", "right", "wrong"),
    [("opencompass", "A", "B"), ("math_equality", "Yes", "No"), ("lm_eval_pisa", "1", "0")],
)
def test_each_caller_reads_its_own_reply(
    client: openai.OpenAI, family: str, right: str, wrong: str
) -> None:
    for item, correct in SUMS:
        reply = client.chat.completions.create(
            model="gpt-4o", messages=messages(family, item), temperature=0.7, max_tokens=1
        )
        assert reply.choices[0].message.content == (right if correct else wrong)
        assert reply.choices[0].finish_reason == "stop"


def test_a_stream_adds_up_to_the_whole(client: openai.OpenAI) -> None:
    prompt = messages("inspect_qa", SUMS[0][0])
    whole = client.chat.completions.create(model="gpt-4o", messages=prompt)
    with client.chat.completions.create(
        model="gpt-4o", messages=prompt, stream=True, stream_options={"include_usage": True}
    ) as stream:
        chunks = list(stream)
    said = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert said == whole.choices[0].message.content
    assert said.endswith("GRADE: C")
    assert chunks[-1].usage == whole.usage
    ends = [choice.finish_reason for c in chunks for choice in c.choices]
    assert ends == [None] * (len(ends) - 1) + ["stop"]
    assert (chunks[-2].model_extra or {})["gradegpt"]["verdict"] == "correct"
    assert len({chunk.id for chunk in chunks}) == 1


def test_opencompass_reads_the_verdict_from_the_joined_text(client: openai.OpenAI) -> None:
    """It puts ``reasoning_content`` before the content, and reads the first letter."""
    item = Item(question="A or B?", reference=("B",), response="The answer is A.")
    reply = client.chat.completions.create(model="gpt-4o", messages=messages("opencompass", item))
    message = reply.choices[0].message
    thought = getattr(message, "reasoning_content", None)
    read = f"{thought}</think>{message.content}" if thought else message.content or ""
    assert re.findall("[AB]", read)[0] == "B"


def test_errors_are_those_of_the_package(client: openai.OpenAI) -> None:
    import openai

    prompt = messages("gradegpt", SUMS[0][0])
    assert [model.id for model in client.models.list()] == ["gradegpt"]
    with pytest.raises(openai.UnprocessableEntityError, match="no known template") as caught:
        client.chat.completions.create(
            model="any", messages=[{"role": "user", "content": "Is 4 right?"}]
        )
    assert caught.value.code == "unknown_prompt"
    with pytest.raises(openai.BadRequestError, match="response_format") as refused:
        client.chat.completions.create(
            model="any", messages=prompt, response_format={"type": "json_object"}
        )
    assert refused.value.param == "response_format"
