"""What scoring pipelines send to a judge, and what they read of its reply: a module a family.

``find`` knows a prompt by the marks and tags of its frame, never by its full text. A new family is
a file in ``families/`` with its ``ADAPTERS``; nothing else changes, and no order matters: a prompt
that two families claim is nobody's.
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

_FAR: Final = 0.7
"""The share of marks that may be missing before a family is no longer called near."""


@cache
def _all() -> tuple[Adapter, ...]:
    modules = [m.name for m in pkgutil.iter_modules(families.__path__)]
    loaded = [importlib.import_module(f"{families.__name__}.{name}") for name in sorted(modules)]
    return tuple(adapter for module in loaded for adapter in module.ADAPTERS)


ADAPTERS: Final[tuple[Adapter, ...]] = _all()


def find(messages: Sequence[Message], adapters: Sequence[Adapter] = ADAPTERS) -> Ask:
    """What a conversation asks.

    A frame with marks in the response of another, or begun in another's field, is part of what is
    judged and asks nothing.

    Raises:
        PromptError: no family knows it (the message names the nearest and what it lacks), or
            several claim it.

    """
    text = frames_of(messages)
    claims = [ask for adapter in adapters if (ask := adapter.read(text)) is not None]
    for quotes in (_answers, _quotes):
        claims = [ask for ask in claims if not any(quotes(other, ask) for other in claims)]
    if len(claims) == 1:
        return claims[0]
    if claims:
        names = " and ".join(ask.adapter.name for ask in claims)
        raise PromptError(f"this prompt is one of {names}; turn all but one off with 'adapters'")
    raise PromptError(_unknown(text, adapters))


def _answers(outer: Ask, inner: Ask) -> bool:
    """Whether the frame of ``inner`` is made of marks that the response of ``outer`` holds.

    Two families may begin alike: the quoted one then takes its first marks from the true one. And
    one that is open at its end takes the end of the true one for its own: heads tell first.
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
    here = "no family of prompts that is known here"
    if share > _FAR:
        return f"{here}; GET /v1/adapters lists them, POST /v1/judge takes the parts as fields"
    if not lacks:
        return f"{here}; it is nearest to {name}, but its parts stand in another order"
    return f"{here}; it is nearest to {name}, but lacks {lacks[0]!r}"
