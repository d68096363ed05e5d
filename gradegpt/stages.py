"""The commands of the stages: what each is called, and where it is run from.

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
    "data": "Make training rows of questions, answers and chains.",
    "train": "Fine-tune a judge: a LoRA adapter on any chat model.",
    "eval": "Measure judges against labels, or a model by its answers.",
    "serve": "Serve a judge over HTTP, natively and in the OpenAI form.",
    "report": "Write a page on judged files, and say what changed.",
    "export": "Export a judge for the fast CPU engine (ONNX Runtime).",
    "train.average": "Average the last checkpoints of a run.",
    "train.base": "Pre-train the embedded base from scratch.",
    "train.lexical": "Fit the lexical judge.",
    "train.merge": "Merge an adapter into its base.",
    "eval.ablation": "Compare chain formats at equal steps and at equal tokens.",
    "eval.answer": "Ask a model the questions of a benchmark.",
    "eval.calibrate": "Find where a model is no better than chance.",
    "eval.errors": "Classify what is wrong with wrong answers.",
    "eval.leakage": "Find out whether a model has seen a benchmark.",
    "eval.panel": "Let judges of the same rows vote, and compare them.",
    "eval.parts": "Make references for sub-questions from solutions.",
    "eval.references": "Find references of a benchmark that cannot be right.",
    "eval.rubric": "Make, check, grade and score by rubrics.",
    "eval.scores": "Score the model whose answers were judged.",
    "eval.steps": "Score the steps of responses.",
    "serve.keys": "Add, list and remove API keys of a server.",
}
"""What each command does, in the order in which ``gradegpt --help`` lists them."""
_MODULES: Final = {"data": "data_gen", "report": "eval.report", "export": "train.export"}
"""Commands that are not called as their module is."""
_OURS: Final = ("gradegpt", "data_gen", "train", "eval", "serve")
_EXTRAS: Final = {"report": "eval", "export": "export", "eval.ablation": "all"}
"""Commands that need more packages than their stage does."""


def run_stage(command: str, arguments: Sequence[str]) -> None:
    """Run a command of a stage, as ``python -m`` with its module would.

    Raises:
        MissingError: a package that the command needs is not installed.

    """
    sys.argv[1:] = arguments
    with packages_of(command):
        runpy.run_module(_module(command), run_name="__main__", alter_sys=True)


@contextmanager
def packages_of(command: str) -> Iterator[None]:
    """Turn a package that is not installed into an error that names the extra to install.

    Raises:
        MissingError: as said.

    """
    try:
        yield
    except ModuleNotFoundError as error:
        if command not in COMMANDS or str(error.name).partition(".")[0] in _OURS:
            raise  # nothing that an installation mends
        extra = _EXTRAS.get(command, command.partition(".")[0])
        raise MissingError(
            f"{error.name}: not installed; gradegpt {command} needs: "
            f"pip install 'gradegpt[{extra}]'"
        ) from error


def _module(command: str) -> str:
    module = _MODULES.get(command, command)
    stage = module.partition(".")[0]
    return f"{__package__}.{module}" if find_spec(f"{__package__}.{stage}") else module
