"""Mend the form of a reply whose sense is plain: fences, preambles, other marks and other words."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.chains.chain import (
    AGREE,
    ALSO,
    GIVES,
    GLOSS,
    KEY,
    NO,
    NO_KEY,
    REFERENCE,
    WHY,
    YES,
    type_clause,
)
from gradegpt.chains.quote import quotes_verbatim
from gradegpt.core.schema import AnswerType

_THOUGHT: Final = re.compile(r"\A.*?</think>|\A\s*<think>.*?</think>", re.DOTALL)
"""A model that is served without a reasoning parser writes its thoughts first."""
_AROUND: Final = re.compile(r"^(?:\s|[>#`*_]|[-•]\s|\d+[.)]\s)+|[\s`*_]+$")
"""Markdown and numbers around a line."""
_PAIRS: Final = {'"': '"', "“": "”", "「": "」", "『": "』", "'": "'", "`": "`", "«": "»", "‘": "’"}
_LEADS: Final = {
    lead: re.compile(
        re.escape(lead.rstrip(": ")).replace(r"\ ", r"\s+") + r"\W*?\s*[:：]\s*", re.IGNORECASE
    )
    for lead in (KEY, ALSO, GLOSS, WHY)
}
_NO_KEY: Final = re.compile(re.escape(NO_KEY.rstrip(".")).replace(r"\ ", r"\s+"), re.IGNORECASE)
_COMPARISON: Final = re.compile(
    r"the reference answer\W*?\s(?P<reference>.+?) is an? (?P<type>[a-z -]+?)\s*[;；,，.。]\s*"
    r"the (?:model )?response gives\s+(?P<answer>.+?)[.。]?$",
    re.IGNORECASE,
)
_TAG: Final = re.compile(
    r"^(?:the answers agree|judge?ment result|verdict|result)?\W*(?P<tag>yes|no)\W*$",
    re.IGNORECASE,
)
_TRANSLATES: Final = re.compile(
    r"^(?:(?:english )?translation|in english)\s*[:：]\s*", re.IGNORECASE
)
_TYPES: Final = {
    "numerical": "number", "numeric": "number", "numeric value": "number", "integer": "number",
    "fraction": "number", "percentage": "number", "quantity": "number", "choice": "single choice",
    "option": "single choice", "true or false": "true false", "boolean": "true false",
    "yes or no": "true false", "free text": "text", "short text": "text", "string": "text",
    "textual": "text", "name": "text", "phrase": "text", "sentence": "text",
    "formula": "expression",
    "coordinate": "tuple", "point": "tuple", "vector": "tuple", "list": "multi answer",
    "range": "interval",
}  # fmt: skip
"""Other words for the types of answers."""


def repaired(text: str, response: str) -> str:
    """The reply with its lines as ``render_chain`` writes them, as far as their sense is plain.

    Lines that are none of a chain's are left out, as is a ``response`` in quotation marks.
    """
    if "</think>" in text:
        text = _THOUGHT.sub("", text, count=1)
    found = (_line(line, response) for line in text.replace("\r\n", "\n").split("\n"))
    lines = [" ".join(line.split()) for line in found if line]  # a chain has no other blanks
    tags = [line for line in lines if line.startswith(AGREE)]
    return "\n".join([line for line in lines if not line.startswith(AGREE)] + tags[-1:])


def translation(text: str) -> str:
    """The translation in a reply to a request for a gloss: the last line, bare."""
    if "</think>" in text:
        text = _THOUGHT.sub("", text, count=1)
    lines = [bare for line in text.split("\n") if (bare := _bare(line))]
    last = lines[-1] if lines else ""
    return _unquoted(_TRANSLATES.sub("", last))


def _line(text: str, response: str) -> str:
    """A line of a chain; empty for one that is none."""
    line, text = text.rstrip(), _bare(text)
    for lead, pattern in _LEADS.items():
        if match := pattern.match(text):
            said = text[match.end() :].strip()
            whole = line[line.rfind(said) :]  # with the marks at its end: they may be the quote's
            if lead in (KEY, ALSO):
                verbatim = (text for text in (whole, said) if quotes_verbatim(text, response))
                said = next(verbatim, None) or _unquoted(_bare(said))
            elif lead in (GLOSS, WHY):
                said = _unquoted(_bare(said)) if lead == GLOSS else _bare(said)
            return f"{lead}{said}"
    if _NO_KEY.match(text):
        return NO_KEY
    if match := _COMPARISON.match(text):
        wanted, given = (_unquoted(match[name]) for name in ("reference", "answer"))
        return f"{REFERENCE}{wanted}{_clause(match['type'])}{GIVES}{given}."
    if match := _TAG.match(text):
        return f"{AGREE}{YES if match['tag'].lower() == 'yes' else NO}"
    return ""


def _bare(line: str) -> str:
    return _AROUND.sub("", line)


def _unquoted(text: str) -> str:
    """The text without a pair of quotation marks around the whole of it."""
    text = text.strip()
    whole = text[:1] in _PAIRS and text[-1:] == _PAIRS[text[:1]] and len(text) > 2
    inside = text[1:-1]
    return inside.strip() if whole and text[0] not in inside and text[-1] not in inside else text


def _clause(named: str) -> str:
    """The words of a type, without " the model response gives", in the words of ``AnswerType``."""
    words = re.sub(
        r"\s+(?:answer|value|question|type)$", "", named.lower().replace("-", " ").strip()
    )
    known = _TYPES.get(words, words).replace(" ", "_")
    if known not in set(AnswerType):
        return f" is a {named}"
    return type_clause(AnswerType(known)).removesuffix(GIVES)
