"""The command ``gradegpt``: its output, its exit codes, and the resuming of killed runs."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from eval.report.results import read_judged
from gradegpt import tables
from gradegpt.app import cli, console
from gradegpt.app.run import Counts, Summary, check_input
from gradegpt.app.summary import Undecided, cost, helps
from gradegpt.core.errors import EngineError, InputError, OutputError
from gradegpt.core.records import whole_file, write_rows
from gradegpt.core.schema import Judgement, Outcome
from gradegpt.engines.scripted import ScriptedEngine
from gradegpt.judges.base import Judge
from gradegpt.judges.model import ModelJudge
from gradegpt.judges.settings import JudgeSettings
from tests.command import call

ROOT = Path(__file__).parents[2]
MAIN = "from gradegpt.app.cli import main; main()"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
RULES = ("--judge", "rules")
ROW = '{"reference": "4", "response": "The answer is 4."}\n'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, so that messages hold short names."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> list[str | EngineError]:
    """The replies of the model that the command line loads."""
    replies: list[str | EngineError] = []

    def build(settings: JudgeSettings) -> Judge:
        return ModelJudge(ScriptedEngine(replies))

    monkeypatch.setattr(cli, "build_judge", build)
    return replies


def test_one_response_is_judged_in_its_context(capsys: pytest.CaptureFixture[str]) -> None:
    """``--context`` has the options that the question refers to; with a file it is an error."""
    response = ("--reference", "B", "--response", "The answer is iron.")
    given = ("--question", "Which one rusts?", *response)
    assert call("judge", *RULES, *given) == 0
    assert "verdict     none (undecided)" in capsys.readouterr().out
    assert call("judge", *RULES, *given, "--context", "A. gold\nB. iron\nC. lead") == 0
    assert "verdict     correct" in capsys.readouterr().out
    assert call("judge", "in.jsonl", "-o", "out.jsonl", "--context", "A. gold") == 2
    assert "not both" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "verdict     incorrect"),
        (("--tolerance", "atlas"), "verdict     correct"),
        (("--tolerance", "about"), "tolerance: "),
        (("--answer-type", "NV", "--tolerance", "relative:0.1"), "verdict     correct"),
        (("--answer-type", "xx"), "answer_type: "),
        (("--profile", "atlas"), "verdict     correct"),
    ],
)
def test_one_response_may_have_a_type_a_tolerance_and_a_profile(
    more: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = call("judge", *RULES, "--reference", "10", "--response", "It is 10.9.", *more)
    assert said in "".join(capsys.readouterr())
    assert (code == 0) is said.startswith("verdict")


def test_several_judges_are_a_panel(capsys: pytest.CaptureFixture[str]) -> None:
    """Each has the options that it knows; an option that none knows is an error."""
    given = ("--judge", "rules", "--judge", "cascade", "--reference", "4", "--response", "It is 4.")
    assert call("judge", *given, "--min-confidence", "0") == 0
    said = capsys.readouterr().out
    assert "panel:2-to-0" in said
    assert "verdict     correct" in said
    none_has = ("--judge", "code", "--judge", "cascade", "--profile", "atlas")
    assert call("judge", *none_has, "--reference", "4", "--response", "4") != 0
    assert "--profile: not for --judge code and cascade" in capsys.readouterr().err


def test_one_response_that_could_not_be_judged_is_an_error(
    capsys: pytest.CaptureFixture[str], scripted: list[str | EngineError]
) -> None:
    scripted.append(EngineError("connection refused"))
    assert call("judge", "--reference", "4", "--response", "x") == 4
    assert capsys.readouterr().err == "error: engine:error: connection refused\n"


def test_escape_sequences_of_a_response_do_not_reach_the_terminal() -> None:
    judgement = Judgement(id="", outcome=Outcome.UNPARSED, method="m", chain="a\x1b[2J\r中\nb")
    assert str(judgement).startswith("a\\x1b[2J\\r中\nb\n\n")


def test_a_promise_says_which_verdicts_are_withheld(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All on some types, and on the others those below a confidence; the rest is given."""
    pytest.importorskip("scipy")
    Path("in.jsonl").write_text(ROW)
    assert call("judge", "in.jsonl", "-o", "out.jsonl", "--max-error", "0.05") == 0
    out, said = capsys.readouterr()
    assert "1 judged" in out
    head, *lines = said.splitlines()
    assert head == "max_error: these verdicts are withheld, as the bound is not shown for them"
    one = r"  [^:]+: (all verdicts \(.+\)|verdicts below the confidence 0\.\d{4} \(.+\))"
    assert lines
    assert all(re.fullmatch(one, line) for line in lines)


