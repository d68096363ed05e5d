"""Benchmark profiles: score as a benchmark's own scorer does, to compare with published numbers.

A profile decides as the scorer in its paper does: an answer that it cannot match counts as wrong.
Types of answers without a rule in the paper are not graded, with a reason. Profiles share the
readers of the rules, not the programs of the benchmarks. No profile accepts a candidate that a
response names and leaves open, or a reference that it merely quotes, as the response's answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from gradegpt.core.schema import AnswerType
from gradegpt.rules.compare import Prove
from gradegpt.rules.profiles import atlas, papers
from gradegpt.rules.profiles.base import Question, Scored

VERSION: Final = "2"
"""Increased with every change that can change a score; part of the fingerprint."""


class Profile(NamedTuple):
    """A scorer, the answer types for which its paper has a rule, and how it reads lists."""

    score: Callable[[Question, Prove], Scored]
    grades: frozenset[AnswerType]
    in_parts: bool = False
    """Whether several required references are sub-answers in a fixed order."""


PROFILES: Final[dict[str, Profile]] = {
    "olympiadbench": Profile(papers.olympiadbench, papers.OLYMPIADBENCH_GRADES),
    "olympicarena": Profile(papers.olympicarena, papers.OLYMPICARENA_GRADES),
    "arb": Profile(papers.arb, papers.ARB_GRADES),
    "atlas": Profile(atlas.score, atlas.GRADES, in_parts=True),
}
"""The profiles by their names in settings and on the command line."""


def cannot_grade(kind: AnswerType) -> str:
    """The reason code of a profile without a rule for the answer type."""
    return f"cannot-grade-{kind.value.replace('_', '-')}"
