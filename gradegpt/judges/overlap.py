"""Free text by the words that it shares with the reference: crude, and more than a coin.

Whether two sentences mean the same is beyond rules and beyond a model of a few million parameters.
How many of the reference's words a response says, those aside that the question has already, tells
right answers from wrong ones far better than either guesses (docs/LOG.md has the figures). A model
that can read needs none of this: a cascade asks here first only where ``trust.json`` beside the
weights says that this was measured to be better than the model.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from gradegpt.answers.spans import sentences
from gradegpt.answers.text import fold, simplified, tidy
from gradegpt.judges.base import undecided
from gradegpt.judges.rules import judged
from gradegpt.rules.compare.given import FILLER
from gradegpt.rules.reference import answer_kind, reference_answers
from gradegpt.schema import AnswerType, Item, Judgement, Verdict

VERSION: Final = "2"
"""Raised with every change that can change a judgement; part of the fingerprint."""

MAX_WORDS: Final = 100
"""Different words of a response; a longer one says too many things."""
MAX_WANTED: Final = 80
"""Words that a reference wants; of a longer one some count for much and most for little."""
_NONE_SAID: Final = -1.45
_ALL_SAID: Final = 4.52
"""Log odds of a right answer that says none of the words, and what all of them add: a logistic
regression over the training parts of three files that people graded, each of equal weight."""

_ALIKE: Final = 0.6
"""Share of the longer of two words that both begin with, where one stands for the other."""
_BEGINNING: Final = 4
"""Letters of such a beginning at least."""

_WORD: Final = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")
_NOT: Final = re.compile(
    r"\b(?:not?|never|neither|nor|without|except|unlike|cannot)\b|n['’]t\b|[不没無无非未]",
    re.IGNORECASE,
)
_OF_GRADING: Final = re.compile(
    r"\b(?:reference|grad(?:er|ing)|judg\w+|verdict|scor(?:e|ing))\b|answers? agree|"
    r"<\s*/?\s*(?:yes|no|response|reference|question|context)\s*>|参考答案|标准答案|评分|评判|判定|判为|满分|得分",
    re.IGNORECASE,
)
"""A response that speaks of its grading may hold the reference without giving it."""
_DOUBT: Final = re.compile(
    r"\b(?:unsure|uncertain|not sure|no idea|guess|perhaps|maybe|possibly|someone)\b|"
    r"不确定|不知道|不清楚|有人说|会不会|是不是|无法|说不准",
    re.IGNORECASE,
)


class Overlap(NamedTuple):
    """Of the ``wanted`` words of a reference those ``said``, and the response's words for them."""

    reference: str
    wanted: frozenset[str]
    said: frozenset[str]
    by: frozenset[str]

    @property
    def share(self) -> float:
        """In [0, 1]."""
        return len(self.said) / len(self.wanted)


class OverlapJudge:
    """Judges free text by the share of the reference's words that it says. Method: ``overlap``.

    Everything else is left undecided: other types of answers, references that want more than
    ``MAX_WANTED`` words, responses of more than ``MAX_WORDS`` different ones, such as speak of
    their grading or doubt, and such as say the words with a "not" that the reference has not,
    or the reverse.
    """

    name = "overlap"

    @property
    def fingerprint(self) -> str:
        """The version."""
        return f"overlap-{VERSION}"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """Judge each item on its own; ``correct``, ``incorrect`` or undecided."""
        return [self._judge_one(item) for item in items]

    def _judge_one(self, item: Item) -> Judgement:
        references = [answer for r in item.accepted for answer in reference_answers(r)]
        if answer_kind(item, references[0]) is not AnswerType.TEXT:
            return undecided(item, self.name, "overlap:not-free-text")
        response = tidy(item.response)
        said = words(response)
        if not said or len(said) > MAX_WORDS:
            return undecided(item, self.name, "overlap:too-long" if said else "overlap:no-words")
        if _OF_GRADING.search(item.response):
            return undecided(item, self.name, "overlap:speaks-of-its-grading")
        if _DOUBT.search(item.response):
            return undecided(item, self.name, "overlap:doubts")
        known = words(item.question)
        overlap = max((_overlap(r, known, said) for r in references), key=lambda o: o.share)
        if len(overlap.wanted) > MAX_WANTED:
            return undecided(item, self.name, "overlap:long-reference")
        odds = _NONE_SAID + _ALL_SAID * overlap.share
        if odds > 0 and bool(_NOT.search(overlap.reference)) is not bool(_NOT.search(response)):
            return undecided(item, self.name, "overlap:one-says-not")
        return _judged(item, overlap, 1 / (1 + math.exp(-abs(odds))), right=odds > 0)


def _judged(item: Item, overlap: Overlap, confidence: float, *, right: bool) -> Judgement:
    def shared(span: tuple[int, int]) -> tuple[int, int]:
        found = words(item.response[slice(*span)])
        return len(found & overlap.by), len(found)

    span = max(sentences(item.response), key=shared)
    judgement = judged(
        item,
        Verdict.CORRECT if right else Verdict.INCORRECT,
        ("overlap", f"overlap:{len(overlap.said)}-of-{len(overlap.wanted)}-words"),
        span,
        item.response[slice(*span)].strip(" \t。.；;"),
        overlap.reference,
        AnswerType.TEXT,
    )
    return judgement.model_copy(update={"confidence": confidence, "tolerance": None})


def _overlap(reference: str, known: frozenset[str], said: frozenset[str]) -> Overlap:
    every = words(reference) or frozenset((reference,))
    wanted = (every - known) or every
    by = {word: {other for other in said if _alike(word, other)} for word in wanted}
    held = frozenset(filter(by.get, wanted))
    return Overlap(reference, wanted, held, frozenset().union(*by.values()))


def _alike(word: str, other: str) -> bool:
    """Whether one stands for the other: the same, or of one beginning, as "paint" and "painted"."""
    if word == other or not (word.isalpha() and other.isalpha()):
        return word == other
    letters = max(_BEGINNING, math.ceil(_ALIKE * max(len(word), len(other))))
    return word[:letters] == other[:letters]


def words(text: str) -> frozenset[str]:
    """The different words of a text, each Chinese character as one, without those that fill."""
    found = frozenset(_WORD.findall(fold(simplified(text)).casefold()))
    return (found - FILLER) or found
