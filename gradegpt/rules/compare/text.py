"""Compare free text: the same words, the reference given in a sentence, or its opposite.

Nothing else is decided: two texts without a common word may still name the same thing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from gradegpt.answers.text import plain, signs
from gradegpt.answers.times import same_kind, spoken, spoken_in
from gradegpt.answers.words import MAX_MEANING, OPPOSITE, meaning
from gradegpt.answers.words import words as words_of
from gradegpt.rules.compare.base import Comparison
from gradegpt.rules.compare.given import FILLER, MAX_REFERENCE, QUALIFYING, gives
from gradegpt.rules.cues import cue
from gradegpt.rules.cues import words as words_like

_LEADING: Final = ("yes", "no", "valid", "invalid")
"""Words that decide an answer that begins with them: "No, because …"."""
_JOINING: Final = frozenset(("and", "of"))
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_ORDER_ASKED = cue("asks for a sequence")
_NAMED, _DOUBTED = cue("names a value"), cue("doubted")
"""Words that doubt a rank; in quotation marks it is part of a title."""
_PARTICLES = re.compile(r"[\s的了是就为叫乃即\"'“”‘’《》。.，,；;：:！!？?*]|^答")
_HAN = re.compile(r"[\u3400-\u9fff·]+")
_LEAST_NAME: Final = 2
_BLANK = re.compile(r"__")
_FORMS: Final = words_like("other form")
"""Words that make another form of the one beside them: has went."""
_MARKS = re.compile(r"(?<!\d)[.,:]|[.,:](?!\d)|[\s\"'“”‘’《》。，;；：]")
"""Signs between words that do not count; inside of 1.5 and 3:45 they do."""


def compare_text(reference: str, answer: str, question: str = "") -> Comparison:
    """Whether the answer states the reference: in the same words, or in a sentence of its own.

    Articles, punctuation and the order of a list do not count. A reference of up to six words that
    occurs verbatim in an answer of up to 120 words is given by it, unless the question has these
    words too, the answer lists several things, or a word such as "not" or "or" is next to it. A
    leading "yes" and "no", and a word and its opposite, are different answers.
    """
    if len(answer) <= len(reference) + MAX_MEANING:
        wanted, given = _bare(reference), _bare(answer)
        if wanted and wanted == given:
            return Comparison(True, "text:same-words")
        if OPPOSITE.get(wanted) == given:
            return Comparison(False, "text:opposite")
    words, said = words_of(reference), words_of(answer)
    formed = reference.islower() and {*said} - {*words, *words_of(question)} & _FORMS
    if formed and len(words) == 1 and _BLANK.search(question):
        return Comparison(None, "text:not-shown")
    if words and said and words[0] in _LEADING and OPPOSITE[words[0]] == said[0]:
        return Comparison(False, "text:opposite")
    if _reordered(reference, answer) and not _ORDER_ASKED.search(question):
        return Comparison(True, "text:same-words-in-other-order")
    if gives(reference, answer, question) or _in_the_questions_words(reference, answer, question):
        return Comparison(True, "text:gives-reference")
    due = spoken(reference)
    got = spoken(answer)
    plainly = not (QUALIFYING & {*said} or _DOUBTED.search(answer))
    if due and got is None and plainly:
        ranks = [one for *_, one in spoken_in(answer) if one.unit == due.unit]
        got = ranks[0] if len(ranks) == 1 else None
    if due and got and due.unit == got.unit:
        same = same_kind(due, got)
        reason = {True: "same-in-words", False: "other-in-words", None: "less-exact"}[same]
        return Comparison(same, f"text:{reason}")
    return Comparison(None, "text:not-shown")


def _in_the_questions_words(reference: str, answer: str, question: str) -> bool:
    """``法国的首都是巴黎`` to 法国的首都是哪里: around the name are the question's words."""
    name = "" if reference.isascii() else _PARTICLES.sub("", reference)
    if len(name) < _LEAST_NAME or not _HAN.fullmatch(name):
        return False
    asked = _PARTICLES.sub("", question)
    if name in asked:
        return False
    before, found, after = answer.partition(name)
    if not found or not _PARTICLES.match(before[-1:] or " "):
        return False
    return all(_PARTICLES.sub("", piece) in asked for piece in (before, after))


@lru_cache(maxsize=4096)
def _bare(text: str) -> str:
    return plain(_MARKS.sub(" ", _ARTICLE.sub("", meaning(text))))


def _reordered(reference: str, answer: str) -> bool:
    """``Robbery and burglary`` and ``burglary, robbery``; ``Shula, Don`` and ``Don Shula``."""
    left, right = words_of(reference), words_of(answer)
    if not 1 < len(left) <= MAX_REFERENCE or len(right) > 2 * MAX_REFERENCE:
        return False
    if ("by" in left) is not ("by" in right):
        return False  # who is defeated by whom
    if _NAMED.search(reference) or signs(reference) != signs(answer):
        return False  # A = HCl, B = NaOH
    joined = ("," in reference + answer) or _JOINING & {*left, *right}
    return bool(joined) and _content(left) == _content(right) and not QUALIFYING & {*left, *right}


def _content(words: tuple[str, ...]) -> list[str]:
    return sorted(word for word in words if word not in FILLER)
