"""Compare a quantity with those that a response states in a running text of either language.

Of the numbers of a response the answer is one that measures what the reference measures, and that
the question does not give. The reference among them is the answer, unless another competes with it;
others, and the reference nowhere, are a different answer.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, NamedTuple

from gradegpt.answers.amounts import PAST_NOON, Amount, amounts
from gradegpt.answers.number import roman
from gradegpt.answers.options import half_width
from gradegpt.answers.quantity import quantity
from gradegpt.answers.spans import sentences
from gradegpt.answers.text import plain
from gradegpt.answers.times import DATE, MULTIPLE, ORDINAL, PAID, TIME, same_kind
from gradegpt.answers.types import Quantity
from gradegpt.answers.units import (
    CELSIUS,
    COUNT,
    DEGREES,
    MONEY,
    MONTHS,
    PIECE,
    SHARE,
    YEAR,
    factor,
    known,
    unit_at,
    unit_called,
)
from gradegpt.rules.compare.base import Shown
from gradegpt.rules.bind import AT, Mention
from gradegpt.rules.stance import (
    alone,
    clauses,
    commitment,
    denies,
    goes_on,
    negated,
    revises,
    takes_back,
)
from gradegpt.rules.tolerance import EXACT, Tolerance

_COUNTED: Final = (COUNT, PIECE, *MONEY, MONTHS, YEAR, SHARE)
_SAID_BARE: Final = (*MONEY, MONTHS, DEGREES, CELSIUS, ORDINAL, MULTIPLE)
"""What a reference may give as a number alone: a price, an age, how many times."""
_SAID_ALONE: Final = (*MONEY, DEGREES, CELSIUS)
"""What a later number may say without its unit: "$60 comes off, which leaves twenty"."""
_EXACT: Final = (YEAR, ORDINAL, TIME, "century", "decade", PAID, MULTIPLE)
_NEAR: Final = Fraction(2, 100)
"""Relative difference of rounded or converted quantities that are the same."""
_FAR: Final = Fraction(5, 100)
"""Relative difference from which on they are different."""
_MOST_REST: Final = 2
_FEW: Final = 10
"""Numbers below it often count something else: two of them."""
_FEW_DIGITS: Final = 3


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_REST = _re(
    r"\b(?:about|around|roughly|approximately|some|the|of|an?|per|each|every|in|at|to|and|old|from"
    r"|between|by|all|total|people|symphony|[ap]\.?m)\b"
    r"|[晚早]上|[上下]午|凌晨|左右|[约大概近每共计为是到至从在公元]|[\W_]"
)
_FORMULA = re.compile(
    r"[\\=π√∞!_{}\[\]<>≤≥]|\^(?!\{?-?\d)|[a-z]\^|\b[a-z] ?\(|\d[a-z]\b(?<![kmgLsVAWJNtL])"
    r"|[-−+*/^]\s*[(（]"
)
"""Signs of a reference that is more than a number and its unit."""
_WORKED = re.compile(r"\\[a-z]|```|####|<<")
"""Signs of a calculation, which is read elsewhere."""
_BEYOND = _re(r"低于|高于|大于|小于|以上|以下|\b(?:below|above|outside|less|more|not)\b|不在")
_ASKS_THE_CUT = _re(
    r"(?:便宜|优惠|[降减省])了?(?:多少|几|百分)|\b(?:by what|how (?:big|large)|discount|reduc|sav)"
)
_ROUGHLY = _re(r"约|大概|多少左右|\b(?:approximate|rough|about how|estimat|nearly)")
_WHEN = _re(r"\byear\b|\bwhen\b|年份|哪一?年|何年|何时|什么时候")
_ASKED = _re(r"(?:\bhow many|\bin|多少|几) ?(?P<unit>[a-z²]+(?: [a-z]+)?|[\u3400-\u9fff]{1,4})")
_ANOTHER_YEAR = _re(
    r"\b(?:following|next|previous|last|year (?:before|after|later|earlier))\b"
    r"|[次翌前后去明]年|第二年"
)
_AGE = _re(r"\bhow old\b|\bages?\b|多大|年龄|岁")
_FINALLY = _re(r"(?:final answer|最终答案)(?: is|\W)")
_CALCULATION = re.compile(r"[\d)] ?(?:[*+÷/]|×(?! ?10[⁻⁰-⁹^¹²³])) ?[\d(]")
_RANGE = _re(
    r"\s*(?:[-–—~～到至比:]|to|through|and|and about)\s*(?:\w\w)?\Z|\s*[到至]?[早晚凌]?[上晨]?\Z"
)
_ALONE = re.compile(
    r"\s*(?:[,.;:!?，。；：！？）)*]|\Z|(?:in all|altogether|in total|or so|左右)\b)"
)
_ASIDE = re.compile(r"[(（][^()（）]*[)）]|[\"“《][^\"”》]*[\"”》]")
_CONCLUDES = _re(
    r"\b(?:so|thus|hence|therefore|altogether|total|in all|comes? to|answer|overall|works out"
    r"|which (?:makes|gives|means)|that(?:'s| is| makes))\b"
    r"|所以|因此|因而|于是|总共|一共|合计|答案|最后|也就是|即|得到|应该?是|="
)
_CHANGED = _re(
    r"[增减降涨升跌翻]|\b(?:r[io]se|gr[eo]w|go(?:es|ne)? up|went up|f[ae]ll|drop|declin|increas"
    r"|decreas|reduc|cut)"
)
_TO_A_SHARE = _re(r"(?:[到至为剩]|\bto)\s*(?:about |just |only |约|仅)?\Z")
"""What makes a share that of the whole after a change, and not that of the change."""
_WAY = _re(
    r"[向朝往沿][东南西北上下左右前后正负反]|方向|反向|亏|欠|支出|零下|低于"
    r"|\b(?:north|south|east|west|up|down|left|right|back|for)(?:wards?|ern|erly)?\b"
    r"|\b(?:opposite|below|loss|lost|debt|direction)\b"
)
"""Words for a direction, which a sign may say as well."""
_TOTAL = _re(r"倍|\btimes\b|fold\b")
_YEAR = re.compile(r"(?:1\d|20)\d\d")
_CLOCK = _re(r"\d{1,2}(?::\d\d)? ?[ap]\.? ?m\.?|[012]?\d:0\d")
_SPAN = re.compile(r"(\d{1,3}(?:\.\d+)?) ?(?:[-–—~～到至]|to\b) ?(\d{1,3}(?:\.\d+)?)")
_BEARING = _re(r"[东南西北]偏[东南西北]|\b(?:north|south|east|west) of |\b[NS]\s*\d+\s*°\s*[EW]\b")


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
    if _FORMULA.search(reference) or _WORKED.search(response):
        return None
    wanted = _wanted(reference, question)
    if len(wanted) == 2:
        return _range(wanted, response, question, tolerance)
    said = _answers(response)
    if len(wanted) != 1 or _by_or_to(wanted[0], reference, said, response):
        return None
    read = _Read(question, response, wanted[0], tolerance)
    asked = amounts(question)
    judged = [(a, _same(read, a)) for a in said]
    given = [a for a, _ in judged if _is_given(a, read, asked)]
    judged = [(a, same) for a, same in judged if a not in given]
    equal, other, near, weak = (
        [a for a, same in judged if same == how] for how in ("same", "other", "near", "weak")
    )
    rivals = [*other, *near, *(a for a in weak if a.measures == PAID)]
    if wanted[0].measures in _SAID_ALONE:
        rivals += [a for a, _ in judged if a.measures == COUNT and a.number >= _FEW]
    if equal:
        committed = rivals and revises(response)
        return (_committed if committed else _given)(equal, rivals, response)
    if near or _CALCULATION.search(response):
        return None
    others = other or weak
    if not others:
        others = [a for a in given if a.unit != wanted[0].unit and _same(read, a) == "other"]
    if abs(wanted[0].number) > 2 * _FEW and len(judged) > 1:
        others = [a for a in others if a.measures != COUNT or a.number >= _FEW]
    one_kind = bool(other) and wanted[0].measures not in (COUNT, PIECE)
    if not others or not (one_kind or len({a.value for a in others}) == 1):
        return None
    return Shown(False, "number:different", others[-1].start, others[-1].end)


_THOUSANDS = re.compile(r"\d+(?:\.\d+)?[kK]")
"""A number of thousands, or of a unit or an unknown."""


_SIGNED_SIZE = re.compile(r"(?P<sign>[-−])?\s*(?P<size>\d.*)")
_WAY = re.compile(r"[东南西北上下左右]|方向|亏|支出|零下|\b(?:north|south|east|west|up|down|left|right|below|loss|lost|opposite)\b", re.IGNORECASE)
"""Words for a direction, which a sign may say as well."""


def by_sense(reference: str, response: str, question: str, found: str) -> tuple[bool, Shown | None]:
    """Whether equal signs may mean different things, and what the quantities then show.

    Clock times and ranges (no products, no differences), a year ``found`` beside the quantity,
    Roman numerals, Mb and MB, by how much something grew and to what, and bearings.
    """
    ends, given = (_SPAN.fullmatch(text.strip(" .。")) for text in (reference, response))
    if (ends and float(ends[1]) < float(ends[2])) or _CLOCK.fullmatch(reference.strip()):
        return True, compare_amounts(reference, response, question, EXACT)
    if given and float(given[1]) < float(given[2]):
        return len(re.findall(r"[\d.]+", reference)) == 1, None
    if _YEAR.fullmatch(found) and found != response and not _YEAR.search(reference):
        shown = compare_amounts(reference, response.replace(found, "    "), question, EXACT)
        return shown is not None and shown.same and response.find(found) < shown.start, shown
    if _TOTAL.search(reference):
        return bool(_CHANGED.search(response)) and not _CHANGED.search(question + reference), None
    if _BEARING.search(reference):
        return plain(reference) not in plain(response), None
    sizes = [_SIGNED_SIZE.fullmatch(text.strip()) for text in (reference, found)]
    if all(sizes) and len({m["sign"] or "" for m in sizes if m}) > 1 and _WAY.search(response):
        return sizes[0]["size"] == sizes[1]["size"] if sizes[0] and sizes[1] else False, None
    if "roman" in question.lower() and roman(reference):
        return reference.strip() not in response, None
    one, other = roman(reference.strip()), roman(found.strip())
    return bool(one and other and one != other) or bool(_THOUSANDS.fullmatch(found.strip())), None


def _by_or_to(wanted: Amount, reference: str, said: list[Amount], response: str) -> bool:
    """Whether one says by which share something changed, and the other to which."""
    alike = [a for a in said if a.measures == wanted.measures] or said
    kinds = {wanted.measures, *(a.measures for a in alike)}
    if not _CHANGED.search(response) or kinds not in ({SHARE}, {SHARE, MULTIPLE}):
        return False
    to = {bool(_TO_A_SHARE.search(response, 0, a.start)) for a in alike}
    return len(kinds) > 1 or to != {bool(_TO_A_SHARE.search(reference, 0, wanted.start))}


def _wanted(reference: str, question: str) -> list[Amount]:
    """The quantity of a reference that says hardly more, or the two ends of its range."""
    found = amounts(reference)
    if not found or denies(reference):
        return []
    rest = reference
    for amount in reversed(found):
        rest = rest[: amount.start] + " " + rest[amount.end :]
    beside = _REST.sub(" ", rest).split()
    words = [w for w in beside if w.lower() not in question.lower()]
    if any(map(known, beside)) or any(re.fullmatch(r"[A-Za-zμµΩ°]{1,3}", w) for w in words):
        return []  # an unknown unit
    left = [char for w in words for char in w if w.isascii() or char not in question]
    first, *more = [_as_asked(a, question) for a in found]
    if len(left) > _MOST_REST:
        return []
    if all(_alike(first, other) for other in more):
        return [first]
    between = _RANGE.match(reference[first.end : more[0].start])
    return [first, *more] if len(more) == 1 and between else []


def _as_asked(amount: Amount, question: str) -> Amount:
    """A number without a unit gets that of the question: years, ages, how many seconds."""
    if amount.measures == COUNT and 1000 <= amount.number < 2100 and _WHEN.search(question):
        return amount._replace(measures=YEAR)
    if amount.measures == COUNT and amount.unit == 1:
        asked = (unit_at(found["unit"]) for found in _ASKED.finditer(question))
        unit = next((found[0] for found in asked if found), None)
        unit = unit_called("years") if _AGE.search(question) else unit
        if unit is not None:
            value, size = amount.value * unit.size, unit.size
            return amount._replace(measures=unit.measures, value=value, unit=size)
    if amount.measures == TIME and not amount.half and PAST_NOON.search(question):
        return amount._replace(half="am")
    return amount._replace(rough=amount.rough or bool(_ROUGHLY.search(question)))


def _alike(one: Amount, other: Amount) -> bool:
    converted = one.unit != other.unit and one.measures not in _EXACT
    allowed = _NEAR * abs(one.value) if converted else 0
    return one.measures == other.measures and abs(one.value - other.value) <= allowed


def _answers(response: str) -> list[Amount]:
    """The quantities outside of brackets and "at x = 2", after "final answer" if that is said."""
    asides = [match.span() for match in _ASIDE.finditer(response)]
    said = [
        a
        for a in amounts(response)
        if not any(start <= a.start < end for start, end in asides)
        and not AT.search(response[max(0, a.start - 12) : a.start])
    ]
    since = max((match.end() for match in _FINALLY.finditer(response)), default=0)
    return [a for a in said if a.start >= since] or said


def _is_given(amount: Amount, read: _Read, asked: list[Amount]) -> bool:
    """Whether the question has this quantity, and it is not the answer all the same."""
    equal = amount.value == read.wanted.value
    if equal and amount.unit == read.wanted.unit:
        return False
    return any(
        (a.measures == amount.measures and a.value == amount.value
         and (not equal or a.unit == amount.unit))
        or (COUNT in (a.measures, amount.measures) and a.number == amount.number and not equal)
        for a in asked
    )  # fmt: skip


def _same(read: _Read, given: Amount) -> str:
    """``same``, ``other``, ``near`` (open), ``unlike``; ``weak``: other if nothing else is said."""
    wanted = read.wanted
    kinds = {wanted.measures, given.measures}
    if DATE in kinds:
        return _dates(wanted, given, read.response)
    if wanted.measures == TIME and wanted.half and given.half and wanted.half != given.half:
        return "other" if len(kinds) == 1 else "unlike"
    if len(kinds) == 1 or kinds <= {DEGREES, CELSIUS}:
        return _sizes(wanted, given, read)
    equal = wanted.number == given.number
    if kinds == {SHARE, PAID}:
        off = given.measures == PAID and _ASKS_THE_CUT.search(read.question)
        right = (1 - wanted.value,) if off else (wanted.value, 1 - wanted.value)
        return "same" if given.value in right else "weak"
    if PIECE in kinds and kinds <= {PIECE, COUNT, *MONEY}:
        one, other = (a._replace(value=a.number, unit=Fraction(1)) for a in (wanted, given))
        return _sizes(one, other, read)
    if wanted.measures == SHARE and wanted.unit == 1 and given.number < 1:
        return "same" if equal else "weak"
    if given.measures == COUNT:
        counted = wanted.measures in _COUNTED and given.number >= _FEW
        if not _ALONE.match(read.response, given.end):
            return "unlike"
        return "same" if equal else "weak" if counted else "unlike"
    if wanted.measures == COUNT:
        return "same" if equal and given.measures in _SAID_BARE else "unlike"
    return "near" if equal and kinds <= {*MONEY} else "unlike"  # in another currency


def _dates(wanted: Amount, given: Amount, response: str) -> str:
    if wanted.measures == given.measures:
        same = same_kind(Quantity(wanted.value, DATE), Quantity(given.value, DATE))
        year = str(int(wanted.value) // 10_000)
        if same is None and given.value < 10_000 and len(year) == 4 and year in response:
            return "near" if _ANOTHER_YEAR.search(response) else "same"
        return {True: "same", False: "other", None: "near"}[same]
    years = [int(a.value) // (10_000 if a.measures == DATE else 1) for a in (wanted, given)]
    if YEAR not in (wanted.measures, given.measures) or not all(years):
        return "unlike"
    return "other" if years[0] != years[1] else "same" if wanted.measures == YEAR else "unlike"


def _sizes(wanted: Amount, given: Amount, read: _Read) -> str:
    if wanted.value == given.value:
        return "same"
    if wanted.measures in _EXACT:
        return "other"
    turned = wanted.value == -given.value and _WAY.search(f"{read.question} {read.response}")
    if turned or (wanted.measures == SHARE and wanted.value + given.value == 1):
        return "near"  # what is left of the whole
    gap = abs(wanted.value - given.value) / (abs(wanted.value) or 1)
    ratio = wanted.unit / given.unit
    rounds = not {*str(ratio.numerator), *str(ratio.denominator)} <= {"0", "1"}
    if wanted.rough or given.rough or rounds:
        return _roughly(wanted, given, gap)
    pair = (
        Quantity(a.value / wanted.unit, place=a.place and a.place / wanted.unit)
        for a in (wanted, given)
    )
    return {True: "same", False: "other", None: "near"}[read.tolerance.allows(*pair)]


def _roughly(wanted: Amount, given: Amount, gap: Fraction) -> str:
    """Quantities of which one is rounded; "over 70" is not below it."""
    precise = min(map(_digits, (wanted, given))) > _FEW_DIGITS
    same, other = (_NEAR / 2, _NEAR) if precise else (_NEAR, _FAR)
    if given.side:
        beyond = (wanted.value - given.value) * given.side
        same = same * 2 if beyond > 0 else Fraction(0)
        if 0 < beyond < given.unit * 10 ** (len(str(int(given.number))) - _digits(given)):
            other = max(other, gap * 2)  # 63.5 is 六十多
    return "same" if gap <= same else "near" if gap < other else "other"


def _digits(amount: Amount) -> int:
    """The number of digits that are written, without final zeros."""
    places = amount.number / (amount.place / amount.unit if amount.place else 1)
    return len(str(abs(int(places))).rstrip("0"))


def _range(
    wanted: list[Amount], response: str, question: str, tolerance: Tolerance
) -> Shown | None:
    """Whether the only two quantities of their kind in a sentence are the ends of a range."""
    if _BEYOND.search(response):
        return None
    every, read = _answers(response), [_Read(question, response, w, tolerance) for w in wanted]
    for start, end in sentences(response):
        said = [a for a in every if start <= a.start < end]
        said = [a for a in said if _same(read[0], a) in ("same", "other", "near")]
        if len(said) != len(wanted):
            continue
        same = [_same(*pair) for pair in zip(read, said, strict=True)]
        if set(same) == {"same"}:
            return Shown(True, "number:equal", said[0].start, said[-1].end)
        if "other" in same and len(amounts(response)) == len(said):
            return Shown(False, "number:different", said[0].start, said[-1].end)
    return None


def _committed(equal: list[Amount], rivals: list[Amount], response: str) -> Shown | None:
    """The quantity to which a response commits that denies, revises or attributes some."""
    text, sizes = half_width(response), {a.start: a.value for a in (*equal, *rivals)}
    named = [Mention(text[a.start : a.end], a.start, a.end) for a in sorted((*equal, *rivals))]
    last = commitment(
        text, clauses(text, named), lambda one, other: sizes[one.start] == sizes[other.start]
    )
    if last is None or not alone(text, last):
        return None
    start, end = last.mention.start, last.mention.end
    equals = any(a.start == start for a in equal)
    return Shown(equals, "number:equal" if equals else "number:different", start, end)


def _given(equal: list[Amount], rivals: list[Amount], response: str) -> Shown | None:
    """The quantity as the answer, unless another stands in the sentence that concludes."""
    text, best = half_width(response), equal[-1]
    (clause,) = clauses(text, [Mention("", best.start, best.end)])
    if takes_back(response, best.end) or negated(text, clause) or goes_on(text, clause):
        return None
    spans = sentences(response)
    there, (at,) = (
        {next((n for n, (_, end) in enumerate(spans) if a.start < end), 0) for a in those}
        for those in (rivals, [best])
    )
    later = [n for n in there if n > at]
    concluded = later and (at or any(_CONCLUDES.search(response, *spans[n]) for n in later))
    return None if at in there or concluded else Shown(True, "number:equal", best.start, best.end)
