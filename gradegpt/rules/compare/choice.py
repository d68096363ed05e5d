"""Compare option letters, which are named directly or by the text of an option."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers import values
from gradegpt.answers.answer import Answer
from gradegpt.answers.options import LETTERS, is_set, options, says_none_right
from gradegpt.answers.text import fold, plain
from gradegpt.answers.types import Leaf, Options
from gradegpt.rules.compare.base import Comparison, Criteria
from gradegpt.rules.compare.value import same_value
from gradegpt.rules.compare.written import case_differs
from gradegpt.rules.tolerance import EXACT

_ROW = re.compile(rf"[{LETTERS}]{{2,}}")
_CLAUSE = re.compile(
    r"\s*(?:the |an? )?(?P<text>[^,，.。;；(（]{2,60}?)"
    r"\s*(?:[,，;；(（]|[.。]\s|\bbecause\b|因为)",
    re.IGNORECASE,
)
"""The text of an option and what is said of it: 氮气，它约占大气体积的78%."""
_DENIES = re.compile(
    r"[不没非无错但除或]|\b(?:not?|or|but|except|nor|wrong|false)\b|n['’]t\b", re.IGNORECASE
)
_THE_REST = re.compile(r"其余|其他|剩下|\b(?:the )?(?:rest|others)\b", re.IGNORECASE)
"""Words for the options that are not named."""
_EXACTLY: Final = Criteria(EXACT)


def compare_choice(reference: Answer, answer: Answer, criteria: Criteria) -> Comparison:
    """Compare the chosen options; a missing option and a wrong one have different reasons."""
    listed = options(criteria.question)
    if not listed and case_differs(reference.text, answer.text, criteria.question):
        return Comparison(False, "choice:other-option")  # an allele
    wanted, given = _named(reference, listed), _named(answer, listed)
    if wanted is None:
        return Comparison(None, "choice:reference-names-no-option")
    row = wanted.ordered and max(map(len, wanted.letters)) == 1 and _ROW.fullmatch(answer.text)
    if row and len(row[0]) != len(wanted.letters):
        return Comparison(False, "choice:other-sequence")
    if wanted.ordered and (given is None or len(given.letters) != len(wanted.letters)):
        return Comparison(None, "choice:sequence-not-found")
    if given is None:
        return _unlisted(answer.text, listed)
    if wanted.ordered:
        same = [*map(frozenset, wanted.letters)] == [*map(frozenset, given.letters)]
        return Comparison(same, f"choice:{'same' if same else 'other'}-sequence")
    named, chosen = frozenset("".join(wanted.letters)), frozenset("".join(given.letters))
    if named != chosen and _THE_REST.search(answer.text):
        return Comparison(None, "choice:no-option-named")
    if named == chosen and len(named) > 1 and not is_set(given.letters):
        return Comparison(None, "choice:set-or-sequence")
    if named == chosen:
        return Comparison(True, "choice:same-options")
    return Comparison(False, "choice:missing-option" if chosen < named else "choice:other-option")


def _named(answer: Answer, listed: dict[str, str]) -> Options | None:
    if isinstance(answer.value, Options):
        return answer.value
    letter = by_text(answer.text, listed)
    return Options((letter,)) if letter else None


def by_text(answer: str, listed: dict[str, str]) -> str:
    """The only option whose text or value equals the answer; empty if there is none."""
    first = _CLAUSE.match(answer)
    said = plain(first["text"] if first and not _DENIES.search(answer, first.end()) else answer)
    same = [k for k, text in listed.items() if plain(text) and plain(text) in (said, plain(answer))]
    given = values.read(answer)
    valued = values.is_read(given) or re.search(r"\d", answer)
    if not same and valued:
        same = [k for k, text in listed.items() if same_value(values.read(text), given, _EXACTLY)]
    return same[0] if len(same) == 1 else ""


def _unlisted(answer: str, listed: dict[str, str]) -> Comparison:
    if says_none_right(answer):
        return Comparison(False, "choice:none-of-them")
    given = values.read(answer)
    if (
        listed
        and isinstance(given, Leaf)
        and given.quantity is not None
        and not re.search(f"[{LETTERS}]", fold(answer))
    ):
        results = [same_value(values.read(text), given, _EXACTLY) for text in listed.values()]
        if all(result is False for result in results):
            return Comparison(False, "choice:value-of-no-option")
    return Comparison(None, "choice:no-option-named")
