"""Quantities with a direction: a sign that words say, and bearings such as 北偏东30°."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from gradegpt.answers.types import Leaf, Quantity, Value

_WAY = re.compile(
    r"[向朝往沿][东南西北上下左右前后正负反]|[东南西北上下左右]方|以[东南西北]|方向|反向|亏|欠|支出|零下|低于"
    r"|(?<!\\)\b(?:north|south|east|west|up|down|left|right|back|for)(?:wards?|ern|erly)?\b"
    r"|\b(?:opposite|below|loss|lost|debt|direction)\b",
    re.IGNORECASE,
)
"""Words for a direction, which a sign may say as well."""
_COMPASS: Final = {"n": 0, "e": 90, "s": 180, "w": 270, "北": 0, "东": 90, "南": 180, "西": 270}
_ANGLE: Final = r"(?P<angle{}>\d+(?:\.\d+)?)\s*(?:°|度|degrees?)"
_BEARING = re.compile(
    rf"(?P<from>[东南西北])偏(?P<to>[东南西北])\s*{_ANGLE.format('')}"
    rf"|{_ANGLE.format('2')}\s*(?:to the )?(?P<to2>north|south|east|west) of (?:due )?"
    r"(?P<from2>north|south|east|west)"
    rf"|\b(?P<from3>[NS])\s*{_ANGLE.format('3')}\s*(?P<to3>[EW])\b",
    re.IGNORECASE,
)


def is_turned(wanted: Value, given: Value, said: str) -> bool:
    """Whether two numbers differ in their sign alone, and ``said`` names a direction."""
    if not (isinstance(wanted, Leaf) and isinstance(given, Leaf)):
        return False
    one, other = wanted.quantity, given.quantity
    return one is not None and other is not None and opposite(one, other, said)


def opposite(one: Quantity | Fraction, other: Quantity | Fraction, said: str) -> bool:
    """Whether the sizes are equal but for the sign, for which ``said`` may name a direction."""
    sizes = [size.value if isinstance(size, Quantity) else size for size in (one, other)]
    return sizes[0] == -sizes[1] != 0 and _WAY.search(said) is not None


def bearings(text: str) -> set[Fraction]:
    """The bearings of a text, in degrees from north over east."""
    return {_azimuth(match) for match in _BEARING.finditer(text)}


def is_bearing(text: str) -> bool:
    """Whether a text is a bearing and hardly more."""
    return len(re.sub(r"\W|方向|due", "", _BEARING.sub("", text))) <= 1


def _azimuth(match: re.Match[str]) -> Fraction:
    base, to, angle = (
        next(filter(None, (match[f"{name}{n}"] for n in ("", "2", "3"))))
        for name in ("from", "to", "angle")
    )
    begin, end = _COMPASS[base[0].lower()], _COMPASS[to[0].lower()]
    turn = (end - begin + 180) % 360 - 180
    return (begin + (Fraction(angle) if turn > 0 else -Fraction(angle))) % 360
