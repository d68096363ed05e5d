"""The wheel: the library alone, and enough to judge by rules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]


def run(*arguments: str | Path, **variables: str) -> str:
    """Run Python in a folder that is not the checkout; its output."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False,
        cwd="/",
        env={**os.environ, **variables},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as a release is, with the build backend that is installed here."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    out = tmp_path_factory.mktemp("dist")
    run("-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT)
    (path,) = out.glob("gradegpt-*.whl")
    return path


def test_it_holds_the_library_and_nothing_else(wheel: Path) -> None:
    """Every module of ``gradegpt``; no stage, no test, no weights."""
    with ZipFile(wheel) as archive:
        names = {n for n in archive.namelist() if ".dist-info/" not in n}
        metadata = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        text = archive.read(metadata).decode()
        entries = archive.read(metadata.replace("METADATA", "entry_points.txt")).decode()
    library = ROOT / "gradegpt"
    assert names == {
        str(p.relative_to(ROOT)) for p in library.rglob("*") if p.suffix != ".pyc" and p.is_file()
    }
    assert "License-Expression: Apache-2.0" in text
    assert "gradegpt = gradegpt.cli:main" in entries


def test_installed_alone_it_judges_by_rules(wheel: Path, tmp_path: Path) -> None:
    """Into a folder of its own, away from the checkout."""
    run("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", tmp_path, wheel)
    code = (
        "import gradegpt, sys; from gradegpt.cli import main; print(gradegpt.__file__)\n"
        "sys.argv[1:] = ['judge', '--judge', 'rules', '--reference', '1/2']\n"
        "sys.argv += ['--response', '答案是0.5。']; main()"
    )
    out = run("-c", code, PYTHONPATH=str(tmp_path))
    assert out.splitlines()[0].startswith(str(tmp_path))
    assert "The answers agree: <Yes>" in out
    assert "verdict     correct" in out
