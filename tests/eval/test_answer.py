"""Asking a model: its prompts, the resuming of stopped runs, and a whole benchmark."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import eval.answer.__main__ as command
from eval.answer.ask import answer_protocol
from eval.answer.prompts import PromptStyle, prompt
from eval.asking import Asked
from eval.asking import ask as ask_rows
from eval.scores import scores
from gradegpt.app.cli import app as gradegpt
from gradegpt.core.errors import EngineError, InputError, OutputError
from gradegpt.core.records import read_rows, write_rows
from gradegpt.core.schema import AnswerType, Item, Judgement, Message
from gradegpt.engines import Generation


class Model:
    """Adds numbers, wrongly in every ``wrong``-th prompt; refuses or raises at given prompts."""

    name = "model"

    def __init__(self, wrong: int = 3, refused: Sequence[str] = (), dies: int = 10**9) -> None:
        self.asked: list[str] = []
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
        total = int(left) + int(right) + (len(self.asked) % self.wrong == 0)
        return Generation(f"So it is \\boxed{{{total}}}.", 10, 5, cut_off=total == 7)


def ask(path: Path, out: Path, model: Model, **more: Any) -> Asked:
    how = {name: more.pop(name) for name in ("samples", "progressive") if name in more}
    return ask_rows(answer_protocol(path, out, **how), model, **more)[1]


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
    """The rows are items for a judge, with the style of the prompt and the tokens."""
    made = ask(questions(tmp_path), tmp_path / "out.jsonl", Model(), samples=2, at_once=5)
    assert made == Asked(12, 0, 1, 0, "", 120, 60)
    rows = list(read_rows(tmp_path / "out.jsonl", Item))
    assert [row.id for row in rows][:3] == ["q0#0", "q0#1", "q1#0"]
    assert rows[0].meta == {
        "sample": 0, "style": "direct", "cut_off": False, "prompt_tokens": 10,
        "completion_tokens": 5,
    }  # fmt: skip
    assert rows[3].tags == {"level": "b"}
    manifest = json.loads((tmp_path / "out.jsonl.manifest.json").read_text())
    assert (manifest["rows"], manifest["cut_off"], manifest["prompt_tokens"]) == (12, 1, 120)


def test_a_stopped_run_resumes(tmp_path: Path) -> None:
    """The same rows as in one go, and nothing is asked twice."""
    path, model = questions(tmp_path, 40), Model(wrong=100, dies=20)
    with pytest.raises(EngineError, match=r"20 of 40 answers are saved in .*run the same command"):
        ask(path, tmp_path / "out.jsonl", model, at_once=10)
    model.dies = 10**9
    made = ask(path, tmp_path / "out.jsonl", model, at_once=10)
    assert (made.rows, made.rows_before, made.prompt_tokens) == (40, 20, 200)
    assert len(set(model.asked)) == len(model.asked) == 40
    assert ask(path, tmp_path / "out.jsonl", model, at_once=10).rows_before == 40
    assert len(model.asked) == 40
    with pytest.raises(OutputError):
        ask(path, tmp_path / "out.jsonl", model, samples=2)
    assert ask(path, tmp_path / "out.jsonl", model, overwrite=True).rows_before == 0


def test_a_refused_question_is_reported_and_asked_again(tmp_path: Path) -> None:
    """One refused question of forty costs one answer; the next call asks only that question."""
    path, model = questions(tmp_path, 40), Model(wrong=100, refused=("is 7+1?",))
    made = ask(path, tmp_path / "out.jsonl", model, at_once=16)
    assert (made.rows, made.failed, made.failure) == (40, 1, "HTTP 400: inappropriate")
    row = list(read_rows(tmp_path / "out.jsonl", Item))[7]
    assert (row.response, row.meta["error"]) == ("", "HTTP 400: inappropriate")
    model.refused = ()
    made = ask(path, tmp_path / "out.jsonl", model, at_once=16)
    assert (made.rows, made.rows_before, made.failed) == (40, 39, 0)
    assert len(model.asked) == 41
    assert list(read_rows(tmp_path / "out.jsonl", Item))[7].response == "So it is \\boxed{8}."


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
    assert "1,000 answers" in done.output
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


class Talk(Model):
    """Also records whole conversations."""

    def __init__(self, **more: Any) -> None:
        super().__init__(wrong=10**9, **more)
        self.talks: list[list[tuple[str, str]]] = []

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        self.talks += [[(m.role, m.content) for m in prompt] for prompt in prompts]
        return super().generate(prompts, max_new_tokens=max_new_tokens)


def test_a_part_is_asked_after_the_models_own_answers_to_those_before_it(tmp_path: Path) -> None:
    """The parts are one conversation per sample; reference answers in contexts are not shown."""
    model = Talk()
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
    path, whole, model = parts_of(tmp_path), Talk(), Talk(dies=7)
    ask(path, tmp_path / "whole.jsonl", whole, progressive=True, samples=2)
    with pytest.raises(EngineError, match="of 12 answers are saved"):
        ask(path, tmp_path / "out.jsonl", model, progressive=True, samples=2, at_once=1)
    model.dies = 10**9
    ask(path, tmp_path / "out.jsonl", model, progressive=True, samples=2, at_once=5)
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert len(model.asked) == 12
    asked = [talk for n, talk in enumerate(model.talks) if n != 7]  # the eighth died
    assert asked == whole.talks
    with pytest.raises(OutputError):
        ask(path, tmp_path / "out.jsonl", model, samples=2)


def test_a_refused_part_is_asked_again_with_the_next(tmp_path: Path) -> None:
    """So turns alternate, and the first part's context is still shown."""

    class Refuses(Talk):
        def _one(self, text: str) -> Generation | EngineError:
            alone = "is 1+97?" in text and "is 2+97?" not in text
            return EngineError("HTTP 400") if alone else super()._one(text)

    model = Refuses()
    made = ask(parts_of(tmp_path), tmp_path / "out.jsonl", model, progressive=True)
    assert (made.rows, made.failed) == (6, 1)
    last = model.talks[-1]
    assert [role for role, _ in last] == ["user", "assistant", "user"]
    assert last[0][1].startswith("material a\n\nWhat is 1+97?")
    assert "What is 2+97?" in last[0][1]


def test_without_parts_nothing_is_progressive(tmp_path: Path) -> None:
    """The error names the key that is missing."""
    with pytest.raises(InputError, match=r"questions\.jsonl: meta\.problem: no two rows"):
        ask(questions(tmp_path), tmp_path / "out.jsonl", Model(), progressive=True)


def test_the_command_asks_in_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With ``--progressive`` parts are turns; else each row is asked alone, with its context."""
    model = Talk()
    monkeypatch.setattr("eval.asking.OpenAIEngine", lambda *_, **__: model)
    words = [str(parts_of(tmp_path)), "--base-url", "http://x/v1", "--model", "m"]
    done = CliRunner().invoke(
        command.app, [*words, "-o", str(tmp_path / "a.jsonl"), "--progressive"]
    )
    assert done.exit_code == 0, done.output
    assert max(map(len, model.talks)) == 5
    model.talks.clear()
    done = CliRunner().invoke(command.app, [*words, "-o", str(tmp_path / "b.jsonl")])
    assert done.exit_code == 0, done.output
    assert {len(talk) for talk in model.talks} == {1}
    assert sum("solved before" in talk[0][1] for talk in model.talks) == 3
