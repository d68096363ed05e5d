"""Numbers at the end of a text, for responses that announce no answer."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers.quantity import SHARES
from gradegpt.answers.spans import last_match, sentence_around, sentences
from gradegpt.answers.units import CURRENCY, MONEY_AFTER, known, named
from gradegpt.rules.extract.found import NEAR_THE_END, OVERLAP, Found, How

NUMBER = re.compile(
    rf"(?:{CURRENCY}\s?)?(?<![\d^_])(?<!\^\{{)-?[$€£¥]?\d[\d,]*(?:\.\d+)?(?:\s*/\s*\d+)?"
    rf"(?:\s?(?:{SHARES}))?"
)
_OF = re.compile(
    r"\b(?:half|twice|double|triple|thrice|(?:half|double|opposite|reciprocal|inverse|negative"
    r"|square|cube|root|factorial|absolute value|multiple|divisor)s? of)(?: the(?: number)?)? \W?\Z"
    r"|\bwhose\b[^.;,]*\Z",
    re.IGNORECASE,
)
_OF_IT = re.compile(r"\s*的(?:数|倒数|相反数|平方|立方|绝对值|一半|\S倍|\S次方)")
"""Words around a number by which another one is meant: half of 7, the number whose half is 7."""
CHANGED = re.compile(
    r"\bnot\b|n't\b|\b(?:less|more|fewer|at least|at most|than|plus|minus|times|over|half|\w*halves"
    r"|or|between|\w*(?:thirds?|quarters?|fourths?|fifths?|tenths?|dozens?|hundreds?|thousands?|illions?))\b"
    r"|\b[b-hj-z]\b|\(.*,|[+*/^=<>≤≥_\\]|(?<!['‘\d.,])\d[\d.,]*['′″](?!\w)|[₂₈]|不|没|的(?:平方|立方|倍|倒数)|平方|大于|小于|至少|至多|或|半",
    re.IGNORECASE,
)
"""Signs and words next to a number that change its value."""
SPELLED = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|hundred)\b",
    re.IGNORECASE,
)
_INDEX = re.compile(r"_\s*\{[^{}]*[=<>≤≥∈][^{}]*\}(?:\s*\^\s*(?:\{[^{}]*\}|\w))?")
"""The bounds of a sum, product or integral, whose numbers are no results."""
_HOW_MANY = re.compile(r"\bhow many (?:[a-z]+ )??([a-z]{3,})\b", re.IGNORECASE)
_SO = re.compile(r"\b(?:so|thus|hence|therefore)\b[^.]*\d", re.IGNORECASE)
"""A number to which a sentence comes."""
_IN_WORDS = re.compile(
    rf"{SPELLED.pattern}[ -](?:halves|thirds|quarters|fourths|fifths|sixths|sevenths|eighths|ninths"
    r"|\w*tenths|hundredths)\b",
    re.IGNORECASE,
)
"""A fraction in words, which may be the answer after a number in digits."""
_IN_FORMULA = re.compile(r"[=+/^\\{}_<>≤≥×÷√(]|\d\s*[-*]\s*\d")
"""Signs beside a number that is a part of a formula."""
_CONCLUDING = re.compile(
    r"\b(?:so|thus|hence|therefore|leaving|leaves)\b|所以|因此|于是|[，,]故", re.IGNORECASE
)
_CONCLUDES = re.compile(
    r"[\s*#]*(?:(?:so|thus|hence|therefore|finally|in total|the|there)\b|所以|因此|故|答|综上"
    r"|一?共)",
    re.IGNORECASE,
)
_CLOSING: Final = 3
"""Most characters that may follow the last sentence."""
_NOT_THE_RESULT = re.compile(
    r"\bnot\b|n't\b|\b(?:less|fewer|at least|at most|than|or|between \W?\d+|compared (?:to|with))\b"
    r"|\b(?:that|which) is (?=\W?\d[^.]*\b(?:each|per|every)\b)|不|没|大于|小于|至少|至多|或|才",
    re.IGNORECASE,
)
"""Words in a sentence whose number is not its result, unless it follows an equals sign."""
_DENIED = re.compile(r"\bnot\b|n't\b|不|没", re.IGNORECASE)
_UNIT = re.compile(
    r"\s*(?P<unit>(?:(?:square|cubic) )?[A-Za-z]{1,12}[²³]?(?:/[A-Za-z]{1,6}[²³]?)?"
    r"|[\u3400-\u9fff]{1,2})"
    r"(?![A-Za-z/^²³*·])"
)
_POWER = re.compile(
    r"\s{0,3}\$?\s{0,3}"
    r"(?:(?:\\(?:mathrm|text|mbox|rm) ?)?\{?[~ ]?[A-Za-z]{1,6}\}? ?/? ?){1,2}\^\{?-?\d\}?"
)
"""A unit, or an unknown, with its exponent, which belongs to the value."""
_TIMES_TEN = re.compile(
    r"\s*(?:\\times|[×x*·])\s*10\s*"
    r"(?:\^\s*(?:\{\s*[-−+]?\d+\s*\}|[-−+]?\d+)|[⁻⁰¹²³⁴-⁹]+)"
)
"""The power of ten after a number, which belongs to it."""
_MONEY = re.compile(MONEY_AFTER)
_RESULT = re.compile(rf"[=≈]\s*(?P<number>{NUMBER.pattern})")


def endings(text: str) -> list[Found]:
    """The final number of a text: the last result in its last sentence, else its last number."""
    text = _without_bounds(text)
    last = last_number(text)
    if last is None or len(text.rstrip()) - last.end > _CLOSING:
        return []
    if _IN_WORDS.search(text, last.clause[1], last.end):
        return []
    result = last_match(_RESULT, text[last.start : last.end])
    if result is None:
        changed = _NOT_THE_RESULT.search(text, last.start, last.end) or names_another(
            text[last.start : last.end]
        )
        return [] if changed else [last]
    if _DENIED.search(text, last.start, last.start + result.start()):
        return []
    if NUMBER.match(last.answer) and last.answer.startswith(result["number"].rstrip(",")):
        return [last]
    start = last.start + result.start("number")
    answer = with_unit(text[start : last.end], NUMBER.match(text[start : last.end]))
    return [last._replace(answer=answer, clause=(start, start + len(answer)))]


def numbers_around(text: str, found: Found) -> list[Found]:
    """The other numbers in prose, with their units, of the answer's sentence and the one before.

    A sentence that concludes stands alone: "Therefore, …", "The median is …"; so does what follows
    "so" within it.
    """
    spans = sentences(text)
    here = [
        n for n, (start, end) in enumerate(spans) if start < found.clause[1] and end > found.start
    ]
    before = 0 if here and _CONCLUDES.match(text, spans[here[0]][0]) else 1
    near = spans[max(0, here[0] - before) : here[-1] + 1] if here else []
    made = []
    for start, end in near:
        for number in NUMBER.finditer(text, start, end):
            answer = with_unit(text, number)
            clause = (number.start(), number.start() + len(answer))
            plain = not _IN_FORMULA.search(text[max(0, clause[0] - 3) : clause[1] + 3])
            if answer != found.answer and plain and not _CONCLUDING.search(text, clause[1], end):
                made.append(Found(answer, start, end, How.LAST_NUMBER, clause))
    return made


def names_another(text: str) -> bool:
    """Whether the last number of a text describes another: half of 7, a number whose half is 7."""
    last = last_match(NUMBER, text)
    if last is None:
        return False
    before = text[max(0, last.start() - 60) : last.start()]
    return bool(_OF.search(before) or _OF_IT.match(text, last.end()))


def counted(text: str, found: Found, question: str) -> Found:
    """The number of the thing whose number is asked for, if the text has only one; else found.

    "How many seasons …?" "It had 9 seasons, airing from 1981 to 1990." A number that the question
    gives, or from which another is computed, is no answer: "6 boxes of 28 apples are 168 in all."
    """
    asked = _HOW_MANY.search(question)
    if asked is None or asked[1].lower() in found.answer.lower():
        return found
    thing = rf"(?P<number>{NUMBER.pattern})\s+(?:[a-z]+\s+)?{asked[1]}\b"
    said = list(re.finditer(thing, text[found.start : found.end], re.IGNORECASE))
    if len({m["number"] for m in said}) != 1 or said[0]["number"] == found.answer:
        return found
    if _SO.search(text, found.start + said[-1].end(), found.end):
        return found
    clause = (found.start + said[0].start("number"), found.start + said[0].end("number"))
    given = said[0]["number"] in NUMBER.findall(question)
    answer = found._replace(answer=said[0]["number"], clause=clause)
    return found if given or has_later_result(text, answer) else answer


def _measures(unit: str) -> bool:
    return unit != "a" and (known(unit) or named(unit) is not None)  # "$1920 a week"


def has_later_result(text: str, found: Found) -> bool:
    """Whether another result follows the answer: "spent $6, since 6 / 1.5 = 4"."""
    rest = text[found.clause[1] :]
    if re.search(rf"(?<![\d.]){re.escape(found.answer)}\s?[%‰]", rest):
        return True
    later = last_match(_RESULT, rest)
    return later is not None and later["number"].strip("$") not in found.answer


def _without_bounds(text: str) -> str:
    return _INDEX.sub(lambda index: " " * len(index[0]), text)


def last_number(text: str) -> Found | None:
    """The last number of a text, with its unit; none in the bounds of a sum."""
    text = _without_bounds(text)
    near = max(0, len(text) - NEAR_THE_END)
    last = last_match(NUMBER, text, near)
    if near and (last is None or last.start() < near + OVERLAP):
        last = last_match(NUMBER, text)
    if last is None:
        return None
    answer = with_unit(text, last)
    span = (last.start(), last.start() + len(answer))
    return Found(answer, *sentence_around(text, *last.span()), How.LAST_NUMBER, span)


def with_unit(text: str, number: re.Match[str] | None) -> str:
    """The number with the unit of measurement after it, if there is one."""
    if number is None:
        return ""
    if scale := _TIMES_TEN.match(text, number.end()):
        unit = _UNIT.match(text, scale.end())
        measured = unit[0] if unit is not None and _measures(unit["unit"]) else ""
        return number[0] + scale[0] + measured
    if power := _POWER.match(text, number.end()):
        return number[0] + power[0]
    if money := _MONEY.match(text, number.end()):
        return number[0] + money[0]
    unit = _UNIT.match(text, number.end())
    return number[0] + unit[0] if unit is not None and _measures(unit["unit"]) else number[0]
