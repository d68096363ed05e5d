"""Compare a quantity with those that a response states in a running text of either language.

Of the numbers of a response the answer is one that measures what the reference measures, and that
the question does not give. The reference among them is the answer, unless another competes with it;
others, and the reference nowhere, are a different answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from gradegpt.answers import units
from gradegpt.answers.amounts import PAST_NOON, Amount, amounts
from gradegpt.answers.number import numeral, roman
from gradegpt.answers.spans import sentences
from gradegpt.answers.text import plain
from gradegpt.answers.times import DATE, MULTIPLE, ORDINAL, PAID, TIME, same_kind
from gradegpt.answers.types import Quantity
from gradegpt.answers.units import COUNT, MONEY, SHARE, YEAR
from gradegpt.rules.bind import AT, WHEN
from gradegpt.rules.compare.base import Shown
from gradegpt.rules.cues import cue
from gradegpt.rules.stance import EITHER, denies, leaves_undecided, revises, takes_back
from gradegpt.rules.tolerance import EXACT, Tolerance

_SAID_ALONE: Final = (*MONEY, units.DEGREES, units.CELSIUS)
"""What a later number may say without its unit: "$60 comes off, which leaves twenty"."""
_EXACT: Final = (YEAR, ORDINAL, TIME, "century", "decade", PAID, MULTIPLE)
_ROUNDED, _FAR = Fraction(1, 100), Fraction(5, 100)
"""Relative differences of rounded or converted quantities that are the same, or that differ."""
_MOST_REST: Final = 2
_FEW: Final = 10
"""Numbers below it often count something else: two of them."""


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_REST, _AGE, _BEYOND = map(cue, ("beside a quantity", "asks for an age", "beyond"))
_CHANGED = cue("change")
_WAY, _TOTAL, _BEARING = map(cue, ("direction", "multiple", "bearing"))
_FORMULA = _re(r"[\\=π√∞!_{}\[\]<>≤≥]|\^(?!\{?-?\d)|[a-z]\^|\b[a-z] ?\(|\d[xyn]\b|[-−+*/^]\s*[(（]")
"""Signs of a reference that is more than a number and its unit."""
_RANGE = _re(r"\s*(?:[-–—~～到至比:]|to|through|and|and about)\s*(?:\w\w)?\Z")
_WORKED = re.compile(r"```|####|<<|[\d)] ?(?:[*+÷/]|×(?! ?10[⁻⁰-⁹^¹²³])) ?[\d(]")
"""Signs of a calculation, which is read elsewhere."""
_ASIDE = re.compile(r"[(（][^()（）]*[)）]|[\"“《][^\"”》]*[\"”》]")
_TO = _re(r"(?:[到至为剩]|\bto)\s*(?:about |just |only |约|仅)?\Z")
"""What makes a share that of the whole after a change, and not that of the change."""


class _Read(NamedTuple):
    """What the comparison looks at: the texts, the quantity wanted, and the policy."""

    question: str
    response: str
    wanted: Amount
    tolerance: Tolerance


def compare_amounts(
    reference: str, response: str, question: str, tolerance: Tolerance
) -> Shown | None:
    """Whether the response states the quantity of the reference; None if that is not shown."""
    wanted = [] if _FORMULA.search(reference) or "\\" in response else _wanted(reference, question)
    read = [_Read(question, response, amount, tolerance) for amount in wanted]
    if len(read) != 1:
        return _range(read, response) if len(read) == 2 else None
    due, asked = wanted[0], amounts(question)
    if due.measures in (SHARE, MULTIPLE) and _change_unlike(question + reference, response):
        return None
    said = [a for a in _answers(response) if a.value == due.value or not _is_given(a, asked)]
    judged = [(a, _same(read[0], a)) for a in said]
    equal, other, near = ([a for a, how in judged if how == h] for h in ("same", "other", "near"))
    if equal:
        best, changed = equal[-1], due.measures == SHARE and _CHANGED.search(response)
        to = bool(_TO.search(response, 0, best.start)), bool(_TO.search(reference, 0, due.start))
        money = due.measures in _SAID_ALONE
        counts = [a for a in said if money and a.measures == COUNT and a.number >= _FEW]
        unlike = changed and to[0] is not to[1]
        return None if unlike else _given(best, [*other, *near, *counts], response)
    one_kind = due.measures not in (COUNT, units.PIECE) or len({a.value for a in other}) == 1
    if near or not other or not one_kind or _WORKED.search(response):
        return None
    return Shown(False, "number:different", other[-1].start, other[-1].end)


def _change_unlike(asked: str, response: str) -> bool:
    """Whether only the response speaks of a change: grown by 300 % is four times as much."""
    return bool(_CHANGED.search(response)) and not _CHANGED.search(asked)


def _wanted(reference: str, question: str) -> list[Amount]:
    """The quantity of a reference that says hardly more, or the two ends of its range."""
    found, rest = amounts(reference), reference
    if not found or denies(reference):
        return []
    for amount in reversed(found):
        rest = rest[: amount.start] + " " + rest[amount.end :]
    beside = _REST.sub(" ", rest).split()
    words = [w for w in beside if w.lower() not in question.lower()]
    left = [char for w in words for char in w if w.isascii() or char not in question]
    unit = any(map(units.known, beside)) or any(w.isascii() and len(w) <= 3 for w in words)
    if unit or len(left) > _MOST_REST:
        return []  # an unknown unit, or more than a quantity
    first, *more = [_as_asked(a, question) for a in found]
    if all((first.measures, first.value) == (a.measures, a.value) for a in more):
        return [first]
    between = _RANGE.match(reference[first.end : more[0].start])
    return [first, *more] if len(more) == 1 and between else []


def _as_asked(amount: Amount, question: str) -> Amount:
    """With what only the question says: that a number is an age, a year, or a time before noon."""
    if amount.measures == COUNT and amount.unit == 1 and _AGE.search(question):
        years = units.unit_called("years")
        return amount._replace(
            measures=years.measures, value=amount.value * years.size, unit=years.size
        )
    if amount.measures == COUNT and 1000 <= amount.value <= 2100 and WHEN.search(question):
        return amount._replace(measures=YEAR)
    before_noon = amount.measures == TIME and not amount.half and PAST_NOON.search(question)
    return amount._replace(half="am") if before_noon else amount


def _answers(response: str) -> list[Amount]:
    """The quantities outside of brackets and "at x = 2"."""
    asides = [match.span() for match in _ASIDE.finditer(response)]
    return [
        a
        for a in amounts(response)
        if not any(start <= a.start < end for start, end in asides)
        and not AT.search(response[max(0, a.start - 12) : a.start])
    ]


def _is_given(amount: Amount, asked: Sequence[Amount]) -> bool:
    """Whether the question has this quantity, or its number."""
    return any(
        (a.measures, a.value) == (amount.measures, amount.value)
        or (COUNT in (a.measures, amount.measures) and a.number == amount.number)
        for a in asked
    )


def _same(read: _Read, given: Amount) -> str:
    """``same``, ``other``, ``near`` (open), or ``unlike`` for what measures something else."""
    wanted = read.wanted
    kinds = {wanted.measures, given.measures}
    if kinds == {DATE}:
        same = same_kind(Quantity(wanted.value, DATE), Quantity(given.value, DATE))
        return {True: "same", False: "other", None: "near"}[same]
    if kinds == {TIME} and wanted.half and given.half and wanted.half != given.half:
        return "other"
    if len(kinds) == 1 or kinds <= {units.DEGREES, units.CELSIUS}:
        return _sizes(read, given)
    if kinds == {SHARE, PAID}:
        return "near"  # 30% off, or 70 % of the price
    return "unlike"


def _sizes(read: _Read, given: Amount) -> str:
    """The same for two quantities of one kind."""
    wanted = read.wanted
    if wanted.value == given.value:
        return "same"
    if wanted.measures in _EXACT:
        return "other"
    said = f"{read.question} {read.response}"
    turned = wanted.value == -given.value and (_WAY.search(said) or _CHANGED.search(said))
    if turned or (wanted.measures == SHARE and wanted.value + given.value == 1):
        return "near"  # what is left of the whole
    ratio = wanted.unit / given.unit
    rounds = not {*str(ratio.numerator), *str(ratio.denominator)} <= {"0", "1"}
    if not (wanted.rough or given.rough or rounds):
        pair = (
            Quantity(a.value / wanted.unit, place=a.place and a.place / wanted.unit)
            for a in (wanted, given)
        )
        return {True: "same", False: "other", None: "near"}[read.tolerance.allows(*pair)]
    gap = abs(wanted.value - given.value) / (abs(wanted.value) or 1)
    beyond = (wanted.value - given.value) * given.side
    if gap <= _ROUNDED and beyond >= 0:
        return "same"
    return "near" if gap < _FAR or beyond > 0 else "other"  # over 70: how much is not said


def _range(read: list[_Read], response: str) -> Shown | None:
    """Whether the only two quantities of their kind in a sentence are the ends of a range."""
    every = [] if _BEYOND.search(response) else _answers(response)
    for start, end in sentences(response):
        said = [a for a in every if start <= a.start < end]
        said = [a for a in said if _same(read[0], a) in ("same", "other", "near")]
        if len(said) != len(read):
            continue
        same = {_same(*pair) for pair in zip(read, said, strict=True)}
        if same == {"same"}:
            return Shown(True, "number:equal", said[0].start, said[-1].end)
        if "other" in same and len(amounts(response)) == len(said):
            return Shown(False, "number:different", said[0].start, said[-1].end)
    return None


def _given(best: Amount, rivals: list[Amount], response: str) -> Shown | None:
    """The quantity as the answer, unless it is denied, or its sentence or a later has another."""
    if takes_back(response, best.end) or (rivals and revises(response)):
        return None
    spans = sentences(response)
    at, *there = (
        next((n for n, (_, end) in enumerate(spans) if a.start < end), 0) for a in (best, *rivals)
    )
    concluded = at and any(n > at for n in there)
    own = spans[at] if spans else (0, len(response))
    clause = max(own[0], *(response.rfind(sign, 0, best.start) for sign in ",，;；:："))
    denied = denies(response, clause, best.start)
    either = EITHER.match(response, best.end) or leaves_undecided(response, *own)
    open_ = at in there or concluded or denied or either
    return None if open_ else Shown(True, "number:equal", best.start, best.end)


# --- equal signs of different meaning -------------------------------------------------------------

_CLOCK = _re(r"\d{1,2}(?::\d\d)? ?[ap]\.? ?m\.?|[012]?\d:0\d")
_SPAN = re.compile(r"(\d{1,3}(?:\.\d+)?) ?(?:[-–—~～到至]|to\b) ?(\d{1,3}(?:\.\d+)?)")
_THOUSANDS = re.compile(r"\d+(?:\.\d+)?[kK]")
"""A number of thousands, or of a unit or an unknown."""
_NUMBERED = re.compile(r"(?!\d{4}-\d\d?-\d\d?\Z)\d+(?:[-–]\d+)+")
"""A score or the number of a telephone, which is no difference: 4-2, 555-1234."""
_LONG: Final = 7
_VERSION = _re(r"\bversion|\brelease\b|版本")


def by_sense(reference: str, response: str, question: str, found: str) -> tuple[bool, Shown | None]:
    """Whether equal signs may mean different things, and what the quantities then show.

    Clock times and ranges (no products, no differences), a year ``found`` beside the quantity,
    Roman numerals, by how much something grew and to what, ways of a sign, bearings, scores and
    versions.
    """
    wanted, given = reference.strip(), found.strip()
    ends, said = (_SPAN.fullmatch(text.strip(" .。")) for text in (reference, response))
    if (ends and float(ends[1]) < float(ends[2])) or _CLOCK.fullmatch(wanted):
        return True, compare_amounts(reference, response, question, EXACT)
    if _NUMBERED.fullmatch(wanted) or (
        _VERSION.search(question) and re.fullmatch(r"[\d.]+", wanted)
    ):
        sign = "-" if len(wanted) < _LONG else ""  # a telephone's may be left out
        ids = [re.sub(r"\s*[-–:：]\s*", sign, text) for text in (wanted, given)]
        return True, Shown(True, "number:same-text", 0, 0) if ids[0] == ids[1] else None
    if said and float(said[1]) < float(said[2]):
        return len(re.findall(r"[\d.]+", reference)) == 1, None
    if _TOTAL.search(reference):
        return _change_unlike(question + reference, response), None
    if _BEARING.search(reference):
        return plain(reference) not in plain(response), None
    sizes = [text.lstrip("-− ") for text in (wanted, given)]
    turned = (wanted[:1] in ("-", "−")) is not (given[:1] in ("-", "−"))
    amounts_of = [number.value for text in sizes if (number := numeral(text))]
    if turned and len(amounts_of) == 2:
        both = f"{reference} {response}"
        if _WAY.search(both) or _CHANGED.search(response):
            return amounts_of[0] == amounts_of[1], None
    if "roman" in question.lower() and roman(reference):
        return wanted not in response, None
    one, other = roman(wanted), roman(given)
    return bool(one and other and one != other) or bool(_THOUSANDS.fullmatch(given)), None
