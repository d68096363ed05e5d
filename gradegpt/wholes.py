"""Where words, numbers and formulas begin and end, so that a stretch of a text is cut out whole.

All texts are bytes: a guided judge writes tokens, which may be parts of characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_WITHIN: Final = (
    rb"(?<=[A-Za-z0-9])[A-Za-z0-9]|(?<=\d)[.,]\d|(?<=\d[.,])\d"  # a word, a number
    rb"|(?<=\\)[A-Za-z(\[{]|(?<=\^)[\w{\\]"  # a command, a power
)
_NO_START: Final = re.compile(_WITHIN + rb"|[\x80-\xbf]")
_NO_END: Final = re.compile(
    rb"|".join(
        (
            _WITHIN,
            rb"(?<=[\\\^_=]).",
            rb"\s*(?:=|<(?!/?\w+>)|\xe2\x89[\xa4\xa5])\s*[\w\\$.-]",  # = < ≤ ≥, but no <tag>
            rb"\s*(?:[*/^_]|\xc3[\x97\xb7])\s*\w",  # * / ^ _ × ÷
        )
    )
)
_OPEN_MATH: Final = re.compile(rb"\$[^$]*[\\\^_][^$]*\Z")


def places(stretch: bytes, text: bytes) -> Iterator[int]:
    """Where ``stretch`` stands in ``text``."""
    at = text.find(stretch)
    while at >= 0:
        yield at
        at = text.find(stretch, at + 1)


def begins_whole(text: bytes, at: int) -> bool:
    """Whether the place is not inside a character, a word, a number or a command."""
    return at == 0 or not _NO_START.match(text, at)


def ends_whole(text: bytes, start: int, end: int) -> bool:
    """Whether this stretch of the text leaves nothing open where it ends.

    What goes to the end of its line is whole, whatever it holds.
    """
    if text[end : end + 1] in (b"", b"\n"):
        return True
    stretch = text[start:end]
    if _NO_END.match(text, end) or _open_braces(stretch):
        return False
    return text.startswith(b"$", end) or not _OPEN_MATH.search(stretch)


def _open_braces(text: bytes) -> bool:
    bare = text.replace(rb"\{", b"").replace(rb"\}", b"")
    return bare.count(b"{") > bare.count(b"}")
