"""Compare option letters, which are named directly or by the text of an option."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers import values
from gradegpt.answers.answer import Answer
from gradegpt.answers.options import LETTERS, half_width, is_set, options
from gradegpt.answers.text import fold, plain
from gradegpt.answers.types import Leaf, Options
from gradegpt.rules.choices import DENIES, says_none_right
from gradegpt.rules.compare.base import Comparison, Criteria
from gradegpt.rules.compare.value import same_value
from gradegpt.rules.compare.written import case_differs
from gradegpt.rules.cues import cue
from gradegpt.rules.tolerance import EXACT

_OPEN = cue("not alone")
_REASON = cue("gives a reason", before=r"\s*(?:[,，;；(（]|[.。]\s)|")
_NAMES = re.compile(r"[^\\]*([a-z]{3}|[\u3400-\u9fff])[^\\]*", re.IGNORECASE)
_BESIDE = re.compile(rf"[(（]\s*([{LETTERS}])\s*[)）]|(?:\boption|\bchoice|选项?)\s*([{LETTERS}])")
"""A letter beside the text of an option, which may be another's: blue (A)."""
_SENTENCE: Final = 120
_EXACTLY: Final = Criteria(EXACT)


def compare_choice(reference: Answer, answer: Answer, criteria: Criteria) -> Comparison:
    """Compare the chosen options; a missing option and a wrong one have different reasons."""
    listed = options(criteria.question)
    if not listed and case_differs(reference.text, answer.text, criteria.question):
        return Comparison(False, "choice:other-option")  # an allele
    wanted, given = _named(reference, listed), _named(answer, listed)
    if wanted is None:
        return Comparison(None, "choice:reference-names-no-option")
    if wanted.ordered and (given is None or len(given.letters) != len(wanted.letters)):
        return Comparison(None, "choice:sequence-not-found")
    if given is None:
        return _unlisted(answer.text, listed)
    if wanted.ordered:
        same = [*map(frozenset, wanted.letters)] == [*map(frozenset, given.letters)]
        return Comparison(same, f"choice:{'same' if same else 'other'}-sequence")
    named, chosen = frozenset("".join(wanted.letters)), frozenset("".join(given.letters))
    if named == chosen:
        one_set = len(named) == 1 or is_set(given.letters)
        return Comparison(one_set or None, "choice:same-options")
    return Comparison(False, "choice:missing-option" if chosen < named else "choice:other-option")


def _named(answer: Answer, listed: dict[str, str]) -> Options | None:
    if isinstance(answer.value, Options):
        return answer.value
    letter = by_text(answer.text, listed)
    return Options((letter,)) if letter else None


def by_text(answer: str, listed: dict[str, str]) -> str:
    """The only option whose text or value the answer is, or whose text it says; else empty."""
    texts = {letter: plain(text) for letter, text in listed.items() if text}
    reason = _REASON.search(answer)
    own = reason is not None and not _OPEN.search(answer, reason.end())
    first = answer[: reason.start()] if reason is not None and own else answer
    rest = answer[len(first) :]
    said = [plain(one) for one in (answer, first)]
    same = [letter for letter, text in texts.items() if text in said]
    if same:  # and others after it: Venus, Mars
        same += [k for k, text in listed.items() if k not in same and _says(rest, text)]
    if says_none_right(answer) and "但" not in answer and "but" not in answer.split():
        same = [letter for letter, text in listed.items() if says_none_right(text)]
    given = values.read(answer)
    if not same and (values.is_read(given) or any(map(str.isdigit, answer))):
        same = [k for k, text in listed.items() if same_value(values.read(text), given, _EXACTLY)]
    if not same and len(answer) <= _SENTENCE:
        same = [
            letter for letter, text in listed.items() if _says(answer, text.strip(" ;；,，.。"))
        ]
    beside = {letter for found in _BESIDE.findall(answer) for letter in found if letter}
    return same[0] if len(same) == 1 and beside <= {*same} else ""


def _says(answer: str, text: str) -> bool:
    """Whether an answer says the words of an option, and denies nothing."""
    whole = rf"(?<![\w-]){re.escape(text)}(?![\w-])" if text.isascii() else re.escape(text)
    named = _NAMES.fullmatch(text) and re.search(whole, answer, re.IGNORECASE)
    return bool(named) and not DENIES.search(half_width(f"{answer} {text}"))


def _unlisted(answer: str, listed: dict[str, str]) -> Comparison:
    if says_none_right(answer):
        return Comparison(False, "choice:none-of-them")
    given = values.read(answer)
    value = isinstance(given, Leaf) and given.quantity is not None
    if listed and value and {*LETTERS}.isdisjoint(fold(answer)):
        results = [same_value(values.read(text), given, _EXACTLY) for text in listed.values()]
        if all(result is False for result in results):
            return Comparison(False, "choice:value-of-no-option")
    return Comparison(None, "choice:no-option-named")
