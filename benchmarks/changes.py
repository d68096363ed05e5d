"""The changes of ``changed_references.py``: references and responses that no longer match.

Each is certainly a mismatch for a human. They are made from the text alone, independently of what
the rules read or treat as equal.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain

from gradegpt.answers.options import LETTERS
from gradegpt.core.schema import Item

ANSWERS = (
    "another option", "turned truth", "leading digit", "off by one", "another number in formula",
    "another number in text", "another name",
)  # fmt: skip
"""The changes that make a different answer of the same kind."""
RESPONSES = {
    "denied": ("The answer is not {x}.", "答案不是{x}。"),
    "denied in the end": ("{r}\n\nWait, that is wrong: the answer is not {x}.",
                          "{r}\n\n等等，不对，答案不是{x}。"),
    "hedged": ("It is {x} or {y}.", "也许是{x}，也许是{y}。"),
    "hedged in the end": ("{r}\n\nOr perhaps it is {y}; I am not sure.",
                          "{r}\n\n也可能是{y}，我不确定。"),
    "revised": ("The answer is {x}. No, wait: the answer is {y}.",
                "答案是{x}。……不对，应该是{y}。"),
    "revised in the end": ("{r}\n\n... No, wait: the answer is {y}.", "{r}\n\n……不对，应该是{y}。"),
    "corrected in the end": ("{r}\n\nSorry, it should be {y}.", "{r}\n\n我算错了，应该是{y}。"),
    "quoted": ("My classmate says {x}, but I get {y}.", "有人说是{x}，我算出来是{y}。"),
    "quoted whole": ('My classmate wrote: "{r}" But I get {y}.',
                     "我同学写道：“{r}”但我算出来是{y}。"),
}  # fmt: skip
"""Templates with x the reference, y another answer, r the row's response."""
_SHORT = 40
"""The longest reference, in characters, that is put into a sentence of a response."""
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_HAN = "零一二三四五六七八九"
_TRUE, _FALSE = ("true", "yes", "correct", "对", "正确"), ("false", "no", "wrong", "错", "错误")
_PAIRS = (
    ("m", "km"), ("cm", "mm"), ("kg", "g"), ("m/s", "km/h"), ("J", "kJ"), ("N", "kN"), ("V", "mV"),
    ("hours", "minutes"), ("seconds", "hour"), ("days", "weeks"), ("years", "months"),
    ("dollars", "cents"), ("feet", "inches"), ("miles", "meters"), ("pounds", "ounces"),
    ("米", "千米"), ("厘米", "分米"), ("元", "角"), ("小时", "分钟"), ("天", "周"), ("千克", "克"),
)  # fmt: skip
_UNITS = dict(_PAIRS) | {b: a for a, b in _PAIRS}
_UNIT = re.compile(rf"(\s*)({'|'.join(sorted(_UNITS, key=len)[::-1])})(?![\w/^²³])")
_OPTIONS = re.compile(rf"\(?(?P<letters>[{LETTERS}](?:[\s,、]*[{LETTERS}])*)(?:\)(?:\s.*)?|\.?)")
_AMOUNT = re.compile(
    r"(?P<lead>[$\s]*)(?P<sign>-?)(?P<digits>\d+(?:,\d{3})*(?:\.\d+)?)(?P<rest>[^\d^+*/=<>():,，;；]*)"
)
_PLACE = re.compile(r"\s*(?:-|st|nd|rd|th|s\b|CE|BC|AD|[年月日]|.*向)")
"""The text after a number of a year, day, rank or direction, which has no sign."""
_RATIO = re.compile(r"(-?)(?:\\[dt]?frac)?\{?(\d+)\}?(?:/|(?=\{))\{?(\d+)\}?")
_NUMBER = re.compile(r"(?<![\w.])(?<!_\{)\d+(?:\.\d+)?")
_DATE = re.compile(r"[年月日]|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)")
_WORD = re.compile(r"(?!(?:sin|cos|tan|log|ln|or|and)(?![a-z]))[a-zA-Z]{2,}|[\u3400-\u9fff]")
_SIGN = re.compile(r"(?<=[\w)}])\s*([+-])\s*(?=[\w\\({])")
_POWER = re.compile(r"(?<!(?<!\d)[01])\^\{?(\d)\}?(?!\d)")
_VARIABLE = re.compile(r"(?<![\\a-zA-Z_])[abf-hj-zA-BF-Z](?![a-zA-Z(])")
_SEVERAL = re.compile(
    r"[<>≤≥,，;；:、±∪或\u3000]|\\(?:pm|c[au]p|[lg]eq?(?:slant)?|text|mathrm)(?![a-z])|\bor\b"
)
_MIXED = re.compile(r"[\u3400-\u9fff$]|(?<![\\a-zA-Z])[a-zA-Z]{4,}")
"""Words in a formula, which is then part of a sentence."""
_ORDERS = {"<": ">≤", ">": "<≥", "≤": "≥<", "≥": "≤>"}
_INTERVAL = re.compile(r"([\[(])([^,()\[\]]+),([^,()\[\]]+)([\])])")
_BRACKETS = {"[": "(", "(": "[", "]": ")", ")": "]"}
_STACK = re.compile(r"[\[\](){}<>](?:\s[\[\](){}<>])+")
"""An answer that is a sequence of brackets."""
_ENCLOSED = re.compile(r"((?:\\?[{(\[])?)(.+?)((?:\\?[})\]])?)")
_BETWEEN = re.compile(r"[,，;；、]|\bor\b|\band\b|或|和")
_WORKED = re.compile(rf"\n|=[^,，;；]*=|#|答案|选[{LETTERS}]|故|证明|略|见解析")
"""Marks of a reference with steps, two spellings, or no answer."""
_NEGATION = re.compile(r"\b(?:no|not|none|never|nor|without)\b|n't|[不没无非未否]", re.IGNORECASE)
Changes = Iterator[tuple[str, str]]
"""Pairs of a kind of change and the changed text."""


