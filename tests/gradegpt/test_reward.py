"""Rewards: the interfaces of TRL and verl, and no reward without a verdict."""

from __future__ import annotations

import io
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import reward_doctor

import gradegpt
from gradegpt.core.errors import EngineError, InputError, SettingsError
from gradegpt.core.schema import Item
from gradegpt.engines.scripted import ScriptedEngine
from gradegpt.judges.model import ModelJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.reward import JudgeReward, ServerJudge, compute_score

USER = {"role": "user", "content": "2+2=?"}


def says(text: str) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": text}]


# --- TRL ------------------------------------------------------------------------------------------


def test_each_completion_gets_its_reward() -> None:
    """For texts and for conversations; TRL's other arguments are ignored."""
    reward = JudgeReward(RuleJudge())
    answers = ["The answer is 4.", "The answer is 5.", ""]
    texts = reward(["2+2=?"] * 3, answers, reference=["4"] * 3, completion_ids=[[1]] * 3)
    chats = reward(
        [[USER]] * 3, [says(a) for a in answers], reference=["4"] * 3, trainer_state=object()
    )
    assert texts == chats == [1.0, 0.0, 0.0]
    assert reward.__name__ == "judge_reward"


def test_reward_doctor_finds_no_exploit() -> None:
    """In its 83 cases, without those that it calls contested; of the right answers one is open."""

    def reward(completion: str, reference: str) -> float:
        judged = gradegpt.judge(reference=reference, response=completion, judge="rules")
        return float(judged.correct is True)

    found = reward_doctor.audit(reward)
    assert len(found.should_reject) > 30
    assert not found.false_positives
    assert not found.errors
    assert [one.case.id for one in found.false_negatives] == ["eq.frac.repeating"]


def test_the_values_and_the_column_can_be_set() -> None:
    """Several references are alternatives."""
    reward = JudgeReward(
        RuleJudge(), correct=2, incorrect=-1, invalid=-2, reference="solution", name="maths"
    )
    answers = ["The answer is 4.", "The answer is 5.", ""]
    assert reward(["q"] * 3, answers, solution=[["3", "4"]] * 3) == [2, -1, -2]
    assert reward.__name__ == "maths"


def test_without_a_verdict_there_is_no_reward(logged: io.StringIO) -> None:
    """Failed (the log says it), unparsed or undecided: None, as for a row without reference."""
    engine = ScriptedEngine([EngineError("gone"), "no verdict", "<Yes>", "<No>"])
    reward = JudgeReward(ModelJudge(engine))
    made = reward(["q"] * 5, list("abcde"), reference=["r", "r", None, "r", "r"])
    assert made == [None, None, None, 1.0, 0.0]
    assert (
        "judge_reward: 1 of 4 rows failed: engine:error: gone; they get no reward"
        in logged.getvalue()
    )
    assert JudgeReward("rules")(["q"], ["It is azure."], reference=["blue"]) == [None]


def test_the_last_turns_are_used() -> None:
    """The user's for the question, the assistant's for the response; parts are joined."""
    engine = ScriptedEngine(["<Yes>"] * 3)
    reward = JudgeReward(ModelJudge(engine))
    parts = [{"type": "text", "text": "first"}, {"type": "image"}, {"type": "text", "text": "then"}]
    prompt = [{"role": "system", "content": "s"}, {"role": "user", "content": "old"}, USER]
    completion = [*says("draft"), {"role": "tool", "content": "42"}, *says("final")]
    reward(
        [prompt, [{"role": "user", "content": parts}], [USER]],
        [completion, says("x"), [{"role": "assistant", "content": None}]],
        reference=["4"] * 3,
    )
    first, second, third = (prompt[-1].content for prompt in engine.prompts)
    assert "2+2=?" in first
    assert "final" in first
    assert not any(word in first for word in ("old", "draft", "42"))
    assert "first\nthen" in second
    assert "<response>\n\n</response>" in third


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "there is no column 'reference' among none; name the column"),
        (
            {"answer": ["4"], "step": 3},
            "there is no column 'reference' among answer; name the column",
        ),
        ({"reference": ["4", "4"]}, "1 prompts, 1 completions and 2 references"),
        ({"reference": [""]}, "row 1: reference: an accepted answer is empty"),
        ({"reference": [{"a": 1}]}, "row 1: reference: expected text or a list"),
    ],
)
def test_rows_that_cannot_be_judged_are_errors(columns: dict[str, Any], message: str) -> None:
    """They get no reward."""
    with pytest.raises(InputError, match=f"judge_reward: {message}"):
        JudgeReward(RuleJudge())(["q"], ["4"], **columns)


def test_a_judge_that_fails_on_every_row_is_an_error() -> None:
    """Such as a server that does not run: a trainer must not go on without rewards."""
    reward = JudgeReward(ServerJudge("http://127.0.0.1:9", attempts=1))
    with pytest.raises(EngineError, match=r"judge_reward: 2 of 2 rows failed: .* server running"):
        reward(["q"] * 3, ["4"] * 3, reference=["4", "4", None])


