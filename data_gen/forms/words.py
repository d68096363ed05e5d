"""Answers in words: truth words and short texts."""

from __future__ import annotations

import random
import re
from typing import Final

from data_gen.forms.base import HAN, Answer, distinct
from data_gen.forms.edits import numeral_edits
from data_gen.forms.lexicon import CLASSES, STILL, TRENDS
from gradegpt.answers.truth import truth

_TRUE: Final = ("对", "正确", "√", "是", "成立", "True", "true", "T", "Yes", "correct", "right")
_FALSE: Final = (
    "错",
    "错误",
    "×",
    "否",
    "不成立",
    "False",
    "false",
    "F",
    "No",
    "incorrect",
    "wrong",
)
_SAID: Final = {
    True: ("对", "正确", "√", "True", "true", "T", "Yes", "correct", "Correct", "TRUE"),
    False: ("错", "错误", "不正确", "×", "False", "false", "F", "No", "incorrect", "FALSE"),
}
_SENTENCES: Final = {
    True: ("说法正确", "这个说法是对的", "该命题成立", "The statement is true.", "It is true",
           "That is correct."),
    False: ("说法错误", "这个说法是错的", "该命题不成立", "The statement is false.", "It is false",
            "That is incorrect."),
}  # fmt: skip
_LONGEST: Final = 60
_CLASS_LONGEST: Final = 30
"""A longer text says more than which of a class it is."""
_NAME_LONGEST: Final = 12
_SAYS: Final = re.compile(r"[，；、：\s是为]|^[因先会不向能有使]")
"""Signs of a Chinese text that is a statement rather than a name."""
_ARTICLE: Final = re.compile(r"(?:the|an?)\s+(?=\w)", re.IGNORECASE)
_WRAPPED: Final = re.compile(r"(?:it|this|that|he|she|they|there|the answer)\b", re.IGNORECASE)


Table = dict[str, list[str]]


def _table() -> tuple[Table, Table]:
    """For each word those of the same meaning, and those of its opposite, the likest first."""
    like: Table = {}
    unlike: Table = {}
    for one, other, *between in TRENDS:
        for mine, theirs in (one.split("/"), other.split("/")), (other.split("/"), one.split("/")):
            for n, word in enumerate(mine):
                like[word] = [w for w in mine if w != word]
                first = theirs[min(n, len(theirs) - 1)]
                unlike[word] = [first, *(w for w in theirs if w != first), *between]
    for still, moving in STILL:
        group = still.split("/")
        for word in group:
            like[word], unlike[word] = [w for w in group if w != word], moving.split("/")
    return like, unlike


def _classes() -> Table:
    groups = [line.split("/") for line in CLASSES]
    return {word: [w for w in group if w != word] for group in groups for word in group}


def _pattern(table: Table) -> re.Pattern[str]:
    ordered = sorted(table, key=len, reverse=True)
    bounded = r"(?<![A-Za-z])(?<!\d ){}(?![A-Za-z])"
    return re.compile("|".join(bounded.format(w) if w.isascii() else w for w in ordered))


_LIKE, _UNLIKE = _table()
_CLASS: Final = _classes()
_LIKE_RE, _UNLIKE_RE, _CLASS_RE = _pattern(_LIKE), _pattern(_UNLIKE), _pattern(_CLASS)


# --- true and false -------------------------------------------------------------------------------


def _said(text: str) -> bool | None:
    """The truth value of a word, or of one of the sentences made here."""
    told = (value for value, sentences in _SENTENCES.items() if text in sentences)
    return next(told, truth(text))


def same_truth(_rng: random.Random, answer: Answer) -> list[str]:
    """The words of the same truth value in both languages."""
    said = _said(answer.text.strip())
    return [] if said is None else [*_SAID[said], *_SENTENCES[said]]


def near_truth(_rng: random.Random, answer: Answer) -> list[str]:
    """The opposite word of the same pair, and of the other pairs of its language."""
    text = answer.text.strip()
    said = _said(text)
    if said is None:
        return []
    if text in _SENTENCES[said]:
        return [_SENTENCES[not said][_SENTENCES[said].index(text)]]
    mine, theirs = (_TRUE, _FALSE) if said else (_FALSE, _TRUE)
    chinese = not text.strip(".").isascii()
    pairs = {m.casefold(): t for m, t in zip(mine, theirs, strict=True)}
    other = pairs.get(text.casefold(), "")
    made = [other.lower() if text.islower() else other] if other else []
    others = [w for w in theirs if w.isascii() is not chinese and len(w) > 1]
    return [*made, *(w.lower() if text[:1].islower() else w for w in others)]


