"""Read an answer into its structure: number, formula, equation, region, or a group of these."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from gradegpt.answers.formula import Node, read_formula
from gradegpt.answers.intervals import ORDER, is_pair, read_range, read_region
from gradegpt.answers.number import spelled
from gradegpt.answers.parts import marks, pieces, unspaced_marks
from gradegpt.answers.quantity import quantity
from gradegpt.answers.text import fold, plain
from gradegpt.answers.types import Group, Leaf, Range, Relation, Value

MAX_ITEMS: Final = 60
MAX_NESTING: Final = 4
MAX_LEAF: Final = 200
"""Most characters of one value; a longer text is prose or a solution."""
MAX_TEXT: Final = 3_000
_PROSE = re.compile(
    r"(?:(?<![\\A-Za-z])[A-Za-z]{2,},?\s+){6}[A-Za-z]{2}"
    r"|(?:(?![零〇一二两三四五六七八九十百千万亿点分之])[\u3400-\u9fff]){10}"
)
"""A run of words that no value has; the parts of such a text may still be values."""
_HAN = re.compile(r"[\u3400-\u9fff]")
APPROXIMATELY = re.compile(
    r"^(?:大约|约为|约等于|约|近似(?:为|等于)?|≈|about\b|approximately\b|approx\.?|~|\\approx)\s*",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"^\s*(?P<name>\\?[A-Za-zα-ωΑ-Ω]+'*(?:_\{?[\w,+\-\u3400-\u9fff]+\}?)?'*(?:\s*\((?:[^()=]|\([^()=]{1,4}\)){1,12}\))?|[|∠△\w\s]{1,8}|[\u3400-\u9fff]{1,8}[A-Za-z]?)\s*[=≈:]\s*(?P<rest>.+)$",
    re.DOTALL,
)
_LABELLED = re.compile(r"([A-Za-z\u3400-\u9fff]{1,8})\s*:\s*(\d.*)$", re.DOTALL)
_MATRIX = re.compile(r"\\begin\{(?P<kind>[bpB]?matrix)\}(?P<body>.*?)\\end\{(?P=kind)\}", re.DOTALL)
_LABELS = re.compile(r"(?:\((?:[1-9]|1\d|20)\)[,;\s和与]*){2,}")
"""Numbers of statements, ①③ or (1)(3), which are no factors."""
_WIDE_COMMA = re.compile(r"(?<=\d)\s*[，、]\s*(?=[-−]?\d)")
"""A comma that separates numbers, never the groups of three digits of one."""
_SENTENCES = re.compile(r"[\d)][.;]\s+[A-Z][a-z]+\b")
"""One value followed by a sentence: "x = 15. Check: 2 × 15 = 30"."""
_DECIMAL = re.compile(r"\.\d")
_EUROPEAN = re.compile(r"-?\d{1,3}(?:\.\d{3})+,\d{1,2}(?![\d,])")
"""2.499,99: points between thousands, and a decimal comma."""
_APART = re.compile(r";|\band\b|或|和|与|,\s")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
"""The comma of 8,100, in a list whose separator is another."""
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_SPAN = re.compile(r"(?:1\d|20)\d\d\s*-\s*(?:\d\d|(?:1\d|20)\d\d)")
"""A span of years, which is not a difference of numbers."""
_LEAD = re.compile(
    r"^(?:解得|可得|化简得|整理得|求得|得到|因此|所以|得|故|则|即|∴|(?i:so|hence|thus|then|therefore))(?=.)"
)
_ELEMENTS = re.compile(r"\s*(?P<of>[A-Za-z])\s*(?:\||\\mid|:)(?P<body>[^<>≤≥≠]+)", re.DOTALL)
"""The inside of a set-builder form that names its elements: x | x = 0 或 x = 2."""
_ARROW = re.compile(r"\s*(?:→|->|\\to\b|\\rightarrow)\s*")
_JOINED = re.compile(r"[,;±或和与∨]|\\pm|\bor\b|\band\b|\\text")
_SET_IN_WORDS = re.compile(
    r"[A-Za-z]\s*∈\s*(?P<braces>\{.*\})|由(?P<zh>.+)组成的集合"
    r"|the set (?:of|containing) (?P<en>.+)",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?\s*\D*(?:(?<=[ms秒])\^\{?[23]\}?)?")
"""One number with groups of three digits, and its unit."""
_OR = re.compile(r"\s*(?:或者?|\bor\b|\band\b|和|与|\\text\{\s*or\s*\}|∨)\s*")


@lru_cache(maxsize=32768)
def read(text: str, *, region: bool = False) -> Value:
    """The value of an answer; with ``region``, ``(1,2)`` is an open interval, not a pair."""
    return _read(_clean(text), region, 0)


def is_range(text: str) -> bool:
    """Whether the text is a range such as 81-83 years; only texts with digits are read."""
    return any(map(str.isdigit, text)) and isinstance(read(text), Range)


def is_labels(text: str) -> bool:
    """Whether the folded text is several different numbers of statements, and nothing else."""
    numbers = re.findall(r"\d+", text) if _LABELS.fullmatch(text) else []
    return len(numbers) > 1 and len({*numbers}) == len(numbers)


def _clean(text: str) -> str:
    apart = "，" in text
    text = fold(text if text.isascii() else _WIDE_COMMA.sub(" ; ", text)).strip()
    text = text.replace("{}^", "^").replace("{}°", "°").lstrip(" ,;:*`").rstrip(" .,;:*`")
    text = text if _DECIMAL.match(text) else text.lstrip(" .,;:*`")
    text = APPROXIMATELY.sub("", text)
    if not apart and (european := _EUROPEAN.match(text)):
        number = european[0].replace(".", "").replace(",", ".")
        return number + text[european.end() :]
    return text[:-2] if _ORDINAL.fullmatch(text) else text


def _read(text: str, region: bool, depth: int) -> Value:
    text = text.strip().strip(",;").strip()
    if len(text) > MAX_TEXT:
        return Leaf(text)
    if text[:1] == "(" and is_labels(text):
        return _group(False, re.findall(r"\d+", text), region, depth) or Leaf(text)
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
    """Whether the text is a solution rather than a value: equations with words between them."""
    return len(text) > 80 and text.count("=") >= 3 and len(_HAN.findall(text)) >= 4


def _leaf(text: str, region: bool = False, depth: int = MAX_NESTING) -> Value:
    if len(text) > MAX_LEAF or _SENTENCES.search(text):
        return Leaf(text)
    body, name = text, ""
    if ("=" in text or "≈" in text) and not ORDER.search(text):
        sides = [s.strip() for s in re.split(r"[=≈]", text)]
        left, right = read_formula(sides[0]), read_formula(sides[-1])
        named = _NAME.match(text)
        equation = len(sides) == 2 and not (named and named["name"].endswith(")"))
        if equation and left is not None and right is not None and not _is_name(left):
            return Relation(text, left, right)
        name, body = _LEAD.sub("", re.sub(r"\s", "", sides[0])), sides[-1]
    elif named := _LABELLED.match(text):
        name, body = plain(named[1]), named[2]
    body = APPROXIMATELY.sub("", body.strip())
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
    # f(x) is read as f times x.
    return node.op == "var" or (node.op == "*" and all(arg.op == "var" for arg in node.args))


def is_read(value: Value) -> bool:
    """Whether all of the value was read, down to its leaves."""
    if isinstance(value, Group):
        return bool(value.items) and all(map(is_read, value.items))
    if isinstance(value, Leaf):
        sane = len(value.name) <= 16 and not re.search(r"[-+*/^]", value.name)
        return sane and (value.quantity is not None or value.formula is not None)
    return True


# --- groups ---------------------------------------------------------------------------------------


def _matrix(text: str, region: bool, depth: int) -> Value | None:
    match = _MATRIX.fullmatch(text)
    if match is None:
        return None
    rows = [r for r in re.split(r"\\\\", match["body"]) if r.strip()]
    made = [Group(True, _each(row.split("&"), region, depth)) for row in rows]
    return made[0] if len(made) == 1 else Group(True, tuple(made))


def _parts(text: str, region: bool, depth: int) -> Value | None:
    """``(1) 3; (2) 5``: at least two marked parts, in order."""
    found = marks(text)
    found = found if len(found) > 1 else unspaced_marks(text)
    if len(found) < 2 or text[: found[0].start].strip():
        return None
    items = [piece.strip(" ,;.:") for piece in pieces(text, found)]
    if len(items) < len(found) or not all(items) or len(items) > MAX_ITEMS:
        return None
    return Group(True, _each(items, region, depth))


def _listed(text: str, region: bool, depth: int) -> Value | None:
    if stated := _SET_IN_WORDS.fullmatch(text):
        text = stated["braces"] or "{" + _OR.sub(",", stated["zh"] or stated["en"]) + "}"
    if text[:1] in ("{", "(", "[") and _closing(text, 0) == len(text) - 1:
        inner = text[1:-1]
        if builder := _ELEMENTS.fullmatch(inner):
            inner = builder["body"].replace("或", ",")
            if "=" in inner and {*re.findall("[A-Za-z]", inner)} > {builder["of"]}:
                return None  # x = 2n, n = 1
        items = [i.strip().strip("\"'") for i in split_top(inner, ",;") if i.strip()]
        if "∞" in inner and text[0] != "{":
            return None
        if text[0] != "{":
            return _group(True, items, False, depth) if len(items) > 1 else None
        members = dict.fromkeys(x.strip() for i in items for x in both_signs(i))
        return _group(False, [*members], False, depth)
    if len(row := _ARROW.split(text)) > 2 and all(map(str.strip, row)):
        return _group(True, row, region, depth)  # 秦→汉→唐
    if _JOINED.search(text) is None:
        return None
    if _APART.search(text):
        text = _THOUSANDS.sub("", text)
    items = split_top(text, ";") if ";" in text else split_top(text, ",")
    items = [x for i in items for part in _OR.split(i) for x in both_signs(part) if x.strip()]
    if len(items) < 2 or _GROUPED.fullmatch(text) or spelled(text) is not None:
        return None
    return _group(False, items, region, depth)


def _group(ordered: bool, items: list[str], region: bool, depth: int) -> Value | None:
    return Group(ordered, _each(items, region, depth)) if len(items) <= MAX_ITEMS else None


def _each(items: Iterable[str], region: bool, depth: int) -> tuple[Value, ...]:
    return tuple(_read(item, region, depth + 1) for item in items)


def both_signs(item: str) -> list[str]:
    """``±2`` as 2 and -2; unchanged with two such signs, whose combinations are ambiguous."""
    sign = next((s for s in ("±", "\\pm") if item.count(s) == 1), None)
    return [item] if sign is None else [item.replace(sign, s) for s in ("+", "-")]


def split_top(text: str, separators: str) -> list[str]:
    """``text`` split at the separators outside of brackets."""
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
