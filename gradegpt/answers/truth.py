"""Words for true and false in both languages, and what turns them round."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers.text import fold, plain

_TRUE: Final = frozenset({
    "true", "t", "yes", "correct", "right", "holds", "对", "正确", "是", "√", "✓", "成立", "真",
    "无误",
})  # fmt: skip
_FALSE: Final = frozenset({
    "false", "f", "no", "incorrect", "wrong", "untrue", "错", "错误", "不正确", "否", "×", "✗",
    "不成立", "假", "不对", "有误",
})  # fmt: skip
_WORDS: Final = (
    r"正确|错误|成立|有误|无误|\b(?:true|false|untrue|correct|incorrect|right|wrong|holds?)\b"
)
_SAID: Final = re.compile(
    rf"(?P<word>{_WORDS}|[对错真假])\s*(?:的|了|$)?[\s。.!！*$\"'”’]*$", re.IGNORECASE
)
_ANY: Final = re.compile(_WORDS, re.IGNORECASE)
_DENIAL: Final = re.compile(
    r"[不非没未]|\b(?:not|never|cannot|hardly)\b|n't\b|\bfails to be\b|\bfar from\b", re.IGNORECASE
)
_OPEN: Final = re.compile(
    r"不一定|未必|可能|也许|难说|有时|[吗?？]|\bor\b|或|\b(?:he|she|they|friend|classmate|teacher"
    r"|maybe|perhaps|possibly|might|may|could|necessarily|either|sometimes|mostly|neither|if|unless|partly|half)\b|部分",
    re.IGNORECASE,
)
"""Words that leave it open which of the two is said."""
_CLAUSE: Final = re.compile(r"[。.;；!！,，\n]|\b(?:but|so)\b|但")
_REACH: Final = 40
"""Characters before a truth word in which a denial turns it."""


def truth(answer: str) -> bool | None:
    """True, false, or none for anything that is not a truth word in Chinese or English."""
    word = plain(answer).strip("()[]")
    return True if word in _TRUE else False if word in _FALSE else None


def said_truth(sentence: str) -> bool | None:
    """What a sentence that ends in a truth word says, its denials counted: "is not true", 并非错误.

    None where it ends otherwise, leaves it open ("not necessarily true") or has two such words.
    """
    if (alone := truth(sentence)) is not None:
        return alone
    text = fold(sentence).strip()
    match = _SAID.search(text)
    if match is None:
        return None
    clause = text[max(0, match.start() - _REACH) : match.start()]
    clause = _CLAUSE.split(clause)[-1]
    if _OPEN.search(clause) or _ANY.search(clause):
        return None
    turned = len(_DENIAL.findall(clause)) % 2 == 1
    word = match["word"].lower()
    return (True if word == "hold" else truth(word)) is not turned
