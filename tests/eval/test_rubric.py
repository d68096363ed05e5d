"""Rubric grading: making, checking, grading and scoring, by a scripted model and by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eval.asking import run_protocol
from eval.figures import Figure, ProtocolSummary
from eval.protocol import app
from eval.rubric.grading import Award
from eval.rubric.grading import GradingFault as Fault
from eval.rubric.protocol import (
    GradeRow,
    RubricRow,
    grade_protocol,
    make_protocol,
    read_rubrics,
    rubric_scores,
)
from gradegpt.core.errors import EngineError, InputError
from gradegpt.core.records import read_objects, write_rows
from gradegpt.core.schema import Message, Outcome
from gradegpt.engines.scripted import ScriptedEngine

RUBRIC = "1. [6] Divides {n} by 2\n2. [4] Gives {n}.5\nTotal: 10"
BY_HAND = [{"text": "Adds 1", "points": 3}, {"text": "Gives 2.5", "points": 7}]


def model(refused: str = "-") -> ScriptedEngine:
    """Makes a rubric of two criteria, and awards full points for each that the response states."""

    def reply(messages: Sequence[Message]) -> str | EngineError:
        text = messages[-1].content
        if refused in text:
            return EngineError("HTTP 400: too long")
        return _graded(text) if text.endswith("Grading:") else _made(text)

    return ScriptedEngine(reply)


def _made(text: str) -> str:
    number = re.search(r"half of (\d+)", text)
    assert number
    return "I would rather not." if number[1] == "9" else RUBRIC.format(n=number[1])


def _graded(text: str) -> str:
    response = text.split("<response>\n")[1].split("\n</response>")[0]
    if "invent" in response:
        return f'Criterion 3: quote "{response}"; reason: nice; points: 2'
    lines = []
    for number, points, wanted in re.findall(r"(\d+)\. \[(\d+)\] \w+ (\S+)", text):
        quote = f'"{wanted}"' if wanted in response else "none"
        earned = points if wanted in response else "0"
        lines.append(f"Criterion {number}: quote {quote}; reason: so; points: {earned}")
    return "\n".join(lines)


def make(
    path: Path, out: Path, engine: ScriptedEngine, by_hand: Path | None = None, **more: Any
) -> list[RubricRow]:
    return run_protocol(make_protocol(path, out, by_hand), engine, **more)


def grade(
    path: Path, rubrics: Path, out: Path, engine: ScriptedEngine, **more: Any
) -> list[GradeRow]:
    return run_protocol(grade_protocol(path, out, rubrics), engine, **more)


def items(path: Path, numbers: Sequence[int], **more: Any) -> Path:
    rows = (
        {"id": f"q{n}", "question": f"What is half of {n}?", "reference": f"{n}.5",
         "solution": f"Divide {n} by 2. It is {n}.5.", **more}
        for n in numbers
    )  # fmt: skip
    write_rows(path / "items.jsonl", rows)
    return path / "items.jsonl"


def answers(path: Path, *responses: str, **more: Any) -> Path:
    """Responses to q5, as a run with several samples writes them."""
    rows = (
        {"id": f"q5#{n}", "question": "What is half of 5?", "reference": "5.5",
         "response": response, **more}
        for n, response in enumerate(responses)
    )  # fmt: skip
    write_rows(path / "answers.jsonl", rows)
    return path / "answers.jsonl"


# --- make and check -------------------------------------------------------------------------------


def test_rubrics_are_made_or_taken_from_a_file(tmp_path: Path) -> None:
    """Each item has a row: a made rubric, one by hand without asking, or none with the reason."""
    write_rows(tmp_path / "hand.jsonl", [{"id": "q2", "criteria": BY_HAND, "total": 10}])
    engine, out = model(), tmp_path / "rubrics.jsonl"
    made = make(items(tmp_path, (1, 2, 9)), out, engine, by_hand=tmp_path / "hand.jsonl")
    assert not any("half of 2?" in prompt[-1].content for prompt in engine.prompts)
    assert list(map(RubricRow.model_validate, (row for _, row in read_objects(out)))) == made
    first, second, third = made
    assert [(c.text, c.points) for c in first.criteria] == [("Divides 1 by 2", 6), ("Gives 1.5", 4)]
    assert [c.model_dump() for c in second.criteria] == BY_HAND
    assert third.criteria == ()
    assert third.reason == "rubric:the last line is not 'Total: ' with the points"


def test_a_rubric_has_the_points_of_its_item(tmp_path: Path) -> None:
    """A rubric of ten points for an item of six is refused, from a model or by hand."""
    path, out = items(tmp_path, (1,), points=6), tmp_path / "rubrics.jsonl"
    (row,) = make(path, out, model())
    assert (row.total, row.reason) == (6, "rubric:points sum to 10, not 6")
    write_rows(tmp_path / "hand.jsonl", [{"id": "q1", "criteria": BY_HAND}])
    with pytest.raises(InputError, match=r"hand.jsonl:1: total: 10, but the item at .*:1 has 6"):
        make_protocol(path, out, tmp_path / "hand.jsonl")
    write_rows(tmp_path / "hand.jsonl", [{"id": "q1", "criteria": BY_HAND[:1], "total": 6}])
    with pytest.raises(InputError, match=r"hand.jsonl:1: criteria: points sum to 3, not 6; corr"):
        make_protocol(path, out, tmp_path / "hand.jsonl")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "q1"}, "rubrics.jsonl:1: criteria: field required"),
        ({"criteria": BY_HAND}, "rubrics.jsonl:1: id: field required"),
        ({"id": "q1", "criteria": [{"text": "", "points": 1}]}, ":1: criteria.0.text: is empty"),
        ({"id": "q1", "criteria": [{"text": "x"}]}, ":1: criteria.0.points: field required"),
        ({"id": "q1", "criteria": [], "totl": 10}, ":1: totl: unknown field"),
        ({"id": "q1", "criteria": BY_HAND, "total": 0}, ":1: total: "),
    ],
)
def test_rubrics_that_cannot_be_used(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    """The error begins with file, line and field."""
    write_rows(tmp_path / "rubrics.jsonl", [row])
    with pytest.raises(InputError, match=message):
        read_rubrics(tmp_path / "rubrics.jsonl")
    write_rows(tmp_path / "rubrics.jsonl", [{"id": "q1", "criteria": BY_HAND}] * 2)
    with pytest.raises(InputError, match=r":2: id: 'q1' is also that of .*rubrics\.jsonl:1"):
        read_rubrics(tmp_path / "rubrics.jsonl")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"solution": " "}, "items.jsonl:1: solution: is empty; give a reference solution"),
        ({"points": 0}, "items.jsonl: `points`: should be greater than 0"),
    ],
)
def test_items_that_have_no_rubric_to_make(
    tmp_path: Path, more: dict[str, Any], message: str
) -> None:
    """The error comes before any request."""
    with pytest.raises(InputError, match=message):
        make_protocol(items(tmp_path, (1, 2), **more), tmp_path / "out.jsonl")


# --- grade ----------------------------------------------------------------------------------------


def rubrics_of(tmp_path: Path, *numbers: int) -> Path:
    make(items(tmp_path, numbers), tmp_path / "rubrics.jsonl", model())
    return tmp_path / "rubrics.jsonl"


def test_responses_are_graded_by_the_rubric_of_their_question(tmp_path: Path) -> None:
    """Points are summed over criteria; a reply with an unknown criterion has no points."""
    path = answers(tmp_path, "5 / 2 = 5.5", "It is 6.", "I invent")
    full, none, invented = grade(path, rubrics_of(tmp_path, 5), tmp_path / "o.jsonl", model())
    assert (full.id, full.rubric, full.points, full.total) == ("q5#0", "q5", 10, 10)
    assert [award.points for award in full.awards] == [6, 4]
    assert [award.quote for award in full.awards] == ["5", "5.5"]
    assert (none.outcome, none.points) == (Outcome.JUDGED, 0)
    assert (invented.outcome, invented.points) == (Outcome.UNPARSED, None)
    assert invented.faults == (Fault.NOT_IN_RUBRIC, Fault.MISSING)
    assert invented.reason.startswith("grading:criterion-not-in-rubric 3; criterion-missing 1")
    summary = json.loads((tmp_path / "o.jsonl.summary.json").read_text())
    assert summary["figures"]["all"]["spread of rubrics"]["value"] == pytest.approx(0.971, abs=1e-3)


def test_what_has_no_usable_rubric_is_undecided_and_not_asked(tmp_path: Path) -> None:
    """Without a rubric, or with wrong points, there is no default rubric and no request."""
    path, rubrics = items(tmp_path, (5, 6, 7, 9), response="5.5"), tmp_path / "rubrics.jsonl"
    write_rows(
        rubrics,
        [
            {"id": "q5", "criteria": BY_HAND},
            {"id": "q6", "criteria": BY_HAND[:1]},
            {"id": "q9", "criteria": [], "reason": "rubric:no criteria"},
        ],
    )
    engine = model()
    rows = grade(path, rubrics, tmp_path / "out.jsonl", engine)
    assert len(engine.prompts) == 1
    assert [row.outcome.value for row in rows] == ["judged", *["undecided"] * 3]
    assert [row.reason for row in rows[1:]] == [
        "rubric:points sum to 3, not 10", "rubric:none has its id", "rubric:no criteria"
    ]  # fmt: skip
    write_rows(rubrics, [{"id": "other", "criteria": BY_HAND}])
    with pytest.raises(InputError, match="no rubric has the id of an item"):
        grade_protocol(path, tmp_path / "again.jsonl", rubrics)


# --- score ----------------------------------------------------------------------------------------


def row(name: str, *points: float, question: str = "", **more: Any) -> GradeRow:
    """A response graded by a rubric of two criteria of 5 points; without points, unparsed."""
    awards = tuple(
        Award(number=n, points=p, quote="q", reason="r") for n, p in enumerate(points, 1)
    )
    return GradeRow(
        id=name, rubric=question or name, total=10, awards=awards,
        outcome=Outcome.JUDGED if points else Outcome.UNPARSED,
        points=sum(points) if points else None, **more,
    )  # fmt: skip


def figure(summary: ProtocolSummary, name: str) -> Figure:
    found = summary.figures["all"][name]
    assert found is not None
    return found


def test_made_up_criteria_are_counted() -> None:
    """Of 40 replies 6 have a criterion of their own, or too many points: 15 % (ARB, table 4).

    A quote that is not verbatim is not hallucinated.
    """
    grades = [row(f"h{n}", faults=[Fault.NOT_IN_RUBRIC]) for n in range(3)]
    grades += [row(f"h{n}", faults=[Fault.OVER_MAXIMUM]) for n in range(3, 6)]
    grades += [row(f"s{n}", 4, 0) for n in range(34)]
    assert figure(rubric_scores(grades), "hallucinated rubric").value == 0.15
    other = rubric_scores([row("a", faults=[Fault.NOT_VERBATIM]), row("b", 1, 1)])
    assert figure(other, "hallucinated rubric").value == 0
    assert other.counts == {
        "responses": 2, "questions": 2, "unparsed": 1, "judged": 1, "quote-not-verbatim": 1
    }  # fmt: skip


# --- the command ----------------------------------------------------------------------------------


def invoke(*words: object) -> str:
    done = CliRunner().invoke(app, ["rubric", *(str(word) for word in words)])
    assert done.exit_code == 0, done.output
    return done.output


def test_make_check_grade_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From solutions to rubrics, and from responses to points."""
    monkeypatch.setattr("eval.asking.OpenAIEngine", lambda *_, **__: model())
    server = ("--base-url", "http://x/v1", "--model", "m")
    rubrics, grades = tmp_path / "rubrics.jsonl", tmp_path / "grades.jsonl"
    path = items(tmp_path, (5,))
    said = invoke(path, "-o", rubrics, *server)
    assert "1 answers" in said
    assert "items: 1\nwithout a usable rubric: 0" in said
    asked = answers(tmp_path, "5 / 2 = 5.5", "5 is odd", "no [/b]idea", "I invent")
    words = (asked, "--rubrics", rubrics, "-o", grades, *server)
    assert "4 answers in" in invoke(*words)
    said = invoke(*words)
    assert "4 from earlier runs" in said
    assert "responses: 4\nquestions: 1\njudged: 3\nunparsed: 1\ncriterion-not-in-rubric: 1" in said
    found = json.loads((tmp_path / "grades.jsonl.summary.json").read_text())["figures"]
    assert found["all"]["hallucinated rubric"]["value"] == 0.25
    done = CliRunner().invoke(app, ["rubric", str(asked), "-o", str(tmp_path / "x.jsonl")])
    assert "give the rubrics to grade by, with --rubrics" in str(done.exception)


def test_an_item_without_a_usable_rubric_is_a_finding(tmp_path: Path) -> None:
    """It has the line of its row and the reason; rubrics by hand need no server."""
    path, out = items(tmp_path, (5, 9)), tmp_path / "out.jsonl"
    make(path, out, model())
    (found,) = [row for _, row in read_objects(f"{out}.findings.jsonl")]
    assert (found["id"], found["where"]) == ("q9", f"{out}:2")
    assert found["detail"] == "rubric:the last line is not 'Total: ' with the points"
    write_rows(tmp_path / "hand.jsonl", [{"id": "q5", "criteria": BY_HAND}])
    said = invoke(items(tmp_path, (5,)), "--rubrics", tmp_path / "hand.jsonl", "-o", f"{out}2")
    assert "without a usable rubric: 0" in said
