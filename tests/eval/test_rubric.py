"""Rubric grading: making, checking, grading and scoring, by a scripted model and by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

import eval.rubric.score
from eval.asking import Asked, ask
from eval.protocol import app
from eval.rubric.form import Criterion, Defect, check_rubric
from eval.rubric.grading import Award
from eval.rubric.grading import GradingFault as Fault
from eval.rubric.protocol import findings, grade_protocol, make_protocol
from eval.rubric.rows import GradeRow, People, RubricRow, read_people, read_rubrics
from eval.rubric.score import ComparedPoints, Mean, RubricScores, rubric_scores
from gradegpt.core.errors import EngineError, InputError
from gradegpt.core.records import read_objects, read_rows, write_rows
from gradegpt.core.schema import Message, Outcome
from gradegpt.engines import Generation
from gradegpt.judges.statistics import pearson, spearman

RUBRIC = "1. [6] Divides {n} by 2\n2. [4] Gives {n}.5\nTotal: 10"
BY_HAND = [{"text": "Adds 1", "points": 3}, {"text": "Gives 2.5", "points": 7}]


def make(path: Path, out: Path, model: Model, by_hand: Path | None = None, **more: Any) -> Asked:
    return ask(make_protocol(path, out, by_hand), model, **more)[1]


def grade(path: Path, rubrics: Path, out: Path, model: Model, **more: Any) -> Asked:
    return ask(grade_protocol(path, out, rubrics), model, **more)[1]


class Model:
    """Makes a rubric of two criteria, and awards full points for each that the response states."""

    name = "model"

    def __init__(self, dies: int = 10**9, refused: Sequence[str] = ()) -> None:
        self.asked: list[str] = []
        self.dies, self.refused = dies, refused

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        return [self._one(p[-1].content) for p in prompts]

    def _one(self, text: str) -> Generation | EngineError:
        if len(self.asked) >= self.dies:
            return EngineError("the server is down")
        self.asked.append(text)
        if any(word in text for word in self.refused):
            return EngineError("HTTP 400: too long")
        reply = self._graded(text) if text.endswith("Grading:") else self._made(text)
        return Generation(reply, 10, 5)

    def _made(self, text: str) -> str:
        number = re.search(r"half of (\d+)", text)
        assert number
        return "I would rather not." if number[1] == "9" else RUBRIC.format(n=number[1])

    def _graded(self, text: str) -> str:
        response = text.split("<response>\n")[1].split("\n</response>")[0]
        if "invent" in response:
            return f'Criterion 3: quote "{response}"; reason: nice; points: 2'
        lines = []
        for number, points, wanted in re.findall(r"(\d+)\. \[(\d+)\] \w+ (\S+)", text):
            quote = f'"{wanted}"' if wanted in response else "none"
            earned = points if wanted in response else "0"
            lines.append(f"Criterion {number}: quote {quote}; reason: so; points: {earned}")
        return "\n".join(lines)


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
    model, out = Model(), tmp_path / "rubrics.jsonl"
    made = make(items(tmp_path, (1, 2, 9)), out, model, by_hand=tmp_path / "hand.jsonl")
    assert made == Asked(3, 0, 0, 0, "", 20, 10)
    assert not any("half of 2?" in text for text in model.asked)
    first, second, third = read_rows(out, RubricRow)
    assert [(c.text, c.points) for c in first.criteria] == [("Divides 1 by 2", 6), ("Gives 1.5", 4)]
    assert [c.model_dump() for c in second.criteria] == BY_HAND
    assert (third.criteria, third.reply) == ((), "I would rather not.")
    assert third.reason == "rubric:the last line is not 'Total: ' with the points"
    assert json.loads((tmp_path / "rubrics.jsonl.manifest.json").read_text())["rows"] == 3


def test_a_rubric_has_the_points_of_its_item(tmp_path: Path) -> None:
    """A rubric of ten points for an item of six is refused, from a model or by hand."""
    path, out = items(tmp_path, (1,), points=6), tmp_path / "rubrics.jsonl"
    make(path, out, Model())
    (row,) = read_rows(out, RubricRow)
    assert (row.total, row.reason) == (6, "rubric:points sum to 10, not 6")
    write_rows(tmp_path / "hand.jsonl", [{"id": "q1", "criteria": BY_HAND}])
    with pytest.raises(InputError, match=r"hand.jsonl:1: total: 10, but the item at .*:1 has 6"):
        make(path, out, Model(), by_hand=tmp_path / "hand.jsonl", overwrite=True)


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
    with pytest.raises(InputError, match=":2: id: 'q1' is also the id of line 1"):
        read_rubrics(tmp_path / "rubrics.jsonl")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"solution": " "}, "items.jsonl:1: solution: is empty; give a reference solution"),
        ({"question": ""}, "items.jsonl:1: question: is empty"),
        ({"id": "q1"}, "items.jsonl:2: id: 'q1' is also the id of line 1"),
        ({"points": 0}, "items.jsonl: `points`: should be greater than 0"),
    ],
)
def test_items_that_have_no_rubric_to_make(
    tmp_path: Path, more: dict[str, Any], message: str
) -> None:
    """The error comes before any request."""
    model = Model()
    with pytest.raises(InputError, match=message):
        make(items(tmp_path, (1, 2), **more), tmp_path / "out.jsonl", model)
    assert not model.asked
    (tmp_path / "none.jsonl").write_text("")
    with pytest.raises(InputError, match="there are no rows"):
        make(tmp_path / "none.jsonl", tmp_path / "out.jsonl", model)


# --- grade ----------------------------------------------------------------------------------------


def rubrics_of(tmp_path: Path, *numbers: int) -> Path:
    make(items(tmp_path, numbers), tmp_path / "rubrics.jsonl", Model())
    return tmp_path / "rubrics.jsonl"


def test_responses_are_graded_by_the_rubric_of_their_question(tmp_path: Path) -> None:
    """Points are summed over criteria; a reply with an unknown criterion has no points."""
    path = answers(tmp_path, "5 / 2 = 5.5", "It is 6.", "I invent", meta={"people": 10})
    made = grade(path, rubrics_of(tmp_path, 5), tmp_path / "out.jsonl", Model())
    assert (made.rows, made.failed, made.prompt_tokens) == (3, 0, 30)
    full, none, invented = read_rows(tmp_path / "out.jsonl", GradeRow)
    assert (full.id, full.rubric, full.points, full.total) == ("q5#0", "q5", 10, 10)
    assert [award.points for award in full.awards] == [6, 4]
    assert [award.quote for award in full.awards] == ["5", "5.5"]
    assert full.meta["people"] == 10
    assert (none.outcome, none.points) == (Outcome.JUDGED, 0)
    assert (invented.outcome, invented.points) == (Outcome.UNPARSED, None)
    assert invented.faults == (Fault.NOT_IN_RUBRIC, Fault.MISSING)
    assert invented.reason.startswith("grading:criterion-not-in-rubric 3")
    assert full.spread == pytest.approx(0.971, abs=1e-3)  # of 6 and 4


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
    model = Model()
    grade(path, rubrics, tmp_path / "out.jsonl", model)
    rows = list(read_rows(tmp_path / "out.jsonl", GradeRow))
    assert len(model.asked) == 1
    assert [row.outcome.value for row in rows] == ["judged", *["undecided"] * 3]
    assert [row.reason for row in rows[1:]] == [
        "rubric:points sum to 3, not 10", "rubric:none has its id", "rubric:no criteria"
    ]  # fmt: skip
    write_rows(rubrics, [{"id": "other", "criteria": BY_HAND}])
    with pytest.raises(InputError, match="no rubric has the id of an item"):
        grade(path, rubrics, tmp_path / "again.jsonl", model)


def test_what_a_server_refuses_is_failed_and_asked_again(tmp_path: Path) -> None:
    """A failed row has no points; the next call asks it alone."""
    texts = [f"try {n}: 5.5" for n in range(20)]
    path, rubrics = answers(tmp_path, *texts), rubrics_of(tmp_path, 5)
    model, out = Model(refused=["try 7:"]), tmp_path / "out.jsonl"
    assert grade(path, rubrics, out, model).failed == 1
    assert list(read_rows(out, GradeRow))[7].outcome is Outcome.FAILED
    model.refused = ()
    assert grade(path, rubrics, out, model).failed == 0
    assert len(model.asked) == 21
    assert list(read_rows(out, GradeRow))[7].points == 10


def test_a_question_that_was_never_answered_is_not_graded(tmp_path: Path) -> None:
    """A server's refusal does not count as zero points."""
    path = answers(tmp_path, "", meta={"error": "HTTP 500", "cut_off": False})
    with pytest.raises(InputError, match=r"answers.jsonl:1: meta.error: .*HTTP 500.*ask it again"):
        grade(path, rubrics_of(tmp_path, 5), tmp_path / "out.jsonl", Model())


