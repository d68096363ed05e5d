"""Encode training rows as token ids, as serving does; only the chain is supervised."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gradegpt.chains.chain import NO, YES, PromptSettings
from gradegpt.core.errors import MissingError
from gradegpt.core.records import read_rows, validate
from gradegpt.core.schema import TrainingRow
from gradegpt.engines.chat import end_token_id, render_chat

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

IGNORED: Final = -100
"""The label of an unsupervised token in torch and transformers."""
_WINDOW: Final = 50
"""Steps whose rows are sorted by length together, which saves padding and keeps steps random."""


def encode(
    tokenizer: PreTrainedTokenizerBase, row: TrainingRow, end: int | None = None
) -> dict[str, list[int]]:
    """``input_ids`` and ``completion_mask`` (1 on the chain and the end token, 0 on the prompt).

    ``end`` is the tokenizer's ``end_token_id``, if the caller has it.
    """
    prompt = _tokens(tokenizer, render_chat(tokenizer, row.prompt))
    chain = _tokens(tokenizer, row.completion[-1].content)
    chain = [*chain, end_token_id(tokenizer) if end is None else end]
    return {"input_ids": prompt + chain, "completion_mask": [0] * len(prompt) + [1] * len(chain)}


def encode_file(
    path: Path, tokenizer: PreTrainedTokenizerBase, max_length: int
) -> Iterator[dict[str, Any]]:
    """The file's rows that fit ``max_length`` tokens; longer ones are left out, never cut."""
    end = end_token_id(tokenizer)
    for row in read_rows(path, TrainingRow):
        encoded = encode(tokenizer, row, end)
        if len(encoded["input_ids"]) <= max_length:
            yield encoded


def _tokens(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    # Not verbose: a row longer than the model is left out, and counted in the manifest.
    ids: list[int] = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    return ids


def labelled(encoded: dict[str, list[int]]) -> dict[str, list[int]]:
    """``input_ids`` and ``labels`` for a trainer; labels outside the chain are ``IGNORED``."""
    pairs = zip(encoded["input_ids"], encoded["completion_mask"], strict=True)
    return {
        "input_ids": encoded["input_ids"],
        "labels": [token if supervised else IGNORED for token, supervised in pairs],
    }


def row_order(
    lengths: Sequence[int], step_rows: int, rng: random.Random, *, grouped: bool
) -> list[int]:
    """The numbers of the rows for one pass, ``step_rows`` for each optimizer step.

    The last step is filled from the start of the pass, so every step has the same number of rows on
    any number of processes. ``grouped`` puts rows of similar length into a step; the step with the
    longest row is then the first, so that a lack of memory appears at once.
    """
    order = rng.sample(range(len(lengths)), len(lengths))
    missing = -len(order) % step_rows
    order += (order * -(-missing // len(order)))[:missing]
    if grouped:
        steps = len(order) // step_rows
        window = step_rows * min(_WINDOW, max(1, steps // 4))
        order = [
            row
            for start in range(0, len(order), window)
            for row in sorted(order[start : start + window], key=lengths.__getitem__)
        ]
        blocks = [order[start : start + step_rows] for start in range(0, len(order), step_rows)]
        blocks = rng.sample(blocks, len(blocks))
        longest = max(range(steps), key=lambda n: max(lengths[row] for row in blocks[n]))
        order = [row for block in (blocks.pop(longest), *blocks) for row in block]
    return order


def verdict_token_ids(tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """The tokens in which the two verdict tags differ: one per tag where a tag is one token."""
    yes, no = (set(tokenizer(tag, add_special_tokens=False)["input_ids"]) for tag in (YES, NO))
    return frozenset(yes ^ no)


def prompt_settings_of(data: Path) -> PromptSettings:
    """The prompt settings that data_gen made the rows with, from its manifest.

    Raises:
        MissingError: there is no manifest beside the rows.

    """
    path = data / "manifest.json"
    if not path.is_file():
        raise MissingError(
            f"{path}: does not exist; run gradegpt data first, or set 'prompt' in the settings"
        )
    settings = json.loads(path.read_text(encoding="utf-8"))["settings"]
    formats: dict[str, float] = settings["formats"]
    main = max(formats, key=lambda name: formats[name])
    return validate(PromptSettings, settings["prompt"] | {"chain_format": main}, str(path))
