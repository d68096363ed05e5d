"""Adapters for the prompts of scoring pipelines and their reply formats, a module per family.

``find`` recognises a prompt by the marks and tags of its frame, never by its full text. A new
family is a file in ``families/`` with its ``ADAPTERS``; nothing else changes, and their order does
not matter: a prompt that two families claim is refused. ``general`` reads prompts of no family.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from gradegpt.schema import Message

from . import families
from .adapter import Adapter, Ask, NoVerdictError, PromptError, frames_of
from .frame import RESPONSE
from .general import WAYS_ON, read

__all__ = ["ADAPTERS", "Adapter", "Ask", "NoVerdictError", "PromptError", "find"]


@cache
def _all() -> tuple[Adapter, ...]:
    modules = [m.name for m in pkgutil.iter_modules(families.__path__)]
    loaded = [importlib.import_module(f"{families.__name__}.{name}") for name in sorted(modules)]
    return tuple(adapter for module in loaded for adapter in module.ADAPTERS)


ADAPTERS: Final[tuple[Adapter, ...]] = _all()


def find(
    messages: Sequence[Message],
    adapters: Sequence[Adapter] = ADAPTERS,
    *,
    general: bool = False,
    schema: Mapping[str, Any] | None = None,
) -> Ask:
    """The item that a conversation asks to judge, with its family.

    A frame whose marks are in the response of another frame, or that begins in a field of another,
    is quoted text and not a prompt. A prompt of no family is left to the general reader, if that
    is enabled; ``schema`` is the JSON schema that the caller wants.

    Raises:
        PromptError: no family recognises it, or several claim it.

    """
    text = frames_of(messages)
    claims = [ask for adapter in adapters if (ask := adapter.read(text)) is not None]
    for quotes in (_answers, _quotes):
        claims = [
            ask
            for ask in claims
            if not any(quotes(other, ask) for other in claims if other is not ask)
        ]
    if len(claims) == 1:
        return claims[0]
    if claims:
        names = " and ".join(ask.adapter.name for ask in claims)
        raise PromptError(f"this prompt fits {names}; enable only one of them with 'adapters'")
    if general:
        return read(messages, schema)
    raise PromptError(f"the prompt belongs to no known family; {WAYS_ON}")


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
