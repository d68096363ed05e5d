"""Templates: the prompts of scoring pipelines as data, with the replies that their callers parse.

``find`` recognises a prompt by the marks and tags of its frame, never by its full text. A new
template is a YAML file beside this module, in the form of ``template.Template``; nothing else
changes, and their order does not matter: a prompt that two templates claim is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import yaml

from gradegpt.core.schema import Message
from gradegpt.core.settings import LOADER, build_settings

from .code import PromptError
from .frame import RESPONSE, frames_of
from .template import Ask, NoVerdictError, Template

__all__ = [
    "TEMPLATES",
    "Ask",
    "NoVerdictError",
    "PromptError",
    "Template",
    "UnknownPromptError",
    "find",
    "is_shipped",
]

GUIDE: Final = "docs/guides/adapters.md"
WAYS_ON: Final = (
    "send the fields to POST /v1/judge, or learn a template from two such prompts and the replies "
    "that are read, with gradegpt serve.template learn A.txt B.txt --correct 'WHAT YOUR PARSER "
    "READS AS RIGHT' --incorrect 'WHAT IT READS AS WRONG' -o mine.yaml, for the setting "
    f"templates=[mine.yaml] ({GUIDE})"
)
"""What to do with a prompt that is not recognised."""


class UnknownPromptError(PromptError):
    """A prompt that no template recognises."""

    code = "unknown_prompt"


TEMPLATES: Final = tuple(
    build_settings(Template, yaml.load(file.read_bytes(), LOADER), str(file))  # noqa: S506
    for file in sorted(Path(__file__).parent.glob("*.yaml"))
)


def is_shipped(template: Template) -> bool:
    """Whether it is one of these files, and no template of one's own with the same name."""
    return any(template is one for one in TEMPLATES)


def find(messages: Sequence[Message], templates: Sequence[Template] = TEMPLATES) -> Ask:
    """The item that a conversation asks to judge, with its template.

    A frame whose marks are in the response of another frame, or that begins in a field of another,
    is quoted text and not a prompt.

    Raises:
        UnknownPromptError: no template recognises it.
        PromptError: several claim it.

    """
    text = frames_of(messages)
    claims = [ask for template in templates if (ask := template.read(text)) is not None]
    for quotes in (_answers, _quotes):
        claims = [
            ask
            for ask in claims
            if not any(quotes(other, ask) for other in claims if other is not ask)
        ]
    if len(claims) == 1:
        return claims[0]
    if claims:
        names = " and ".join(ask.template.name for ask in claims)
        raise PromptError(f"this prompt fits {names}; enable only one of them with 'adapters'")
    raise UnknownPromptError(f"the prompt belongs to no known template; {WAYS_ON}")


def _answers(outer: Ask, inner: Ask) -> bool:
    """Whether the frame of ``inner`` consists of marks inside the response of ``outer``.

    Two templates may have the same beginning: a quoted frame then has its first marks in the outer
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
    return any(mark in ask.framed.spans[field] for mark in marks)
