"""Generators of problems on facts, from the tables in ``words/facts.txt``, and on laws in words.

An answer may be given in either language: the judge works across both.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final, NamedTuple

from gradegpt.schema import AnswerType

from . import Drawn
from .ways import settle, verdicts
from .words import Pair, section, tell

TABLES: Final = (
    "capital", "element", "organ", "unit-of", "scientist", "instrument", "chemical-name", "planet",
    "rock", "continent", "phase-change", "event-year", "gas-law",
)  # fmt: skip


_Way = Callable[[bool], str]


class Fact(NamedTuple):
    """A row of a table: what is asked, and its answer with synonyms, in both languages."""

    key: Pair
    zh: tuple[str, ...]
    en: tuple[str, ...]

    def name(self, zh: bool, synonym: int = 0) -> str:
        """The answer in one language; a number beyond the synonyms starts them again."""
        names = self.zh if zh else self.en
        return names[synonym % len(names)]


def table(name: str) -> list[Fact]:
    """The facts of one table."""
    return [
        Fact((row[0], row[1]), tuple(row[2].split("/")), tuple(row[3].split("/")))
        for row in section(name).rows
    ]


def recall(rng: random.Random, zh: bool) -> Drawn:
    """A question that a table of facts answers; wrong are its other answers."""
    name = rng.choice(TABLES)
    facts = table(name)
    fact = rng.choice(facts)
    told = tell(name, rng, zh, key=fact.key)
    others = {f.zh: f for f in rng.sample(facts, len(facts)) if f.zh != fact.zh and f.en != fact.en}
    ways = [
        lambda f: f.name(zh),
        lambda f: f.name(zh, 1),
        lambda f: f.name(not zh),
        lambda f: f.name(not zh, 1),
        lambda f: f"{f.name(zh)}（{f.name(not zh)}）" if zh else f"{f.name(zh)} ({f.name(not zh)})",
    ]
    return settle(told, AnswerType.TEXT, fact, [*others.values()][:5], ways, keys=ways[:1])


def claim(rng: random.Random, zh: bool) -> Drawn:
    """Whether a statement that a table of facts decides holds."""
    name, *claims = rng.choice(section("claim").rows)
    facts = table(name)
    fact, truth = rng.choice(facts), rng.random() < 0.5
    said = fact if truth else rng.choice([f for f in facts if f.zh != fact.zh])
    text = claims[not zh].replace("<key>", fact.key[not zh])
    text = text.replace("<value>", said.name(zh))
    told = tell("claim", rng, zh, claim=text, Claim=text[:1].upper() + text[1:])
    return verdicts(told, truth)


_MORE: Final = (("增大", "变大", "增加"), ("increases", "rises", "goes up"))
_LESS: Final = (("减小", "变小", "减少"), ("decreases", "falls", "goes down"))


def trend(rng: random.Random, zh: bool) -> Drawn:
    """Whether a quantity grows or shrinks when another does."""
    zh_law, en_law, kind = rng.choice(section("trend").rows)
    factor, up = rng.randint(2, 60), rng.random() < 0.5
    by = (("减小", "decreases by "), ("增大", "increases by "))[up][not zh]
    told = tell("trend", rng, zh, law=(zh_law, en_law))
    told = told._replace(question=told.question.replace("{}", f"{by}{factor}%"))
    good, bad = (_MORE, _LESS) if up == (kind == "direct") else (_LESS, _MORE)
    words = [*zip(good[not zh], bad[not zh], strict=True)]
    soft = tuple(("会{}", "it {}")[not zh].format(word) for word in words[0])
    pairs = [*words, (good[zh][0], bad[zh][0]), soft]
    return settle(told, AnswerType.TEXT, True, [False], _either(pairs))


def _either(pairs: list[tuple[str, ...]]) -> list[_Way]:
    def way(pair: tuple[str, ...]) -> _Way:
        return lambda right: pair[not right]

    return [way(pair) for pair in pairs]
