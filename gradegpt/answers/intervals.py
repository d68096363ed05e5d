"""Sets of real numbers, read from intervals, inequalities and set-builder forms; and ranges."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Final

from gradegpt.answers import algebra
from gradegpt.answers.formula import read_formula
from gradegpt.answers.types import Piece, Region

_INTERVAL = re.compile(
    r"(?P<open>[\[(])(?P<low>[^,;\[\]]+?)[,;](?P<high>[^,;\[\]]+?)(?P<close>[\])])"
)
_BUILDER = re.compile(
    r"\{\s*(?P<name>[A-Za-z])\s*(?:∈\s*(?:R|ℝ|Z|N)\s*)?(?:\||\\mid|\\vert|:)(?P<body>.+)\}",
    re.DOTALL,
)
_RANGE: Final = re.compile(
    r"(?P<lead>between|from|第|pp?\.?|pages?)?\s*(?P<low>-?\d[\d,]*(?:\.\d+)?)\s*"
    r"(?P<of>[^\s\d~～到至-]{0,8}?)\s*"
    r"(?P<to>-|~|～|\\sim|到|至|to\b|and\b|up to\b|through\b)\s*第?"
    r"(?P<high>-?\d[\d,]*(?:\.\d+)?)\s*(?P<unit>[^\d,;=<>()\[\]{}+*/^]{0,24})",
    re.IGNORECASE,
)
_INFINITE: Final = re.compile(r"(?<![A-Za-z])inf(?:inity|ty)?(?![A-Za-z])")
_JOIN: Final = re.compile(r"∪|\\cup|或者?|\bor\b|(?<=[)\]])\s*U\s*(?=[(\[])")
_REALS: Final = ("R", "ℝ", "全体实数", "一切实数", "实数集")
_EMPTY: Final = ("∅", "\\emptyset", "\\varnothing", "空集")
_EVERYTHING: Final = Piece(-math.inf, False, math.inf, False)
ORDER = re.compile(r"≤|≥|<|>|≠|\\lt|\\gt|\\leq?|\\geq?|\\neq?")
_FLIP: Final = {"<": ">", ">": "<", "≤": "≥", "≥": "≤", "≠": "≠"}
ORDER_WORDS: Final = (
    ("大于等于", "≥"), ("大于或等于", "≥"), ("不小于", "≥"), ("小于等于", "≤"),
    ("小于或等于", "≤"), ("不大于", "≤"), ("大于", ">"), ("小于", "<"), (" is ", " "),
    ("greater than or equal to", "≥"), ("less than or equal to", "≤"), ("greater than", ">"),
    ("more than", ">"), ("less than", "<"),
)  # fmt: skip
"""Words and their signs; the first of each language is the one that is written."""
_LATEX_ORDER: Final = ((r"\lt", "<"), (r"\gt", ">"), (r"\ne", "≠"), ("<=", "≤"), (">=", "≥"))
_BOUNDED = re.compile(r"[<>≤≥≠∪∞(\[]|\\(?:[lg](?:t|eq?)|neq?|infty|cup)")
"""Signs one of which occurs in every interval and inequality."""
_VARIABLE = re.compile(r"(?![eπ]$)(?:\\?[A-Za-zα-ω]+(?:_\{?\w+\}?)?|[a-z]\([a-z]\))")


def is_pair(text: str) -> bool:
    """Whether the text, such as ``(1, 2)``, could as well be a pair of numbers."""
    return bool(re.fullmatch(r"\([^∞\[\]]*\)", text)) and not ORDER.search(text)


def read_range(text: str) -> tuple[str, str] | None:
    """The ends of the range that the folded ``text`` states, with units: 81-83 years, 2到8℃.

    A hyphen makes a range of two increasing numbers if a unit follows or a page sign precedes.
    """
    match = _RANGE.fullmatch(text)
    if match is None or match["of"] in ("e", "E"):
        return None  # 1.6e-19 C
    low, high = (float(match[end].replace(",", "")) for end in ("low", "high"))
    unit = (match["unit"] or "").strip()
    hyphen = match["to"] == "-"
    if not low < high:
        return None
    # 9-11m is a difference, 9-11 m a range
    if hyphen and (
        low < 0 or (text[-2:-1].isdigit() and text[-1].isalpha()) or not (unit or match["lead"])
    ):
        return None
    return f"{match['low']} {match['of'] or unit}".strip(), f"{match['high']} {unit}".strip()


def read_region(text: str) -> Region | None:
    """The region that the folded ``text`` describes; None for any other text."""
    text = _INFINITE.sub("∞", text)
    if text in (*_REALS, *_EMPTY):
        return Region((_EVERYTHING,) if text in _REALS else ())
    if "于" in text or "than" in text:  # 大于2且小于等于5, x is greater than 2
        for words, sign in ORDER_WORDS:
            text = text.replace(words, sign)
        text = re.sub(r"(^|[,;且或]|\band\b|\bor\b)\s*(?=[<>≤≥])", r"\1 x", text)
    if _BOUNDED.search(text) is None:
        return None
    text = re.sub(r"^\s*[A-Za-z]\s*∈\s*", "", text)
    if builder := _BUILDER.fullmatch(text):
        text = builder["body"]
    pieces: list[Piece] = []
    for part in map(str.strip, _JOIN.split(text)):
        if (found := _interval(part) or _inequality(part)) is None:
            return None
        pieces += found
    return Region(_merged(pieces)) if pieces else None


def _interval(text: str) -> list[Piece] | None:
    match = _INTERVAL.fullmatch(text)
    if match is None:
        return None
    low, high = _endpoint(match["low"]), _endpoint(match["high"])
    low_in, high_in = match["open"] == "[", match["close"] == "]"
    if low is None or high is None or not (low < high or (low == high and low_in and high_in)):
        return None
    return [Piece(low, low_in and low > -math.inf, high, high_in and high < math.inf)]


def _endpoint(text: str) -> float | Fraction | None:
    text = text.strip()
    if "∞" in text or "\\infty" in text:
        return -math.inf if text.startswith("-") else math.inf
    tree = read_formula(text)
    value = None if tree is None else algebra.constant(tree)
    return value if isinstance(value, Fraction | float) else None


def _inequality(text: str) -> list[Piece] | None:
    """``1<x≤2``, ``x>3``, ``3<x``, ``x≠0``; conditions joined by a comma or 且 are intersected."""
    for latex, sign in _LATEX_ORDER:
        text = text.replace(latex, sign)
    made = [_EVERYTHING]
    for condition in re.split(r"[,;]|且|\band\b", text):
        pieces = [piece.strip() for piece in re.split(r"([<>≤≥≠])", condition)]
        sides, signs = pieces[::2], pieces[1::2]
        names = [n for n, side in enumerate(sides) if _VARIABLE.fullmatch(side)]
        if not 1 <= len(signs) <= 2 or len(names) != 1:
            return None
        if len(signs) == 2 and (names[0] != 1 or "≠" in signs):
            return None
        for n, sign in enumerate(signs):
            on_left = n == names[0]
            if (value := _endpoint(sides[n + on_left])) is None:
                return None
            made = _within(made, sign if on_left else _FLIP[sign], value)
    return made


def _within(pieces: list[Piece], sign: str, value: float | Fraction) -> list[Piece]:
    """What is left of the pieces below, above or beside a value."""
    made = []
    for piece in pieces:
        if sign in "<≤≠":
            high, high_in = min((piece.high, piece.high_in), (value, sign == "≤"))
            made.append(piece._replace(high=high, high_in=high_in))
        if sign in ">≥≠":
            low, low_out = max((piece.low, not piece.low_in), (value, sign != "≥"))
            made.append(piece._replace(low=low, low_in=not low_out))
    return [p for p in made if p.low < p.high or (p.low == p.high and p.low_in and p.high_in)]


def _merged(pieces: list[Piece]) -> tuple[Piece, ...]:
    made: list[Piece] = []
    for piece in sorted(pieces, key=lambda p: (p.low, not p.low_in)):
        last = made[-1] if made else None
        if last and (
            piece.low < last.high or (piece.low == last.high and (piece.low_in or last.high_in))
        ):
            high, high_in = max((last.high, last.high_in), (piece.high, piece.high_in))
            made[-1] = last._replace(high=high, high_in=high_in)
        else:
            made.append(piece)
    return tuple(made)