def test_a_file_is_judged_with_a_summary(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("in.jsonl").write_text(ROW * 3 + ROW.replace("is 4", "is 5"))
    assert call("judge", "in.jsonl", "-o", "out.jsonl", *RULES) == 0
    out = capsys.readouterr().out
    assert re.fullmatch(
        r"4 items = 4 judged \+ 0 undecided \+ 0 unparsed \+ 0 failed\n"
        r"4 judged = 3 correct \+ 1 incorrect \+ 0 invalid\n"
        r"score: 75\.0 % judged correct; its interval: gradegpt report out\.jsonl\n"
        r"\d+\.\d s, [\d.,]+ rows/s\n"
        r"judgements: out\.jsonl\n",
        out,
    )
    row = json.loads(Path("out.jsonl").read_text().splitlines()[3])
    assert list(row)[:14] == [
        "id", "outcome", "verdict", "withheld", "confidence", "score", "method", "reason", "why",
        "key_sentence", "span", "answer", "answer_type", "chain",
    ]  # fmt: skip
    assert (row["id"], row["verdict"]) == ("4", "incorrect")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "in.jsonl: no such file; check the path"),
        ("", "in.jsonl: there are no rows; write one item per line as a JSON object"),
        (ROW + "{\n", "in.jsonl:2: not a JSON object (Expecting property name enclosed in double "
         "quotes: line 2 column 1 (char 2)); write one {...} per line"
         "\n--skip-bad leaves them out and judges the other 1"),
        (ROW.replace("4", "四四").encode() + b"\xff\n",
         "in.jsonl:2: not UTF-8 (invalid start byte); save the file as UTF-8"
         "\n--skip-bad leaves them out and judges the other 1"),
        ('{"output": "4"}\n', "in.jsonl: no column is known as reference; name it (question and "
         "label may be left out):\n  gradegpt judge in.jsonl -o out.jsonl --map question=COLUMN "
         "--map reference=COLUMN --map response=output --map label=COLUMN\n"
         "  output = response: '4'"),
        ('{"reference": {}, "response": "4"}\n', "in.jsonl:1: reference: expected text or a "
         'list of texts; write a number in quotes, "42"'),
        ('{"refrence": "4", "response": 4, "points": 0}\n' + ROW,
         "in.jsonl: 2 complaints, nothing was judged\n"
         "  in.jsonl:1: reference: field required\n"
         "  in.jsonl:1: points: should be greater than 0; if it is something else, use --map "
         "points= to leave it out\n--skip-bad leaves them out and judges the other 1"),
    ],
    ids=["missing", "empty", "torn", "not-utf8", "no-reference", "number", "two-complaints"],
)  # fmt: skip
def test_a_bad_input_is_an_exact_error_before_the_model_is_loaded(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    content: str | bytes | None,
    message: str,
) -> None:
    monkeypatch.setattr(cli, "build_judge", lambda _: pytest.fail("the model was loaded"))
    if content is not None:
        Path("in.jsonl").write_bytes(content.encode() if isinstance(content, str) else content)
    assert call("judge", "in.jsonl", "-o", "out.jsonl") == 2
    assert capsys.readouterr() == ("", f"error: {message}\n")
    assert not Path("out.jsonl.partial").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["in.jsonl", "-o", "old.jsonl", *RULES], 3,
         "old.jsonl: exists already; choose another name or pass --overwrite"),
        (["in.jsonl", "-o", "in.jsonl", "--overwrite", *RULES], 3,
         "in.jsonl: is the input; choose another name for the output"),
        (["in.jsonl", "-o", ".", *RULES], 3, ".: is a folder; give the name of a file to write"),
        ([".", "-o", "out.jsonl", *RULES], 2,
         ".: is a folder; give a file (.jsonl, .csv, .xlsx, ...)"),
        (["in.jsonl", "-o", "out.jsonl", *RULES, "--model", "x", "--min-confidence", "0.5"], 2,
         "--model, --min-confidence: not for --judge rules; use --judge cascade or parts"),
        (["in.jsonl", "-o", "out.jsonl", "--base-url", "http://127.0.0.1:9/v1"], 2,
         "base_url: set 'model' (--model) too, the model's name on that server"),
        (["in.jsonl", "-o", "out.jsonl", "--model", "m", "--request", "thinking_tokens=9"], 2,
         "--request: is for a server; give --base-url too"),
        (["in.jsonl", "-o", "out.jsonl", "--model", "./nowhere"], 2,
         "./nowhere: no such model folder; give a folder or a hub name such as "
         "Qwen/Qwen3-0.6B"),
        (["--reference", "4", "--response", "4", *RULES, "--profile", "gsm9k"], 2,
         "profile 'gsm9k': is unknown; use one of olympiadbench, olympicarena, arb, atlas"),
        (["--reference", "4", "--response", "4", "--profile", "arb"], 2,
         "--profile: not for --judge cascade; use --judge rules"),
    ],
    ids=["there-already", "the-input", "output-a-folder", "input-a-folder", "rules-with-a-model",
         "url-without-model", "request-without-url", "no-such-model",
         "no-such-profile", "profile-of-a-model"],
)  # fmt: skip
def test_a_user_error_is_one_line_and_an_exit_code(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    Path("in.jsonl").write_text(ROW)
    Path("old.jsonl").write_text(ROW)
    assert call("judge", *arguments) == code
    assert capsys.readouterr() == ("", f"error: {message}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["judge"], "Error: nothing to judge: give FILE, or --reference and --response"),
        (["judge", "in.jsonl", "--map", "reference"], "expected FIELD=COLUMN"),
        (["judge", "in.jsonl", "--response", "4"], "give FILE, or --reference and --response; not"),
        (["judge", "--reference", "4"], "nothing to judge: give FILE, or --reference and"),
        (["judge", "--reference", "4", "--response", "4", "-o", "x"], "--output is for a FILE"),
        (["judge", "in.csv", "-o", "out.xls"], "out.xls: unknown suffix '.xls'; use .jsonl, "),
        (["judge", "--judge", "rule"], "'code', 'parts'; did you mean 'rules'?\n"),
        (["judge", "--batch-size", "x"], "'--batch-size': expected a whole number\n"),
        (["judge", "--min-confidence", "2"], "should be less than or equal to 1"),
        (["juge"], "No such command 'juge'"),
    ],
)
def test_wrong_usage_is_explained_with_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: Sequence[str], message: str
) -> None:
    assert call(*arguments) == 2
    assert message in capsys.readouterr().err


