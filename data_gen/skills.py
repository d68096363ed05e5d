"""Pre-training tasks of the base model, as plain chat rows.

The tasks are bilingual text, copying, quoting, extracting, comparing and checking. A comparison is
answered with a verdict tag, so that the base knows the tags before SFT. No row has the judge's
prompt or chain; LoRA SFT teaches these.
"""

from __future__ import annotations

import random
from typing import Any, Final

from gradegpt.chain import NO, YES, defuse
from gradegpt.fit import Budget, fit_middle, fit_response
from gradegpt.schema import Verdict

from .candidates import Candidate, chat_row
from .phrases import read_lists

_NOTHING: Final = "It states no answer."


def skill_row(candidate: Candidate, rng: random.Random, budget: Budget) -> dict[str, Any]:
    """One pre-training row from a graded answer: plain text, or one of six kinds of chat task."""
    item, chain = candidate.item, candidate.chain
    response = defuse(fit_response(item.response, budget.response))
    question = defuse(fit_middle(item.question, budget.question))
    roll = rng.random()
    if chain is None or chain.key_sentence is None:
        return _chat(_ask(rng, "quote", "extract"), response, _NOTHING)
    if roll < 0.06:
        return {"text": f"{question}\n{response}".strip()}
    if roll < 0.16 and (halves := _halves(response, rng)):
        return _chat(_ask(rng, "continue"), f"{response}\n\n{halves[0]}", halves[1])
    if roll < 0.25:
        return _chat(_ask(rng, "quote"), response, chain.key_sentence)
    if roll < 0.35:
        return _chat(
            _ask(rng, "extract"),
            f"{question}\n\n{response}",
            f"{chain.key_sentence}\n{chain.answer}",
        )
    tag = YES if chain.verdict is Verdict.CORRECT else NO
    if roll < 0.48:
        pair = [chain.reference_answer, chain.answer or ""]
        rng.shuffle(pair)
        return _chat(_ask(rng, "compare"), f"{pair[0]}\n{pair[1]}", f"{pair[0]} | {pair[1]}: {tag}")
    if chain.gloss and roll < 0.57:
        return _chat("Say this in English.", chain.key_sentence, chain.gloss)
    reference = defuse(fit_response(item.reference[0], budget.reference))
    kind = (chain.answer_type or "text").replace("_", " ")
    body = f"Key: {reference}\n\n{question}\n\nSolution: {response}"
    gloss = f"\n{chain.gloss}" if chain.gloss else ""
    finding = f"Key ({kind}) {chain.reference_answer} | found {chain.answer}: {tag}"
    return _chat(_ask(rng, "check"), body, f"It says: {chain.key_sentence}{gloss}\n{finding}")


def _ask(rng: random.Random, *kinds: str) -> str:
    return rng.choice([text for kind in kinds for text in read_lists("tasks")[kind]])


def _halves(text: str, rng: random.Random) -> tuple[str, str] | None:
    """A random line of ``text`` in two parts, for the task of continuing it."""
    lines = [line for line in text.split("\n") if 16 <= len(line) <= 400]
    if not lines:
        return None
    line = rng.choice(lines)
    cut = rng.randint(6, len(line) - 4)
    return line[:cut], line[cut : cut + 160]


def _chat(task: str, body: str, reply: str) -> dict[str, Any]:
    row = chat_row(f"{task}\n\n{body}", reply)
    return row.model_dump(mode="json", exclude={"meta"})
