"""Problems: their answers are right, and no hard negative is one of the right forms."""

from __future__ import annotations

import itertools

import pytest

from data_gen.generators import parametric
from data_gen.problems import Problem, bank
from gradegpt.answers.quantity import quantity
from gradegpt.answers.read import read
from gradegpt.answers.text import fold
from gradegpt.core.schema import AnswerType
from gradegpt.rules.compare import compare

BANK = [*bank()]
DRAWN = list(parametric(200, seed=3))
BOTH = pytest.mark.parametrize("problems", [BANK, DRAWN], ids=["bank", "parametric"])


def test_the_bank_has_every_answer_type_in_both_languages() -> None:
    """All types but code occur in both languages, and each problem occurs once."""
    types = {*AnswerType} - {AnswerType.CODE}
    assert {(p.lang, p.answer_type) for p in BANK} == {*itertools.product(("zh", "en"), types)}
    assert len({p.id for p in BANK}) == len({p.question for p in BANK}) == len(BANK)


@BOTH
def test_the_rules_call_no_right_form_different(problems: list[Problem]) -> None:
    """The rules do not call a right form different from the reference."""
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
def test_the_rules_call_no_hard_negative_equal_to_a_right_form(problems: list[Problem]) -> None:
    """Exceptions are units where the reference has none: the rules then accept any unit."""
    for p in problems:
        for right, wrong in itertools.product((p.reference, *p.also_correct), p.hard_negatives):
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
    """No question occurs twice, half are Chinese, and another seed gives other numbers."""
    assert list(parametric(200, seed=3)) == DRAWN
    assert len({p.question for p in DRAWN}) == len(DRAWN) == 200
    assert sum(p.lang == "zh" for p in DRAWN) == pytest.approx(100, abs=10)
    assert {p.question for p in parametric(200, seed=4)} != {p.question for p in DRAWN}
    assert list(parametric(0, seed=3)) == []
