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
    """``input_ids``, and ``labels``: the chain's and the end token, ``IGNORED`` on the prompt.

    ``end`` is the tokenizer's ``end_token_id``, if the caller has it.
    """
    prompt = _tokens(tokenizer, render_chat(tokenizer, row.prompt))
    chain = _tokens(tokenizer, row.completion[-1].content)
    chain = [*chain, end_token_id(tokenizer) if end is None else end]
    return {"input_ids": prompt + chain, "labels": [IGNORED] * len(prompt) + chain}


def encode_file(
    path: Path,
    tokenizer: PreTrainedTokenizerBase,
    max_length: int,
    chain_weight: float | None = None,
) -> Iterator[dict[str, Any]]:
    """The file's rows that fit ``max_length`` tokens; longer ones are left out, never cut.

    With ``chain_weight`` they have ``weights`` and ``twins`` (``weighted``).
    """
    end, verdict_ids = end_token_id(tokenizer), verdict_token_ids(tokenizer)
    for row in read_rows(path, TrainingRow):
        encoded = encode(tokenizer, row, end)
        if len(encoded["input_ids"]) <= max_length:
            more = {} if chain_weight is None else weighted(row, encoded, verdict_ids, chain_weight)
            yield encoded | more


def weighted(
    row: TrainingRow,
    encoded: dict[str, list[int]],
    verdict_ids: frozenset[int],
    chain_weight: float,
) -> dict[str, Any]:
    """For each token its weight in the loss of the row, and the number of its twins.

    The verdict has weight 1; the other tokens of a chain share ``chain_weight``, those of a tag
    alone have none: a tag is not followed by an end where a chain may follow it. ``twins`` is at
    the verdict alone, and 0 in a row without twins.
    """
    text, labels = row.completion[-1].content, encoded["labels"]
    spots = [n for n, label in enumerate(labels) if label in verdict_ids]
    verdict = spots[0 if text.startswith((YES, NO)) else -1]  # a quote may hold such a word
    supervised = [label != IGNORED for label in labels]
    others = 0.0 if text in (YES, NO) else chain_weight / (sum(supervised) - 1)
    weights = [others * taught for taught in supervised]
    weights[verdict] = 1.0
    twins = [0] * len(weights)
    twins[verdict] = row.meta.get("twins", 0)
    return {"weights": weights, "twins": twins}


def _tokens(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    # Not verbose: a row longer than the model is left out, and counted in the manifest.
    ids: list[int] = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    return ids


def row_order(
    lengths: Sequence[int],
    step_rows: int,
    rng: random.Random,
    *,
    grouped: bool,
    twins: Sequence[int] = (),
) -> list[int]:
    """The numbers of the rows for one pass, ``step_rows`` for each optimizer step.

    The last step is filled from the start of the pass, so every step has the same number of rows on
    any number of processes. ``grouped`` puts rows of similar length into a step; the step with the
    longest row is then the first, so that a lack of memory appears at once. Rows with one number
    in ``twins`` other than 0 are in one step, where they are not more than it holds.
    """
    order = rng.sample(range(len(lengths)), len(lengths))
    missing = -len(order) % step_rows
    order += (order * -(-missing // len(order)))[:missing]
    steps = len(order) // step_rows
    if grouped:
        window = step_rows * min(_WINDOW, max(1, steps // 4))
        order = [
            row
            for start in range(0, len(order), window)
            for row in sorted(order[start : start + window], key=lengths.__getitem__)
        ]
    blocks = _with_twins(order, step_rows, twins)
    if grouped:
        blocks = rng.sample(blocks, len(blocks))
        longest = max(range(steps), key=lambda n: max(lengths[row] for row in blocks[n]))
        blocks.insert(0, blocks.pop(longest))
    return [row for block in blocks for row in block]


def _with_twins(order: Sequence[int], step_rows: int, twins: Sequence[int]) -> list[list[int]]:
    """The rows in steps: twins at the place of their first one, a row in the first step with room.

    Where twins leave gaps, the last ones are parted to fill them.
    """
    groups: dict[int, list[int]] = {}
    for place, row in enumerate(order):
        groups.setdefault(twins[row] if twins and twins[row] else -1 - place, []).append(row)
    blocks: list[list[int]] = [[] for _ in range(len(order) // step_rows)]
    first = 0  # the first step with room
    for group in groups.values():
        left = blocks[first:]
        whole = next((b for b in left if len(b) + len(group) <= step_rows), None)
        for row in group:
            block = next(b for b in left if len(b) < step_rows) if whole is None else whole
            block.append(row)
        while first < len(blocks) and len(blocks[first]) == step_rows:
            first += 1
    return blocks


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
