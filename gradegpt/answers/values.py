"""Read an answer into its structure: number, formula, equation, region, or a group of these."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Final

from gradegpt.answers.formula import Node, read_formula
from gradegpt.answers.intervals import ORDER, is_pair, read_range, read_region
from gradegpt.answers.parts import marks, pieces, unspaced_marks
from gradegpt.answers.quantity import quantity
from gradegpt.answers.text import fold
from gradegpt.answers.types import Group, Leaf, Range, Relation, Value

MAX_ITEMS: Final = 60
MAX_NESTING: Final = 4
MAX_LEAF: Final = 200
"""Most characters of one value; a longer text is prose or a solution."""
MAX_TEXT: Final = 3_000
_HAN: Final = {*map(chr, range(0x3400, 0xA000))}
_PROSE: Final = re.compile(
    r"(?:(?<![\\A-Za-z])[A-Za-z]{2,},?\s+){6}[A-Za-z]{2}|[\d)]\.\s+[A-Z][a-z]+\b"
    r"|(?:(?![零〇一二两三四五六七八九十百千万亿点分之])[\u3400-\u9fff]){10}"
)
"""Words that no value has, or a value before a sentence; parts of such a text may be values."""
APPROXIMATELY: Final = re.compile(
    r"^(?:大约|约为|约等于|约|近似(?:为|等于)?|≈|about\b|approximately\b|approx\.?|~|\\approx)\s*",
    re.IGNORECASE,
)
_WIDE_COMMA: Final = re.compile(r"(?<=\d)\s*[，、]\s*(?=[-−]?\d)(?!0\d\d(?!\d))")
"""A comma that separates numbers, never the groups of three digits of one."""
_ANY_WIDE_COMMA: Final = re.compile(r"\s*[，、]\s*")
_BRACKET: Final = frozenset("([{（［｛")
_EUROPEAN: Final = re.compile(r"(-?[1-9]\d{0,2}(?:\.\d{3})+),(\d{1,2})(?![\d,])")
"""2.499,99: points between thousands, and a decimal comma."""
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_GROUPED: Final = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?\s*\D*(?:(?<=[ms秒])\^\{?[23]\}?)?")
"""One number with groups of three digits, and its unit."""
_LABELS: Final = re.compile(r"(?:\(\d\d?\)[,;\s和与]*){2,}")
"""Numbers of statements, ①③ or (1)(3), which are no factors."""
_YEARS: Final = re.compile(r"\d{4}\s*-\s*\d\d(?:\d\d)?")
"""A span of years, which is not a difference of numbers."""
_LEAD: Final = re.compile(
    r"^(?:[\u3400-\u9fff]{0,2}得到?|因此|所以|[故则即∴]|(?i:so|hence|thus|then|therefore))(?=.)"
)
_MATRIX: Final = re.compile(r"\\begin\{([bpB]?matrix)\}(.*?)\\end\{\1\}", re.DOTALL)
_ARROW: Final = re.compile(r"\s*(?:→|->)\s*")
_OR: Final = re.compile(r"\s*(?:或者?|\bor\b|\band\b|和|与|\\text\{\s*or\s*\}|∨)\s*")


@lru_cache(maxsize=32768)
def read(text: str, *, region: bool = False) -> Value:
    """The value of an answer; with ``region``, ``(1,2)`` is an open interval, not a pair."""
    apart = "，" in text
    if not text.isascii():
        several = _BRACKET.isdisjoint(text) and _WIDE_COMMA.search(text)
        text = (_ANY_WIDE_COMMA if several else _WIDE_COMMA).sub(" ; ", text)
    text = fold(text).strip()
    text = text.replace("{}^", "^").replace("{}°", "°").lstrip(" ,;:*`").rstrip(" .,;:*`")
    text = text if text[1:2].isdigit() else text.lstrip(" .,;:*`")  # .5
    text = APPROXIMATELY.sub("", text)
    if not apart and (european := _EUROPEAN.match(text)):
        text = f"{european[1].replace('.', '')}.{european[2]}{text[european.end() :]}"
    ordinal = text[:-2].isdigit() and text.endswith(("st", "nd", "rd", "th"))
    return _read(text[:-2] if ordinal else text, region, 0)


def is_range(text: str) -> bool:
    """Whether the text is a range such as 81-83 years; only texts with digits are read."""
    return any(map(str.isdigit, text)) and isinstance(read(text), Range)


def labels(text: str) -> list[str]:
    """The numbers of statements, if the folded text is several different ones and nothing else."""
    numbers = re.findall(r"\d+", text) if _LABELS.fullmatch(text) else []
    return numbers if len({*numbers}) == len(numbers) else []


def is_read(value: Value) -> bool:
    """Whether all of the value was read, down to its leaves."""
    if isinstance(value, Group):
        return bool(value.items) and all(map(is_read, value.items))
    if isinstance(value, Leaf):
        sane = len(value.name) <= 16 and not {*"-+*/^"} & {*value.name}
        return sane and (value.quantity is not None or value.formula is not None)
    return True


def in_order(value: Value) -> Value:
    """The value; if it is a group, one whose order matters."""
    return value._replace(ordered=True) if isinstance(value, Group) else value


def _read(text: str, region: bool, depth: int) -> Value:
    text = text.strip(" \n,;")
    if len(text) > MAX_TEXT:
        return Leaf(text)
    if text[:1] == "(" and (numbers := labels(text)):
        return _group(False, numbers, region, depth)
    if matrix := _MATRIX.fullmatch(text):
        rows = [f"({row.replace('&', ',')})" for row in matrix[2].split("\\\\") if row.strip()]
        text = rows[0] if len(rows) == 1 else f"({','.join(rows)})"
    # Equations with words between them are a solution.
    solution = len(text) > 80 and text.count("=") > 2 and sum(map(_HAN.__contains__, text)) > 3
    if solution or _PROSE.search(text):
        return _parts(text, region, depth) or Leaf(text)
    if depth < MAX_NESTING:
        if (found := read_region(text)) is not None and (region or not is_pair(text)):
            return found
        if made := _parts(text, region, depth) or _listed(text, region, depth):
            return made
    return _leaf(text, region, depth)


def _leaf(text: str, region: bool, depth: int) -> Value:
    if len(text) > MAX_LEAF:
        return Leaf(text)
    body, name = text, ""
    if ("=" in text or "≈" in text) and not ORDER.search(text):
        sides = [side.strip() for side in text.replace("≈", "=").split("=")]
        left, right = read_formula(sides[0]), read_formula(sides[-1])
        if len(sides) == 2 and left is not None and right is not None and not _is_name(left):
            return Relation(text, left, right)
        name, body = _LEAD.sub("", "".join(sides[0].split())), sides[-1]
    body = APPROXIMATELY.sub("", body)
    if _YEARS.fullmatch(body):
        return Leaf(body, name)
    if (ends := read_range(body)) is not None:
        low, high = map(quantity, ends)
        if low is not None and high is not None:
            return Range(low, high)
    made = Leaf(body, name, quantity(body), read_formula(body))
    if name and not made.quantity and not made.formula and depth < MAX_NESTING:
        inner = _read(body, region, depth + 1)
        return made if isinstance(inner, Leaf) else inner  # A = {1, 2}
    return made


def _is_name(node: Node) -> bool:
    # f(x) is read as f times x.
    return node.op == "var" or (node.op == "*" and all(map(_is_name, node.args)))


# --- groups ---------------------------------------------------------------------------------------


def _parts(text: str, region: bool, depth: int) -> Value | None:
    """``(1) 3; (2) 5``: at least two marked parts, in order."""
    found = marks(text)
    found = found if len(found) > 1 else unspaced_marks(text)
    if len(found) < 2 or text[: found[0].start].strip():
        return None
    items = [piece.strip(" ,;.:") for piece in pieces(text, found)]
    whole = len(found) == len(items) <= MAX_ITEMS and all(items)
    return _group(True, items, region, depth) if whole else None


def _listed(text: str, region: bool, depth: int) -> Value | None:
    """Values in brackets, between arrows, or joined by a sign, a word or ±."""
    ordered = True
    if text[:1] in ("{", "(", "[") and (levels := _levels(text))[-1] == 0 not in levels[:-1]:
        inner, ordered, region = text[1:-1], text[0] != "{", False
        if inner.count("|") % 2 or (ordered and "∞" in inner):
            return None  # x | x = 2n, n = 1
        items = [item.strip().strip("\"'") for item in split_top(inner, ",;") if item.strip()]
        if not ordered:
            return _group(False, dict.fromkeys(_joined(items)), False, depth)
    elif len(items := _ARROW.split(text)) < 3 or not all(items):  # 秦→汉→唐
        ordered = False
        if ";" in text or ", " in text or _OR.search(text):
            text = _THOUSANDS.sub("", text)
        items = _joined(split_top(text, ";" if ";" in text else ","))
        words = not any(map(str.isdigit, text))
        if _GROUPED.fullmatch(text) or (words and quantity(text) is not None):
            return None  # eighteen and a half stones
    return _group(ordered, items, region, depth) if 1 < len(items) <= MAX_ITEMS else None


def _joined(items: list[str]) -> list[str]:
    """The items, of ``a or b`` and of ``±a`` both."""
    parts = (part for item in items for part in _OR.split(item) if part.strip())
    return [one.strip() for part in parts for one in both_signs(part)]


def _group(ordered: bool, items: Iterable[str], region: bool, depth: int) -> Group:
    return Group(ordered, tuple(_read(item, region, depth + 1) for item in items))


def both_signs(item: str) -> list[str]:
    """``±2`` as 2 and -2; unchanged with two such signs, whose combinations are ambiguous."""
    item = item.replace("\\pm", "±")
    return [item.replace("±", sign) for sign in "+-"] if item.count("±") == 1 else [item]


def split_top(text: str, separators: str) -> list[str]:
    """``text`` split at the separators outside of brackets."""
    signs = zip(text, _levels(text), strict=True)
    cuts = [at for at, (sign, level) in enumerate(signs) if sign in separators and level <= 0]
    return [text[start + 1 : end] for start, end in pairwise([-1, *cuts, len(text)])]


def _levels(text: str) -> list[int]:
    """How many brackets are open after each sign."""
    return [*accumulate((sign in "([{") - (sign in ")]}") for sign in text)]
