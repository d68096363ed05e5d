"""Option letters: by name, or by the text of an option that the question lists."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers import values
from gradegpt.answers.options import LETTERS, chosen, is_numbered, is_set, options, sequence
from gradegpt.answers.text import fold, plain
from gradegpt.answers.types import Leaf
from gradegpt.rules.compare.base import Comparison, Means
from gradegpt.rules.compare.value import same_value
from gradegpt.rules.extract.choice import NONE_RIGHT
from gradegpt.rules.tolerance import EXACT

_EXACTLY: Final = Means(EXACT)


def compare_choice(reference: str, answer: str, question: str) -> Comparison:
    """The same set of options, or not; a missing option is told from another one."""
    several, given_several = sequence(reference, question), sequence(answer, question)
    if len(several) > 1 and len(given_several) == len(several):
        if [*map(frozenset, several)] == [*map(frozenset, given_several)]:
            return Comparison(True, "choice:same-sequence")
        if not is_set(several) or is_numbered(reference):
            return Comparison(False, "choice:other-sequence")
        if {*several} == {*given_several}:
            return Comparison(None, "choice:set-or-sequence")
    elif several and (not is_set(several) or is_numbered(reference)):
        return Comparison(None, "choice:sequence-not-found")
    listed = options(question)
    wanted = chosen(reference, question) or by_text(reference, listed)
    if wanted is None:
        return Comparison(None, "choice:reference-names-no-option")
    given = chosen(answer, question) or by_text(answer, listed)
    if given is None:
        return _unlisted(answer, listed)
    if given == wanted:
        return Comparison(True, "choice:same-options")
    return Comparison(False, "choice:missing-option" if given < wanted else "choice:other-option")


def by_text(answer: str, listed: dict[str, str]) -> frozenset[str] | None:
    """The one option whose text, or whose value, the answer is."""
    same = [k for k, text in listed.items() if plain(text) and plain(text) == plain(answer)]
    if not same:
        given = values.read(answer)
        same = [k for k, text in listed.items() if same_value(values.read(text), given, _EXACTLY)]
    return frozenset(same) if len(same) == 1 else None


def _unlisted(answer: str, listed: dict[str, str]) -> Comparison:
    if NONE_RIGHT.search(answer):
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
