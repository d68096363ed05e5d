"""What two texts show before they are read as values: the same text, or signs that differ.

A currency, the case of a unit's prefix or a factorial distinguishes answers that have the same
letters and digits. It is read from the texts, since a value without a unit equals one with it.
"""

from __future__ import annotations

import re
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


def _signs(named: dict[str, str]) -> re.Pattern[str]:
    groups = (f"(?P<{name}>{sign})" for name, sign in named.items())
    return re.compile("|".join(groups), re.IGNORECASE)


_ANGLES = _signs(
    {
        "degree": r"°|\\circ|\bdegrees?\b|\d度",
        "minute": r"\d\s*['′](?!['′])\s*\Z|\barc-?min|角分",
        "second": r"\d\s*(?:''|″|\")\s*\Z|\barc-?sec|角秒",
    }
)
_RATES = _signs(
    {
        "year": r"\bannual|\b(?:a|per|each) year|\byearly|每年|年费",
        "month": r"\bmonthly|\b(?:a|per|each) month|每月|月费",
        "week": r"\bweekly|\b(?:a|per|each) week|每周",
        "day": r"\bdaily|\b(?:a|per|each) day|每天|每日",
        "hour": r"\bhourly|\b(?:an|per|each) hour|每小时",
    }
)
_BASE = re.compile(r"[)\d]\s*(?:[₂₈]|_\{?(?:2|8|16)\}?)\s*\Z")
"""A number in another base than ten: (11)₂."""
_FACTORIAL = re.compile(r"[\w)]!")
_PREFIXED = re.compile(r"(?<=[\d\s}])[mM](?=[A-ZΩ]?[a-zA-ZΩ]?(?![a-zA-Z]))")
"""The first letter of a unit that is milli, mega, or metre and molar."""
_COMMAND = re.compile(r"\\[A-Za-z](?![A-Za-z])")
_CASED = re.compile(
    r"print\s*\(|\boutputs?\b|\b[a-z]+\(\)|\b(?:symbol|genotypes?|formula|command|literal)\b"
    r"|输出|符号|化学式|基因型|变量名|命令"
)
_WORDS = re.compile(r"\w+")
_COUNTED = re.compile(r"[ACP]_\{?\w+\}?\s*\^\s*\{?\w+\}?|[ACP]\(\d+,\s*\d+\)|\\binom\{\w+\}\{\w+\}")
"""Numbers of arrangements, which are not evaluated."""
_WORD = re.compile(r"[A-Za-z]{4,}")
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
_DENIED = re.compile(r"[不非没]|\bnot\b|n't\b", re.IGNORECASE)
_COMPARED = re.compile(r"(?:[^<>=]*\w[^<>=]*)?(?P<sign>[<>=])(?:[^<>=]*\w[^<>=]*)?")
_MOST_COMPARED: Final = 40
_ASKS_FOR_A_SIGN = re.compile(r"[○〇◯□]|比较|\bcompare\b", re.IGNORECASE)
"""A comparison such as 5/8 < 3/4, and questions whose answer is its sign."""


_CHEMISTRY = re.compile(
    r"化学|离子|分子式|方程式|化合物"
    r"|\b(?:chemical|formula|ions?|compound|equation|reaction|molecul\w*)\b",
    re.IGNORECASE,
)
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
    shown = _shown(kind, expected, actual, question)
    return shown and Comparison(shown[0], f"{kind.value}:{shown[1]}")


def _shown(
    kind: AnswerType, expected: str, actual: str, question: str
) -> tuple[bool | None, str] | None:
    if (none := _none(expected, actual)) is not None:
        return none, "none" if none else "none-or-one"
    other = kind is not AnswerType.TEXT and _other_unit(expected, actual, question)
    if other is not False:
        return False if other else None, "other-unit"
    other_base = bool(_BASE.search(expected)) is not bool(_BASE.search(actual))
    if other_base or _disjoint(_RATES, f"{question} {expected}", actual):
        return None, "other-rate-or-base"
    if kind is AnswerType.SET and "{" in expected and actual.strip(" $")[:1] in "([":
        return None, "in-other-brackets"
    if plain(expected) == plain(actual) and plain(actual):
        if kind is AnswerType.NUMBER and _FACTORIAL.search(expected) and "!" not in actual:
            return False, "different"
        if _case_matters(expected, actual, question):
            return _other_case(kind, expected, actual)
        return True, "same-text"
    if kind is AnswerType.NUMBER and _COUNTED.fullmatch(actual.strip(" $")):
        return None, "not-evaluated"
    return _matched(expected, actual, question)


def _matched(expected: str, actual: str, question: str) -> tuple[bool | None, str] | None:
    """Chemical formulas and equations, matched pairs, and things in an order."""
    if (chemical := _chemical(expected, actual, question)) is not None:
        return chemical, "same-substances" if chemical else "other-substances"
    one, other = (_divided(expected), _divided(actual))
    if not (one and other) and _ASKS_FOR_A_SIGN.search(question):
        one, other = (_sign(expected, 1), _sign(actual, _MOST_COMPARED))
    if one and other:
        return one == other, "equal" if one == other else "different"
    wanted, given = _pairs(expected), _pairs(actual)
    if 1 < len(wanted) == len(given):
        same = wanted == given
        return same, "same-pairs" if same else "other-pairs"
    return _ranks(expected, actual, question)