# --- score ----------------------------------------------------------------------------------------


def row(name: str, *points: float, question: str = "", **more: Any) -> GradeRow:
    """A response graded by a rubric of two criteria of 5 points; without points, unparsed."""
    awards = tuple(
        Award(number=n, points=p, quote="q", reason="r") for n, p in enumerate(points, 1)
    )
    return GradeRow(
        id=name, rubric=question or name, total=10, awards=awards,
        outcome=Outcome.JUDGED if points else Outcome.UNPARSED,
        points=sum(points) if points else None,
        criteria=(Criterion(text="a", points=5), Criterion(text="b", points=5)), **more,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eval.rubric.score, "DRAWS", 200)


def scored(grades: Sequence[GradeRow], *people: People) -> RubricScores:
    return rubric_scores(grades, {one.id: one for one in people})


def known(one: Mean | None) -> float:
    assert one is not None
    return one.value


def test_correlations_by_hand() -> None:
    """Model 2 4 4 10, people 0 4 6 10, and SciPy says the same.

    Deviations are -3 -1 -1 5 and -5 -1 1 5, so Pearson is 40/√(36·52); ranks are 1 2.5 2.5 4 and
    1 2 3 4, so Spearman is 4.5/√(4.5·5).
    """
    x, y = np.array([2.0, 4, 4, 10]), np.array([0.0, 4, 6, 10])
    assert pearson(x, y) == pytest.approx(40 / np.sqrt(36 * 52))
    assert spearman(x, y) == pytest.approx(4.5 / np.sqrt(4.5 * 5))
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
    grades = [row("a", 2, 0), row("b", 2, 2), row("c", 0, 4), row("d", 5, 5)]
    given = [People(id=name, points=p) for name, p in zip("abcd", y, strict=True)]
    found = scored(grades, *given).on_the_whole
    assert found is not None
    assert known(found.pearson) == pytest.approx(0.9245, abs=1e-4)
    assert known(found.spearman) == pytest.approx(0.9487, abs=1e-4)
    assert (known(found.model), known(found.people)) == pytest.approx((0.5, 0.5))


