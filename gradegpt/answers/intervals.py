"""Sets of real numbers, read from intervals, inequalities and set-builder forms."""

from __future__ import annotations

import itertools
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
_UNION: Final = re.compile(r"(?<=[)\]])\s*U\s*(?=[(\[])")
_DENIED: Final = re.compile(r"[不非没]|\bnot\b")
_FLIP: Final = {"<": ">", ">": "<", "≤": "≥", "≥": "≤", "≠": "≠"}
_REALS: Final = ("R", "ℝ", "全体实数", "一切实数", "实数集")
_EVERYTHING: Final = Piece(-math.inf, False, math.inf, False)
ORDER = re.compile(r"≤|≥|<|>|≠|\\lt|\\gt|\\leq?|\\geq?|\\neq?")
ORDER_WORDS: Final = (
    ("大于等于", "≥"), ("大于或等于", "≥"), ("不小于", "≥"), ("小于等于", "≤"),
    ("小于或等于", "≤"), ("不大于", "≤"), ("大于", ">"), ("小于", "<"), (" is ", " "),
    ("greater than or equal to", "≥"), ("less than or equal to", "≤"), ("greater than", ">"),
    ("more than", ">"), ("less than", "<"),
)  # fmt: skip
"""Words and their signs; the first of each language is the one that is written."""
_LATEX_ORDER: Final = (
    (r"\leq", "≤"), (r"\geq", "≥"), (r"\le", "≤"), (r"\ge", "≥"), (r"\lt", "<"), (r"\gt", ">"),
    (r"\neq", "≠"), (r"\ne", "≠"), ("<=", "≤"), (">=", "≥"),
)  # fmt: skip
_BOUNDED = re.compile(r"[<>≤≥≠∪∞(\[]|\\(?:[lg](?:t|eq?)|neq?|infty|cup)")
"""Signs one of which occurs in every interval and inequality."""
_VARIABLE = re.compile(r"(?![eπ]$)(?:\\?[A-Za-zα-ω]+(?:_\{?\w+\}?)?|[a-z]\([a-z]\))")


def is_pair(text: str) -> bool:
    """Whether the text, such as ``(1, 2)``, could as well be a pair of numbers."""
    return bool(re.fullmatch(r"\([^∞\[\]]*\)", text)) and not ORDER.search(text)


def read_region(text: str) -> Region | None:
    """The region that the folded ``text`` describes; None for any other text."""
    text = _UNION.sub("∪", _INFINITE.sub("∞", text))
    if text in _REALS:
        return Region((_EVERYTHING,))
    if text in ("∅", "\\emptyset", "\\varnothing", "空集"):
        return Region(())
    if "于" in text or "than" in text:
        text = _with_signs(text)
    if _BOUNDED.search(text) is None:
        return None
    text = re.sub(r"^\s*[A-Za-z]\s*∈\s*", "", text)
    if builder := _BUILDER.fullmatch(text):
        text = builder["body"]
    pieces: list[Piece] = []
    for part in map(str.strip, re.split(r"∪|\\cup|或者?|\bor\b", text)):
        if (found := _interval(part) or _inequality(part)) is None:
            return None
        pieces += found
    return Region(_merged(pieces)) if pieces else None


def _with_signs(text: str) -> str:
    """The text with signs for words: ``大于2且小于等于5``, ``x is greater than 2``."""
    for words, sign in ORDER_WORDS:
        text = text.replace(words, sign)
    return re.sub(r"(^|[,;且或]|\band\b|\bor\b)\s*(?=[<>≤≥])", r"\1 x", text)


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
    if _DENIED.search(unit) or (hyphen and re.search(r"\d[A-Za-z]$", text)):
        return None  # 9-11m, a difference
    if not low < high or (hyphen and (low < 0 or not (unit or match["lead"]))):
        return None
    return f"{match['low']} {match['of'] or unit}".strip(), f"{match['high']} {unit}".strip()


def _inequality(text: str) -> list[Piece] | None:
    """``1<x≤2``, ``x>3``, ``3<x``, ``x≠0``; conditions joined by a comma or 且 are intersected."""
    conditions = re.split(r"[,;]|且|\band\b", text)
    made = [_EVERYTHING]
    for condition in conditions:
        if (found := _one_inequality(condition.strip())) is None:
            return None
        made = _intersection(made, found)
    return made


def _one_inequality(text: str) -> list[Piece] | None:
    for latex, sign in _LATEX_ORDER:
        text = text.replace(latex, sign)
    pieces = re.split(r"([<>≤≥≠])", text)
    sides, signs = [p.strip() for p in pieces[::2]], pieces[1::2]
    names = [n for n, side in enumerate(sides) if _VARIABLE.fullmatch(side)]
    if not 1 <= len(signs) <= 2 or len(names) != 1 or len(sides) != len(signs) + 1:
        return None
    if len(signs) == 2 and (names[0] != 1 or "≠" in signs):
        return None
    made = [_EVERYTHING]
    for n, sign in enumerate(signs):
        on_left = n == names[0]
        if (value := _endpoint(sides[n + on_left])) is None:
            return None
        made = _intersection(made, _half_line(sign if on_left else _FLIP[sign], value))
    return made


def _half_line(sign: str, value: float | Fraction) -> list[Piece]:
    below = Piece(-math.inf, False, value, sign == "≤")
    above = Piece(value, sign == "≥", math.inf, False)
    return [below, above] if sign == "≠" else [below] if sign in "<≤" else [above]


def _intersection(pieces: list[Piece], others: list[Piece]) -> list[Piece]:
    """The intersection of two unions of intervals."""
    made = []
    for a, b in itertools.product(pieces, others):
        low, low_out = max((a.low, not a.low_in), (b.low, not b.low_in))
        high, high_in = min((a.high, a.high_in), (b.high, b.high_in))
        if low < high or (low == high and high_in and not low_out):
            made.append(Piece(low, not low_out, high, high_in))
    return made


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
