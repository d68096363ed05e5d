"""The boundaries of words, numbers, formulas and clauses, so that no part is cut in the middle.

All texts are bytes: constrained decoding sees tokens, which may be parts of characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gradegpt.answers.options import LETTERS
from gradegpt.answers.spans import ENDS, JOINTS

_LETTER: Final = f"[{LETTERS}]".encode()
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
            rb"(?<=[^A-Za-z]%b)\s*(?:,|\xef\xbc\x8c|\xe3\x80\x81|and|&)\s*"  # A, ， 、
            rb"%b\s*(?:[<,.*\n]|\xef\xbc\x8c|\xe3\x80[\x81\x82]|$)" % (_LETTER, _LETTER),  # C 。
            rb"\s*(?:=|<(?!/?\w+>)|\xe2\x89[\xa4\xa5])\s*[\w\\$.-]",  # = < ≤ ≥, but no <tag>
            rb"\s*(?:[*/^_]|\xc3[\x97\xb7])\s*\w",  # * / ^ _ × ÷
        )
    )
)
_SUM: Final = re.compile(
    rb"[\d)}\]%](?:\s*+[A-Za-z]++){0,3}\s*"  # 4 boxes
    rb"(?:[-+*/x^]|\xc3[\x97\xb7]|\\(?:times|cdot|div)\b)"  # x
    rb"\s*(?:[$({]|\xc2\xa3|\\[a-z]+)*\d[^=\n]*=\s*"  # 3 pens =
    rb"(?:\d[\d.,]*>>)?"  # <<4*3=12>>
    rb"(?=(?:[-$({<*\s]|\\boxed|\\[dt]?frac|\xc2\xa3|\xe2\x82\xac)*\d)"  # 12
)
_CLAUSE_MARKS: Final = f"{ENDS}.{JOINTS})）】"
_BEFORE_CLAUSES: Final = f'\n{_CLAUSE_MARKS}…>#*-"”’(（[【'
_NEAR: Final = 64
"""Bytes before and after a clause in which its mark is searched; spaces may separate them."""
_HEADING: Final = "【".encode()
_AFTER_CLAUSES: Final = f"{_CLAUSE_MARKS}…<‹*~`"
_OPEN_MATH: Final = re.compile(rb"\$[^$]*[\\\^_][^$]*\Z")


def occurrences(part: bytes, text: bytes) -> Iterator[int]:
    """The positions of ``part`` in ``text``."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def begins_whole(text: bytes, at: int) -> bool:
    """Whether the position is not inside of a character, a word, a number or a command."""
    return at == 0 or not _NO_START.match(text, at)


def ends_whole(text: bytes, start: int, end: int) -> bool:
    """Whether this part of the text does not end inside of a word, a number or a formula.

    A part up to the end of its line is always whole.
    """
    if text[end : end + 1] in (b"", b"\n"):
        return True
    part = text[start:end]
    if _NO_END.match(text, end) or _open_braces(part):
        return False
    return text.startswith(b"$", end) or not _OPEN_MATH.search(part)


def begins_clause(text: bytes, at: int) -> bool:
    """Whether a clause may begin here: at the beginning of a line or after a mark."""
    if not begins_whole(text, at):
        return False
    before = text[max(0, at - _NEAR) : at].rstrip(b" ")[-4:].decode(errors="ignore")
    return not before or before[-1] in _BEFORE_CLAUSES or text.startswith(_HEADING, at)


def ends_clause(text: bytes, start: int, end: int) -> bool:
    """Whether a clause may end here: whole, and at a mark or at the end of a line.

    Spaces may precede the mark. Chinese text after a space is a new sentence.
    """
    if not ends_whole(text, start, end):
        return False
    line = text[end : end + _NEAR].partition(b"\n")[0].decode(errors="ignore")
    rest, last = line.lstrip(), text[max(0, end - 4) : end].decode(errors="ignore")[-1:]
    apart = rest != line and "\u3400" <= rest[:1] <= "\u9fff"
    if not rest or apart:
        return True
    return not line.startswith("$") and (last in _CLAUSE_MARKS or rest[0] in _AFTER_CLAUSES)


def sum_end(text: bytes) -> int:
    """The beginning of the result of the last calculation, 12 in "4 x 3 = 12"; 0 without one."""
    return max((m.end() for m in _SUM.finditer(text)), default=0)


def _open_braces(text: bytes) -> bool:
    bare = text.replace(rb"\{", b"").replace(rb"\}", b"")
    return bare.count(b"{") > bare.count(b"}")