def test_a_correlation_without_variation_is_undefined() -> None:
    """Equal points on one side give no correlation and no warning."""
    grades = [row("a", 1, 1), row("b", 1, 1)]
    found = scored(grades, People(id="a", points=1), People(id="b", points=9)).on_the_whole
    assert found is not None
    assert (found.pearson, found.spearman) == (None, None)
    assert scored(grades).on_the_whole is scored(grades).by_rubric is None


@pytest.mark.parametrize(
    ("people", "model", "difference"),
    [(5.00, 5.05, 0.05), (3.13, 3.37, 0.24), (2.65, 3.80, 1.15)],
    ids=["physics symbolic", "math symbolic", "proof-like"],
)
def test_mean_points_of_the_paper(people: float, model: float, difference: float) -> None:
    """ARB, table 5: means of ten points as shares, and by how much the model's are higher."""
    around = (-1, 0, 1)
    grades = [row(f"r{d}", (model + d) / 2, (model + d) / 2) for d in around]
    found = scored(grades, *(People(id=f"r{d}", points=people + d) for d in around)).on_the_whole
    assert isinstance(found, ComparedPoints)
    shares = (known(found.people), known(found.model), known(found.difference))
    assert shares == pytest.approx((people / 10, model / 10, difference / 10))
    assert known(found.pearson) == pytest.approx(1)


