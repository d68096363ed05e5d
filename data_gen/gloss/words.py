"""Single nouns: with adjectives, numbers, measure words, ordinals and the symbol they go by.

Every method reads from a token on and gives all that could end there: (next token, phrase) pairs,
the preferred first. What no rule reads has no gloss.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from data_gen.gloss.lexicon import Entry, article, plural
from data_gen.gloss.tokens import Token

RELATION = re.compile(
    r"[=<>≤≥≠≈∈⊂⊆]|\\(?:leq?|geq?|neq?|approx|in|lt|gt|leqslant|geqslant|subset)\b"
)
_QUANTITY = re.compile(r"[-+]?[\d.,/]+%?|[a-z]|\$[^$]*\$|\\\(.*\\\)|`[^`]*`|\\boxed\{.*\}")
_ORDINAL: Final = {
    "one": "first", "two": "second", "three": "third", "four": "fourth", "five": "fifth",
    "six": "sixth", "seven": "seventh", "eight": "eighth", "nine": "ninth", "ten": "tenth",
}  # fmt: skip
_SYMBOL = re.compile(r"\$?[A-Za-zα-ω]{1,2}'?(?:_?\{?\d\}?)?\$?|\$?[a-zA-Z]\([a-z]\)\$?")


_TIMES: Final = ("second", "minute", "hour", "day", "week", "month", "year", "century", "time")
"""第三天 is when something is done, not what does it."""


class Noun(NamedTuple):
    """A noun in both numbers; ``kind`` is its category in the table."""

    singular: str
    plural: str
    kind: str
    preposition: str = "of"


class Phrase(NamedTuple):
    """A finished noun phrase. ``bare`` is how it reads as a complement: "a square"."""

    text: str
    kind: str
    plural: bool = False
    bare: str = ""
    relation: bool = False
    noun: Noun | None = None

    @property
    def many(self) -> str:
        """As what several things are: "prime numbers", "solutions to the equation"."""
        noun = self.noun
        if noun is None or not self.text.startswith(f"the {noun.singular}"):
            return self.text
        return noun.plural + self.text.removeprefix(f"the {noun.singular}")

    @property
    def is_pair(self) -> bool:
        """Whether it names two things, which are "both" and not "all"."""
        two = ("the two ", "these two ", "two ")
        return self.text.startswith(two) or self.text.count(" and ") + self.text.count(", ") == 1


Found = tuple[int, Phrase]


class Words:
    """Reads the nouns of one clause."""

    def __init__(self, tokens: tuple[Token, ...], *, before_colon: bool) -> None:
        self.tokens = tokens
        self.before_colon = before_colon
        self.memo: dict[tuple[str, int], tuple[Found, ...]] = {}

    def entries(self, at: int, *categories: str) -> list[Entry]:
        """What the token can mean in these categories."""
        if at >= len(self.tokens):
            return []
        return [e for e in self.tokens[at].entries if e.category in categories]

    def is_word(self, at: int, *words: str) -> bool:
        """Whether one of the words stands there."""
        return at < len(self.tokens) and self.tokens[at].text in words

    def held(self, at: int) -> Token | None:
        """The mathematics that stands there."""
        token = self.tokens[at] if at < len(self.tokens) else None
        return token if token is not None and token.kind == "held" else None

    def _pointed(self, at: int) -> list[Found]:
        """该, 每个, 所有 and ordinals before a noun."""
        found: list[Found] = []
        for entry in self.entries(at, "det"):
            several = entry.second == "plural"
            for j, noun in self._nouns(at + 1):
                short = len(self.tokens[at + 1].text) == 1 and not self.is_word(at + 1, "题", "数")
                if short and self.is_word(at, "本", "各", "原", "某"):
                    continue  # 本金 is no gold, 原因 no cause
                name = noun.plural if several and noun.kind != "nm" else noun.singular
                kind = "attribute" if noun.kind == "na" else "thing"
                text = f"{entry.english} {name}"
                found += [*self._labelled(j, text, kind, several, noun)]
                found.append((j, Phrase(text, kind, several, noun=noun)))
        return [*found, *self._ordinals(at)]

    def _ordinals(self, at: int) -> list[Found]:
        """第二空 -> the second blank; 第n项 -> the n-th term."""
        if not self.is_word(at, "第") or at + 1 >= len(self.tokens):
            return []
        token = self.tokens[at + 1]
        if not re.fullmatch(r"\d+|[a-z]|\$[a-z]\$", token.text) and token.english not in _ORDINAL:
            return []
        number = _ORDINAL.get(token.english) or f"{token.english}{_ending(token.text)}"
        skipped = self.is_word(at + 2, "个", "种", "道", "只", "次") and self._nouns(at + 3)
        start = at + 3 if skipped else at + 2
        nouns = [*self._nouns(start), *self._units_as_nouns(start)]
        return [(j, Phrase(f"the {number} {n.singular}", "thing", noun=n)) for j, n in nouns]

    def _units_as_nouns(self, at: int) -> list[tuple[int, Noun]]:
        units = self.entries(at, "unit", "cla")
        return [
            (at + 1, Noun(e.english, e.second or plural(e.english), "n"))
            for e in units
            if e.english and e.english not in _TIMES
        ]

    def _named(self, at: int) -> list[Found]:
        """A noun without a number, with the symbol that follows it."""
        found: list[Found] = []
        for j, noun in self._nouns(at):
            kind = "attribute" if noun.kind == "na" else "thing"
            text = noun.singular if noun.kind in ("nm", "np") else f"the {noun.singular}"
            bare = article(noun.singular) if noun.kind == "n" else ""
            several = noun.kind == "npl" or noun.singular.endswith("coordinates")
            found += self._labelled(j, text, kind, several, noun)
            found.append((j, Phrase(text, kind, several, bare, noun=noun)))
        return found

    def _labelled(self, at: int, text: str, kind: str, several: bool, noun: Noun) -> list[Found]:
        token = self.held(at)
        if token is None or noun.kind == "np":
            return []
        before, that, behind = text.partition(" that ")
        relation = kind == "attribute" and bool(RELATION.search(unbracketed(token.text)))
        name = f"{before} {token.english}{that}{behind}"
        found = [(at + 1, Phrase(name, kind, several, relation=relation, noun=noun))]
        more = self.held(at + 2)
        joined = self.entries(at + 1, "join") and more and _SYMBOL.fullmatch(token.text)
        if joined and more and _SYMBOL.fullmatch(more.text) and kind == "thing":
            word = self.entries(at + 1, "join")[0].english
            names = f"{token.english} {word} {more.english}".replace(" ,", ",")
            if word != "or" and before == f"the {noun.singular}":
                found.insert(0, (at + 3, Phrase(f"the {noun.plural} {names}", "list", True)))
        return found

    def _nouns(self, at: int) -> list[tuple[int, Noun]]:
        """Nouns with their adjectives."""
        found: list[tuple[int, Noun]] = []
        for entry in self.entries(at, "a"):
            start = at + 2 if self.is_word(at + 1, "的") else at + 1
            for end, noun in self._nouns(start):
                if noun.kind == "np":
                    continue
                names = (f"{entry.english} {noun.singular}", f"{entry.english} {noun.plural}")
                found.append((end, noun._replace(singular=names[0], plural=names[1])))
        for entry in self.entries(at, "n", "na", "nm", "np", "npl"):
            several = entry.second or (
                entry.english if entry.category in ("nm", "npl") else plural(entry.english)
            )
            found.append((at + 1, Noun(entry.english, several, entry.category, entry.preposition)))
        for entry in self.entries(at, "rel"):
            for end, noun in self._nouns(at + 2) if self.is_word(at + 1, "的") else []:
                if noun.kind in ("n", "na"):
                    one, several = (
                        f"{noun.singular} that {entry.english}",
                        f"{noun.plural} that {entry.second}",
                    )
                    found.append((end, noun._replace(singular=one, plural=several)))
        return found

    def _bounded(self, at: int, phrase: Phrase) -> list[Found]:
        return [
            (at + 1, phrase._replace(text=entry.english.replace("{}", phrase.text), noun=None))
            for entry in self.entries(at, "bound")
        ]

    def _measured(self, at: int) -> list[Found]:
        token = self.tokens[at] if at < len(self.tokens) else None
        if token is None or token.kind not in ("number", "held"):
            return []
        if token.kind == "held" and not _QUANTITY.fullmatch(token.text):
            return []
        one = token.text in ("1", "一", "$1$")
        if re.fullmatch(r"1\d{3}|20\d\d", token.text) and self.is_word(at + 1, "年"):
            return [(at + 2, Phrase(f"the year {token.english}", "thing"))]
        found: list[Found] = []
        if token.kind == "number" and not one and "分之" not in token.text:
            found += [
                self._counting(token, j, noun, one)
                for j, noun in self._nouns(at + 1)
                if noun.kind in ("n", "na")
            ]
        for entry in self.entries(at + 1, "cl", "cla", "unit"):
            if entry.category != "unit":
                start = at + 3 if self.is_word(at + 2, "不同的") else at + 2
                found += [
                    self._counting(token, j, noun, one)
                    for j, noun in self._nouns(start)
                    if noun.kind in ("n", "na")
                ]
            found += self._with_unit(token, at + 2, entry, one)
        return found

    def _counting(self, token: Token, end: int, noun: Noun, one: bool) -> Found:
        """A number of things."""
        if token.text == "一":
            return end, Phrase(article(noun.singular), "counted", noun=noun)
        name = noun.singular if one else noun.plural
        return end, Phrase(f"{token.english} {name}", "counted", not one, noun=noun)

    def _with_unit(self, token: Token, at: int, entry: Entry, one: bool) -> list[Found]:
        """A number with its unit, the stuff measured, or a second unit: "3 hours 20 minutes"."""
        unit = (
            entry.english
            if one
            else entry.second or (plural(entry.english) if entry.english else "")
        )
        text = f"{token.english} {unit}".strip()
        found: list[Found] = []
        if entry.category == "unit":
            for end, noun in self._nouns(at):
                if noun.kind == "nm" or (noun.kind == "n" and entry.preposition == "stuff"):
                    name = noun.singular if noun.kind == "nm" else noun.plural
                    found.append((end, Phrase(f"{text} of {name}", "counted", not one, noun=noun)))
            if self.is_word(at, "/"):
                found += [
                    (at + 2, Phrase(f"{text} per {e.english}", "quantity"))
                    for e in self.entries(at + 1, "unit", "cla")
                ]
                if self.is_word(at + 1, "时"):
                    found.append((at + 2, Phrase(f"{text} per hour", "quantity")))
            for end, more in self._measured(at):
                if more.kind == "quantity" and entry.english:
                    found.append((end, Phrase(f"{text} {more.text}", "quantity")))
        found.append((at, Phrase(text, "quantity", plural=not one and entry.category != "unit")))
        return found


def _ending(number: str) -> str:
    if not number.isdigit():
        return "-th"
    endings = {"1": "st", "2": "nd", "3": "rd"}
    return "th" if number[-2:-1] == "1" else endings.get(number[-1], "th")


def unbracketed(text: str) -> str:
    """Without what stands in brackets: P(X=2) is no relation."""
    for _ in range(4):
        text = re.sub(r"\([^()]*\)|\[[^\[\]]*\]|_\{[^{}]*\}", "", text)
    return text
