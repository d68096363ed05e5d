"""Decide an item whose response is in another language than its question and reference.

The whole response is read, not one answer found in it: no word of the reference is in it.
"""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers.spans import sentence_around
from gradegpt.core.schema import CHOICE, AnswerType, Verdict
from gradegpt.rules.compare.across import compare_names
from gradegpt.rules.compare.amount import compare_amounts
from gradegpt.rules.compare.base import Shown
from gradegpt.rules.extract import Found, How
from gradegpt.rules.reading import Decision, Reading
from gradegpt.rules.stance import disowned, takes_back
from gradegpt.rules.tolerance import DEFAULT, tolerance

_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[A-Za-z]{2,}")
_NAMED: Final = (AnswerType.TEXT, AnswerType.MULTI_ANSWER)
"""The types of names and lists of names."""
_SPOKEN: Final = 2_000
"""Characters of a response that show its language, and most of one that is read."""


def across_languages(reading: Reading) -> Decision | None:
    """The verdict on a response in the other language; None where it is not, or not shown."""
    response = reading.response
    asked = f"{reading.question} {reading.references[0].text}"
    if reading.kind in (*CHOICE, AnswerType.TRUE_FALSE) or not _differ(asked, response):
        return None
    policy = tolerance(reading.item.tolerance or DEFAULT, reading.question)
    shown = [
        (
            answer,
            compare_amounts(answer.text, response, reading.question, policy)
            or (
                compare_names(answer.text, response, reading.question)
                if answer.kind in _NAMED
                else None
            ),
        )
        for answer in reading.references
    ]
    equal = next(((answer, one) for answer, one in shown if one and one.same), None)
    if equal is not None:
        found = _found(equal[1], response)
        if disowned(response, found) or takes_back(response, found.end):
            return None
        return Decision(Verdict.CORRECT, equal[1].reason, found, equal[0])
    if not all(one for _, one in shown):
        return None
    answer, one = shown[0]
    assert one is not None
    return Decision(Verdict.INCORRECT, one.reason, _found(one, response), answer)


def _found(shown: Shown, response: str) -> Found:
    span = (shown.start, shown.end)
    return Found(response[slice(*span)], *sentence_around(response, *span), How.STATED, span)


def _differ(asked: str, response: str) -> bool:
    """Whether one is in Chinese and the other in a language of Latin letters."""
    if len(response) > _SPOKEN or bool(_HAN.search(asked)) is bool(_HAN.search(response)) is False:
        return False
    one, other = _chinese(asked), _chinese(response)
    return one is not None and other is not None and one is not other


def _chinese(text: str) -> bool | None:
    """Whether a text is in Chinese; None for one without words, such as a formula."""
    characters, words = len(_HAN.findall(text)), len(_WORD.findall(text))
    return characters > words if characters or words else None
