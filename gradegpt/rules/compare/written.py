"""What two texts show before they are read as values: the same text, or signs that differ.

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
from gradegpt.answers.relations import relation, same
from gradegpt.answers.text import fold, plain
from gradegpt.answers.types import Region
from gradegpt.answers.units import DOLLARS, currencies
from gradegpt.core.schema import AnswerType
from gradegpt.rules.compare.base import Comparison

Shown = tuple[bool | None, str] | None
"""Whether two texts are the same, and why; None where the step cannot tell."""


def _kinds(**named: str) -> re.Pattern[str]:
    groups = (f"(?P<{name}>{sign})" for name, sign in named.items())
    return re.compile("|".join(groups), re.IGNORECASE)


_ANGLES = _kinds(
    degree=r"°|\\circ|\bdegrees?\b|\d度",
    minute=r"\d\s*['′](?!['′])\s*\Z|\barc-?min|角分",
    second=r"\d\s*(?:''|″|\")\s*\Z|\barc-?sec|角秒",
)
_BASE = re.compile(r"[)\d]\s*(?:[₂₈]|_\{?(?:2|8|16)\}?)\s*\Z")
"""A number in another base than ten: (11)₂."""
_CONVERTED: Final = (
    ("cent", "dollar"), ("jiao", "元"), ("jiao", "yuan"), ("角", "yuan"), ("fen", "元"),
    ("penc", "pound"),
)  # fmt: skip
"""Parts of a currency with its unit."""
_BY_CASE = re.compile(
    r"(?<=\d)\s*[A-Za-z]?[bB](?![A-Za-z])|(?<=[\d\s}])[mM](?=[A-ZΩ]?[a-zA-ZΩ]?(?![a-zA-Z]))"
    r"|\\[A-Za-z](?![A-Za-z])"
)
"""What means another thing in another case: milli and mega, bits and bytes, a command."""
CASED = re.compile(
    r"print\s*\(|\b(?:code|program|script)\b[^.?]{0,20}\bprints?\b|\boutputs?\b|\b[a-z]+\(\)|\b(?:symbol|genotypes?|alleles?|formula|command|literal)\b"
    r"|输出|符号|化学式|分子式|基因|变量名|命令"
)
"""Questions in whose answers the case of a letter counts."""
_WORD = re.compile(r"[A-Za-z]{4,}")
_LETTERS = re.compile(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])")
_NOT_A_NAME = re.compile(r"[a-z]{3}|[\u3400-\u9fff]")
_RELATIONS: Final = "⊥∥≌~≠=<>≤≥∈∉⊂⊆⊃⊇≡¬∧∨∀∃∩∪|&"
_RELATION = re.compile(rf"([{_RELATIONS}]+)")
"""Signs in the place of one another that make another statement of the same names."""
_NAMED = re.compile(
    r"(?<![A-Za-z\u3400-\u9fff])(?:the |其中|所以|因此|则|故|即|且)?"
    r"(?P<name>[A-Za-z]{1,12}?|[\u3400-\u9fff]{1,8}?)"
    r"\s*(?:=|:|\bis\b|\bare\b|是|为|等于)?\s*(?P<value>-?\d+(?:\.\d+)?)(?![\w./]|\s*[-+*/^])",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\W*(?:\b(?:and|so|while|but)\b|和|而|与)?\W*", re.IGNORECASE)
_COUNTED = re.compile(r"[ACP]_\{?\w+\}?\s*\^\s*\{?\w+\}?|[ACP]\(\d+,\s*\d+\)|\\binom\{\w+\}\{\w+\}")
"""Numbers of arrangements, which are not evaluated."""
_NTH = r"(?:\d{1,2}|\(\d{1,2}\))"
_TO = r"(?:-+>?|:|→)?"
_PAIR = re.compile(rf"({_NTH}|[a-z]){_TO}({_NTH}|[a-z])(?![a-z.])")
_PAIRS = re.compile(rf"(?:(?:{_NTH}{_TO}[a-z]|[a-z]{_TO}{_NTH})[,;、.]?)+", re.IGNORECASE)
"""Numbers that are matched with letters: 1-c, 2-a; ①C②A."""
_REMAINDER = re.compile(
    r"(?:.*[=＝])?\s*(?P<n>\d+)\s*(?:\.{3,}|余|r\b|r(?=\s?\d)|remainder)\s*(?P<rest>\d+)\s*\Z",
    re.IGNORECASE,
)
"""A quotient with its remainder: 7……2, 7 r 2."""
_CHEMISTRY = re.compile(
    r"化学|离子|分子式|方程式|化合物"
    r"|\b(?:chemical|formula|ions?|compound|equation|reaction|molecul\w*)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(r"[不非没]|\bnot\b|n't\b", re.IGNORECASE)
_IN_PROSE = re.compile(
    r".*(?:[\u3400-\u9fff]\s*[:：]?|[:：]|(?<![A-Z])[a-z]{2,})\s*(?=[*$\\(\dA-Z])", re.DOTALL
)
"""What stands before a formula at the end of a sentence."""
_MOST: Final = 200
_ROW: Final = 3
"""Least things of a row."""
_RISING = re.compile(
    r"从小到大|由小到大|由[低弱]到[高强]|\b(?:increasing|ascending)\b|\b(?:small|low)est to",
    re.IGNORECASE,
)
_FALLING = re.compile(
    r"从大到小|由大到小|由[高强]到[低弱]|\b(?:de|des)(?:creas|cend)ing\b|\b(?:larg|high)est to",
    re.IGNORECASE,
)
"""Questions that ask for the least first, or for the greatest."""


def as_written(reference: Answer, answer: Answer, question: str) -> Comparison | None:
    """The comparison of the texts; None if the values decide."""
    kind, expected, actual = reference.kind, reference.text, answer.text
    stated, given = relation(expected), relation(actual)
    if stated and given:
        return Comparison(same(stated, given), f"{kind.value}:relation")
    for gate, step in STEPS:
        if gate is not None and not gate.search(expected) and not gate.search(actual):
            continue
        if shown := step(kind, expected, actual, question):
            return Comparison(shown[0], f"{kind.value}:{shown[1]}")
    return None


def _none(_kind: AnswerType, expected: str, actual: str, _question: str) -> Shown:
    """Whether both state that there is no answer; not so if one does and the other has a value."""
    wanted, given = says_none(expected), says_none(actual)
    if wanted is given:
        return (True, "none") if wanted else None
    value = values.read(actual if wanted else expected, region=True)
    if value == Region(()):
        return True, "none"
    return (False, "none-or-one") if values.is_read(value) else None


def _other_unit(kind: AnswerType, expected: str, actual: str, question: str) -> Shown:
    """Whether the answer has another angle or currency; open where it may be the same: $, HK$."""
    if kind is AnswerType.TEXT:
        return None
    if _differ(_ANGLES, expected, actual):
        return False, "other-unit"
    if not (given := currencies(actual)):
        return None
    wanted = currencies(expected)
    asked, kinds = ({name for name, _ in some} for some in (wanted or currencies(question), given))
    converted = any(all(word in expected + actual for word in pair) for pair in _CONVERTED)
    if not asked or wanted & given or converted:
        return None
    if not wanted:
        return None if asked & kinds or "$" in question else (None, "other-unit")
    dollars = "dollar" in asked | kinds and asked | kinds <= {*DOLLARS}
    return None if dollars else False, "other-unit"


def _other_base(kind: AnswerType, expected: str, actual: str, _question: str) -> Shown:
    """Open where the base of a number differs, or a set has other brackets."""
    if bool(_BASE.search(expected)) is not bool(_BASE.search(actual)):
        return None, "other-rate-or-base"
    listed = kind is AnswerType.SET and "{" in expected and actual.strip(" $")[:1] in "(["
    return (None, "in-other-brackets") if listed else None


def _differ(signs: re.Pattern[str], wanted: str, given: str) -> bool:
    """Whether both have signs of the kind, and none in common; the shorter is searched first."""
    theirs = {sign.lastgroup for sign in signs.finditer(given)}
    mine = {sign.lastgroup for sign in signs.finditer(wanted)} if theirs else theirs
    return bool(mine) and not mine & theirs


def _same_text(kind: AnswerType, expected: str, actual: str, question: str) -> Shown:
    """The same text but for spaces, fonts and marks; the case of its letters may have a meaning."""
    if plain(expected) != plain(actual) or not plain(actual):
        counted = kind is AnswerType.NUMBER and _COUNTED.fullmatch(actual.strip(" $"))
        return (None, "not-evaluated") if counted else None
    left, right = ("".join(fold(text).strip(" .").split()) for text in (expected, actual))
    if left == right or (case := case_differs(left, right, question)) is None:
        return True, "same-text"
    if sorted(re.findall(r"\w+", expected)) == sorted(re.findall(r"\w+", actual)):
        return None  # AB, ab in another order
    shown = case and (kind is not AnswerType.NUMBER or left[-1] in "bB")
    return False if shown and sorted(expected) != sorted(actual) else None, "other-case-or-sign"


def case_differs(left: str, right: str, question: str) -> bool | None:
    r"""Whether two texts, equal but for case, differ in what the case means; False if they may.

    They do in the prefix of a unit (mHz, MHz), in a command of one letter (``\d``, ``\D``), in
    short texts that have a letter in both cases: the genotypes Aa and aa; and in what the question
    asks for as the output of a program or as a symbol. Symbols of one or two letters may differ.
    """
    if left == right or left.casefold() != right.casefold():
        return None
    if CASED.search(question) or _BY_CASE.findall(left) != _BY_CASE.findall(right):
        return True
    if {c.lower() for c in left if c.isupper()} & {c for c in left if c.islower()}:
        return None if _WORD.search(left) or "\\" in left else True
    mine, theirs = ({*_LETTERS.findall(text)} for text in (left, right))
    asked = {*_LETTERS.findall(question)} if mine != theirs else set()
    if mine != theirs and mine ^ theirs <= asked and not _NOT_A_NAME.search(left):
        return True  # R and r are two names in the question
    if len(left.lstrip("-")) == 1:
        return None if theirs <= asked and not mine <= asked else False
    return False if len(left) == 2 and (species(left) or species(right)) else None


def _other_signs(kind: AnswerType, expected: str, actual: str, _question: str) -> Shown:
    """Whether the same names stand in another relation: AB ∥ CD and AB ⊥ CD, f and f'."""
    left, right = ("".join(fold(text).strip(" .").split()) for text in (expected, actual))
    if left == right or _NOT_A_NAME.search(left + right):
        return None
    one, other = (_RELATION.split(t.replace("<=", "≤").replace(">=", "≥")) for t in (left, right))
    if one[::2] == other[::2] and one != other:
        return False, "other-case-or-sign"
    if "".join(one[::2]) == "".join(other[::2]) and all((*one, *other)) and one != other:
        return None, "other-case-or-sign"
    marked = [re.sub("['~¬]|^!", "", text) for text in (left, right)]
    if (
        marked[0] == marked[1]
        and (len(left) != len(right))
        and not re.search(r"\d'|[~]-?\d", left + right)
    ):
        return False, "other-case-or-sign"
    return None


