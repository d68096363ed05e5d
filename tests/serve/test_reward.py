"""POST /get_reward: the requests of OpenRLHF's clients, and the replies that they read."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from starlette.testclient import TestClient

from gradegpt.core.errors import EngineError, EngineTimeoutError
from serve.errors import RequestError
from serve.reward import RewardRequest, items_of, question_of, response_of

CHATML = "<|im_start|>user\nHow much is 2+2?<|im_end|>\n<|im_start|>assistant\n"
Ask = Callable[..., Any]


@pytest.fixture
def client_of(client_for: Callable[..., TestClient]) -> Ask:
    """A client of a server with low limits, with rules or scripted replies."""
    return partial(client_for, max_body_bytes=10**6, max_items=8, max_queue=8)


def rollout(*responses: str, label: Any = "4") -> dict[str, Any]:
    """A request as OpenRLHF makes it from responses to one prompt."""
    number = len(responses)
    return {
        "query": [f"{CHATML}{response}<|im_end|>" for response in responses],
        "prompts": [CHATML] * number,
        "labels": [label] * number,
    }


def test_rewards_are_numbers_in_order_in_every_place_a_version_reads(client_of: Ask) -> None:
    """Lists of one length under ``rewards``, ``scores`` and every key of ``extra_logs``."""
    client = client_of()
    asked = rollout("So the answer is 4.", "The answer is 5.", "It is \\boxed{4}.")
    reply = client.post("/get_reward", json=asked)
    body = json.loads(reply.content, parse_constant=pytest.fail)  # no NaN
    assert body["rewards"] == body["scores"] == [1.0, 0.0, 1.0]
    assert body["extra_logs"] == {"judged": [1.0] * 3, "invalid": [0.0] * 3}
    assert [row["verdict"] for row in body["gradegpt"]] == ["correct", "incorrect", "correct"]


def test_the_judge_sees_the_parts_and_not_the_template() -> None:
    """The question is the user's turn, the response follows it, the reference is the label."""
    [item] = items_of(RewardRequest.model_validate(rollout("The answer is 4.")), most=8)
    assert (item.question, item.response, item.reference) == (
        "How much is 2+2?", "The answer is 4.", ("4",)
    )  # fmt: skip


def test_an_empty_shard_gets_empty_lists(client_of: Ask) -> None:
    """A trainer with more servers than samples sends some of them nothing."""
    body = client_of().post("/get_reward", json={"query": [], "prompts": [], "labels": []}).json()
    assert (body["rewards"], body["extra_logs"]["judged"]) == ([], [])


@pytest.mark.parametrize("label", [4, 4.0, ["four", "4"]], ids=["int", "float", "list"])
def test_labels_may_be_numbers_or_several_references(client_of: Ask, label: Any) -> None:
    """A data set's answer column may have numbers; a list means alternatives."""
    reply = client_of().post("/get_reward", json=rollout("The answer is 4.", label=label))
    assert reply.json()["rewards"] == [1.0]


@pytest.mark.parametrize(
    ("change", "param", "message"),
    [
        ({"labels": None}, "labels", "labels: field required; a label is the reference"),
        ({"labels": ["4"]}, "labels", "labels: 1 for 2 queries"),
        ({"labels": ["4", ""]}, "labels.1", "labels.1: is empty; give the reference"),
        ({"labels": ["4", None]}, "labels.1", "labels.1: is empty"),
        ({"labels": ["4", "  "]}, "labels", "labels.1: reference"),
        ({"labels": ["4", True]}, "labels.1.str", "labels.1.str: "),
        ({"prompts": [CHATML, "another"]}, "query.1", "query.1: does not contain its prompt"),
        ({"query": "text"}, "query", "query: "),
    ],
    ids=["no-labels", "lengths", "empty", "null", "blank", "bool", "other-prompt", "a-text"],
)  # fmt: skip
def test_one_ungradable_query_refuses_the_request(
    client_of: Ask, change: dict[str, Any], param: str, message: str
) -> None:
    """422 with the position: no reward is invented for one query."""
    client = client_of()
    reply = client.post("/get_reward", json={**rollout("4", "5"), **change})
    error = reply.json()["error"]
    assert (reply.status_code, error["param"]) == (422, param)
    assert error["message"].startswith(message)


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (EngineError("down"), 502, "engine_error"),
        (EngineTimeoutError("slow"), 504, "engine_timeout"),
    ],
)
def test_an_engine_failure_is_an_http_error_under_every_setting(
    client_of: Ask, failure: EngineError, status: int, code: str
) -> None:
    """A trainer asks again; it never gets a number."""
    client = client_of(["<Yes>", failure], reward_undecided=0.5)
    reply = client.post("/get_reward", json=rollout("4", "5"))
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)


