"""What an item asks, as the rules read it: its question, behind the context that it is asked in."""

from __future__ import annotations

from functools import lru_cache

from gradegpt.answers.options import as_context
from gradegpt.schema import Item


def asked(item: Item) -> str:
    """The question, with its context before it where there is one.

    An item with a context is judged like the same question with that text before it, but for what
    ``as_context`` leaves out. Whatever a rule asks of a question (its options, whether to round,
    the unit, its own words) it asks of this.
    """
    if not item.context or not item.question:
        return item.question or item.context or ""
    return _behind(item.context, item.question)


@lru_cache(maxsize=1024)
def _behind(context: str, question: str) -> str:
    return f"{as_context(context, question)}\n{question}"