KILLED = """
import os, signal
from gradegpt.core.records import ResumableWriter

write = ResumableWriter.write

def killed(self, rows):
    write(self, rows)
    os.kill(os.getpid(), signal.SIGKILL)

ResumableWriter.write = killed
"""


def test_a_killed_run_is_resumed_and_writes_the_same_bytes(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SIGKILL after a write of two rows: none is repeated or missing, and no byte differs."""
    Path("in.jsonl").write_text("".join(ROW.replace("is 4", f"is {n}") for n in range(7)))
    judge = ("judge", "in.jsonl", "--judge", "parts", "--batch-size", "1", "-o")
    assert call(*judge, "whole.jsonl") == 0
    command = [sys.executable, "-c", f"{KILLED}{MAIN}", *judge, "out.jsonl"]
    killed = subprocess.run(command, capture_output=True, check=False, env=ENVIRONMENT)
    assert killed.returncode == -signal.SIGKILL
    assert Path("out.jsonl.partial").read_text().count("\n") == 2
    capsys.readouterr()
    assert call(*judge, "out.jsonl") == 0
    assert "(2 rows are from an earlier run)" in capsys.readouterr().out
    assert Path("out.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()


def test_an_interrupted_run_says_how_to_resume(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(console, "judge_file", interrupted)
    Path("in.jsonl").write_text(ROW)
    assert call("judge", "in.jsonl", "-o", "out.jsonl", *RULES) == 130
    assert capsys.readouterr().err == (
        "stopped; run the same command again to resume from out.jsonl.partial\n"
    )


CSV = "q,gold,output,model\n2+2=?,4,The answer is 4.,m1\n1/4=?,0.50,The answer is 0.25.,m2\n"
TAKE = ("--map", "question=q", *RULES)


def test_a_csv_is_written_with_a_verdict_in_every_row(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The recognised columns are reported; chains and manifest are in files beside it."""
    Path("in.csv").write_text(CSV)
    assert call("judge", "in.csv", "-o", "out.csv", *TAKE) == 0
    out, err = capsys.readouterr()
    assert err == "columns: question = q, reference = gold, response = output\n"
    assert out.splitlines()[-2:] == [
        "judgements: out.csv", "with their chains: out.csv.judgements.jsonl",
    ]  # fmt: skip
    written = re.sub(r"0\.99\d+", "0.99", Path("out.csv").read_text())
    assert written == (
        "q,gold,output,model,verdict,confidence,outcome,withheld,method,reason,in_words,answer\n"
        "2+2=?,4,The answer is 4.,m1,correct,0.99,judged,,rules,number:same-text,"
        "Number: both answers read the same.,4\n"
        "1/4=?,0.50,The answer is 0.25.,m2,incorrect,0.99,judged,,rules,number:different,"
        "Number: the answers are different.,0.25\n"
    )
    manifest = json.loads(Path("out.csv.judgements.jsonl.manifest.json").read_text())
    assert manifest["input"]["columns"]["reference"] == "gold"
    assert call("judge", "in.csv", "-o", "out.csv", *TAKE) == 3
    assert "out.csv: exists already" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["csv", "tsv", "xlsx", "parquet", "json", "jsonl"])
