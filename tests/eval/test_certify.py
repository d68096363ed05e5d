"""A certificate: what passes, what is written, and what a run that demands it refuses or says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from eval.__main__ import app
from eval.certify import answered_by, bare, check
from eval.evaluate import evaluate
from eval.judging import seen_by
from eval.settings import EvalSettings
from gradegpt.app.cli import app as judge_app
from gradegpt.core.errors import GradeGPTError
from gradegpt.core.records import write_rows
from gradegpt.core.schema import Example, Verdict
from gradegpt.judges.certificate import Certificate, read_certificate
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.settings import JudgeSettings


def invoke(command: object, *arguments: object) -> Result:
    ended = CliRunner().invoke(command, [*map(str, arguments)])  # type: ignore[arg-type]
    if isinstance(ended.exception, GradeGPTError):
        raise ended.exception
    return ended


def certified(folder: Path, *arguments: object, n: int = 100, wrong: int = 0) -> Result:
    """Certify the rules; half of the answers are right, the first ``wrong`` labels contradict."""
    rows = (
        {
            "id": str(k), "question": f"{k} + 1 = ?", "reference": str(k + 1),
            "response": f"The answer is {k + 1 + k % 2}.", "label": (k % 2 == 0) is (k >= wrong),
        }
        for k in range(n)
    )  # fmt: skip
    write_rows(folder / "labelled.jsonl", rows)
    options = ("--judge", "rules", "-o", folder / "run", *arguments)
    return invoke(app, folder / "labelled.jsonl", *options)


def test_the_lower_limit_decides(tmp_path: Path) -> None:
    """A hundred right verdicts show 0.9; with eight wrong ones the share is above it, not shown."""
    found = certified(tmp_path, "--certify", 0.9)
    assert found.exit_code == 0, found.output
    assert f"certificate: {tmp_path / 'run' / 'certificate.json'}" in found.output
    made = json.loads((tmp_path / "run" / "certificate.json").read_text("utf-8"))
    assert (made["n_labels"], made["balanced_accuracy"], made["majority"]) == (100, 1, 0.5)
    assert 0.9 < made["low"] < 1
    found = certified(tmp_path, "--certify", 0.9, wrong=8)
    assert found.exit_code == 5
    assert "certificate:" not in found.output
    assert re.search(r"not decided, about [\d,]{3,5} labels would: balanced ac", found.output)
    found = certified(tmp_path, "--certify", 0.99, wrong=20)
    assert (found.exit_code, "not certified: balanced accuracy 80.0 %" in found.output) == (1, True)
    certificate = read_certificate(tmp_path / "run" / "certificate.json")
    with pytest.raises(GradeGPTError, match="did not pass"):
        certificate.demand(certificate.judge)


def test_the_questions_that_made_a_judge_do_not_certify_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of its training or calibration, in any order; a measurement on them says so."""
    rows = [
        Example(
            id=str(k), question=f"{k} + 1 = ?", reference=(str(k + 1),), response="x",
            verdict=Verdict.INCORRECT,
        )
        for k in range(100)
    ]  # fmt: skip
    examples = tmp_path / "judge" / "work" / "data" / "examples"
    examples.mkdir(parents=True)
    write_rows(examples / "train.jsonl", rows[5:8])
    assert seen_by([JudgeSettings.of(model=str(tmp_path / "judge"))], rows[8:]) == ""
    table = tmp_path / "all.jsonl"
    write_rows(table, rows)
    options = ("--model", tmp_path / "judge", "--certify", 0.9, "-o", tmp_path / "run")
    told = "3 of the 100 rows have questions that made this judge; measure it on others, such as "
    with pytest.raises(GradeGPTError, match=f"--certify: {told}"):
        invoke(app, table, *options)
    assert not (tmp_path / "run").exists()
    measured = {
        "name": "run", "out": str(tmp_path / "run"), "bootstrap": 0,
        "sources": [{"path": str(table), "fields": None}],
        "judges": [{"kind": "cascade", "model": str(tmp_path / "judge")}],
    }  # fmt: skip
    evaluate(EvalSettings.model_validate(measured), build=lambda _: RuleJudge())
    (tmp_path / "judge" / "calibration.json").write_text('{"judge": "x", "after": ["rules"]}')
    evaluate(EvalSettings.model_validate(measured), build=lambda _: RuleJudge())
    first, second = capsys.readouterr().err.split("warning: ")[1:]
    assert first.startswith(told)
    assert re.search(rf"{re.escape(told)}.*test\.jsonl; .*judge is not asked: its calib", second)
    assert told in (tmp_path / "run" / "report.html").read_text("utf-8")


