"""The question of an item as the rules read it: with its context before it."""

from __future__ import annotations

from gradegpt.answers.options import as_context
from gradegpt.core.schema import Item


def asked(item: Item) -> str:
    """The question, with its context before it if it has one.

    An item with a context is judged like the same question with that text before it, except for
    what ``as_context`` removes. Rules that look for something in a question (its options, whether
    to round, the unit, its words) look for it in this text.
    """
    if not item.context or not item.question:
        return item.question or item.context or ""
    return f"{as_context(item.context, item.question)}\n{item.question}"
