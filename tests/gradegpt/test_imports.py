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


def test_judging_by_rules_loads_no_heavy_package() -> None:
    """From the item to the verdict."""
    code = (
        "import gradegpt.judges.build, gradegpt.app.run\n"
        "from gradegpt.judges.rules import RuleJudge; from gradegpt.core.schema import Item\n"
        "RuleJudge().judge([Item(reference=('1/2',), response='The answer is 0.5.')])"
    )
    assert not (HEAVY | {"typer", "rich"}) & loaded_by(code)
