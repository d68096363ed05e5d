"""Problems: what is called right is right, and a hard negative is none of the right forms."""

from __future__ import annotations

import itertools

import pytest

from data_gen.parametric import parametric
from data_gen.problems import Problem, bank
from gradegpt.answers.quantity import quantity
from gradegpt.answers.read import read
from gradegpt.answers.text import fold
from gradegpt.rules.compare import compare
from gradegpt.schema import AnswerType

BANK = [*bank()]
DRAWN = list(parametric(200, seed=3))
BOTH = pytest.mark.parametrize("problems", [BANK, DRAWN], ids=["bank", "parametric"])


def test_the_bank_has_every_answer_type_in_both_languages() -> None:
    """But for code, which nobody grades by its text. Each problem once."""
    types = {*AnswerType} - {AnswerType.CODE}
    assert {(p.lang, p.answer_type) for p in BANK} == {*itertools.product(("zh", "en"), types)}
    assert len({p.id for p in BANK}) == len({p.question for p in BANK}) == len(BANK)


@BOTH
def test_right_forms_are_never_different_by_the_rules(problems: list[Problem]) -> None:
    """What the rules can show must not contradict the writer."""
    for p in problems:
        for right in p.also_correct:
            assert (
                compare(
                    read(p.reference, p.answer_type, p.question),
                    read(right, p.answer_type, p.question),
                    question=p.question,
                ).same
                is not False
            ), (p.id, right)


@BOTH
def test_near_misses_are_never_equal_to_a_right_form_by_the_rules(problems: list[Problem]) -> None:
    """But for a unit where the reference names none: the rules then let any unit pass."""
    for p in problems:
        for right, wrong in itertools.product((p.reference, *p.also_correct), p.near_misses):
            if compare(
                read(right, p.answer_type, p.question),
                read(wrong, p.answer_type, p.question),
                question=p.question,
            ).same:
                assert _unit_alone_differs(right, wrong), (p.id, right, wrong)


def _unit_alone_differs(right: str, wrong: str) -> bool:
    read, other = quantity(fold(right)), quantity(fold(wrong))
    return read is not None and other is not None and not read.unit and bool(other.unit)


def test_parametric_problems_depend_on_their_seed_alone() -> None:
    """No question twice, half of them Chinese, other numbers for another seed."""
    assert list(parametric(200, seed=3)) == DRAWN
    assert len({p.question for p in DRAWN}) == len(DRAWN) == 200
    assert sum(p.lang == "zh" for p in DRAWN) == pytest.approx(100, abs=10)
    assert {p.question for p in parametric(200, seed=4)} != {p.question for p in DRAWN}
    assert list(parametric(0, seed=3)) == []