@pytest.mark.parametrize(
    ("model", "people", "whole", "errors"),
    [
        ((3, 2), (3, 2), 5, (0, 0, 0)),
        ((3, 2), (2, 3), 5, (0, 1, 1)),
        ((4, 2), (3, 2), None, (None, 1, 0)),
        ((0, 2), (3, 2), None, (None, 0, 1)),
        ((5, 0), (5, 0), 10, (1, 0, 0)),
        ((5, 5), (5, 5), 10, (0, 0, 0)),
        ((5, 5), (), 10, (None, None, None)),
        ((), (5, 0), 10, (1, None, None)),
        ((2, 2), (2, 2.00001), None, (None, 0, 0)),
    ],
)
def test_errors_of_one_response(
    model: Sequence[float],
    people: Sequence[float],
    whole: float | None,
    errors: tuple[float | None, ...],
) -> None:
    """Alternative solution, extra and reduced credit; none where human points are missing."""
    given = People(id="r", criteria=tuple(people), points=whole)
    found = scored([row("r", *model)], given).errors
    values = (found.alternative_solutions, found.extra_credit, found.reduced_credit)
    assert tuple(one and one.value for one in values) == errors


def test_a_column_of_the_papers_error_table() -> None:
    """ARB, table 4, math symbolic: 2, 18, 12 and 15 %.

    They are the rates of 40 responses of which one is an alternative solution and 6 have a
    criterion of the model's own; of the other 34, 6 have extra and 4 have reduced credit.
    """
    grades = [row(f"h{n}", faults=[Fault.NOT_IN_RUBRIC]) for n in range(6)]
    grades += [row(f"e{n}", 5, 0) for n in range(6)] + [row(f"r{n}", 0, 0) for n in range(4)]
    grades += [row(f"s{n}", 4, 0) for n in range(24)]
    given = [
        People(id=one.id, criteria=(4, 0), points=10 if one.id == "s0" else 4) for one in grades
    ]
    errors = scored(grades, *given).errors
    shown = {name: f"{100 * known(one):.0f}" for name, one in errors}
    assert shown == {
        "alternative_solutions": "2", "extra_credit": "18", "reduced_credit": "12",
        "hallucinated_rubric": "15",
    }  # fmt: skip


def test_over_a_maximum_is_hallucinated_and_a_wrong_quote_is_not() -> None:
    """Points above the rubric's are hallucinated; a refused row has no reply and does not count."""
    grades = [
        row("a", faults=[Fault.OVER_MAXIMUM]),
        row("b", faults=[Fault.NOT_VERBATIM]),
        row("c", 1, 1),
        row("d").model_copy(update={"outcome": Outcome.FAILED}),
    ]  # fmt: skip
    found = scored(grades)
    assert found.errors.hallucinated_rubric is not None
    assert (known(found.errors.hallucinated_rubric), found.errors.hallucinated_rubric.n) == (
        1 / 3,
        3,
    )
    assert found.outcomes == {"failed": 1, "judged": 1, "unparsed": 2}
    assert found.faults == {"points-over-maximum": 1, "quote-not-verbatim": 1}
    assert (known(found.points), found.n_rows) == (0.2, 4)


def test_intervals_are_over_questions() -> None:
    """Twenty answers to two questions give an interval as wide as two answers do."""
    points = [0] * 10 + [5] * 10
    of_two = [row(f"r{n}", p, p, question=f"q{p}") for n, p in enumerate(points)]
    of_many = [row(f"r{n}", p, p) for n, p in enumerate(points)]
    two, many = scored(of_two).points, scored(of_many).points
    assert two is not None
    assert two.interval is not None
    assert many is not None
    assert many.interval is not None
    assert (two.value, two.n, two.n_questions) == (0.5, 20, 2)
    assert (two.interval.low, two.interval.high) == (0, 1)
    assert 0.2 < many.interval.low < 0.4 < 0.6 < many.interval.high < 0.8


