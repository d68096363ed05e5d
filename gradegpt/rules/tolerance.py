"""Named policies on how far a number may be from the reference."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Final, NamedTuple

from gradegpt.errors import InputError
from gradegpt.rules.algebra import Number
from gradegpt.rules.values import Quantity

_EXACT_FLOAT: Final = 1e-9
_ROUNDED = re.compile(
    r"保留|精确到|四舍五入|约(?:为|是|等于)?(?:多少)?|近似|有效数字|\bround(?:ed)?\b|\bnearest\b|\bapproximate(?:ly)?\b"
    r"|\bdecimal places?\b|\bsignificant (?:figures|digits)\b|\bs\.?f\.?\b|\bd\.?p\.?\b",
    re.IGNORECASE,
)


class Tolerance(NamedTuple):
    """A policy by its name; ``allows(reference, value)`` says whether the value passes."""

    name: str
    allows: Callable[[Quantity, Number], bool]


def _exact(wanted: Quantity, value: Number) -> bool:
    if isinstance(wanted.value, Fraction) and isinstance(value, Fraction):
        return wanted.value == value
    return _within(wanted, value, _EXACT_FLOAT * abs(complex(wanted.value)))


def _within(wanted: Quantity, value: Number, allowed: float) -> bool:
    return abs(complex(wanted.value) - complex(value)) <= allowed


def _relative(share: Fraction) -> Callable[[Quantity, Number], bool]:
    return lambda wanted, value: _exact(wanted, value) or _within(
        wanted, value, float(share) * abs(complex(wanted.value)) * (1 + 1e-12)
    )


def _absolute(error: float) -> Callable[[Quantity, Number], bool]:
    return lambda wanted, value: _exact(wanted, value) or _within(wanted, value, error * (1 + 1e-12))


def _olympicarena(wanted: Quantity, value: Number) -> bool:
    if _exact(wanted, value):
        return True
    left, right = complex(wanted.value), complex(value)
    if left.imag or right.imag or not left.real or not right.real or left.real * right.real < 0:
        return False
    powers = [math.floor(math.log10(abs(x.real))) for x in (left, right)]
    coefficients = [x.real / 10.0**p for x, p in zip((left, right), powers, strict=True)]
    return powers[0] == powers[1] and abs(coefficients[0] - coefficients[1]) <= 0.1 + 1e-12


def _auto(question: str) -> Callable[[Quantity, Number], bool]:
    rounded = bool(_ROUNDED.search(question))

    def allows(wanted: Quantity, value: Number) -> bool:
        if _exact(wanted, value):
            return True
        if wanted.decimals is None or wanted.percent:
            return rounded and not isinstance(wanted.value, Fraction) and _within(
                wanted, value, 5e-3 * abs(complex(wanted.value))
            )
        # The reference is itself rounded: any number that rounds to it is it.
        return _within(wanted, value, 0.5 * 10.0**-wanted.decimals * (1 + 1e-9))

    return allows


EXACT: Final = Tolerance("exact", _exact)
_NAMED: Final = {
    "exact": EXACT,
    "olympicarena": Tolerance("olympicarena", _olympicarena),
    "arb": Tolerance("arb", _relative(Fraction(1, 100))),
    "atlas": Tolerance("atlas", _relative(Fraction(1, 10))),
    "olympiadbench": Tolerance("olympiadbench", _absolute(1e-8)),
}
NAMES: Final = ("exact", "auto", "olympiadbench[:ERROR]", "olympicarena", "arb", "atlas", "relative:SHARE")


def tolerance(name: str, question: str = "") -> Tolerance:
    """The policy of that name: one of ``NAMES``.

    ``exact``: equal. ``auto``: a reference written with decimals stands for all that round to it.
    ``olympiadbench``: absolute 1e-8 or the row's own error (OlympiadBench, section 3.4).
    ``olympicarena``: 0.1 in the coefficient at an equal power of ten (OlympicArena, appendix).
    ``arb``: relative 1e-2 (ARB, table 1). ``atlas``: relative 0.1 (ATLAS, prompt E.2).

    Raises:
        InputError: no policy of that name.

    """
    if name in _NAMED:
        return _NAMED[name]
    if name == "auto":
        return Tolerance(name, _auto(question))
    kind, _, number = name.partition(":")
    if kind in ("relative", "olympiadbench") and re.fullmatch(r"\d*\.?\d+(?:[eE]-?\d+)?", number):
        made = _relative(Fraction(number)) if kind == "relative" else _absolute(float(number))
        return Tolerance(name, made)
    raise InputError(f"tolerance {name!r}: no such policy; use one of {', '.join(NAMES)}")
