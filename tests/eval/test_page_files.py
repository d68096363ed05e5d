"""Files that ``gradegpt judge`` wrote, as the page reads them, and the command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eval.estimate.__main__ import app as estimate
from eval.report.__main__ import app
from eval.report.numbers import numbers
from eval.report.results import OLD, read_judged
from gradegpt.app.run import check_input, judge_file
from gradegpt.core.errors import GradeGPTError, InputError, MissingError, OutputError, SettingsError
from gradegpt.core.records import write_rows
from gradegpt.judges.rules import RuleJudge
from gradegpt.tables import Form, write
from gradegpt.tables.inputs import Reading
from tests.eval.pages import R, W, items, judged

ROWS: list[dict[str, Any]] = [
    {"id": "a", "question": "2+2=?", "reference": "4", "response": "The answer is 4.",
     "lang": "en", "label": True},
    {"id": "b", "question": "2+3=?", "reference": "5", "response": "The answer is 6.",
     "lang": "zh", "label": True},
    {"id": "c", "question": "2+4=?", "reference": "6", "response": "The answer is 6.",
     "lang": "zh", "label": None},
]  # fmt: skip


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    write_rows(path, ROWS)
    return path


@pytest.fixture
def rules(answers: Path) -> Path:
    path = answers.with_name("rules.jsonl")
    judge_file(check_input(answers), path, RuleJudge())
    return path


def test_a_judged_file_is_read_with_what_it_was_judged_from(rules: Path) -> None:
    """The manifest names the items; the columns of a row that are no field are tags."""
    found = read_judged([rules])
    assert (found.name, list(found.judges)) == ("rules", ["rules"])
    assert [item.question for item in found.items] == ["2+2=?", "2+3=?", "2+4=?"]
    assert [tags["language"] for tags in found.tags] == [("en",), ("zh",), ("zh",)]
    assert not found.labelled
    assert found.scores["rules"].overall.n_rows == 3


def test_labels_that_are_not_read_are_named(tmp_path: Path) -> None:
    (path := tmp_path / "in.csv").write_text("答案,学生答案,标注\n2,2,对\n", "utf-8")
    judge_file(check_input(path), out := tmp_path / "out.jsonl", RuleJudge())
    assert f"标注 is not read; to measure by it: --labels {path}" in read_judged([out]).note


def test_labels_are_joined_by_id(rules: Path, tmp_path: Path) -> None:
    """They may be in any order, table format and usual column; missing rows have no label."""
    path = tmp_path / "labels.csv"
    path.write_text("uid,is_correct,note\nb,no,x\na,yes,y\n", "utf-8")
    assert read_judged([rules], labels=path).labels == [R, W, None]


def test_labels_without_ids_are_joined_by_question_and_response(rules: Path) -> None:
    """Never by their order; ``--map`` names their columns."""
    path = rules.with_name("labels.csv")
    path.write_text("question,said,mark\n2+4=?,The answer is 6.,0\n2+2=?,The answer is 4.,1\n")
    reading = Reading({"response": "said", "label": "mark"})
    assert read_judged([rules], labels=path, reading=reading).labels == [R, None, W]
    with pytest.raises(SettingsError, match="give one of them"):
        read_judged([rules], reading=reading)


def test_the_judged_file_may_hold_the_labels(rules: Path, answers: Path) -> None:
    """Accuracy is over the two rows with a label."""
    found = read_judged([rules], labels=answers)
    assert found.labels == [R, R, None]
    assert numbers(found).overall["rules"].score == 0.5


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_what_the_servers_page_gives_back_is_read_as_it_is(
    rules: Path, tmp_path: Path, form: str
) -> None:
    """Rows, judgements and labels are in one file; a label counts unless it is to measure.

    A row that could not be judged is left out. Beside a table of labels, its own are not used, and
    any row may be drawn for one.
    """
    file = tmp_path / f"class.judgements.{form}"
    said = [json.loads(line) for line in rules.read_text("utf-8").splitlines()]
    names = ("verdict", "confidence", "outcome", "withheld", "method", "reason", "answer")
    rows: list[dict[str, Any]] = [
        {**row, "judgement": one}
        if form == "jsonl"
        else {**row, "结果": "", **{n: one[n] for n in names}}
        for row, one in zip(ROWS, said, strict=True)
    ]
    if form == "jsonl":
        write_rows(file, rows)
    else:
        with file.open("w", encoding="utf-8-sig") as out:
            write(out, Form.CSV, [*rows[0]], [*rows, {"id": "d", "结果": "未评判"}])
    plain = read_judged([rules])
    other = tmp_path / "labels.csv"
    other.write_text("id,mark\nb,1\na,0\n")
    marked = read_judged([file], labels=other, reading=Reading({"label": "mark"}))
    assert marked.labels == [W, R, None]
    measured = read_judged([file], labels=file)
    assert [one.verdict for one in measured.only] == [one.verdict for one in plain.only]
    assert [one.reason for one in measured.only] == [one.reason for one in plain.only]
    assert measured.labels == [R, R, None]
    assert [one.verdict for one in read_judged([file]).only] == [R, R, R]
    assert [item.question for item in measured.items] == [item.question for item in plain.items]
    run = CliRunner().invoke(estimate, [str(file)])
    assert "by 2 labels" in run.output
    run = CliRunner().invoke(app, [str(file), "-o", str(tmp_path / "report.html")])
    assert "1 of the 3 verdicts are by labels" in run.output
    assert "1 of the verdicts are by labels" in (tmp_path / "report.html").read_text("utf-8")
    (more := tmp_path / "more.csv").write_text("id,label\nc,incorrect\n", encoding="utf-8")
    assert read_judged([file], labels=more).labels == [None, None, W]
    page = str(tmp_path / "report.html")
    for command, how in ((estimate, [str(more)]), (app, ["--labels", str(more), "-o", page])):
        run = CliRunner().invoke(command, [str(file), *how])
        assert f"its 2 labels are not used, only those of {more}" in run.output
    picked = [str(file), "--pick", "3", "-o", str(tmp_path / "sheet.csv")]
    assert "3 items" in CliRunner().invoke(estimate, picked).output


def test_several_files_are_several_judges(rules: Path, tmp_path: Path) -> None:
    """Files with the same name are distinguished by their folders."""
    other = tmp_path / "other" / "rules.jsonl"
    write_rows(other, [judged(row["id"], R) for row in ROWS])
    found = read_judged([rules, other])
    assert list(found.judges) == [f"{tmp_path.name}/rules", "other/rules"]
    assert numbers(found).pairs[0].n_differ == 1
    assert (numbers(found).pairs[0].first_only, numbers(found).pairs[0].second_only) == (0, 1)


def test_a_judged_table_is_read_by_the_judgements_beside_it(answers: Path) -> None:
    """``-o judged.csv`` keeps the chains in a file beside it."""
    out = answers.with_name("judged.csv")
    judge_file(check_input(answers), out, RuleJudge(), form=Form.CSV)
    assert [j.id for j in read_judged([out]).judges["judged"]] == ["a", "b", "c"]


def test_a_folder_that_was_moved_is_read_where_it_is(rules: Path, tmp_path: Path) -> None:
    """The items are also searched for beside the judgements."""
    moved = tmp_path / "moved"
    moved.mkdir()
    for path in list(tmp_path.glob("*.json*")):
        path.rename(moved / path.name)
    assert len(read_judged([moved / rules.name]).items) == 3


def test_old_scores_of_a_log_are_one_more_judge(tmp_path: Path) -> None:
    """They mean right, wrong, or neither; the task is a tag."""
    log, out = tmp_path / "out.jsonl.items.jsonl", tmp_path / "out.jsonl"
    olds = [1.0, 0.0, 0.5, None]
    rows = [
        item.model_copy(update={"meta": {"task": "sums", "old_scores": {"acc": old, "em": 1}}})
        for item, old in zip(items(4), olds, strict=True)
    ]
    write_rows(log, rows)
    judge_file(check_input(log), out, RuleJudge())
    found = read_judged([out])
    olds = found.judges[f"{OLD}, acc"]
    assert [j.verdict for j in olds] == [R, W, None, None]
    assert [j.reason for j in olds][1:] == ["acc: 0", "acc: 0.5", "no acc in the log"]
    assert {j.verdict for j in found.judges[f"{OLD}, em"]} == {R}
    assert found.tags[0]["task"] == ("sums",)
    assert list(found.scores) == ["out"], "a score names no answer, so it has no consensus"


def _gone(rules: Path) -> None:
    rules.with_name("answers.jsonl").unlink()


def _no_manifest(rules: Path) -> None:
    rules.with_name("rules.jsonl.manifest.json").unlink()


def _changed(rules: Path) -> None:
    write_rows(rules.with_name("answers.jsonl"), ROWS[::-1])


@pytest.mark.parametrize(
    ("spoil", "error", "message"),
    [
        (_gone, MissingError, r"answers\.jsonl: does not exist, .* --items FILE"),
        (_no_manifest, MissingError, r"manifest\.json: does not exist, .* --items FILE"),
        (_changed, InputError, r"answers\.jsonl: has changed since .* --items FILE"),
    ],
)
def test_what_was_judged_is_found_or_asked_for(
    rules: Path, spoil: Callable[[Path], None], error: type[GradeGPTError], message: str
) -> None:
    """A page with other rows than the judged ones would be wrong without notice."""
    spoil(rules)
    with pytest.raises(error, match=message):
        read_judged([rules])


@pytest.mark.parametrize(
    ("option", "given", "message"),
    [
        ("items", ROWS[:2], r"given\.jsonl: holds other rows than were judged"),
        ("labels", [{"id": "x", "label": True}], r"given\.jsonl: labels none of the judged rows"),
        ("labels", [{"id": "a", "label": True}, {"id": "b", "label": 0.5}],
         r"given\.jsonl:2: label: label 0\.5 is not a verdict"),
        ("labels", [{"label": True}] * 3, r"not say which rows are labelled; .*--map id=COLUMN"),
        ("labels", [{"id": "a", "label": True}, {"id": "a", "label": False}],
         r"given\.jsonl:2: label: not that of an earlier row"),
        ("labels", [{"id": "a", "grade": 1}],
         r"has no column 'label'; name it: --map label=COLUMN; .*: id, grade"),
    ],
    ids=["other items", "other labels", "bad label", "no id", "two labels", "no label"],
)  # fmt: skip
def test_what_does_not_fit_is_an_error_that_says_what_to_do(
    rules: Path, option: str, given: list[dict[str, Any]], message: str
) -> None:
    """Labels are never joined by position."""
    path = rules.with_name("given.jsonl")
    write_rows(path, given)
    with pytest.raises(InputError, match=message):
        read_judged([rules], **{option: path})  # type: ignore[arg-type]


def test_files_of_other_rows_are_no_second_judge(rules: Path, tmp_path: Path) -> None:
    """An empty or missing file is an error, too."""
    other = tmp_path / "other.jsonl"
    write_rows(other, [judged("x", R)])
    with pytest.raises(InputError, match="in its items or their order"):
        read_judged([rules, other])
    other.write_text("", "utf-8")
    with pytest.raises(InputError, match="no judgement"):
        read_judged([rules, other])
    with pytest.raises(MissingError, match="no such file"):
        read_judged([tmp_path / "nowhere.jsonl"])
    with pytest.raises(InputError, match="two files are called"):
        read_judged([rules, rules])
    table = tmp_path / "ok.csv"
    table.write_text("reference,response\n4,4\n", "utf-8")
    with pytest.raises(MissingError, match=r"ok\.csv: has no judgements beside it; run gradegpt"):
        read_judged([table])


def test_the_command_writes_the_page(rules: Path, answers: Path, tmp_path: Path) -> None:
    """It prints the path; the list can be limited; an input is not overwritten."""
    out = tmp_path / "page.html"
    arguments = [str(rules), "--labels", str(answers), "--most", "1", "--name", "mine"]
    done = CliRunner().invoke(app, [*arguments, "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert f"wrote {out}" in done.output
    assert "of the model that answered, by rules: The accuracy is" in done.output
    assert "This page lists 1 of 3 items" in out.read_text("utf-8")
    again = CliRunner().invoke(app, [*arguments, "-o", str(answers)])
    assert isinstance(again.exception, OutputError)
    assert len(list(check_input(answers).items())) == 3