def turned(row: Item, others: Sequence[str], rng: random.Random) -> Changes:
    """Responses that do not commit to the row's reference; ``others`` are answers it is not."""
    x = row.reference[0].strip().rstrip(".。")
    unfit = ["denied"] if _NEGATION.search(x) else []  # twice denied
    unfit += ["hedged"] if _SEVERAL.search(x) else []  # "or" may join its parts
    if others and len(x) <= _SHORT:
        for kind, forms in RESPONSES.items():
            for form in forms if kind.split()[0] not in unfit else ():
                yield kind, form.format(x=x, y=rng.choice(others).rstrip(".。"), r=row.response)


def changed(row: Item, names: Sequence[Sequence[str]], rng: random.Random) -> Changes:
    """References that the row's response does not give; ``names`` are those of other rows."""
    text = row.reference[0].strip()
    word = re.sub(r"\\text|\W", "", text).lower()
    if match := _OPTIONS.fullmatch(text):
        yield from _letters(match["letters"], rng)
    elif word in (*_TRUE, *_FALSE):
        yield from (("turned truth", other) for other in (_FALSE if word in _TRUE else _TRUE))
    elif amount := _AMOUNT.fullmatch(text):
        yield from _amounts(amount, row.response, rng)
    elif _STACK.fullmatch(text):
        yield from _parts(text.split(), " ", rng)
    elif is_name(text):
        yield from chain(_texts(text, rng), _names(row, names, rng))
    else:
        bare = re.sub(r"\\left|\\right|\\[,;!]", "", text).strip("$ .")
        sign = "$" * text.startswith("$")
        for kind, other in chain(_formulas(bare, rng), _regions(bare, rng), _lists(bare, rng)):
            yield kind, f"{sign}{other}{sign}"


def _letters(text: str, rng: random.Random) -> Changes:
    named, between = re.findall(f"[{LETTERS}]", text), re.sub(f"[{LETTERS}]", "", text)[:1]
    listed = LETTERS[: max(4, LETTERS.index(max(named)) + 1)]
    absent = sorted({*listed} - {*named})
    at = rng.randrange(len(named))
    for letter in rng.sample(absent, min(2, len(absent))):
        yield "another option", between.join([*named[:at], letter, *named[at + 1 :]])
        yield "one option more", between.join([*named, letter])
    if len({*named}) > 1:
        yield "one option fewer", between.join(named[:at] + named[at + 1 :])
    if named != sorted(named):  # answers to several questions, in their order
        yield "swapped parts", between.join(sorted(named))


def _amounts(amount: re.Match[str], response: str, rng: random.Random) -> Changes:
    lead, sign, digits, rest = (part.replace(",", "") for part in amount.groups())
    old = Decimal(sign + digits)
    whole = "." not in digits and not rest.strip()
    made = [("tenfold", old * 10), ("a tenth", old / 10)]
    made += [("leading digit", Decimal(sign + d)) for d in _other_digit(digits, 0, rng)]
    made += [("another digit", Decimal(sign + d)) for d in _other_digit(digits, 1, rng)[:1]]
    made += [("off by one", old + step) for step in (1, -1) if whole]
    if not _PLACE.match(rest):
        made.append(("sign flipped", -old))
    for kind, value in made:
        spanned = re.search(rf"[-–—]{value}(?!\d)|(?<!\d){value}[-–—]", response)  # 2014–15
        if not spanned and (abs(value - old) * 20 > abs(old) or (whole and value % 1 == 0)):
            yield kind, f"{lead}{value:f}{rest}"
            if whole and 0 <= value < 100 and kind in ANSWERS:
                yield from (("another number in words", words) for words in _spelt(int(value)))
    stated = list(re.finditer(rf"(?<![\d.]){re.escape(digits)}(?![\d.]*\d)", response))
    behind = _UNIT.match(response, stated[-1].end()) if whole and stated else None
    if old and (unit := behind or _UNIT.fullmatch(rest)):
        yield "another unit", f"{lead}{sign}{digits}{unit[1]}{_UNITS[unit[2]]}"


