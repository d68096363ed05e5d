"""Compare free text: the same words, the reference given in a sentence, or its opposite.

Nothing else is decided: two texts without a common word may still name the same thing.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from gradegpt.answers.text import plain
from gradegpt.answers.times import ORDINAL, same_kind, spoken, spoken_in
from gradegpt.answers.words import MAX_MEANING, OPPOSITE, meaning
from gradegpt.answers.words import words as words_of
from gradegpt.rules.compare.across import asserted
from gradegpt.rules.compare.base import Comparison
from gradegpt.rules.compare.given import FILLER, MAX_REFERENCE, QUALIFYING, SIGNS, gives

_LEADING: Final = ("yes", "no", "valid", "invalid")
"""Words that decide an answer that begins with them: "No, because …"."""
_JOINING: Final = frozenset(("and", "of"))
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_ORDER_ASKED = re.compile(
    r"\b(?:rank|order|arrange|sequence|sort)\b|\bfrom \w+est to\b|排序|排列|顺序|次序|从.{1,4}到",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?<![A-Za-z])[A-Za-z]\d?\s*(?:[=:：是为]|is\b)")
_TOWN = re.compile(r"(?P<name>(?!吉林)[\u3400-\u9fff]{2,}) (?P=name)[市省]")
"""A town or province without and with the word for it; Jilin is both."""
_HAN = re.compile(r"[\u3400-\u9fff]+")
_BY_HEART = re.compile("默写|补写|补[全充].{0,6}[诗词名]句|[上下]一?句")
"""Questions that are answered word for word."""
_PINYIN = re.compile(r"拼音|注音|读音|声调|\bpinyin\b", re.IGNORECASE)
"""Questions whose answers differ in their tones."""
_DOUBTED = re.compile('不是|并非|也许|可能|或|["“]')
"""Words that doubt a rank; in quotation marks it is part of a title."""
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
        if wanted and (
            wanted == given or _TOWN.fullmatch(f"{min(wanted, given)} {max(wanted, given)}")
        ):
            return Comparison(True, "text:same-words")
        if OPPOSITE.get(wanted) == given:
            return Comparison(False, "text:opposite")
        if _is_miswritten(wanted, given, question):
            return Comparison(False, "text:other-wording")
    words, said = words_of(reference), words_of(answer)
    if words and said and words[0] in _LEADING and OPPOSITE[words[0]] == said[0]:
        return Comparison(False, "text:opposite")
    if _reordered(reference, answer) and not _ORDER_ASKED.search(question):
        return Comparison(True, "text:same-words-in-other-order")
    if gives(reference, answer, question):
        return Comparison(True, "text:gives-reference")
    due = spoken(reference)
    slots = asserted(answer) if due else []
    got = spoken(answer) or (spoken(slots[-1].text) if slots else None)
    plainly = not (QUALIFYING & {*said} or _DOUBTED.search(answer))
    if due and got is None and due.unit == ORDINAL and plainly:
        ranks = [one for *_, one in spoken_in(answer) if one.unit == ORDINAL]
        got = ranks[0] if len(ranks) == 1 else None
    if due and got and due.unit == got.unit:
        same = same_kind(due, got)
        reason = {True: "same-in-words", False: "other-in-words", None: "less-exact"}[same]
        return Comparison(same, f"text:{reason}")
    return Comparison(None, "text:not-shown")


def _is_miswritten(wanted: str, given: str, question: str) -> bool:
    """Whether a line or an idiom that is asked for by heart has other characters, Pinyin tones."""
    if _PINYIN.search(question) and _toneless(wanted) == _toneless(given):
        return True
    if len(wanted) != len(given) or not _HAN.fullmatch(wanted + given):
        return False
    alike = sum(one == other for one, other in zip(wanted, given, strict=True))
    idiom = "成语" in question and len(wanted) - 1 == alike > 2
    return bool(idiom or (_BY_HEART.search(question) and len(wanted) < 2 * alike))


def _toneless(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def _bare(text: str) -> str:
    return plain(_MARKS.sub(" ", _ARTICLE.sub("", meaning(text))))


def _reordered(reference: str, answer: str) -> bool:
    """``Robbery and burglary`` and ``burglary, robbery``; ``Shula, Don`` and ``Don Shula``."""
    left, right = words_of(reference), words_of(answer)
    if not 1 < len(left) <= MAX_REFERENCE or len(right) > 2 * MAX_REFERENCE:
        return False
    if ("by" in left) is not ("by" in right):
        return False  # who is defeated by whom
    if _NAMED.search(reference) or SIGNS.search(reference):
        return False  # A = HCl, B = NaOH
    joined = ("," in reference + answer) or _JOINING & {*left, *right}
    return bool(joined) and _content(left) == _content(right) and not QUALIFYING & {*left, *right}


def _content(words: tuple[str, ...]) -> list[str]:
    return sorted(word for word in words if word not in FILLER)
