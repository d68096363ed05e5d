"""The command: its settings, its shipped configs and its errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import typer
from typer.testing import CliRunner, Result

from eval.__main__ import app
from eval.ablation import app as ablation
from eval.judging import read_sources
from eval.settings import EvalSettings
from gradegpt import tables
from gradegpt.app import cli
from gradegpt.core.errors import GradeGPTError
from gradegpt.core.records import read_rows, sha256_file, whole_file, write_rows
from gradegpt.core.schema import Judgement
from gradegpt.core.settings import load_settings
from gradegpt.engines.base import Engine
from gradegpt.engines.client import RequestSettings
from gradegpt.engines.scripted import ScriptedEngine
from tests.command import call
from train import finetune

ROOT = Path(__file__).resolve().parents[2]
HANDMADE = ROOT / "configs" / "eval" / "handmade.yaml"
COMMAND = "# gradegpt eval configs/eval/"
BENCHMARKS = {"olympiadbench", "olympicarena", "arb", "atlas", "cmmath"}
CONFIGS = sorted(
    path
    for path in (ROOT / "configs" / "eval").glob("*.yaml")
    if path.read_text("utf-8").startswith(COMMAND)
)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["bootstrp=3"], "unknown setting 'bootstrp'; did you mean 'bootstrap'?"),
        (["judges=[{kind: rules}, {kind: rules}]"], "two judges have the name 'rules'"),
        (["judges=[{kind: rules, name: a/b}]"], "'a/b' cannot name a file"),
        (["sources=[{path: a.jsonl}, {path: b/a.jsonl}]"], "two sources have the name 'a'"),
        (["judges=[]"], "judges: expected at least one entry"),
        (["sources=[{path: nowhere.jsonl}]"], "nowhere.jsonl: no such file"),
    ],
    ids=["unknown", "judges", "file name", "sources", "no judge", "no file"],
)
def test_a_mistake_in_the_settings_is_one_line_that_says_what_to_do(
    overrides: list[str], message: str
) -> None:
    """Nothing is loaded or judged before the settings are valid."""
    with pytest.raises(GradeGPTError) as caught:
        read_sources(load_settings(EvalSettings, HANDMADE, overrides))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("config", CONFIGS, ids=lambda path: path.stem)
def test_every_shipped_config_loads_and_opens_with_its_command(config: Path) -> None:
    """The first line of a config is the command that runs it."""
    assert {path.stem for path in CONFIGS} >= {"handmade", "real"}
    settings = load_settings(EvalSettings, config)
    assert config.read_text("utf-8").startswith(f"{COMMAND}{config.name}\n")
    assert bool(settings.answers) is (config.stem in BENCHMARKS)


def test_the_command_runs_the_rules_on_the_shipped_rows(tmp_path: Path) -> None:
    """A user's first command works without any model."""
    arguments = [
        str(ROOT / "configs/eval/handmade.yaml"), "judges=[{kind: rules}]", f"out={tmp_path}",
        f"sources=[{{path: {ROOT / 'eval/data/handmade.jsonl'}, fields: null}}]", "bootstrap=20",
    ]  # fmt: skip
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "by answer type" in result.output
    assert len(list(read_rows(tmp_path / "judgements/rules.jsonl", Judgement))) > 100
    (rules,) = json.loads((tmp_path / "report.json").read_text())["judges"]
    assert rules["overall"]["accuracy"] == 1, "the rules contradict a label given by hand"


_FIELDS = ("q", "gold", "output", "score", "tolerance", "lang")
GRADED: list[dict[str, Any]] = [
    dict(zip(_FIELDS, row, strict=True))
    for row in (
        ("2+2=?", "4", "It is 4.", 1, None, "en"),
        ("1/4=?", "0.5", "It is 0.25.", 0, None, ""),
        ("9=?", "9", "It is 9.1.", 1, "relative:0.1", "zh"),
        ("3=?", "3", "It is 3.", None, None, "en"),
    )
]
HERE = ("--map", "question=q", "bootstrap=0")


