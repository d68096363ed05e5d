"""The look of an answer: what stands around it, and the signs by which two notations differ."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_DRESS: Final = (
    ("\\[", "\\]"), ("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\boxed{", "}"), ("\\text{", "}"),
    ("\\mathrm{", "}"),
)  # fmt: skip
_ALIKE: Final = str.maketrans(
    {"[": "(", "]": ")", "（": "(", "）": ")", "≤": "<", "≥": ">", "\\": None, "-": None, "+": None}
)
"""Signs whose exchange is the mistake itself: brackets, orders and signs tell nothing by looks."""
_ORDER: Final = re.compile(r"\\[lg](?:eq?|t)(?![a-z])|[<>]=?")
_MONEY: Final = re.compile(r"(?:\\?\$|[￥¥])(?=\s*\d)")


def look(text: str) -> frozenset[str]:
    """The signs of a text, by which a reader could tell two notations apart without reading."""
    text = _ORDER.sub("<", text).translate(_ALIKE)
    return frozenset(c for c in text if not c.isalnum() and not c.isspace())


def undress(text: str) -> tuple[str, str, str]:
    """A text as opening, body and closing: dollars, boxes, fonts and a closing full stop go."""
    body = text.strip()
    before, after = "", ""
    if body[-1:] in (".", "。") and not body[:-1].isalpha():
        body, after = body[:-1].rstrip(), body[-1]
    for left, right in _DRESS * 2:
        inner = body[len(left) : -len(right)]
        if body.startswith(left) and body.endswith(right) and inner and _closed(inner, left):
            body, before, after = inner.strip(), before + left, right + after
    if (money := _MONEY.match(body)) and body.count("$") < 2:
        body, before = body[money.end() :].strip(), before + money[0]
    return before, body, after


def _closed(inner: str, left: str) -> bool:
    """Whether the signs around belong together: $1$ and $2$ have none around both."""
    if "{" not in left:
        return left not in inner
    return "}" not in inner or (inner.find("{") != -1 and inner.find("{") < inner.find("}"))


def distinct(texts: Iterable[str], *but: str) -> list[str]:
    """The texts without repetition, blanks at the ends, and those in ``but``."""
    stripped = (text.strip() for text in texts)
    return [text for text in dict.fromkeys(stripped) if text and text not in but]
