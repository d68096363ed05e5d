"""Problems on facts of the tables in ``text/problems.yaml``.

An answer may be in either language: the judge works across both.
"""

from __future__ import annotations

import random
from typing import Final, NamedTuple

from gradegpt.core.schema import AnswerType

from .builders import DrawnProblem, build_problem, verdicts
from .words import Bilingual, render, rows_of

TABLES: Final = (
    "capital", "element", "organ", "unit-of", "scientist", "instrument", "chemical-name", "planet",
    "rock", "continent", "phase-change", "event-year", "gas-law",
)  # fmt: skip


class TableFact(NamedTuple):
    """A row of a table: the subject of the question, and its answer with synonyms."""

    key: Bilingual
    zh: tuple[str, ...]
    en: tuple[str, ...]

    def name(self, zh: bool, synonym: int = 0) -> str:
        """The answer in one language; the index of the synonym wraps around."""
        names = self.zh if zh else self.en
        return names[synonym % len(names)]


def table(name: str) -> list[TableFact]:
    """The facts of one table."""
    return [
        TableFact((row[0], row[1]), tuple(row[2].split("/")), tuple(row[3].split("/")))
        for row in rows_of(name)
    ]


def recall(rng: random.Random, zh: bool) -> DrawnProblem:
    """A question about a fact of a table; the other answers of the table are wrong."""
    name = rng.choice(TABLES)
    facts = table(name)
    fact = rng.choice(facts)
    statement = render(name, rng, zh, key=fact.key)
    others = {f.zh: f for f in rng.sample(facts, len(facts)) if f.zh != fact.zh and f.en != fact.en}
    writers = [
        lambda f: f.name(zh),
        lambda f: f.name(zh, 1),
        lambda f: f.name(not zh),
        lambda f: f.name(not zh, 1),
        lambda f: f"{f.name(zh)}（{f.name(not zh)}）" if zh else f"{f.name(zh)} ({f.name(not zh)})",
    ]
    wrong = [*others.values()][:5]
    return build_problem(
        statement, AnswerType.TEXT, fact, wrong, writers, reference_writers=writers[:1]
    )


def claim(rng: random.Random, zh: bool) -> DrawnProblem:
    """Whether a claim about a fact of a table is true."""
    name, *claims = rng.choice(rows_of("claim"))
    facts = table(name)
    fact, truth = rng.choice(facts), rng.random() < 0.5
    claimed = fact if truth else rng.choice([f for f in facts if f.zh != fact.zh])
    text = claims[not zh].replace("<key>", fact.key[not zh])
    text = text.replace("<value>", claimed.name(zh))
    statement = render("claim", rng, zh, claim=text, Claim=text[:1].upper() + text[1:])
    return verdicts(statement, truth)
