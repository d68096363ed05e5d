"""Compare two answers by what is written: no answer at all, notations, or signs that differ.

A currency, the case of a unit's prefix, a prime or a relation distinguishes answers that have the
same letters and digits. It is read from the texts, since a value without a unit equals one with it.
``STEPS`` are asked in turn; the first that can tell decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from gradegpt.answers import values
from gradegpt.answers.answer import Answer
from gradegpt.answers.chemistry import bare, reaction, species
from gradegpt.answers.none import says_none
from gradegpt.answers.quantity import quantity
from gradegpt.answers.text import fold, plain
from gradegpt.answers.types import Region
from gradegpt.answers.units import DOLLARS, currencies
from gradegpt.core.schema import AnswerType
from gradegpt.rules.compare.base import Comparison
from gradegpt.rules.cues import cue

_Shown = tuple[bool | None, str] | None
"""Whether two texts are the same, and why; None where the step cannot tell."""
_ANGLES: Final = re.compile(
    r"(?P<degree>°|\\circ|\bdegrees?\b|\d度)|(?P<minute>\d\s*['′](?!['′])\s*\Z|\barc-?min|角分)"
    r"|(?P<second>\d\s*(?:''|″|\")\s*\Z|\barc-?sec|角秒)",
    re.IGNORECASE,
)
_BASE: Final = re.compile(r"[)\d]\s*(?:[₂₈]|_\{?(?:2|8|16)\}?)\s*\Z|(?<!\w)0[xX][\dA-Fa-f]")
"""A number in another base than ten: (11)₂, 0xFF."""
_SMALL: Final = ("cent", "jiao", "角", "fen", "分", "penc")
"""Parts of a currency."""
_MONEY: Final = frozenset("$€£¥￥")
_BY_CASE: Final = re.compile(
    r"(?<=\d)\s*[A-Za-z]?[bB](?![A-Za-z])|(?<=[\d\s}])[mM](?=[A-ZΩ]?[a-zA-ZΩ]?(?![a-zA-Z]))"
    r"|\\[A-Za-z](?![A-Za-z])"
)
"""What means another thing in another case: milli and mega, bits and bytes, a command."""
_CASED, _CHEMISTRY = map(cue, ("asks for a symbol", "chemistry"))
_LETTER: Final = re.compile(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])")
_NOT_A_NAME: Final = re.compile(r"[a-z]{3}|[\u3400-\u9fff]")
_WORD: Final = re.compile(r"[A-Za-z]{4}|\\")
_RELATIONS: Final = "⊥∥≌~≠=<>≤≥∈∉⊂⊆⊃⊇≡¬∧∨∀∃∩∪|&"
"""Signs in the place of one another that make another statement of the same names."""
_RELATION: Final = re.compile(rf"([{_RELATIONS}]+)")
_MARKS: Final = str.maketrans("", "", "'~¬")
_SPELLINGS: Final = (("‖", "∥"), ("∽", "~"), ("<=", "≤"), (">=", "≥"))
_COUNTED: Final = re.compile(
    r"[ACP]_\{?\w+\}?\s*\^\s*\{?\w+\}?|[ACP]\(\d+,\s*\d+\)|\\binom\{\w+\}\{\w+\}"
)
"""Numbers of arrangements, which are not evaluated."""
_PAIR: Final = re.compile(
    r"((?P<n>\d{1,2}|\(\d{1,2}\))|[a-z])(?:-+>?|:|→)?((?(n)[a-z]|(?:\d{1,2}|\(\d{1,2}\))))(?![a-z])"
)
"""Numbers that are matched with letters: 1-c, 2-a; ①C②A."""
_REMAINDER: Final = re.compile(
    r"(?:.*=)?\s*(?P<n>\d+)\s*(?:\.{3,}|余|r\b|r(?=\s?\d)|remainder)\s*(?P<rest>\d+)\s*",
    re.IGNORECASE,
)
"""A quotient with its remainder: 7……2, 7 r 2."""
_ROW: Final = 3
"""Least things of a row."""
_ORDER: Final = re.compile(
    r"(?P<rises>从小到大|由小到大|由[低弱]到[高强]|\b(?:in|a)(?:creas|scend)ing\b"
    r"|\b(?:small|low)est to)"
    r"|从大到小|由大到小|由[高强]到[低弱]|\b(?:de|des)(?:creas|cend)ing\b|\b(?:larg|high)est to",
    re.IGNORECASE,
)
"""Questions that ask for the least first, or for the greatest."""


def as_written(reference: Answer, answer: Answer, question: str) -> Comparison | None:
    """The comparison of the texts; None if the values decide."""
    texts = (reference.text, answer.text)
    signs = {*texts[0], *texts[1]}
    for gate, step in STEPS:
        if gate.isdisjoint(signs) and gate:
            continue
        if shown := step(reference.kind, *texts, question):
            return Comparison(shown[0], f"{reference.kind.value}:{shown[1]}")
    return None


def _none(_kind: AnswerType, expected: str, actual: str, _question: str) -> _Shown:
    """Whether both state that there is no answer; not so if one does and the other has a value."""
    wanted, given = says_none(expected), says_none(actual)
    if wanted is given:
        return (True, "none") if wanted else None
    value = values.read(actual if wanted else expected, region=True)
    if value == Region(()):
        return True, "none"
    return (False, "none-or-one") if values.is_read(value) else None


def _other_unit(kind: AnswerType, expected: str, actual: str, question: str) -> _Shown:
    """Whether the answer has another angle or currency; open where it may be the same: $, HK$."""
    if kind is AnswerType.TEXT:
        return None
    if theirs := {sign.lastgroup for sign in _ANGLES.finditer(actual)}:
        mine = {sign.lastgroup for sign in _ANGLES.finditer(expected)}
        if mine and not mine & theirs:
            return False, "other-unit"
    if not (given := currencies(actual)):
        return None
    wanted = currencies(expected)
    asked, kinds = ({name for name, _ in some} for some in (wanted or currencies(question), given))
    by_size = wanted and asked & kinds and _MONEY.isdisjoint(expected + actual)
    if not asked or wanted & given or by_size:
        return None  # 600 dollars and 60000 cents have values
    if not wanted:
        by_sign = not _MONEY.isdisjoint(actual) and not currencies(question) & given  # $5, in cents
        one = (asked & kinds and not by_sign) or "$" in question
        return None if one else (None, "other-unit")
    dollars = "dollar" in asked | kinds and asked | kinds <= {*DOLLARS}
    parts = any(part in expected + actual for part in _SMALL)
    return None if dollars or parts else False, "other-unit"


def _other_base(_kind: AnswerType, expected: str, actual: str, _question: str) -> _Shown:
    """Open where the base of a number differs."""
    other = bool(_BASE.search(expected)) is not bool(_BASE.search(actual))
    return (None, "other-rate-or-base") if other else None


def _same_text(kind: AnswerType, expected: str, actual: str, question: str) -> _Shown:
    """The same text but for spaces, fonts and marks; the case of its letters may have a meaning."""
    if plain(expected) != plain(actual) or not plain(actual):
        counted = kind is AnswerType.NUMBER and _COUNTED.fullmatch(actual.strip(" $"))
        return (None, "not-evaluated") if counted else None
    left, right = _tight(expected), _tight(actual)
    if left == right or (case := case_differs(left, right, question)) is None:
        return True, "same-text"
    shown = case and (kind is not AnswerType.NUMBER or left[-1] in "bB")
    return False if shown and sorted(expected) != sorted(actual) else None, "other-case-or-sign"


def _tight(text: str) -> str:
    return "".join(fold(text).strip(" .").split())


def case_differs(left: str, right: str, question: str) -> bool | None:
    r"""Whether two texts, equal but for case, differ in what the case means; False if they may.

    They do in the prefix of a unit (mHz, MHz), in a command of one letter (``\d``, ``\D``), in
    short texts that have a letter in both cases: the genotypes Aa and aa; and in what the question
    asks for as the output of a program or as a symbol. Symbols of one or two letters may differ.
    """
    if left == right or left.casefold() != right.casefold():
        return None
    if _CASED.search(question) or _BY_CASE.findall(left) != _BY_CASE.findall(right):
        return True
    if {c.lower() for c in left if c.isupper()} & {c for c in left if c.islower()}:
        return None if _WORD.search(left) else True
    if len(left.lstrip("-")) == 1:  # R and r may be two names, of which the question has one
        mine, theirs, asked = ({*_LETTER.findall(text)} for text in (left, right, question))
        return None if theirs <= asked and not mine <= asked else False
    return False if len(left) == 2 and (species(left) or species(right)) else None


def _other_relation(_kind: AnswerType, expected: str, actual: str, _question: str) -> _Shown:
    """Whether the same names stand in another relation: AB ∥ CD and AB ⊥ CD, f and f'."""
    left, right = _tight(expected).rstrip(",;"), _tight(actual).rstrip(",;")
    for spelling, sign in _SPELLINGS:
        left, right = left.replace(spelling, sign), right.replace(spelling, sign)
    if left == right or _NOT_A_NAME.search(left + right):
        return None
    mine, theirs = _RELATION.split(left), _RELATION.split(right)
    if mine != theirs and mine[::2] == theirs[::2]:
        return False, "other-case-or-sign"
    if mine != theirs and "".join(mine[::2]) == "".join(theirs[::2]) and all((*mine, *theirs)):
        return None, "other-case-or-sign"
    unmarked = [text.removeprefix("!").translate(_MARKS) for text in (left, right)]
    marked = len(left) != len(right) and not re.search(r"\d'|[~]-?\d", left + right)
    return (False, "other-case-or-sign") if marked and unmarked[0] == unmarked[1] else None


