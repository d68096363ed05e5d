"""Drawn comparisons: what they call the same is so to the rules, and the other way round."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from data_gen.drawn import drawn_comparison
from gradegpt.rules.compare import compare
from gradegpt.schema import AnswerType, Verdict

DRAWN = [drawn_comparison(random.Random(seed)) for seed in range(3000)]
PROVABLE = (AnswerType.NUMBER, AnswerType.SET, AnswerType.EXPRESSION, AnswerType.MULTIPLE_CHOICE)


@pytest.mark.parametrize("kind", PROVABLE)
def test_the_rules_say_the_same_of_a_drawn_comparison(kind: AnswerType) -> None:
    """They may leave one open, and none is another way."""
    chains = [chain for chain in DRAWN if chain.answer_type is kind]
    said = Counter()
    for chain in chains:
        same = compare(chain.reference_answer, chain.answer or "", kind).same
        assert same in (None, chain.verdict is Verdict.CORRECT), chain
        said[same] += 1
    assert said[True] > len(chains) / 4
    assert said[False] > len(chains) / 4


def test_half_of_what_is_drawn_is_right() -> None:
    """Of every kind, and neither side is always the plain one."""
    for kind in {chain.answer_type for chain in DRAWN}:
        right = [c.verdict is Verdict.CORRECT for c in DRAWN if c.answer_type is kind]
        assert sum(right) / len(right) == pytest.approx(0.5, abs=0.1), kind
