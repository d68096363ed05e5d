"""Test two formulas for equality at drawn points.

Two formulas that differ at one point where both are defined are different; two that agree at
eight random points are the same but for a negligible probability (Schwartz 1980). This costs
microseconds where a computer algebra system takes milliseconds; formulas that cannot be read here
go to that system in a worker process.

The size of every power is bounded.
"""

from __future__ import annotations

import cmath
import math
import operator
import random
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeVar

from gradegpt.answers.formula import Node, variables
from gradegpt.answers.types import Magnitude

_MAX_EXPONENT: Final = 4_000
_MAX_FACTORIAL: Final = 60
_POINTS: Final = 8
_NEAR: Final = 0.02
_EQUAL: Final = 1e-10
"""Relative difference below which two evaluations count as equal."""

_SIGNS: Final = ((1,), (-1,), (1, -1))
"""Signs of the unknowns: all positive, all negative, mixed: √(a²x²) is ax with the first two."""

BASE: Final = "log base"
"""The name of the unknown that is the base of a ``log`` without one."""

Point = dict[str, float]
Drawn = TypeVar("Drawn")
Function = Callable[[Point], Magnitude]

_FUNCTIONS: Final[dict[str, Callable[[complex], complex]]] = {
    "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan,
    "cot": lambda z: 1 / cmath.tan(z), "sec": lambda z: 1 / cmath.cos(z),
    "csc": lambda z: 1 / cmath.sin(z),
    "arcsin": cmath.asin, "arccos": cmath.acos, "arctan": cmath.atan,
    "sinh": cmath.sinh, "cosh": cmath.cosh, "tanh": cmath.tanh,
    "ln": cmath.log, "lg": cmath.log10, "exp": cmath.exp,
}  # fmt: skip
_CALLS: Final[dict[str, Callable[..., Magnitude]]] = {
    name: lambda z, f=function: f(complex(z)) for name, function in _FUNCTIONS.items()
}
_CONSTANTS: Final[dict[str, Magnitude]] = {"π": math.pi, "e": math.e, "i": 1j, "°": math.pi / 180}


def evaluate(node: Node, at: Point) -> Magnitude:
    """The value at a point, exact where only rational numbers occur.

    Raises:
        ArithmeticError, ValueError: The formula is not defined there, or its value is too large.

    """
    made = _compiled(node)
    return made(at) if callable(made) else made


@lru_cache(maxsize=4096)
def _compiled(node: Node) -> Magnitude | Function:
    """The formula's value, or, where it has unknowns, a function of the point."""
    if node.op == "num" and node.value is not None:
        return node.value
    if node.op in ("var", "const"):
        return operator.itemgetter(node.name) if node.op == "var" else _CONSTANTS[node.name]
    args = [_compiled(arg) for arg in node.args]
    if node.op == "log" and len(args) == 1:
        args.append(operator.itemgetter(BASE))
    operation = _CALLS[node.name] if node.op == "call" else _OPERATIONS[node.op]
    fixed = [arg for arg in args if not callable(arg)]
    try:
        if len(fixed) == len(args):
            return operation(*fixed)
        if node.op in _INEXACT:
            args = [float(arg) if isinstance(arg, Fraction) else arg for arg in args]
    except (ArithmeticError, ValueError):
        return _undefined
    made = [arg if callable(arg) else _always(arg) for arg in args]
    if len(made) == 1:
        return lambda at: operation(made[0](at))
    left, right = made
    return lambda at: operation(left(at), right(at))


def _undefined(_at: Point) -> Magnitude:
    raise ArithmeticError("the formula is defined nowhere, or its value is too large")


def _always(value: Magnitude) -> Function:
    return lambda _at: value


def _factorial(value: Magnitude) -> Fraction:
    small = isinstance(value, Fraction) and value.denominator == 1 and 0 <= value <= _MAX_FACTORIAL
    if not small:
        raise ValueError(f"factorial: expected a whole number from 0 to {_MAX_FACTORIAL}")
    return Fraction(math.factorial(int(value.real)))


def _power(base: Magnitude, exponent: Magnitude) -> Magnitude:
    if isinstance(exponent, Fraction) and abs(exponent) > _MAX_EXPONENT:
        raise OverflowError(f"exponent: larger than {_MAX_EXPONENT}")
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        size = max(base.numerator.bit_length(), base.denominator.bit_length())
        if size * abs(exponent) <= _MAX_EXPONENT:
            return Fraction(base ** int(exponent))
    if isinstance(exponent, Fraction) and exponent.denominator % 2 and exponent.denominator > 1:
        return _power(_root(base, Fraction(exponent.denominator)), Fraction(exponent.numerator))
    return complex(base) ** complex(exponent)


def _root(value: Magnitude, degree: Magnitude) -> Magnitude:
    if not isinstance(degree, Fraction) or degree.denominator != 1 or not 2 <= degree <= 100:
        raise ValueError("degree of a root: expected a whole number from 2 to 100")
    n = int(degree)
    number = complex(value)
    if n % 2 and abs(number.imag) < _EQUAL * abs(number) and number.real < 0:
        return -math.pow(-number.real, 1 / n)
    return number ** (1 / n)


def _log(value: Magnitude, base: Magnitude) -> Magnitude:
    return cmath.log(complex(value)) / cmath.log(complex(base))