def _other_digit(digits: str, nth: int, rng: random.Random) -> list[str]:
    """The number with another first digit, or (``nth`` is 1) with another one of the later."""
    first = next((at for at, char in enumerate(digits) if char in "123456789"), 0)
    places = [at for at, char in enumerate(digits) if char != "." and at > first]
    if nth and not places:
        return []
    at = rng.choice(places) if nth else first
    others = rng.sample([d for d in "123456789" if d != digits[at]], 2)
    return [digits[:at] + d + digits[at + 1 :] for d in others]


def _spelt(n: int) -> tuple[str, str]:
    """A whole number below 100 in both languages."""
    tens, ones = divmod(n, 10)
    in_english = _ONES[n] if n < 20 else f"{_TENS[tens - 2]}-{_ONES[ones]}".removesuffix("-zero")
    ten = "十" if tens == 1 else f"{_HAN[tens]}十" if tens else ""
    return in_english, ten + (_HAN[ones] if ones or not tens else "")


def _texts(text: str, rng: random.Random) -> Changes:
    if not _NEGATION.search(text):
        han = bool(re.search(r"[\u3400-\u9fff]", text))
        for form in ("not {}", "不是{}", "{}不成立" if han else "It is not true that it is {}"):
            yield "negated", form.format(text)
    for number in _NUMBER.finditer(text):
        new = _other_digit(number[0], 0, rng)[:1]
        if _DATE.search(text) and number[0].isdigit():
            new.append(str(int(number[0]) + 1))
        for other in new:
            yield "another number in text", text[: number.start()] + other + text[number.end() :]
    words, truths = text.split(), text.split(", ")
    if len(words) > 4 and text.islower() and words == sorted(words):
        yield from _parts(words, " ", rng)
    if len(truths) > 1 and {*truths} <= {"yes", "no"}:
        yield from _parts(truths, ", ", rng)
        yield "turned truth", ", ".join(["no" if truths[0] == "yes" else "yes", *truths[1:]])


def _names(row: Item, names: Sequence[Sequence[str]], rng: random.Random) -> Changes:
    """Names of other rows, the first name with another last name, and names in the question."""
    first, _, last = row.reference[0].strip().rpartition(" ")
    for other in rng.sample(names, min(3, len(names))):
        if not any(_within(a, b) for a in other for b in (*row.reference, row.response)):
            yield "another name", other[0].strip()
        new = other[0].split()[-1]
        if first.istitle() and last.istitle() and not _within(new, f"{row.response} {last}"):
            yield "another last name", f"{first} {new}"
    if " or " not in row.question:
        for name in re.findall(r"(?<=[a-z] )[A-Z][a-z]{3,}(?: [A-Z][a-z]+)*", row.question):
            if name in row.response and not held(name, row):
                yield "a name of the question", name


def _formulas(text: str, rng: random.Random) -> Changes:
    for number in rng.sample(found := list(_spots(_NUMBER, text)), min(2, len(found))):
        for new in _other_digit(number[0], 0, rng):
            yield "another number in formula", text[: number.start()] + new + text[number.end() :]
    if match := _RATIO.fullmatch(text):
        yield "swapped parts", f"{match[1]}{match[3]}/{match[2]}"
    for match in _spots(_SIGN, text) if not re.search("sin|cos", text) else ():
        other = "+" if match[1] == "-" else "-"
        yield "another operator", text[: match.start()] + other + text[match.end() :]
    for match in _spots(_POWER, text):
        power = f"^{{{int(match[1]) + 1}}}"
        yield "another exponent", text[: match.start()] + power + text[match.end() :]
    left, equals, right = text.rpartition("=")
    if _SEVERAL.search(text) or _MIXED.search(text):
        return
    if re.search(r"[1-9a-zA-Z]", right):
        yield "sign flipped", f"{left}{equals}-({right})"
    variables = _VARIABLE.findall(right)
    once = [v for v in variables if variables.count(v) == 1]  # others may cancel
    if len({*variables}) > 1 and once and "/s" not in right:
        old = rng.choice(once)
        new = rng.choice([v for v in variables if v != old])
        exchanged = _VARIABLE.sub(lambda m: new if m[0] == old else m[0], right)
        yield "another variable", f"{left}{equals}{exchanged}"


