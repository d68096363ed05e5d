"""Rows of text -> weighted token ids -> batches of similar length, for the pre-training loop."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gradegpt.records import read_objects
from train.rows import verdict_token_ids
from train.settings import BaseSettings
from train.tokenizer import END, START

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast


class Row(NamedTuple):
    """Token ids, the loss weight of each, and the positions of the verdict tags in the reply."""

    ids: list[int]
    weights: list[float]
    verdicts: list[int]


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """(prompt, reply) pairs; a text row is all reply."""
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
    """The pairs that fit ``max_length`` tokens; a longer one is left out, never cut."""
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


def endless(rows: list[Row], settings: BaseSettings) -> Iterator[list[Row]]:
    """Pass after pass, each in an order of its own."""
    epoch = 0
    while True:
        yield from batches(rows, settings.batch_tokens, random.Random(f"{settings.seed}:{epoch}"))
        epoch += 1
