"""Letters that are not negative according to the question: a√b is √(a²b) if a is not.

OlympiadBench (section 5, limitations) leaves this to future work.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from gradegpt.answers.formula import read_formula
from gradegpt.answers.text import fold

_NAME: Final = (
    r"(?:\\(?!in\b|le|ge|text|mathbb|sqrt|frac|cdot|times|pi\b)[A-Za-z]{2,10}"
    r"|(?<![A-Za-z\\])(?!(?<=\S )a (?!(?:and|or|is|are)\b)[a-z]{2})[A-Za-zα-ωΑ-Ω])"
    r"(?![A-Za-z])(?:_(?:\w|\{\w{1,3}\}))?"
)
"""A letter; but "a" between single spaces before a word is an article (folding widens ``$a$``)."""
_AND: Final = r"(?:,\s*and|[,、和与及]|and)"
_LIST: Final = rf"(?P<names>{_NAME}(?:\s*{_AND}\s*{_NAME})*)"
_CHAIN: Final = rf"(?P<names>{_NAME}(?:\s*(?:{_AND}|[>≥])\s*{_NAME})*)"
_KIND: Final = r"(?:real |whole |rational |integer |constant |distinct |different )*"
_NUMBERS: Final = r"(?:numbers?|integers?|constants?|reals?|rationals?|variables?|parameters?)"
_ZH_NUMBER: Final = r"(?:非负|正)(?:的)?(?:实|整|有理|常|奇|偶)?(?:整数|实数|常数|数)"
_QUANTITY: Final = (
    "mass(?:es)?|radius|radii|lengths?|widths?|heights?|depth|thickness|distances?|diameters?"
    "|sides?|side lengths?|edges?|edge lengths?|area|volume|density|densities|resistances?"
    "|capacitances?|inductances?|wavelength|frequency|period|spring constant|stiffness"
    "|moment of inertia|absolute temperature|gravitational acceleration"
    "|acceleration (?:due to|of) gravity|speeds?|semi-?major axis|refractive index|molar mass"
    "|half-life"
)
_ZH_QUANTITY: Final = (
    "质量|半径|直径|边长|棱长|全长|(?<![增成生延变最])长度?|宽度?|(?<![提升最])高度?|深度|厚度|距离"
    "|间距|面积|体积|密度|电阻|电容|电感|波长|频率|周期|劲度系数|重力加速度|光速|速率|转动惯量"
    "|热力学温度|折射率|摩尔质量|半衰期"
)
_SAID: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_CHAIN}\s*[>≥]\s*\d",
        rf"(?<![\w.\-])\d+(?:\.\d+)?\s*[<≤]\s*{_LIST}",
        rf"(?<![\w.\-])\d+(?:\.\d+)?\s*[<≤]\s*{_NAME}\s*[<≤]\s*{_LIST}",
        rf"{_LIST}\s*(?:∈|\\in(?![a-z]))\s*(?:[(\[]\s*\d|\\?mathbb\{{?[RZQ]\}}?\s*[\^_]\{{?\+|ℝ[+⁺]"
        r"|R\s*[\^_]\{?\+|\\?mathbb\{?N|N(?![A-Za-z]))",
        rf"(?i:\b(?:positive|non-?negative) {_KIND}{_NUMBERS}\s+){_LIST}",
        rf"(?i:\bnatural numbers?\s+){_LIST}",
        rf"{_LIST}\s+(?:is|are|be)\s+(?:both |all |each )?(?:an? )?(?:given )?{_KIND}"
        rf"(?:positive|non-?negative|natural numbers?)\b(?! (?:if|when|or)\b)",
        rf"{_ZH_NUMBER}\s*{_LIST}",
        rf"自然数\s*{_LIST}",
        rf"{_LIST}\s*(?:均|都|皆|全)?(?:为|是)\s*(?:{_ZH_NUMBER}|自然数|正(?![\w比弦切方三四五六多]))",
        rf"{_LIST}\s*(?:均|都|皆|全)?大于(?:或?等于)?\s*(?:0|零)",
        rf"(?i:\b(?:{_QUANTITY})\s+(?:is\s+|equal to\s+)?){_LIST}",
        rf"(?:{_ZH_QUANTITY})(?:大小)?(?:分别)?(?:均|都)?(?:为|是|等于|记为|记作|设为|=)?\s*{_LIST}",
    )
)
_NEGATIVE: Final = rf"(?P<name>{_NAME})\s*(?:[<≤]\s*0(?![.\d])|=\s*-|[<≤]\s*-)"
_BEFORE: Final = re.compile(r"(?:[+\-*/^_(|=)\]}\d]|\\[A-Za-z]+|(?<![A-Za-z])[A-Za-z])\s*$")
"""Signs before a letter that is part of a longer expression: x + a > 0 does not bound a."""
_LETTER: Final = re.compile(_NAME)
_LONGEST: Final = 4_000


@lru_cache(maxsize=256)
def not_negative(question: str) -> frozenset[str]:
    """The names, as in ``answers.formula``, that the question states or implies to be ≥ 0.

    It does so in signs (``a > 0``, ``x∈(0,1)``), in words ("positive numbers a and b", 正数), or by
    the kind of quantity: a mass, a radius, a length. A name that is negative in one of the cases
    of the question is excluded.
    """
    text = fold(question[:_LONGEST])
    found: set[str] = set()
    for pattern in _SAID:
        for match in pattern.finditer(text):
            inside = pattern is _SAID[0] and _BEFORE.search(text[: match.start("names")])
            if not inside:
                found.update(_LETTER.findall(match["names"]))
    found -= {match["name"] for match in re.finditer(_NEGATIVE, text)}
    nodes = map(read_formula, found)
    return frozenset(node.name for node in nodes if node is not None and node.op == "var")
