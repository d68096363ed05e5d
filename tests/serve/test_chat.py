"""POST /v1/chat/completions: the OpenAI form of a judgement."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from gradegpt.chains.chain import Chain, render_chain
from gradegpt.core.errors import EngineError, EngineTimeoutError
from gradegpt.core.schema import AnswerType, ChainFormat, Judgement, Outcome, Verdict
from gradegpt.engines.base import Generation, TokenLogprob
from gradegpt.judges.model import ModelJudge
from serve.answer import ReplyContent, ReplyOptions, ResponseFormat
from serve.errors import UnsupportedError
from serve.templates import TEMPLATES, find

ClientFor = Callable[..., TestClient]
Prompt = list[dict[str, str]]

CHAIN = render_chain(
    Chain(
        verdict=Verdict.CORRECT,
        quotes=("The answer is 4.",),
        reference_answer="4",
        answer_type=AnswerType.NUMBER,
        answer="4",
        why="both are 4",
    ),
    ChainFormat.JUDGE_OF_CHAIN,
)


def ask(client: TestClient, prompt: Prompt, **more: Any) -> Any:
    return client.post(
        "/v1/chat/completions", json={"model": "gradegpt", "messages": prompt, **more}
    )


def find_example(client: TestClient, family: str) -> Prompt:
    """The example of a family's prompt that the server lists."""
    families = client.get("/v1/adapters").json()["data"]
    return next(f["example"] for f in families if f["name"] == family)


def split(side: dict[str, Any]) -> tuple[Judgement, dict[str, Any]]:
    """The judgement in the field ``gradegpt``, and its other entries."""
    beside = {name: side.pop(name) for name in ("adapter", "fingerprint", "replied")}
    return Judgement.model_validate(side), beside


def test_a_prompt_gets_the_chain_and_the_whole_judgement(
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
    judgement, beside = split(body["gradegpt"])
    assert (beside["adapter"], len(beside["fingerprint"])) == ("gradegpt", 16)
    assert (judgement.verdict, judgement.key_sentence) == ("correct", "The answer is 4.")
    assert judgement.why == "both are 4"
    assert (body["object"], body["model"]) == ("chat.completion", "gradegpt")
    assert body["usage"] == {
        "prompt_tokens": 0,
        "completion_tokens": len(CHAIN.split(" ")),
        "total_tokens": len(CHAIN.split(" ")),
    }


class _Unsure:
    """An engine that gives its tag a probability of one half."""

    name = "unsure"

    def generate(self, prompts: Any, *, max_new_tokens: int) -> list[Generation | EngineError]:
        return [Generation(CHAIN, 7, 3, (TokenLogprob("<Yes>", -0.7),)) for _ in prompts]


class _Abstains(ModelJudge):
    """Withholds every verdict."""

    def judge(self, items: Any) -> list[Judgement]:
        changes = {"outcome": Outcome.UNDECIDED, "verdict": None}
        made = super().judge(items)
        return [j.model_copy(update={**changes, "withheld": j.verdict}) for j in made]


def test_an_abstention_is_a_normal_reply_without_a_tag(
    client_for: ClientFor, prompt: Prompt
) -> None:
    """The chain with its tag is only in ``gradegpt``, where it is not parsed as a verdict."""
    reply = ask(client_for(_Abstains(_Unsure())), prompt)
    body = reply.json()
    content = body["choices"][0]["message"]["content"]
    assert (reply.status_code, body["choices"][0]["finish_reason"]) == (200, "stop")
    assert content == "No verdict was reached (undecided, model:chain)."
    assert not re.search(r"<\s*/?\s*(yes|no)\s*>", content, re.IGNORECASE)
    assert body["gradegpt"]["outcome"] == "undecided"
    assert body["gradegpt"]["replied"] == "undecided"
    assert body["gradegpt"]["chain"] == CHAIN
    assert body["usage"] == {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


@pytest.mark.parametrize(
    ("setting", "family", "status", "replied", "text", "passed"),
    [
        ("guess", "opencompass", 200, "correct", "A", True),
        ("incorrect", "opencompass", 200, "incorrect", "B", True),
        ("refuse", "opencompass", 200, "undecided", "", False),
        ("refuse", "simpleqa", 422, "refuse", None, False),
        ("incorrect", "evalscope", 200, "undecided", "The judge did not decide.", False),
        ("guess", "langchain_qa", 200, "undecided", "The judge did not decide.", False),
    ],
)
def test_an_undecided_reply_is_counted_and_said_where_it_passes_for_a_verdict(
    client_for: ClientFor,
    logged: io.StringIO,
    setting: str,
    family: str,
    status: int,
    replied: str,
    text: str | None,
    passed: bool,
) -> None:
    """Each in a header and in the metrics; the first of a family that passes for one in the log."""
    client = client_for(_Abstains(_Unsure()), undecided=setting)
    prompt = find_example(client, family)
    for _ in "ab":
        reply = ask(client, prompt)
        assert (reply.status_code, reply.headers.get("X-GradeGPT-Undecided")) == (status, "1")
    body = reply.json()
    assert (body["choices"][0]["message"]["content"] if text is not None else None) == text
    counted = f'undecided_replies_total{{family="{family}",replied="{replied}"}} 2.0'
    assert counted in client.get("/metrics").text
    said = logged.getvalue().splitlines()
    assert len(said) == passed
    assert all(f"{family}: no verdict was reached" in line for line in said)


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
    client_for: ClientFor, prompt: Prompt, error: EngineError, status: int, code: str, stream: bool
) -> None:
    """Also with a stream: the judge runs before the first event is sent."""
    reply = ask(client_for([error]), prompt, stream=stream)
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert str(error) in reply.json()["error"]["message"]


def test_an_unknown_prompt_is_422_with_the_ways_on(client_for: ClientFor) -> None:
    """The message has the command that learns a template of such prompts."""
    reply = ask(client_for(), [{"role": "user", "content": "Is 4 right?"}])
    error = reply.json()["error"]
    assert (reply.status_code, error["code"]) == (422, "unknown_prompt")
    for words in ("POST /v1/judge", "serve.template learn", "AS RIGHT", "docs/guides/adapters.md"):
        assert words in error["message"]


def test_a_known_prompt_that_cannot_be_judged_has_a_code_of_its_own(client_for: ClientFor) -> None:
    """A rating of MT-bench, which no template of the caller's would help."""
    client = client_for()
    reply = ask(client, find_example(client, "mt_bench"))
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "unusable_prompt")


