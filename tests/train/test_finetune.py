"""``gradegpt finetune``: from labels to a judge by its path, resumed anywhere."""

from __future__ import annotations

import contextlib
import csv
import importlib.util
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from data_gen import attacks
from data_gen.attacks import attack_rows
from gradegpt.app import cli
from gradegpt.core.errors import MissingError
from gradegpt.core.records import write_json, write_rows
from gradegpt.core.schema import ChainFormat, Item, Verdict
from gradegpt.core.shipped import base_of, is_judge
from gradegpt.engines import local
from gradegpt.judges import build
from gradegpt.judges.settings import JudgeSettings
from tests.data_gen.answers import check_rows
from tests.data_gen.teacher_parts import teacher_of
from tests.data_gen.teacher_server import serving
from train import finetune as module
from train.summary import conclusion

pytestmark = pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")

Run = Callable[..., tuple[int, str, str]]
FAST = ("--base", "nano", "--format", "tag", "sft.max_steps=2", "rows_per_step=4")


def rows(questions: int = 12, each: int = 4) -> list[dict[str, Any]]:
    """Answers of which half are right."""
    return [
        {
            "question": f"Where is parcel {q}?",
            "reference": f"shelf {q}",
            "response": f"It is on shelf {q if n % 2 else q + 30}, I think ({n}).",
            "label": "yes" if n % 2 else "no",
        }
        for q in range(questions)
        for n in range(each)
    ]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The working directory of all commands here."""
    folder, before = tmp_path_factory.mktemp("finetune"), Path.cwd()
    write_rows(folder / "graded.jsonl", rows())
    os.chdir(folder)
    yield folder
    os.chdir(before)


def command(*arguments: str) -> int:
    """The exit code of a command that runs in this process."""
    before = sys.argv
    with pytest.raises(SystemExit) as ended:
        cli.run(cli.app, arguments, name="gradegpt")
    sys.argv = before
    return int(ended.value.code or 0)


def fast(patch: pytest.MonkeyPatch) -> None:
    """Steps run in this process, few attacks are made, and a model is loaded once."""
    patch.setattr(module.subprocess, "run", step)
    patch.setattr(module, "ATTACKS", 1)
    patch.setattr(attacks, "attack_rows", lambda given: islice(attack_rows(given), 24))
    patch.setattr(local, "_load", cache(local._load))


def step(words: list[str], **_: Any) -> Any:
    """A step of the command, in this process, which has the packages loaded."""
    return subprocess.CompletedProcess(words, command(*words[3:]))


@pytest.fixture
def run(work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command: exit code, output and errors."""
    fast(monkeypatch)

    def ran(*arguments: str) -> tuple[int, str, str]:
        code = command("finetune", *arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return ran


@pytest.fixture(scope="module")
def judge(work: Path) -> Path:
    """A judge that the command made; its output is in ``said.txt``."""
    with pytest.MonkeyPatch.context() as patch, io.StringIO() as said:
        fast(patch)
        with contextlib.redirect_stdout(said):
            assert command("finetune", "graded.jsonl", *FAST, "-o", "mine") == 0
        (work / "said.txt").write_text(said.getvalue(), encoding="utf-8")
    return work / "mine"


def test_the_folder_is_a_judge_by_its_path(judge: Path) -> None:
    """With its base, prompt settings and calibration: any command takes it as a model."""
    assert is_judge(str(judge))
    assert base_of(str(judge)) == base_of("nano")
    made = build.build_judge(JudgeSettings.of(kind="model", model=str(judge)))
    (found,) = made.judge([Item(question="Where?", reference=("shelf 1",), response="shelf 1")])
    assert found.outcome == "judged"
    assert found.chain in ("<Yes>", "<No>")
    names = {path.name for path in judge.iterdir()}
    assert names >= {"README.md", "calibration.json", "report.html", "report.json", "manifest.json"}
    assert not list(judge.rglob("checkpoint-*"))


def test_a_base_that_was_moved_is_found_in_the_folder_of_bases(
    judge: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the message names the base and the variable."""
    mine = Path(shutil.copytree(judge, tmp_path / "mine"))
    config = json.loads((mine / "adapter_config.json").read_text(encoding="utf-8"))
    config["base_model_name_or_path"] = "/nowhere/base"
    (mine / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(MissingError, match="its base /nowhere/base is not there; put it back, or"):
        base_of(str(mine))
    (tmp_path / "bases" / "base").mkdir(parents=True)
    (tmp_path / "bases" / "base" / "config.json").write_text("{}")
    monkeypatch.setenv("GRADEGPT_BASES", str(tmp_path / "bases"))
    assert base_of(str(mine)) == str(tmp_path / "bases" / "base")


def test_the_last_lines_say_what_came_out_and_how_to_use_it(judge: Path, work: Path) -> None:
    """Every figure is that of the report, and both commands name the folder."""
    said = (work / "said.txt").read_text(encoding="utf-8")
    report = json.loads((judge / "report.json").read_text(encoding="utf-8"))
    manifest = json.loads((judge / "manifest.json").read_text(encoding="utf-8"))
    lines = list(conclusion(report, manifest, "mine"))
    assert said.endswith("\n".join(lines) + "\n")
    assert "gradegpt serve mine" in "\n".join(lines)
    card = (judge / "README.md").read_text(encoding="utf-8")
    assert lines[-1].strip() in card
    assert card.index("## Measured") < card.index("## Data") < card.index("eval_loss")
    assert "--judge model" not in card
    assert report["name"] == "judge mine"
    assert "have a chain" not in said
    assert any("held-out answers" in line for line in lines)


def test_a_finished_judge_is_not_overwritten(judge: Path, run: Run) -> None:
    """The error names the folder and what to do."""
    code, _, err = run("graded.jsonl", *FAST, "-o", "mine")
    assert (code, err) == (
        3, "error: mine: holds a finished judge; choose another -o, or remove the folder\n"
    )  # fmt: skip


def test_a_missing_package_is_said_before_the_data_is_split(
    run: Run, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of those that any step needs, with the extra to install."""
    real = importlib.util.find_spec

    def lacking(name: str, *rest: Any) -> Any:
        return None if name == "scipy" else real(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", lacking)
    code, _, err = run("graded.jsonl", *FAST, "-o", "lacking")
    assert (code, err) == (2, "error: not installed: scipy; pip install 'gradegpt[train]'\n")
    assert not (work / "lacking").exists()


def test_a_run_that_lost_its_end_is_completed_with_the_same_figures(
    judge: Path, work: Path, run: Run
) -> None:
    """Whatever the last steps had written, the same command ends with the same report."""
    other = work / "lost"
    shutil.copytree(judge, other)
    (other / "manifest.json").unlink()
    for name in ("data", "eval"):
        shutil.rmtree(other / "work" / name)
    begun = json.loads((other / "work" / "begun.json").read_text(encoding="utf-8"))
    (other / "work" / "begun.json").write_text(json.dumps(begun | {"out": other.name}))
    code, _, err = run("graded.jsonl", *FAST, "-o", other.name)
    assert code == 0, err
    figures = [
        [j["overall"] for j in json.loads((f / "report.json").read_text())["judges"]]
        for f in (judge, other)
    ]
    assert figures[0] == figures[1]


@pytest.mark.slow
def test_a_killed_run_ends_with_the_same_figures(work: Path) -> None:
    """SIGKILL while splitting, in a step of training and while measuring; then the same command."""
    words = [sys.executable, "-m", "gradegpt", "finetune", "graded.jsonl", *FAST]
    words += ["sft.max_steps=30", "sft.save_steps=5"]
    subprocess.run([*words, "-o", "undisturbed"], check=True)
    begun = ("work/data/examples", "work/train/checkpoint-10/gradegpt-run.json", "work/eval")
    for wanted in (work / "killed" / name for name in begun):
        process = subprocess.Popen([*words, "-o", "killed"], start_new_session=True)
        while not wanted.exists() and process.poll() is None:
            time.sleep(0.05)
        assert process.poll() is None, f"ended before {wanted}"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run([*words, "-o", "killed"], check=True)
    made = [(work / name / "work" / "eval" / "report.json") for name in ("undisturbed", "killed")]
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in made]
    assert [j["overall"] for j in reports[0]["judges"]] == [
        j["overall"] for j in reports[1]["judges"]
    ]
    assert reports[0]["pairs"] == reports[1]["pairs"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("none.csv", *FAST), "none.csv: no such file"),
        (("graded.jsonl", "--base", "./nowhere"), "./nowhere: no such model folder"),
        (("graded.jsonl",), "base: missing; name a chat model"),
        (("graded.jsonl", *FAST, "lora_rnk=3"), "unknown setting 'lora_rnk'; did you mean"),
        (("eight.jsonl", *FAST), "8 labelled answers to 2 questions"),
        (("one.jsonl", *FAST), "all 48 labels are 'correct'"),
        (
            ("bare.jsonl", *FAST),
            "--map label=COLUMN, or let a model label the rows: gradegpt finetune --teacher MODEL",
        ),
    ],
    ids=["no file", "no base", "no base named", "setting", "eight rows", "one class", "no labels"],
)
def test_a_wrong_input_is_one_line_that_helps(
    run: Run, work: Path, arguments: tuple[str, ...], said: str
) -> None:
    """Before anything is trained, and without a folder that is in the way afterwards."""
    write_rows(work / "eight.jsonl", rows()[:8])
    write_rows(work / "one.jsonl", [row | {"label": 1} for row in rows()])
    write_rows(work / "bare.jsonl", [{k: v for k, v in r.items() if k != "label"} for r in rows()])
    code, _, err = run(*arguments, "-o", "wrong")
    assert code == 2
    (line,) = [line for line in err.splitlines() if line.startswith("error: ")]
    assert said in line
    assert not list((work / "wrong").rglob("*.jsonl"))


