"""Signs that distinguish answers with the same letters and digits: a unit's case, a currency, a !.

They are read from the texts, since a value without a unit equals one with it.
"""

from __future__ import annotations

import re

from gradegpt.answers.text import fold


def _signs(named: dict[str, str]) -> re.Pattern[str]:
    return re.compile(
        "|".join(f"(?P<{name}>{sign})" for name, sign in named.items()), re.IGNORECASE
    )


_CURRENCIES = _signs(
    {
        "dollar": r"(?<!\$)\\\$|^\s*\$(?=\s*\d[^$]*\Z)|\bdollars?\b|\bUSD\b|美元",
        "cent": r"\d\s*cents?\b|¢|美分",
        "euro": r"€|\beuros?\b|\bEUR\b|欧元",
        "pound": r"£|\bGBP\b|英镑",
        "yuan": r"¥|\byuan\b|\bRMB\b|\bCNY\b|人民币|\d[万亿]?元(?!素)",
        "yen": r"\byen\b|\bJPY\b|日元",
    }
)
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
_FACTORIAL = re.compile(r"[\w)]!")
_PREFIXED = re.compile(r"(?<=[\d\s}])[mM](?=[A-ZΩ]?[a-zA-ZΩ]?(?![a-zA-Z]))")
"""The first letter of a unit that is milli, mega, or metre and molar."""
_COMMAND = re.compile(r"\\[A-Za-z](?![A-Za-z])")
_CASED = re.compile(
    r"print\s*\(|\boutputs?\b|\b[a-z]+\(\)|\b(?:symbol|genotypes?|formula|command|literal)\b"
    r"|输出|符号|化学式|基因型|变量名|命令"
)
_COUNTED = re.compile(r"[ACP]_\{?\w+\}?\s*\^\s*\{?\w+\}?|[ACP]\(\d+,\s*\d+\)|\\binom\{\w+\}\{\w+\}")
"""Numbers of arrangements, which are not evaluated."""
_WORD = re.compile(r"[A-Za-z]{4,}")


def other_sign(reference: str, answer: str) -> bool:
    """Whether they have different currencies, or one has degrees and the other minutes."""
    return any(_disjoint(signs, reference, answer) for signs in (_CURRENCIES, _ANGLES))


def other_rate(asked: str, answer: str) -> bool:
    """Whether the answer is for another time than the question: a month, where a year is asked."""
    return _disjoint(_RATES, asked, answer)


def _disjoint(signs: re.Pattern[str], *texts: str) -> bool:
    left, right = ({sign.lastgroup for sign in signs.finditer(text)} for text in texts)
    return bool(left and right) and not left & right


def other_base(reference: str, answer: str) -> bool:
    """Whether one of the two is a number in another base than ten: (11)₂."""
    return (_BASE.search(reference) is None) is not (_BASE.search(answer) is None)


def case_matters(reference: str, answer: str, question: str = "") -> bool:
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
    for letters in (_PREFIXED, _COMMAND):
        if letters.findall(left) != letters.findall(right):
            return True
    both = {c.lower() for c in left if c.isupper()} & {c for c in left if c.islower()}
    return bool(both) and not _WORD.search(left) and "\\" not in left


def lacks_factorial(reference: str, answer: str) -> bool:
    """Whether the reference has a factorial and the answer none: 10! and 10."""
    return bool(_FACTORIAL.search(reference)) and "!" not in answer


def is_count_of_arrangements(answer: str) -> bool:
    """Whether it is written as arrangements or combinations: A_6^6, C(5, 2)."""
    return _COUNTED.fullmatch(answer.strip(" $")) is not None
