"""Decide by what the whole of a response says, not by one answer found in it.

A response in another language than its question and reference has no word of the reference. A short
one in the same language may say the quantity of the reference in other words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gradegpt.answers.amounts import amounts
from gradegpt.answers.spans import sentence_around
from gradegpt.answers.times import DATE, ORDINAL
from gradegpt.answers.units import COUNT
from gradegpt.answers.values import is_range, is_read, read
from gradegpt.core.schema import CHOICE, AnswerType, Verdict
from gradegpt.rules.compare.across import compare_names
from gradegpt.rules.compare.amount import compare_amounts
from gradegpt.rules.compare.base import Shown
from gradegpt.rules.extract import Found, How
from gradegpt.rules.extract.numbers import names_another
from gradegpt.rules.reading import Decision, Reading
from gradegpt.rules.stance import disowned, takes_back
from gradegpt.rules.tolerance import DEFAULT, tolerance

_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[A-Za-z]{2,}")
_NAMED: Final = (AnswerType.TEXT, AnswerType.MULTI_ANSWER)
"""The types of names and lists of names."""
_IN_WORDS: Final = (AnswerType.NUMBER, AnswerType.TEXT, AnswerType.EXPRESSION)
_ANSWER_IS = re.compile(r"\banswer is\b|答案[是为]", re.IGNORECASE)
_ALTERNATIVE = re.compile(
    r"也许|可能是|\b(?:perhaps|maybe)\b|\bor\b(?! (?:so|more|less|earlier|later)\b)", re.IGNORECASE
)
"""Words by which a quantity or name may not be the answer, or not the only one."""
_RATIO = re.compile(r"^\s*\d+\s*[:：∶]\s*\d+\s*$")
_ASKS_THE_TIME = re.compile(
    r"\bwhat time\b|\bwhen\b|几[时点]|何时|什么时[候间刻]|时刻", re.IGNORECASE
)
_GOES_ON = re.compile(r"\.\.\.|…|\d\s*[kK]\b|\d\. \d")
_SHORT: Final = 400
"""Most characters of a response whose quantities are read where its answer says nothing."""
_SPOKEN: Final = 2_000
"""Characters of a response that show its language, and most of one that is read."""


def across_languages(reading: Reading) -> Decision | None:
    """The verdict on a response in the other language; None where it is not, or not shown."""
    response, question = reading.response, reading.question
    first, kind = reading.references[0].text, reading.kind
    other = kind in _NAMED and _differ(first, response)
    if kind in (*CHOICE, AnswerType.TRUE_FALSE) or not (
        other or _differ(f"{question} {first}", response)
    ):
        return None
    names = (
        compare_names(r.text, response, question) if r.kind in _NAMED else None
        for r in reading.references
    )  # fmt: skip
    return _decided(
        reading, [a or name for a, name in zip(_quantities(reading), names, strict=True)]
    )


def in_other_words(reading: Reading, found: Found, not_shown: bool) -> Decision | None:
    """The verdict on a short response by the quantities that it says; None where not shown.

    Also on one in the other language than the reference, where the comparison could show nothing.

    Not for bare numbers, which may count other things, nor where the values were compared.
    """
    response, kind, first = reading.response, reading.kind, reading.references[0]
    if not_shown and _HAN.search(first.text) and _differ(first.text, response):
        return _decided(reading, _quantities(reading))
    ratio = _RATIO.search(first.text) and not _ASKS_THE_TIME.search(reading.question)
    if kind not in _IN_WORDS or len(response) > _SHORT or ratio:
        return None
    wanted = {a.measures for r in reading.references for a in amounts(r.text)}
    if not wanted or COUNT in wanted or _GOES_ON.search(response) or names_another(response):
        return None
    compared = is_read(read(found.answer)) and (
        is_range(first.text) if kind is AnswerType.TEXT else is_read(read(first.text))
    )
    said = amounts(response)
    if compared or any(amount.side for amount in said):
        return None
    made = _decided(reading, _quantities(reading))
    if made is None or made.found is None or made.verdict is Verdict.CORRECT:
        return made
    kinds, values = {a.measures for a in said}, {a.value for a in said}
    only = len(values) == 1 and kinds <= wanted - {DATE, ORDINAL}  # the next episode's date varies
    return made if only else None


def _quantities(reading: Reading) -> list[Shown | None]:
    policy = tolerance(reading.item.tolerance or DEFAULT, reading.question)
    return [
        compare_amounts(r.text, reading.response, reading.question, policy)
        for r in reading.references
    ]


def _decided(reading: Reading, compared: Sequence[Shown | None]) -> Decision | None:
    response = reading.response
    shown = [*zip(reading.references, compared, strict=True)]
    equal = next(((answer, one) for answer, one in shown if one and one.same), None)
    if equal is not None:
        found = _found(equal[1], response)
        if disowned(response, found) or takes_back(response, found.end):
            return None
        if _ALTERNATIVE.search(response, found.start, found.end):
            return None
        if any(
            said.start() > equal[1].end
            and response[slice(equal[1].start, equal[1].end)] not in response[said.end() :]
            for said in _ANSWER_IS.finditer(response)
        ):
            return None
        return Decision(Verdict.CORRECT, equal[1].reason, found, equal[0])
    if not all(one for _, one in shown):
        return None
    answer, one = shown[0]
    assert one is not None
    found = _found(one, response)
    if disowned(response, found):
        return None
    return Decision(Verdict.INCORRECT, one.reason, found, answer)


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
