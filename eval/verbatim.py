"""Whether a text gives an answer, verbatim or as an equal value in another form."""

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
"""Types of answers that a text must contain verbatim."""
_LONGEST: Final = 200
_MOST: Final = 400
"""The most spans of a text that an answer is compared with, the last ones first."""


def gives(text: str, answer: str) -> bool:
    r"""Whether ``text`` contains ``answer``, or a number or formula of exactly its value.

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
    given = (read(span, wanted.kind) for span in islice(_spans(text), _MOST))
    return any(compare(wanted, one, tolerance="exact").same for one in given)


def _verbatim(answer: str) -> re.Pattern[str]:
    """A pattern of the answer with any blanks, not preceded or followed by more of its word."""
    bare = "".join(fold(answer).split()).strip(".,;:")
    body = r"\s*".join(map(re.escape, bare))
    before = r"(?<![\d.])(?<!\d,)" if bare[:1].isdigit() else r"(?<![A-Za-z])"
    behind = r"(?![\d%]|[.,]\d)" if bare[-1:].isdigit() else r"(?![A-Za-z])"
    word = bare.isalpha() and len(bare) > 2
    return re.compile(
        f"{before}{body}{behind}" if bare else r"(?!)", re.IGNORECASE if word else re.NOFLAG
    )


def _spans(text: str) -> Iterator[str]:
    """Formulas, their sides between equals signs, and numbers with units, from the end."""
    found = [match[match.lastindex or 0] for match in _FORMULA.finditer(text)]
    found += boxes(text)
    found += [side for formula in found for side in _SIDES.split(formula)]
    found += [with_unit(text, match) for match in NUMBER.finditer(text)]
    short = [span.strip() for span in reversed(found) if len(span) <= _LONGEST]
    return iter(dict.fromkeys(filter(None, short)))
