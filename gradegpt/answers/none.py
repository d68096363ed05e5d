"""Answers that state that there is none: no solution, does not exist, 无解."""

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
_HINT: Final = re.compile(r"no|n't|unsolv|imposs|undef|[无没]|不存", re.IGNORECASE)
"""Each of those phrases has one of these, which are cheaper to search for."""
_LONGEST: Final = 80
"""Characters at the end of a text in which such a phrase begins."""
_WHOLE: Final = re.compile(rf"(?:[\w\s]{{0,24}}?){_NONE}[\s.。!]*", re.IGNORECASE)
_NEGATED: Final = re.compile(
    r"不是|并非|\bnot (?:true|that|un\w+|impossible)\b|\bdoubt\b|\bif\b|[?？吗]", re.IGNORECASE
)
_LAST: Final = re.compile(
    r"(?:^|[,，。;；:：\n]|\bso\b|\btherefore\b)\s*([^,，。;；:：\n]+)[\s.。]*$"
)


@lru_cache(maxsize=4096)
def says_none(text: str) -> bool:
    """Whether a short answer, or the last clause of a sentence, states that there is none."""
    if not _HINT.search(text, max(0, len(text) - _LONGEST)):
        return False
    whole = fold(text).strip().strip("$* ")
    if _NEGATED.search(whole):
        return False
    last = _LAST.search(whole)
    return bool(_WHOLE.fullmatch(whole) or (last and _WHOLE.fullmatch(last[1].strip())))
