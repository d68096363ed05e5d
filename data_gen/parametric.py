"""Problems from templates with random numbers."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Final

from gradegpt.schema import AnswerType

from .generators import (
    GeneratedProblem,
    Generator,
    algebra,
    arithmetic,
    calculus,
    choice,
    coordinates,
    facts,
    functions,
    geometry,
    intervals,
    naming,
    nature,
    physics,
    statistics,
)
from .problems import Problem

GENERATORS: Final[dict[AnswerType, tuple[Generator, ...]]] = {
    AnswerType.SINGLE_CHOICE: (
        choice.choose_number, choice.choose_fact, choice.choose_formula, choice.largest,
        choice.choose_quantity, choice.choose_region, choice.odd_one_out,
    ),
    AnswerType.MULTIPLE_CHOICE: (
        choice.members, choice.divisible, choice.true_statements, choice.on_the_line,
        choice.equal_values, choice.solutions, choice.several_questions,
    ),
    AnswerType.TRUE_FALSE: (
        arithmetic.compare, facts.claim, arithmetic.prime, functions.parity,
        geometry.triangle_exists, functions.increasing, arithmetic.compare_fractions,
    ),
    AnswerType.NUMBER: (
        arithmetic.shopping, arithmetic.fraction, arithmetic.percent, arithmetic.discount,
        arithmetic.divisor_or_multiple, arithmetic.share, arithmetic.work_together,
        algebra.geometric_sum, calculus.integral, calculus.limit, functions.logarithm,
        functions.trigonometry, geometry.triangle_area, geometry.right_triangle,
        geometry.solid_volume, geometry.angle_sum, geometry.third_angle, coordinates.dot_product,
        coordinates.determinant, coordinates.distance, statistics.average, statistics.probability,
        statistics.counting, statistics.variance, statistics.at_least, physics.speed,
        physics.density, physics.newton, physics.kinetic_energy, physics.ohm, physics.pressure,
        physics.heat, nature.moles, nature.molar_mass, nature.dilution, nature.temperature,
        nature.map_scale, nature.genetics,
    ),
    AnswerType.SET: (
        arithmetic.divisors, intervals.set_operation, arithmetic.primes_between,
        algebra.root_set, intervals.whole_solutions,
    ),
    AnswerType.INTERVAL: (
        intervals.inequality, intervals.linear_inequality, intervals.absolute_inequality,
        intervals.domain, intervals.value_range, intervals.third_side, intervals.discriminant,
        intervals.monotone,
    ),
    AnswerType.EXPRESSION: (
        algebra.expand, calculus.derivative, algebra.factor, algebra.collect,
        algebra.general_term, algebra.geometric_term, algebra.expression_in_words,
        calculus.product_rule, calculus.antiderivative, functions.inverse,
        functions.composition, geometry.area_expression,
    ),
    AnswerType.EQUATION: (
        algebra.linear, coordinates.circle_equation, calculus.tangent, coordinates.line_through,
        functions.axis, algebra.model_equation, coordinates.perpendicular,
    ),
    AnswerType.TUPLE: (
        coordinates.midpoint, algebra.system, coordinates.vectors, functions.vertex,
        coordinates.reflection, coordinates.cross_product, statistics.extremes,
    ),
    AnswerType.MULTI_PART: (
        algebra.sequence, geometry.rectangle_parts, geometry.circle_parts, algebra.chickens,
        functions.quadratic_parts, statistics.mean_and_median, physics.acceleration_parts,
        physics.work_and_power, nature.concentration_parts,
    ),
    AnswerType.MULTI_ANSWER: (
        algebra.quadratic, algebra.absolute_equation, functions.sine_equation,
        algebra.sum_and_product, algebra.cubic, arithmetic.prime_factors,
        physics.projectile_times,
    ),
    AnswerType.TEXT: (
        facts.recall, facts.trend, naming.weekday, facts.recall, naming.triangle_kind,
        naming.quadrant, facts.recall, naming.acidity, naming.conic, naming.direction,
    ),
}  # fmt: skip
"""Problem generators by answer type, used in turn; one that is listed twice is used twice."""
_TRIES: Final = 30
"""How often a generator is tried for a new question, before the next one of its type."""


def parametric(count: int, seed: int) -> Iterator[Problem]:
    """``count`` problems, half of them Chinese, all types equally frequent, no question twice.

    There are fewer where repeated draws give no new question.
    """
    seen: set[str] = set()
    kinds = list(GENERATORS)
    for index in range(count * 2):
        if len(seen) == count:
            return
        turn, zh = index // 2, index % 2 == 0
        generators = GENERATORS[kinds[turn % len(kinds)]]
        first = turn // len(kinds) % len(generators)
        rng = random.Random(f"{seed}:parametric:{index}")
        drawn = _new((*generators[first:], *generators[:first]), rng, zh, seen)
        if drawn is not None:
            seen.add(drawn.question)
            yield _problem(drawn, index, "zh" if zh else "en")


def _new(
    generators: Iterable[Generator], rng: random.Random, zh: bool, seen: set[str]
) -> GeneratedProblem | None:
    """A problem from the first of ``generators`` that gives a new question."""
    for generator in (generator for generator in generators for _ in range(_TRIES)):
        drawn = generator(rng, zh)
        if drawn.question not in seen and drawn.wrong and drawn.right:
            return drawn
    return None


def _problem(drawn: GeneratedProblem, index: int, lang: str) -> Problem:
    return Problem(
        id=f"par-{lang}-{index:06d}",
        lang=lang,
        answer_type=drawn.kind,
        question=drawn.question,
        reference=drawn.reference,
        solution=tuple(drawn.steps),
        also_correct=tuple(drawn.right),
        hard_negatives=tuple(drawn.wrong),
    )
