"""Whether a response gives the answer that was found in it as its own and only answer."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers.spans import sentence_around
from gradegpt.answers.types import CHOICE, AnswerType
from gradegpt.rules.claims import Found, How, boxes, endings
from gradegpt.rules.profiles.base import Question
from gradegpt.rules.validity import gives_up

LEFT_OPEN: Final = "left-open"
_ANNOUNCED: Final = (How.BOXED, How.ANNOUNCED)
_JOINED: Final = (
    AnswerType.MULTI_ANSWER, AnswerType.MULTI_PART, AnswerType.SET, AnswerType.INTERVAL,
    AnswerType.TEXT,
)  # fmt: skip
"""Types whose answers may contain an "or": x = 2 or x = -2."""
_QUOTED = re.compile(
    r"\b(?:reference|standard|official|model|gold(?:en)?)\s+(?:answer|solution|key)\b"
    r"|\b(?:key|reference)\s+(?:says|gives|states|reads)\b|\banswer key\b|\bground truth\b"
    r"|(?<!【)(?:参考|标准)答案(?!\s*[】:：])",
    re.IGNORECASE,
)
"""Words that attribute an answer to the reference; 【参考答案】 is a heading in solutions."""
_HEARSAY = re.compile(
    r"\b(?:some|others|people|someone) (?:people )?(?:say|claim|think)s?\b|有人(?:说|认为)",
    re.IGNORECASE,
)
_BEFORE: Final = 30
"""Characters before an announcement that may attribute it to somebody else."""
_OPEN_CHOICE = re.compile(
    r"\b(?:could|may|might|can) (?:also )?be\b[^.;。；\n]{0,120}"
    r"\bor (?:it )?(?:could|may|might|can)\b"
    r"|\b(?:maybe|perhaps|possibly)\b[^.;\n]{0,80}\b(?:maybe|perhaps|possibly)\b"
    r"|\b(?:hesitate|torn|undecided|decide|choose) between\b"
    r"|可能[是为][^。；\n]{0,120}可能|要么[^。；\n]{0,120}要么|之间(?:犹豫|徘徊)"
    r"|或[^。；\n]{0,120}都(?:有道理|有?可能)",
    re.IGNORECASE,
)
"""Two candidates without a choice between them."""
_OR = re.compile(
    r"(?<=[\w)\]}$%°])[\s,，]*(?:\bor\b|或者?|还是)\s*"
    r"(?:it\s+is|it's|it\s+(?:could|may|might)\s+be|maybe|perhaps|possibly|是)?[\s$({\[]*"
    r"(?:[-+\u2212]?[\d.]|\\|(?-i:[A-Zb-z])(?![a-zA-Z])|true\b|false\b|不?正确|[错对])",
    re.IGNORECASE,
)
"""A second value that is joined to the first by "or"."""
_CLOSING = re.compile(r"[)\]}$*]*")
_BOXES_OR = re.compile(r"\}[\s$]*(?:\bor\b|或者?|还是)[\s$]*\\boxed\b", re.IGNORECASE)


def not_given(asked: Question, found: Found) -> str:
    """The reason why what was found is not the response's own answer; empty if it is.

    ``left-open``: the response states that it does not decide. ``quotes-the-reference``: it
    attributes the answer to somebody else. ``one-of-several``: it does not choose between
    candidates. ``not-a-commitment``: it merely mentions a number.
    """
    response, (start, end) = asked.response, found.clause
    announced = found.how in _ANNOUNCED
    begin = start if announced else min(start, found.start)
    if gives_up(response) >= begin:
        return LEFT_OPEN
    whose = response[max(found.start, start - _BEFORE) if announced else begin : end]
    if _QUOTED.search(whose) or (asked.kind is not AnswerType.TEXT and _HEARSAY.search(whose)):
        return "quotes-the-reference"
    if _OPEN_CHOICE.search(response, begin, max(found.end, end)) or _one_of_several(asked, found):
        return "one-of-several"
    if found.how is How.LAST_NUMBER and not endings(response):
        return "not-a-commitment"
    return ""


def _one_of_several(asked: Question, found: Found) -> bool:
    """Whether "or" joins another value to the answer, for types that have only one."""
    response, (start, end) = asked.response, found.clause
    if asked.kind in _JOINED:
        return False
    if found.how is How.BOXED and _BOXES_OR.search(response, response.rfind("\n\n", 0, start) + 1):
        return True
    if asked.kind in CHOICE and found.how in _ANNOUNCED:
        closed = _CLOSING.match(response, end)  # an option's own text may have an "or"
        return _OR.match(response, closed.end() if closed else end) is not None
    begin = start if found.how in _ANNOUNCED else min(start, found.start)
    return _OR.search(response, begin, max(found.end, end)) is not None


def last_box(response: str) -> Found | None:
    r"""The last ``\boxed{}`` that is not empty."""
    found = boxes(response)
    if not found:
        return None
    box = found[-1]
    span = sentence_around(response, box.start, box.end)
    return Found(box.content, *span, How.BOXED, (box.start, box.end))