def _by_name(_kind: AnswerType, expected: str, actual: str, _question: str) -> Shown:
    """Values beside names: GCF 4, LCM 60 are not LCM 4, GCF 60, in whatever order."""
    wanted, given = _named(expected), _named(actual)
    if len(wanted) < 2 or wanted.keys() != given.keys():
        return None
    if sorted(wanted.values()) != sorted(given.values()):
        return None
    if wanted != given:
        return False, "different"
    rest = [_NAMED.sub("", text) for text in (expected, actual)]
    return (True, "equal") if all(map(_BETWEEN.fullmatch, rest)) else None


def _named(text: str) -> dict[str, str]:
    found = [(m["name"].casefold(), m["value"]) for m in _NAMED.finditer(fold(text))]
    return dict(found) if len(dict(found)) == len(found) else {}


def _chemical(_kind: AnswerType, expected: str, actual: str, question: str) -> Shown:
    """Whether two chemical formulas or equations are the same; None where that is not shown.

    Different ones differ in atoms, charge or coefficients; two formulas of the same atoms, C2H4O2
    and CH3COOH, or an equation in other multiples, may be meant.
    """
    wanted, substance = reaction(expected), species(expected)
    if not (wanted or substance):
        return None
    cue = _CHEMISTRY.search(question) is not None
    if substance and not cue and len(substance.atoms) == 1 and not substance.charge:
        return None  # K2, a mountain
    said = actual[-_MOST:]
    places = (actual, "" if _DENIED.search(said) else _IN_PROSE.sub("", said))
    other = (False, "other-substances") if cue else None
    if wanted:
        given = next(filter(None, map(reaction, places)), None)
        if given is None or wanted == given:
            return None if given is None else (True, "same-substances")
        return None if wanted.is_multiple(given) else other
    text, found = next(((t, s) for t in places if (s := species(t))), ("", None))
    if found is None or substance != found:
        return other if found else None
    texts = {bare(t).replace("^", "") for t in (expected, text)}
    return (True, "same-substances") if len(texts) == 1 else None


