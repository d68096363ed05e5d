"""Callbacks of the trainer: complete checkpoints, early stopping, and the training speed.

A checkpoint is many files, and a run can be killed between any two. The last file written to each
is its stamp: the sizes of the other files and the settings that shape the weights. A checkpoint
without a stamp, or with other sizes, is incomplete, and the one before it is used. With other
settings the run refuses to resume, because the weights would come from two different runs.
"""
# ruff: noqa: TID253  this module is imported only where training runs

from __future__ import annotations

import json
import logging
import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from accelerate import PartialState
from peft import load_peft_weights, set_peft_model_state_dict
from transformers import TrainerCallback, TrainerState
from transformers.trainer import TRAINER_STATE_NAME

from gradegpt.errors import SettingsError
from gradegpt.records import write_json

from .memory import TRIM_EVERY, trim

_log = logging.getLogger(__name__)

STAMP: Final = "gradegpt-run.json"
_FOLDER: Final = re.compile(r"checkpoint-(\d+)")


class Plan(NamedTuple):
    """The settings that shape the weights, and the number of steps."""

    shaping: dict[str, Any]
    steps: int


class Checkpoint(NamedTuple):
    """A complete checkpoint; ``finished`` if training ended with it."""

    path: Path
    step: int
    finished: bool


class Stamp(TrainerCallback):  # type: ignore[misc]  # transformers is not followed
    """Writes the stamp into every checkpoint after all processes have written their files."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Write the stamp as the last file."""
        PartialState().wait_for_everyone()
        if not state.is_world_process_zero:
            return
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        stamp = {
            "shaping": self._plan.shaping,
            "steps": self._plan.steps,
            "finished": control.should_training_stop,
            "files": _sizes(folder),
        }
        write_json(folder / STAMP, stamp)


class Saves(TrainerCallback):  # type: ignore[misc]
    """Saves a checkpoint every ``save_steps``, besides those of the evaluations."""

    def __init__(self, save_steps: int) -> None:
        self._save_steps = save_steps

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Request a checkpoint every ``save_steps``."""
        if state.global_step % self._save_steps == 0:
            control.should_save = True


class EarlyStop(TrainerCallback):  # type: ignore[misc]
    """Stops after ``patience`` evaluations in a row without a new best.

    It counts evaluations in the log, which is part of a checkpoint, so that a resumed run stops at
    the same step as an unbroken one.
    """

    def __init__(self, patience: int) -> None:
        self._patience = patience

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Request the stop after ``patience`` evaluations without a new best."""
        name = args.metric_for_best_model
        values = [entry[name] for entry in state.log_history if name in entry]
        best = max(values) if args.greater_is_better else min(values)
        if len(values) - 1 - values.index(best) >= self._patience:
            control.should_training_stop = True


class Trim(TrainerCallback):  # type: ignore[misc]
    """Returns unused heap memory to the system; see ``train.memory``."""

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Trim every few steps only, as the next step uses the pages again."""
        if state.global_step % TRIM_EVERY == 0:
            trim()


class Pace(TrainerCallback):  # type: ignore[misc]
    """Measures tokens per second of the steps, without evaluations and checkpoints."""

    def __init__(self) -> None:
        self._seconds, self._tokens = 0.0, 0
        self._start, self._seen = 0.0, 0

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Start the clock."""
        self._start, self._seen = time.monotonic(), state.num_input_tokens_seen

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Stop the clock."""
        self._seconds += time.monotonic() - self._start
        self._tokens += state.num_input_tokens_seen - self._seen

    @property
    def tokens_per_second(self) -> float | None:
        """The speed of all processes together; None before the first step."""
        return self._tokens / self._seconds if self._seconds else None


def resume_point(out: Path, plan: Plan, *, any_length: bool) -> Checkpoint | None:
    """The last complete checkpoint in ``out``, or None.

    ``any_length``: the schedule does not depend on the number of steps. Otherwise only a finished
    run may be given more steps.

    Raises:
        SettingsError: the checkpoint was made with other settings that shape the weights.

    """
    found = _last_complete(out)
    if found is None:
        return None
    checkpoint, stamp = found
    changed = _changes(stamp["shaping"], plan.shaping)
    grows = plan.steps > stamp["steps"] and (stamp["finished"] or any_length)
    if plan.steps != stamp["steps"] and not grows:
        changed.append(f"steps in all {stamp['steps']} (now {plan.steps})")
    if changed:
        raise SettingsError(
            f"{checkpoint.path}: was made with {', '.join(changed)}; resume with the same "
            "settings, set another out, or set resume=false to restart"
        )
    done = stamp["finished"] and not grows
    return checkpoint._replace(finished=done)


def restore(trainer: Any, checkpoint: Checkpoint) -> None:
    """Load the state and the best adapter of a finished run into ``trainer``."""
    trainer.state = TrainerState.load_from_json(str(checkpoint.path / TRAINER_STATE_NAME))
    folder = checkpoint.path
    if trainer.args.load_best_model_at_end and trainer.state.best_global_step:
        folder = folder.with_name(f"checkpoint-{trainer.state.best_global_step}")
    weights = load_peft_weights(str(folder), device=str(trainer.args.device))
    set_peft_model_state_dict(trainer.model, weights)


def remove_checkpoints(out: Path) -> None:
    """Remove the checkpoints in ``out``, so that none is mistaken for the new run's."""
    for _, folder in checkpoints(out):
        _log.warning("%s: removed because of resume=false", folder)
        shutil.rmtree(folder)


def _last_complete(out: Path) -> tuple[Checkpoint, dict[str, Any]] | None:
    for step, folder in reversed(checkpoints(out)):
        wrong = why_incomplete(folder)
        if wrong is None:
            stamp = json.loads((folder / STAMP).read_text(encoding="utf-8"))
            return Checkpoint(folder, step, stamp["finished"]), stamp
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
