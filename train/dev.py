"""Evaluate the model in training on dev rows: chains are generated, parsed and scored."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradegpt.chains.chain import parse_chain
from gradegpt.core.errors import EngineError, InputError, SettingsError
from gradegpt.core.records import read_rows
from gradegpt.core.schema import Message, TrainingRow, Verdict
from gradegpt.engines.base import Engine
from gradegpt.judges.statistics import Cells, column, score, table, unjudged_as_wrong

from .rows import IGNORED, encode

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class DevRow(NamedTuple):
    """A prompt, whether its chain ends in ``<Yes>``, and the length of the chain in tokens."""

    prompt: tuple[Message, ...]
    is_correct: bool
    tokens: int


def dev_sample(
    path: Path, size: int, tokenizer: PreTrainedTokenizerBase, max_length: int, rng: random.Random
) -> list[DevRow]:
    """At most ``size`` rows drawn from those that fit ``max_length`` tokens.

    Raises:
        InputError: the chain of a row has no verdict.

    """
    rows = list(read_rows(path, TrainingRow)) if size else []
    sample: list[DevRow] = []
    for number in rng.sample(range(len(rows)), len(rows)):
        encoded = encode(tokenizer, rows[number])
        if len(encoded["input_ids"]) <= max_length:
            tokens = sum(label != IGNORED for label in encoded["labels"])
            sample.append(_dev_row(rows[number], tokens, path))
        if len(sample) == size:
            break
    return sample


def _dev_row(row: TrainingRow, tokens: int, path: Path) -> DevRow:
    chain = parse_chain(row.completion[-1].content).chain
    if chain is None:
        raise InputError(f"{path}: a chain without a verdict: {row.completion[-1].content[-80:]!r}")
    return DevRow(row.prompt, chain.verdict is Verdict.CORRECT, tokens)


def check_decides(rows: Sequence[DevRow], metric: str) -> None:
    """Refuse ``kappa`` as the metric where it may be undefined: all rows have the same verdict.

    Raises:
        SettingsError: all rows have the same verdict.

    """
    if metric == "kappa" and len({row.is_correct for row in rows}) < 2:
        raise SettingsError(
            "sft.metric_for_best_model=kappa: undefined, because all drawn dev rows have the same "
            "verdict; raise dev_rows, or use verdict_accuracy"
        )


def count(engine: Engine, rows: Sequence[DevRow], max_new_tokens: int) -> Cells:
    """The cells ``[2, 5]`` of one generated chain per row."""
    columns = []
    for made in engine.generate([row.prompt for row in rows], max_new_tokens=max_new_tokens):
        if isinstance(made, EngineError):
            raise made
        parsed = parse_chain(made.text)
        columns.append(column(parsed.outcome, parsed.chain.verdict if parsed.chain else None))
    cells: Cells = table([row.is_correct for row in rows], columns, [0] * len(rows), 1)[0]
    return cells


def scores(cells: Cells) -> dict[str, float]:
    """Verdict accuracy, the share of parsed chains, and Cohen's kappa.

    An unparsed chain counts as the wrong verdict. Kappa is left out where it is undefined: all
    labels and verdicts are the same.
    """
    of = score(unjudged_as_wrong(cells))
    parsed = score(cells)["coverage"]
    made = {"verdict_accuracy": of["accuracy"], "parsed": parsed, "kappa": of["kappa"]}
    return {name: float(value) for name, value in made.items() if not np.isnan(value)}


class DevEvaluation:
    """Generates chains for a fixed sample of dev rows and scores them.

    A chain may be twice as long as the sample's longest; a longer one does not end.
    """

    def __init__(self, rows: Sequence[DevRow], batch_size: int) -> None:
        self.rows = rows
        self._batch_size = batch_size
        self._max_new_tokens = 2 * max(row.tokens for row in rows)

    def measure(self, model: Any, tokenizer: Any, accelerator: Any) -> dict[str, float]:
        """``verdict_accuracy``, ``kappa`` and ``parsed``; the rows are shared by all processes."""
        import torch

        from gradegpt.engines.local import LocalEngine

        engine = LocalEngine.of(model, tokenizer, batch_size=self._batch_size)
        rows = self.rows[accelerator.process_index :: accelerator.num_processes]
        own = torch.tensor(count(engine, rows, self._max_new_tokens), device=accelerator.device)
        return scores(accelerator.reduce(own, reduction="sum").cpu().numpy())