def _spots(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Matches on the right of the last "=", or in the whole equation of a curve."""
    curve = re.search(r"[xy].*=", text) and not _SEVERAL.search(text)
    for match in pattern.finditer(text):
        given = match.start() > text.rfind("=")
        if curve or given or re.search(r"=[\s$-]*(?:\\frac\{)?$", text[: match.start()]):
            yield match


def _regions(text: str, rng: random.Random) -> Changes:
    text = re.sub(r"\\([lg])eq?(?:slant)?(?![a-z])", lambda m: "≤≥"[m[1] == "g"], text)
    if orders := [at for at, char in enumerate(text) if char in _ORDERS]:
        at = rng.choice(orders)
        for kind, other in zip(("turned", "opened or closed"), _ORDERS[text[at]], strict=True):
            yield f"inequality {kind}", text[:at] + other + text[at + 1 :]
    for match in _INTERVAL.finditer(text):
        low, high = _value(match[2]), _value(match[3])
        ends = [end for end in (2, 3) if not re.search(r"\\infty|∞", match[end])]
        if len(ends) == 1 or (low is not None and high is not None and low < high):
            for end in ends:
                at = match.start(1 if end == 2 else 4)
                yield "bracket opened or closed", text[:at] + _BRACKETS[text[at]] + text[at + 1 :]


def _lists(text: str, rng: random.Random) -> Changes:
    if pieces := re.split(r"\\cup|∪", text)[1:]:
        yield "one part fewer", " ∪ ".join(pieces)
    elif (match := _ENCLOSED.fullmatch(text)) and bool(match[1]) == bool(match[3]):
        items = [item.strip(" $") for item in _BETWEEN.split(match[2])]
        if len(items) < 2 or _MIXED.search(text) or not all(map(_is_closed, items)):
            return
        sides = [item.rpartition("=") for item in items]
        if all(left for left, *_ in sides) and len({left for left, *_ in sides}) == len(sides):
            new = [value for *_, value in sides[1:] + sides[:1]]  # x=1, y=2
            if len({*new}) == len(new):
                made = zip(sides, new, strict=True)
                yield "swapped parts", ", ".join(f"{left}={value}" for (left, *_), value in made)
        elif "=" not in text:
            for kind, made_of in _parts(items, ", ", rng):
                if kind != "swapped parts" or match[1] in ("(", "["):
                    yield kind, f"{match[1]}{made_of}{match[3]}"


def _parts(items: list[str], between: str, rng: random.Random) -> Changes:
    at = rng.randrange(len(items) - 1)
    if items.count(items[at]) == 1:
        yield "one part fewer", between.join(items[:at] + items[at + 1 :])
    if number := _NUMBER.search(items[at]):
        yield "one part more", between.join([*items, items[at].replace(number[0], f"{number[0]}7")])
    if not accepted(items[at], [items[at + 1]]):
        swapped = [*items[:at], items[at + 1], items[at], *items[at + 2 :]]
        yield "swapped parts", between.join(swapped)


def is_short(reference: str) -> bool:
    """Whether a reference is a bare answer and no solution."""
    return len(reference) <= 2 * _SHORT and not _WORKED.search(reference.strip())


def is_name(text: str) -> bool:
    """Whether a text is words rather than a value or letters of options."""
    formula = re.search(r"[\\^=_＝]|^\W*$", re.sub(r"\\(?:text|mathrm)\s*\{([^}]*)\}", r"\1", text))
    return not formula and bool(_WORD.search(text)) and not _OPTIONS.fullmatch(text)


def _is_closed(text: str) -> bool:
    depths = [text[:at].count("(") - text[:at].count(")") for at in range(len(text) + 1)]
    return depths[-1] == 0 == min(depths) and text.count("{") == text.count("}")


def accepted(text: str, references: Sequence[str]) -> bool:
    """Whether a text equals one of the references by its characters or its number."""
    value = _value(text)
    return any(_bare(text) == _bare(r) or value == _value(r) is not None for r in references)


def _bare(text: str) -> str:
    return re.sub(r"[\s$,]|\\(?:left|right|text)|\.$", "", text).casefold()


def _value(text: str) -> Fraction | None:
    text = _bare(text)
    if ratio := _RATIO.fullmatch(text):
        return Fraction(int(ratio[1] + ratio[2]), int(ratio[3])) if int(ratio[3]) else None
    amount = _AMOUNT.fullmatch(text)
    if amount is None or amount["rest"] not in ("", "%", "\\%"):
        return None
    return Fraction(amount["sign"] + amount["digits"]) / (100 if amount["rest"] else 1)


def held(text: str, row: Item) -> bool:
    """Whether a text contains one of the row's references, or is contained in one."""
    return any(_within(text, reference) for reference in row.reference)


def _within(one: str, other: str) -> bool:
    """Whether one of two texts contains the other, by their letters and digits."""
    a, b = (re.sub(r"[\W_]+", "", text).casefold() for text in (one, other))
    return a in b or b in a
