"""Problem generators: their answers are right, and only the value reveals a right answer."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_gen.generators import (
    GeneratedProblem,
    Generator,
    algebra,
    arithmetic,
    calculus,
    coordinates,
    facts,
    geometry,
    physics,
    words,
)
from data_gen.generators.builders import flipped, leaf, span
from data_gen.generators.choice import LETTERS
from data_gen.generators.notation import polynomial, tex
from data_gen.parametric import GENERATORS, parametric
from data_gen.problems import Problem
from gradegpt.answers.answer import Answer
from gradegpt.answers.quantity import quantity
from gradegpt.answers.read import read
from gradegpt.answers.text import fold
from gradegpt.errors import InputError
from gradegpt.rules.compare import compare
from gradegpt.schema import AnswerType

EVERY = [
    pytest.param(
        generator, kind, id=f"{kind.value}:{getattr(generator, '__qualname__', 'generator')}:{i}"
    )
    for kind, generators in GENERATORS.items()
    for i, generator in enumerate(dict.fromkeys(generators))
]
HAN = re.compile(r"[\u3400-\u9fff]")


@cache
def draws(generator: Generator) -> list[tuple[bool, GeneratedProblem]]:
    """Fifteen draws in each language, first those in Chinese."""
    return [
        (zh, generator(random.Random(f"{index}:{zh}"), zh))
        for zh, index in itertools.product((True, False), range(15))
    ]


@pytest.fixture(scope="module")
def problems() -> list[Problem]:
    """A hundred problems of each answer type."""
    return list(parametric(1200, seed=1))


# --- every generator ------------------------------------------------------------------------------


@pytest.mark.parametrize(("generator", "kind"), EVERY)
def test_a_generator_makes_problems_of_its_type_in_both_languages(
    generator: Generator, kind: AnswerType
) -> None:
    """Problems have an answer, steps, right and wrong forms, and varied monolingual questions."""
    questions = set()
    for zh, drawn in draws(generator):
        assert drawn.kind is kind
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


@pytest.mark.parametrize(("generator", "kind"), EVERY)
def test_the_rules_contradict_no_generator(generator: Generator, kind: AnswerType) -> None:
    """No right form is called different, and no wrong form equal except by an unnamed unit."""
    for _, drawn in draws(generator)[::2]:
        assert not {drawn.reference, *drawn.right} & {*drawn.wrong}
        reference = read(drawn.reference, kind, drawn.question)

        def same(form: str, drawn: GeneratedProblem = drawn, reference: Answer = reference) -> Any:
            given = read(form, kind, drawn.question)
            return compare(reference, given, question=drawn.question).same

        for right in drawn.right:
            assert same(right) is not False, (drawn, right)
        for wrong in drawn.wrong:
            if same(wrong):
                assert _unit_alone_differs(drawn.reference, wrong), (drawn, wrong)


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


def test_every_type_has_at_least_four_generators() -> None:
    """Each answer type has at least four problem generators, for variety."""
    assert all(len({*generators}) >= 4 for generators in GENERATORS.values())


# --- arithmetic, computed independently -----------------------------------------------------------


def numbers(text: str) -> list[int]:
    return [int(n) for n in re.findall(r"-?\d+", text)]


def english(generator: Generator, count: int = 40) -> Iterator[GeneratedProblem]:
    for index in range(count):
        yield generator(random.Random(f"check:{index}"), False)


def value(answer: str) -> Fraction:
    """The numerical value of an answer in any markup."""
    read = quantity(
        fold(re.sub(r"\\ \\mathrm\{(.*?)\}|\$|\\[()]|^\w+ ?= ?", r" \1", answer)).strip()
    )
    assert read is not None, answer
    return Fraction(read.value)  # type: ignore[arg-type]


def test_trapeziums_and_triangles_have_the_area_that_they_should() -> None:
    """The area is half the height times the base, or times the sum of the bases."""
    for drawn in english(geometry.triangle_area):
        found = numbers(drawn.question.replace("cm^2", ""))
        *bases, height = found
        if "apart" in drawn.question or "height" in drawn.question or "legs" in drawn.question:
            assert value(drawn.reference) == Fraction(sum(bases) * height, 2), drawn


def test_integrals_agree_with_simpsons_rule() -> None:
    """Simpson's rule, which is exact for quadratics, gives the same integral."""
    for index in range(40):
        drawn = calculus.integral(random.Random(index), False)
        found = re.search(r"F\((-?\d+)\) - F\((-?\d+)\)", drawn.steps[1])
        text = re.search(r"(?:\(|\$)((?:[-+]?\d*x(?:\^2)?|[-+]?\d+)+)(?:\)|\$)", drawn.question)
        assert found is not None
        assert text is not None
        high, low = int(found[1]), int(found[2])

        def f(x: Fraction, formula: str = text[1]) -> Fraction:
            total = Fraction(0)
            for sign, size, power in re.findall(r"([-+]?)(\d*)(x\^2|x|)", formula):
                if size or power:
                    factor = Fraction(int(f"{sign}{size or 1}"))
                    total += factor * x ** {"x^2": 2, "x": 1, "": 0}[power]
            return total

        mean = f(Fraction(low)) + 4 * f(Fraction(low + high, 2)) + f(Fraction(high))
        assert value(drawn.reference) == mean * (high - low) / 6, drawn