def _chemical(_kind: AnswerType, expected: str, actual: str, question: str) -> _Shown:
    """Whether two chemical formulas or equations are the same; None where that is not shown.

    Different ones differ in atoms, charge or coefficients; two formulas of the same atoms, C2H4O2
    and CH3COOH, or an equation in other multiples, may be meant.
    """
    wanted, mine = reaction(expected), species(expected)
    given, theirs = (reaction(actual), species(actual)) if wanted or mine else (None, None)
    if wanted and given:
        same, unlike = wanted == given, not wanted.is_multiple(given)
    elif wanted or not mine or not theirs:
        return None
    else:
        same, unlike = mine == theirs, mine != theirs
    if not same:
        other = unlike and _CHEMISTRY.search(question)
        return (False, "other-substances") if other else None
    if wanted:
        return True, "same-substances"
    texts = {bare(text).replace("^", "") for text in (expected, actual)}
    return (True, "same-substances") if len(texts) == 1 else None


def _divided(_kind: AnswerType, expected: str, actual: str, _question: str) -> _Shown:
    """A quotient and its remainder, 7……2."""
    texts = [fold(text).replace("(", "").replace(")", "") for text in (expected, actual)]
    one, other = map(_REMAINDER.fullmatch, texts)
    if not one or not other:
        return None
    same = one.groups() == other.groups()
    return same, "equal" if same else "different"


