"""Problems drawn at random: one function for each kind of problem, one to three kinds a type.

A kind draws the numbers and computes the answer and typical wrong answers. The texts are in
``text/problems.yaml``; ``builders.py`` writes the answers.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Final

from gradegpt.core.schema import AnswerType

from ..problems import Problem
from . import choice, facts, mathematics
from .builders import DrawnProblem, ProblemKind

KINDS: Final[dict[AnswerType, tuple[ProblemKind, ...]]] = {
    AnswerType.SINGLE_CHOICE: (choice.choose, choice.odd_one_out),
    AnswerType.MULTIPLE_CHOICE: (choice.members, choice.several_questions),
    AnswerType.TRUE_FALSE: (facts.claim,),
    AnswerType.NUMBER: (mathematics.shopping, mathematics.fraction, mathematics.density),
    AnswerType.SET: (mathematics.set_operation,),
    AnswerType.INTERVAL: (mathematics.inequality,),
    AnswerType.EXPRESSION: (mathematics.expand, mathematics.product_rule),
    AnswerType.EQUATION: (mathematics.circle_equation,),
    AnswerType.TUPLE: (mathematics.system,),
    AnswerType.MULTI_PART: (mathematics.sequence, mathematics.circle_parts),
    AnswerType.MULTI_ANSWER: (mathematics.quadratic,),
    AnswerType.TEXT: (facts.recall,),
}
"""The kinds of problems by answer type, used in turn."""
_TRIES: Final = 30
"""How often a kind is tried for a new question, before the next one of its type."""


def parametric(count: int, seed: int) -> Iterator[Problem]:
    """``count`` problems, half of them Chinese, all types equally frequent, no question twice.

    There are fewer where repeated draws give no new question.
    """
    seen: set[str] = set()
    types = list(KINDS)
    for index in range(count * 2):
        if len(seen) == count:
            return
        turn, zh = index // 2, index % 2 == 0
        kinds = KINDS[types[turn % len(types)]]
        first = turn // len(types) % len(kinds)
        rng = random.Random(f"{seed}:parametric:{index}")
        drawn = _new((*kinds[first:], *kinds[:first]), rng, zh, seen)
        if drawn is not None:
            seen.add(drawn.question)
            yield _problem(drawn, index, "zh" if zh else "en")


def _new(
    kinds: Iterable[ProblemKind], rng: random.Random, zh: bool, seen: set[str]
) -> DrawnProblem | None:
    """A problem of the first of ``kinds`` that gives a new question."""
    for kind in (kind for kind in kinds for _ in range(_TRIES)):
        drawn = kind(rng, zh)
        if drawn.question not in seen and drawn.wrong and drawn.right:
            return drawn
    return None


def _problem(drawn: DrawnProblem, index: int, lang: str) -> Problem:
    return Problem(
        id=f"par-{lang}-{index:06d}",
        lang=lang,
        answer_type=drawn.type,
        question=drawn.question,
        reference=drawn.reference,
        solution=tuple(drawn.steps),
        also_correct=tuple(drawn.right),
        hard_negatives=tuple(drawn.wrong),
    )