def test_full_points_of_few_are_not_certain() -> None:
    """Three responses with full points, to a question each, have Wilson's limits, 3 / (3 + z2)."""
    points = scored([row(f"r{n}", 5, 5) for n in range(3)]).points
    assert points is not None
    assert points.interval is not None
    assert points.interval.low == pytest.approx(3 / (3 + 3.8415), abs=0.001)
    assert points.interval.high == 1


def test_correlations_are_drawn_by_question_too() -> None:
    """A negative correlation within one of two questions widens the interval."""
    x = [1, 2, 3, 4, 5]
    grades = [row(f"a{p}", p, 0, question="a") for p in x]
    grades += [row(f"b{p}", p, 0, question="b") for p in x]
    given = [People(id=f"a{p}", criteria=(p, 0)) for p in x]
    given += [People(id=f"b{p}", criteria=(6 - p, 0)) for p in x]
    found = scored(grades, *given).by_rubric
    assert found is not None
    assert found.pearson is not None
    assert found.pearson.interval is not None
    assert found.pearson.value == pytest.approx(0)
    assert found.pearson.interval.low == pytest.approx(-1)
    assert found.pearson.interval.high == pytest.approx(1)
    assert found.pearson.n_questions == 2


def test_rubrics_are_rated_once_each() -> None:
    """The spread is averaged over rubrics, not over graded answers."""
    grades = [row(f"a{n}", 1, 1, question="a", spread=0.9) for n in range(9)]
    grades.append(row("b", 1, 1, spread=0.5))
    found = scored(grades, People(id="b", coverage=4, spread=5))
    assert known(found.spread) == pytest.approx(0.7)
    assert (known(found.rated_coverage), known(found.rated_spread)) == (4, 5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"id": "x", "points": 1}, "people.jsonl:1: id: 'x' is no graded response"),
        ({"id": "a"}, "people.jsonl:1: points: give points, criteria, coverage or spread"),
        ({"points": 1}, "people.jsonl:1: id: field required"),
        ({"id": "a", "points": 11}, "people.jsonl:1: points: 11 exceeds the total of 10"),
        ({"id": "a", "points": -1}, "people.jsonl:1: points: "),
        ({"id": "a", "criteria": [1]}, "people.jsonl:1: criteria: 1 for the 2 criteria"),
        (
            {"id": "a", "criteria": [1, 6]},
            "people.jsonl:1: criteria: 6 exceeds the 5 points of criterion 2",
        ),
        ({"id": "a", "coverage": 6}, "people.jsonl:1: coverage: "),
        ({"id": "a", "score": 6}, "people.jsonl:1: score: unknown field"),
    ],
)
def test_invalid_human_points(tmp_path: Path, given: dict[str, Any], message: str) -> None:
    """The error begins with file, line and field."""
    write_rows(tmp_path / "people.jsonl", [given])
    with pytest.raises(InputError, match=message):
        read_people(str(tmp_path / "people.jsonl"), [row("a", 1, 1)])
    write_rows(tmp_path / "people.jsonl", [{"id": "a", "points": 1}] * 2)
    with pytest.raises(InputError, match=":2: id: 'a' occurs twice"):
        read_people(str(tmp_path / "people.jsonl"), [row("a", 1, 1)])


def test_people_in_a_column() -> None:
    """The column has points or an object; responses without it are left out; it must exist."""
    grades = [
        row("a", 1, 1, meta={"gold": 7}), row("b", 1, 1, meta={"gold": {"criteria": [1, 2]}}),
        row("c", 1, 1),
    ]  # fmt: skip
    assert read_people("gold", grades) == {
        "a": People(id="a", points=7), "b": People(id="b", criteria=(1, 2))
    }  # fmt: skip
    with pytest.raises(InputError, match="silver: is neither a file nor a column"):
        read_people("silver", grades)
    with pytest.raises(InputError, match=r"a: meta.gold: points: 7 exceeds the total of 6"):
        read_people("gold", [grades[0].model_copy(update={"total": 6})])


