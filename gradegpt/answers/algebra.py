"""Test two formulas for equality at drawn points.

Two formulas that differ at one point where both are defined are different; two that agree at
eight random points are the same but for a negligible probability (Schwartz 1980). This costs
microseconds where a computer algebra system takes milliseconds; formulas that cannot be read here
go to that system in a worker process. The size of every power is bounded.
"""

from __future__ import annotations

import cmath
import math
import operator
import random
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Final, TypeVar

from gradegpt.answers.formula import CONSTANTS, FUNCTIONS, Node, minus, nodes, number, variables
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


def close(a: Magnitude, b: Magnitude) -> bool:
    """Whether two numbers are equal: exactly if both are exact, to ten digits otherwise."""
    if a == b or (isinstance(a, Fraction) and isinstance(b, Fraction)):
        return a == b
    try:
        x, y = complex(a), complex(b)
    except OverflowError:
        return False  # an exact number beyond the range of floats, and a float
    finite = cmath.isfinite(x) and cmath.isfinite(y)
    return finite and abs(x - y) <= _EQUAL * max(abs(x), abs(y), 1e-12)


def constant(node: Node) -> Magnitude | None:
    """The value of a formula without unknowns; None for any other."""
    if variables(node) or _bare_logs(node):
        return None
    value = _values(node, [{}])[0]
    if isinstance(value, complex):
        if not cmath.isfinite(value):
            return None
        return value.real if abs(value.imag) <= _EQUAL * max(abs(value), 1e-12) else value
    return value


def equal(left: Node, right: Node, *, scaled: bool = False) -> bool | None:
    """Whether two formulas are the same function; None where that cannot be shown.

    None also if they are equal at some points and not at others: √(x²) and x differ unless x ≥ 0 is
    known, log x and ln x unless the base is. Unknowns are positive where there is a logarithm: ln b
    - ln a is ln(b/a). ``scaled`` accepts a non-zero constant factor.
    """
    names = variables(left) | variables(right)
    logs = any(part.op == "log" or part.name in ("ln", "lg") for part in nodes(minus(left, right)))
    everything = list[bool]()
    for signs in _SIGNS[: 1 if logs else min(len(names), 2) + 1]:
        if scaled:
            ratios = _sampled(left, right, lambda a, b: complex(a) / complex(b), signs)
            found = [close(one, ratios[0]) and abs(one) > _EQUAL for one in ratios[1:]]
        else:
            found = _sampled(left, right, close, signs)
        if signs == _SIGNS[0] and len(found) < _POINTS // 2:
            return None
        everything += found
    if all(everything):
        return True
    return None if any(everything) or _bare_logs(left) != _bare_logs(right) else False


def equal_but_for_a_constant(left: Node, right: Node) -> bool | None:
    """Whether two formulas differ by a constant; None where that cannot be shown."""
    made = _sampled(left, right, lambda one, other: complex(one) - complex(other))
    if len(made) < _POINTS // 2:
        return None
    return all(abs(one - made[0]) <= 1e-9 * max(1, abs(made[0])) for one in made)


def near(left: Node, right: Node) -> bool:
    """Whether the values of two formulas differ by less than 2 %, so perhaps by rounding."""
    ratios = _sampled(left, right, lambda a, b: complex(a) / complex(b))
    return bool(ratios) and all(abs(ratio - 1) <= _NEAR for ratio in ratios)


def solves(zero: Node, name: str, value: Node) -> bool | None:
    """Whether ``name = value`` solves ``zero = 0``; None where ``zero`` is not linear in the name.

    y = 6/x solves xy = 6: the line through the values of ``zero`` at y = 1 and 2 meets 0 there.
    """
    low, middle, high = (_with(zero, name, number(at)) for at in (1, 2, 4))
    step = minus(middle, low)
    if not equal(minus(high, middle), Node("*", (number(2), step))):
        return None
    return equal(minus(number(1), Node("/", (low, step))), value)


