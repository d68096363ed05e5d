"""Markup around an answer, and the signs by which two notations differ."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

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
