"""Intervals: brackets, inequalities, set-builder forms and words for one set of numbers."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from data_gen.forms import atoms
from data_gen.forms.base import Answer, distinct, in_math
from data_gen.forms.edits import numeral_edits
from gradegpt.answers.intervals import read_region
from gradegpt.answers.text import fold


class Piece(NamedTuple):
    """An interval by its written ends, of which an empty one is infinite."""

    low: str
    low_in: bool
    high: str
    high_in: bool


_BRACKETS: Final = re.compile(
    r"(?P<o>[\[(])(?P<low>[^,;\[\]]+)[,;](?P<high>[^,;\[\]]+?)(?P<c>[\])])"
)
_BUILDER: Final = re.compile(r"\{\s*(?P<n>[A-Za-z])\s*(?:∈\s*[Rℝ]\s*)?(?:\||\\mid|:)(?P<body>.+)\}")
_OR: Final = re.compile(r"\s*(?:∪|或者?|\bor\b)\s*")
_SIGNS: Final = {"<=": "≤", ">=": "≥", "\\le": "≤", "\\ge": "≥", "\\lt": "<", "\\gt": ">"}
_SIGNED: Final = re.compile(r"<=|>=|\\(?:leq?|geq?)(?![a-z])(?:slant)?|\\[lg]t(?![a-z])|[<>≤≥]")
_NAME: Final = re.compile(r"[A-Za-zα-ω](?:_\d)?|\\(?!pi|frac|sqrt|infty)[a-z]{2,7}")
_FINITE_END: Final = re.compile(
    r"[\[(](?!\s*-?\s*(?:∞|\\infty))|(?<!∞)(?<!\\infty)(?<!\\infty )[\])]"
)
_TURNED: Final = {"<": ">", ">": "<", "≤": "≥", "≥": "≤"}
_OPENED: Final = {"[": "(", "(": "[", "]": ")", ")": "]"}
_FACING: Final = {"[": "]", "(": ")", "]": "[", ")": "("}
_CLOSED: Final = {
    "<": "≤", "≤": "<", ">": "≥", "≥": ">", "\\le": "<", "\\leq": "<", "\\ge": ">", "\\geq": ">",
    "<=": "<", ">=": ">", "\\lt": "\\le", "\\gt": "\\ge",
}  # fmt: skip


def pieces(text: str) -> tuple[str, list[Piece]] | None:
    """The unknown's name and the intervals, or none for what is not of this kind."""
    text = fold(text).strip()
    name = "x"
    if member := re.match(r"([A-Za-z])\s*∈\s*", text):
        name, text = member[1], text[member.end() :]
    if builder := _BUILDER.fullmatch(text):
        name, text = builder["n"], builder["body"]
    found: list[Piece] = []
    for part in _OR.split(text):
        piece = _bracketed(part) or _ordered(part)
        if piece is None:
            return None
        name = piece[0] or name
        found.append(piece[1])
    return name, found


def _bracketed(text: str) -> tuple[str, Piece] | None:
    match = _BRACKETS.fullmatch(text.strip())
    if match is None:
        return None
    low, high = (_finite(match[side].strip()) for side in ("low", "high"))
    return "", Piece(low, match["o"] == "[" and bool(low), high, match["c"] == "]" and bool(high))


def _finite(end: str) -> str:
    return "" if "∞" in end or "\\infty" in end else end


def _ordered(text: str) -> tuple[str, Piece] | None:
    for latex, sign in (("\\leq", "≤"), ("\\geq", "≥"), *_SIGNS.items()):
        text = text.replace(latex, sign)
    sides = [side.strip() for side in re.split(r"[<>≤≥]", text)]
    signs = re.findall(r"[<>≤≥]", text)
    names = [n for n, side in enumerate(sides) if _NAME.fullmatch(side) and side != "e"]
    if len(names) != 1 or not 1 <= len(signs) <= 2 or "," in text or not all(sides):
        return None
    at = names[0]
    if len(signs) == 1:
        sign, end = (signs[0], sides[1]) if at == 0 else (_TURNED[signs[0]], sides[0])
        low = sign in ">≥"
        piece = Piece(end, sign == "≥", "", False) if low else Piece("", False, end, sign == "≤")
        return sides[at], piece
    if at != 1 or (signs[0] in "<≤") is not (signs[1] in "<≤"):
        return None
    if signs[0] in ">≥":
        sides, signs = sides[::-1], [_TURNED[s] for s in reversed(signs)]
    return sides[1], Piece(sides[0], signs[0] == "≤", sides[2], signs[1] == "≤")


# --- the same region ------------------------------------------------------------------------------


def same(rng: random.Random, answer: Answer) -> list[str]:
    """The region in every notation, its pieces in both orders, its ends in other forms."""
    read = pieces(answer.text)
    if read is None or read_region(fold(answer.text).strip()) is None:
        return [re.sub(r",\s*", ", ", answer.text), re.sub(r",\s*", ",", answer.text)]
    name, found = read
    made: list[str] = []
    for order in distinct_orders(found):
        tight, spaced = (
            [_brackets(p, comma, infinity="+∞" if answer.chinese else "∞") for p in order]
            for comma in (",", ", ")
        )
        latex = [_brackets(p, ",", infinity="\\infty") for p in order]
        made += ["∪".join(tight), " ∪ ".join(spaced), in_math("\\cup ".join(latex))]
        made += [f"{name}∈{'∪'.join(tight)}", in_math(f"{name}\\in " + "\\cup ".join(latex))]
        made += list(_inequalities(order, name, answer))
    if len(found) == 1:
        made += _other_ends(rng, found[0], answer)
    return made


