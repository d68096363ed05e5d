"""Dev rows judged by the model in training: chains are generated, parsed and counted."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gradegpt.chain import parse_chain
from gradegpt.engines.base import Engine
from gradegpt.errors import EngineError, InputError, SettingsError
from gradegpt.records import read_rows
from gradegpt.schema import Message, TrainingRow, Verdict
from train.rows import encode

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class DevRow(NamedTuple):
    """A prompt, whether its chain says ``<Yes>``, the chain's format and its length in tokens."""

    prompt: tuple[Message, ...]
    is_correct: bool
    chain_format: str
    tokens: int


class Cells(NamedTuple):
    """Counts of rows by what was said and what is true; they add up to the rows.

    What could not be parsed counts as the wrong verdict, and once more in ``unparsed``.
    """

    true_positive: int = 0
    false_positive: int = 0
    false_negative: int = 0
    true_negative: int = 0
    unparsed: int = 0


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


def count(engine: Engine, rows: Sequence[DevRow], max_new_tokens: int) -> dict[str, Cells]:
    """The cells of each chain format, from one chain a row."""
    made = engine.generate([row.prompt for row in rows], max_new_tokens=max_new_tokens)
    cells: dict[str, Cells] = {}
    for row, generation in zip(rows, made, strict=True):
        if isinstance(generation, EngineError):
            raise generation
        chain = parse_chain(generation.text).chain
        says_yes = chain.verdict is Verdict.CORRECT if chain else not row.is_correct
        one = Cells(
            says_yes and row.is_correct,
            says_yes and not row.is_correct,
            not says_yes and row.is_correct,
            not says_yes and not row.is_correct,
            chain is None,
        )
        cells[row.chain_format] = add(cells.get(row.chain_format, Cells()), one)
    return cells


def add(one: Cells, other: Cells) -> Cells:
    """The cells of both together."""
    return Cells(*(a + b for a, b in zip(one, other, strict=True)))


def scores(cells: Cells) -> dict[str, float]:
    """Verdict accuracy, Cohen's kappa and the share that could be parsed; none is made up.

    Kappa is left out where it is not defined: one verdict alone, said and true.
    """
    tp, fp, fn, tn, unparsed = cells
    rows = tp + fp + fn + tn
    chance = (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn)
    made = {"verdict_accuracy": (tp + tn) / rows, "parsed": 1 - unparsed / rows}
    return made | ({"kappa": 2 * (tp * tn - fp * fn) / chance} if chance else {})


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
        mine = self.rows[accelerator.process_index :: accelerator.num_processes]
        found = count(engine, mine, self._max_new_tokens)
        table = torch.tensor(
            [found.get(name, Cells()) for name in self._formats], device=accelerator.device
        )
        totals = [Cells(*row) for row in accelerator.reduce(table, reduction="sum").tolist()]
        whole = Cells()
        for cells in totals:
            whole = add(whole, cells)
        by_format = {
            f"verdict_accuracy_{name}": scores(cells)["verdict_accuracy"]
            for name, cells in zip(self._formats, totals, strict=True)
            if name
        }
        return scores(whole) | (by_format if len(by_format) > 1 else {})