def test_two_roots_solve_their_equation() -> None:
    """The quadratic is zero at each root."""
    for drawn in english(algebra.quadratic):
        roots = numbers(re.sub(r"_\{?\d\}?", "", drawn.right[0]))
        text = re.search(r"(x\^2[^=]*?) ?=", drawn.question)
        assert text is not None
        linear = re.search(r"([-+]\d*)x(?!\^)", text[1])
        constant = re.search(r"([-+]\d+)$", text[1])
        b = 0 if linear is None else int(linear[1] + ("" if linear[1][-1].isdigit() else "1"))
        c = 0 if constant is None else int(constant[1])
        assert len(roots) == 2
        assert all(x * x + b * x + c == 0 for x in roots), drawn


def test_greatest_divisors_and_least_multiples_are_those_of_the_library() -> None:
    """The answers equal ``math.gcd`` and ``math.lcm`` of the numbers in the question."""
    for drawn in english(arithmetic.divisor_or_multiple):
        a, b = (abs(n) for n in numbers(drawn.steps[0].replace("\\times", "*"))[0::3][:2])
        assert value(drawn.reference) in (math.gcd(a, b), math.lcm(a, b)), drawn


def test_energy_is_half_of_mass_times_the_square_of_speed() -> None:
    """The energy is computed again from the numbers of the step that squares the speed."""
    for drawn in english(physics.kinetic_energy):
        *_, mass, square, result = numbers(drawn.steps[1])
        assert math.isqrt(square) ** 2 == square
        assert value(drawn.reference) == Fraction(mass * square, 2) == result


def test_cross_products_are_at_right_angles_to_both_vectors() -> None:
    """Both dot products are 0, and the first component is that of the steps."""
    for index in range(40):
        drawn = coordinates.cross_product(random.Random(index), False)
        a, b = (numbers(v) for v in re.findall(r"\((-?\d+,-?\d+,-?\d+)\)", drawn.question))
        c = numbers(drawn.reference)
        assert sum(map(int.__mul__, a, c)) == sum(map(int.__mul__, b, c)) == 0


# --- words and notation ---------------------------------------------------------------------------


def test_every_section_has_three_questions_in_each_language() -> None:
    """A section has at least three questions in each language; table rows are equally long."""
    for name, section in words._sections().items():
        for lang in ("zh", "en"):
            assert len({*section.asks[lang]}) >= 3, name
        assert len({len(row) for row in section.rows}) <= 1, name


def test_tables_of_facts_are_large_and_bilingual() -> None:
    """There are at least 150 facts, each with Chinese and English names of its answer."""
    every = [fact for name in facts.TABLES for fact in facts.table(name)]
    assert len(every) >= 150
    assert all(HAN.search("".join(f.zh)) and not HAN.search("".join(f.en)) for f in every)
    keys = [f.key for f in every]
    assert len({*keys}) >= len(keys) - 10


def test_a_field_without_a_value_is_named() -> None:
    """The message names the field or the section and says what to do."""
    with pytest.raises(InputError, match="no value for <b>; pass one"):
        words.fill("<a> and <b>", {"a": 1})
    with pytest.raises(InputError, match="no section"):
        words.section("nothing-like-this")


def test_there_are_letters_for_ten_options() -> None:
    """A multiple-choice problem has up to ten options."""
    assert len(LETTERS) == 10


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


@given(st.integers(-9, 9), st.integers(-9, 9), st.booleans(), st.booleans())
def test_flipping_a_piece_twice_gives_it_back(a: int, b: int, low: bool, high: bool) -> None:
    """Flipping twice is the identity and never closes an end at infinity."""
    assert flipped(flipped(span(a, b, low, high))) == span(a, b, low, high)
    assert flipped(span(None, b)).low_in is False


@given(st.fractions(max_denominator=50))
def test_a_number_keeps_its_value_as_latex(number: Fraction) -> None:
    """The LaTeX of a number and the answer built from it have its value."""
    amount = leaf(tex(number)).quantity
    assert value(tex(number)) == number
    assert amount is not None
    assert amount.value == number
