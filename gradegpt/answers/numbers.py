"""Reading numbers in digits: 1,234.5, 3/4, 50%, 2.5×10^3."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, NamedTuple

from gradegpt.answers.text import fold

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
    rf"(?P<mantissa>\d[\d,]*\.?\d*|\.\d+)(?:\s*[×x*·]\s*10(?:\^|(?!0))\{{?(?P<power>[+-]?\d+)\}}?|e(?P<exp>[+-]?\d+))?)"
    rf"\s*(?P<unit>{_UNIT})?\.?",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_WORDS_ONLY = re.compile(r"(?:[\s(][^\d+*/^=<>\\\\:{}]*)?", re.DOTALL)
_MAX_POWER: Final = 400


class Amount(NamedTuple):
    """An exact value, percent already applied, and the unit after it as written, or empty."""

    value: Fraction
    unit: str


def number(text: str) -> Amount | None:
    r"""Read an exact rational number; None for any other text.

    It reads ``1,234.5``, ``3/4``, ``1\frac{1}{2}``, ``50%``, ``2.5×10^3``, ``$18``, ``18 dollars``.
    Words may follow (``8 tablespoons in total``); more mathematics may not.
    """
    text = fold(text).strip(" ,;*=≈").rstrip(" .,;*=≈")
    match = _NUMBER.match(text)
    if match is None or len(text) > 60 or not _WORDS_ONLY.fullmatch(text, match.end()):
        return None
    if (value := _value(match)) is None:
        return None
    unit = match["unit"] or ""
    value = -value if match["sign"] == "-" else value
    return Amount(value / 100, "") if unit.lower() in ("%", "percent") else Amount(value, unit)


def _value(match: re.Match[str]) -> Fraction | None:
    if bottom := match["den"] or match["d"]:
        part = Fraction(int(match["num"] or match["n"]), int(bottom)) if int(bottom) else None
        return None if part is None else int(match["whole"] or 0) + part
    mantissa = match["mantissa"]
    if "," in mantissa and not _GROUPED.fullmatch(mantissa):
        return None
    power = int(match["power"] or match["exp"] or 0)
    if abs(power) > _MAX_POWER:
        return None
    return Fraction(mantissa.replace(",", "").rstrip(".")) * Fraction(10) ** power