def test_a_folder_of_something_else_is_left_alone(run: Run, work: Path) -> None:
    """Nothing is written into it."""
    (work / "notes").mkdir()
    (work / "notes" / "a.txt").write_text("mine")
    code, _, err = run("graded.jsonl", *FAST, "-o", "notes")
    assert code == 3
    assert "no run of finetune made it" in err
    assert [path.name for path in (work / "notes").iterdir()] == ["a.txt"]


def test_another_command_in_the_folder_of_a_stopped_run_is_refused(
    judge: Path, work: Path, run: Run
) -> None:
    """The message names what differs."""
    (work / "begun" / "work").mkdir(parents=True)
    shutil.copyfile(judge / "work" / "begun.json", work / "begun" / "work" / "begun.json")
    code, _, err = run("graded.jsonl", *FAST, "--seed", "1", "-o", "begun")
    assert code == 2
    assert "was begun with another out, seed; give the same command" in err


def test_a_teacher_labels_a_table_without_labels(
    run: Run, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chains with English in nearly all Chinese rows, and a sheet for a person without verdicts."""
    usage = shutil.disk_usage(work)._replace(free=1000)  # so that it stops before training
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: usage)
    lines = ["题目,标准答案,作答"]
    for n in range(60):
        shelf, said = f"{n // 5}号架", ("{1}，错不了。", "想起来了。\n第{0}次来，就在{1}吧。")
        given = said[n % 2].format(n, shelf if n % 3 else f"{n}楼")
        lines.append(f'{n // 5}号包裹在哪儿？,{shelf},"{given}"')
    (work / "bare.csv").write_text("\n".join(lines), encoding="utf-8")
    with serving(teacher_of(lambda item: item.reference[0] in item.response)) as server:
        url = ("--teacher", "m", "--teacher-url", server.base_url)
        code, _, err = run("bare.csv", "--base", "nano", *url, "-o", "taught")
    assert code == 3
    assert "taught: the disk has 0.00 GB free, and checkpoints and reports need" in err
    assert re.search("m labels 60 answers: 5. requests", err)
    data = work / "taught" / "work" / "data"
    counts = json.loads((data / "manifest.json").read_text(encoding="utf-8"))["counts"]
    assert (counts["test"], counts["dev"] > 5, counts["train"] > 20) == (0, True, True)
    assert check_rows(data)[ChainFormat.CROSS_LINGUAL] >= 0.8 * counts["train"]
    sheet = list(csv.DictReader(io.StringIO((data / "to_label.csv").read_text("utf-8-sig"))))
    assert len(sheet) == counts["sheet"] > 5
    assert {row["label"] for row in sheet} == {""}
    assert not any(verdict in row.values() for row in sheet for verdict in Verdict)


def test_that_nothing_was_measured_is_said_plainly() -> None:
    """Whose labels they are, what to label, and how to measure then; no figure of the judge."""
    made = MADE | {"options": {"teacher": "big-one"}, "data": {"counts": {"sheet": 60}}}
    first, then, *rest = conclusion(None, made, "mine")
    assert first.startswith("NOTHING WAS MEASURED: every label is one of big-one's")
    assert then.startswith("Label the 60 answers of mine/to_label.csv (column label: correct or")
    assert rest[0] == "  gradegpt eval mine/to_label.csv --model mine"
    assert "  gradegpt serve mine" in rest
    assert "balanced accuracy" not in "\n".join(rest)


def figures(balanced: float, **changes: Any) -> dict[str, Any]:
    """A judge's figures over 100 rows."""
    return {
        "n_items": 100, "n_questions": 50, "n_judged": 100, "balanced_accuracy_all": balanced,
        "kappa": 0.5, "auc": 0.8, "balanced_accuracy": 0.8, "intervals": {}, "recall": 0.6,
        "bias": -0.2, "even": 0.3,
    } | changes  # fmt: skip


def report(value: float, low: float, high: float) -> dict[str, Any]:
    """The report of a tuned judge that differs by so much from its base."""
    shares = {"untrained": 0.5, "tuned": 0.5 + value, "cascade": 0.6, "cascade-all": 0.6}
    return {
        "judges": [{"name": name, "overall": figures(share)} for name, share in shares.items()],
        "pairs": [
            {"a": "untrained", "b": "tuned",
             "difference": {"value": value, "interval": {"low": low, "high": high}}}
        ],
    }  # fmt: skip


MADE: dict[str, Any] = {
    "attacks": {"tuned": {"n": 100, "accepted": 3, "rate": 0.03, "high": 0.08, "exceeds": "3 of"}},
    "use": "cascade",
    "why": "so",
}


def test_better_is_said_with_its_interval() -> None:
    """By how many points, and that it is better."""
    good = report(0.2, 0.1, 0.3)
    text = "\n".join(conclusion(good, MADE, "mine"))
    assert "is better than untrained, its base alone: +20.0 points (10.0 to 30.0)" in text
    assert "ABOVE THE BOUND: 3 of" in text
    bias = "It rejects too easily: 60.0 % of the right accepted, 80.0 % of the wrong rejected"
    assert f"{bias}; with the threshold 0.3 these are equal." in text


def test_what_the_recommended_judge_leaves_open_is_said_and_why() -> None:
    """What it decides and how often rightly, what is not measured, and the one that decides all."""
    good = report(0.2, 0.1, 0.3)
    good["judges"][2]["overall"] |= {"n_judged": 84, "balanced_accuracy": 0.95}
    lines = list(conclusion(good, MADE, "mine"))
    ends = {line.split()[0]: line.split("AUC ")[1].split(";")[0] for line in lines[2:6]}
    assert ends == dict.fromkeys(ends, "0.80") | {"cascade": "0.80 on the 84 decided"}
    start = lines.index(
        "Use cascade (so): it decides 84 of 100, balanced accuracy there 95.0, kappa 0.50."
    )
    assert "The 16 left open" in lines[start + 1]
    assert "cascade-all (--min-confidence 0); it decides 100 of 100, balanced" in lines[start + 2]
    assert not any("left open" in line for line in conclusion(report(0.2, 0.1, 0.3), MADE, "mine"))


def test_not_better_is_said_with_what_would_help() -> None:
    """It may still be used."""
    text = "\n".join(conclusion(report(0.05, -0.05, 0.15), MADE, "mine"))
    assert "It is not shown that tuned, the model alone, is better" in text
    assert "Label more, or try a larger --base" in text
    assert "gradegpt serve" in text


def test_worse_is_said_and_not_recommended() -> None:
    """No command to use it."""
    text = "\n".join(conclusion(report(-0.1, -0.15, -0.05), MADE, "mine"))
    assert "WORSE than untrained, its base alone: -10.0 points" in text
    assert "gradegpt serve" not in text


def test_the_share_of_the_frequent_label_recommends_nothing() -> None:
    """Of 160 right and 18 wrong answers 91.3 % are right by calling nearly all of them correct."""
    made, ends = report(0.02, -0.01, 0.05), {"kappa": {"low": -0.02, "high": 0.3}}
    every = made["judges"][3]["overall"]
    every |= {"accuracy": 0.913, "balanced_accuracy": 0.54, "kappa": 0.13, "intervals": ends}
    text = "\n".join(conclusion(made, MADE | {"use": "cascade-all"}, "mine"))
    assert "DO NOT USE IT YET: cascade-all (so) decides 100 of 100, balanced accuracy" in text
    assert "91.3" not in text
    assert "gradegpt serve" not in text


def test_a_judge_above_the_bound_of_attacks_is_recommended_with_a_warning() -> None:
    """Where somebody may try to deceive it, it is not to be used."""
    above = {"cascade": {"n": 9, "accepted": 3, "rate": 0.3, "high": 0.7, "exceeds": "3 of 9"}}
    text = "\n".join(conclusion(report(0.2, 0.1, 0.3), MADE | {"attacks": above}, "mine"))
    assert "It is above the bound of attacks: only where nobody tries to deceive it." in text


@pytest.mark.parametrize(
    ("decided", "agree", "weights", "wanted"),
    [
        (50, 48, True, "cascade"), (50, 48, False, "cascade-all"), (50, 30, True, "tuned"),
        (2, 1, True, "cascade"), (200, 190, True, "cascade"),
    ],
    ids=["agree", "not measured", "contradict", "too few to say", "a few in many"],
)  # fmt: skip
def test_the_judge_to_use_is_chosen_by_train_and_dev(
    decided: int, agree: int, weights: bool, wanted: str, tmp_path: Path
) -> None:
    """By the labels that the rules contradict, and by what was measured of the model."""
    known = {"text en": {}} if weights else {}
    text = json.dumps({"judge": "model", "weights": known})
    (tmp_path / "calibration.json").write_text(text, encoding="utf-8")
    rules = {"rules": {"decided": decided, "agree": agree}}
    assert module._to_use(tmp_path, rules)[0] == wanted


def test_rules_that_contradict_the_labels_leave_the_model_alone() -> None:
    """The commands then ask the model alone; with fifty held-out labels one certifies it."""
    lines = list(conclusion(report(0.2, 0.1, 0.3), MADE | {"use": "tuned"}, "mine"))
    assert lines[-3:] == [
        "  gradegpt judge answers.csv -o judged.csv --model mine --judge model",
        "  gradegpt serve mine judge.kind=model",
        "  gradegpt eval mine/work/data/examples/test.jsonl --model mine --judge model "
        "--certify 0.9",
    ]


@pytest.mark.parametrize(("free_gb", "recomputes"), [(80, False), (0.5, True)])
def test_a_gpu_recomputes_layers_only_where_its_memory_is_short(
    base: Path, judge_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    free_gb: float, recomputes: bool,
) -> None:  # fmt: skip
    """By the estimate of the activations, with room for what it leaves out."""
    import torch

    from train.plan import chosen

    (tmp_path / "train.jsonl").write_bytes((judge_data / "train.jsonl").read_bytes())
    write_json(tmp_path / "manifest.json", {"counts": {"chains": 0}})
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (free_gb * 1e9, 80e9))
    given = {"name": "x", "data": str(tmp_path), "model": str(base / "model"), "adapter": ""}
    made = chosen(given, 0)
    assert (made["sft"]["gradient_checkpointing"], made["qlora"]) == (recomputes, False)
