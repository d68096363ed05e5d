"""Few-shot prompts: worked examples as chat turns before the item (CMMaTH, table 8).

The examples are those of ``prompts/shots.yaml``.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from gradegpt.chains.chain import Chain, PromptSettings, build_prompt, render_chain
from gradegpt.chains.fit import Counter, cost
from gradegpt.chains.prompts import prompt_phrases
from gradegpt.core.records import validate
from gradegpt.core.schema import Item, Message, Row, Verdict

MOST: Final = 6
"""The most examples of a prompt: one of each verdict is a reserve for an item's own question."""


class Shot(Row):
    """A worked example: an item and the chain that judges it."""

    item: Item
    chain: Chain


@cache
def worked_examples() -> tuple[Shot, ...]:
    """All examples, in the order in which they stand in a prompt."""
    found = prompt_phrases("shots")["examples"]
    return tuple(validate(Shot, one, "shots.yaml") for one in found)


def few_shot_prompt(
    item: Item, settings: PromptSettings, shots: int, count: Counter | None = None
) -> tuple[Message, ...]:
    """The prompt of ``build_prompt`` with examples before its last turn.

    The room that they take is taken from that of a long response (``Budget.beside``).
    """
    turns = example_turns(item, settings, shots)
    budget = settings.budget.beside(sum(cost(turn.content, count) for turn in turns))
    beside = settings.model_copy(update={"budget": budget})
    system, last = build_prompt(item, beside, count)
    return system, *turns, last


def example_turns(item: Item, settings: PromptSettings, shots: int) -> tuple[Message, ...]:
    """Two turns for each of ``shots`` examples: its prompt, and the reply in the judge's format.

    As many are right as wrong, or one more; the first of each are taken, in the order of the file.
    One with the item's own question is replaced by the next. No budget cuts them.
    """
    return tuple(turn for shot in _chosen(item, shots) for turn in _turns(shot, settings))


def _chosen(item: Item, shots: int) -> list[Shot]:
    own = "".join(item.question.split())
    others = [s for s in worked_examples() if "".join(s.item.question.split()) != own]
    right = [s for s in others if s.chain.verdict is Verdict.CORRECT][: (shots + 1) // 2]
    wrong = [s for s in others if s.chain.verdict is not Verdict.CORRECT][: shots // 2]
    return [s for s in others if s in right or s in wrong]


def _turns(shot: Shot, settings: PromptSettings) -> tuple[Message, Message]:
    chain = render_chain(shot.chain, settings.chain_format, settings.verdict)
    asked = build_prompt(shot.item, PromptSettings())[-1]
    return asked, Message(role="assistant", content=chain)