# --- texts ----------------------------------------------------------------------------------------


def same(_rng: random.Random, answer: Answer) -> list[str]:
    """The same words in other dress, and words that mean the same in a small table."""
    text = answer.text.strip()
    bare = text.rstrip(".。")
    if not bare:
        return []
    if len(text) > _LONGEST or "\n" in text:
        return [bare, f"{bare}{'。' if HAN.search(bare) else '.'}"]
    made = _in_chinese(bare) if HAN.search(bare) else _in_english(bare)
    return distinct([*made, *_synonyms(bare)], text)


def _in_chinese(text: str) -> list[str]:
    named = len(text) <= _NAME_LONGEST and not _SAYS.search(text)
    made = [text, f"{text}。", f"“{text}”"]
    if (trend := _LIKE_RE.fullmatch(text)) and trend[0][0] in "增减升降上下变加":
        return [*made, f"会{text}", f"{text}了"]
    return [*made, f"是{text}", f"是{text}。", f"即{text}"] if named else made


def _in_english(text: str) -> list[str]:
    bare = _ARTICLE.sub("", text, count=1) if _ARTICLE.match(text) else text
    made = [text, f"{text}.", f'"{text}"', bare, text[0].upper() + text[1:], text.lower()]
    trend = _LIKE_RE.match(text)
    if trend and trend.end() == len(text) and text.endswith(("s", "up", "down", "same")):
        made += [f"It {text}", f"it {text}."]
    elif not _WRAPPED.match(text) and not re.search(r"\w+ (?:is|are|was|were) ", text):
        said = text if text[0].isupper() else bare
        made += (
            [f"It is {text}", f"It's {text}.", f"that is {text}"]
            if said == text
            else [f"It is {text}."]
        )
    return made


def _synonyms(text: str) -> list[str]:
    if not _LIKE_RE.search(text):
        return []
    return [_exchanged(_LIKE_RE, _LIKE, text, n) for n in range(2)]


def _exchanged(pattern: re.Pattern[str], table: Table, text: str, n: int) -> str:
    """Every word of the table replaced, so that "first up, then down" turns as a whole."""

    def other(match: re.Match[str]) -> str:
        words = table[match[0]] or [match[0]]
        return words[n % len(words)]

    return pattern.sub(other, text)


def near(rng: random.Random, answer: Answer) -> list[str]:
    """The opposite, another of the same class, another figure; nothing without such a handle."""
    text = answer.text.strip()
    if len(text) > 2 * _LONGEST or "\n" in text:
        return []
    if truth(text) is not None:
        return near_truth(rng, answer)
    made: list[str] = []
    found = _UNLIKE_RE.findall(text)
    if found:
        # "First up, then down" has one opposite; "up" has also "unchanged".
        most = len(_UNLIKE[found[0]]) if len(found) == 1 else 1
        made += [_exchanged(_UNLIKE_RE, _UNLIKE, text, n) for n in range(most)]
    elif len(text) <= _CLASS_LONGEST and len(named := _CLASS_RE.findall(text)) == 1:
        others = _CLASS[named[0]]
        made += [text.replace(named[0], w) for w in rng.sample(others, min(4, len(others)))]
    return [*made, *_negated(text), *numeral_edits(rng, text, most=6)]


def _negated(text: str) -> list[str]:
    """A sentence with one plain verb in its opposite."""
    for yes, no in ((" is not ", " is "), (" are not ", " are "), (" cannot ", " can ")):
        if text.count(yes) == 1:
            return [text.replace(yes, no)]
        if text.count(no) == 1 and " not " not in text and "n't" not in text:
            return [text.replace(no, yes)]
    found = re.findall(
        r"不是|(?<![不就还只但可于])是(?!否|不)|不能|(?<![不可功])能(?![力量源否])", text
    )
    if len(found) != 1:
        return []
    word = found[0]
    return [text.replace(word, word[1:] if word[0] == "不" else f"不{word}")]