@pytest.mark.parametrize(
    "more", [{"points": None}, {"outcome": "unparsed"}, {"awards": []}, {"criteria": []}]
)
def test_only_a_judged_row_has_points(more: dict[str, Any]) -> None:
    """Other points in a file are an error."""
    with pytest.raises(ValueError, match=r"only 'judged' has points|awards for 0 criteria"):
        GradeRow.model_validate(row("a", 1, 1).model_dump() | more)


# --- the command ----------------------------------------------------------------------------------


def invoke(*words: object) -> str:
    done = CliRunner().invoke(app, ["rubric", *(str(word) for word in words)])
    assert done.exit_code == 0, done.output
    return done.output


def test_make_check_grade_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From solutions to rubrics, and from responses to a correlation with people."""
    monkeypatch.setattr("eval.asking.OpenAIEngine", lambda *_, **__: Model())
    server = ("--base-url", "http://x/v1", "--model", "m")
    rubrics, grades = tmp_path / "rubrics.jsonl", tmp_path / "grades.jsonl"
    path = items(tmp_path, (5,))
    said = invoke(path, "-o", rubrics, *server, "--input-price", 1000)
    assert "1 answers" in said
    assert "0 of 1 items have a rubric to check" in said
    asked = answers(tmp_path, "5 / 2 = 5.5", "5 is odd", "no [/b]idea", "I invent")
    write_rows(
        tmp_path / "people.jsonl",
        [
            {"id": "q5#0", "criteria": [6, 4], "points": 10, "coverage": 4},
            {"id": "q5#1", "criteria": [0, 0], "points": 0},
            {"id": "q5#2", "criteria": [0, 0], "points": 0},
        ],
    )
    words = (asked, "--rubrics", rubrics, "-o", grades, *server)
    assert "4 answers" in invoke(*words)
    said = invoke(*words, "--people", tmp_path / "people.jsonl")
    assert "4 from an earlier run" in said
    assert "4 responses to 1 questions: 3 judged, 1 unparsed" in said
    assert "criterion-not-in-rubric: 1" in said
    numbers = json.loads((tmp_path / "grades.jsonl.summary.json").read_text())
    assert numbers["errors"]["extra_credit"]["value"] == pytest.approx(1 / 3)
    assert numbers["errors"]["hallucinated_rubric"]["value"] == 0.25
    assert numbers["by_rubric"]["pearson"]["value"] == pytest.approx(
        stats.pearsonr([10, 6, 0], [10, 0, 0]).statistic
    )
    assert numbers["by_rubric"]["difference"]["value"] == pytest.approx(0.2)
    done = CliRunner().invoke(app, ["rubric", str(asked), "-o", str(tmp_path / "x.jsonl")])
    assert "give the rubrics to grade by, with --rubrics" in str(done.exception)


def test_a_defect_of_a_rubric_is_found_without_a_model(tmp_path: Path) -> None:
    """Rubrics by hand need no server; a defect has the line of its rubric, markup is printed."""
    rubrics, out = tmp_path / "hand.jsonl", tmp_path / "out.jsonl"
    uneven = [{"text": "Halves [/b] 5", "points": 9}, {"text": "Gives 5.5", "points": 1}]
    write_rows(rubrics, [{"id": "q5", "criteria": uneven}])
    said = invoke(items(tmp_path, (5,)), "--rubrics", rubrics, "-o", out)
    assert "1 of 1 items have a rubric to check" in said
    found = [row for _, row in read_objects(f"{out}.findings.jsonl")]
    assert {one["defect"] for one in found} == {Defect.SPREAD.value, Defect.SHARE.value}
    assert found[0]["where"] == f"{out}:1"
    none = RubricRow(id="q9", criteria=(), reason="rubric:no criteria")
    (missing,) = findings([none], [check_rubric(none)], "r")
    assert (missing.defect, missing.detail) == (Defect.EMPTY, "rubric:no criteria")
