"""Batches of weighted token ids, of similar length, for the pre-training loop."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gradegpt.errors import InputError
from gradegpt.records import read_objects

from .rows import pack as rows_in_lines
from .rows import verdict_token_ids
from .settings import BaseSettings
from .tokenizer import END, START

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerFast


class Row(NamedTuple):
    """Token ids, the loss weight of each, and the positions of the verdict tags in the reply."""

    ids: list[int]
    weights: list[float]
    verdicts: list[int]


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """(prompt, reply) pairs; a row with ``text`` has an empty prompt."""
    pairs = []
    for _, row in read_objects(path):
        if "text" in row:
            pairs.append(("", row["text"]))
        else:
            prompt = "".join(f"{START}{m['role']}\n{m['content']}{END}\n" for m in row["prompt"])
            pairs.append((f"{prompt}{START}assistant\n", row["completion"][0]["content"]))
    return pairs


def encode_pairs(
    pairs: list[tuple[str, str]], tokenizer: PreTrainedTokenizerFast, settings: BaseSettings
) -> list[Row]:
    """The pairs that fit ``max_length`` tokens; longer ones are left out, never cut."""
    if not pairs:
        return []
    prompts = tokenizer([p for p, _ in pairs], add_special_tokens=False)["input_ids"]
    replies = tokenizer([f"{r}{END}" for _, r in pairs], add_special_tokens=False)["input_ids"]
    tags = verdict_token_ids(tokenizer)
    rows = []
    for prompt, reply in zip(prompts, replies, strict=True):
        if 1 < len(prompt) + len(reply) <= settings.max_length:
            weights = [settings.verdict_weight if i in tags else 1.0 for i in reply]
            verdicts = [at for at, i in enumerate(reply, start=len(prompt)) if i in tags]
            rows.append(
                Row(prompt + reply, [settings.prompt_weight] * len(prompt) + weights, verdicts)
            )
    return rows


def batches(rows: list[Row], batch_tokens: int, rng: random.Random) -> Iterator[list[Row]]:
    """One shuffled pass over ``rows`` in batches of similar length.

    A batch's size, padding included, is at most ``batch_tokens``.
    """
    order = sorted(rng.sample(rows, len(rows)), key=lambda row: len(row.ids) // 16)
    made: list[list[Row]] = []
    longest = 0
    for row in order:
        longest = max(longest, len(row.ids))
        if not made or longest * (len(made[-1]) + 1) > batch_tokens:
            made.append([])
            longest = len(row.ids)
        made[-1].append(row)
    yield from rng.sample(made, len(made))


def stream(rows: list[Row], settings: BaseSettings) -> Iterator[list[Row]]:
    """A batch for every step of the run: stage after stage, each pass in its own random order.

    The same settings give the same batches, so a resumed run skips those that it has seen.

    Raises:
        InputError: a stage of the curriculum has no rows.

    """
    begun = 0
    for until, longest in [*((s.until, s.max_length) for s in settings.curriculum), (1.0, 0)]:
        fitting = [row for row in rows if not longest or len(row.ids) <= longest]
        if not fitting:
            raise InputError(f"{settings.data}: no row fits max_length={longest or ''}; raise it")
        end = round(until * settings.max_steps)
        passes = (
            batches(fitting, settings.batch_tokens, random.Random(f"{settings.seed}:{begun}:{n}"))
            for n in count()
        )
        yield from islice(chain.from_iterable(passes), max(end - begun, 0))
        begun = max(begun, end)


class Tensors(NamedTuple):
    """A batch: ``(sequences, length)`` each; ``verdicts`` are positions in ``ids``."""

    ids: torch.Tensor
    positions: torch.Tensor | None
    weights: torch.Tensor
    verdicts: torch.Tensor


def tensors(batch: list[Row], pad: int, *, pack: bool, device: torch.device) -> Tensors:
    """The batch as tensors, padded on the right: a row per sequence, or several with ``pack``.

    Each packed row begins at position 0, by which transformers separates the rows.
    """
    import torch

    lengths = [len(row.ids) for row in batch]
    lines = rows_in_lines(lengths, 4 * max(lengths)) if pack else [[n] for n in range(len(batch))]
    sequences = [[batch[n] for n in line] for line in lines]
    length = max(sum(len(row.ids) for row in rows) for rows in sequences)

    def table(of: Callable[[Row], Iterable[float]], fill: float, kind: Any) -> torch.Tensor:
        lines = [[value for row in rows for value in of(row)] for rows in sequences]
        padded = [line + [fill] * (length - len(line)) for line in lines]
        return torch.tensor(padded, dtype=kind, device=device)

    places = []
    for number, rows in enumerate(sequences):
        begun = 0
        for row in rows:
            places += [(number, begun + at) for at in row.verdicts]
            begun += len(row.ids)
    return Tensors(
        ids=table(lambda row: row.ids, pad, torch.long),
        # Padding restarts at position 0, too: it belongs to no row.
        positions=table(lambda row: range(len(row.ids)), 0, torch.long) if pack else None,
        # No token of the row precedes its first one.
        weights=table(lambda row: [0.0, *row.weights[1:]], 0.0, torch.float32),
        verdicts=torch.tensor(places, dtype=torch.long, device=device).view(-1, 2),
    )
