"""Adapters for the prompts of scoring pipelines and their reply formats, a module per family.

``find`` recognises a prompt by the marks and tags of its frame, never by its full text. A new
family is a file in ``families/`` with its ``ADAPTERS``; nothing else changes, and their order does
not matter: a prompt that two families claim is refused.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache
from typing import Final

from gradegpt.schema import Message

from . import families
from .adapter import Adapter, Ask, NoVerdictError, PromptError, frames_of
from .frame import RESPONSE

__all__ = ["ADAPTERS", "Adapter", "Ask", "NoVerdictError", "PromptError", "find"]

_MAX_MISSING: Final = 0.7
"""The largest share of missing marks with which an error message names a family as the nearest."""


@cache
def _all() -> tuple[Adapter, ...]:
    modules = [m.name for m in pkgutil.iter_modules(families.__path__)]
    loaded = [importlib.import_module(f"{families.__name__}.{name}") for name in sorted(modules)]
    return tuple(adapter for module in loaded for adapter in module.ADAPTERS)


ADAPTERS: Final[tuple[Adapter, ...]] = _all()


def find(messages: Sequence[Message], adapters: Sequence[Adapter] = ADAPTERS) -> Ask:
    """The item that a conversation asks to judge, with its family.

    A frame whose marks are in the response of another frame, or that begins in a field of another,
    is quoted text and not a prompt.

    Raises:
        PromptError: no family recognises it (the message names the nearest family and a mark that
            is missing), or several claim it.

    """
    text = frames_of(messages)
    claims = [ask for adapter in adapters if (ask := adapter.read(text)) is not None]
    for quotes in (_answers, _quotes):
        claims = [ask for ask in claims if not any(quotes(other, ask) for other in claims)]
    if len(claims) == 1:
        return claims[0]
    if claims:
        names = " and ".join(ask.adapter.name for ask in claims)
        raise PromptError(f"this prompt fits {names}; enable only one of them with 'adapters'")
    raise PromptError(_unknown(text, adapters))


def _answers(outer: Ask, inner: Ask) -> bool:
    """Whether the frame of ``inner`` consists of marks inside the response of ``outer``.

    Two families may have the same beginning: a quoted frame then has its first marks in the outer
    one. A frame without an end mark reaches to the outer end. So heads are compared first.
    """
    theirs, ours = inner.framed, outer.framed
    if _within(RESPONSE, outer, theirs.heads):
        return True
    inside = _within(RESPONSE, outer, theirs.tails)
    return inside and not _within(RESPONSE, inner, [*ours.heads, *ours.tails])


def _quotes(outer: Ask, inner: Ask) -> bool:
    """Whether the frame of ``inner`` begins in a field of ``outer``."""
    return any(_within(name, outer, inner.framed.heads[:1]) for name in outer.framed.spans)


def _within(field: str, ask: Ask, marks: Sequence[int]) -> bool:
    span = ask.framed.spans[field]
    return any(span.start <= mark < span.end for mark in marks)


def _unknown(text: str, adapters: Sequence[Adapter]) -> str:
    share, lacks, name = min((*adapter.missing(text), adapter.name) for adapter in adapters)
    start = "the prompt belongs to no known family"
    if share > _MAX_MISSING:
        return f"{start}; GET /v1/adapters lists them, and POST /v1/judge accepts an item's fields"
    if not lacks:
        return f"{start}; it is nearest to {name}, but its parts are in another order"
    return f"{start}; it is nearest to {name}, but lacks {lacks[0]!r}"