@pytest.mark.parametrize("undecided", ["incorrect", "guess"])
def test_without_a_verdict_the_reward_is_that_of_the_reply_to_any_caller(
    client_of: Ask, undecided: str
) -> None:
    """``judged`` and a counter distinguish it from a verdict."""
    client = client_of(["<Yes>", "no tag"], undecided=undecided)
    reply = client.post("/get_reward", json=rollout("4", "5"))
    body = reply.json()
    assert (body["rewards"], body["extra_logs"]["judged"]) == ([1.0, 0.0], [1.0, 0.0])
    assert reply.headers["X-GradeGPT-Undecided"] == "1"
    counted = 'gradegpt_undecided_replies_total{family="get_reward",replied="incorrect"} 1.0'
    assert counted in client.get("/metrics").text


def test_without_a_verdict_the_request_may_be_refused(client_of: Ask) -> None:
    """For a trainer that handles a sample without a reward."""
    client = client_of(["<Yes>", "no tag"], undecided="refuse")
    reply = client.post("/get_reward", json=rollout("4", "5"))
    error = reply.json()["error"]
    assert (reply.status_code, error["code"]) == (422, "no_verdict")
    assert reply.headers["X-GradeGPT-Undecided"] == "1"
    assert error["message"].startswith("query.1: no verdict was reached (unparsed")
    assert "undecided=guess" in error["message"]
    assert "reward_undecided=" in error["message"]


@pytest.mark.parametrize("number", [0.5, 0.0, -1.0])
def test_a_number_may_be_set_for_no_verdict(client_of: Ask, number: float) -> None:
    """It is counted as a reply for no verdict, which ``judged`` distinguishes from a verdict."""
    client = client_of(["<Yes>", "no tag", "<No>"], reward_undecided=number)
    reply = client.post("/get_reward", json=rollout("4", "5", "6"))
    body, counted = reply.json(), client.get("/metrics").text
    assert reply.headers["X-GradeGPT-Undecided"] == "1"
    assert 'undecided_replies_total{family="get_reward",replied="undecided"} 1.0' in counted
    assert 'requests_total{family="get_reward",route="/get_reward",status="200"} 1.0' in counted
    assert body["rewards"] == [1.0, number, 0.0]
    assert body["extra_logs"]["judged"] == [1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (rollout(*"123456789"), "query: 9 queries are more than 8 per request"),
        (rollout("4" * 10**6), "the body is over 1,000,000 bytes"),
    ],
    ids=["items", "bytes"],
)
def test_limits_are_413_and_name_what_to_change(
    client_of: Ask, asked: dict[str, Any], message: str
) -> None:
    reply = client_of().post("/get_reward", json=asked)
    assert reply.status_code == 413
    assert reply.json()["error"]["message"].startswith(message)


@pytest.mark.parametrize(
    ("query", "prompt", "response"),
    [
        ("2+2=? 4", "2+2=?", "4"),
        ("<s>2+2=? 4</s><pad><pad>", "2+2=?", "4"),
        ("<|begin_of_text|>2+2=?4<|eot_id|>", "2+2=?", "4"),
        (f"{CHATML}x < 3 and <b>4</b><|im_end|>\n<|endoftext|>", CHATML, "x < 3 and <b>4</b>"),
        ("<｜begin▁of▁sentence｜>Q: 4<｜end▁of▁sentence｜>", "Q:", "4"),
        (f"{'b' * 300}<|user|>end 4", f"{'a' * 300}{'b' * 300}<|user|>end", "4"),
        ("2+2=?", "2+2=?", ""),
        ("2+2=? 2+2=? is 4", "2+2=?", "2+2=? is 4"),
        ("the answer is 4</s>", "", "the answer is 4"),
    ],
    ids=["plain", "bos-eos-pad", "llama", "markup-kept", "deepseek", "prompt-cut", "nothing",
         "question-repeated", "no-prompt"],
)  # fmt: skip
def test_a_response_is_what_follows_its_prompt(query: str, prompt: str, response: str) -> None:
    """Decoding may add a start token and keeps end tokens; trainers cut long prompts."""
    assert response_of(query, prompt) == response


def test_a_query_without_its_prompt_is_refused() -> None:
    """The prompt may hold worked answers; they must not be graded as the response."""
    with pytest.raises(RequestError, match=r"query.3: does not contain its prompt"):
        response_of("another text", "2+2=?", "query.3")


@pytest.mark.parametrize(
    ("prompt", "question"),
    [
        ("  2+2=?  ", "2+2=?"),
        (f"<|im_start|>system\nBe brief.<|im_end|>\n{CHATML}", "How much is 2+2?"),
        ("<|start_header_id|>user<|end_header_id|>\n\nWhy?<|eot_id|>", "Why?"),
        ("<start_of_turn>user\nOne?<end_of_turn>\n<start_of_turn>user\nTwo?<end_of_turn>", "Two?"),
        ("<｜User｜>谁？<｜Assistant｜>", "谁？"),
        ("<s>[INST] Who? [/INST]", "Who?"),
        ("<|im_start|>user\nnever closed", "<|im_start|>user\nnever closed"),
    ],
    ids=["plain", "chatml", "llama", "gemma-last-turn", "deepseek", "mistral", "open"],
)
def test_a_question_is_the_last_turn_of_the_user(prompt: str, question: str) -> None:
    assert question_of(prompt) == question
