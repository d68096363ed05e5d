"""Callbacks of the trainer: stamped checkpoints, and the training speed."""
# ruff: noqa: TID253  this module is imported only where training runs

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import typer
from accelerate import PartialState
from peft import load_peft_weights, set_peft_model_state_dict
from transformers import TrainerCallback, TrainerState
from transformers.trainer import TRAINER_STATE_NAME

from gradegpt.app.console import progress
from gradegpt.app.run import Progress as Report
from gradegpt.core.machine import trim

from .checkpoints import Checkpoint, Plan, write_stamp
from .memory import TRIM_EVERY

_SAID: Final = {
    "loss": "loss", "eval_loss": "dev loss", "eval_verdict_accuracy": "dev verdicts right",
}  # fmt: skip


class Stamp(TrainerCallback):  # type: ignore[misc]  # transformers is not followed
    """Writes the stamp into every checkpoint after all processes have written their files."""

    def __init__(self, plan: Plan, started: float) -> None:
        self._plan, self._started = plan, started

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Write the stamp as the last file."""
        PartialState().wait_for_everyone()
        if not state.is_world_process_zero:
            return
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        seconds, finished = time.monotonic() - self._started, control.should_training_stop
        write_stamp(folder, self._plan, finished=finished, seconds=seconds)


class Upkeep(TrainerCallback):  # type: ignore[misc]
    """Saves every ``save_steps``, besides the evaluations, and returns unused heap memory."""

    def __init__(self, save_steps: int) -> None:
        self._save_steps = save_steps

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Request a checkpoint; trim every few steps only, as the next step uses the pages."""
        if state.global_step % self._save_steps == 0:
            control.should_save = True
        if state.global_step % TRIM_EVERY == 0:
            trim()


class Pace(TrainerCallback):  # type: ignore[misc]
    """Shows the steps, and measures tokens per second without evaluations and checkpoints.

    On a terminal there is a bar, else a line now and then; with either, a line for what is logged.
    """

    def __init__(self) -> None:
        self._open = ExitStack()
        self._report: Report = lambda done, total: None
        self._seconds, self._tokens = 0.0, 0
        self._start, self._seen = 0.0, 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Show the bar."""
        if state.is_world_process_zero:
            if state.global_step:
                typer.echo(f"resuming from step {state.global_step:,}", err=True)
            self._report = self._open.enter_context(progress("training", unit="steps"))

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Start the clock."""
        self._start, self._seen = time.monotonic(), state.num_input_tokens_seen

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Stop the clock."""
        self._seconds += time.monotonic() - self._start
        self._tokens += state.num_input_tokens_seen - self._seen
        self._report(state.global_step, state.max_steps)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any, **_: Any) -> None:
        """Say the losses and the verdicts on the dev rows."""
        said = [f"{_SAID[name]} {value:.3g}" for name, value in logs.items() if name in _SAID]
        if said and state.is_world_process_zero:
            step = f"step {state.global_step:,} of {state.max_steps:,}"
            typer.echo(f"{step}: {', '.join(said)}", err=True)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Take the bar away."""
        self._open.close()

    @property
    def tokens_per_second(self) -> float | None:
        """The speed of all processes together; None before the first step."""
        return self._tokens / self._seconds if self._seconds else None


def restore(trainer: Any, checkpoint: Checkpoint) -> None:
    """Load the state and the best adapter of a finished run into ``trainer``."""
    trainer.state = TrainerState.load_from_json(str(checkpoint.path / TRAINER_STATE_NAME))
    folder = checkpoint.path
    if trainer.args.load_best_model_at_end and trainer.state.best_global_step:
        folder = folder.with_name(f"checkpoint-{trainer.state.best_global_step}")
    weights = load_peft_weights(str(folder), device=str(trainer.args.device))
    set_peft_model_state_dict(trainer.model, weights)
