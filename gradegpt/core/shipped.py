"""Judges by name or folder and their bases; the recipes and data that are shipped with the code.

A checkout has ``models/``, ``configs/`` and ``eval/data/`` at its top, the wheel in the package.

A judge is an adapter, named by its folder, for a base that is too large to ship: it comes from the
hub, or from a folder of bases on this machine. The folder of a judge that ``gradegpt finetune``
made is named by its path. ``nano`` is a base of 3.7M parameters, on which the demo and the tests
train without a download.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Final

from gradegpt.core.errors import MissingError

NANO: Final = "nano"
"""The name of the built-in base, which is no judge."""
BASES: Final = "GRADEGPT_BASES"
"""Environment variable: a folder with bases, each in a folder with its name on the hub."""
ADAPTER_CONFIG: Final = "adapter_config.json"

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_ROOT: Final = _PACKAGE if (_PACKAGE / "configs").is_dir() else _PACKAGE.parent
_MODELS: Final = _ROOT / "models"
_RECIPES: Final = _ROOT / "configs"
_COMMAND: Final = re.compile(r"# gradegpt ([a-z][\w.]*)")
_FILES: Final = ("configs", "eval/data", "train/data")
"""Folders whose files can be named from any working directory."""
_NANO: Final = "gradegpt-nano"


def found(path: str) -> str:
    """``path`` itself if it exists, else the shipped file of that name, if there is one."""
    shipped = _ROOT / path
    known = any(shipped.is_relative_to(_ROOT / folder) for folder in _FILES)
    return str(shipped) if known and shipped.is_file() and not Path(path).exists() else path


def recipes() -> list[tuple[str, Path]]:
    """Every shipped recipe, after the command that it is for."""
    paths = sorted(_RECIPES.glob("*/*.yaml"))
    return [(command, path) for path in paths if (command := command_of(path))]


def command_of(recipe: Path) -> str:
    """The command in a recipe's first line, ``# gradegpt COMMAND FILE``; empty without one."""
    with recipe.open(encoding="utf-8", errors="replace") as lines:
        first = _COMMAND.match(lines.readline())
    return first[1] if first else ""


def judges() -> tuple[str, ...]:
    """The names of the shipped judges whose folders exist."""
    return tuple(sorted(path.parent.name for path in _MODELS.glob(f"*/{ADAPTER_CONFIG}")))


def is_judge(model: str) -> bool:
    """Whether the name is a shipped judge's, or that of a folder with an adapter and no base."""
    folder = Path(model)
    own = (folder / ADAPTER_CONFIG).is_file() and not (folder / "config.json").is_file()
    return own or model in judges()


def base_of(model: str) -> str:
    """The folder or hub name of a judge's base, or of another base; a name may be a folder's.

    Raises:
        MissingError: a judge's folder, or its base in ``GRADEGPT_BASES``, is not there.

    """
    if model in (NANO, _NANO):
        folder = _MODELS / _NANO
        if not folder.is_dir():
            raise MissingError(f"{folder}: the built-in base is not there; name another one")
        return str(folder)
    if is_judge(model):
        return base_named_by(Path(adapter_of(model)))
    folder = Path(os.environ.get(BASES, "")) / model.rpartition("/")[2]
    there = BASES in os.environ and (folder / "config.json").is_file()
    return str(folder) if there and not Path(model).is_dir() else model


def base_named_by(adapter: Path) -> str:
    """The base that an adapter's folder names: a folder, on the hub, or in the folder of bases.

    Raises:
        MissingError: ``GRADEGPT_BASES`` is set, and the base is not there; or a folder is gone.

    """
    config = json.loads((adapter / ADAPTER_CONFIG).read_text(encoding="utf-8"))
    name: str = config["base_model_name_or_path"]
    if name == _NANO:
        return base_of(name)
    if Path(name).is_dir():
        return name
    if not (bases := os.environ.get(BASES)):
        if Path(name).is_absolute():
            raise MissingError(
                f"{adapter}: its base {name} is not there; put it back, or set {BASES} to the "
                f"folder that has {Path(name).name}"
            )
        return name
    folder = Path(bases) / name.rpartition("/")[2]
    if not (folder / "config.json").is_file():
        raise MissingError(
            f"{folder}: there is no model, but {BASES}={bases}; put {name} there, or unset the "
            "variable to use the hub"
        )
    return str(folder)


def adapter_of(name: str) -> str:
    """The folder of a shipped judge's adapter; any other name unchanged."""
    return str(_MODELS / name) if name in judges() else name