def _divided(text: str) -> tuple[str, ...]:
    """A quotient and its remainder, 7……2; empty for any other text."""
    match = _REMAINDER.match(fold(text).replace("(", "").replace(")", ""))
    return match.groups() if match else ()


def _sign(text: str, most: int) -> tuple[str, ...]:
    """The sign alone, or in a comparison of at most so many characters; else empty."""
    match = _COMPARED.fullmatch(fold(text).strip())
    return match.groups() if match and len(match[0]) <= most else ()


def _chemical(expected: str, actual: str, question: str) -> bool | None:
    """Whether two chemical formulas or equations are the same; None where that is not shown.

    Different ones differ in atoms, charge or coefficients; two formulas of the same atoms, C2H4O2
    and CH3COOH, or an equation in other multiples, may be meant.
    """
    wanted, substance = reaction(expected), species(expected)
    cue = _CHEMISTRY.search(question) is not None
    alone = substance and len(substance.atoms) == 1 and not substance.charge  # K2, a mountain
    if not (wanted or substance) or (alone and not cue):
        return None
    said = actual[-_MOST:]
    places = (actual, "" if _DENIED.search(said) else _IN_PROSE.sub("", said))
    if wanted:
        given = next(filter(None, map(reaction, places)), None)
        if given is None or wanted == given:
            return None if given is None else True
        return None if wanted.is_multiple(given) or not cue else False
    text, found = next(((t, s) for t in places if (s := species(t))), ("", None))
    if found is None or substance == found:
        texts = (bare(t).replace("^", "") for t in (expected, text))
        return True if found and len({*texts}) == 1 else None
    return False if cue else None


def _other_case(kind: AnswerType, expected: str, actual: str) -> tuple[bool | None, str] | None:
    """Texts that differ in case; None if they are the same words in another order: AB, ab."""
    if sorted(_WORDS.findall(expected)) == sorted(_WORDS.findall(actual)):
        return None
    shown = kind is not AnswerType.NUMBER and sorted(expected) != sorted(actual)
    return False if shown else None, "other-case-or-sign"


def _none(reference: str, answer: str) -> bool | None:
    """Whether both state that there is no answer; False if one does and the other has a value."""
    wanted, given = says_none(reference), says_none(answer)
    if wanted is given:
        return wanted or None
    value = values.read(answer if wanted else reference, region=True)
    if value == Region(()):
        return True
    return False if values.is_read(value) else None


_CONVERTED: Final = (
    ("cent", "dollar"), ("jiao", "元"), ("jiao", "yuan"), ("角", "yuan"), ("fen", "元"),
    ("penc", "pound"),
)  # fmt: skip
"""Parts of a currency with its unit."""


def _other_unit(reference: str, answer: str, question: str) -> bool | None:
    """Whether the answer has another angle or currency; None if it may be the same: $12, HK$12."""
    if _disjoint(_ANGLES, reference, answer):
        return True
    wanted, given = currencies(reference), currencies(answer)
    converted = any(all(word in reference + answer for word in pair) for pair in _CONVERTED)
    asked, kinds = (
        {kind for kind, _ in named} for named in (wanted or currencies(question), given)
    )
    if not asked or not given or wanted & given or converted:
        return False
    if not wanted:
        return False if asked & kinds or "$" in question else None
    return None if "dollar" in asked | kinds and asked | kinds <= {*DOLLARS} else True


def _disjoint(signs: re.Pattern[str], wanted: str, given: str) -> bool:
    """Whether both have signs of the kind, and none in common; the shorter is searched first."""
    theirs = {sign.lastgroup for sign in signs.finditer(given)}
    mine = {sign.lastgroup for sign in signs.finditer(wanted)} if theirs else theirs
    return bool(mine) and not mine & theirs


def _case_matters(reference: str, answer: str, question: str) -> bool:
    r"""Whether two texts that differ at most in case differ in what the case means.

    It does in the prefix of a unit (mHz, MHz), in a command of one letter (``\d``, ``\D``), and in
    short texts that have a letter in both cases: the genotypes Aa and aa; and in what the question
    asks for as the output of a program or as a symbol.
    """
    left, right = ("".join(fold(text).strip(" .").split()) for text in (reference, answer))
    if left == right:
        return False
    if _CASED.search(question):
        return True
    if any(part.findall(left) != part.findall(right) for part in (_PREFIXED, _COMMAND)):
        return True
    both = {c.lower() for c in left if c.isupper()} & {c for c in left if c.islower()}
    return bool(both) and not _WORD.search(left) and "\\" not in left


def _ranks(expected: str, actual: str, question: str) -> tuple[bool, str] | None:
    """Whether two rows of the same things are in the same order: a<b<c and c>b>a."""
    wanted, given = (_ranked(text, question) for text in (expected, actual))
    if not wanted or sorted(wanted) != sorted(given) or not re.search("[<>]", expected + actual):
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


def _pairs(text: str) -> frozenset[frozenset[str]]:
    bare = plain(text)
    matched = _PAIR.findall(bare) if _PAIRS.fullmatch(bare) else []
    return frozenset(map(frozenset, matched))
