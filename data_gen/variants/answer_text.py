"""An answer with its type and question, how far it could be parsed, and the markup around it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from gradegpt.answers import Answer, read
from gradegpt.answers.truth import truth
from gradegpt.answers.types import Group, Leaf, Options, Truth
from gradegpt.answers.values import is_read
from gradegpt.answers.words import Words, words
from gradegpt.core.schema import AnswerType

_MARKUP: Final = (
    ("\\[", "\\]"), ("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\boxed{", "}"), ("\\text{", "}"),
    ("\\mathrm{", "}"),
)  # fmt: skip
_ALIKE: Final = str.maketrans(
    {"[": "(", "]": ")", "（": "(", "）": ")", "≤": "<", "≥": ">", "\\": None, "-": None, "+": None}
)
"""Signs that are unified, because a hard negative may differ in them: brackets, orders, signs."""
_ORDER: Final = re.compile(r"\\[lg](?:eq?|t)(?![a-z])|[<>]=?")
_MONEY: Final = re.compile(r"(?:\\?\$|[￥¥])(?=\s*\d)")


class AnswerText(NamedTuple):
    """The text of an answer, with its type, its question and the language of new forms."""

    text: str
    kind: AnswerType
    question: str
    chinese: bool

    @property
    def answer(self) -> Answer:
        """The parsed answer."""
        return read(self.text, self.kind, self.question)


def is_known(answer: Answer) -> bool:
    """Whether the answer was parsed as its type requires; the names in a set may be plain texts."""
    value = answer.value
    if isinstance(value, Words):
        return answer.kind is AnswerType.TEXT and bool(words(value.text))
    if isinstance(value, Group) and answer.kind in (AnswerType.MULTI_ANSWER, AnswerType.SET):
        return True
    return isinstance(value, Options | Truth) or is_read(value)


def is_phrase(answer: Answer) -> bool:
    """Whether texts with commas are one phrase: "yes, no", or a date such as "May 4, 1919"."""
    if not isinstance(answer.value, Group) or is_read(answer.value):
        return False
    truths = any(isinstance(i, Leaf) and truth(i.text) is not None for i in answer.value.items)
    return truths or any(c.isdigit() for c in answer.text)


# --- markup ---------------------------------------------------------------------------------------


def notation_signs(text: str) -> frozenset[str]:
    """The non-alphanumeric characters of a text, which distinguish two notations."""
    text = _ORDER.sub("<", text).translate(_ALIKE)
    return frozenset(c for c in text if not c.isalnum() and not c.isspace())


def strip_markup(text: str) -> tuple[str, str, str]:
    """A text split into opening markup, body and closing markup.

    Markup is dollars, boxes, font commands, a currency sign and a final full stop.
    """
    body = text.strip()
    before, after = "", ""
    if body[-1:] in (".", "。") and not body[:-1].isalpha():
        body, after = body[:-1].rstrip(), body[-1]
    for left, right in _MARKUP * 2:
        inner = body[len(left) : -len(right)]
        if body.startswith(left) and body.endswith(right) and inner and _closed(inner, left):
            body, before, after = inner.strip(), before + left, right + after
    if (money := _MONEY.match(body)) and body.count("$") < 2:
        body, before = body[money.end() :].strip(), before + money[0]
    return before, body, after


def _closed(inner: str, left: str) -> bool:
    """Whether the outer delimiters form a pair; those of "$1$ and $2$" do not."""
    if "{" not in left:
        return left not in inner
    return "}" not in inner or (inner.find("{") != -1 and inner.find("{") < inner.find("}"))


def distinct(texts: Iterable[str], *but: str) -> list[str]:
    """The stripped texts without duplicates, empty ones and those in ``but``."""
    stripped = (text.strip() for text in texts)
    return [text for text in dict.fromkeys(stripped) if text and text not in but]
