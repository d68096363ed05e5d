"""A judge's check of its own chain: its parts are answers, too, and a judge grades answers.

Behind a tag that stands first, a chain costs nothing to be wrong. So each part is put to the judge
again, one tag each: a quote has to bring the verdict that the whole response brings, a gloss and
its quote have to say the same, and the reason, as an answer, has to bring the verdict. Then what is
left out is what the judge itself would not accept
(docs/experiments/092-chains-that-the-judge-confirms.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from gradegpt.chains.chain import GLOSS, WHY, parse_chain
from gradegpt.core.schema import Item, Verdict
from gradegpt.engines.base import Generation, TagProbability

CLOSE: Final = 0.5
"""The most by which the log odds of the quotes may be below those of the response."""
SAME: Final = 4.0
"""The least log odds that a gloss and its quote say the same, either as the reference."""
HELD: Final = 4.0
"""The least log odds of the verdict on the reason."""


def claims(item: Item, text: str) -> list[Item]:
    """What a chain claims, as items to judge; none for a tag alone.

    The response itself, the quotes in its place, the reason in its place, and each gloss twice:
    with its quote as the reference and as the response.
    """
    chain = parse_chain(text).chain
    if chain is None or not chain.quotes:
        return []
    said = [item.response, " ".join(chain.quotes), *filter(None, [chain.why])]
    given = [item.model_copy(update={"response": one}) for one in said]
    for quote, gloss in zip(chain.quotes, chain.glosses, strict=False):
        for one, other in ((quote, gloss), (gloss, quote)) if gloss else ():
            given.append(item.model_copy(update={"reference": (one,), "response": other}))
    return given


def confirmed(written: Generation, tags: Sequence[TagProbability]) -> Generation:
    """The chain without the parts that its judge does not confirm, by the tags of its ``claims``.

    Where the quotes are not confirmed, what rests on them is left out too: the tag stays alone.
    """
    chain = parse_chain(written.text).chain
    if chain is None:
        return written
    sign = 1 if chain.verdict is Verdict.CORRECT else -1
    whole, quoted, *odds = (_log_odds(tag.yes) for tag in tags)
    lines = written.text.split("\n")
    if chain.why and sign * odds.pop(0) < HELD:
        lines = [line for line in lines if not line.startswith(WHY)]
    for gloss in filter(None, chain.glosses):
        if min(odds.pop(0), odds.pop(0)) < SAME:
            lines.remove(f"{GLOSS}{gloss}")
    return written._replace(
        text="\n".join(lines if sign * (quoted - whole) > -CLOSE else lines[:1]),
        prompt_tokens=written.prompt_tokens + sum(tag.prompt_tokens for tag in tags),
        completion_tokens=written.completion_tokens + sum(tag.completion_tokens for tag in tags),
    )


def _log_odds(probability: float) -> float:
    inside = min(max(probability, 2e-9), 1 - 2e-9)
    return math.log(inside / (1 - inside))
