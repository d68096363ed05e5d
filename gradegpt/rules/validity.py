"""Recognise responses without an answer: empty, a refusal, a loop, or cut off."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from gradegpt.answers.spans import last_match
from gradegpt.rules.cues import cue

_LOOPS: Final = ((1_200, 5, False), (4_000, 12, True))
"""Characters of the tail in which a loop is searched, its least repeats, and whether its numbers
count on; such a loop needs more repeats: a list of nine lines is not a loop."""
_MIN_LOOP: Final = 60
"""Least characters of a loop: "0.3333333333333" is a number."""
_ENDING: Final = 8
_DIGITS: Final = str.maketrans("123456789", "0" * 9)
_REFUSAL, _POLICY, _STILL, _ABSENT = map(cue, ("refusal", "policy", "still", "absent"))
_THE_REST, UNANSWERABLE, REASON = map(cue, ("other parts", "unanswerable", "gives a reason"))
_DECLINING: Final = (
    "sorry", "apologi", "as an ai", "can't", "cannot", "can you", "able to", "could not",
    "could you", "would you", "impossible", "enough information", "insufficient", "please",
    "kindly", "does not provide", "exceed", "missing", "without", "not provided", "not given",
    "无法", "看不到", "拒绝", "i need more", "不能", "抱歉", "对不起", "请提供", "信息不足", "作为",
    "输入限长",
)  # fmt: skip
"""Every refusal has one of these."""
_BLANKS = re.compile(
    r"(?<!_)_{3,}+[^_]{0,400}___|(?<=\s)__(?=\s)[^_]{0,400}(?<=\s)__(?=\s)", re.DOTALL
)


_MARK = re.compile(r"\[\s*\]|\\?\{\s*\\?\}|\(\)|[*/#&%@!]")
"""Marks that are an answer: an empty list or set, an operator."""


def says_nothing(response: str) -> bool:
    """Whether it has only spaces and punctuation; a sign such as √, > or ∅ may be an answer."""
    marks = all(unicodedata.category(char)[0] in "CPZ" for char in response)
    return marks and _MARK.fullmatch(response.strip()) is None


def without_loop(response: str) -> str | None:
    """The response up to the end of the first repeat of its final loop; None if it has no loop.

    A loop is the shortest period with at least five repeats over at least sixty characters, or
    twelve repeats that differ only in their numbers ("figure 56, figure 57"). The figures of a long
    number are none.
    """
    whole = response.rstrip().rstrip("$\n ")
    for most, repeats, counted in _LOOPS:
        text = whole
        if counted:
            recent = text[-most // repeats :].translate(_DIGITS)
            if recent.count(recent[-_ENDING:]) < 2 or not any(map(str.isalpha, text[-40:])):
                continue
            text = text.translate(_DIGITS)
        if period := _period(text[-most:], repeats):
            start = len(text) - period
            while start >= period and text[start - 1] == text[start - 1 + period]:
                start -= 1
            return None if whole[start : start + period].isdecimal() else whole[: start + period]
    return None


def _period(tail: str, repeats: int) -> int:
    """The shortest period that the end of ``tail`` repeats so often; 0 if there is none."""
    if tail.count(tail[-_ENDING:]) < 4:
        return 0
    backwards, period = tail[::-1], 0
    while (period := backwards.find(backwards[:_ENDING], period + 1)) > 0:
        filled = max(_MIN_LOOP, repeats * period)
        if filled > len(backwards):
            break
        if backwards.startswith(backwards[period:filled]):
            return period
    return 0


def refuses(response: str) -> bool:
    """Whether it ends with words that decline to answer, without a "but" after them."""
    end = response[-300:]
    lowered = end.lower()
    if not any(word in lowered for word in _DECLINING):
        return False
    last = last_match(_REFUSAL, end)
    return last is not None and not _STILL.search(end, last.end()) and not _THE_REST.search(end)


def declines_by_policy(response: str) -> bool:
    """Whether it refuses because of rules of conduct, independently of the question."""
    return _POLICY.search(response[-300:]) is not None


def denies(references: Iterable[str]) -> bool:
    """Whether a reference denies something; a response that declines may mean the same."""
    return any(_ABSENT.search(reference) for reference in references)


def leaves_open(response: str) -> bool:
    """Whether it repeats the question with its blanks, or stops after its analysis."""
    return ("__" in response and _BLANKS.search(response) is not None) or (
        response.lstrip().startswith("【分析】") and not cue("solved").search(response)
    )


_OPEN_WORDS: Final = 40
_OPEN_END = cue("breaks off", after=r"\s*\Z")


def cut_off(response: str) -> bool:
    """Whether it ends in the middle of a formula or of a sentence."""
    text = response.rstrip()
    tail = text[-4_000:]
    opened = tail.count("\\[") > tail.count("\\]") or tail.count("\\(") > tail.count("\\)")
    unboxed = text.rfind("\\boxed{") > text.rfind("}")
    return (
        opened
        or unboxed
        or tail.count("$$") % 2 == 1
        or ((end := _OPEN_END.search(tail[-_OPEN_WORDS:])) is not None and end[0] != text)
    )
