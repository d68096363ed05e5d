"""Random comparisons: their labels agree with the rules."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from data_gen.comparisons import sample_comparison
from gradegpt.answers.read import read
from gradegpt.chain import Chain
from gradegpt.rules.compare import compare
from gradegpt.schema import AnswerType, Verdict

PROVABLE = (AnswerType.NUMBER, AnswerType.SET, AnswerType.EXPRESSION, AnswerType.MULTIPLE_CHOICE)


@pytest.fixture(scope="module")
def drawn() -> list[Chain]:
    return [sample_comparison(random.Random(seed)) for seed in range(1500)]


@pytest.mark.parametrize("kind", PROVABLE)
def test_the_rules_contradict_no_drawn_comparison(kind: AnswerType, drawn: list[Chain]) -> None:
    """The rules may leave a comparison undecided, but never decide it differently."""
    chains = [chain for chain in drawn if chain.answer_type is kind]
    said: Counter[bool | None] = Counter()
    for chain in chains:
        same = compare(read(chain.reference_answer, kind), read(chain.answer or "", kind)).same
        assert same in (None, chain.verdict is Verdict.CORRECT), chain
        said[same] += 1
    assert said[True] > len(chains) / 4
    assert said[False] > len(chains) / 4


def test_the_rules_contradict_no_drawn_name(drawn: list[Chain]) -> None:
    """The rules contradict no comparison of names, of which they decide few."""
    chains = [chain for chain in drawn if chain.answer_type is AnswerType.TEXT]
    for chain in chains:
        said = compare(
            read(chain.reference_answer, AnswerType.TEXT), read(chain.answer or "", AnswerType.TEXT)
        ).same
        assert said in (None, chain.verdict is Verdict.CORRECT), chain
    texts = " ".join(f"{chain.reference_answer} {chain.answer}" for chain in chains)
    assert {"the", "It"} <= {*texts.split()}
    assert "是" in texts


def test_half_of_what_is_drawn_is_right(drawn: list[Chain]) -> None:
    """About half of the comparisons of every answer type are correct."""
    for kind in {chain.answer_type for chain in drawn}:
        right = [c.verdict is Verdict.CORRECT for c in drawn if c.answer_type is kind]
        assert sum(right) / len(right) == pytest.approx(0.5, abs=0.2), kind
