"""Asking a model: its prompts, the resuming of stopped runs, and a whole benchmark."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Semaphore, Thread
from typing import Any

import pytest
from typer.testing import CliRunner

import eval.answer as command
from eval.answer import PromptStyle, answer_protocol, prompt
from eval.asking import run_protocol
from eval.scores import scores
from gradegpt.app.cli import app as gradegpt
from gradegpt.core.errors import EngineError, InputError, OutputError
from gradegpt.core.records import read_rows, write_rows
from gradegpt.core.schema import AnswerType, Item, Judgement, Message
from gradegpt.engines.base import Generation


class Model:
    """Adds numbers, wrongly in every ``wrong``-th prompt; refuses or raises at given prompts."""

    name = "model"

    def __init__(self, wrong: int = 3, refused: Sequence[str] = (), dies: int = 10**9) -> None:
        self.asked: list[str] = []
        self._numbers = count(1)  # of one prompt each, whatever the number of threads
        self.wrong, self.refused, self.dies = wrong, refused, dies

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        return [self._one(p[-1].content) for p in prompts]

    def _one(self, text: str) -> Generation | EngineError:
        if len(self.asked) >= self.dies:
            return EngineError("the server is down")
        self.asked.append(text)
        if any(word in text for word in self.refused):
            return EngineError("HTTP 400: inappropriate")
        left, right = text.split("?")[0].split()[-1].split("+")
        total = int(left) + int(right) + (next(self._numbers) % self.wrong == 0)
        return Generation(f"So it is \\boxed{{{total}}}.", 10, 5, cut_off=total == 6)


def ask(path: Path, out: Path, model: Model, **more: Any) -> list[Item]:
    asked = answer_protocol(path, out, samples=more.pop("samples", 1))
    return run_protocol(asked, model, **{"concurrency": 1, **more})


def manifest(out: Path) -> dict[str, Any]:
    return dict(json.loads(out.with_name(f"{out.name}.manifest.json").read_text()))


def questions(path: Path, count: int = 6, **more: Any) -> Path:
    rows = (
        {"id": f"q{n}", "question": f"What is {n}+1?", "reference": str(n + 1),
         "tags": {"level": "ab"[n % 2]}, **more}
        for n in range(count)
    )  # fmt: skip
    write_rows(path / "questions.jsonl", rows)
    return path / "questions.jsonl"


@pytest.mark.parametrize("style", list(PromptStyle))
def test_a_prompt_is_in_the_questions_language(style: PromptStyle) -> None:
    """The parts are the context, the question, how to reason, the unit, and how to end."""
    item = Item(question="求速度。", reference=("5",), response="", context="已知 s=10。",
                answer_type=AnswerType.NUMBER)  # fmt: skip
    (chinese,) = prompt(item, style, "m/s")
    assert chinese.content.startswith("已知 s=10。\n\n求速度。")
    assert "以 m/s 为单位" in chinese.content
    (english,) = prompt(item.model_copy(update={"question": "Find v."}), style)
    assert " in " not in english.content.split("Find v.")[0]
    assert ("\\boxed{…}" in english.content) is (style is not PromptStyle.JSON)
    assert ('{"answers": ["…", "…"]}' in english.content) is (style is PromptStyle.JSON)
    assert ("<STEPn>" in english.content) is (style is PromptStyle.STEPS)


def test_every_answer_type_is_asked_in_its_form() -> None:
    forms = {
        prompt(Item(question="?", reference=("x",), response="", answer_type=kind))[0].content
        for kind in AnswerType
    }
    assert len(forms) == len(AnswerType)


def test_samples_of_a_question_follow_each_other(tmp_path: Path) -> None:
    """The rows are items for a judge, in order, with the style of the prompt and the tokens."""
    out = tmp_path / "out.jsonl"
    rows = ask(questions(tmp_path), out, Model(wrong=100), samples=2, concurrency=5)
    assert rows == list(read_rows(out, Item))
    assert [row.id for row in rows] == [f"q{n}#{k}" for n in range(6) for k in range(2)]
    assert rows[0].meta == {
        "sample": 0, "style": "direct", "cut_off": False, "prompt_tokens": 10,
        "completion_tokens": 5,
    }  # fmt: skip
    assert rows[3].tags == {"level": "b"}
    made = manifest(out)
    assert (made["rows"], made["cut_off"], made["prompt_tokens"]) == (12, 2, 120)


def test_a_stopped_run_resumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same rows as in one go, nothing is asked twice, and the cost is that of all runs."""
    path, out, model = questions(tmp_path, 40), tmp_path / "out.jsonl", Model(wrong=100, dies=20)
    with pytest.raises(EngineError, match=r"20 of 40 answers are saved in .*run the same command"):
        ask(path, out, model)
    model.dies = 10**9
    assert len(ask(path, out, model)) == 40
    said = capsys.readouterr().out
    assert "40 answers (20 from earlier runs)" in said
    assert "400 tokens read, 200 written, by all runs" in said
    assert len(set(model.asked)) == len(model.asked) == len(ask(path, out, model)) == 40
    with pytest.raises(OutputError):
        ask(path, out, model, samples=2)
    assert len(ask(path, out, model, overwrite=True)) == 40
    assert len(model.asked) == 80


