"""Write sets of real numbers: intervals, inequalities, set-builder forms, words."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from gradegpt.answers.intervals import ORDER_WORDS
from gradegpt.answers.types import Piece, Region

from .style import Style

_SIGN_WORDS: Final = {(sign, word > "\u3000"): word for word, sign in reversed(ORDER_WORDS)}


def write_region(region: Region, end: Callable[[float | Fraction], str], style: Style) -> str:
    """A region in the style's form: ``brackets``, ``member``, ``order``, ``builder``, ``words``."""
    if not region.pieces:
        return "\\varnothing" if style.latex else "∅"
    if style.form in ("brackets", "member"):
        shown = [_brackets(piece, end, style) for piece in region.pieces]
        union = " \\cup " if style.latex else " ∪ " if style.spaced else "∪"
        lead = f"{style.name}{style.element}" if style.form == "member" else ""
        return lead + union.join(shown)
    write = _in_words if style.form == "words" else _order
    order = style.either.join(write(piece, end, style) for piece in region.pieces)
    if style.form != "builder":
        return order
    if style.latex:
        return f"\\{{{style.name}\\mid {order}\\}}"
    return f"{{{style.name}{' | ' if style.spaced else '|'}{order}}}"


def _brackets(piece: Piece, end: Callable[[float | Fraction], str], style: Style) -> str:
    infinity = "\\infty" if style.latex else "∞"
    low = f"-{infinity}" if piece.low == -math.inf else end(piece.low)
    plus = "+" if style.chinese else ""
    high = f"{plus}{infinity}" if piece.high == math.inf else end(piece.high)
    opening, closing = "[" if piece.low_in else "(", "]" if piece.high_in else ")"
    return f"{opening}{low}{style.joint}{high}{closing}"


def _order(piece: Piece, end: Callable[[float | Fraction], str], style: Style) -> str:
    def sign(plain: str, inside: bool) -> str:
        blank = " " if style.spaced or style.latex else ""
        equal = f"\\{'gl'[plain == '<']}e" if style.latex else "≥≤"[plain == "<"]
        return f"{blank}{equal if inside else plain}{blank}"

    if piece.high == math.inf:
        return f"{style.name}{sign('>', piece.low_in)}{end(piece.low)}"
    low = "" if piece.low == -math.inf else end(piece.low) + sign("<", piece.low_in)
    return f"{low}{style.name}{sign('<', piece.high_in)}{end(piece.high)}"


def _in_words(piece: Piece, end: Callable[[float | Fraction], str], style: Style) -> str:
    signs = (">≥"[piece.low_in], piece.low), ("<≤"[piece.high_in], piece.high)
    blank = "" if style.chinese else " "
    conditions = [
        f"{_SIGN_WORDS[s, style.chinese]}{blank}{end(at)}" for s, at in signs if math.isfinite(at)
    ]
    lead = style.name + ("" if style.chinese or not style.name else " is ")
    return lead + ("且" if style.chinese else " and ").join(conditions)
