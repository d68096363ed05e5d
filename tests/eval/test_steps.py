"""Process-level evaluation: rows from a model, and their summary."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eval.asking import run_protocol
from eval.figures import ProtocolSummary, related
from eval.protocol import app
from eval.steps.chain import StepScores
from eval.steps.protocol import ScoredItem, steps_protocol, summarise
from gradegpt.app.cli import app as gradegpt
from gradegpt.core.errors import InputError
from gradegpt.core.records import write_rows
from gradegpt.core.schema import Item, Message, Outcome
from gradegpt.engines.scripted import ScriptedEngine
from gradegpt.judges.statistics import pearson, spearman

SOLUTION = "12 + 7 = 19\n19 × 2 = 38"
RESPONSES = {
    "right": "12 + 7 = 19\n2 × 19 = 38\nThe answer is 38.",
    "wrong": "12 + 7 = 18\n18 × 2 = 36\nThe answer is 36.",
    "half": "12 + 7 = 19\nThe answer is 19.",
    "open": "I do not know.",
}


def written(path: Path, count: int = 4, **more: Any) -> Path:
    """Items with the responses in turn, two per question, tagged with two models."""
    rows = (
        {"id": f"r{n}", "question": f"q{n // 2}", "reference": "38", "solution": SOLUTION,
         "response": list(RESPONSES.values())[n % 4], "tags": {"model": "ab"[n % 2]}, **more}
        for n in range(count)
    )  # fmt: skip
    write_rows(path / "items.jsonl", rows)
    return path / "items.jsonl"


def model() -> ScriptedEngine:
    """Finds the wrong steps, and says nothing that can be parsed where nothing was known."""

    def reply(prompt: Sequence[Message]) -> str:
        steps = prompt[-1].content.split("<response>\n")[1:]
        if "know" in steps[0]:
            return "?"
        lines = (step.split("\n")[0] for step in steps)
        return "\n".join(
            f"Step {n} | Reference none | {line} | {int(not re.search('18|36|is 19', line))}"
            for n, line in enumerate(lines, 1)
        )

    return ScriptedEngine(reply)


def run_of(path: Path, engine: ScriptedEngine, **more: Any) -> list[StepScores]:
    return run_protocol(steps_protocol(path, path.with_name("s.jsonl")), engine, **more)


# --- rows ---------------------------------------------------------------------------------------


def test_a_model_is_asked_only_what_can_be_scored(tmp_path: Path) -> None:
    """A row without a solution is not asked about; a reply in another format is unparsed."""
    path = written(tmp_path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[1] |= {"solution": ""}
    write_rows(path, rows)
    engine = model()
    found = run_of(path, engine)
    assert len(engine.prompts) == 3
    assert [row.scores for row in found] == [(1, 1, 1), (), (1, 0), ()]
    assert (found[1].outcome, found[1].reason) == (Outcome.UNDECIDED, "reference:no-solution")
    prose = run_of(path, ScriptedEngine(lambda _: "All steps are right."), overwrite=True)
    assert [row.outcome.value for row in prose] == ["unparsed", "undecided", "unparsed", "unparsed"]
    assert prose[0].reason == "chain:line 1 is no score"
    with pytest.raises(InputError, match=r"no row can be scored.* the column solution or steps"):
        run_of(written(tmp_path, solution=""), engine)


# --- the figures --------------------------------------------------------------------------------


def made(scores: Sequence[int], right: bool | None, n: int = 0, **more: Any) -> ScoredItem:
    """An item with these step scores and this verdict."""
    item = Item(id=str(n), question=f"q{n}", reference=("1",), response="x", **more)
    steps = StepScores(
        id=str(n), outcome=Outcome.JUDGED if scores else Outcome.UNDECIDED, reason="made",
        n_steps=len(scores), scores=tuple(scores), references=(None,) * len(scores),
    )  # fmt: skip
    return ScoredItem(item, steps, right)


def value(summary: ProtocolSummary, name: str, group: str = "all") -> float | None:
    figure = summary.figures[group][name]
    return figure and figure.value


def test_process_against_answers_by_hand() -> None:
    """Answers 1 1 0 0 with process scores 1 1/2 1/2 0.

    Covariance 1/8, deviations 1/2 and 1/sqrt 8: Pearson's r is 1/sqrt 2; the ranks 3.5 3.5 1.5 1.5
    and 4 2.5 2.5 1 give the same for Spearman's.
    """
    rows = [made((1, 1), True, 0), made((1, 0), True, 1), made((0, 1), False, 2),
            made((0, 0), False, 3), made((1,), None, 4), made((), True, 5)]  # fmt: skip
    found = summarise(rows)
    names = ("process score", "answers right", "process score if right",
             "if wrong", "Pearson", "Spearman")  # fmt: skip
    assert [value(found, name) for name in names] == pytest.approx(
        [0.6, 0.6, 0.75, 0.25, 0.5**0.5, 0.5**0.5]
    )
    process = found.figures["all"]["process score"]
    assert process is not None
    assert process.interval is not None
    assert process.interval.low < 0.6 < process.interval.high
    assert found.counts["no process score, made"] == 1


@pytest.mark.parametrize("pairs", [[], [(1, 1), (0, 0)], [(1, 0.5)] * 3, [(1, 0.1), (1, 0.2)] * 2])
def test_a_correlation_that_is_not_defined(pairs: list[tuple[float, float]]) -> None:
    """It is undefined for two pairs, and where one side does not vary."""
    rows = [(str(n), *pair) for n, pair in enumerate(pairs)]
    assert related(pearson, rows, 9) is related(spearman, rows, 9) is None


def test_a_perfect_correlation() -> None:
    rows = [("a", 0, 0.2), ("b", 0.5, 0.4), ("c", 1, 0.6), ("d", None, 0.1)]
    for of in (pearson, spearman):
        found = related(of, rows, 0)
        assert found is not None
        assert (found.value, found.interval, found.n) == (pytest.approx(1), None, 3)


def test_where_errors_are() -> None:
    """The first of four is at 1/8, the third at 5/8."""
    rows = [
        made((0, 1, 0, 0), False, 0), made((1, 0, 1), False, 1), made((1, 0), False, 2),
        made((1, 1), True, 3),
    ]  # fmt: skip
    counts = list(summarise(rows).counts.values())
    assert counts == [4, 3, [0, 1, 0, 0, 0, 1, 0, 1, 0, 0], [0, 1, 0, 0, 0, 1, 1, 1, 1, 0]]


def test_tags_are_groups_whose_means_are_correlated() -> None:
    """Three models whose process scores rise with their answers; a question has several tags."""
    rows = [
        made((1,) * n + (0,) * (3 - n), k < n, 10 * n + k, tags={"model": f"m{n}", "x": ("a", "b")})
        for n in (1, 2, 3)
        for k in range(3)
    ]
    found = summarise(rows)
    assert value(found, "Pearson", "model: m2") is None  # all its process scores are 2/3
    one, other = found.figures["x: a"]["process score"], found.figures["x: b"]["process score"]
    assert one == other == found.figures["all"]["process score"]
    assert value(found, "Pearson", "between values of model") == pytest.approx(1)


def test_rows_of_one_question_in_two_contexts_are_of_two_questions() -> None:
    """Their mean varies when questions are drawn; one question has the limits of one row."""
    wilson = (0.0546, 0.9454)  # half a hit of one: (0.5 + z2/2 ± z sqrt(0.25 + z2/4)) / (1 + z2)
    for contexts, interval in ((("A car.", "A train."), (0, 1)), (("A car.",) * 2, wilson)):
        rows = [made((k,), bool(k), context=contexts[k]) for k in (1, 1, 0, 0)]
        process = summarise(rows).figures["all"]["process score"]
        assert process is not None
        assert process.interval is not None
        ends = (process.interval.low, process.interval.high)
        assert ends == pytest.approx(interval, abs=0.01)


# --- the command --------------------------------------------------------------------------------


def test_judge_and_score_by_two_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Process scores exceed answer scores and correlate with them; a second run only summarises."""
    monkeypatch.setattr("eval.asking.OpenAIEngine", lambda *_, **__: model())
    path, judged = written(tmp_path, 40), str(tmp_path / "judged.jsonl")
    done = CliRunner().invoke(gradegpt, ["judge", str(path), "-o", judged, "--judge", "rules"])
    assert done.exit_code == 0, done.output
    words = ["steps", str(path), "-o", str(tmp_path / "s.jsonl")]
    words += ["--base-url", "http://x/v1", "--model", "m"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "answers right" not in done.output
    done = CliRunner().invoke(app, [*words, "--judgements", judged])
    assert done.exit_code == 0, done.output
    assert "model: a" in done.output
    assert "responses with a wrong step: 20" in done.output
    found = json.loads((tmp_path / "s.jsonl.summary.json").read_text())["figures"]["all"]
    assert found["process score"]["value"] == pytest.approx(0.5)
    assert found["process score if right"]["value"] == 1.0
    assert found["Pearson"]["value"] == pytest.approx(0.866, abs=1e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--model", "m"], "give both"), (["--rubrics", "r.jsonl"], "--rubrics: not for steps")],
)
def test_contradicting_options(tmp_path: Path, options: list[str], message: str) -> None:
    words = ["steps", str(written(tmp_path)), "-o", str(tmp_path / "s.jsonl"), *options]
    done = CliRunner().invoke(app, words)
    assert done.exit_code != 0
    assert message in str(done.exception)
    assert not (tmp_path / "s.jsonl").exists()