def test_every_form_gets_the_same_verdicts(here: Path, form: str) -> None:
    """Verdicts do not depend on the form of the input; numbers are read as text."""
    rows = [{"gold": n, "output": f"It is {n % 2}."} for n in range(3)]
    if form == "jsonl":
        write_rows("in.jsonl", rows)
    else:
        with whole_file(f"in.{form}") as out:
            tables.write(out, tables.Form(form), ["gold", "output"], rows)
    assert call("judge", f"in.{form}", "-o", "out.jsonl", *RULES) == 0
    judged = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [row["verdict"] for row in judged] == ["correct", "correct", "incorrect"]
    assert call("judge", f"in.{form}", "-o", f"out.{form}", "--overwrite", *RULES) == 0
    last = [row for _, row in tables.each_row(f"out.{form}")][2]
    assert (last["verdict"], last.get("output", "It is 0.")) == ("incorrect", "It is 0.")


def test_an_output_without_a_suffix_is_json_lines(here: Path) -> None:
    """As ``/dev/stdout`` is."""
    Path("in.csv").write_text("gold,output\n4,It is 4.\n")
    assert call("judge", "in.csv", "-o", "out", *RULES) == 0
    assert json.loads(Path("out").read_text())["verdict"] == "correct"


def test_an_existing_column_is_kept(here: Path) -> None:
    """The added column then gets another name."""
    row = {"answer": "4", "response": "The answer is 4.", "verdict": "wrong"}
    Path("in.jsonl").write_text(json.dumps(row))
    assert call("judge", "in.jsonl", "-o", "out.json", *RULES) == 0
    (row,) = json.loads(Path("out.json").read_text())
    assert (row["answer"], row["verdict"]) == ("4", "wrong")
    assert (row["judged_answer"], row["judged_verdict"]) == ("4", "correct")


