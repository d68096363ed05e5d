"""Edits of the numerals in a text, and a check that an edit looks natural.

A hard negative with an oddity, such as 6/4 among answers in lowest terms or ``1x``, could be
recognised without the reference; so no edit may add an oddity that the answer does not have.
"""

from __future__ import annotations

import math
import random
import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

from .answer_text import distinct

_NUMERAL: Final = re.compile(
    r"(?<![\d.,_A-Za-z₀-₉])(?<!_\{)(?<!\d )"
    r"(?:\d{1,3}(?:(?:,|\{,\})\d{3})+(?![\d,])|\d+)(?:\.\d+)?(?!\d)"
    r"|(?<=[a-zA-Z])(?<![_A-Z])(?<=[dxyzabcn])\d+(?=[a-z(])"
)
_PART_MARK: Final = re.compile(r"[(（]\s*\d\s*[)）]")
_EXPONENT: Final = re.compile(r"(?:\^\{?|\*\*|(?<=\d)[eE])[-+]?$")
_FRACTION: Final = re.compile(
    r"\\[dt]?frac\s*\{(?P<a>\d+)\}\s*\{(?P<b>\d+)\}"
    r"|(?<![\w.)}^])(?P<c>\d+)\s*/\s*(?P<d>\d+)(?![\d.])"
)
_RADICAND: Final = re.compile(r"(?:√\(?|\\sqrt\s*\{?|sqrt\()\s*(\d+)")


def numeral_edits(rng: random.Random, text: str, *, most: int = 12) -> list[str]:
    """``text`` with one numeral changed: by one, a digit, the magnitude, or two digits swapped."""
    made: list[str] = []
    places = list(_NUMERAL.finditer(text))
    marks = [m.span() for m in _PART_MARK.finditer(text)]
    for place in places:
        before, after = text[: place.start()], text[place.end() :]
        if place[0] == "10" and after.startswith("^"):
            continue
        if len(marks) > 1 and any(start < place.start() < end for start, end in marks):
            continue  # "(2)" among "(1) … (2) …" is the number of a part
        power = _EXPONENT.search(before) is not None
        made += [before + moved + after for moved in _moves(rng, place[0], power=power)]
    kept = [new for new in distinct(made, text) if is_natural(text, new)]
    return rng.sample(kept, min(most, len(kept)))


def _moves(rng: random.Random, numeral: str, *, power: bool) -> list[str]:
    """Other numerals with as many decimal places and the same digit grouping."""
    if power:
        value = int(re.sub(r"\D", "", numeral.partition(".")[0]))
        others = [value + 1, *([value - 1] if value > 2 else [])]
        return [str(other).rjust(len(numeral), "0") for other in others]
    plain = numeral.replace("{,}", ",")
    places, grouped = len(plain.partition(".")[2]), "," in plain
    made = [
        f"{Decimal(new.numerator) / new.denominator:{',' * grouped}.{places}f}"
        for new in near_numbers(rng, Fraction(plain.replace(",", "")), places)
    ]
    comma = "{,}" if "{,}" in numeral else ","
    return [new.replace(",", comma) for new in made if grouped == ("," in new)]


def near_numbers(rng: random.Random, value: Fraction, places: int) -> list[Fraction]:
    """Numbers with ``places`` decimals: neighbours, other or exchanged digits, other magnitudes."""
    one = 10**places
    number = int(abs(value) * one)
    digits = str(number).rjust(places + 1, "0")
    moved = {number + 1, abs(number - 1), number + rng.randint(2, 12), number + one}
    moved |= {number * 10, number * 2, abs(number - one)} if number else set()
    moved |= {number // 10} if number % 10 == 0 else set()
    if len(digits) > 1:
        at = rng.randrange(len(digits) - 1)
        moved.add(int(digits[:at] + digits[at + 1] + digits[at] + digits[at + 2 :]))
        moved.add(int(digits[:-1] + str((int(digits[-1]) + rng.randint(1, 9)) % 10)))
    return [Fraction(new, one) * (-1 if value < 0 else 1) for new in sorted(moved - {number})]


def is_natural(text: str, new: str) -> bool:
    """Whether every oddity of ``new`` is also in ``text``."""
    return _oddities(new) <= _oddities(text)


@lru_cache(maxsize=1024)
def _oddities(text: str) -> frozenset[str]:
    """Notations in the text that are unusual in a final answer."""
    fractions = [(int(m["a"] or m["c"]), int(m["b"] or m["d"])) for m in _FRACTION.finditer(text)]
    found = {
        "not reduced": any(b < 2 or math.gcd(a, b) > 1 for a, b in fractions),
        "square below a root": any(not _squarefree(int(m[1])) for m in _RADICAND.finditer(text)),
        "one times": re.search(
            r"(?<![\d.,^_])(?<!_\{)1(?=[a-zA-Zπ√(]|\\sqrt|\\pi| [a-z][-+=*^])", text
        )
        is not None,
        "over one": re.search(r"/\s*1(?![\d.])|\}\{1\}", text) is not None,
        "times zero": re.search(r"(?<![\d.,])-?0(?=[a-zA-Zπ√(\d\\])", text) is not None,
        "zero term": re.search(r"(?:[+/]\s*|\w\s*-\s*)0(?![\d.])", text) is not None,
        "power of one": re.search(r"\^(?:\{[01]\}|[01](?!\d))", text) is not None,
        "minus zero": re.search(r"-0(?![\d.])|-0\.0+(?!\d)", text) is not None,
        "rounded zeros": re.search(r"\.\d*0(?!\d)", text) is not None,
    }
    return frozenset(name for name, there in found.items() if there)


def _squarefree(n: int) -> bool:
    return n > 1 and all(n % (k * k) for k in range(2, math.isqrt(n) + 1))
