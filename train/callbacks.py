"""What happens around the steps: checkpoints that are whole or not used, an early stop, the pace.

A checkpoint is many files, and a run can be killed between any two. The last file written into each
is its stamp: the sizes of the others and the settings that shape the weights. Without it, or with
other sizes, a checkpoint is not whole and the one before it is taken; with other settings the run
refuses, because the weights would be of neither.
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
    """What shapes the weights at each step, and how many steps there will be."""

    shaping: dict[str, Any]
    steps: int


class Checkpoint(NamedTuple):
    """A whole checkpoint; ``finished`` where training ended with it."""

    path: Path
    step: int
    finished: bool


class Stamp(TrainerCallback):  # type: ignore[misc]  # transformers is not followed
    """Completes every checkpoint with the stamp, once all processes have written theirs."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Write the stamp, last."""
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
    """A checkpoint every ``save_steps``, besides those that come with the evaluations."""

    def __init__(self, save_steps: int) -> None:
        self._save_steps = save_steps

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Ask for one where it is due."""
        if state.global_step % self._save_steps == 0:
            control.should_save = True


class EarlyStop(TrainerCallback):  # type: ignore[misc]
    """Stops after ``patience`` evaluations in a row without a new best.

    It counts in the log, which the checkpoints carry, so that a resumed run stops where an unbroken
    one does.
    """

    def __init__(self, patience: int) -> None:
        self._patience = patience

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Ask for the stop where it is due."""
        name = args.metric_for_best_model
        values = [entry[name] for entry in state.log_history if name in entry]
        best = max(values) if args.greater_is_better else min(values)
        if len(values) - 1 - values.index(best) >= self._patience:
            control.should_training_stop = True


class Trim(TrainerCallback):  # type: ignore[misc]
    """Gives memory back that the heap keeps in holes; see ``train.memory``."""

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Every few steps: the pages are wanted again at once."""
        if state.global_step % TRIM_EVERY == 0:
            trim()


class Pace(TrainerCallback):  # type: ignore[misc]
    """Tokens a second of the steps themselves, without evaluations and checkpoints."""

    def __init__(self) -> None:
        self._seconds, self._tokens = 0.0, 0
        self._start, self._seen = 0.0, 0

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Start the clock."""
        self._start, self._seen = time.monotonic(), state.num_input_tokens_seen

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Stop it."""
        self._seconds += time.monotonic() - self._start
        self._tokens += state.num_input_tokens_seen - self._seen

    @property
    def tokens_per_second(self) -> float | None:
        """Of all processes together; none before the first step."""
        return self._tokens / self._seconds if self._seconds else None


def resume_point(out: Path, plan: Plan, *, any_length: bool) -> Checkpoint | None:
    """The last whole checkpoint in ``out``, or none where there is none.

    ``any_length``: the schedule does not depend on the number of steps. Otherwise only a run that
    finished may get more of them.

    Raises:
        SettingsError: the checkpoint was begun with settings that shape other weights.

    """
    found = _last_whole(out)
    if found is None:
        return None
    checkpoint, stamp = found
    changed = _changes(stamp["shaping"], plan.shaping)
    grows = plan.steps > stamp["steps"] and (stamp["finished"] or any_length)
    if plan.steps != stamp["steps"] and not grows:
        changed.append(f"steps in all {stamp['steps']} (now {plan.steps})")
    if changed:
        raise SettingsError(
            f"{checkpoint.path}: begun with {', '.join(changed)}; go on with what it was begun "
            "with, give another out, or set resume=false to start anew"
        )
    done = stamp["finished"] and not grows
    return checkpoint._replace(finished=done)


def restore(trainer: Any, checkpoint: Checkpoint) -> None:
    """Put what a finished run ended with into ``trainer``: its state, and its best adapter."""
    trainer.state = TrainerState.load_from_json(str(checkpoint.path / TRAINER_STATE_NAME))
    folder = checkpoint.path
    if trainer.args.load_best_model_at_end and trainer.state.best_global_step:
        folder = folder.with_name(f"checkpoint-{trainer.state.best_global_step}")
    weights = load_peft_weights(str(folder), device=str(trainer.args.device))
    set_peft_model_state_dict(trainer.model, weights)


def remove_checkpoints(out: Path) -> None:
    """Clear ``out`` of checkpoints, so that none of them can be mistaken for the new run's."""
    for _, folder in checkpoints(out):
        _log.warning("%s: removed, as resume=false asks", folder)
        shutil.rmtree(folder)


def _last_whole(out: Path) -> tuple[Checkpoint, dict[str, Any]] | None:
    for step, folder in reversed(checkpoints(out)):
        wrong = what_is_wrong(folder)
        if wrong is None:
            stamp = json.loads((folder / STAMP).read_text(encoding="utf-8"))
            return Checkpoint(folder, step, stamp["finished"]), stamp
        if PartialState().is_main_process:
            _log.warning("%s: not whole (%s); the one before it is taken", folder, wrong)
    return None


def what_is_wrong(folder: Path) -> str | None:
    """Why the checkpoint is not whole; none where it is."""
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
    """The checkpoints of a run with their steps, first to last, whole or not."""
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
