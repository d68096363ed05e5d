"""Named policies for the difference between a number and the reference."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from typing import Final, NamedTuple

from gradegpt.answers.types import Quantity
from gradegpt.answers.units import known
from gradegpt.core.errors import InputError
from gradegpt.rules.cues import cue

_EXACT_FLOAT: Final = 1e-9
_NEAR, _NEAR_PRECISE = 0.05, 0.02
"""Relative differences up to which ``auto`` leaves two numbers open, if one may be rounded; the
second for two numbers of at least three digits, which rounding changes less."""
_MEASURED: Final = 0.01
"""Relative difference up to which two measured quantities are the same (rounded steps)."""
_ROUNDED, _EXACTLY_ASKED = map(cue, ("asks to round", "asks for the exact"))
Allows = Callable[[Quantity, Quantity], bool | None]


class Tolerance(NamedTuple):
    """A policy and its name.

    ``allows(reference, answer)`` is whether the answer passes; None if the policy leaves it open
    because the answer is close and may be rounded. Both are in the same unit.
    """

    name: str
    allows: Allows


def _exact(wanted: Quantity, given: Quantity) -> bool:
    if isinstance(wanted.value, Fraction) and isinstance(given.value, Fraction):
        return wanted.value == given.value
    return _within(wanted, given, _EXACT_FLOAT * _size(wanted))


def _size(quantity: Quantity) -> float:
    return abs(complex(quantity.value))


def _within(wanted: Quantity, given: Quantity, allowed: float) -> bool:
    difference = abs(complex(wanted.value) - complex(given.value))
    return difference <= allowed * (1 + 1e-9)  # a bound that is met counts as met


def _up_to(error: float, *, relative: bool) -> Allows:
    return lambda wanted, given: (
        _exact(wanted, given) or _within(wanted, given, error * (_size(wanted) if relative else 1))
    )


def _olympicarena(wanted: Quantity, given: Quantity) -> bool:
    left, right = complex(wanted.value), complex(given.value)
    if _exact(wanted, given) or left.imag or right.imag or left.real * right.real <= 0:
        return _exact(wanted, given)
    power, other = (math.floor(math.log10(abs(x.real))) for x in (left, right))
    return power == other and _within(wanted, given, 0.1 * 10.0**power)


def _auto(wanted: Quantity, given: Quantity, *, rounds: bool) -> bool | None:
    """The precision of the coarser decides; ``rounds`` if the question asks for rounding."""
    if _exact(wanted, given):
        return True
    if _rounds_to(given, wanted):
        finer = bool(given.place and wanted.place and given.place < wanted.place)
        unrounded = finer or (given.place is None and not _is_whole(given))
        return None if unrounded and rounds else True  # 22/7 if the question asks for 3.14
    if wanted.place is not None and _digits(given) >= 4 and _rounds_to(wanted, given):
        return True  # 14.24 for 14.239
    if given.place and rounds and not isinstance(wanted.value, Fraction):
        return _within(wanted, given, float(given.place) / 2) or None
    pair = (wanted, given)
    measured = any(known(q.unit) for q in pair if q.unit)  # money and things are counted
    exact = (isinstance(q.value, Fraction) and (q.place is None or _is_whole(q)) for q in pair)
    if all(map(_is_whole, pair)) or (not rounds and all(exact)):
        zeros = measured and _within(wanted, given, max(map(_rounding, pair)))
        return None if zeros else False  # 4306 J may be 4300 J
    if measured and _within(wanted, given, _MEASURED * _size(wanted)):
        return True
    open_up_to = _NEAR_PRECISE if all(_digits(q) >= 3 for q in pair) else _NEAR
    return None if _within(wanted, given, open_up_to * _size(wanted)) else False


def _as_asked(wanted: Quantity, given: Quantity, *, question: str) -> bool | None:
    """``auto`` as the question asks; a rounded value of what it wants exactly is left open."""
    exactly, rounds = _asks(question)
    allowed = _auto(wanted, given, rounds=rounds and not exactly)
    return None if exactly and allowed and not _exact(wanted, given) else allowed


@lru_cache(maxsize=1024)
def _asks(question: str) -> tuple[bool, bool]:
    """Whether a question asks for an exact value, and whether for a rounded one."""
    return _EXACTLY_ASKED.search(question) is not None, _ROUNDED.search(question) is not None


def _rounds_to(fine: Quantity, coarse: Quantity) -> bool:
    """Whether ``coarse`` has decimals and at least two digits, and ``fine`` rounds to it."""
    place = coarse.place
    return bool(place) and _digits(coarse) > 1 and _within(coarse, fine, float(place or 0) / 2)


def _digits(quantity: Quantity) -> int:
    """The number of significant digits; 0 for a number without decimals, which may be exact."""
    if quantity.place is None or not quantity.value:
        return 0
    return math.floor(math.log10(_size(quantity) / float(quantity.place)) + 1e-9) + 1


def _is_whole(quantity: Quantity) -> bool:
    value = quantity.value
    exact = quantity.place is None or quantity.place < 1  # 5.00 is 5; 1.50×10^3 is rounded
    return exact and isinstance(value, Fraction) and value.denominator == 1


def _rounding(quantity: Quantity) -> float:
    """Half of the place of the last digit before the zeros of a whole number; 0 for any other."""
    digits = str(int(quantity.value.real)).strip("-")
    zeros = len(digits) - len(digits.rstrip("0"))
    counts = quantity.place is None and _is_whole(quantity) and zeros and len(digits) - zeros > 1
    return 10**zeros / 2 if counts else 0


DEFAULT: Final = "auto"
"""The policy of items that name none."""
EXACT: Final = Tolerance("exact", _exact)
_NAMED: Final = {
    "exact": _exact, "olympicarena": _olympicarena, "arb": _up_to(0.01, relative=True),
    "atlas": _up_to(0.1, relative=True), "olympiadbench": _up_to(1e-8, relative=False),
}  # fmt: skip
NAMES: Final = (
    "exact", "auto", "olympiadbench[:ERROR]", "olympicarena", "arb", "atlas", "relative:SHARE",
)  # fmt: skip


@lru_cache(maxsize=1024)
def tolerance(name: str, question: str = "") -> Tolerance:
    """The policy of that name: one of ``NAMES``.

    ``exact``: equal. ``auto``: a reference with decimals accepts all numbers that round to it, and
    its own value rounded to at least four digits; quantities with a unit of measurement may differ
    by 1 % (rounded steps); other numbers within 5 % are undecided (2 % if both have three digits),
    except for whole numbers.
    ``olympiadbench``: absolute 1e-8 or the row's own error (OlympiadBench, section 3.4).
    ``olympicarena``: 0.1 in the coefficient at an equal power of ten, which OlympicArena allows
    where "answers are subject to estimation" (appendix C.5): 42 and 43 pass, so use it only for
    these. ``arb``: relative 1e-2 (ARB, section 6). ``atlas``: relative 0.1 (ATLAS, prompt E.2).

    Raises:
        InputError: There is no policy of that name.

    """
    if name in _NAMED:
        return Tolerance(name, _NAMED[name])
    if name == "auto":
        return Tolerance(name, partial(_as_asked, question=question))
    kind, _, number = name.partition(":")
    if kind in ("relative", "olympiadbench") and re.fullmatch(r"\d*\.?\d+(?:[eE]-?\d+)?", number):
        return Tolerance(name, _up_to(float(number), relative=kind == "relative"))
    raise InputError(f"tolerance {name!r}: no such policy; use one of {', '.join(NAMES)}")
