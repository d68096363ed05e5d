"""Hard negatives: changed values in the style of the answer, or edits of its text."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

from gradegpt.answers import Answer, read
from gradegpt.answers.options import LETTERS
from gradegpt.answers.types import Leaf, Options, Truth
from gradegpt.answers.words import Words
from gradegpt.core.schema import AnswerType

from ..forms import Digits, Style, UnwritableError, write, written
from ..forms.words import TRUTHS
from ..phrases import NO_OPTION_EN, NO_OPTION_ZH
from .answer_text import AnswerText, distinct, is_known, is_phrase, notation_signs
from .changes import changed
from .edits import numeral_edits
from .texts import is_year, near_texts

_LETTER: Final = re.compile(rf"[(（]?[{LETTERS}][)）]?")
_JOINTS: Final = ("", "", "、", ",", ", ", " and ", "和")


@lru_cache(maxsize=4096)
def style_of(text: str, kind: AnswerType, question: str) -> Style | None:
    """The style that writes exactly this text, else the first with the same signs, else none."""
    answer = read(text, kind, question)
    if not is_known(answer):
        return None
    shown = [*written(answer, question)]
    exactly = next((style for style, form in shown if form == text), None)
    alike = (
        s
        for s, form in shown
        if notation_signs(form) == notation_signs(text) and s.digits is not Digits.WORDS
    )
    return exactly or next(alike, None)


def hard_negative_texts(rng: random.Random, given: AnswerText) -> list[str]:
    """Other answers in the same style; for a text of unknown style, edits of its numerals."""
    answer, body = given.answer, given.text
    if given.kind is AnswerType.CODE:
        return []
    if is_year(body, given.question):
        return [year for year in numeral_edits(rng, body) if len(year) == len(body)]
    if isinstance(answer.value, Words):
        return near_texts(rng, body) if given.kind is AnswerType.TEXT else []
    if isinstance(answer.value, Truth):
        return _other_truths(body, answer.value.holds)
    style = style_of(body, given.kind, given.question)
    if style is None:
        return near_texts(rng, body) if is_phrase(answer) else numeral_edits(rng, body)
    if is_phrase(answer):
        return near_texts(rng, body)
    made = []
    for other in changed(rng, answer, given.question):
        try:
            made.append(write(other, _style_for(style, other), given.question))
        except (UnwritableError, ValueError, KeyError):
            continue
    if isinstance(answer.value, Options) and len(answer.value.letters) == 1:
        made += (
            _not_one_option(rng, answer.value.letters[0], given) if _LETTER.fullmatch(body) else []
        )
    return distinct(made, body)


def _style_for(style: Style, other: Answer) -> Style:
    """The style with the unit of ``other``."""
    value = other.value
    if not style.unit or not isinstance(value, Leaf) or value.quantity is None:
        return style
    gap = " " if style.unit[0] == " " else ""
    return replace(style, unit=f"{gap}{value.quantity.unit}")


def _other_truths(text: str, holds: bool) -> list[str]:
    """The opposite truth value, by the same pair of words and by similar pairs."""
    pairs = [pair.split("|") for pair in TRUTHS]
    mine = [pair[holds] for pair in pairs if pair[not holds] == text]
    alike = [
        pair[holds]
        for pair in pairs
        if pair[not holds].isascii() == text.isascii()
        and (" " in pair[not holds]) == (" " in text)
        and pair[not holds][0].islower() == text[0].islower()
        and len(pair[not holds]) > 1
    ]
    return distinct([*mine, *alike], text)


def _not_one_option(rng: random.Random, letter: str, given: AnswerText) -> list[str]:
    """Sometimes two options, or "none of them", instead of the one option."""
    others = [c for c in "ABCD" if c != letter]
    if given.kind is not AnswerType.SINGLE_CHOICE or not letter.isalpha():
        return []
    both = rng.choice(_JOINTS).join(sorted((letter, rng.choice(others))))
    none = rng.choice(NO_OPTION_ZH if given.chinese else NO_OPTION_EN)
    return [new for new, share in ((both, 0.5), (none, 0.4)) if rng.random() < share]
