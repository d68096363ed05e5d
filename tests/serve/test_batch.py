"""``gradegpt serve.batch``: OpenAI's batch files, answered without a server."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gradegpt.app.cli import run
from gradegpt.core.errors import EngineError
from gradegpt.core.schema import Item, Judgement
from gradegpt.judges.rules import RuleJudge
from serve import batch
from serve.worker import InProcess
from tests.serve.clients.rows import prompt_of, sums

SUMS = sums(6)
Batch = Callable[..., int]


def request(number: int, url: str = "/v1/chat/completions", **changes: Any) -> dict[str, Any]:
    """A line of a batch: a prompt of OpenCompass with an addition."""
    messages = [message.model_dump() for message in prompt_of("opencompass", SUMS[number][0])]
    text = messages[-1]["content"]
    given = {"/v1/chat/completions": {"messages": messages}, "/v1/completions": {"prompt": text},
             "/v1/responses": {"input": text}}  # fmt: skip
    body = {"model": "any", **given[url]}
    line = {"custom_id": f"r{number}", "method": "POST", "url": url, "body": body}
    return line | changes


@pytest.fixture
def answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Batch:
    """The exit code of the command on ``requests.jsonl`` in the folder."""

    def call(lines: Sequence[Any] = (), *arguments: str) -> int:
        source, output = tmp_path / "requests.jsonl", tmp_path / "replies.jsonl"
        if lines:
            source.write_text("".join(json.dumps(line) + "\n" for line in lines))
        given = (str(source), "-o", str(output), "judge.kind=rules", *arguments)
        with pytest.raises(SystemExit) as ended:
            run(batch.app, given, name="gradegpt serve.batch")
        return int(ended.value.code or 0)

    return call


def replies(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "replies.jsonl").read_text().splitlines()]


def letter(row: dict[str, Any]) -> str:
    """What the pipeline reads."""
    body = row["response"]["body"]
    if "output" in body:
        return str(body["output"][0]["content"][0]["text"])
    choice = body["choices"][0]
    return str(choice.get("text") or choice["message"]["content"])


@pytest.mark.parametrize("url", ["/v1/chat/completions", "/v1/completions", "/v1/responses"])
def test_every_request_has_the_reply_of_a_server_in_order(
    answer: Batch, tmp_path: Path, url: str
) -> None:
    assert answer([request(n, url) for n in range(6)]) == 0
    rows = replies(tmp_path)
    assert [row["custom_id"] for row in rows] == [f"r{n}" for n in range(6)]
    assert [letter(row) for row in rows] == ["A" if right else "B" for _, right in SUMS]
    assert {row["response"]["status_code"] for row in rows} == {200}
    assert list(rows[0]) == ["id", "custom_id", "response", "error"]


def test_a_request_that_cannot_be_answered_has_the_error_of_a_server(
    answer: Batch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others are answered, the command says how many were not, and its exit code is 1."""
    sing = {"model": "any", "messages": [{"role": "user", "content": "Sing."}]}
    assert answer([request(0), request(1, body=sing), request(2, body={})]) == 1
    good, unknown, empty = (row["response"] for row in replies(tmp_path))
    assert (good["status_code"], unknown["status_code"], empty["status_code"]) == (200, 422, 422)
    assert unknown["body"]["error"]["code"] == "unknown_prompt"
    assert "3 requests = 1 with status 200 + 2 with status 422" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([request(0), request(1, custom_id="r0")], "'r0' is the custom_id of requests 1 and 2"),
        ([request(0, custom_id="")], "requests.jsonl:1: custom_id: "),
        ([request(0, url="/v1/completions") | {"url": "/v1/embeddings"}], "requests.jsonl:1: url:"),
        ([request(0, method="GET")], "requests.jsonl:1: method: "),
        ([{"custom_id": "a"}], "url: field required"),
        ([[1]], "requests.jsonl:1: list instead of a JSON object"),
    ],
    ids=["twice", "no id", "url", "method", "no url", "no object"],
)
def test_a_wrong_line_is_found_before_any_is_answered(
    answer: Batch, tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: Any, message: str
) -> None:
    assert answer(lines) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.glob("replies.jsonl*"))


class Stopped(RuleJudge):
    """Rules that are stopped after some items."""

    def __init__(self, after: int, error: BaseException) -> None:
        super().__init__()
        self.left, self.error = after, error
        self.judged: list[str] = []

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        if self.left <= 0:
            raise self.error
        self.left -= len(items)
        self.judged += [item.response for item in items]
        return super().judge(items)


def test_a_stopped_run_is_resumed_where_it_stood(
    answer: Batch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No request is answered twice, and an incomplete last line is written again."""
    lines, small = [request(n) for n in range(6)], ["max_items=1", "max_queue=2"]
    first, second = Stopped(4, SystemExit(9)), Stopped(99, SystemExit(9))
    for judge, code in ((first, 9), (second, 0)):
        workers = [InProcess(judge)]
        monkeypatch.setattr(batch, "workers_for", lambda _, workers=workers: workers)
        assert answer(lines, *small) == code
        if code:
            partial = tmp_path / "replies.jsonl.partial"
            assert len(partial.read_text().splitlines()) == 4
            with partial.open("a") as out:
                out.write('{"id": "torn')
    assert (len(first.judged), len(second.judged)) == (4, 2)
    assert [letter(row) for row in replies(tmp_path)] == [
        "A" if right else "B" for _, right in SUMS
    ]
    assert answer(lines, *small) == 3, "the finished file is not replaced"


def test_a_run_whose_judge_is_down_stops_and_keeps_its_replies(
    answer: Batch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    judge = Stopped(0, EngineError("no GPU"))
    monkeypatch.setattr(batch, "workers_for", lambda _: [InProcess(judge)])
    lines = [request(n % 6, custom_id=str(n)) for n in range(16)]
    assert answer(lines) == 4
    assert "all 16 requests failed: no GPU; 0 replies are kept" in capsys.readouterr().err
    monkeypatch.setattr(batch, "workers_for", lambda _: [InProcess(RuleJudge())])
    assert answer(lines) == 0
    assert len(replies(tmp_path)) == 16


def test_replies_of_another_judge_are_not_mixed(
    answer: Batch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Nor those of other requests or other settings."""
    lines = [request(n) for n in range(4)]
    monkeypatch.setattr(batch, "workers_for", lambda _: [InProcess(Stopped(2, SystemExit(9)))])
    assert answer(lines, "max_items=1", "max_queue=2") == 9
    monkeypatch.undo()
    assert answer(lines, "undecided=refuse") == 3
    assert "begun with another input or other settings" in capsys.readouterr().err
