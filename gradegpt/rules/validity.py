"""Tell a response that gives no answer at all: empty, a refusal, a loop, or cut off."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_LOOKED_AT: Final = 1_200
_REPEATS: Final = 5
_MIN_LOOP: Final = 60
"""Characters that a loop fills at least: "0.3333333333333" is a number."""
_REFUSAL = re.compile(
    r"(?:i(?:'m| am) sorry|i apologi[sz]e|as an ai"
    r"|i(?: am|'m)? (?:can(?:no|')t|unable to|not able to)"
    r" (?:see|view|answer|determine|provide|help|assist|process)"
    r"|(?:question|problem|answer|value|it)\s+(?:can(?:no|')t|could not) be"
    r" (?:answered|determined|solved)|impossible to (?:determine|answer)"
    r"|(?:not|no) enough information|insufficient information|please provide (?:the|more|an?)\b"
    r"|does not provide (?:enough|any)|exceeds? the (?:maximum|limit)"
    r"|无法(?:回答|作答|判断|提供|解答|看到|得出)|看不到|不能(?:提供|回答)|抱歉|对不起|请提供"
    r"|信息不足|作为一个?(?:AI|人工智能)|输入限长)",
    re.IGNORECASE,
)


def says_nothing(response: str) -> bool:
    """Blanks and punctuation alone; a sign such as √, > or ∅ may well be an answer."""
    return all(unicodedata.category(char)[0] in "CPZ" for char in response)


def without_loop(response: str) -> str | None:
    """A response that ends in a loop, up to the end of the first round; none for any other.

    The loop is its shortest period: at least five repeats that fill sixty characters.
    """
    tail = response.rstrip()[-_LOOKED_AT:]
    period, length = _loop(tail[::-1])
    if not period or length < max(_MIN_LOOP, _REPEATS * period):
        return None
    text = response.rstrip()
    start = len(text) - length
    while start >= period and text[start - 1] == text[start - 1 + period]:
        start -= 1
    return text[: start + period]


def _loop(backwards: str) -> tuple[int, int]:
    """The period and length of the longest repetition that ``backwards`` begins with."""
    best = (0, 0)
    borders = [0] * len(backwards)  # Knuth, Morris and Pratt: the borders of every prefix
    for at in range(1, len(backwards)):
        border = borders[at - 1]
        while border and backwards[at] != backwards[border]:
            border = borders[border - 1]
        borders[at] = border + (backwards[at] == backwards[border])
        period = at + 1 - borders[at]
        if (at + 1) >= _REPEATS * period and at + 1 > best[1]:
            best = (period, at + 1)
    return best


def refuses(response: str) -> bool:
    """Whether it is short, or ends, in words that decline to answer."""
    return bool(_REFUSAL.search(response[-300:]))


_OPEN_END = re.compile(
    r"(?:[=\\{+,，、（(]|\\frac|\\boxed|等于|因为|由于|接下来|主要|其中|以及|并且|然后|可以|需要|得到?"
    r"|为|是|的|\b(?:and|then|the|we|obtain|is|of|to|that|which|with|because|by))\s*$",
    re.IGNORECASE,
)


def cut_off(response: str) -> bool:
    """Whether it stops in the middle of a formula or of a sentence."""
    text = response.rstrip()
    tail = text[-4_000:]
    opened = tail.count("\\[") > tail.count("\\]") or tail.count("\\(") > tail.count("\\)")
    unboxed = text.rfind("\\boxed{") > text.rfind("}")
    return opened or unboxed or tail.count("$$") % 2 == 1 or bool(_OPEN_END.search(tail))
