"""What every family of forms shares: the answer as it is asked about, its dress, and its look."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from gradegpt.schema import AnswerType

HAN: Final = re.compile(r"[\u3400-\u9fff]")
_DRESS: Final = (
    ("\\[", "\\]"), ("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\boxed{", "}"), ("\\text{", "}"),
    ("\\mathrm{", "}"),
)  # fmt: skip
_ALIKE: Final = str.maketrans(
    {"[": "(", "]": ")", "（": "(", "）": ")", "≤": "<", "≥": ">", "\\": None, "-": None, "+": None}
)
"""Signs whose exchange is the mistake itself: brackets, orders and signs tell nothing by looks."""


_ORDER: Final = re.compile(r"\\[lg](?:eq?|t)(?![a-z])|[<>]=?")
_NO_TEX: Final = re.compile(r"[\u3400-\u9fff$√]|(?<!\\)%|sqrt\(|(?<![\\A-Za-z{])[A-Za-z]{4,}|\d\*")


class Answer(NamedTuple):
    """A bare answer with all that decides how else it may be written."""

    text: str
    kind: AnswerType
    question: str = ""
    chinese: bool = False

    def part(self, text: str) -> Answer:
        """A piece of this answer; the question asks for the whole, so it says nothing of it."""
        return self._replace(text=text, question="")


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
    return before, body, after


def _closed(inner: str, left: str) -> bool:
    """Whether the signs around belong together: $1$ and $2$ have none around both."""
    if "{" not in left:
        return left not in inner
    return "}" not in inner or (inner.find("{") != -1 and inner.find("{") < inner.find("}"))


def in_math(text: str) -> str:
    """The text between dollars, if it is TeX; as it stands if it has words or code in it."""
    return text if _NO_TEX.search(text) else f"${text}$"


def distinct(texts: Iterable[str], *but: str) -> list[str]:
    """The texts without repetition, blanks at the ends, and those in ``but``."""
    stripped = (text.strip() for text in texts)
    return [text for text in dict.fromkeys(stripped) if text and text not in but]