_OPERATIONS: Final[dict[str, Callable[..., Magnitude]]] = {
    "+": operator.add, "*": operator.mul, "/": operator.truediv, "neg": operator.neg, "abs": abs,
    "^": _power, "root": _root, "!": _factorial, "log": _log,
}  # fmt: skip
_INEXACT: Final = ("+", "*", "/")
"""Operations whose rational operand becomes a float where the other is one; converted once."""


def close(a: Magnitude, b: Magnitude) -> bool:
    """Whether two numbers are equal: exactly if both are exact, to ten digits otherwise."""
    if a == b or (isinstance(a, Fraction) and isinstance(b, Fraction)):
        return a == b
    try:
        x, y = complex(a), complex(b)
    except OverflowError:
        return False  # an exact number beyond the range of floats, and a float
    if not (cmath.isfinite(x) and cmath.isfinite(y)):
        return False
    return abs(x - y) <= _EQUAL * max(abs(x), abs(y), 1e-12)


def constant(node: Node) -> Magnitude | None:
    """The value of a formula without unknowns; None for any other."""
    if variables(node) or _bare_logs(node):
        return None
    try:
        value = evaluate(node, {})
    except (ArithmeticError, ValueError):
        return None
    return _real(value)


def _real(value: Magnitude) -> Magnitude | None:
    if isinstance(value, complex):
        if not cmath.isfinite(value):
            return None
        if abs(value.imag) <= _EQUAL * max(abs(value), 1e-12):
            return value.real
    return value


def _bare_logs(node: Node) -> bool:
    return (node.op == "log" and len(node.args) == 1) or any(map(_bare_logs, node.args))


def equal(left: Node, right: Node, *, scaled: bool = False) -> bool | None:
    """Whether two formulas are the same function; None where that cannot be shown.

    None also if they are equal at some points and not at others: √(x²) and x differ unless x ≥ 0 is
    known, log x and ln x unless the base is. ``scaled`` accepts a non-zero constant factor.
    """
    names = sorted(variables(left) | variables(right))
    logs = _bare_logs(left), _bare_logs(right)
    rng = random.Random("points")
    if not names and not any(logs) and not scaled:
        found = _outcomes(left, right, [{}], scaled=False)
        return found[0] if found else None
    everything: list[bool] = []
    for signs in _SIGNS[: min(len(names), 2) + 1]:
        points = [
            {name: rng.uniform(0.3, 2.2) for name in names} | {BASE: rng.uniform(2, 12)}
            for _ in range(_POINTS)
        ]
        for at in points:
            at.update({name: rng.choice(signs) * at[name] for name in names})
        found = _outcomes(left, right, points, scaled=scaled)
        if signs == _SIGNS[0] and len(found) < _POINTS // 2:
            return None
        everything += found
    if all(everything):
        return True
    return None if any(everything) or logs[0] != logs[1] else False


def equal_but_for_a_constant(left: Node, right: Node) -> bool | None:
    """Whether two formulas differ by a constant; None where that cannot be shown."""
    made = [one - other for one, other in _sampled(left, right)]
    if len(made) < _POINTS:
        return None
    return all(abs(one - made[0]) <= 1e-9 * max(1, abs(made[0])) for one in made)


def near(left: Node, right: Node) -> bool:
    """Whether the values of two formulas differ by less than 2 %, so perhaps by rounding."""
    made = _sampled(left, right)
    return bool(made) and all(abs(a - b) <= _NEAR * max(abs(a), abs(b)) for a, b in made)


def solves(zero: Node, name: str, value: Node) -> bool | None:
    """Whether ``name = value`` solves ``zero = 0``; None where ``zero`` is not linear in the name.

    y = 6/x solves xy = 6: a line through two points of ``zero`` at drawn values of the other
    unknowns meets 0 there.
    """
    rng, made = random.Random("points"), list[bool]()
    names = sorted((variables(zero) | variables(value)) - {name})
    for _ in range(2 * _POINTS):
        at = {other: rng.uniform(0.3, 2.2) for other in names} | {BASE: math.e}
        with suppress(ArithmeticError, ValueError):
            low, middle, high = (complex(evaluate(zero, at | {name: x})) for x in (1.0, 2.0, 4.0))
            if not close(high - middle, 2 * (middle - low)):
                return None
            made.append(close(1 - low / (middle - low), evaluate(value, at)))
    return None if len(made) < _POINTS or len({*made}) > 1 else made[0]


def _sampled(left: Node, right: Node) -> list[tuple[complex, complex]]:
    rng, names = random.Random("points"), sorted(variables(left) | variables(right))
    drawn = ({name: rng.uniform(0.3, 2.2) for name in names} for _ in range(3 * _POINTS))
    points = [at | {BASE: math.e} for at in drawn]
    return _where_defined(left, right, points, lambda a, b: (complex(a), complex(b)))


def _outcomes(left: Node, right: Node, points: list[Point], *, scaled: bool) -> list[bool]:
    """Whether the two agree, for each of the points where both are defined."""
    if not scaled:
        return _where_defined(left, right, points, close)
    ratios = _where_defined(left, right, points, lambda a, b: complex(a) / complex(b))
    return [close(one, ratios[0]) and abs(ratios[0]) > _EQUAL for one in ratios[1:]]


def _where_defined(
    left: Node, right: Node, points: list[Point], of: Callable[[Magnitude, Magnitude], Drawn]
) -> list[Drawn]:
    """A function of the two values, for each of the points where it is defined."""
    made = []
    for at in points:
        with suppress(ArithmeticError, ValueError):
            made.append(of(evaluate(left, at), evaluate(right, at)))
    return made
