"""References of sub-questions are extracted from solutions, and only from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eval.asking import FINDINGS, run_protocol
from eval.figures import Finding
from eval.parts import Rejection, checked, gives, parts_prompt, parts_protocol
from eval.protocol import app
from gradegpt.core.errors import InputError
from gradegpt.core.records import read_rows, write_rows
from gradegpt.core.schema import Item, Verdict
from gradegpt.engines.scripted import ScriptedEngine
from gradegpt.judges.parts import PartsJudge
from gradegpt.judges.rules import RuleJudge

QUESTION = "A ball of mass 2 kg falls from 5 m. (1) Find its speed. (2) Find its energy."
SOLUTION = (
    r"By energy, $v = \sqrt{2gh} = 10\,\mathrm{m/s}$. The energy is $E = \frac{1}{2}mv^2$, "
    r"so E = 100 J. About 12.5% of it is lost, which is \boxed{\frac{25}{2}} J; "
    r"the sign is negative."
)


def parsed(path: Path, out: Path, *said: str) -> list[Item]:
    return run_protocol(parts_protocol(path, out), model(*said))


def found(out: Path) -> list[Finding]:
    path = Path(f"{out}{FINDINGS}")
    return list(read_rows(path, Finding)) if path.exists() else []


def reply(*answers: Any) -> str:
    return f"```json\n{json.dumps({'answers': answers}, ensure_ascii=False)}\n```"


GOOD = reply("10 m/s", "100 J")


def model(*said: str) -> ScriptedEngine:
    """Replies with the given text for ``#n#``."""
    return ScriptedEngine(lambda prompt: said[int(prompt[-1].content.split("#")[1]) % len(said)])


def problems(path: Path, count: int, **more: Any) -> Path:
    rows = (
        {"id": f"p{n}", "question": QUESTION, "solution": f"{SOLUTION} #{n}#"} | more
        for n in range(count)
    )
    write_rows(path / "problems.jsonl", rows)
    return path / "problems.jsonl"


@pytest.mark.parametrize(
    ("answer", "there"),
    [
        ("100 J", True), ("100J", True), (r"10\,\mathrm{m/s}", True), ("10 m/s", True),
        (r"\sqrt{2gh}", True), (r"v = \sqrt{2gh}", True), (r"\frac{mv^2}{2}", True),
        ("12.5 J", True), ("25/2", True), ("12.5%", True), ("negative", True), ("Negative", True),
        ("5 J", False), ("00 J", False), ("1000 J", False), ("100.5 J", False), ("2.5%", False),
        (r"\frac{mv^2}{3}", False), ("nega", False), ("positive", False), ("E", True), ("n", False),
        ("", False), ("101 J", False),
    ],
)  # fmt: skip
def test_an_answer_is_in_the_solution_or_not(answer: str, there: bool) -> None:
    """It is there verbatim except for blanks, or as an equal number or formula."""
    assert gives(SOLUTION, answer) is there


@pytest.mark.parametrize(
    ("said", "problem", "detail"),
    [
        (reply("10 m/s", "100 J"), None, ""),
        (reply("10 m/s", "90 J"), Rejection.NOT_THERE, "(2) 90 J"),
        (reply("10 m/s"), Rejection.COUNT, "1 for 2"),
        (reply("10 m/s", "100 J", "12.5%"), Rejection.COUNT, "3 for 2"),
        (reply("10 m/s", None), Rejection.NO_ANSWER, ""), (reply(), Rejection.NO_ANSWER, ""),
        ("10 m/s and 100 J", Rejection.NO_JSON, ""), ('{"answers": [1', Rejection.JSON_ERROR, ""),
    ],
)  # fmt: skip
def test_what_is_accepted(said: str, problem: Rejection | None, detail: str) -> None:
    """A reply needs as many answers as the question has parts, each in the solution."""
    item = Item(question=QUESTION, reference=("x",), response="", solution=SOLUTION)
    assert checked(item, said)[1:] == (problem, detail)


def test_options_are_no_parts_of_a_question() -> None:
    item = Item(question="Which?\n(A) 5\n(B) 7", reference=("x",), response="", solution="It is B.")
    assert checked(item, reply("B")) == (("B",), None, "")


def test_the_prompt_is_framed_and_in_the_questions_language() -> None:
    item = Item(question="求速度。", reference=("x",), response="", solution="v=5</reference>")
    system, user = parts_prompt(item)
    assert "抄出" in system.content
    assert user.content.count("</reference>") == 1
    english, asked = parts_prompt(
        item.model_copy(update={"question": "Find v.", "context": "A car brakes."})
    )
    assert asked.content.count("A car brakes.") == 1
    assert "Copy the final answer" in english.content


def test_items_and_findings(tmp_path: Path) -> None:
    """Accepted rows have parts and a joined reference; the others are reported with their line."""
    path, out = problems(tmp_path, 2), tmp_path / "items.jsonl"
    (item,) = parsed(path, out, GOOD, reply("10 m/s", "90 J"))
    assert (item.parts, item.reference) == (("10 m/s", "100 J"), ("(1) 10 m/s; (2) 100 J",))
    assert item.solution.startswith("By energy")
    assert list(read_rows(out, Item)) == [item]
    assert found(out) == [
        Finding(id="p1", where=f"{path}:2", fault=Rejection.NOT_THERE.value, detail="(2) 90 J")
    ]
    answered = item.model_copy(update={"response": reply("10 m/s", "0.1 kJ")})
    (judged,) = PartsJudge(RuleJudge()).judge([answered])
    assert judged.verdict is Verdict.CORRECT


def test_a_reference_that_was_there_must_agree(tmp_path: Path) -> None:
    """An equivalent reference is replaced; a different one is a finding."""
    path = problems(tmp_path, 1, reference="(1) 10 m/s; (2) 0.1 kJ")
    parsed(path, tmp_path / "a.jsonl", GOOD)
    assert not found(tmp_path / "a.jsonl")
    path = problems(tmp_path, 1, reference="(1) 10 m/s; (2) 7 J")
    parsed(path, tmp_path / "b.jsonl", GOOD)
    (finding,) = found(tmp_path / "b.jsonl")
    assert finding.fault == Rejection.OTHER_REFERENCE.value


@pytest.mark.parametrize("field", ["question", "solution"])
def test_rows_that_cannot_be_used(tmp_path: Path, field: str) -> None:
    path = problems(tmp_path, 1, **{field: " "})
    with pytest.raises(InputError, match=f"problems.jsonl:1: {field}: is empty"):
        parts_protocol(path, tmp_path / "out")


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It prints how many were accepted, and the file of findings."""
    engine = model(GOOD, reply("9 m/s", "100 J"))
    monkeypatch.setattr("eval.asking.OpenAIEngine", lambda *_, **__: engine)
    path = problems(tmp_path, 2)
    words = ["parts", str(path), "-o", str(tmp_path / "items.jsonl"), "--base-url", "x"]
    assert "give both" in str(CliRunner().invoke(app, words).exception)
    words += ["--model", "m"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "solutions accepted: 1\ntheir parts: 2" in done.output
    assert "(1) 9 m/s" in done.output
    (tmp_path / "mine.jsonl").write_text("mine")
    words[3] = str(tmp_path / "mine.jsonl")
    assert "--overwrite" in str(CliRunner().invoke(app, words).exception)
