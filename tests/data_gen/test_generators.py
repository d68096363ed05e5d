"""Problem generators: their answers are right, and only the value reveals a right answer."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_gen.generators import KINDS, facts, mathematics, parametric, words
from data_gen.generators.builders import DrawnProblem, ProblemKind, leaf
from data_gen.generators.notation import polynomial, tex
from data_gen.problems import Problem, bank
from gradegpt.answers.answer import Answer
from gradegpt.answers.quantity import quantity
from gradegpt.answers.read import read
from gradegpt.answers.text import fold
from gradegpt.core.schema import AnswerType
from gradegpt.rules.compare import compare

EVERY = [
    pytest.param(kind, answer_type, id=f"{answer_type.value}:{kind.__name__}")
    for answer_type, kinds in KINDS.items()
    for kind in kinds
]
HAN = re.compile(r"[\u3400-\u9fff]")


@cache
def draws(kind: ProblemKind) -> list[tuple[bool, DrawnProblem]]:
    """Fifteen draws in each language, first those in Chinese."""
    return [
        (zh, kind(random.Random(f"{index}:{zh}"), zh))
        for zh, index in itertools.product((True, False), range(15))
    ]


@pytest.fixture(scope="module")
def problems() -> list[Problem]:
    """A hundred problems of each answer type."""
    return list(parametric(1200, seed=1))


# --- every kind -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "answer_type"), EVERY)
def test_a_kind_makes_problems_of_its_type_in_both_languages(
    kind: ProblemKind, answer_type: AnswerType
) -> None:
    """Problems have an answer, steps, right and wrong forms, and varied monolingual questions."""
    questions = set()
    for zh, drawn in draws(kind):
        assert drawn.type is answer_type
        assert drawn.reference
        assert drawn.steps
        assert drawn.right
        assert drawn.wrong
        assert bool(HAN.search(drawn.question)) is zh, drawn.question
        assert bool(HAN.search("".join(drawn.steps))) <= zh, drawn.steps
        for text in (drawn.question, *drawn.steps):
            assert not re.search(r"<\w+>|\|\||\+-|--|\{\}", text), text
        questions.add(drawn.question)
    assert len(questions) >= 20


@pytest.mark.parametrize("problems", [bank(), [*parametric(200, seed=3)]], ids=["bank", "drawn"])
def test_the_rules_contradict_no_problem(problems: Sequence[Problem]) -> None:
    """No right form is called different, and no wrong form equal except by an unnamed unit."""
    for p in problems:
        reference = read(p.reference, p.answer_type, p.question)

        def same(form: str, p: Problem = p, reference: Answer = reference) -> Any:
            return compare(
                reference, read(form, p.answer_type, p.question), question=p.question
            ).same

        assert not {p.reference, *p.also_correct} & {*p.hard_negatives}
        assert all(same(right) is not False for right in p.also_correct), p
        equal = [wrong for wrong in p.hard_negatives if same(wrong)]
        assert all(_unit_alone_differs(p.reference, wrong) for wrong in equal), p


def test_the_bank_has_every_answer_type_in_both_languages() -> None:
    """All types but code occur in both languages, and each problem occurs once."""
    types = {*AnswerType} - {AnswerType.CODE}
    assert {(p.lang, p.answer_type) for p in bank()} == {*itertools.product(("zh", "en"), types)}
    assert len({p.id for p in bank()}) == len({p.question for p in bank()}) == len(bank())


def _unit_alone_differs(right: str, wrong: str) -> bool:
    read, other = quantity(fold(right)), quantity(fold(wrong))
    return read is not None and other is not None and not read.unit and bool(other.unit)


def test_the_notation_of_an_answer_does_not_reveal_whether_it_is_right(
    problems: list[Problem],
) -> None:
    """Marks of notation are about as frequent among wrong answers as among right ones."""
    marks = {"dollar": r"\$", "equals": "=", "blank": " ", "frac": r"\\", "Han": HAN.pattern}
    right, wrong = Counter[str](), Counter[str]()
    sums = Counter[str]()
    for problem in problems:
        for name, forms in (
            ("right", [problem.reference, *problem.also_correct]),
            ("wrong", list(problem.hard_negatives)),
        ):
            counts = right if name == "right" else wrong
            sums[name] += 1
            for mark, pattern in marks.items():
                counts[mark] += sum(bool(re.search(pattern, f)) for f in forms) / len(forms)  # type: ignore[assignment]
    for mark in marks:
        assert right[mark] / sums["right"] == pytest.approx(wrong[mark] / sums["wrong"], abs=0.08)


# --- the sequence of problems ---------------------------------------------------------------------


def test_all_types_are_equally_frequent_and_no_question_occurs_twice(
    problems: list[Problem],
) -> None:
    """Half of each type is in Chinese; all types but code occur."""
    kinds = Counter((p.answer_type, p.lang) for p in problems)
    assert {*kinds} == {*itertools.product({*AnswerType} - {AnswerType.CODE}, ("zh", "en"))}
    assert max(kinds.values()) - min(kinds.values()) <= 4
    assert len({p.question for p in problems}) == len(problems) == 1200


def test_the_same_seed_gives_the_same_problems() -> None:
    """The same seed gives equal problems, another seed other ones."""
    first = list(parametric(60, seed=2))
    assert first == list(parametric(60, seed=2))
    assert {p.question for p in first} != {p.question for p in parametric(60, seed=7)}


# --- arithmetic, computed independently -----------------------------------------------------------


def numbers(text: str) -> list[int]:
    return [int(n) for n in re.findall(r"-?\d+", text)]


def english(kind: ProblemKind, count: int = 40) -> Iterator[DrawnProblem]:
    for index in range(count):
        yield kind(random.Random(f"check:{index}"), False)


def value(answer: str) -> Fraction:
    """The numerical value of an answer in any markup."""
    read = quantity(
        fold(re.sub(r"\\ \\mathrm\{(.*?)\}|\$|\\[()]|^\w+ ?= ?", r" \1", answer)).strip()
    )
    assert read is not None, answer
    return Fraction(read.value)  # type: ignore[arg-type]


def test_two_roots_solve_their_equation() -> None:
    """The quadratic is zero at each root."""
    for drawn in english(mathematics.quadratic):
        roots = numbers(re.sub(r"_\{?\d\}?", "", drawn.right[0]))
        text = re.search(r"(x\^2[^=]*?) ?=", drawn.question)
        assert text is not None
        linear = re.search(r"([-+]\d*)x(?!\^)", text[1])
        constant = re.search(r"([-+]\d+)$", text[1])
        b = 0 if linear is None else int(linear[1] + ("" if linear[1][-1].isdigit() else "1"))
        c = 0 if constant is None else int(constant[1])
        assert len(roots) == 2
        assert all(x * x + b * x + c == 0 for x in roots), drawn


def test_set_operations_are_those_of_python() -> None:
    """The reference has the elements that Python's own sets have."""
    operations = {"cap": set.intersection, "cup": set.union, "setminus": set.difference}
    for drawn in english(mathematics.set_operation):
        lists = re.findall(r"-?\d+(?:, -?\d+)*", drawn.question)
        one, other = ({*numbers(text)} for text in lists)
        (name,) = re.findall(r"cap|cup|setminus", drawn.question)
        assert {*numbers(drawn.reference)} == operations[name](one, other), drawn


