"""A lexical-overlap judge: a small classifier for short free text that rules leave undecided.

Rules cannot decide whether two sentences mean the same. In most short texts right and wrong answers
differ in lexical overlap: in how much of the reference a response contains, what else it contains,
and whether it has a "not" or another number. The weights are boosted trees over ``FEATURES``
(Friedman, 2001), fitted by ``gradegpt train.lexical`` to answers that people graded; they are data,
``lexical.json``. Cases that words cannot decide are left undecided: a reference and a response in
two scripts, an acronym, the reference's words in another order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from gradegpt.answers.hidden import after_thought
from gradegpt.answers.spans import sentences
from gradegpt.answers.text import fold, plain, simplified, tidy
from gradegpt.answers.words import words as words_of
from gradegpt.core.errors import InputError, MissingError
from gradegpt.core.records import read_beside
from gradegpt.core.schema import AnswerType, Item, Judgement, Outcome, Row, Verdict
from gradegpt.judges.base import undecided
from gradegpt.judges.rules import judged
from gradegpt.rules.compare.given import FILLER, concludes_otherwise
from gradegpt.rules.reference import answer_kind, reference_answers
from gradegpt.rules.stance import wavers

VERSION: Final = "5"
"""Increased with every change that can change a judgement; part of the fingerprint."""
WEIGHTS: Final = Path(__file__).with_name("lexical.json")

MAX_WORDS: Final = 150
"""The most distinct words of a response; a longer one makes too many statements."""
MAX_LENGTH: Final = 20_000
"""The most characters of a response, which bounds the time of counting."""
MAX_WANTED: Final = 80
"""The most words of a reference; in a longer one a few words matter and most do not."""
_ALIKE: Final = 0.6
"""The share of the longer of two words that is their common prefix, where they match."""
_BEGINNING: Final = 4
"""The least length of such a prefix."""

_WORD: Final = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_NAME: Final = re.compile(r"\b[A-Z][a-z]+")
_ACRONYM: Final = re.compile(r"[A-Z][A-Z.]{1,7}")
_NOT: Final = re.compile(
    r"\b(?:not?|never|neither|nor|without|except|unlike|cannot)\b|n['’]t\b|[不没無无非未]",
    re.IGNORECASE,
)
_OF_GRADING: Final = re.compile(
    r"\b(?:reference|grad(?:er|ing)|judg\w+|verdict|scor(?:e|ing))\b|answers? agree|"
    r"<\s*/?\s*(?:yes|no|response|reference|question|context)\s*>|参考答案|标准答案|评分|评判|判定|判为|满分|得分",
    re.IGNORECASE,
)
"""A response that mentions its grading may contain the reference without giving it as an answer."""
_DOUBT: Final = re.compile(
    r"\b(?:unsure|uncertain|not sure|no idea|guess|perhaps|maybe|possibly|someone)\b|"
    r"不确定|不知道|不清楚|有人说|会不会|是不是|无法|说不准",
    re.IGNORECASE,
)

_NOTATION: Final = re.compile(r"[=↑↓→\\{}\[\]^_|`]|\w\(\)|\d{4}-\d\d-\d\d")
"""Signs of formulas, code and data, whose words do not tell what they mean."""
_SHOWN: Final = 300

FEATURES: Final = (
    "said", "all_said", "none_said", "said_of_every", "of_response", "f1", "held",
    "pairs_said", "pairs_of_response", "pairs_f1", "pairs_in_a_sentence", "neighbours_said",
    "numbers_missing", "numbers_said", "names_missing", "names", "other_names", "wanted",
    "words", "length", "longer", "references", "chinese", "not_in_reference", "not_in_response",
)  # fmt: skip
"""The features of the trees, in this order; see ``_reading``."""


class Tree(Row):
    """A decision tree: the feature, limit, children and value of each node; leaves have -1."""

    feature: tuple[int, ...]
    limit: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]

    def at(self, row: Sequence[float]) -> float:
        """The value of the row's leaf."""
        node = 0
        while (feature := self.feature[node]) >= 0:
            node = (self.left if row[feature] <= self.limit[node] else self.right)[node]
        return self.value[node]


class Weights(Row):
    """Trees whose values and ``base`` add up to the log odds of a right answer."""

    features: tuple[str, ...]
    base: float
    trees: tuple[Tree, ...]
    fitted: dict[str, int]
    """The number of training rows of each file."""

    def odds(self, row: Sequence[float]) -> float:
        """The log odds that an answer with these features is right."""
        return self.base + sum(tree.at(row) for tree in self.trees)


class Reading(NamedTuple):
    """The features of a reference and a response, and the response's words that match it."""

    reference: str
    row: tuple[float, ...]
    wanted: frozenset[str]
    matching: frozenset[str]

    @property
    def nearness(self) -> float:
        """The score by which the nearest of several references is chosen."""
        return self.row[0] + self.row[FEATURES.index("held")] + self.row[7]


