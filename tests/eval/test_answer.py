"""Asking a model: its prompts, the resuming of stopped runs, and a whole benchmark."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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
        self.wrong, self.refused, self.dies = wrong, refused, dies
        self.talks: list[list[tuple[str, str]]] = []

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        self.talks += [[(m.role, m.content) for m in prompt] for prompt in prompts]
        return [self._one(p[-1].content) for p in prompts]

    def _one(self, text: str) -> Generation | EngineError:
        if len(self.asked) >= self.dies:
            return EngineError("the server is down")
        self.asked.append(text)
        if any(word in text for word in self.refused):
            return EngineError("HTTP 400: inappropriate")
        left, right = text.split("?")[0].split()[-1].split("+")
        total = int(left) + int(right) + (len(self.asked) % self.wrong == 0)
        return Generation(f"So it is \\boxed{{{total}}}.", 10, 5, cut_off=total == 6)


def ask(path: Path, out: Path, model: Model, **more: Any) -> list[Item]:
    how = {name: more.pop(name) for name in ("samples", "progressive") if name in more}
    return run_protocol(answer_protocol(path, out, **how), model, **{"concurrency": 1, **more})


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
    assert len(ask(path, out, model, prices=(1e6, 0))) == 40
    said = capsys.readouterr().out
    assert "40 answers (20 from earlier runs)" in said
    assert "400 tokens read, 200 written, 400.00 at your prices, earlier runs included" in said
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


def test_80_answers_of_a_run_that_is_killed_three_times_are_each_requested_once(
    tmp_path: Path, counting: Counting
) -> None:
    """Each answer is saved when it comes, whatever becomes of the slower ones beside it."""
    out = tmp_path / "answers.jsonl"
    words = [str(questions(tmp_path, 80)), "-o", str(out), "--model", "m", "--concurrency", "8"]
    words += ["--base-url", f"http://127.0.0.1:{counting.server_port}/v1"]
    partial = out.with_name("answers.jsonl.replies.jsonl.partial")

    def started() -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-m", "gradegpt", "eval.answer", *words])

    for kill in range(3):
        counting.permits.release(21)
        with started() as process:
            while not partial.exists() or partial.read_bytes().count(b"\n") < 21 * (kill + 1):
                assert process.poll() is None
                time.sleep(0.02)
            process.kill()
    counting.permits.release(1_000)
    with started() as process:
        assert process.wait() == 0
    assert len(list(read_rows(out, Item))) == 80
    assert counting.answered == Counter({f"What is {n}+1?": 1 for n in range(80)})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": " ", "reference": "1"}, "questions.jsonl:1: question: is empty"),
        ({"question": "?", "reference": ""}, "questions.jsonl:1: .*reference"),
        ({"question": "?"}, "questions.jsonl:1: reference"),
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
    """A benchmark of 500 questions by three commands: every third answer is wrong."""
    monkeypatch.setattr("eval.asking.OpenAIEngine", lambda *_, **__: Model())
    path, out = questions(tmp_path, 500), str(tmp_path / "answers.jsonl")
    words = [str(path), "-o", out, "--base-url", "http://x/v1", "--model", "m", "--samples", "2"]
    done = CliRunner().invoke(command.app, [*words, "--input-price", "3"])
    assert done.exit_code == 0, done.output
    assert "1,000 answers in" in done.output
    assert "0.03 at your prices" in done.output
    judged = str(tmp_path / "judged.jsonl")
    done = CliRunner().invoke(gradegpt, ["judge", out, "-o", judged, "--judge", "rules"])
    assert done.exit_code == 0, done.output
    found = scores(list(read_rows(out, Item)), list(read_rows(judged, Judgement)))
    assert found.overall.accuracy is not None
    assert found.overall.accuracy.value == pytest.approx(667 / 1000)
    assert found.overall.n_questions == 500
    assert found.tags["level"].keys() == {"a", "b"}
    (two,) = found.overall.samples
    assert two.pass_at_k.value == 1.0
    assert two.mg_pass.value == pytest.approx(167 / 500)


def parts_of(path: Path) -> Path:
    """A problem of three parts, one of two, and a question without a problem."""
    rows = [
        {"id": f"{name}{n}", "question": f"What is {n}+{ord(name)}?", "reference": "1",
         "context": f"material {name}" if n == 1 else f"material {name}, solved before",
         "meta": {"problem": name}}
        for name, parts in (("a", 3), ("b", 2)) for n in range(1, parts + 1)
    ]  # fmt: skip
    alone = {"id": "c", "question": "What is 1+1?", "reference": "2", "context": "material c"}
    write_rows(path / "parts.jsonl", [*rows, alone])
    return path / "parts.jsonl"


def test_a_part_is_asked_after_the_models_own_answers_to_those_before_it(tmp_path: Path) -> None:
    """The parts are one conversation per sample; reference answers in contexts are not shown."""
    model = Model(10**9)
    ask(parts_of(tmp_path), tmp_path / "out.jsonl", model, progressive=True, samples=2)
    rows = list(read_rows(tmp_path / "out.jsonl", Item))
    assert [row.id for row in rows if row.id.endswith("#1")] == [
        "a1#1", "b1#1", "c#1", "a2#1", "b2#1", "a3#1"
    ]  # fmt: skip
    last = model.talks[-1]
    assert [role for role, _ in last] == ["user", "assistant"] * 2 + ["user"]
    assert [text for role, text in last if role == "assistant"] == [
        "So it is \\boxed{98}.", "So it is \\boxed{99}."
    ]  # fmt: skip
    assert last[0][1].startswith("material a\n\nWhat is 1+97?")
    assert last[2][1].startswith("What is 2+97?")
    assert last[4][1].startswith("What is 3+97?")
    assert rows[-1].context == "material a, solved before"


def test_a_stopped_conversation_resumes(tmp_path: Path) -> None:
    """The same rows as in one go, from the same conversations; nothing is asked twice."""
    path, whole, model = parts_of(tmp_path), Model(10**9), Model(10**9, dies=7)
    ask(path, tmp_path / "whole.jsonl", whole, progressive=True, samples=2)
    with pytest.raises(EngineError, match="5 of 12 were not answered"):
        ask(path, tmp_path / "out.jsonl", model, progressive=True, samples=2)
    model.dies = 10**9
    ask(path, tmp_path / "out.jsonl", model, progressive=True, samples=2)
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert len(model.asked) == 12
    assert [talk for talk in model.talks if talk in whole.talks][:7] == whole.talks[:7]


def test_a_refused_part_is_asked_again_with_the_next(tmp_path: Path) -> None:
    """So turns alternate, and the first part's context is still shown."""

    class Refuses(Model):
        def _one(self, text: str) -> Generation | EngineError:
            alone = "is 1+97?" in text and "is 2+97?" not in text
            return EngineError("HTTP 400") if alone else super()._one(text)

    model = Refuses()
    with pytest.raises(EngineError, match="1 of 6 were not answered"):
        ask(parts_of(tmp_path), tmp_path / "out.jsonl", model, progressive=True)
    last = model.talks[-1]
    assert [role for role, _ in last] == ["user", "assistant", "user"]
    assert last[0][1].startswith("material a\n\nWhat is 1+97?")
    assert "What is 2+97?" in last[0][1]


def test_without_parts_nothing_is_progressive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the key that is missing."""
    monkeypatch.setattr("eval.asking.OpenAIEngine", lambda *_, **__: Model())
    words = [str(questions(tmp_path)), "--base-url", "http://x/v1", "--model", "m"]
    words += ["-o", str(tmp_path / "a.jsonl"), "--progressive"]
    failed = CliRunner().invoke(command.app, words).exception
    assert isinstance(failed, InputError)
    assert re.search(r"questions\.jsonl: meta\.problem: no two rows", str(failed))
