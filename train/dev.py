"""Dev rows judged by the model in training: chains are generated, parsed and counted."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradegpt.agreement import Cells, column, score, table, unjudged_as_wrong
from gradegpt.chain import parse_chain
from gradegpt.engines.base import Engine
from gradegpt.errors import EngineError, InputError, SettingsError
from gradegpt.records import read_rows
from gradegpt.schema import Message, TrainingRow, Verdict

from .rows import encode

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class DevRow(NamedTuple):
    """A prompt, whether its chain says ``<Yes>``, the chain's format and its length in tokens."""

    prompt: tuple[Message, ...]
    is_correct: bool
    chain_format: str
    tokens: int


def dev_sample(
    path: Path, size: int, tokenizer: PreTrainedTokenizerBase, max_length: int, rng: random.Random
) -> list[DevRow]:
    """At most ``size`` rows drawn from those that fit ``max_length`` tokens.

    Raises:
        InputError: a row whose chain has no verdict.

    """
    rows = list(read_rows(path, TrainingRow)) if size else []
    sample: list[DevRow] = []
    for number in rng.sample(range(len(rows)), len(rows)):
        encoded = encode(tokenizer, rows[number])
        if len(encoded["input_ids"]) <= max_length:
            sample.append(_dev_row(rows[number], sum(encoded["completion_mask"]), path))
        if len(sample) == size:
            break
    return sample


def _dev_row(row: TrainingRow, tokens: int, path: Path) -> DevRow:
    chain = parse_chain(row.completion[-1].content).chain
    if chain is None:
        raise InputError(f"{path}: a chain without a verdict: {row.completion[-1].content[-80:]!r}")
    is_correct = chain.verdict is Verdict.CORRECT
    return DevRow(row.prompt, is_correct, str(row.meta.get("chain_format", "")), tokens)


def check_decides(rows: Sequence[DevRow], best_by: str) -> None:
    """Refuse to choose by kappa where the rows have one verdict alone and it may be undefined.

    Raises:
        SettingsError: they have.

    """
    if best_by == "kappa" and len({row.is_correct for row in rows}) < 2:
        raise SettingsError(
            "best_by=kappa: all dev rows drawn have the same verdict, which leaves it undefined; "
            "raise dev_rows, or set best_by=verdict_accuracy"
        )


def count(
    engine: Engine, rows: Sequence[DevRow], formats: Sequence[str], max_new_tokens: int
) -> Cells:
    """The cells of each chain format, ``[formats, 2, 5]``, from one chain a row."""
    said = []
    for made in engine.generate([row.prompt for row in rows], max_new_tokens=max_new_tokens):
        if isinstance(made, EngineError):
            raise made
        parsed = parse_chain(made.text)
        said.append(column(parsed.outcome, parsed.chain.verdict if parsed.chain else None))
    truths = [row.is_correct for row in rows]
    places = [formats.index(row.chain_format) for row in rows]
    return table(truths, said, places, len(formats))


def scores(cells: Cells) -> dict[str, float]:
    """Verdict accuracy, the share that could be parsed and Cohen's kappa; none is made up.

    What could not be parsed counts as the wrong verdict. Kappa is left out where it is not defined:
    one verdict alone, said and true.
    """
    of = score(unjudged_as_wrong(cells))
    parsed = score(cells)["coverage"]
    made = {"verdict_accuracy": of["accuracy"], "parsed": parsed, "kappa": of["kappa"]}
    return {name: float(value) for name, value in made.items() if not np.isnan(value)}


class DevEvaluation:
    """Generates for a fixed sample of dev and scores it, in all and by chain format.

    A chain may be twice as long as the sample's longest; longer is a model that does not end.
    """

    def __init__(self, rows: Sequence[DevRow], batch_size: int) -> None:
        self.rows = rows
        self._batch_size = batch_size
        self._max_new_tokens = 2 * max(row.tokens for row in rows)
        self._formats = sorted({row.chain_format for row in rows})

    def measure(self, model: Any, tokenizer: Any, accelerator: Any) -> dict[str, float]:
        """``verdict_accuracy``, ``kappa``, ``parsed``; every process takes its share of the rows.

        With several formats also ``verdict_accuracy_<format>``.
        """
        import torch

        from gradegpt.engines.local import LocalEngine

        engine = LocalEngine.of(model, tokenizer, batch_size=self._batch_size)
        rows = self.rows[accelerator.process_index :: accelerator.num_processes]
        mine = count(engine, rows, self._formats, self._max_new_tokens)
        summed = accelerator.reduce(torch.tensor(mine, device=accelerator.device), reduction="sum")
        cells = summed.cpu().numpy()
        by_format = {
            f"verdict_accuracy_{name}": scores(of)["verdict_accuracy"]
            for name, of in zip(self._formats, cells, strict=True)
            if name
        }
        return scores(cells.sum(axis=0)) | (by_format if len(by_format) > 1 else {})
