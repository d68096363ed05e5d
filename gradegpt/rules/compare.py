"""Compare two answers, three-valued: the same, different, or not to be shown."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from gradegpt.rules.kinds import letters, options, truth
from gradegpt.rules.normalise import number, plain
from gradegpt.schema import CHOICE, AnswerType

_PERCENT = re.compile(r"[%％﹪]|percent", re.IGNORECASE)


class Comparison(NamedTuple):
    """``same`` is none where nothing could be shown; ``reason`` is machine-readable."""

    same: bool | None
    reason: str


def compare(
    reference: str, answer: str, kind: AnswerType, *, question: str = "", tolerance: str = "exact"
) -> Comparison:
    """Compare ``answer`` with ``reference`` as answers of type ``kind``."""
    if kind in CHOICE:
        return _choice(reference, answer, question)
    if kind is AnswerType.TRUE_FALSE:
        return _truth(reference, answer)
    if plain(reference) == plain(answer) and plain(answer):
        return Comparison(True, f"{kind.value}:same-text")
    if kind is AnswerType.NUMBER:
        return _number(reference, answer, tolerance)
    return Comparison(None, f"{kind.value}:not-shown")


def _choice(reference: str, answer: str, question: str) -> Comparison:
    wanted = letters(reference)
    if wanted is None:
        return Comparison(None, "choice:reference-names-no-option")
    given = letters(answer) or _by_text(answer, options(question))
    if given is None:
        return Comparison(None, "choice:no-option-named")
    if given == wanted:
        return Comparison(True, "choice:same-options")
    if given < wanted:
        return Comparison(False, "choice:missing-option")
    return Comparison(False, "choice:other-option")


def _by_text(answer: str, listed: dict[str, str]) -> frozenset[str] | None:
    named = [
        letter for letter, text in listed.items() if plain(text) and plain(text) == plain(answer)
    ]
    return frozenset(named) if len(named) == 1 else None


def _truth(reference: str, answer: str) -> Comparison:
    wanted, given = truth(reference), truth(answer)
    if wanted is None or given is None:
        return Comparison(None, "true_false:no-truth-word")
    return Comparison(
        wanted is given, "true_false:same" if wanted is given else "true_false:opposite"
    )


def _number(reference: str, answer: str, tolerance: str) -> Comparison:
    wanted, given = number(reference), number(answer)
    if wanted is None or given is None:
        return Comparison(None, "number:not-read")
    if wanted.unit and given.unit and wanted.unit.rstrip("s") != given.unit.rstrip("s"):
        return Comparison(None, "number:units-differ")
    if _PERCENT.search(f"{reference} {answer}") and wanted.value in (
        100 * given.value,
        given.value / 100,
    ):
        return Comparison(None, "number:percent-sign-differs")
    if wanted.value == given.value:
        return Comparison(True, "number:equal")
    if tolerance.startswith("relative:"):
        allowed = Fraction(tolerance.removeprefix("relative:")) * abs(wanted.value)
        if abs(wanted.value - given.value) <= allowed:
            return Comparison(True, "number:equal-within-tolerance")
    return Comparison(False, "number:different")