def test_only_the_output_of_another_certification_is_replaced(tmp_path: Path) -> None:
    """Those of a run without --certify, or of another judge, are kept: the error says it."""
    certified(tmp_path)
    with pytest.raises(GradeGPTError, match="add --overwrite to replace it, or -o"):
        certified(tmp_path, "--certify", 0.9, n=99)
    assert certified(tmp_path, "--certify", 0.9).exit_code == 0
    assert certified(tmp_path, "--certify", 0.9, n=99).exit_code == 0
    other = (tmp_path / "labelled.jsonl", "-o", tmp_path / "run", "--certify", 0.9)
    with pytest.raises(GradeGPTError, match=r"certificate.json: is of another judge; "):
        invoke(app, *other)


def test_few_labels_certify_nothing(tmp_path: Path) -> None:
    """Forty right verdicts are not enough, whatever the limit."""
    found = certified(tmp_path, "--certify", 0.5, n=40)
    assert found.exit_code == 5
    assert "about 50 labels would: 40 labelled rows with a verdict, of at least" in found.output
    with pytest.raises(GradeGPTError, match="no row labelled incorrect has a verdict;") as few:
        certified(tmp_path, "--certify", 0.5, n=1)
    assert few.value.exit_code == 5


def test_the_labels_to_give_include_those_of_rows_without_a_verdict() -> None:
    """Of 60 labels 43 count, where the judge decides 43 of 60 rows: 70 labels make fifty count."""
    rows = {
        "judge": "x", "settings": {}, "rows": "", "n_labels": 43, "coverage": 43 / 60,
        "balanced_accuracy": 1, "low": 0.9, "high": 1, "floor": 0.6, "majority": 0.5, "kappa": 1,
    }  # fmt: skip
    assert Certificate.model_validate(rows).needed == 70


def test_the_guide_names_what_a_certificate_has() -> None:
    """Each key of the file, and no other thing."""
    guide = (Path(__file__).parents[2] / "docs/guides/accuracy.md").read_text("utf-8")
    [told] = re.findall(r"`certificate.json` has (.*?)\. `report.json`", guide, re.DOTALL)
    assert {*re.findall(r"`(\w+)`", told)} == {*Certificate.model_fields}


@pytest.mark.parametrize(
    ("row", "own"),
    [({"model": "Qwen3-4B"}, True), ({"meta": {"model": "qwen3_4b"}}, True),
     ({"tags": {"model": ["gpt-5", "Qwen/Qwen3-4B"]}}, True), ({"model": "Qwen3-8B"}, False),
     ({}, False)],
)  # fmt: skip
def test_a_judge_of_its_own_answers_is_recognised(row: dict[str, Any], own: bool) -> None:
    """By the column, tag or metadatum ``model``, whatever its owner and case."""
    assert answered_by({bare("Qwen/Qwen3-4B")}, row) is own


def test_a_certificate_on_the_judges_own_answers_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is judged; answers of other models are not counted."""
    names = ["Qwen/Qwen3-4B", "qwen3-4b", "Qwen/Qwen3-8B"]
    row = {"question": "1 + 1 = ?", "reference": "2", "response": "2", "label": True}
    write_rows(path := tmp_path / "rows.jsonl", (row | {"meta": {"model": name}} for name in names))
    judge = {"kind": "model", "model": "Qwen/Qwen3-4B"}
    given = {"name": "run", "sources": [{"path": str(path), "fields": None}], "judges": [judge]}
    check(EvalSettings.model_validate(given))
    said = f"warning: {path}: 2 answers of it are by Qwen/Qwen3-4B, which judges them: a model "
    assert capsys.readouterr().err.startswith(said)


def test_a_certificate_is_of_one_judge(tmp_path: Path) -> None:
    """Two judges, or another judge than the certified one, are refused."""
    with pytest.raises(GradeGPTError, match="needs one judge"):
        certified(tmp_path, "--judge", "cascade", "--certify", 0.9)
    certified(tmp_path, "--certify", 0.9, "--overwrite")
    path = tmp_path / "run" / "certificate.json"
    demand = (tmp_path / "labelled.jsonl", "--certificate", path)
    assert invoke(judge_app, "judge", *demand, "--judge", "rules").exit_code == 0
    with pytest.raises(GradeGPTError, match="is of another judge"):
        invoke(judge_app, "judge", *demand, "--judge", "cascade")
    with pytest.raises(GradeGPTError, match="no such certificate"):
        invoke(judge_app, "judge", demand[0], "--certificate", tmp_path / "none.json")
