"""English glosses of the project's own Chinese templates, phrase by phrase.

The sentences of ``text/phrases.yaml`` have the same word order in both languages, so each phrase of
``text/gloss.tsv`` replaces its Chinese. Names come from the bilingual tables, units and numbers
from ``gradegpt.answers``; mathematics is copied. A sentence with any other word has no gloss: a
partial one would teach a model to invent text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from gradegpt.answers.number import spelled
from gradegpt.answers.options import LETTERS
from gradegpt.answers.units import UNITS
from gradegpt.chains.gloss import faithful

from .bilingual import names
from .phrases import TEXT

_MARKUP = re.compile(r"(?<![A-Za-z0-9)])\*\*|\*\*(?![A-Za-z0-9(])|^(?:#{1,6}|>)\s+|[`“”]")
_LETTERS: Final = rf"((?<![A-Za-z])[{LETTERS}](?:[、, ]*[{LETTERS}])*)"
_REORDERED: Final = (
    (re.compile(rf"{_LETTERS}\s*(?:选项|项)"), r"选项\1"),
    (re.compile(rf"{_LETTERS}正确"), r"\1是正确的"),
    (re.compile(r"是(?=[。.]?\s*$)"), "是的"),
)
"""Phrases whose word order differs from English, or whose meaning depends on their position."""
_MARKS: Final = {
    "，": ", ", "。": ". ", "；": "; ", "：": ": ", "！": "! ", "？": "? ", "．": ". ", "、": ", ",
    "（": " (", "）": ") ", "【": " [", "】": "] ",
}  # fmt: skip
_KEPT = re.compile("[^\u3000-\u303f\u3400-\u9fff\uff00-\uffef]+")
_NUMERAL = re.compile("负?[零一二两三四五六七八九十百千点分之又]+")
_TWICE = re.compile(r"\b(is|be|choose)(:?) +(?:is|choose)\b")
"""A word that the sentence and the answer both have: 答案是是对的."""
_SENTENCE = re.compile(r"(?:^|[.!?\[]|^[-*])\s*$")


def render_gloss(sentence: str) -> str | None:
    """The sentence in English; none where it has a word that is not in the templates."""
    text = _MARKUP.sub("", sentence)
    for pattern, turned in _REORDERED:
        text = pattern.sub(turned, text)
    gloss = ""
    at = 0
    while at < len(text):
        end, english = _next(text, at, gloss)
        if english is None:
            return None
        gloss, at = gloss + english, end
    gloss = re.sub(r"(?<=[\[(]) +| +(?=[,.;:!?)\]])| +(?= )", "", gloss).strip()
    gloss = _TWICE.sub(r"\1\2", gloss)
    return gloss if faithful(sentence, gloss) else None


def _next(text: str, at: int, before: str) -> tuple[int, str | None]:
    """Where the next phrase of ``text`` ends, and its English; none where it is unknown."""
    if text[at] in _MARKS:
        return at + 1, _MARKS[text[at]]
    ends = range(min(len(text), at + max(map(len, _table()))), at, -1)
    known = next((end for end in ends if text[at:end] in _table()), None)
    numeral = _NUMERAL.match(text, at)
    if numeral and numeral.end() > (known or at):
        value = spelled(numeral[0])
        return numeral.end(), None if value is None else _worded(str(value), before)
    if known is not None:
        return known, _worded(_table()[text[at:known]], before)
    kept = _KEPT.match(text, at)
    if kept is None:
        return at, None
    glued = before[-1:] == " " or not before or kept[0][0] in " ,.;:!?)]%°"
    return kept.end(), kept[0] if glued else f" {kept[0]}"


def _worded(english: str, before: str) -> str:
    """The phrase after ``before``: capitalised at a sentence's start, a unit of 1 in singular."""
    if english in _units() and re.search(r"(?<![\d.,/])(?:1|one)\s*$", before):
        english = re.sub(r"s\b", "", english, count=1)
    if _SENTENCE.search(before):
        english = english[:1].upper() + english[1:]
    return f" {english} "


@cache
def _units() -> frozenset[str]:
    return frozenset(unit.english[0] for unit in UNITS)


@cache
def _table() -> dict[str, str]:
    """English by Chinese phrase: from the file, the units and the bilingual names."""
    lines = (TEXT / "gloss.tsv").read_text(encoding="utf-8").splitlines()
    phrases = dict(line.split("\t") for line in lines if not line.startswith("#"))
    units = {name: unit.english[0] for unit in UNITS for name in unit.chinese}
    return {**names(), **units, **phrases}
