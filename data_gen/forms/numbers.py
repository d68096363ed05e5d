"""Numbers: whole, decimal, fraction, percentage, root, multiple of π, in words, with a unit."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from data_gen.forms import numerals, units
from data_gen.forms.base import HAN, Answer, in_math
from data_gen.forms.edits import numeral_edits, turned
from data_gen.forms.quantity import FRACTION, Number, Read, read

MAX_TERMS: Final = 1_000
"""Largest numerator and denominator of a fraction that a decimal is turned into."""
_ASKS_PERCENT: Final = re.compile(r"percent|%|百分", re.IGNORECASE)
_WHAT_PERCENT: Final = re.compile(r"\bwhat percent|百分之几", re.IGNORECASE)
_WHEN: Final = re.compile(r"\b(?:what|which) year\b|\bwhen\b|哪一?年|何时|什么时候", re.IGNORECASE)
_ROUND: Final = re.compile(r"保留|精确|约|近似|round|nearest|decimal|significant", re.IGNORECASE)


def same(_rng: random.Random, answer: Answer) -> list[str]:
    """Other ways to write the number."""
    found = read(answer.text)
    if found is None:
        return _ratio(answer.text)
    if _is_year(answer):
        return [
            f"{answer.text}年",
            f"in {answer.text}",
            f"the year {answer.text}",
            f"${answer.text}$",
        ]
    number, lead = found.number, found.lead
    digits = _irrationals(number) if number.radicand > 1 or number.pi else []
    if not digits:
        digits = list(_rationals(number.factor, answer.question, bare=not found.unit))
    money = lead.strip().endswith(("$", "￥", "¥"))
    if money:
        name = "dollars" if "$" in lead else "元"
        gap = " " if "$" in lead else ""
        return [f"{lead}{d}" for d in digits if "\\" not in d] + [f"{d}{gap}{name}" for d in digits]
    if found.unit:
        return [*_measured(found, digits, answer), *_converted(found)]
    made = [*digits, *(in_math(d) for d in digits), *spelled_out(number, answer.question)]
    if unit := units.asked_unit(answer.question):
        names = [("" if HAN.search(unit) else " ", unit), *units.spellings(unit)[:2]]
        plain = [d for d in digits[:3] if abs(number.factor) != 1 or HAN.search(unit)]
        made += [f"{d}{gap}{name}" for d in plain for gap, name in names]
    if lead:
        made += [f"{lead}{d}" for d in digits] + [in_math(f"{lead}{d}") for d in digits]
    return made


def _is_year(answer: Answer) -> bool:
    asked = _WHEN.search(answer.question) is not None
    return asked and re.fullmatch(r"1\d\d\d|20\d\d", answer.text) is not None


def _ratio(text: str) -> list[str]:
    terms = re.split(r"\s*[:：∶]\s*", text)
    if len(terms) < 2 or not all(re.fullmatch(r"\d+(?:\.\d+)?", term) for term in terms):
        return []
    return [joint.join(terms) for joint in (":", " : ", "∶", "：", "比", " to ")]


def spelled_out(number: Number, question: str = "") -> list[str]:
    """The number in words of both languages, one half in its own words."""
    if number.radicand > 1 or number.pi:
        return []
    size = number.factor
    made = [numerals.chinese(size), numerals.english(size)]
    if size.denominator != 1 and size.denominator <= 100:
        made.append(numerals.chinese_fraction(size))
    if size == Fraction(1, 2) and not _ASKS_PERCENT.search(question):
        made += ["一半", "half"]
    return [text for text in made if text]


def _rationals(size: Fraction, question: str, *, bare: bool) -> Iterator[str]:
    if size.denominator == 1:
        yield from _whole(size)
        if bare and _WHAT_PERCENT.search(question):
            yield f"{size}%"
    else:
        yield from _broken(size, question)
        if bare and abs(size) < 1:
            yield from _percent(size, question)


def _whole(size: Fraction) -> Iterator[str]:
    yield from (f"{size}", f"{size}.0", f"{size}.00")
    if abs(size) >= 1000:
        yield f"{int(size):,}"
    if abs(size) >= 10_000:
        yield from _scientific(size)


def _broken(size: Fraction, question: str) -> Iterator[str]:
    decimals = numerals.decimal(size)
    if decimals is not None:
        yield decimals
        if not _ROUND.search(question):
            yield f"{decimals}0"
    if max(abs(size.numerator), size.denominator) <= MAX_TERMS:
        yield from _fractions(size)
    if abs(size) < Fraction(1, 100):
        yield from _scientific(size)


def _percent(size: Fraction, question: str) -> Iterator[str]:
    percent = numerals.decimal(size * 100)
    if percent is not None and len(percent) <= 6:
        yield from (f"{percent}%", f"{percent}\\%")
        if _WHAT_PERCENT.search(question):
            yield percent
        if percent[0] != "-":
            yield from (f"百分之{percent}", f"{percent} percent")


def _fractions(size: Fraction) -> Iterator[str]:
    sign, top, bottom = ("-" if size < 0 else ""), abs(size.numerator), size.denominator
    yield from (f"{sign}{top}/{bottom}", f"{sign}\\frac{{{top}}}{{{bottom}}}")
    yield f"{sign}\\dfrac{{{top}}}{{{bottom}}}"
    if top > bottom:
        whole, rest = divmod(top, bottom)
        yield f"{sign}{whole}\\frac{{{rest}}}{{{bottom}}}"


def _scientific(size: Fraction) -> Iterator[str]:
    power = math.floor(math.log10(abs(size)))
    mantissa = numerals.decimal(size / Fraction(10) ** power)
    if mantissa is not None and len(mantissa) <= 6:
        yield from (f"{mantissa}×10^{{{power}}}", f"{mantissa} \\times 10^{{{power}}}")
        yield f"{mantissa}e{power}"


def _irrationals(number: Number) -> list[str]:
    sign, size = ("-" if number.factor < 0 else ""), abs(number.factor)
    top, bottom, r = size.numerator, size.denominator, number.radicand
    count = "" if top == 1 else str(top)
    tail = f"/{bottom}" if bottom > 1 else ""
    plain = count + f"√{r}" * (r > 1) + "π" * number.pi
    star = [str(top)] * (top > 1) + [f"sqrt({r})"] * (r > 1) + ["pi"] * number.pi
    latex = count + f"\\sqrt{{{r}}}" * (r > 1) + "\\pi" * number.pi
    made = [f"{sign}{plain}{tail}", f"{sign}{'*'.join(star)}{tail}"]
    made.append(f"{sign}\\frac{{{latex}}}{{{bottom}}}" if bottom > 1 else f"{sign}{latex}")
    if bottom > 1:
        rest = latex.removeprefix(count)
        made += [
            f"{sign}\\frac{{{top}}}{{{bottom}}}{rest}",
            f"{sign}({top}/{bottom}){plain[len(count) :]}",
        ]
    if r > 1 and bottom == 1 and top > 1 and not number.pi:
        made += [f"{sign}√{top * top * r}", f"{sign}\\sqrt{{{top * top * r}}}"]
    if r == 1 and (decimals := numerals.decimal(size)) and bottom > 1:
        made.append(f"{sign}{decimals}π")
    return [*made, *([f"{sign}{count}根号{r}"] if r > 1 and bottom == 1 and not number.pi else [])]


def _measured(found: Read, digits: list[str], answer: Answer) -> list[str]:
    """The number with its unit under other names, and alone where the question states the unit."""
    names = [(found.gap, found.unit), *units.spellings(found.unit)]
    made = [f"{found.lead}{d}{gap}{name}" for gap, name in names for d in (found.body, *digits[:3])]
    words = spelled_out(found.number)
    if HAN.search(found.unit):
        counted = ["两" if word == "二" else word for word in words if HAN.search(word)]
        made += [f"{word}{found.unit}" for word in counted]
    elif units.named(found.unit) is None:
        made += [f"{word} {found.unit}" for word in words if word.isascii()]
    symbol = found.gap + found.unit
    if found.unit.isascii() and re.fullmatch(r"[A-Za-z/]+", found.unit):
        made += [f"${d}\\ \\text{{{found.unit}}}$" for d in digits[:2]]
    if found.unit == "°":
        made += [f"{digits[0]}^\\circ", f"${digits[0]}^{{\\circ}}$"]
    if units.asked_unit(answer.question) == found.unit:
        made += [*digits[:3], *words]
    return [text for text in made if text != found.lead + found.body + symbol]


def _converted(found: Read) -> list[str]:
    unit = units.named(found.unit)
    if unit is None or found.number.radicand > 1 or found.number.pi:
        return []
    made = []
    for other in units.alike(unit):
        decimals = numerals.decimal(found.number.factor * unit.size / other.size)
        if decimals is not None and len(decimals.strip("-").replace(".", "")) <= 6:
            made.append(f"{found.lead}{decimals}{found.gap}{units.sister(found.unit, other)}")
    return made


# --- another number -------------------------------------------------------------------------------


def near(rng: random.Random, answer: Answer) -> list[str]:
    """Other numbers, written as this one is."""
    text = answer.text
    found = read(text)
    made = numeral_edits(rng, text)
    if _is_year(answer):
        return [year for year in made if len(year) == len(text)]
    if found is None or not (found.number.factor or made):
        return made
    if not made:
        return _other_words(rng, found)
    made += [turned(text)] if found.number.factor and not found.unit + found.lead else []
    if upside := _upside_down(found):
        made.append(found.lead + upside + found.gap + found.unit)
    unit = units.named(found.unit)
    if unit is not None and (others := units.alike(unit)):
        other = units.sister(found.unit, rng.choice(others))
        made.append(f"{found.lead}{found.body}{found.gap}{other}")
    return made


def _upside_down(found: Read) -> str | None:
    """The reciprocal of a fraction, in its notation; an integer's would be told by its looks."""
    size = found.number.factor
    match = FRACTION.fullmatch(found.body)
    if match is None or abs(size.numerator) < 2:
        return None
    terms = [match["a"] or match["c"], match["b"] or match["d"]]
    return re.sub(r"\d+", lambda _: terms.pop(), found.body)


def _other_words(rng: random.Random, found: Read) -> list[str]:
    size, chinese = found.number.factor, bool(HAN.search(found.body))
    step = 1 if size.denominator == 1 else Fraction(1, size.denominator)
    moved = {size + step, abs(size - step), size + step * rng.randint(2, 9), size * 10} - {size}
    spell = numerals.chinese if chinese else numerals.english
    made = [spell(new) for new in sorted(moved) if new.denominator == size.denominator]
    return [f"{found.lead}{word}{found.gap}{found.unit}" for word in made if word]