def test_n_choices_are_alike_and_cost_one_judgement(client_for: ClientFor, prompt: Prompt) -> None:
    body = ask(client_for([CHAIN]), prompt, n=3).json()
    assert [c["index"] for c in body["choices"]] == [0, 1, 2]
    assert {c["message"]["content"] for c in body["choices"]} == {CHAIN}
    assert body["usage"]["completion_tokens"] == len(CHAIN.split(" "))


def test_a_stop_inside_the_reasons_removes_the_reasons_and_not_the_verdict(
    client_for: ClientFor, prompt: Prompt
) -> None:
    """The reasons move to ``reasoning_content``, which other clients ignore."""
    message = ask(client_for([CHAIN]), prompt, stop=["\n"]).json()["choices"][0]["message"]
    assert message["content"] == "<Yes>"
    assert "The answer is 4." in message["reasoning_content"]
    kept = ask(client_for([CHAIN]), prompt, stop="###").json()["choices"][0]["message"]
    assert kept["content"] == CHAIN
    assert "reasoning_content" not in kept


def test_neither_a_stop_nor_a_limit_cuts_a_reply() -> None:
    """Some replies start with a heading or a fence, which alone would be read as wrong."""
    judged = Judgement(
        id="", outcome=Outcome.JUDGED, verdict=Verdict.CORRECT, method="model", chain=CHAIN
    )
    for template in (one for one in TEMPLATES if one.judges):
        reply = find(template.prompt("2+2=?", "4", "The answer is 4.")).reply(judged)
        for wanted in ({"max_tokens": 1}, {"stop": "\n"}):
            options = ReplyOptions.model_validate({"model": "m", **wanted})
            assert ReplyContent.of(reply, judged, options, {}).content == reply.core, template.name


def test_a_schema_is_refused_where_the_family_has_none(client_for: ClientFor) -> None:
    """The message says as what the prompt was recognised, and what to do."""
    client = client_for()
    prompt = find_example(client, "opencompass")
    reply = ask(client, prompt, response_format={"type": "json_object"})
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, "response_format")
    for words in ("OpenCompass GenericLLMEvaluator", "template opencompass", "POST /v1/judge"):
        assert words in reply.json()["error"]["message"]
    assert ask(client, prompt, response_format={"type": "text"}).status_code == 200


