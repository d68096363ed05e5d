"""Read an answer into its structure: number, formula, equation, region, or a group of these."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final

from gradegpt.answers import algebra
from gradegpt.answers.formula import Node, read_formula
from gradegpt.answers.intervals import ORDER, is_pair, read_range, read_region
from gradegpt.answers.numbers import number, spelled
from gradegpt.answers.parts import marks, pieces
from gradegpt.answers.text import fold, plain
from gradegpt.answers.types import Group, Leaf, Magnitude, Quantity, Range, Relation, Value
from gradegpt.answers.units import known

MAX_ITEMS: Final = 60
MAX_NESTING: Final = 4
MAX_LEAF: Final = 200
"""Characters of one value; what is longer is prose, or a solution."""
MAX_TEXT: Final = 3_000
_MAX_BITS: Final = 1_000


_PROSE = re.compile(
    r"(?:(?<![\\A-Za-z])[A-Za-z]{2,},?\s+){6}[A-Za-z]{2}"
    r"|(?:(?![零〇一二两三四五六七八九十百千万亿点分之])[\u3400-\u9fff]){10}"
)
"""Words in a row that no value has; its parts may still be values."""
_HAN = re.compile(r"[\u3400-\u9fff]")
_UNIT_TAIL = re.compile(
    r"(?P<unit>(?:[\u3400-\u9fff]+|°\s*[CF]?|℃|(?<=[\d)}\s])[A-Za-zμµΩ]+(?:\s*\^?\s*\{?-?[1-3]\}?)?)"
    r"(?:(?:\s*[/·*]\s*|-|\s+)[A-Za-zμµΩ\u3400-\u9fff]+(?:\s*\^?\s*\{?-?[1-3]\}?)?)*)\s*$"
)
_COUNTED = re.compile(
    r"[个只人本支张棵岁次块名条页辆件套种倍元角枚头匹座间台盒箱袋瓶杯包组排行列堆批篇首道题步层级户家位朵片粒颗根把"
    r"双对副串顶架艘艇门]{1,2}(?:[\u3400-\u9fff]{1,3})?"
)
"""Chinese counters, with the short noun that may follow: 个, 本, 个苹果."""
_WORD_UNIT = re.compile(
    r"-?\d[\d,.]*\s+(?!(?:sin|cos|tan|log|ln|lg|exp|pi|mod|times|plus|minus|less"
    r"|over|or|and|to|dozens?|half|halves|thirds?|quarters?|\w*(?:ths?|hundreds?|thousands?|illions?))\b)"
    r"[A-Za-z]{3,12}"
)
"""A number before a word that is no known unit: 5.93 MiB, 12 cards."""
_APPROXIMATELY = re.compile(
    r"^(?:大约|约为|约等于|约|近似(?:为|等于)?|≈|about\b|approximately\b|approx\.?|~|\\approx)\s*",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"^\s*(?P<name>\\?[A-Za-zα-ωΑ-Ω]+'*(?:_\{?[\w,+\-\u3400-\u9fff]+\}?)?'*(?:\s*\([^()=]{1,12}\))?|[|∠△\w\s]{1,8}|[\u3400-\u9fff]{1,8}[A-Za-z]?)\s*[=≈:]\s*(?P<rest>.+)$",
    re.DOTALL,
)
_MATRIX = re.compile(r"\\begin\{(?P<kind>[bpB]?matrix)\}(?P<body>.*?)\\end\{(?P=kind)\}", re.DOTALL)
_DECIMAL = re.compile(r"\.\d")
_PERCENT = re.compile(r"[-+\d.,/\s]*(?:\\?%|percent)")
_SPAN = re.compile(r"(?:1\d|20)\d\d\s*-\s*(?:\d\d|(?:1\d|20)\d\d)")
"""From one year to another, which is no difference of numbers."""
_RATIO = re.compile(r"([^:∶]{1,24})[:∶]([^:∶]{1,24})")
_LEAD = re.compile(
    r"^(?:解得|可得|化简得|整理得|求得|得到|因此|所以|得|故|则|即|∴|so|hence|thus|then)(?=.)"
)
_ELEMENTS = re.compile(r"\s*[A-Za-z]\s*(?:\||\\mid|:)(?P<body>[^<>≤≥≠]+)", re.DOTALL)
"""The inside of a set-builder form that names its elements: x | x = 0 或 x = 2."""
_JOINED = re.compile(r"[,;±或和与∨]|\\pm|\bor\b|\band\b|\\text")
_OR = re.compile(r"\s*(?:或者?|\bor\b|\band\b|和|与|\\text\{\s*or\s*\}|∨)\s*")


@lru_cache(maxsize=32768)
def read(text: str, *, region: bool = False) -> Value:
    """The value of an answer. ``region``: ``(1,2)`` is an open interval, not a pair."""
    return _read(_clean(text), region, 0)


def _clean(text: str) -> str:
    text = fold(text).strip()
    text = text.lstrip(" ,;:*`").rstrip(" .,;:*`")
    text = text if _DECIMAL.match(text) else text.lstrip(" .,;:*`")
    return _APPROXIMATELY.sub("", text)


def _read(text: str, region: bool, depth: int) -> Value:
    text = text.strip().strip(",;").strip()
    if len(text) > MAX_TEXT:
        return Leaf(text)
    if _PROSE.search(text) or _is_solution(text):
        return _parts(text, region, depth) or Leaf(text)
    if depth < MAX_NESTING:
        if (found := read_region(text)) is not None and (region or not is_pair(text)):
            return found
        for reader in (_matrix, _parts, _listed):
            made = reader(text, region, depth)
            if made is not None:
                return made
    return _leaf(text, region, depth)


def _is_solution(text: str) -> bool:
    """Whether these are steps rather than a value: several equations with words between."""
    return len(text) > 80 and text.count("=") >= 3 and len(_HAN.findall(text)) >= 4


def _leaf(text: str, region: bool = False, depth: int = MAX_NESTING) -> Value:
    if len(text) > MAX_LEAF:
        return Leaf(text)
    body, name = text, ""
    if text.count("=") + text.count("≈") >= 1 and not ORDER.search(text):
        sides = [s.strip() for s in re.split(r"[=≈]", text)]
        left, right = read_formula(sides[0]), read_formula(sides[-1])
        named = _NAME.match(text)
        function = named is not None and named["name"].endswith(")")
        both = len(sides) == 2 and left is not None and right is not None
        if both and not function and left is not None and right is not None and not _is_name(left):
            return Relation(text, left, right)
        name, body = _LEAD.sub("", re.sub(r"\s", "", sides[0])), sides[-1]
    elif (
        named := re.match(r"^([A-Za-z\u3400-\u9fff]{1,8})\s*:\s*(.+)$", text, re.DOTALL)
    ) and re.match(r"^\d", named[2].strip()) is not None:
        name, body = plain(named[1]), named[2]
    body = _APPROXIMATELY.sub("", body.strip())
    if _SPAN.fullmatch(body):
        return Leaf(body, name)
    if (ends := read_range(body)) is not None:
        low, high = (quantity(end) for end in ends)
        if low is not None and high is not None:
            return Range(low, high)
    amount = quantity(body)
    tree = read_formula(body)
    if name and amount is None and tree is None and depth < MAX_NESTING:
        inner = _read(body, region, depth + 1)
        if not isinstance(inner, Leaf):
            return inner  # A = {1, 2}
    return Leaf(body, name, amount, tree)


def _is_name(node: Node) -> bool:
    if node.op == "var":
        return True
    # f(x) reads as f times x.
    return node.op == "*" and all(arg.op == "var" for arg in node.args)


def is_read(value: Value) -> bool:
    """Whether all of the value was understood, down to its leaves."""
    if isinstance(value, Group):
        return bool(value.items) and all(map(is_read, value.items))
    if isinstance(value, Leaf):
        sane = len(value.name) <= 16 and not re.search(r"[-+*/^]", value.name)
        return sane and (value.quantity is not None or value.formula is not None)
    return True


def quantity(text: str) -> Quantity | None:
    """The number with its unit that the folded ``text`` is, or none; none too beyond any float."""
    made = _quantity(text)
    return made if made and _has_float(made.value) and _has_float(made.place) else None


def _has_float(value: Magnitude | None) -> bool:
    if not isinstance(value, Fraction) or not value:
        return True
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    return abs(bits) < _MAX_BITS


def _quantity(text: str) -> Quantity | None:
    text = text.strip()
    percent = bool(_PERCENT.match(text))
    if (plain_number := number(text)) is not None:
        return Quantity(plain_number.value, plain_number.unit, percent, _place(text))
    if (words := spelled(text)) is not None:
        return Quantity(words)
    if (tree := read_formula(text)) is not None and (value := algebra.constant(tree)) is not None:
        return Quantity(value, "", percent, _place(text))
    if ratio := _RATIO.fullmatch(text):
        top, bottom = _constant(ratio[1]), _constant(ratio[2])
        if top is not None and bottom:
            return Quantity(top / bottom)
    if tail := _UNIT_TAIL.search(text):
        rest, unit = text[: tail.start()].strip(), tail["unit"].strip()
        if rest and (
            _is_unit(rest, unit, text) or _COUNTED.fullmatch(unit) or _WORD_UNIT.fullmatch(text)
        ):
            for made in (spelled(rest), _constant(rest)):
                if made is not None:
                    return Quantity(made, unit, percent, _place(rest))
    return None


def _is_unit(rest: str, unit: str, text: str) -> bool:
    """Whether this is a unit: a single letter only in its case, and most only behind a blank."""
    if len(unit) > 1 or not unit.isascii():
        return known(unit)
    spaced = text[len(rest) :][:1].isspace()
    return unit in "mgVNJWKL" or (spaced and unit in "shtlAC")


def _constant(text: str) -> Magnitude | None:
    if re.fullmatch(r"-?\d+(?:\.\d+)?[eE][+-]?\d{1,2}", text):
        return Fraction(text)
    if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", text):
        return Fraction(text.replace(",", ""))
    tree = read_formula(text)
    return None if tree is None else algebra.constant(tree)


_WRITTEN = re.compile(
    r"-?\s*\d[\d,]*\.(?P<decimals>\d+)(?:\s*(?:[×x*·]|\\times)\s*10\^\{?(?P<power>[+-]?\d{1,3})\}?|e(?P<exp>[+-]?\d{1,3}))?",
    re.IGNORECASE,
)


def _place(text: str) -> Fraction | None:
    match = _WRITTEN.match(text)
    if match is None:
        return None
    power = int(match["power"] or match["exp"] or 0) - len(match["decimals"])
    return Fraction(10) ** (power - 2 * text.rstrip().endswith(("%", "percent")))


# --- groups ---------------------------------------------------------------------------------------


def _matrix(text: str, region: bool, depth: int) -> Value | None:
    match = _MATRIX.fullmatch(text)
    if match is None:
        return None
    rows = [r for r in re.split(r"\\\\", match["body"]) if r.strip()]
    made = tuple(
        Group(True, tuple(_read(c, region, depth + 1) for c in row.split("&"))) for row in rows
    )
    return made[0] if len(made) == 1 else Group(True, made)


def _parts(text: str, region: bool, depth: int) -> Value | None:
    """``(1) 3; (2) 5``: at least two marked parts, in order."""
    found = marks(text)
    if len(found) < 2 or text[: found[0].start].strip():
        return None
    items = [piece.strip(" ,;.:") for piece in pieces(text, found)]
    if len(items) < len(found) or not all(items) or len(items) > MAX_ITEMS:
        return None
    return Group(True, tuple(_read(item, region, depth + 1) for item in items))


def _listed(text: str, region: bool, depth: int) -> Value | None:
    closed = {"{": "}", "(": ")", "[": "]"}
    if text[:1] in closed and _closing(text, 0) == len(text) - 1:
        inner = text[1:-1]
        if builder := _ELEMENTS.fullmatch(inner):
            inner = builder["body"].replace("或", ",")
        items = [i.strip().strip("\"'") for i in split_top(inner, ",;") if i.strip()]
        if text[0] != "{":
            return _group(True, items, False, depth) if len(items) > 1 else None
        members = dict.fromkeys(x.strip() for i in items for x in both_signs(i))
        return _group(False, [*members], False, depth)
    if _JOINED.search(text) is None:
        return None
    items = split_top(text, ";") if ";" in text else split_top(text, ",")
    items = [x for i in items for part in _OR.split(i) for x in both_signs(part) if x.strip()]
    if len(items) < 2 or re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?\s*\D*", text):
        return None
    return _group(False, items, region, depth)


def _group(ordered: bool, items: list[str], region: bool, depth: int) -> Value | None:
    if len(items) > MAX_ITEMS:
        return None
    return Group(ordered, tuple(_read(item, region, depth + 1) for item in items))


def both_signs(item: str) -> list[str]:
    """``±2`` as 2 and -2; with two such signs there is no telling whether they go together."""
    sign = next((s for s in ("±", "\\pm") if item.count(s) == 1), None)
    return [item] if sign is None else [item.replace(sign, s) for s in ("+", "-")]


def split_top(text: str, separators: str) -> list[str]:
    """``text`` split at separators that stand in no bracket."""
    made, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char in separators and depth <= 0:
            made.append(text[start:at])
            start = at + 1
    return [*made, text[start:]]


def _closing(text: str, start: int) -> int:
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at
    return -1
