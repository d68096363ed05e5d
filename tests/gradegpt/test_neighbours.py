"""Graded answers to a question as evidence: from ten labels on, by the nearest of them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from gradegpt.core.errors import InputError, SettingsError
from gradegpt.core.schema import Example, Item, Outcome, Verdict
from gradegpt.judges.build import build_judge
from gradegpt.judges.cascade import UNSURE
from gradegpt.judges.neighbours import LEAST, NONE, NeighbourJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.settings import JudgeSettings

QUESTION, REFERENCE = "Why does ice float?", "Because it is less dense than water."
RIGHT = (
    "its density is lower",
    "lower density than water",
    "it is not as dense",
    "less dense",
    "density",
)
WRONG = (
    "it is cold",
    "because it is cold water",
    "cold things float",
    "it is frozen",
    "frozen hard",
)


def graded(rows: int = LEAST) -> list[Example]:
    both = [*zip(RIGHT * 2, WRONG * 2, strict=True)]
    told = [(text, v) for pair in both for text, v in zip(pair, Verdict, strict=False)]
    return [
        Example(question=QUESTION, reference=(REFERENCE,), response=text, verdict=verdict)
        for text, verdict in told[:rows]
    ]


def item(response: str, question: str = QUESTION) -> Item:
    return Item(id="1", question=question, reference=(REFERENCE,), response=response)


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        ("the density of ice is lower", Verdict.CORRECT),
        ("ice is frozen and cold", Verdict.INCORRECT),
    ],
)
def test_an_answer_is_judged_as_those_written_like_it(response: str, verdict: Verdict) -> None:
    """The question may be written in other case and spacing."""
    (made,) = NeighbourJudge(graded()).judge([item(response, "why does  ICE float")])
    assert made.verdict is verdict
    assert made.score is not None
    assert made.score > 0.5


@pytest.mark.parametrize(
    ("rows", "question"), [(LEAST - 1, QUESTION), (LEAST, "Why does wood float?")]
)
def test_too_few_labels_of_the_question_show_nothing(rows: int, question: str) -> None:
    """Nine labels, or those of another question."""
    (made,) = NeighbourJudge(graded(rows)).judge([item("less dense", question)])
    assert (made.outcome, made.reason) == (Outcome.UNDECIDED, NONE)


def test_labels_of_one_kind_show_nothing() -> None:
    """Where all ten are right, an eleventh may be wrong."""
    right = [e for e in graded(2 * LEAST) if e.verdict is Verdict.CORRECT]
    assert len(right) == LEAST
    assert NeighbourJudge(right).judge([item("cold")])[0].verdict is None


def test_a_cascade_reads_them_from_a_table(tmp_path: Path) -> None:
    """What the rules leave open has a verdict by the graded answers; its reason says so.

    What the rules decide stays so, and where the graded answers show too little, their answer.
    """
    path = tmp_path / "graded.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(("question", "reference", "said", "mark"))
        for e in graded():
            rows.writerow((e.question, e.reference[0], e.response, e.verdict))
    settings = {"kind": "cascade", "labels": str(path), "min_confidence": 0.6}
    settings["labels_map"] = ["response=said", "label=mark"]
    judge = build_judge(JudgeSettings.of(**settings))
    open_, plain = judge.judge([item("the density of ice is lower"), item(REFERENCE)])
    assert (open_.verdict, open_.method) == (Verdict.CORRECT, "neighbours")
    assert plain.method == "rules"
    doubtful = "Answer: cold water things, less dense"
    empty, unsure = judge.judge([item(" "), item(doubtful)])
    assert (empty.verdict, empty.method) == (Verdict.INVALID, "rules")
    (before,) = RuleJudge().judge([item(doubtful)])
    assert (unsure.outcome, unsure.reason) == (Outcome.UNDECIDED, UNSURE)
    assert unsure.answer == before.answer == doubtful.removeprefix("Answer: ")
    (own,) = judge.judge([item(f" {WRONG[0]}")])
    assert (own.verdict, own.method) == (Verdict.INCORRECT, "person")
    other = item("less dense", "Why does wood float?")
    (known,), (without,) = (one.judge([other]) for one in (judge, build_judge(JudgeSettings.of())))
    assert known == without
    with pytest.raises(SettingsError, match="labels"):
        build_judge(JudgeSettings.of(**settings, max_error=0.1))


def test_a_table_without_labels_is_refused(tmp_path: Path) -> None:
    """The error names the file."""
    path = tmp_path / "answers.csv"
    path.write_text("question,reference,response\nq,a,b\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"answers\.csv"):
        build_judge(JudgeSettings.of(kind="cascade", labels=str(path)))


def test_other_labels_are_another_judge() -> None:
    """The fingerprint is of the graded answers, in any order."""
    one, other = graded(), graded(LEAST + 1)
    assert NeighbourJudge(one).fingerprint == NeighbourJudge(one[::-1]).fingerprint
    assert NeighbourJudge(one).fingerprint != NeighbourJudge(other).fingerprint
