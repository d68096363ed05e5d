"""Free text: the same words, the reference in a sentence of the answer, or a plain negation.

All else is not to be shown: two texts without a word in common may still name one thing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from gradegpt.answers.text import plain
from gradegpt.answers.words import meaning
from gradegpt.answers.words import words as words_of
from gradegpt.rules.compare.base import Comparison

MAX_ANSWER: Final = 60
"""Words of an answer that a reference is looked for in; a longer text says too many things."""
_MAX_REFERENCE: Final = 6
_OPPOSITES: Final = (
    ("增大", "减小"), ("增加", "减少"), ("升高", "降低"), ("上升", "下降"), ("变大", "变小"),
    ("偏大", "偏小"), ("偏高", "偏低"), ("顺时针", "逆时针"), ("吸热", "放热"), ("大于", "小于"),
    ("正反应", "逆反应"), ("左", "右"), ("超重", "失重"),
    ("increase", "decrease"), ("increases", "decreases"), ("clockwise", "counterclockwise"),
    ("greater", "less"), ("higher", "lower"), ("larger", "smaller"), ("left", "right"),
    ("up", "down"), ("positive", "negative"), ("valid", "invalid"), ("yes", "no"),
    ("possible", "impossible"), ("stable", "unstable"), ("even", "odd"),
)  # fmt: skip
_OPPOSITE: Final = {a: b for x, y in _OPPOSITES for a, b in ((x, y), (y, x))}
_LEADING: Final = ("yes", "no", "valid", "invalid")
"""Words that decide the answer where it begins with them: "No, because …"."""
FILLER: Final = frozenset({
    "a", "an", "the", "of", "in", "on", "at", "to", "by", "for", "and", "is", "was", "are", "were",
    "it", "its",
})  # fmt: skip
_JOINING: Final = frozenset(("and", "of"))
_DOUBT: Final = frozenset({
    "not", "no", "never", "or", "except", "non", "without", "nor", "neither", "but", "unknown",
    "either", "unlike", "rather", "instead", "than", "although", "cannot", "wrong", "incorrect",
    "false", "reference", "grader", "possibly", "perhaps",
})  # fmt: skip
"""Words that may turn what follows, or leave it open."""
_ARTICLE = re.compile(r"^(?:the|an?)(?=[^a-z])|[\s\"'“”‘’《》.。,，;；:：]", re.IGNORECASE)
_LIST = re.compile(r"(?:[^,;、\n]{1,40}[,;、]\s*){2,}(?:and\s+|or\s+)?[^,;、\n.]{1,40}")


def compare_text(reference: str, answer: str, question: str = "") -> Comparison:
    """Whether the answer says the reference: in the same words, or in a sentence of its own.

    Articles, punctuation and the order of a list do not count. A reference of up to
    six words that stands word for word in an answer of up to sixty is given by it, unless the
    question has these words too, the answer lists several things, or a word such as "not" or "or"
    stands beside it. A leading "yes" against "no", and one word against its opposite, are
    different answers.
    """
    wanted, given = _bare(reference), _bare(answer)
    if wanted and wanted == given:
        return Comparison(True, "text:same-words")
    if _OPPOSITE.get(wanted) == given:
        return Comparison(False, "text:opposite")
    words, said = words_of(reference), words_of(answer)
    if words and said and words[0] in _LEADING and _OPPOSITE[words[0]] == said[0]:
        return Comparison(False, "text:opposite")
    if _reordered(reference, answer):
        return Comparison(True, "text:same-words-in-other-order")
    if (
        _contains(words, said)
        and not _in_a_row(words, words_of(question))
        and _one_thing(answer)
        and not _in_a_longer_name(reference, answer)
    ):
        return Comparison(True, "text:contains-reference")
    return Comparison(None, "text:not-shown")


@lru_cache(maxsize=4096)
def _bare(text: str) -> str:
    text = meaning(text)
    return plain(_ARTICLE.sub(lambda m: "" if m[0].strip().isalpha() else " ", text.strip()))


def _reordered(reference: str, answer: str) -> bool:
    """``Robbery and burglary`` and ``burglary, robbery``; ``Shula, Don`` and ``Don Shula``."""
    left, right = words_of(reference), words_of(answer)
    if not 1 < len(left) <= _MAX_REFERENCE or len(right) > 2 * _MAX_REFERENCE:
        return False
    joined = ("," in reference + answer) or _JOINING & {*left, *right}
    same = _content(left) == _content(right)
    return bool(joined) and same and not _DOUBT & {*left, *right}


def _content(words: tuple[str, ...]) -> list[str]:
    return sorted(word for word in words if word not in FILLER)


def _contains(words: tuple[str, ...], said: tuple[str, ...]) -> bool:
    """Whether ``words``, few and not all filler, stand in a short ``said`` and are not turned."""
    if not 0 < len(words) <= _MAX_REFERENCE or len(said) > MAX_ANSWER or words[0] not in said:
        return False
    if all(word in FILLER or len(word) < 2 for word in words):
        return False
    named = tuple(w for w in said if len(w) > 1)  # Franklin D. Roosevelt
    found = _in_a_row(words, said) or (len(words) > 1 and _in_a_row(words, named))
    return found and not _DOUBT & ({*said} - {*words})


def _in_a_row(words: tuple[str, ...], said: tuple[str, ...]) -> bool:
    size = len(words)
    return any(said[at : at + size] == words for at in range(len(said) - size + 1))


def _in_a_longer_name(reference: str, answer: str) -> bool:
    """Whether the one word of the reference stands in a name of more: Darwin, Erasmus Darwin."""
    word = reference.strip(" .")
    if not word[:1].isupper() or " " in word:
        return False
    name = re.escape(word)
    return bool(re.search(rf"[A-Z][\w.'-]+ {name}\b|\b{name} [A-Z]\w", answer))


def _one_thing(answer: str) -> bool:
    """Whether the answer is no list of several candidates."""
    return sum(map(answer.count, ",;、")) < 2 or _LIST.search(answer) is None
