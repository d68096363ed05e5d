"""Answers that say there is nothing to give: no solution, does not exist, 无解."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from gradegpt.answers.text import fold

_NONE: Final = (
    r"(?:(?:there (?:is|are) |has |have )?no (?:such )?(?:real )?"
    r"(?:solutions?|roots?|answers?|values?|numbers?)(?: exists?)?"
    r"|(?:does|do)(?: not|n't) exist|unsolvable|(?:it is )?impossible|undefined|none of the above"
    r"|[无没]有?(?:实数?)?[解根]|不存在)"
)
_HELD: Final = re.compile(r"no|n't|unsolv|imposs|undef|[无没]|不存", re.IGNORECASE)
"""One of these stands in each of them."""
_WHOLE: Final = re.compile(rf"(?:[\w\s]{{0,24}}?){_NONE}[\s.。!]*", re.IGNORECASE)
_TURNED: Final = re.compile(
    r"不是|并非|\bnot (?:true|that|un\w+|impossible)\b|\bdoubt\b|\bif\b|[?？吗]", re.IGNORECASE
)
_LAST: Final = re.compile(
    r"(?:^|[,，。;；:：\n]|\bso\b|\btherefore\b)\s*([^,，。;；:：\n]+)[\s.。]*$"
)


@lru_cache(maxsize=16384)
def says_none(text: str) -> bool:
    """Whether a short answer, or the last clause of a sentence, says that there is none."""
    if not _HELD.search(text):
        return False
    whole = fold(text).strip().strip("$* ")
    if _TURNED.search(whole):
        return False
    last = _LAST.search(whole)
    return bool(_WHOLE.fullmatch(whole) or (last and _WHOLE.fullmatch(last[1].strip())))
