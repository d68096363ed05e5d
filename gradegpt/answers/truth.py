"""Words for true and false in both languages, and their negations."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers.text import fold, plain

_TRUE: Final = frozenset({
    "true", "t", "yes", "correct", "right", "holds", "对", "正确", "是", "√", "✓", "成立", "真",
    "无误", "真命题", "是的", "对的", "正确的", "没错",
})  # fmt: skip
_FALSE: Final = frozenset({
    "false", "f", "no", "incorrect", "wrong", "untrue", "错", "错误", "不正确", "否", "×", "✗",
    "不成立", "假", "不对", "有误", "假命题", "不是", "不是的", "错的", "错了", "不正确的",
})  # fmt: skip
_WORDS: Final = (
    r"正确|错误|成立|有误|无误|\b(?:true|false|untrue|correct|incorrect|right|wrong|holds?)\b"
)
_STATED: Final = re.compile(
    rf"(?P<word>{_WORDS}|[真假]命题|[对错真假])\s*(?:的|了|$)?[\s。.!！*$\"'”’]*$", re.IGNORECASE
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
"""Words that leave open whether true or false is stated."""
_CLAUSE: Final = re.compile(r"[。.;；:：!！,，\n]|\b(?:but|so)\b|但")
_REACH: Final = 40
"""Characters before a truth word within which a negation applies to it."""


def truth(answer: str) -> bool | None:
    """True or false for a truth word in Chinese or English, None for any other text."""
    word = plain(answer).strip("()[]")
    return True if word in _TRUE else False if word in _FALSE else None


def stated_truth(sentence: str) -> bool | None:
    """What a sentence that ends in a truth word states, with negations: "is not true", 并非错误.

    None if it ends otherwise, leaves it open ("not necessarily true") or has two such words.
    """
    if (alone := truth(sentence)) is not None:
        return alone
    text = fold(sentence).strip()
    match = _STATED.search(text)
    if match is None:
        return None
    clause = text[max(0, match.start() - _REACH) : match.start()]
    clause = _CLAUSE.split(clause)[-1]
    if _OPEN.search(clause) or _ANY.search(clause):
        return None
    negated = len(_DENIAL.findall(clause)) % 2 == 1
    word = match["word"].lower()
    return (True if word == "hold" else truth(word)) is not negated
