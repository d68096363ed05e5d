"""Training rows -> token ids, by the function that serves; the chain alone is supervised."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradegpt.chain import NO, YES, PromptSettings
from gradegpt.engines.local import render_chat
from gradegpt.errors import MissingError
from gradegpt.records import read_rows, validate
from gradegpt.schema import TrainingRow

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def encode(tokenizer: PreTrainedTokenizerBase, row: TrainingRow) -> dict[str, list[int]]:
    """``input_ids`` and ``completion_mask`` (1 on the chain and the end token, 0 on the prompt)."""
    # Not verbose: a row longer than the model is left out below, and said in the manifest's counts.
    prompt, chain = (
        tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        for text in (render_chat(tokenizer, row.prompt), row.completion[-1].content)
    )
    chain = [*chain, tokenizer.eos_token_id]
    return {"input_ids": prompt + chain, "completion_mask": [0] * len(prompt) + [1] * len(chain)}


def encode_file(
    path: Path, tokenizer: PreTrainedTokenizerBase, max_length: int
) -> Iterator[dict[str, Any]]:
    """The file's rows that fit ``max_length`` tokens; a longer one is left out, never cut."""
    for row in read_rows(path, TrainingRow):
        encoded = encode(tokenizer, row)
        if len(encoded["input_ids"]) <= max_length:
            yield encoded


def verdict_token_ids(tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """The tokens that tell the two verdict tags apart: one each where a tag is one token."""
    yes, no = (set(tokenizer(tag, add_special_tokens=False)["input_ids"]) for tag in (YES, NO))
    return frozenset(yes ^ no)


def prompt_settings_of(data: Path) -> PromptSettings:
    """The prompt settings that data_gen made the rows with, from its manifest.

    Raises:
        MissingError: no manifest beside the rows.

    """
    path = data / "manifest.json"
    if not path.is_file():
        raise MissingError(
            f"{path}: not there; run python -m data_gen first, or set 'prompt' in the settings"
        )
    settings = json.loads(path.read_text(encoding="utf-8"))["settings"]
    formats: dict[str, float] = settings["formats"]
    main = max(formats, key=lambda name: formats[name])
    return validate(PromptSettings, settings["prompt"] | {"chain_format": main}, str(path))
