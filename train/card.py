"""The model card of a base pre-trained from scratch: its data, numbers and limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_CARD: Final = """\
---
library_name: transformers
language: [zh, en]
tags: [gradegpt, from-scratch]
---
# {name}

A small Qwen3-shaped decoder, made from scratch to carry a judge of answers:
{parameters:,} parameters, {layers} layers, {width} wide, a bilingual byte-level BPE tokenizer of
{vocabulary:,} tokens with single digits and capitals, positions up to {positions:,}.

It is no chat model. It knows the tasks it was trained on: to quote a sentence, to go on copying a
line, to extract an answer, to compare two, to check a solution against a key, to put a short
sentence into English. `gradegpt-nano-judge` is the adapter that makes it grade.

## Data

`{data}`, written by `gradegpt data`; {tokens:,} tokens were seen in {steps:,}
steps{curriculum}. SHA-256 of train.jsonl: `{digest}`.

## Numbers

On held-out rows of the same making: loss {loss}, {verdicts} of the verdict tags predicted, all else
given. Made in {minutes} minutes with torch {torch}.

## Limits

* It has read no books and no web pages: it knows no facts, and free text is beyond it.
* It compares what it was shown to compare: option letters, numbers, units, short formulas, lists.
* Chinese and English alone; other scripts fall to bytes.
"""


def base_card(manifest: Mapping[str, Any]) -> str:
    """The card, from the manifest of ``train.base``."""
    settings = manifest["settings"]
    stages = [
        f"up to {stage['max_length']} tokens a row until {stage['until']:.0%} of them"
        for stage in settings["curriculum"]
    ]
    verdicts = manifest["dev_verdicts"]
    return _CARD.format(
        name=settings["name"],
        parameters=manifest["parameters"],
        layers=settings["num_hidden_layers"],
        width=settings["hidden_size"],
        vocabulary=settings["vocab_size"],
        positions=settings["max_position_embeddings"],
        data=settings["data"].rsplit("/", 1)[-1],
        digest=manifest["data"]["train"],
        tokens=manifest["tokens"],
        steps=settings["max_steps"],
        curriculum=f": {', '.join(stages)}" if stages else "",
        loss=manifest["dev_loss"],
        verdicts="none" if verdicts is None else f"{verdicts:.1%}",
        minutes=manifest["minutes"],
        torch=manifest["torch"],
    )