def test_standard_input_goes_to_standard_output(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As JSON Lines and nothing else."""
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(CSV.encode())))
    assert call("judge", "-", *TAKE) == 0
    out, err = capsys.readouterr()
    verdicts = [Judgement.model_validate_json(line).verdict for line in out.splitlines()]
    assert verdicts == ["correct", "incorrect"]
    assert err.splitlines()[1].startswith("2 items = 2 judged")


def test_bad_rows_are_left_out_on_demand_and_counted(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other rows are judged; without the option none is."""
    Path("in.csv").write_text("gold,output\n4,It is 4.\n4\n,It is 4.\n5,It is 4.\n")
    assert call("judge", "in.csv", "-o", "out.csv", *RULES) == 2
    assert "in.csv: 2 complaints, nothing was judged" in capsys.readouterr().err
    assert call("judge", "in.csv", "-o", "out.csv", "--skip-bad", *RULES) == 0
    out, err = capsys.readouterr()
    assert "2 items = 2 judged" in out
    assert err.splitlines()[1:] == [
        "2 rows are set aside, 2 are judged",
        "in.csv: 2 complaints, set aside",
        "  in.csv:3: 1 cells under 2 columns; quote the cells that hold the separator",
        "  in.csv:4: gold: an accepted answer is empty; there is nothing to grade against",
    ]
    manifest = json.loads(Path("out.csv.judgements.jsonl.manifest.json").read_text())
    assert (manifest["input"]["rows"], manifest["input"]["set_aside"]) == (2, 2)
    assert "set aside: out.set-aside.csv" in out
    aside = [row for _, row in tables.each_row("out.set-aside.csv")]
    assert [(row["place"], row["output"]) for row in aside] == [
        ("in.csv:3", ""), ("in.csv:4", "It is 4."),
    ]  # fmt: skip
    assert aside[1]["problem"].startswith("gold: an accepted answer is empty")
    Path("in.csv").write_text("gold,output\n4\n")
    assert call("judge", "in.csv", "-o", "none.csv", "--skip-bad", *RULES) == 2


def test_a_table_of_a_run_that_failed_is_completed_by_the_same_command(
    here: Path, scripted: list[str | EngineError], capsys: pytest.CaptureFixture[str]
) -> None:
    """The rows that the engine did not answer are judged again, as the error says."""
    Path("in.csv").write_text("gold,output\n4,It is 4.\n5,It is 4.\n")
    scripted += ["<Yes>", EngineError("busy")]
    assert call("judge", "in.csv", "-o", "out.csv") == 4
    assert capsys.readouterr().err.splitlines()[-1] == (
        "error: 1 row failed, id 3: busy. Run the same command again to ask about them once more."
    )
    assert "failed,,model,engine:error: busy" in Path("out.csv").read_text()
    scripted[:] = ["<No>"]
    assert call("judge", "in.csv", "-o", "out.csv") == 0
    verdicts = [row["verdict"] for _, row in tables.each_row("out.csv")]
    assert verdicts == ["correct", "incorrect"]


def test_a_table_that_was_not_written_yet_needs_no_second_judging(
    here: Path, scripted: list[str | EngineError]
) -> None:
    """The run may have been killed between the last judgement and the table."""
    Path("in.csv").write_text("gold,output\n4,It is 4.\n")
    scripted += ["<Yes>"]
    assert call("judge", "in.csv", "-o", "out.csv") == 0
    whole = Path("out.csv").read_bytes()
    Path("out.csv").unlink()
    scripted.clear()
    assert call("judge", "in.csv", "-o", "out.csv") == 0
    assert Path("out.csv").read_bytes() == whole


def test_a_text_too_long_for_a_cell_is_an_error_before_the_model_is_loaded(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A workbook would cut it silently."""
    monkeypatch.setattr(cli, "build_judge", lambda _: pytest.fail("the model was loaded"))
    Path("in.jsonl").write_text(json.dumps({"gold": "4", "output": "4" * 32_768}) + "\n")
    assert call("judge", "in.jsonl", "-o", "out.xlsx") == 3
    assert "out.xlsx: in.jsonl:1: output is longer than the 32,767" in capsys.readouterr().err


def test_another_map_does_not_resume_a_partial_file(here: Path) -> None:
    """The fingerprint depends on the map; with exact names it is the file's hash alone."""
    Path("in.jsonl").write_text('{"gold": "4", "a": "It is 4.", "b": "It is 5."}\n')
    checked = [check_input("in.jsonl", columns={"response": column}) for column in ("a", "b")]
    assert checked[0].fingerprint != checked[1].fingerprint
    Path("exact.jsonl").write_text(ROW)
    exact = check_input("exact.jsonl")
    assert exact.fingerprint == exact.sha256


CLASS = (
    "学号;姓名;题目;参考答案;学生答案\r\n"
    "1;王小明;法国首都是哪里？;巴黎/Paris;答案是巴黎。\r\n2;李雷;1+1=?;2;我觉得是 3。\r\n"
)


def test_a_class_list_from_a_chinese_spreadsheet_is_judged_and_written_back_alike(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """GBK and semicolons, as they were; the other columns pass, and nothing is complained of.

    A separator between what seem to be several accepted answers is asked for, and doubted where
    they are those of several blanks.
    """
    Path("class.csv").write_bytes(CLASS.encode("gbk"))
    assert call("judge", "class.csv", "-o", "out.csv", *RULES, "--separator", "/") == 0
    assert capsys.readouterr().err.splitlines() == [
        "class.csv: read as GB18030, cells separated by ';'",
        "columns: question = 题目, reference = 参考答案, response = 学生答案",
    ]
    written = Path("out.csv").read_bytes().decode("gb18030").splitlines()
    assert written[0].startswith("学号;姓名;题目;参考答案;学生答案;verdict;confidence")
    assert [line.split(";")[5] for line in written[1:]] == ["correct", "incorrect"]
    assert call("judge", "class.csv", *RULES) == 0
    err = capsys.readouterr().err
    assert "1 of 2 references look like several answers, such as '巴黎/Paris'; if any of" in err
    poem = CLASS.replace("法国首都是哪里？;巴黎/Paris", "作者是____，____代诗人。;李白/唐")
    Path("class.csv").write_bytes(poem.encode("gbk"))
    assert call("judge", "class.csv", *RULES) == 0
    assert "look like several" not in capsys.readouterr().err
    assert call("judge", "class.csv", *RULES, "--separator", "/") == 0
    err = capsys.readouterr().err
    assert "1 of 2 questions have as many blanks as accepted answers, such as '李白/唐'" in err


def test_columns_that_look_swapped_are_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In most rows the response is a short part of the reference."""
    rows = [{"reference": "We add two and two. So it is 4.", "response": "4"}] * 3
    alike = [dict.fromkeys(rows[0], "4")] * 2
    for name, given in (("usual.jsonl", [*alike, rows[0]]), ("back.jsonl", rows)):
        Path(name).write_text("\n".join(map(json.dumps, given)))
        assert call("judge", name, *RULES) == 0
        assert ("in 3 of 3 rows" in capsys.readouterr().err) is (name == "back.jsonl")


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")  # by other tests
def test_a_run_ends_with_the_score_and_what_would_help(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By hand: 32 of 64 decided, 16 correct: 25 to 75 %. The named command gives the interval."""
    hard = json.dumps({"reference": "gravity pulls", "response": "mass attracts other mass"})
    Path("in.jsonl").write_text(16 * (ROW + ROW.replace("is 4", "is 5") + f"{hard}\n" * 2))
    assert call("judge", "in.jsonl", "-o", "out.csv", *RULES) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:4] == [
        "score: between 25.0 and 75.0 % judged correct, as 32 (50.0 %) have no verdict, "
        "by type: text 32",
        "       of the 32 with a verdict 50.0 % judged correct; its interval: gradegpt report "
        "out.csv",
    ]
    assert [line.split("   ")[0].strip() for line in lines[-3:]] == [
        "to decide more, or to know the score:",
        "--judge cascade --model gradegpt-1.5b --overwrite",
        "gradegpt eval.estimate out.csv.judgements.jsonl --pick 60 -o labels.csv",
    ]  # fmt: skip
    assert call("report", "out.csv", "-o", "report.json") == 0
    share = json.loads(Path("report.json").read_text())["out"]["overall"]["accuracy"]
    assert share["interval"]["low"] < share["value"] == 0.5 < share["interval"]["high"]


@pytest.mark.parametrize(
    ("more", "advice"), [([], "; --min-confidence 0 asks it"), (["--max-error", "0.05"], "")]
)
def test_a_model_that_adds_nothing_is_said_not_to_be_asked(
    more: list[str], advice: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rules alone judge then; a bound on the error gives no verdict of the model either."""
    pytest.importorskip("scipy")
    Path("mine").mkdir()
    Path("mine/adapter_config.json").write_text('{"base_model_name_or_path": "gradegpt-nano"}')
    Path("mine/calibration.json").write_text('{"judge": "x", "after": ["rules"]}')
    open_ = '{"reference": "gravity pulls", "response": "mass attracts other mass"}\n'
    Path("in.jsonl").write_text(ROW + open_)
    assert call("judge", "in.jsonl", "-o", "out.jsonl", "--model", "mine", *more) == 0
    told = "mine is not asked: its calibration shows no gain for any type of answer"
    assert f"{told}{advice}\n" in capsys.readouterr().err


def test_with_a_bound_on_the_error_no_other_threshold_is_advised() -> None:
    """It replaces the least confidence, so that has to go with it."""
    settings = JudgeSettings.of(max_error=0.05, min_confidence=0)
    counts, left = Counts(n_items=1, n_undecided=1), Undecided(Counter(text=1), 1)
    advice = "\n".join(helps(settings, counts, left, Path("out.jsonl")))
    assert "  --min-confidence 0 --overwrite, without --max-error   gives the 1 verdicts" in advice


def test_a_class_list_is_judged(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each answer; the report reads the list likewise."""
    Path("class.csv").write_text("姓名,第1题,第2题\n参考答案,4,罗马\n安,5,罗马\n", encoding="utf-8")
    assert call("judge", "class.csv", "--map", "id=姓名", "-o", "out.csv", *RULES) == 0
    rows = list(csv.DictReader(Path("out.csv").read_text("utf-8-sig").splitlines()))
    assert [(row["姓名"], row["题目"], row["verdict"]) for row in rows] == [
        ("安", "第1题", "incorrect"), ("安", "第2题", "correct"),
    ]  # fmt: skip
    assert [item.response for item in read_judged([Path("out.csv")]).items] == ["5", "罗马"]
    Path("class.csv").write_text("姓名,第1题\n安,5\n", encoding="utf-8")
    assert call("judge", "class.csv", "-o", "other.csv", *RULES) == InputError.exit_code
    assert "answers of 第1题; write them into a row that is called key" in capsys.readouterr().err
    Path("class.csv").write_text("姓名,第1题,第2题\nkey,5,\n安,5,6\n", encoding="utf-8")
    assert call("judge", "class.csv", "-o", "part.csv", *RULES) == 0
    assert "class.csv: no reference answer of 第2题, not judged\n" in capsys.readouterr().err
    assert len(read_judged([Path("part.csv")]).items) == 1
    assert call("judge", "class.csv", "key.csv", "-o", "two.csv", *RULES) == 2
    assert "2 files are for --on ray; give one FILE: the reference" in capsys.readouterr().err


def test_labels_of_an_earlier_judging_are_not_used_without_a_word(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is said how to use them."""
    Path("in.csv").write_text("reference,response,label\n4,4,1\n4,5,\n", encoding="utf-8")
    for source, out, said in (("in.csv", "a.csv", False), ("a.csv", "b.csv", True)):
        assert call("judge", source, "-o", out, *RULES) == 0
        assert (
            "labels are not used; to use them: --labels a.csv" in capsys.readouterr().err
        ) is said


def test_labels_without_effect_are_said(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One graded answer decides itself, and no other."""
    hard = {"reference": "gravity pulls", "response": "mass attracts other mass"}
    rows = [hard, hard | {"response": "masses fall"}]
    Path("in.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    Path("graded.jsonl").write_text(json.dumps(hard | {"label": True}))
    assert call("judge", "in.jsonl", "-o", "out.jsonl", "--labels", "graded.jsonl") == 0
    said = capsys.readouterr().out
    assert "1 judged = 1 correct" in said
    assert "by type: text 1" in said
    assert "no open answer has 10 graded ones to its question" in said


def test_the_cost_of_a_row_is_said() -> None:
    """Of rows that a model was asked about: the tokens that it read and wrote."""
    summary = Summary(Path("x"), Counts(n_items=4, n_judged=4, n_correct=4), 0, 2.0)
    assert cost(summary, 4000, 10) == "2.0 s, 2 rows/s; a row: 1,000 tokens read, 2 written"
    assert cost(summary, 0, 0) == "2.0 s, 2 rows/s"


def test_progress_is_told_without_a_terminal(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line now and then, as a bar would fill a log."""
    monkeypatch.setattr(console, "EVERY_S", 0)
    Path("in.jsonl").write_text(ROW * 3)
    assert call("judge", "in.jsonl", "-o", "out.jsonl", *RULES) == 0
    assert capsys.readouterr().err.splitlines() == ["judging: 0 of 3", "judging: 3 of 3"]


def test_the_example_is_written_in_every_form_and_judged(here: Path) -> None:
    """A stranger's first commands."""
    for name in ("answers.csv", "answers.jsonl"):
        assert call("example", name) == 0
        assert call("judge", name, "-o", f"judged-{name}", *RULES) == 0
    assert call("example", "answers.csv") == OutputError.exit_code
    first, second = (check_input(name) for name in ("answers.csv", "answers.jsonl"))
    assert [i for _, i in first.items()] == [i for _, i in second.items()]
    assert first.columns.labels == ("label",)


def test_labels_of_another_table_are_no_column_of_the_rows(here: Path) -> None:
    """``--map label=COLUMN`` is read in the table of ``--labels``, the other fields in both."""
    Path("class.csv").write_text("question,reference,student\n2+2=?,4,It is 4.\n")
    rows = [f"2+2=?,4,answer {n},{n % 2}" for n in range(10)]
    Path("graded.csv").write_text("\n".join(["question,reference,student,mark", *rows]))
    maps = ("--map", "response=student", "--map", "label=mark")
    assert call("judge", "class.csv", "-o", "out.csv", "--labels", "graded.csv", *maps) == 0
