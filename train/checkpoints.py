"""Checkpoints that are whole or not used, and whether a run may resume from one.

A checkpoint is many files, and a run can be killed between any two. The last file written to each
is its stamp: the sizes of the other files and the settings that shape the weights. A checkpoint
without a stamp, or with other sizes, is incomplete, and the one before it is used. With other
settings the run refuses to resume, because the weights would come from two different runs.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradegpt.core.errors import SettingsError
from gradegpt.core.records import write_json

_log = logging.getLogger(__name__)

STAMP: Final = "gradegpt-run.json"
_FOLDER: Final = re.compile(r"checkpoint-(\d+)")


class Plan(NamedTuple):
    """The settings that shape the weights, and the number of steps."""

    shaping: dict[str, Any]
    steps: int


class Checkpoint(NamedTuple):
    """A complete checkpoint; ``finished`` if training ended with it, after ``seconds`` in all."""

    path: Path
    step: int
    finished: bool
    seconds: float


def write_stamp(folder: Path, plan: Plan, *, finished: bool, seconds: float) -> None:
    """Write the stamp of a checkpoint whose other files are all written."""
    stamp = {
        "shaping": plan.shaping,
        "steps": plan.steps,
        "finished": finished,
        "seconds": seconds,
        "files": _sizes(folder),
    }
    write_json(folder / STAMP, stamp)


def resume_point(out: Path, plan: Plan) -> Checkpoint | None:
    """The last complete checkpoint in ``out``, or None.

    Raises:
        SettingsError: the checkpoint was made with other settings that shape the weights.

    """
    found = last_complete(out)
    if found is None:
        return None
    checkpoint, stamp = found
    changed = _changes(stamp["shaping"], plan.shaping)
    if plan.steps != stamp["steps"]:
        changed.append(f"steps in all {stamp['steps']} (now {plan.steps})")
    if changed:
        raise SettingsError(
            f"{checkpoint.path}: was made with {', '.join(changed)}; resume with the same "
            f"settings, set another out, or remove {out} to restart"
        )
    return checkpoint


def last_complete(out: Path) -> tuple[Checkpoint, dict[str, Any]] | None:
    """The last complete checkpoint in ``out`` and its stamp, or None."""
    from accelerate import PartialState

    for step, folder in reversed(checkpoints(out)):
        wrong = why_incomplete(folder)
        if wrong is None:
            stamp = json.loads((folder / STAMP).read_text(encoding="utf-8"))
            return Checkpoint(folder, step, stamp["finished"], stamp.get("seconds", 0.0)), stamp
        if PartialState().is_main_process:
            _log.warning("%s: incomplete (%s); the checkpoint before it is used", folder, wrong)
    return None


def why_incomplete(folder: Path) -> str | None:
    """Why the checkpoint is incomplete; None where it is complete."""
    if not (folder / STAMP).is_file():
        return f"no {STAMP}"
    sizes = json.loads((folder / STAMP).read_text(encoding="utf-8"))["files"]
    now = _sizes(folder)
    return next(
        (f"{name} is cut off" for name, size in sizes.items() if now.get(name) != size), None
    )


def _sizes(folder: Path) -> dict[str, int]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != STAMP)
    return {str(path.relative_to(folder)): path.stat().st_size for path in files}


def checkpoints(out: Path) -> list[tuple[int, Path]]:
    """The checkpoints of a run with their steps, first to last, including incomplete ones."""
    named = ((_FOLDER.fullmatch(path.name), path) for path in out.glob("checkpoint-*"))
    return sorted((int(match[1]), path) for match, path in named if match and path.is_dir())


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [
        f"{name}={_short(before.get(name))} (now {_short(now.get(name))})"
        for name in sorted(before.keys() | now.keys())
        if before.get(name) != now.get(name)
    ]


def _short(value: Any) -> str:
    text = str(value)
    return f"{text[:12]}…" if len(text) > 40 else text
