"""Words for true and false in both languages, and what turns them round."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers.text import plain

_TRUE: Final = {"true", "t", "yes", "correct", "right", "对", "正确", "是", "√", "✓", "成立", "真"}
_FALSE: Final = {
    "false",
    "f",
    "no",
    "incorrect",
    "wrong",
    "错",
    "错误",
    "不正确",
    "否",
    "×",
    "✗",
    "不成立",
    "假",
    "不对",
}

_STATED = re.compile(
    r"^(?:(?:the|this|that)statementis|(?:it|that)is|(?:这个|该)?(?:说法|命题)是?)(?=.)"
)
"""What may stand before the word: the statement is, 这个说法是."""


def truth(answer: str) -> bool | None:
    """True, false, or none for anything that is not a truth word in Chinese or English."""
    word = _STATED.sub("", plain(answer)).removesuffix("的")
    return True if word in _TRUE else False if word in _FALSE else None