def _divided(_kind: AnswerType, expected: str, actual: str, _question: str) -> Shown:
    """A quotient and its remainder, 7……2."""
    found = [
        _REMAINDER.match(fold(t).replace("(", "").replace(")", "")) for t in (expected, actual)
    ]
    one, other = (match.groups() if match else () for match in found)
    return (one == other, "equal" if one == other else "different") if one and other else None


def _matched(_kind: AnswerType, expected: str, actual: str, _question: str) -> Shown:
    wanted, given = _pairs(expected), _pairs(actual)
    if not 1 < len(wanted) == len(given):
        return None
    return wanted == given, "same-pairs" if wanted == given else "other-pairs"


def _pairs(text: str) -> frozenset[frozenset[str]]:
    bare = plain(text)
    return frozenset(map(frozenset, _PAIR.findall(bare) if _PAIRS.fullmatch(bare) else []))


def _ranks(_kind: AnswerType, expected: str, actual: str, question: str) -> Shown:
    """Whether two rows of the same things are in the same order: a<b<c and c>b>a."""
    if not (wanted := _ranked(expected, question)):
        return None
    given = _ranked(actual, question)
    if sorted(wanted) != sorted(given):
        return None
    return wanted == given, "same-order" if wanted == given else "other-order"


def _ranked(text: str, question: str) -> list[str]:
    """What is in a row of ``<`` or ``>``, or in a list in the order asked for; the least first."""
    signs = {*re.findall("[<>]", text := fold(text))}
    pieces = [piece for piece in re.split(r"[<>]" if signs else r"[,、]", text) if piece.strip()]
    falls = ">" in signs if signs else _FALLING.search(question)
    if len(signs) > 1 or len(pieces) < _ROW or not (signs or falls or _RISING.search(question)):
        return []
    amounts = [quantity(piece) for piece in pieces]
    row = [str(a.value) if a else plain(t) for a, t in zip(amounts, pieces, strict=True)]
    return row[::-1] if falls else row


Step = Callable[[AnswerType, str, str, str], Shown]
STEPS: Final[tuple[tuple[re.Pattern[str] | None, Step], ...]] = (
    (re.compile(r"[A-Za-z\u3400-\u9fff]"), _none),
    (re.compile(r"[^\d.,]"), _other_unit),
    (re.compile(r"[_₂₈{]"), _other_base),
    (None, _same_text),
    (re.compile(rf"[{_RELATIONS}\\≅∽∼⟂⩽⩾/'’′″‴⁗]"), _other_signs),
    (re.compile(r"\D\d.*\D\d", re.DOTALL), _by_name),
    (re.compile(r"[A-Z]"), _chemical),
    (re.compile(r"余|\.\.\.|…|r", re.IGNORECASE), _divided),
    (re.compile(r"\d"), _matched),
    (re.compile("[<>]"), _ranks),
)
"""The steps in order, each with the signs of which one of the texts must have one."""
