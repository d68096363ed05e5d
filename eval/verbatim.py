"""Whether a text gives an answer: word for word, or its value in another form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from gradegpt.answers.read import read
from gradegpt.answers.text import fold
from gradegpt.answers.types import CHOICE, AnswerType
from gradegpt.rules.compare import compare
from gradegpt.rules.extract.numbers import NUMBER, with_unit
from gradegpt.rules.extract.several import boxes

_FORMULA: Final = re.compile(r"\$\$?(.+?)\$\$?|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_SIDES: Final = re.compile(r"=|≈|\\approx|\\Rightarrow|\n")
_NO_VALUE: Final = (AnswerType.TEXT, AnswerType.CODE, AnswerType.TRUE_FALSE, *CHOICE)
"""Types of answers that have to stand there as they are."""
_LONGEST: Final = 200
_MOST: Final = 400
"""Stretches of a text that an answer is compared with, the last ones first."""


def gives(text: str, answer: str) -> bool:
    r"""Whether ``answer`` stands in ``text``, or a number or formula in it has its value exactly.

    >>> gives("So $x = \\frac{1}{2}$ and v is 15 m/s.", "0.5")
    True
    >>> gives("So $x = \\frac{1}{2}$ and v is 15 m/s.", "5 m/s")
    False
    """
    if _verbatim(answer).search(fold(text)):
        return True
    wanted = read(answer)
    if wanted.kind in _NO_VALUE:
        return False
    said = (read(stretch, wanted.kind) for stretch in islice(_stretches(text), _MOST))
    return any(compare(wanted, one, tolerance="exact").same for one in said)


def _verbatim(answer: str) -> re.Pattern[str]:
    """The answer with any blanks in it, and with no more of its number or word at either end."""
    bare = "".join(fold(answer).split()).strip(".,;:")
    body = r"\s*".join(map(re.escape, bare))
    before = r"(?<![\d.])(?<!\d,)" if bare[:1].isdigit() else r"(?<![A-Za-z])"
    behind = r"(?![\d%]|[.,]\d)" if bare[-1:].isdigit() else r"(?![A-Za-z])"
    word = bare.isalpha() and len(bare) > 2
    return re.compile(
        f"{before}{body}{behind}" if bare else r"(?!)", re.IGNORECASE if word else re.NOFLAG
    )


def _stretches(text: str) -> Iterator[str]:
    """Formulas, what they hold between equals signs, and numbers with their units, from the end."""
    found = [match[match.lastindex or 0] for match in _FORMULA.finditer(text)]
    found += boxes(text)
    found += [side for formula in found for side in _SIDES.split(formula)]
    found += [with_unit(text, match) for match in NUMBER.finditer(text)]
    short = [stretch.strip() for stretch in reversed(found) if len(stretch) <= _LONGEST]
    return iter(dict.fromkeys(filter(None, short)))