def _matched(_kind: AnswerType, expected: str, actual: str, _question: str) -> _Shown:
    wanted, given = _pairs(expected), _pairs(actual)
    if not 1 < len(wanted) == len(given):
        return None
    return wanted == given, "same-pairs" if wanted == given else "other-pairs"


def _pairs(text: str) -> frozenset[frozenset[str]]:
    """The pairs of which a text consists; empty for any other text."""
    tight = plain(text)
    if not _PAIR.match(tight) or _PAIR.sub("", tight).strip(",;、."):
        return frozenset()
    return frozenset(frozenset(m.group(1, 3)) for m in _PAIR.finditer(tight))


def _ranks(_kind: AnswerType, expected: str, actual: str, question: str) -> _Shown:
    """Whether two rows of the same things are in the same order: a<b<c and c>b>a."""
    wanted = _ranked(expected, question)
    given = _ranked(actual, question) if wanted else []
    if not wanted or sorted(wanted) != sorted(given):
        return None
    return wanted == given, "same-order" if wanted == given else "other-order"


def _ranked(text: str, question: str) -> list[str]:
    """What is in a row of ``<`` or ``>``, or in a list in the order asked for; the least first."""
    signs = {"<", ">"} & {*(text := fold(text))}
    asked = None if signs else _ORDER.search(question)
    for sign in "<>、":
        text = text.replace(sign, ",")
    pieces = [piece for piece in text.split(",") if piece.strip()]
    if len(signs) > 1 or len(pieces) < _ROW or not (signs or asked):
        return []
    amounts = [quantity(piece) for piece in pieces]
    row = [str(a.value) if a else plain(t) for a, t in zip(amounts, pieces, strict=True)]
    falls = asked["rises"] is None if asked else ">" in signs
    return row[::-1] if falls else row


_Step = Callable[[AnswerType, str, str, str], _Shown]
STEPS: Final[tuple[tuple[frozenset[str], _Step], ...]] = (
    (frozenset(), _none),
    (frozenset(), _other_unit),
    (frozenset("_₂₈xX"), _other_base),
    (frozenset(), _same_text),
    (frozenset(f"{_RELATIONS}\\≅∽∼⟂⩽⩾/'’′″‴⁗‖"), _other_relation),
    (frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), _chemical),
    (frozenset("余.…rR"), _divided),
    (frozenset("123①②③"), _matched),
    (frozenset("<>"), _ranks),
)
"""The steps in order, each with the signs of which one of the texts must have one."""