def evaluated(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


@pytest.fixture
def graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Make a file of that format in its own working directory; return its name."""
    monkeypatch.chdir(tmp_path)

    def made(form: str, rows: Sequence[dict[str, Any]] = GRADED) -> str:
        with whole_file(f"my file.{form}") as out:
            tables.write(out, tables.Form(form), list(rows[0]), rows)
        return f"my file.{form}"

    return made


@pytest.mark.parametrize("form", ["csv", "tsv", "xlsx", "parquet", "json"])
def test_a_labelled_table_needs_no_settings(graded: Callable[[str], str], form: str) -> None:
    """Its columns are recognised and printed; the judge uses the rows' tolerance."""
    judges = ("--judge", "rules", "--judge", "cascade")
    result = evaluated(graded(form), *judges, *HERE, "--map", "label=score")
    assert result.exit_code == 0, result.output
    assert (
        "columns: question = q, reference = gold, response = output, label = score\n"
        in result.stderr
    )
    assert "κ: Cohen's kappa of verdicts and labels" in result.stdout
    assert "label: the column score; 1 rows without one are left out\n" in result.stderr
    report = json.loads(Path("runs/my file/report.json").read_text())
    assert [judge["name"] for judge in report["judges"]] == ["rules", "cascade"]
    rules = report["judges"][0]["overall"]
    assert (rules["n_items"], rules["accuracy"]) == (3, 1)
    manifest = json.loads(Path("runs/my file/manifest.json").read_text())
    assert list(manifest["inputs"]) == [f"my file.{form}"]
    again = EvalSettings.model_validate(manifest["settings"])
    assert [e.reference for e in read_sources(again)] == [("4",), ("0.5",), ("9",)]
    assert evaluated(graded(form), *judges, *HERE, "--map", "label=score").exit_code == 0


def test_a_table_without_labels_scores_the_model(graded: Callable[[str], str]) -> None:
    """The table becomes ``answers`` in the settings; the result names what may be the label."""
    rows = ("--judge", "rules", "--map", "response=output", *HERE)
    result = evaluated(graded("csv"), *rows, "name=other")
    assert result.exit_code == 0, result.output
    said = "no label column was recognised, so this scores the model that answered; "
    assert f"{said}if 'score' is it: --map label=score\n" in result.stdout
    report = json.loads(Path("runs/other/report.json").read_text())
    assert report["scores"]["rules"]["overall"]["accuracy"]["value"] == 0.75
    manifest = json.loads(Path("runs/other/manifest.json").read_text())
    assert manifest["settings"]["columns"] == {"question": "q", "response": "output"}


def test_a_log_is_answers_without_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of another tool; the folder is that of ``-o``, and the log's hash is in the manifest."""
    monkeypatch.chdir(tmp_path)
    log = ROOT / "tests" / "data" / "logs" / "verl.jsonl"
    done = evaluated(str(log), "--judge", "rules", "-o", "here", "bootstrap=0")
    assert done.exit_code == 0, done.output
    assert "answered; to measure the judge, name it: --map label=COLUMN\n" in done.stdout
    manifest = json.loads((tmp_path / "here" / "manifest.json").read_text())
    assert (manifest["rows"], manifest["settings"]["answers"]) == (4, [str(log)])
    assert manifest["inputs"] == {str(log): sha256_file(log)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("my file.csv", "--map", "label=scores"), "no column 'scores'; did you mean 'score'?"),
        (("my file.csv", "--map", "question"), "expected FIELD=COLUMN"),
        (("my file.csv", *HERE, "--map", "label=q"),
         "label '2+2=?' is not a verdict"),
        (("my file.csv", "--judge", "rules", "--model", "x"), "--model: not for rules"),
        (("my file.csv", *HERE, "--map", "label=score", "sed=1"), "did you mean 'seed'?"),
        (("nowhere.csv", "--judge", "rules"), "nowhere.csv: no such file"),
        (("nowhere.yaml", "--judge", "rules"), "nowhere.yaml holds settings"),
        (("two.jsonl", "--judge", "rules"), "`label` may be any of correct, is_correct; use "
         "--map label=correct or --map label=is_correct"),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_evaluated_says_what_to_do(
    graded: Callable[[str], str], arguments: tuple[str, ...], message: str
) -> None:
    """The error comes before a judge is loaded, and nothing is written."""
    graded("csv")
    two = {"reference": "4", "response": "4", "correct": True, "is_correct": True}
    write_rows("two.jsonl", [two])
    with pytest.raises((GradeGPTError, typer.BadParameter)) as caught:
        app(list(arguments), standalone_mode=False)
    assert message in str(caught.value)
    assert not Path("runs").exists()


def test_a_sheet_with_several_answers_in_a_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labelled or not, one sheet of a workbook is read, and a cell is split."""
    monkeypatch.chdir(tmp_path)
    book = openpyxl.Workbook()
    for name, head in (("graded", ["label"]), ("plain", [])):
        sheet = book.create_sheet(name)
        sheet.append(["question", "reference", "response", *head])
        sheet.append(["Capital of France?", "Paris/巴黎", "巴黎", *[True for _ in head]])
        sheet.append(["Capital of Japan?", "Tokyo/东京", "大阪", *[False for _ in head]])
    book.save("answers.xlsx")
    for name, key in (("graded", "judges"), ("plain", "scores")):
        options = ("--judge", "rules", "--sheet", name, "--separator", "/", "bootstrap=0")
        done = evaluated("answers.xlsx", *options, "-o", name)
        assert done.exit_code == 0, done.output
        assert json.loads((tmp_path / name / "report.json").read_text())[key]
        said = (tmp_path / name / "judgements" / "rules.jsonl").read_text().splitlines()
        assert json.loads(said[0])["verdict"] == "correct"


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")  # by other tests
@pytest.mark.parametrize(
    "command",
    ["report judged.jsonl --labels my.csv",
     "eval.answer my.csv -o a.jsonl --base-url http://127.0.0.1:9/v1 --model m",
     "eval.protocol rubric my.csv -o r.jsonl --base-url http://127.0.0.1:9/v1 --model m",
     "eval.references my.csv"],
)  # fmt: skip
def test_every_command_that_reads_a_table_reads_the_columns_that_map_names(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:
    """One that is not there is named before anything else is done."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["gradegpt"])
    Path("my.csv").write_text("question,reference,response,label\n1+1=?,2,2,1\n")
    assert call("judge", "my.csv", "--judge", "rules", "-o", "judged.jsonl") == 0
    assert call(*command.split(), "--map", "question=nowhere") == 2
    assert "map question=nowhere: there is no column 'nowhere'; the " in capsys.readouterr().err
    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(finetune, "finetune", seen.append)
    given = ["my.csv", "--base", "nano", "-o", "out", "--map", "question=nowhere"]
    assert CliRunner().invoke(finetune.app, given).exit_code == 0
    assert seen[0]["columns"] == {"question": "nowhere"}


def test_both_commands_set_the_request_to_a_server(
    graded: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reasoning models want other fields; null leaves one out."""
    seen: list[RequestSettings] = []

    def made(url: str, model: str, *, request: RequestSettings, **_: Any) -> Engine:
        seen.append(request)
        return ScriptedEngine(lambda _: "<Yes>")

    monkeypatch.setattr("gradegpt.engines.openai_api.OpenAIEngine", made)
    given = ("thinking_tokens=9", "extra_body.logprobs=null")
    options = ("--judge", "model", "--model", "m", "--base-url", "http://server/v1", *HERE[:2])
    options += tuple(part for one in given for part in ("--request", one))
    assert call("judge", graded("csv"), *options, "-o", "judged.jsonl") == 0
    assert evaluated(graded("csv"), *options, "bootstrap=0").exit_code == 0
    assert {*seen} == {RequestSettings(thinking_tokens=9, extra_body={"logprobs": None})}


def test_a_recipe_says_where_it_tells_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Most need files that nobody has at first; the error names the recipe's first lines."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        cli.run(app, ["arb"], name="gradegpt eval")
    said = capsys.readouterr().err
    assert said.startswith("error: data/arb/answers.jsonl: no such file")
    assert "configs/eval/arb.yaml says at its top what it needs" in said
    with pytest.raises(SystemExit):
        cli.run(app, ["none.csv", "--judge", "rules"], name="gradegpt eval")
    assert capsys.readouterr().err == "error: none.csv: no such file; check the path\n"
    with pytest.raises(SystemExit):
        cli.run(ablation, ["ablation-0.5b"], name="gradegpt eval.ablation")
    assert "/ablation-0.5b.yaml says at its top what it needs" in capsys.readouterr().err


def test_the_labels_that_measure_a_judge_are_not_its_own(tmp_path: Path) -> None:
    """Graded answers of the same file would give each row its own label."""
    graded = tmp_path / "graded.csv"
    graded.write_text("question,reference,response,label\nq,a,b,0\n", encoding="utf-8")
    result = CliRunner().invoke(app, [str(graded), "--labels", str(graded)])
    assert result.exit_code == 2
    assert "holds the labels that measure" in " ".join(result.output.split())
