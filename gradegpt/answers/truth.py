"""Words for true and false in both languages, and what turns them round."""

from __future__ import annotations

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


def truth(answer: str) -> bool | None:
    """True, false, or none for anything that is not a truth word in Chinese or English."""
    word = plain(answer)
    return True if word in _TRUE else False if word in _FALSE else None