def test_a_refused_question_is_no_wrong_answer(tmp_path: Path) -> None:
    """It has no row (OlympiadBench, appendix B); the next call asks only that question."""
    path, out, model = questions(tmp_path, 40), tmp_path / "out.jsonl", Model(100, ("is 7+1?",))
    with pytest.raises(EngineError, match=r"1 of 40 were not answered .*HTTP 400: inappropriate"):
        ask(path, out, model)
    assert [row.id for row in read_rows(out, Item)] == [f"q{n}#0" for n in range(40) if n != 7]
    assert manifest(out)["failed"] == {"8": "HTTP 400: inappropriate"}
    model.refused = ()
    assert ask(path, out, model)[7].response == "So it is \\boxed{8}."
    assert len(model.asked) == 41
    assert manifest(out)["failed"] == {}


class Counting(ThreadingHTTPServer):
    """Counts the questions that it answers; a permit is needed for each answer."""

    def __init__(self) -> None:
        self.answered: Counter[str] = Counter()
        self.permits = Semaphore(0)
        super().__init__(("127.0.0.1", 0), CountingHandler)


class CountingHandler(BaseHTTPRequestHandler):
    server: Counting

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        question = asked["messages"][0]["content"].split("\n")[0]
        self.server.permits.acquire()
        message = {"role": "assistant", "content": "\\boxed{1}"}
        reply = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
        try:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)
        except OSError:  # this client was killed: somebody else needs the permit
            self.server.permits.release()
        else:
            self.server.answered[question] += 1

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing."""


@pytest.fixture
def counting() -> Iterator[Counting]:
    server = Counting()
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.permits.release(1_000)
    server.shutdown()
    server.server_close()


def test_the_answers_of_a_run_that_is_killed_are_each_requested_once(
    tmp_path: Path, counting: Counting
) -> None:
    """Each answer is saved when it comes, whatever becomes of the slower ones beside it."""
    out = tmp_path / "answers.jsonl"
    words = [str(questions(tmp_path, 20)), "-o", str(out), "--model", "m", "--concurrency", "8"]
    words += ["--base-url", f"http://127.0.0.1:{counting.server_port}/v1"]
    partial = out.with_name("answers.jsonl.replies.jsonl.partial")
    counting.permits.release(9)
    with subprocess.Popen([sys.executable, "-m", "gradegpt", "eval.answer", *words]) as process:
        while not partial.exists() or partial.read_bytes().count(b"\n") < 9:
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
    counting.permits.release(1_000)
    assert CliRunner().invoke(command.app, words).exit_code == 0
    assert len(list(read_rows(out, Item))) == 20
    assert counting.answered == Counter({f"What is {n}+1?": 1 for n in range(20)})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": " ", "reference": "1"}, "questions.jsonl:1: question: is empty"),
        ({"question": "?", "reference": ""}, "questions.jsonl:1: .*reference"),
        ({"question": "?"}, "questions.jsonl: no column is known as reference"),
    ],
)
def test_questions_that_cannot_be_asked(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    write_rows(tmp_path / "questions.jsonl", [row])
    with pytest.raises(InputError, match=message):
        answer_protocol(tmp_path / "questions.jsonl", tmp_path / "out")
    write_rows(tmp_path / "questions.jsonl", [])
    with pytest.raises(InputError, match="no rows"):
        answer_protocol(tmp_path / "questions.jsonl", tmp_path / "out")
    write_rows(tmp_path / "questions.jsonl", [{"id": "a", "question": "?", "reference": "1"}] * 2)
    with pytest.raises(InputError, match=":2: id: 'a' is also the id of line 1"):
        answer_protocol(tmp_path / "questions.jsonl", tmp_path / "out")


def test_ask_judge_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A benchmark by three commands: every third answer is wrong."""
    monkeypatch.setattr("eval.asking.OpenAIEngine", lambda *_, **__: Model())
    path, out = questions(tmp_path, 60), str(tmp_path / "answers.jsonl")
    words = [str(path), "-o", out, "--base-url", "http://x/v1", "--model", "m", "--samples", "2"]
    done = CliRunner().invoke(command.app, words)
    assert done.exit_code == 0, done.output
    assert "120 answers in" in done.output
    judged = str(tmp_path / "judged.jsonl")
    done = CliRunner().invoke(gradegpt, ["judge", out, "-o", judged, "--judge", "rules"])
    assert done.exit_code == 0, done.output
    found = scores(list(read_rows(out, Item)), list(read_rows(judged, Judgement)))
    assert found.overall.accuracy is not None
    assert found.overall.accuracy.value == pytest.approx(2 / 3)
    assert found.overall.n_questions == 60
    assert found.tags["level"].keys() == {"a", "b"}
    (two,) = found.overall.samples
    assert two.pass_at_k.value == 1.0
    assert two.mg_pass.value == pytest.approx(1 / 3)