class LexicalJudge:
    """Judges free text by a classifier over counts of words. Method: ``lexical``.

    ``score`` is the probability of the verdict by the counted words. Undecided are other types of
    answers, two scripts and acronyms. In long texts, in responses that mention their grading or
    express doubt, and where all the reference's words are there in another order or only one of the
    two texts has a "not", the verdict is withheld.

    Raises:
        InputError: the weights are for other features.

    """

    name = "lexical"

    def __init__(self, weights: Weights | None = None) -> None:
        self._weights = weights or read_weights(WEIGHTS)

    @property
    def fingerprint(self) -> str:
        """The version."""
        return f"lexical-{VERSION}"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """Judge each item on its own; ``correct``, ``incorrect`` or undecided."""
        return [self._judge_one(item) for item in items]

    def _judge_one(self, item: Item) -> Judgement:
        references = [answer for r in item.accepted for answer in reference_answers(r)]
        if answer_kind(item, references[0]) is not AnswerType.TEXT:
            return undecided(item, self.name, "lexical:not-free-text")
        if reason := _not_countable(item.response):
            return undecided(item, self.name, f"lexical:{reason}")
        read = nearest(item, references)
        if reason := _not_comparable(read, item.response):
            return undecided(item, self.name, f"lexical:{reason}")
        made = _judged(item, read, self._weights.odds(read.row))
        if reason := _unsettled(read, item.response, right=made.verdict is Verdict.CORRECT):
            doubt = {"outcome": Outcome.UNDECIDED, "reason": f"lexical:{reason}", "chain": None}
            return made.model_copy(update={**doubt, "withheld": made.verdict, "verdict": None})
        return made


def read_weights(path: Path) -> Weights:
    """The weights that ``gradegpt train.lexical`` wrote.

    Raises:
        MissingError: there is no such file.
        InputError: they are not weights, or for other features.

    """
    weights = read_beside(str(path.parent), path.name, Weights)
    if weights is None:
        raise MissingError(f"{path}: no such weights; fit them: gradegpt train.lexical")
    if weights.features != FEATURES:
        raise InputError(f"{path}: has other features; fit it again: gradegpt train.lexical")
    return weights


def _not_countable(response: str) -> str:
    """The reason why a response has no words to count; empty if it has."""
    if len(response) > MAX_LENGTH:
        return "too-long"
    return "" if words(tidy(response)) else "no-words"


def _not_comparable(read: Reading, response: str) -> str:
    """The reason why the words of the two texts cannot be compared; empty if they can."""
    if _NOTATION.search(read.reference) or _NOTATION.search(response[:_SHOWN]):
        return "notation"
    held = read.row[FEATURES.index("held")]
    if not held and bool(_HAN.search(read.reference)) is not bool(_HAN.search(response)):
        return "two-scripts"
    return "acronym" if not held and _ACRONYM.fullmatch(read.reference.strip()) else ""


def _unsettled(read: Reading, response: str, *, right: bool) -> str:
    """The reason why the compared words do not settle it; empty if they do."""
    if len(words(tidy(response))) > MAX_WORDS:
        return "too-long"
    if _OF_GRADING.search(response):
        return "speaks-of-its-grading"
    if _DOUBT.search(response):
        return "doubts"
    if len(read.wanted) > MAX_WANTED:
        return "long-reference"
    held = read.row[FEATURES.index("held")]
    every = read.row[FEATURES.index("all_said")]
    if every and not held and _in_another_order(read.reference, response):
        return "another-order"
    if not right:
        return ""
    name, shown = read.reference.strip(" .。"), fold(response).strip(" .。")
    if held and (wavers(response, name) or _names_another(response, name)):
        return "names-another"
    if plain(shown) == plain(name) and shown != fold(name):
        return "other-case"  # the rules found that it matters
    denied = bool(_NOT.search(read.reference)) is not bool(_NOT.search(response))
    return "one-says-not" if denied else ""


def _names_another(response: str, name: str) -> bool:
    """Whether a response names what belongs to the name, or concludes with another one."""
    own = rf"{re.escape(name)}\s*(?:的|['’]s\b)|倒数{re.escape(name)}"
    owns = re.search(own, response, re.IGNORECASE)
    return owns is not None or concludes_otherwise(words_of(name), response)


def _in_another_order(reference: str, response: str) -> bool:
    """Whether the reference's words occur in the response in another order."""
    wanted = [w for w in _listed(reference) if w not in FILLER]
    found = list(dict.fromkeys(w for w in _listed(response) if w in wanted))
    return len({*wanted}) > 1 and found != [w for w in dict.fromkeys(wanted) if w in found]


