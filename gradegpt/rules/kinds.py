"""Tell the answer type from the reference, and read option letters and truth words."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from gradegpt.rules.normalise import fold, plain
from gradegpt.rules.values import quantity
from gradegpt.schema import AnswerType

_LETTERS = re.compile(
    r"(?:选项|选择|选|option|choice|answer)?[\s_]*[(（\[]?(?P<letters>[A-H](?:[\s,、，和与及&/]*(?:and\s+)?[A-H])*)(?![A-Za-z])[)）\]]?"
    r"(?P<rest>[\s.:：、。,，项)]*.*)",
    re.DOTALL | re.IGNORECASE,
)
_ANOTHER = re.compile(
    r"[\s.:,;+/&|)\](\[]*(?:或者?|还是|or\b|and\b|和|与)?[\s(\[]*[A-H](?![a-z])(?! [a-z])"
)
_LETTERED = re.compile(r"\(?(?P<letter>[A-H])\s*[).:,]\s*(?P<text>.+)", re.DOTALL)
_MAX_OPTION: Final = 400
_MAX_NUMBER: Final = 200
_OPTION_LINE = re.compile(
    r"(?:^|[\s(（])(?P<letter>[A-H])\s*[.．、:：)）]\s*(?P<text>.*?)(?=(?:[\s(（]+[A-H]\s*[.．、:：)）])|\n|$)",
    re.DOTALL,
)
_TRUE: Final = {"true", "t", "yes", "correct", "right", "对", "正确", "是", "√", "✓", "成立", "真"}
_FALSE: Final = {
    "false",
    "f",
    "no",
    "incorrect",
    "wrong",
    "错",
    "错误",
    "不正确",
    "否",
    "×",
    "✗",
    "不成立",
    "假",
    "不对",
}
_INTERVAL = re.compile(r"[\[(（][^\[\](){}]*[,，][^\[\](){}]*[\])）](?:\s*∪.*)?")
_PARTS = re.compile(
    r"[(（]\s*(?:1|一|i|a)\s*[)）].*[(（]\s*(?:2|二|ii|b)\s*[)）]", re.DOTALL | re.IGNORECASE
)
_WORDS = re.compile(r"[\u3400-\u9fff]{2,}|(?<![a-zA-Z])[a-zA-Z]{3,}\s+[a-zA-Z]{2,}")

_NAME = re.compile(
    r"(?<![a-zA-Z\\_^{])(?!(?:sin|cos|tan|cot|sec|csc|arc\w*|log|exp|lim|max|min|mod|gcd|lcm|det"
    r"|sqrt|frac|and|true|false|yes|pi|inf(?:inity)?|sgn|arg|cm|mm|km|kg|mol|rad|deg)(?![a-zA-Z]))"
    r"(?:[A-Z][a-z]{2,}|[a-z]{3,})(?![a-zA-Z_^}(=])|\b(?:AD|BC|BCE|CE)\b"
)
"""A word such as a month's or a town's: "March 18, 2018" is no list of numbers."""


def letters(answer: str, listed: dict[str, str] | None = None) -> frozenset[str] | None:
    """The option letters that an answer names.

    Read are ``A``, ``(B)``, ``A、C``, ``AC``, ``A and C``, ``B. text`` and ``Choice_B``, and any
    letter that stands before its own text in ``listed``: ``(E) a + b``.
    """
    text = fold(answer[:_MAX_OPTION]).strip(" .*:\n")
    lettered = _LETTERED.fullmatch(text)
    if lettered and plain(lettered["text"]) == plain((listed or {}).get(lettered["letter"], "")):
        return frozenset(lettered["letter"])
    match = _LETTERS.match(text)
    if match is None or (match["letters"][0].islower() and len(text) > 1):
        return None
    rest = match["rest"]
    if rest and rest[0] not in " .:、,)项\n" and not "\u3400" <= rest[0] <= "\u9fff":
        return None
    if _ANOTHER.match(rest):
        return None  # "A或B", "B + D": no telling whether both are meant
    if rest.strip() and rest[0] == " " and rest.strip()[0].islower():
        return None  # "A number of ..." is a sentence, not an option
    # The word goes first: in "B and C" its own letters would name options A and D.
    named = match["letters"].upper().replace("AND", " ")
    return frozenset(char for char in named if "A" <= char <= "H")


@lru_cache(maxsize=1024)
def options(question: str) -> dict[str, str]:
    """Letter -> option text, where the question lists at least two options."""
    found = {m["letter"]: m["text"].strip() for m in _OPTION_LINE.finditer(question)}
    return found if len(found) > 1 and "A" in found else {}


def truth(answer: str) -> bool | None:
    """True, false, or none for anything that is not a truth word in Chinese or English."""
    word = plain(answer)
    return True if word in _TRUE else False if word in _FALSE else None


@lru_cache(maxsize=4096)
def answer_type(reference: str, question: str = "") -> AnswerType:
    """The likely type of a short reference answer: a guess where none is stated, not a proof."""
    text = fold(reference).strip()
    listed = options(question)
    named = letters(text, listed)
    if named and (listed or re.fullmatch(r"[A-H\s,()]+", text)):
        return AnswerType.SINGLE_CHOICE if len(named) == 1 else AnswerType.MULTIPLE_CHOICE
    if truth(text) is not None:
        return AnswerType.TRUE_FALSE
    if len(text) <= _MAX_NUMBER and quantity(text.strip(" .")) is not None:
        return AnswerType.NUMBER
    if _PARTS.search(text):
        return AnswerType.MULTI_PART
    return _mathematical(text)


def _mathematical(text: str) -> AnswerType:
    if _WORDS.search(text) or _NAME.search(text) or not re.search(r"\w|[∅∞]", text):
        return AnswerType.TEXT
    if _INTERVAL.fullmatch(text):
        return (
            AnswerType.INTERVAL
            if "[" in text or "]" in text or "∞" in text or "∪" in text
            else AnswerType.TUPLE
        )
    if text.startswith("{") and text.endswith("}"):
        return AnswerType.SET
    if re.search(r"[<>≤≥]", text):
        return AnswerType.INTERVAL
    if re.search(r"[,;或和]|\bor\b|\band\b|±", text):
        return AnswerType.MULTI_ANSWER
    if "=" in text:
        return AnswerType.EQUATION
    return (
        AnswerType.EXPRESSION
        if re.search(r"[\d\\^+*/π√]", text) or len(text) <= 2
        else AnswerType.TEXT
    )