def distinct_orders(found: list[Piece]) -> list[list[Piece]]:
    """As it stands and, where there are several pieces, the other way round."""
    return [found] if len(found) == 1 else [found, found[::-1]]


def _brackets(piece: Piece, comma: str, infinity: str) -> str:
    low = piece.low or f"-{infinity.lstrip('+')}"
    left, right = "[" if piece.low_in else "(", "]" if piece.high_in else ")"
    return f"{left}{low}{comma}{piece.high or infinity}{right}"


def _inequalities(order: list[Piece], name: str, answer: Answer) -> Iterator[str]:
    either = "或" if answer.chinese else " or "
    for less, blank in ((("<", "≤"), ""), (("<", "≤"), " "), (("<", "<="), " ")):
        shown = either.join(_chain(piece, name, less, blank) for piece in order)
        yield shown
        if "<=" not in less:
            yield f"{{{name}{blank}|{blank}{shown}}}"
    latex = [_chain(piece, name, ("<", "\\le"), " ") for piece in order]
    yield in_math(" \\text{ or } ".join(latex))
    if len(order) == 1:
        yield f"$\\{{{name}\\mid {latex[0]}\\}}$"
        yield from _told(order[0], name)


def _chain(piece: Piece, name: str, less: tuple[str, str], blank: str) -> str:
    if piece.low and piece.high:
        left, right = less[piece.low_in], less[piece.high_in]
        return f"{piece.low}{blank}{left}{blank}{name}{blank}{right}{blank}{piece.high}"
    more = (">", less[1].replace("le", "ge").replace("≤", "≥").replace("<=", ">="))
    sign = more[piece.low_in] if piece.low else less[piece.high_in]
    return f"{name}{blank}{sign}{blank}{piece.low or piece.high}"


def _told(piece: Piece, name: str) -> Iterator[str]:
    """In words of both languages."""
    above = ("大于", "大于等于")[piece.low_in] + piece.low
    below = ("小于", "小于等于")[piece.high_in] + piece.high
    told = [part for part, there in ((above, piece.low), (below, piece.high)) if there]
    yield "且".join(told)
    yield f"{name}{'且'.join(told)}"
    more = ("greater than", "greater than or equal to")[piece.low_in] + f" {piece.low}"
    less = ("less than", "less than or equal to")[piece.high_in] + f" {piece.high}"
    said = [part for part, there in ((more, piece.low), (less, piece.high)) if there]
    yield " and ".join(said)
    yield f"{name} is {' and '.join(said)}"


def _other_ends(rng: random.Random, piece: Piece, answer: Answer) -> list[str]:
    made = []
    for side in ("low", "high"):
        end = piece.low if side == "low" else piece.high
        for form in atoms.formal(rng, answer.part(end))[:3] if end else []:
            other = piece._replace(low=form) if side == "low" else piece._replace(high=form)
            made.append(_brackets(other, ", ", "∞"))
    return made


# --- another region -------------------------------------------------------------------------------


def near(rng: random.Random, answer: Answer) -> list[str]:
    """An end moved or turned in sign, let in or left out; both ends mirrored; the other side."""
    text = answer.text
    region = read_region(fold(text).strip())
    made = [*_flipped(text), *numeral_edits(rng, text, most=8)]
    made += [
        text[: m.start()] + ("" if m[0] else "-") + text[m.end() :]
        for m in re.finditer(r"(?<![\d.\w)-])-?(?=[1-9])", text)
    ]
    read = pieces(text)
    if read is not None and len(read[1]) == 1 and _BRACKETS.fullmatch(text):
        made += _mirrored(read[1][0], text)
    if region is None:
        return distinct(made, text)
    return [new for new in distinct(made, text) if read_region(fold(new).strip()) is not None]


def _mirrored(piece: Piece, text: str) -> list[str]:
    """Both ends mirrored at zero; of a half line the other one from the same end."""
    comma = re.search(r"[,;]\s*", text)
    if comma is None:
        return []
    if not piece.low or not piece.high:
        low, high = text[1 : comma.start()].strip(), text[comma.end() : -1].strip()
        if piece.low:
            high = f"-{high.lstrip('+')}"
        else:
            low = f"+{low.lstrip('-')}"
        return [f"{_FACING[text[-1]]}{high}{comma[0]}{low}{_FACING[text[0]]}"]
    low, high = (e[1:] if e.startswith("-") else f"-{e}" for e in (piece.high, piece.low))
    if low == "-0" or high == "-0":
        return []
    return [f"{text[0]}{low}{comma[0]}{high}{text[-1]}"]


def _flipped(text: str) -> list[str]:
    """With one or both ends let in or left out, but for infinite ones."""
    orders = list(_SIGNED.finditer(text))
    table = _CLOSED if orders else _OPENED
    made, both, shift = [], text, 0
    for m in orders or _FINITE_END.finditer(text):
        sign = table.get(m[0], m[0])
        made.append(text[: m.start()] + sign + text[m.end() :])
        both = both[: m.start() + shift] + sign + both[m.end() + shift :]
        shift += len(sign) - len(m[0])
    return [*made, both]