@pytest.mark.slow  # importing TRL takes seconds
def test_trl_accepts_it() -> None:
    """By TRL's own checks of a reward function: its name, and that it is not a coroutine."""
    utils = pytest.importorskip("trl.trainer.utils")
    reward = JudgeReward(RuleJudge(), name="gradegpt")
    assert utils.get_callable_name(reward) == "gradegpt"
    assert not utils.is_async_callable(reward)


# --- a server -------------------------------------------------------------------------------------


class Served:
    """A server that judges by rules, after the replies in ``first``."""

    def __init__(self) -> None:
        self.first: list[tuple[int, bytes, dict[str, str]]] = []
        self.seen: list[tuple[str, str | None, int]] = []
        self.url = ""

    def answer(self, path: str, key: str | None, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        items = [Item.model_validate(row) for row in json.loads(body)["items"]]
        self.seen.append((path, key, len(items)))
        if self.first:
            return self.first.pop(0)
        rows = [j.model_dump(mode="json") for j in RuleJudge().judge(items)]
        return 200, json.dumps({"judgements": rows}).encode(), {}


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    state = Served()
    monkeypatch.setattr("gradegpt.reward.time.sleep", lambda _: None)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, reply, headers = state.answer(self.path, self.headers["Authorization"], body)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(reply)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_server_gives_the_judgements_of_its_judge(served: Served) -> None:
    """In order, in requests of 32 items, with the key."""
    items = [
        Item(id=str(n), reference=("4",), response=f"The answer is {n}.", meta={"n": n})
        for n in range(70)
    ]
    judge = ServerJudge(served.url + "/v1/", "gg-1")
    assert judge.judge(items) == RuleJudge().judge(items)
    assert [seen[2] for seen in served.seen] == [32, 32, 6]
    assert {seen[:2] for seen in served.seen} == {("/v1/judge", "Bearer gg-1")}
    assert judge.judge([]) == []


ITEM = Item(id="i", reference=("4",), response="4")


def test_a_busy_server_is_asked_again(served: Served) -> None:
    """At most ``attempts`` times."""
    served.first = [(429, b"", {"Retry-After": "2"}), (503, b"<html>", {})]
    assert ServerJudge(served.url).judge([ITEM])[0].verdict == "correct"
    served.first = [(502, b'{"error": {"message": "engine gone"}}', {})] * 2
    (failed,) = ServerJudge(served.url, attempts=2).judge([ITEM])
    assert (failed.id, failed.outcome) == ("i", "failed")
    assert failed.reason.endswith("/v1/judge: HTTP 502: engine gone")


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (401, b'{"error": {"message": "no key"}}', "HTTP 401: no key"),
        (200, b"<html>login</html>", "not judgements .*is this a GradeGPT server"),
        (200, b"[]", "not judgements"),
        (200, b'{"judgements": [{"id": 1}]}', "not judgements .*outcome"),
        (200, b'{"judgements": []}', "0 judgements for 1 items"),
    ],
    ids=["key", "web page", "list", "row", "none"],
)
def test_a_reply_without_judgements_is_a_failure(
    served: Served, status: int, body: bytes, reason: str
) -> None:
    """Without another request, and never a verdict."""
    served.first = [(status, body, {})]
    (failed,) = ServerJudge(served.url).judge([ITEM])
    assert failed.outcome == "failed"
    assert re.search(reason, failed.reason)
    assert len(served.seen) == 1


def test_a_server_that_does_not_run(served: Served) -> None:
    """The failure asks whether it is running; a URL without a scheme is an error."""
    (failed,) = ServerJudge("http://127.0.0.1:9", attempts=2).judge([ITEM])
    assert failed.reason.endswith("is the server running?")
    with pytest.raises(SettingsError, match="'localhost:8000' is not a URL"):
        ServerJudge("localhost:8000")


# --- verl -----------------------------------------------------------------------------------------


def test_verl_gets_a_score_from_the_server_in_the_environment(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the question in the row's other fields."""
    monkeypatch.setenv("GRADEGPT_URL", served.url)
    extra = {"question": "2+2=?", "index": 3}
    assert compute_score("d", "The answer is 4.", "4", extra) == {"score": 1.0, "judged": 1.0}
    assert compute_score(
        data_source="d", solution_str="The answer is 5.", ground_truth=["4"], extra_info=None
    ) == {"score": 0.0, "judged": 1.0}
    assert compute_score("d", "It is azure.", "blue", undecided=0.25) == {
        "score": 0.25, "judged": 0.0,
    }  # fmt: skip
    served.first = [(401, b"", {})]
    with pytest.raises(EngineError, match=r"data source 'd': no judgement: engine:error: .*401"):
        compute_score("d", "4", "4")


def test_verl_may_use_a_judge_in_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """It needs no server; without either, the error says what to set."""
    monkeypatch.delenv("GRADEGPT_URL", raising=False)
    assert compute_score("d", "4", 4, judge=RuleJudge(), correct=3.0)["score"] == 3.0
    with pytest.raises(SettingsError, match="set GRADEGPT_URL"):
        compute_score("d", "4", "4")
    with pytest.raises(InputError, match="data source 'd': reference"):
        compute_score("d", "4", None, judge=RuleJudge())