class _Text:
    """The words, numbers and names of a text, found once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.listed = _listed(text)
        self.line = f" {' '.join(self.listed)} "
        self.words = words(text)
        self.pairs = _pairs(text)
        self.numbers = frozenset(_NUMBER.findall(text))
        self.names = frozenset(_NAME.findall(text))
        self.neighbours = frozenset(zip(self.listed, self.listed[1:], strict=False))
        self._by_beginning: dict[str, list[str]] = {}
        for word in self.words:
            self._by_beginning.setdefault(word[:_BEGINNING], []).append(word)

    def like(self, word: str) -> list[str]:
        """The text's words that match ``word``."""
        near = self._by_beginning.get(word[:_BEGINNING], ())
        return [other for other in near if _alike(word, other)]


def nearest(item: Item, references: Sequence[str]) -> Reading:
    """The accepted answer that is nearest to the response, with the features of the two."""
    question, response = (
        _Text(item.question),
        _Text(_bare(item.response)),
    )
    parts = [_pairs(response.text[a:b]) for a, b in sentences(response.text)]
    made = (_reading(question, _Text(r), response, parts, len(references)) for r in references)
    return max(made, key=lambda reading: reading.nearness)


def _bare(response: str) -> str:
    """The response without a thought and bold type, which its length would count."""
    return tidy(response[after_thought(response) :].strip().replace("**", ""))


def _reading(
    question: _Text, reference: _Text, response: _Text, parts: list[frozenset[str]], n: int
) -> Reading:
    """The ``FEATURES``; shares are of the words and pairs of letters not in the question."""
    every = reference.words or frozenset((reference.text,))
    wanted, new = (every - question.words) or every, response.words - question.words
    new = new or response.words
    by = {word: response.like(word) for word in wanted}
    share = sum(map(bool, by.values())) / len(wanted)
    back = sum(bool(reference.like(word)) for word in new) / max(1, len(new))
    sought = (reference.pairs - question.pairs) or reference.pairs
    given = response.pairs - question.pairs
    pair_share = len(sought & response.pairs) / len(sought)
    pair_back = len(reference.pairs & given) / max(1, len(given))
    follow, numbers = reference.neighbours, reference.numbers - question.numbers
    others = response.names - reference.names - question.names
    values = (
        share, share == 1, share == 0, sum(bool(response.like(w)) for w in every) / len(every),
        back, _f1(share, back), bool(reference.listed) and reference.line in response.line,
        pair_share, pair_back, _f1(pair_share, pair_back),
        max((len(sought & part) for part in parts), default=0) / len(sought),
        len(follow & response.neighbours) / len(follow) if follow else share,
        bool(numbers - response.numbers), bool(numbers) and numbers <= response.numbers,
        bool(reference.names) and not reference.names & response.names, bool(reference.names),
        math.log1p(len(others)), math.log1p(len(wanted)), math.log1p(len(response.words)),
        math.log1p(len(response.text)),
        math.log((len(response.text) + 1) / (len(reference.text) + 1)), math.log1p(n),
        bool(_HAN.search(reference.text + response.text)), bool(_NOT.search(reference.text)),
        bool(_NOT.search(response.text)),
    )  # fmt: skip
    matching = frozenset(word for like in by.values() for word in like)
    return Reading(reference.text, tuple(map(float, values)), wanted, matching)


def _f1(a: float, b: float) -> float:
    return 2 * a * b / (a + b) if a + b else 0.0


def _judged(item: Item, read: Reading, odds: float) -> Judgement:
    def shared(span: tuple[int, int]) -> tuple[int, int]:
        found = words(item.response[slice(*span)])
        return len(found & read.matching), len(found)

    span = max(sentences(item.response), key=shared)
    judgement = judged(
        item,
        Verdict.CORRECT if odds > 0 else Verdict.INCORRECT,
        ("lexical", f"lexical:{round(100 * read.row[0])}-percent-of-words"),
        span,
        item.response[slice(*span)].strip(" \t。.；;"),
        read.reference,
        AnswerType.TEXT,
    )
    score = 1 / (1 + math.exp(-abs(odds)))
    return judgement.model_copy(update={"score": score, "tolerance": None})


def _alike(word: str, other: str) -> bool:
    """Whether two words match: they are equal, or share a prefix as "paint" and "painted" do."""
    if word == other or not (word.isalpha() and other.isalpha()):
        return word == other
    letters = max(_BEGINNING, math.ceil(_ALIKE * max(len(word), len(other))))
    return word[:letters] == other[:letters]


def words(text: str) -> frozenset[str]:
    """The distinct words of a text without filler words; each Chinese character is a word."""
    found = frozenset(_listed(text))
    return (found - FILLER) or found


def _listed(text: str) -> list[str]:
    return _WORD.findall(fold(simplified(text)).casefold())


def _pairs(text: str) -> frozenset[str]:
    """The pairs of adjacent letters, without blanks and signs."""
    letters = re.sub(r"\W", "", fold(simplified(text)).casefold())
    return frozenset(letters[n : n + 2] for n in range(max(1, len(letters) - 1)))