# --- words and notation ---------------------------------------------------------------------------


def test_every_kind_has_three_questions_in_each_language() -> None:
    """The rows of a table are equally long; a text without questions has a table alone."""
    for name, kind in words.problem_texts().items():
        for phrasing in (kind.zh, kind.en):
            assert phrasing is None or len({*phrasing.ask}) >= 3, name
        assert kind.rows or (kind.zh and kind.en), name
        assert len({len(row) for row in kind.rows}) <= 1, name


def test_tables_of_facts_are_large_and_bilingual() -> None:
    """There are at least 150 facts, each with Chinese and English names of its answer."""
    every = [fact for name in facts.TABLES for fact in facts.table(name)]
    assert len(every) >= 150
    assert all(HAN.search("".join(f.zh)) and not HAN.search("".join(f.en)) for f in every)
    keys = [f.key for f in every]
    assert len({*keys}) >= len(keys) - 10


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=5), st.integers(-5, 5))
def test_a_polynomial_has_the_values_of_its_coefficients(factors: list[int], x: int) -> None:
    """The polynomial is evaluated term by term."""
    wanted = sum(c * x**p for p, c in enumerate(reversed(factors)))
    for text in (polynomial(factors),):
        terms = re.findall(r"([-+]?)(\d*)(x?)(?:\^(\d)|([²-⁴]))?", text)
        total = 0
        for sign, size, letter, power, raised in terms:
            if size or letter:
                exponent = int(power or {"²": 2, "³": 3, "⁴": 4}.get(raised, 1)) if letter else 0
                total += int(f"{sign}{size or 1}") * x**exponent
        assert total == wanted, text


@given(st.fractions(max_denominator=50))
def test_a_number_keeps_its_value_as_latex(number: Fraction) -> None:
    """The LaTeX of a number and the answer built from it have its value."""
    amount = leaf(tex(number)).quantity
    assert value(tex(number)) == number
    assert amount is not None
    assert amount.value == number
