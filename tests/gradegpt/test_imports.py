"""Heavy packages are imported only where they are used."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import gradegpt

ROOT = Path(__file__).parents[2]
HEAVY = {
    "accelerate", "datasets", "fastapi", "fsspec", "httpx2", "jinja2", "numpy", "openai", "peft",
    "pyarrow", "ray", "sklearn", "starlette", "sympy", "tokenizers", "torch", "transformers",
    "trl", "uvicorn",
}  # fmt: skip


def loaded_by(code: str) -> set[str]:
    """The top-level modules that ``code`` loads in a separate process."""
    report = "import sys; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_else() -> None:
    """Not even the packages of the command line."""
    assert not (HEAVY | {"typer", "rich", "pydantic", "yaml"}) & loaded_by("import gradegpt")


def test_no_module_of_the_library_loads_a_heavy_package() -> None:
    """Also no engine: torch is imported by the first local engine, not by its module.

    ``judges.statistics`` and ``judges.promise`` need numpy; they are imported where used.
    """
    modules = [m.name for m in pkgutil.walk_packages(gradegpt.__path__, "gradegpt.")]
    for name in ("judges.promise", "judges.statistics"):
        modules.remove(f"gradegpt.{name}")
    assert "gradegpt.engines.local" in modules
    assert not HEAVY & loaded_by(f"import {', '.join(modules)}")


def test_the_command_judges_by_rules_without_a_stage_or_a_heavy_package() -> None:
    """By a cascade, whose model is loaded when it is first asked; without an installation."""
    code = (
        "import contextlib, io, runpy, sys\n"
        "sys.argv[1:] = ['judge', '--reference', '1/2', '--response', 'The answer is 0.5.']\n"
        "with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):\n"
        "    runpy.run_module('gradegpt', run_name='__main__')\n"
        "assert 'verdict     correct' in said.getvalue()"
    )
    stages = {"data_gen", "train", "eval", "serve"}
    assert not (HEAVY | stages) & loaded_by(code)
