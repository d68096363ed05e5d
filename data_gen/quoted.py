"""The answer inside of a quote: the words of the reference, the result of a calculation."""

from __future__ import annotations

import re
from typing import Final

_LONGEST: Final = 120
_ARTICLE: Final = re.compile(r"(?:the|an?)\s+(?=\w)", re.IGNORECASE)
_NAME: Final = re.compile(r"[^\W\d_]{2}")
"""Two adjacent letters or characters, which every name has."""
_DENIES: Final = re.compile(
    r"\b(?:no|not|never|neither|nor|none|without|cannot|instead|rather)\b|n['’]t\b"
    r"|[不没非无未否]",
    re.IGNORECASE,
)
_SUM: Final = re.compile(
    r"[\d)}\]%](?:\s*+[A-Za-z]++){0,3}\s*"  # 4 boxes
    r"(?:[-+*/x^×÷]|\\(?:times|cdot|div)\b)"  # x
    r"\s*(?:[$({£]|\\[a-z]+)*\d[^=\n]*=\s*"  # 3 pens =
    r"(?:\d[\d.,]*>>)?"  # <<4*3=12>>
    r"(?=(?:[-$({<*\s£€]|\\boxed|\\[dt]?frac)*\d)"  # 12
)


def named_in(quote: str, reference: str) -> str | None:
    """The words of the reference as the quote first writes them, article and case aside.

    None if the quote has a negation: "not Paris" does not give Paris.
    """
    bare = reference.strip().rstrip(".。")
    article = _ARTICLE.match(bare)
    words = bare[article.end() if article else 0 :].split()
    name = " ".join(words)
    if not _NAME.search(name) or len(name) > _LONGEST or _DENIES.search(quote):
        return None
    spaced = ("(?:(?:the|an?) )?" if article else "") + r"\s+".join(map(re.escape, words))
    whole = rf"(?<![A-Za-z0-9]){spaced}(?![A-Za-z0-9])"
    found = re.search(whole, quote, re.IGNORECASE)
    return found and found[0]


def after_calculation(text: str) -> str:
    """The result of the last calculation and what follows, 12 in "4 x 3 = 12"; else the text."""
    return text[max((m.end() for m in _SUM.finditer(text)), default=0) :]
