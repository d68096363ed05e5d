"""Process-level evaluation: rows from rules and from a model, and their summary."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eval.asking import ask
from eval.protocol import app
from eval.steps.protocol import steps_protocol
from eval.steps.rules import StepScores, first_error, place
from eval.steps.summary import correlation, summarise
from gradegpt.app.cli import app as gradegpt
from gradegpt.core.errors import EngineError, InputError
from gradegpt.core.records import write_rows
from gradegpt.core.schema import Item, Judgement, Message, Outcome, Verdict
from gradegpt.engines.scripted import ScriptedEngine

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


def model(dies: int = 10**9, refused: str = "no such text") -> ScriptedEngine:
    """Calls every step right but the second; stops after so many prompts."""
    asked = 0

    def reply(prompt: Sequence[Message]) -> str | EngineError:
        nonlocal asked
        asked += 1
        if asked > dies or refused in prompt[-1].content:
            return EngineError("the server is down")
        steps = prompt[-1].content.split("<response>\n")[1:]
        lines = (step.split("\n")[0] for step in steps)
        return "\n".join(
            f"Step {n} | Reference none | {line} | {int(n != 2)}" for n, line in enumerate(lines, 1)
        )

    return ScriptedEngine(reply)


def run_of(path: Path, engine: ScriptedEngine | None = None, **more: Any) -> list[StepScores]:
    out = path.with_name("scores.jsonl")
    return ask(steps_protocol(path, out, by_model=engine is not None), engine, **more)[0]


# --- rows ---------------------------------------------------------------------------------------


def test_rules_need_no_engine(tmp_path: Path) -> None:
    """Each item has a row, and there is a manifest; steps that cannot be compared have no score."""
    rows = run_of(written(tmp_path))
    assert [row.scores for row in rows] == [(1, 1, 1), (0, None, 0), (1, 0), ()]
    assert [row.mean for row in rows] == [1, 0, 0.5, None]
    assert [row.first_error for row in rows] == [None, 1, 2, None]
    assert rows[3].outcome is Outcome.UNDECIDED
    manifest = json.loads((tmp_path / "scores.jsonl.manifest.json").read_text())
    assert (manifest["rows"], manifest["failed"], manifest["prompt_tokens"]) == (4, 0, 0)


def test_a_model_is_asked_only_what_can_be_scored(tmp_path: Path) -> None:
    """A row without a solution is not asked about; a reply in another format is unparsed."""
    path = written(tmp_path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[1] |= {"solution": ""}
    write_rows(path, rows)
    engine = model()
    found = run_of(path, engine)
    assert len(engine.prompts) == 3
    assert [row.scores for row in found] == [(1, 0, 1), (), (1, 0), (1,)]
    assert (found[1].outcome, found[1].reason) == (Outcome.UNDECIDED, "reference:no-solution")
    assert found[0].meta["completion_tokens"] > 0
    prose = run_of(path, ScriptedEngine(lambda _: "All steps are right."), overwrite=True)
    assert [row.outcome.value for row in prose] == ["unparsed", "undecided", "unparsed", "unparsed"]
    assert prose[0].reason == "chain:line 1 is no score"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"reference": "1"}, r"items.jsonl:1: response: "),
        ({"reference": "1", "response": "a\nb", "meta": {"step_labels": [1]}},
         r"items.jsonl:1: meta.step_labels: 1 labels for 2 steps; label the steps as"),
        ({"reference": "1", "response": "a", "meta": {"step_labels": [0.5]}},
         r"items.jsonl:1: meta.step_labels: \[0.5\]; give a list of 0 and 1"),
        ({"reference": "1", "response": "a", "meta": {"step_labels": "1"}},
         r"items.jsonl:1: meta.step_labels: '1'; give a list"),
    ],
)  # fmt: skip
def test_items_that_cannot_be_scored(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    """File, line, field, and what to do."""
    write_rows(tmp_path / "items.jsonl", [row])
    with pytest.raises(InputError, match=message):
        steps_protocol(tmp_path / "items.jsonl", tmp_path / "out", by_model=False)


def test_no_items(tmp_path: Path) -> None:
    write_rows(tmp_path / "items.jsonl", [])
    with pytest.raises(InputError, match="there are no rows"):
        steps_protocol(tmp_path / "items.jsonl", tmp_path / "out", by_model=False)


# --- the summary --------------------------------------------------------------------------------


def made(scores: Sequence[int | None], right: bool | None, n: int = 0, **more: Any) -> Any:
    """An item with these step scores and this verdict."""
    known = [score for score in scores if score is not None]
    first = first_error(tuple(scores))  # type: ignore[arg-type]
    item = Item(id=str(n), question=f"q{n}", reference=("1",), response="x", **more)
    steps = StepScores(
        id=str(n), outcome=Outcome.JUDGED if known else Outcome.UNDECIDED, method="rules",
        reason="made", n_steps=len(scores), scores=tuple(scores) if known else (),
        references=(None,) * len(scores) if known else (),
        mean=sum(known) / len(known) if known else None,
        first_error=first if known else None,
        first_error_at=place(first, len(scores)) if first else None,
    )  # fmt: skip
    verdict = None if right is None else Verdict.CORRECT if right else Verdict.INCORRECT
    outcome = Outcome.UNDECIDED if right is None else Outcome.JUDGED
    return item, steps, Judgement(id=str(n), outcome=outcome, verdict=verdict, method="rules")


def test_process_against_answers_by_hand() -> None:
    """Answers 1 1 0 0 with process scores 1 1/2 1/2 0.

    Covariance 1/8, deviations 1/2 and 1/sqrt 8: Pearson's r is 1/sqrt 2; the ranks 3.5 3.5 1.5 1.5
    and 4 2.5 2.5 1 give the same for Spearman's.
    """
    rows = [made((1, 1), True, 0), made((1, 0), True, 1), made((0, 1), False, 2),
            made((0, 0), False, 3), made((1, None), None, 4), made((None,), True, 5)]  # fmt: skip
    found = summarise(*map(list, zip(*rows, strict=True))).overall
    assert (found.n_rows, found.n_scored, found.steps_scored) == (6, 5, 9 / 11)
    assert found.correlation.n == 4
    assert found.correlation.pearson == pytest.approx(0.5**0.5)
    assert found.correlation.spearman == pytest.approx(0.5**0.5)
    values = [
        share and share.value
        for share in (
            found.process, found.accuracy, found.process_if_right, found.process_if_wrong
        )
    ]  # fmt: skip
    assert values == pytest.approx([0.6, 0.6, 0.75, 0.25])
    assert found.process is not None
    assert found.process.n_questions == 5
    assert found.process.interval.low < 0.6 < found.process.interval.high


@pytest.mark.parametrize("pairs", [[], [(1, 1), (0, 0)], [(1, 0.5)] * 3, [(1, 0.1), (1, 0.2)] * 2])
def test_a_correlation_that_is_not_defined(pairs: list[tuple[float, float]]) -> None:
    """It is undefined for two pairs, and where one side does not vary."""
    found = correlation(pairs)
    assert (found.n, found.pearson, found.spearman) == (len(pairs), None, None)


def test_a_perfect_correlation() -> None:
    found = correlation([(0, 0.2), (0.5, 0.4), (1, 0.6)])
    assert (found.pearson, found.spearman) == (pytest.approx(1), pytest.approx(1))


def test_where_errors_are() -> None:
    """The first of four is at 1/8, the third at 5/8; the middle one of three counts half."""
    rows = [
        made((0, 1, 0, 0), False, 0), made((1, 0, 1), False, 1), made((None, 0), False, 2),
        made((1, 1), True, 3),
    ]  # fmt: skip
    found = summarise(*map(list, zip(*rows, strict=True))).errors
    assert found.first == (0, 1, 0, 0, 0, 1, 0, 1, 0, 0)
    assert found.every == (0, 1, 0, 0, 0, 1, 1, 1, 1, 0)
    assert found.share_after_middle == pytest.approx((2 + 0.5 + 1) / 5)
    assert found.first_after_open == 1
    nothing = summarise(*map(list, zip(*rows[3:], strict=True))).errors
    assert nothing.share_after_middle is None
    assert sum(nothing.first) == 0


def test_tags_are_groups_whose_means_are_correlated() -> None:
    """Three models whose process scores rise with their answers; a question has several tags."""
    rows = [
        made((1,) * n + (0,) * (3 - n), k < n, 10 * n + k, tags={"model": f"m{n}", "x": ("a", "b")})
        for n in (1, 2, 3)
        for k in range(3)
    ]
    found = summarise(*map(list, zip(*rows, strict=True)))
    assert found.tags["model"]["m2"].n_rows == 3
    assert found.tags["x"]["a"].n_rows == found.tags["x"]["b"].n_rows == 9
    assert found.tags["model"]["m2"].correlation.pearson is None  # all its process scores are 2/3
    assert found.between["model"].n == 3
    assert found.between["model"].pearson == pytest.approx(1)


def test_rows_of_one_question_in_two_contexts_are_of_two_questions() -> None:
    """Their mean varies when questions are drawn; one question has the limits of one row."""
    wilson = (0.0546, 0.9454)  # half a hit of one: (0.5 + z2/2 ± z sqrt(0.25 + z2/4)) / (1 + z2)
    for contexts, interval in ((("A car.", "A train."), (0, 1)), (("A car.",) * 2, wilson)):
        rows = [made((k,), bool(k), context=contexts[k]) for k in (1, 1, 0, 0)]
        process = summarise(*map(list, zip(*rows, strict=True))).overall.process
        assert process is not None
        ends = (process.interval.low, process.interval.high)
        assert ends == pytest.approx(interval, abs=0.001)


def test_the_agreement_with_human_labels() -> None:
    """83 of 100 steps, as in OlympicArena, section 3.4; kappa of 70 11 6 13 by hand.

    Ten steps all right are not certain, either.
    Expected agreement is (76 * 81 + 24 * 19) / 10,000 = 0.6612, and (0.83 - 0.6612) / 0.3388 is
    0.498. Steps without a score are counted separately.
    """
    pairs = [(1, 1)] * 70 + [(0, 1)] * 11 + [(1, 0)] * 6 + [(0, 0)] * 13 + [(1, None)] * 5
    rows = [made((score,), True, n, meta={"step_labels": [label]})
            for n, (label, score) in enumerate(pairs)]  # fmt: skip
    found = summarise(*map(list, zip(*rows, strict=True))).human
    assert found is not None
    assert (found.n_rows, found.n_steps, found.n_scored) == (105, 105, 100)
    assert found.accuracy == pytest.approx(0.83)
    assert found.kappa == pytest.approx((0.83 - 0.6612) / 0.3388)
    assert found.interval is not None
    assert found.interval.low < 0.83 < found.interval.high
    right = summarise(*map(list, zip(*rows[:10], strict=True))).human
    assert right is not None
    assert right.interval is not None
    assert right.interval.low == pytest.approx(10 / (10 + 3.8415), abs=0.001)
    alone = summarise(*map(list, zip(*rows[-2:], strict=True))).human
    assert alone is not None
    assert (alone.n_scored, alone.accuracy, alone.kappa, alone.interval) == (0, None, None, None)


def test_judgements_of_other_rows(tmp_path: Path) -> None:
    path, judged = written(tmp_path, 1), tmp_path / "judged.jsonl"
    write_rows(judged, [made((1,), True, 7)[2]])
    with pytest.raises(InputError, match=r"row 1: item 'r0' beside judgement '7'"):
        steps_protocol(path, tmp_path / "out", by_model=False, judgements=judged)
    with pytest.raises(InputError, match=r"2 items and 1 judgements"):
        steps_protocol(written(tmp_path, 2), tmp_path / "out", by_model=False, judgements=judged)


# --- the command --------------------------------------------------------------------------------


def test_judge_and_score_by_two_commands(tmp_path: Path) -> None:
    """Process scores exceed answer scores and correlate with them; a second run only summarises."""
    path, judged = written(tmp_path, 40), str(tmp_path / "judged.jsonl")
    done = CliRunner().invoke(gradegpt, ["judge", str(path), "-o", judged, "--judge", "rules"])
    assert done.exit_code == 0, done.output
    words = ["steps", str(path), "-o", str(tmp_path / "s.jsonl")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "answers right" not in done.output
    done = CliRunner().invoke(app, [*words, "--judgements", judged])
    assert done.exit_code == 0, done.output
    assert "model: a" in done.output
    assert "20 responses have a wrong step" in done.output
    assert "10 rows, rules:nothing-to-compare" in done.output
    found = json.loads((tmp_path / "s.jsonl.summary.json").read_text())
    assert found["overall"]["process"]["value"] == pytest.approx(0.5)
    assert found["overall"]["process_if_right"]["value"] == 1.0
    assert found["overall"]["correlation"]["pearson"] == pytest.approx(0.866, abs=1e-3)
    assert sum(found["errors"]["first"]) == 20


def test_a_model_behind_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its scores are compared with human labels."""
    monkeypatch.setattr("eval.asking.OpenAIEngine", lambda *_, **__: model())
    path = written(tmp_path, 1, meta={"step_labels": [1, 1, 1]})
    words = [
        "steps",
        str(path),
        "-o",
        str(tmp_path / "s.jsonl"),
        "--base-url",
        "http://x/v1",
        "--model",
        "m",
    ]
    done = CliRunner().invoke(app, [*words, "--output-price", "1000000"])
    assert done.exit_code == 0, done.output
    assert "at your prices" in done.output
    assert "people and scores agree on 66.7 % of 3 steps" in done.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "m"], "give both"),
        (["--rubrics", "r.jsonl"], "--rubrics: not for steps"),
        (["-k", "3"], "--k: not for steps"),
    ],
)
def test_contradicting_options(tmp_path: Path, options: list[str], message: str) -> None:
    words = ["steps", str(written(tmp_path)), "-o", str(tmp_path / "s.jsonl"), *options]
    done = CliRunner().invoke(app, words)
    assert done.exit_code != 0
    assert message in str(done.exception)
    assert not (tmp_path / "s.jsonl").exists()
