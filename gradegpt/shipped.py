"""The judges that a checkout ships under ``models/``, by name, and where their bases are.

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

_MODELS: Final = Path(__file__).resolve().parents[1] / "models"
_NANO: Final = {"base": "gradegpt-nano", "adapter": "gradegpt-nano-judge"}


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
        help_ = "it comes with a checkout. Set 'model' to another"
        raise MissingError(f"{path}: the embedded model is not there; {help_}")
    return path
