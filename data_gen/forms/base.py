"""What every family of forms shares: the answer as it is asked about, its dress, and its look."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from gradegpt.schema import AnswerType

HAN: Final = re.compile(r"[\u3400-\u9fff]")
_DRESS: Final = (("$", "$"), ("\\(", "\\)"))
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
    """A text as opening sign, body and closing sign of inline mathematics."""
    text = text.strip()
    for left, right in _DRESS:
        inner = text[len(left) : -len(right)]
        if text.startswith(left) and text.endswith(right) and inner and left not in inner:
            return left, inner.strip(), right
    return "", text, ""


def in_math(text: str) -> str:
    """The text between dollars, if it is TeX; as it stands if it has words or code in it."""
    return text if _NO_TEX.search(text) else f"${text}$"


def distinct(texts: Iterable[str], *but: str) -> list[str]:
    """The texts without repetition, blanks at the ends, and those in ``but``."""
    stripped = (text.strip() for text in texts)
    return [text for text in dict.fromkeys(stripped) if text and text not in but]
