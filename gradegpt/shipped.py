"""What is shipped beside the code: judges by name, where their bases are, recipes and data.

A checkout has ``models/``, ``configs/`` and ``eval/data/`` at its top, the wheel in the package.

``nano`` is a base and an adapter of its own. Any other is an adapter, called as its folder is, for
a base that is too large to ship: it comes from the hub, or from a folder of bases on this machine.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

from gradegpt.errors import MissingError

NANO: Final = "nano"
"""Stands for the embedded base and its judge."""
BASES: Final = "GRADEGPT_BASES"
"""Environment variable: a folder with bases, each in a folder called by its name on the hub."""
ADAPTER_CONFIG: Final = "adapter_config.json"

_PACKAGE: Final = Path(__file__).resolve().parent
_ROOT: Final = _PACKAGE if (_PACKAGE / "configs").is_dir() else _PACKAGE.parent
_MODELS: Final = _ROOT / "models"
_RECIPES: Final = _ROOT / "configs"
_FILES: Final = ("configs", "eval/data")
"""Folders whose files are found from any working directory."""
_NANO: Final = {"base": "gradegpt-nano", "adapter": "gradegpt-nano-judge"}


def found(path: str) -> str:
    """``path`` as it is; where no such file is there, the shipped file of that name, if any."""
    shipped = _ROOT / path
    known = any(shipped.is_relative_to(_ROOT / folder) for folder in _FILES)
    return str(shipped) if known and shipped.is_file() and not Path(path).exists() else path


def recipe(name: str, stage: str) -> str:
    """The settings file ``name``, or a stage's shipped one of that name or path."""
    if name in recipes(stage) and not Path(name).is_file():
        return str(_RECIPES / stage / f"{name}.yaml")
    return found(name)


def recipes(stage: str) -> tuple[str, ...]:
    """The names of a stage's shipped recipes."""
    return tuple(sorted(path.stem for path in (_RECIPES / stage).glob("*.yaml")))


def judges() -> tuple[str, ...]:
    """The names that ``base_of`` and ``adapter_of`` know, as far as their folders are there."""
    adapters = {path.parent.name for path in _MODELS.glob(f"*/{ADAPTER_CONFIG}")}
    nano = {NANO} if _NANO["adapter"] in adapters else set()
    return tuple(sorted(nano | adapters - {_NANO["adapter"]}))


def base_of(model: str) -> str:
    """The folder or hub name of what ``model`` stands for; any other name as it is.

    Raises:
        MissingError: a shipped judge's folder, or the base that the environment promises, is not
            there.

    """
    if model in (NANO, _NANO["base"]):
        return str(_folder(_NANO["base"]))
    return base_named_by(_MODELS / model) if model in judges() else model


def base_named_by(adapter: Path) -> str:
    """The base that an adapter's folder names, in the folder of bases where there is one.

    Raises:
        MissingError: ``GRADEGPT_BASES`` is set, and the base is not there.

    """
    config = json.loads((adapter / ADAPTER_CONFIG).read_text(encoding="utf-8"))
    name: str = config["base_model_name_or_path"]
    if name == _NANO["base"]:
        return base_of(name)
    if not (bases := os.environ.get(BASES)):
        return name
    folder = Path(bases) / name.rpartition("/")[2]
    if not (folder / "config.json").is_file():
        raise MissingError(
            f"{folder}: no model there, though {BASES}={bases}; put {name} there, or unset the "
            "variable to take it from the hub"
        )
    return str(folder)


def adapter_of(name: str) -> str:
    """The folder of a shipped judge's adapter; any other name as it is.

    Raises:
        MissingError: as ``base_of``.

    """
    if name == NANO:
        return str(_folder(_NANO["adapter"]))
    return str(_MODELS / name) if name in judges() else name


def _folder(name: str) -> Path:
    path = _MODELS / name
    if not path.is_dir():
        raise MissingError(f"{path}: the embedded model is not there; set 'model' to another")
    return path
