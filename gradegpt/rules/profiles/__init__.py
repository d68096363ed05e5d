"""Benchmark profiles: how a benchmark's own scorer decides, for users who need its numbers.

A profile decides as the scorer in its paper does: what it cannot match counts as wrong. What its
paper has no rule for it does not grade, and says so. It shares the readers of the rules, not the
programs of the benchmarks. No profile takes a candidate that a response names and leaves open, or a
reference that it merely quotes, for the response's own answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from gradegpt.rules.compare import Prove
from gradegpt.rules.profiles import arb, atlas, olympiadbench, olympicarena
from gradegpt.rules.profiles.base import Question, Scored
from gradegpt.schema import AnswerType

VERSION: Final = "2"
"""Raised with every change that can change a score; part of the fingerprint."""


class Profile(NamedTuple):
    """A scorer, the types of answers that its paper has a rule for, and how it reads lists."""

    score: Callable[[Question, Prove], Scored]
    grades: frozenset[AnswerType]
    in_parts: bool = False
    """Whether references that are all needed are sub-answers, each in its place."""


PROFILES: Final[dict[str, Profile]] = {
    "olympiadbench": Profile(olympiadbench.score, olympiadbench.GRADES),
    "olympicarena": Profile(olympicarena.score, olympicarena.GRADES),
    "arb": Profile(arb.score, arb.GRADES),
    "atlas": Profile(atlas.score, atlas.GRADES, in_parts=True),
}
"""By the name that settings and the command line take."""


def cannot_grade(kind: AnswerType) -> str:
    """The reason of a profile that has no rule for a type of answers."""
    return f"cannot-grade-{kind.value.replace('_', '-')}"
