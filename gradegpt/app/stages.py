"""The commands: one line each. The stages' are looked up by name when they are called.

``gradegpt eval.answer ...`` is ``python -m eval.answer ...`` in a checkout, where a stage is a
folder at the top, and ``python -m gradegpt.eval.answer ...`` in the wheel, where it is a part of
the package. So the library imports no stage.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Final, NamedTuple

from gradegpt.core.errors import MissingError
from gradegpt.core.settings import keys_of


class Command(NamedTuple):
    """A command of a stage: the extra that it needs, its help, and its module if named else."""

    extra: str
    help: str
    module: str = ""


COMMANDS: Final = {name: Command(*told) for name, told in {
    "finetune": ("all", "Fine-tune a judge on your labels, and measure it.", "train.finetune"),
    "data": ("data", "Make training rows for a judge from your own data.", "data_gen"),
    "train": ("train", "Fine-tune a judge: a LoRA adapter on any chat model."),
    "eval": ("eval", "Measure judges against labels, or score a model."),
    "serve": ("serve", "Serve a judge over HTTP, with OpenAI-compatible APIs."),
    "report": ("eval", "Score judged files, show them on a page, compare judges.", "eval.report"),
    "eval.ablation": ("all", "Compare chain formats at equal steps and equal tokens."),
    "eval.answer": ("eval", "Send a benchmark's questions to a model."),
    "eval.attacks": ("eval", "Measure how often judges accept adversarial responses."),
    "eval.calibrate": ("eval", "Measure the confidence of a judge's verdicts."),
    "eval.estimate": ("eval", "Estimate a model's accuracy from a few human labels."),
    "eval.protocol": ("eval", "Grade steps, and by rubrics; errors and leakage."),
    "eval.references": ("eval", "Find wrong references in a benchmark."),
    "train.merge": ("train", "Write a judge's adapter and its base as one model."),
    "serve.template": ("serve", "Try a template of your own judge prompt."),
}.items()}  # fmt: skip
"""The commands of the stages, in the order of ``gradegpt --help``."""
_OURS: Final = ("gradegpt", "data_gen", "train", "eval", "serve")


def run_stage(command: str, arguments: Sequence[str]) -> None:
    """Run a command of a stage, as ``python -m`` with its module would.

    Raises:
        MissingError: a package that the command needs is not installed.

    """
    sys.argv[1:] = arguments
    with packages_of(command):
        runpy.run_module(module_of(command), run_name="__main__", alter_sys=True)


@contextmanager
def packages_of(command: str) -> Iterator[None]:
    """Turn the error of a missing package into one that names the extra to install.

    Raises:
        MissingError: a package is not installed.

    """
    try:
        yield
    except ModuleNotFoundError as error:
        if command not in COMMANDS or str(error.name).partition(".")[0] in _OURS:
            raise  # no extra would install it
        raise MissingError(
            f"{error.name}: not installed; gradegpt {command} needs: "
            f"pip install 'gradegpt[{COMMANDS[command].extra}]'"
        ) from error


def settings_of(command: str) -> dict[str, str]:
    """The settings of a command by their names, with their full keys: ``model``: ``judge.model``.

    ``finetune`` takes those of ``train``.
    """
    command = "train" if command == "finetune" else command
    with suppress(ImportError):
        import_module(f"{module_of(command)}.settings")
    return keys_of(command)


def module_of(command: str) -> str:
    """The module of a command, in a checkout or in the wheel."""
    module = COMMANDS[command].module or command
    stage = module.partition(".")[0]
    return f"gradegpt.{module}" if find_spec(f"gradegpt.{stage}") else module