def _with(node: Node, name: str, value: Node) -> Node:
    """The formula with a value in place of an unknown."""
    if node.op == "var" and node.name == name:
        return value
    return node._replace(args=tuple(_with(arg, name, value) for arg in node.args))


def _sampled(
    left: Node,
    right: Node,
    of: Callable[[Magnitude, Magnitude], Drawn],
    signs: tuple[int, ...] = (1,),
) -> list[Drawn]:
    """A function of the values of the two, at drawn points where it is defined."""
    rng, made = random.Random("points"), list[Drawn]()
    names = sorted(variables(left) | variables(right))
    points = [
        {name: rng.choice(signs) * rng.uniform(0.3, 2.2) for name in names}
        | {BASE: rng.uniform(2, 12)}
        for _ in range(_POINTS)
    ]
    for a, b in zip(_values(left, points), _values(right, points), strict=True):
        if a is not None and b is not None:
            with suppress(ArithmeticError):
                made.append(of(a, b))
    return made


def _bare_logs(node: Node) -> bool:
    return any(part.op == "log" and len(part.args) == 1 for part in nodes(node))


def _values(node: Node, points: list[Point]) -> list[Magnitude | None]:
    """The value at each point, exact where only rational numbers occur; None where undefined."""
    if node.op in ("num", "const"):
        return [CONSTANTS[node.name] if node.value is None else node.value] * len(points)
    if node.op == "var":
        return [at[node.name] for at in points]
    operands = [_values(arg, points) for arg in node.args]
    if node.op == "log" and len(operands) == 1:
        operands.append([at[BASE] for at in points])
    function = FUNCTIONS.get(node.name)
    operation = _OPERATIONS[node.op] if function is None else lambda z: function(complex(z))
    made = list[Magnitude | None]()
    for args in zip(*operands, strict=True):
        try:
            made.append(None if None in args else operation(*args))
        except (ArithmeticError, ValueError):  # undefined, or too large
            made.append(None)
    return made


def _factorial(value: Magnitude) -> Fraction:
    small = isinstance(value, Fraction) and value.denominator == 1 and 0 <= value <= _MAX_FACTORIAL
    if not small:
        raise ValueError(f"factorial: expected a whole number from 0 to {_MAX_FACTORIAL}")
    return Fraction(math.factorial(int(value.real)))


def _power(base: Magnitude, exponent: Magnitude) -> Magnitude:
    if isinstance(exponent, Fraction):
        if abs(exponent) > _MAX_EXPONENT:
            raise OverflowError(f"exponent: larger than {_MAX_EXPONENT}")
        if isinstance(base, Fraction) and exponent.denominator == 1:
            size = max(base.numerator.bit_length(), base.denominator.bit_length())
            if size * abs(exponent) <= _MAX_EXPONENT:
                return Fraction(base ** int(exponent))
        if exponent.denominator % 2 and exponent.denominator > 1:
            return _power(_root(base, Fraction(exponent.denominator)), Fraction(exponent.numerator))
    return complex(base) ** complex(exponent)


def _root(value: Magnitude, degree: Magnitude) -> Magnitude:
    if not isinstance(degree, Fraction) or degree.denominator != 1 or not 2 <= degree <= 100:
        raise ValueError("degree of a root: expected a whole number from 2 to 100")
    n, number = int(degree), complex(value)
    if n % 2 and abs(number.imag) < _EQUAL * abs(number) and number.real < 0:
        return -math.pow(-number.real, 1 / n)  # the real root, as pupils are taught
    return number ** (1 / n)


_OPERATIONS: Final[dict[str, Callable[..., Magnitude]]] = {
    "+": operator.add, "*": operator.mul, "/": operator.truediv, "neg": operator.neg, "abs": abs,
    "^": _power, "root": _root, "!": _factorial,
    "log": lambda value, base: cmath.log(complex(value)) / cmath.log(complex(base)),
}  # fmt: skip
