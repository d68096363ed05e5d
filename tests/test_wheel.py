"""The wheel, installed outside the checkout."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from zipfile import ZipFile

import pytest

from gradegpt.app.stages import COMMANDS

ROOT = Path(__file__).parents[1]
SHIPPED = ("data_gen", "train", "eval", "serve", "models", "configs")
"""Folders at the top of a checkout that are inside the package in the wheel."""
PATH = f"import sys; sys.path = [p for p in sys.path if p not in ('', {str(ROOT)!r})]\n"
"""The environment may also have the checkout on its path, which must not be used."""
PROGRAM = f"{PATH}from gradegpt.app.cli import main; main()"
"""The installed command."""


def start(code: str, *arguments: str, target: Path, cwd: Path) -> subprocess.Popen[str]:
    """Run Python in a folder that is not the checkout, with the installed wheel first."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(target), "HF_HUB_OFFLINE": "1", "COLUMNS": "120"},
    )  # fmt: skip


def gradegpt(*commands: str, target: Path, cwd: Path) -> str:
    """The output of the installed command, called with each of the lines in one process."""
    code = (
        f"{PATH}import shlex; from gradegpt.app.cli import main\n"
        "for line in sys.argv[1:]:\n"
        "    sys.argv[1:] = shlex.split(line)\n"
        "    try: main()\n"
        "    except SystemExit as ended: assert not ended.code, line\n"
        "print(*{module.split('.')[0] for module in sys.modules})\n"
    )
    process = start(code, *commands, target=target, cwd=cwd)
    out, err = process.communicate()
    assert process.returncode == 0, out + err
    return out


BUILD = """
import sys, zlib
import hatchling.build

make = zlib.compressobj
zlib.compressobj = lambda level=-1, *more, **named: make(1, *more, **named)
hatchling.build.build_wheel(sys.argv[1])
"""
"""Compresses the models at the lowest level: the default takes three times as long."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as a release is, by the installed build backend."""
    pytest.importorskip("hatchling")
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-c", BUILD, str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = out.glob("gradegpt-*.whl")
    return path


@pytest.fixture(scope="module")
def target(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that it is installed into, as pip would, without its dependencies."""
    folder = tmp_path_factory.mktemp("target")
    with ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_it_contains_the_package_with_its_stages_models_and_configs(wheel: Path) -> None:
    """All their files and no others: no tests, no documents, and one name at the top."""
    with ZipFile(wheel) as archive:
        names = {n for n in archive.namelist() if ".dist-info/" not in n}
        metadata = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        text = archive.read(metadata).decode()
        entries = archive.read(metadata.replace("METADATA", "entry_points.txt")).decode()
    here = [p for folder in ("gradegpt", *SHIPPED) for p in (ROOT / folder).rglob("*")]
    files = {p.relative_to(ROOT) for p in here if p.is_file() and p.suffix != ".pyc"}
    inside = {p if p.parts[0] == "gradegpt" else Path("gradegpt", p) for p in files}
    assert names == {str(path) for path in inside}
    assert {name.partition("/")[0] for name in names} == {"gradegpt"}
    assert "License-Expression: Apache-2.0" in text
    assert "gradegpt = gradegpt.app.cli:main" in entries


def test_every_command_has_its_help(target: Path, tmp_path: Path) -> None:
    """All in one process, which shows that none loads a stage of the checkout, or torch."""
    called = ("--help", *(f"{name} --help" for name in COMMANDS))
    *helps, loaded = gradegpt(*called, target=target, cwd=tmp_path).splitlines()
    usages = [line.split()[2] for line in helps if line.startswith("Usage: gradegpt ")]
    assert usages == ["[OPTIONS]", *COMMANDS]
    assert not {"data_gen", "train", "eval", "serve", "torch"} & {*loaded.split()}
    for name in ("judge", "example", *COMMANDS):
        assert any(line.startswith(f"  {name} ") for line in helps), name


def test_it_judges_a_table_and_the_log_of_another_tool(target: Path, tmp_path: Path) -> None:
    """Columns have other names; old scores are compared with new ones, again by ``report``."""
    (tmp_path / "in.csv").write_text("Prompt,gold,output\nHalf of one?,0.5,答案是1/2。\n")
    (log,) = (ROOT / "tests" / "data" / "logs" / "lm_eval").glob("samples_sums_*.jsonl")
    out = gradegpt(
        "judge in.csv -o out.csv --judge rules",
        f"judge '{log}' -o out.jsonl --judge rules",
        "report out.jsonl",
        target=target, cwd=tmp_path,
    )  # fmt: skip
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (row["Prompt"], row["verdict"], row["method"]) == ("Half of one?", "correct", "rules")
    assert out.count("all (exact_match,strict): 4 rows; correct, on all: 25.0 -> 100.0 %") == 2
    assert (tmp_path / "report.html").is_file()


def test_rows_are_made_and_judges_measured_by_shipped_recipes(target: Path, tmp_path: Path) -> None:
    """By name and by path; rows are read from the package, results written to the folder."""
    out = gradegpt(
        "data demo bank=1 parametric=20 workers=1",
        "eval configs/eval/handmade.yaml 'judges=[{kind: rules}]' bootstrap=20",
        target=target, cwd=tmp_path,
    )  # fmt: skip
    assert (tmp_path / "data" / "demo" / "manifest.json").is_file()
    assert "report: runs/handmade/report.html" in out
    report = json.loads((tmp_path / "runs" / "handmade" / "report.json").read_text())
    assert report["judges"][0]["overall"]["accuracy"] == 1


def test_it_serves(target: Path, tmp_path: Path) -> None:
    """With the page, and a judge in a separate process; SIGTERM ends it with exit code 0."""
    arguments = ("serve", "cascade", "judge={kind: rules}", "port=0", "workers=1")
    server = start(PROGRAM, *arguments, target=target, cwd=tmp_path)
    try:
        assert server.stdout is not None
        found = re.match(r"ready: (\S+)", server.stdout.readline())
        assert found, server.communicate()[1]

        def ask(path: str, body: bytes | None = None) -> str:
            with urllib.request.urlopen(found[1] + path, body, timeout=30) as reply:
                return str(reply.read().decode())

        assert json.loads(ask("/health"))["status"] == "ok"
        item = {"question": "2+2=?", "reference": "4", "response": "The answer is 4."}
        judged = json.loads(ask("/v1/judge", json.dumps(item).encode()))["judgement"]
        assert judged["verdict"] == "correct"
        assert "<html" in ask("/")
    finally:
        server.send_signal(signal.SIGTERM)
        _, err = server.communicate(timeout=30)
    assert (server.returncode, err) == (0, "")


@pytest.mark.slow
def test_it_trains_and_merges_the_demo(target: Path, tmp_path: Path) -> None:
    """From labels to a judge to one model, all in the working directory."""
    labels = "train/data/policy.csv --base nano -o judges/demo sft.max_steps=2"
    out = gradegpt(f"finetune {labels}", target=target, cwd=tmp_path)
    assert "gradegpt serve judges/demo" in out
    gradegpt("train.merge judges/demo -o runs/whole", target=target, cwd=tmp_path)
    item = "--reference 4 --response 'The answer is 4.'"
    for model in ("--model runs/whole", "--model judges/demo", ""):
        out = gradegpt(f"judge {model} {item}", target=target, cwd=tmp_path)
        assert "verdict     correct" in out
