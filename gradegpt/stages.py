"""The commands of the stages: their names and their modules.

``gradegpt eval.answer ...`` is ``python -m eval.answer ...`` in a checkout, where a stage is a
folder at the top, and ``python -m gradegpt.eval.answer ...`` in the wheel, where it is a part of
the package. A stage is looked up by name when it is called, so the library imports none.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Final

from gradegpt.errors import MissingError

COMMANDS: Final = {
    "finetune": "Fine-tune a judge on your labels, and measure it.",
    "data": "Make training rows for a judge from your own data.",
    "train": "Fine-tune a judge: a LoRA adapter on any chat model.",
    "eval": "Measure judges against labels, or score a model.",
    "serve": "Serve a judge over HTTP, with OpenAI-compatible APIs.",
    "report": "Write an HTML report that shows and compares judgements.",
    "export": "Export a judge for the fast CPU engine (ONNX Runtime).",
    "data.labelled": "Make training rows from labelled answers alone.",
    "train.average": "Average the last checkpoints of a run.",
    "train.base": "Pre-train the built-in base from scratch.",
    "train.lexical": "Fit the lexical judge.",
    "train.merge": "Merge an adapter into its base.",
    "eval.ablation": "Compare chain formats at equal steps and equal tokens.",
    "eval.answer": "Send a benchmark's questions to a model.",
    "eval.attacks": "Measure how often judges accept adversarial responses.",
    "eval.calibrate": "Measure the confidence of a judge's verdicts.",
    "eval.consistency": "Measure whether an answer's form changes the verdict.",
    "eval.convert": "Show what changes when one judge replaces another.",
    "eval.errors": "Classify why answers are wrong.",
    "eval.estimate": "Estimate a model's accuracy from a few human labels.",
    "eval.leakage": "Detect whether a model has seen a benchmark.",
    "eval.panel": "Combine judges by voting, and compare them.",
    "eval.parts": "Extract references of sub-questions from solutions.",
    "eval.references": "Find wrong references in a benchmark.",
    "eval.rubric": "Make and check rubrics, and grade responses by them.",
    "eval.scores": "Score the model whose answers were judged.",
    "eval.steps": "Score each step of a response.",
    "serve.keys": "Add, list and remove the API keys of a server.",
    "serve.template": "Try a template of your own judge prompt.",
}
"""The help of each command, in the order of ``gradegpt --help``."""
_MODULES: Final = {
    "finetune": "train.finetune", "data": "data_gen", "data.labelled": "data_gen.labelled",
    "report": "eval.report", "export": "train.export",
}  # fmt: skip
"""Commands whose name differs from their module's."""
_OURS: Final = ("gradegpt", "data_gen", "train", "eval", "serve")
_EXTRAS: Final = {"report": "eval", "export": "export", "eval.ablation": "all", "finetune": "all"}
"""Commands that need more packages than their stage does."""


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
        extra = _EXTRAS.get(command, command.partition(".")[0])
        raise MissingError(
            f"{error.name}: not installed; gradegpt {command} needs: "
            f"pip install 'gradegpt[{extra}]'"
        ) from error


def module_of(command: str) -> str:
    """The module of a command, in a checkout or in the wheel."""
    module = _MODULES.get(command, command)
    stage = module.partition(".")[0]
    return f"{__package__}.{module}" if find_spec(f"{__package__}.{stage}") else module