def test_a_schema_is_followed_where_the_family_has_one() -> None:
    """Every such family replies with an object that has all required fields of its schema."""
    judged = Judgement(id="", outcome=Outcome.JUDGED, verdict=Verdict.CORRECT, method="rules")
    odd = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"required": ["odd"]}}}
    families = [template for template in TEMPLATES if template.json_schema and template.judges]
    for template in families:
        reply = find(template.prompt("2+2=?", "4", "It is 4.")).reply(judged, as_json=True)
        assert template.json_schema is not None
        assert {*template.json_schema.get("required", ())} <= {*json.loads(reply.core)}
        with pytest.raises(UnsupportedError, match="not odd"):
            ResponseFormat.model_validate(odd).check(template)
    assert families


def test_a_schema_that_is_asked_for_is_sent(client_for: ClientFor) -> None:
    client = client_for()
    form = {"type": "json_object"}
    body = ask(client, find_example(client, "hle"), response_format=form).json()
    assert json.loads(body["choices"][0]["message"]["content"])["correct"] == "yes"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"messages": []}, "messages: expected at least one entry"),
        ({"messages": [{"role": "user"}]}, "messages.0.content: field required"),
        ({"messages": [{"role": "user", "content": None}]},
         "messages.0.content: expected text, or a list of text parts"),
        ({"max_tokens": 0}, "max_tokens: should be greater than or equal to 1"),
        ({"model": None}, "model: expected text"),
    ],
    ids=["no-messages", "no-content", "content-null", "max-tokens-0", "model-null"],
)  # fmt: skip
def test_a_wrong_field_is_422_and_named(
    client_for: ClientFor, prompt: Prompt, change: dict[str, Any], message: str
) -> None:
    reply = client_for().post(
        "/v1/chat/completions", json={"model": "gradegpt", "messages": prompt, **change}
    )
    assert (reply.status_code, reply.json()["error"]["message"]) == (422, message)


@pytest.mark.parametrize(
    ("options", "refused"),
    [({"tools": [{}], "tool_choice": "required"}, "tool_choice"),
     ({"tools": [{}], "tool_choice": {"type": "function"}}, "tool_choice"),
     ({"functions": [{}], "function_call": {"name": "grade"}}, "function_call"),
     ({"logprobs": True}, "logprobs"), ({"modalities": ["text", "audio"]}, "modalities"),
     ({"guided_json": {}}, "guided_json"), ({"guided_choice": ["A", "B"]}, "guided_choice"),
     ({"grammar": 'root ::= "A"'}, "grammar"), ({"regex": "A|B"}, "regex"),
     ({"json_schema": {"type": "object"}}, "json_schema"),
     ({"guided_regex": "A|B"}, "guided_regex"), ({"guided_grammar": "A"}, "guided_grammar"),
     ({"prompt_logprobs": 1}, "prompt_logprobs"), ({"suffix": "."}, "suffix"),
     ({"echo": True}, "echo"),
     ({"guided_choice": None, "grammar": "", "prompt_logprobs": None, "echo": False}, None),
     ({"tools": [{}], "tool_choice": "auto", "logprobs": False, "modalities": ["text"]}, None)],
)  # fmt: skip
def test_an_option_that_changes_the_form_of_a_reply_is_refused(
    client_for: ClientFor, prompt: Prompt, options: dict[str, Any], refused: str | None
) -> None:
    """A client that waits for the call of a tool would find none; one that is offered is fine."""
    reply = ask(client_for(), prompt, **options)
    assert reply.status_code == (400 if refused else 200)
    assert reply.json().get("error", {}).get("param") == refused


@pytest.mark.parametrize(
    ("part", "status", "param"),
    [
        ({"type": "text", "content": "y"}, 422, "messages.0.content.1.text"),
        ({"type": "image_url", "image_url": {"url": "x"}}, 400, "messages.0.content"),
    ],
)
def test_a_part_that_is_no_text_is_named(
    client_for: ClientFor, part: dict[str, Any], status: int, param: str
) -> None:
    """It is not read as an empty one."""
    parts = [{"type": "text", "text": "x"}, part]
    reply = ask(client_for(), [{"role": "user", "content": parts}])  # type: ignore[dict-item]
    assert (reply.status_code, reply.json()["error"]["param"]) == (status, param)


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_a_chain_over_max_tokens_is_replaced_by_its_tag(
    client_for: ClientFor, prompt: Prompt, name: str
) -> None:
    """A cut chain would lose the verdict at its end."""
    body = ask(client_for([CHAIN]), prompt, **{name: 5}).json()
    assert body["choices"][0]["message"]["content"] == "<Yes>"
    assert body["gradegpt"]["chain"] == CHAIN
    room = ask(client_for([CHAIN]), prompt, **{name: 500}).json()
    assert room["choices"][0]["message"]["content"] == CHAIN
