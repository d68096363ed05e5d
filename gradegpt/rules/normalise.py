"""Bring two spellings of an answer to one form, without changing what it says."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

from gradegpt.rules.tidy import simplified

_SPACING = re.compile(
    r"(?<!\\)\\(?:(?:left|right|displaystyle|quad|qquad|limits|big|Big)(?![a-zA-Z])|[,;!: ])"
)
_WRAPPER = re.compile(
    r"\\(?:text|textbf|textit|mathrm|mathbf|mathbb|mathit|boldsymbol|operatorname|bm|mbox)\s*\{([^{}]*)\}"
)
_DEGREES = re.compile(r"\^\s*\{?\s*\\circ\s*\}?|\\circ(?![a-zA-Z])|\\degree")
_SYMBOLS: Final = {
    r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\cfrac": r"\frac",
    r"\leqslant": "≤", r"\leq": "≤", r"\le ": "≤", r"\geqslant": "≥", r"\geq": "≥", r"\ge ": "≥",
    r"\neq": "≠", r"\times": "×", r"\cdot": "·", r"\div": "÷", r"\pi": "π", r"\infty": "∞",
    r"\cup": "∪", r"\cap": "∩", r"\in ": "∈", r"\pm": "±", r"\%": "%", r"\$": "$",
    r"\{": "{", r"\}": "}", r"\lbrace": "{", r"\rbrace": "}",
}  # fmt: skip
_FOLDED = str.maketrans(
    {
        **{chr(0x2460 + n): f"({n + 1})" for n in range(9)},  # ① to ⑨, which NFKC makes digits
        "．": ".",
        "。": ".",
        "、": ",",
        "，": ",",
        "；": ";",
        "：": ":",
        "−": "-",
        "–": "-",
        "—": "-",
        "‘": "'",
        "’": "'",
    }
)

_UNIT = (
    r"%|°C?|℃|元|角|分钟|分|小时|时|秒|天|年|月|米|厘米|分米|毫米|千米|公里|平方米|平方厘米|立方米|立方厘米|千克|克|吨|升|毫升|"
    r"个|只|人|本|支|张|棵|岁|次|块|名|条|页|辆|件|套|度|种|倍|dollars?|cents?|hours?|minutes?|seconds?|days?|weeks?|"
    r"years?|miles?|feet|foot|inch(?:es)?|meters?|metres?|km|cm|mm|m|kg|g|pounds?|ounces?|degrees?|units?|percent|"
    r"square \w+|cubic \w+|cm\^?\{?[23]\}?|m\^?\{?[23]\}?|"
    # Any other plural, but for the words that change the value: "3 halves", "7 times n".
    r"(?!(?:times|plus|less|dozens|tens|hundreds|thousands|[mb]illions|halves|thirds|quarters|"
    r"fourths|fifths|sixths|sevenths|eighths|ninths|tenths|hundredths|thousandths)\b)[a-z]+s"
)
_NUMBER = re.compile(
    rf"(?P<sign>[+-]?)\s*(?:[$¥￥€£]\s*)?(?P<body>"
    rf"(?P<whole>\d+)?\s*\\frac\{{(?P<num>-?\d+)\}}\{{(?P<den>\d+)\}}|(?P<n>\d+)\s*/\s*(?P<d>\d+)|"
    rf"(?P<mantissa>\d[\d,]*\.?\d*|\.\d+)(?:\s*[×x*·]\s*10\^?\{{?(?P<power>[+-]?\d+)\}}?|e(?P<exp>[+-]?\d+))?)"
    rf"\s*(?P<unit>{_UNIT})?\.?",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_SUPERSCRIPT = re.compile("[⁺⁻]?[⁰¹²³⁴-⁹]+")
_WORDS_ONLY = re.compile(r"(?:[\s(][^\d+*/^=<>\\\\:{}]*)?", re.DOTALL)
_MAX_POWER: Final = 400


_FOLDABLE = re.compile(r"[^\x00-\x7f]|[\\$*~]|\{,")
"""What ``fold`` could change; most short answers have none of it."""


def _power(match: re.Match[str]) -> str:
    digits = unicodedata.normalize("NFKC", match[0]).replace("−", "-")
    return f"^{digits}" if len(digits) == 1 else f"^{{{digits}}}"


@lru_cache(maxsize=16384)
def fold(text: str) -> str:
    """NFKC (full width to half), LaTeX spacing and font wrappers away, symbols as Unicode."""
    if _FOLDABLE.search(text) is None:
        return text
    text = _SUPERSCRIPT.sub(_power, simplified(text))  # before NFKC, which makes 102 of 10²
    text = unicodedata.normalize("NFKC", text.translate(_FOLDED))
    text = text.replace("{,}", ",").replace("$", " ").replace("**", "").replace("~", " ")
    return _without_latex(text) if "\\" in text else text


def _without_latex(text: str) -> str:
    for _ in range(3):
        text = _WRAPPER.sub(r"\1", text)
    text = _DEGREES.sub("°", text)
    for latex, symbol in _SYMBOLS.items():
        text = text.replace(latex, symbol)
    return _SPACING.sub(" ", text).replace("\\(", "").replace("\\)", "")


@lru_cache(maxsize=16384)
def plain(text: str) -> str:
    """``fold`` without blanks, case and closing punctuation: equal results mean the same text."""
    return "".join(fold(text).split()).casefold().strip(".,;:!'\"`*")


class Quantity(NamedTuple):
    """An exact value, percent already applied, and the unit behind it as written, or empty."""

    value: Fraction
    unit: str


def number(text: str) -> Quantity | None:
    r"""Read an exact rational, or none.

    Such as ``1,234.5``, ``3/4``, ``1\frac{1}{2}``, ``50%``, ``2.5×10^3``, ``$18``, ``18 dollars``.
    Words may follow (``8 tablespoons in total``), further mathematics may not.
    """
    text = fold(text).strip(" .,;*=≈")
    match = _NUMBER.match(text)
    if match is None or len(text) > 60 or not _WORDS_ONLY.fullmatch(text, match.end()):
        return None
    value = _value(match)
    if value is None:
        return None
    unit = match["unit"] or ""
    if unit.lower() in ("%", "percent"):
        value, unit = value / 100, ""
    return Quantity(-value if match["sign"] == "-" else value, unit)


def _value(match: re.Match[str]) -> Fraction | None:
    if match["den"] is not None or match["d"] is not None:
        numerator, denominator = (
            (match["num"], match["den"]) if match["den"] else (match["n"], match["d"])
        )
        return (
            None
            if int(denominator) == 0
            else int(match["whole"] or 0) + Fraction(int(numerator), int(denominator))
        )
    mantissa = match["mantissa"]
    if "," in mantissa and not _GROUPED.fullmatch(mantissa):
        return None
    power = int(match["power"] or match["exp"] or 0)
    if abs(power) > _MAX_POWER:
        return None
    return Fraction(mantissa.replace(",", "").rstrip(".")) * Fraction(10) ** power
