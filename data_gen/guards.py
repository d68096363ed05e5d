"""Guard rows: training answers beside, or replaced by, what manipulates a judge."""

from __future__ import annotations

from typing import Final

from gradegpt.chains.chain import needs_gloss
from gradegpt.core.schema import Example, Verdict

from .candidates import rng_for
from .phrases import attacks, names_an_option

GUARDS: Final = ("stubs", "instructions", "fake_judgements", "delimiters", "quotes")
"""The kinds of attacks of which training rows are made."""
SAYS_NOTHING: Final = (
    "stubs", "quotes", "non_word_symbols", "reasoning_openers", "empty_symbols", "gibberish",
)  # fmt: skip
"""Kinds without words to the judge: they are not written beside an answer."""
GUARDED: Final = "_guard"
"""What the name of a source of guard rows ends with."""


def guard_of(example: Example, share: float, seed: int) -> Example | None:
    """A guard row for a ``share`` of the answers.

    An attack alone is no answer; beside an answer it changes nothing, and the label stays.
    """
    rng = rng_for(f"guard:{example.id}", seed)
    if rng.random() >= share:
        return None
    kind = rng.choice(GUARDS)
    text = rng.choice(getattr(attacks(needs_gloss(example.response)), kind))
    text = text.format(example.reference[0]) if kind == "quotes" else text
    alone = kind in SAYS_NOTHING or rng.random() < 0.5
    told = [text, example.response]
    response = text if alone else "\n".join(rng.sample(told, 2))
    if alone and (text.strip() in example.accepted or names_an_option(text)):
        return None
    verdict = Verdict.INVALID if alone else example.verdict
    changes = {"id": f"{example.id}:guard", "response": response, "verdict": verdict}
    return example.model_copy(update=changes)
