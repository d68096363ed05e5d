"""Compare two answers, with three results: same, different, or not shown.

``BY_TYPE`` has the comparison of each answer type. Where it is not one of words or letters, the
texts are compared first (``written``), then the values that were read from them (``value``), and
what is equal must be in the form that was asked for (``form``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from gradegpt.answers.answer import Answer
from gradegpt.answers.quantity import quantity
from gradegpt.answers.read import read as read_answer
from gradegpt.answers.text import fold, plain
from gradegpt.answers.truth import truth
from gradegpt.answers.types import Group, Options, Range, Truth
from gradegpt.answers.values import is_range, read
from gradegpt.answers.words import Words
from gradegpt.core.schema import CHOICE, AnswerType
from gradegpt.rules.bind import WHEN
from gradegpt.rules.compare.base import Comparison, Criteria, Prove, limited, unproved
from gradegpt.rules.compare.choice import compare_choice
from gradegpt.rules.compare.form import AS_ASKED, in_another_form, with_its_names
from gradegpt.rules.compare.text import compare_text
from gradegpt.rules.compare.value import compare_values, same_value
from gradegpt.rules.compare.written import as_written, case_differs
from gradegpt.rules.cues import cue
from gradegpt.rules.tolerance import EXACT
from gradegpt.rules.tolerance import tolerance as policy

__all__ = ["TO_A_GRADER", "Comparison", "Prove", "compare", "limited"]

TO_A_GRADER = cue("to a grader")
_YEARS: Final = range(1000, 2100)
_WORDY: Final = 20
_LISTED = re.compile(r"\b(\w+), (\w+),? or (\w+)\?", re.IGNORECASE)
_QUOTED = re.compile(
    r"\b(?:answer|respond|reply|be|with|or|and)[:,]? ['\"“‘]([A-Za-z ]{2,20})['\"”’]", re.IGNORECASE
)
"""The words of which a question asks for one."""
_RATIO = re.compile(r"\$?\s*\d+\s*[:：∶]\s*\d+\s*\$?")
_HYPHEN = re.compile(r"\d\s*-")
_OUT_OF = re.compile(r"(?<=\d) (?:in|out of) .*", re.IGNORECASE)
_BOTH_SIGNS = re.compile(r"±|\\pm(?![A-Za-z])")
_STEP = re.compile(r"±|\\pm|[-+*/^×÷)]\s*(?:\w+\s*)?=")
"""A value with both signs, or an equation whose left side is more than a name."""
_CIRCLED, _DIGITS = (re.compile(rf"[{signs}\s,，、;；]+") for signs in ("①-⑳", r"\d"))
_WORD = re.compile(r"[A-Za-z']+")
_ITEM = re.compile(r"[①-⑳]|\d+(?:\.\d+)?|[a-z']+|[\u3400-\u9fff]+")
_LETTERS = re.compile("[①-⑳a-z]")
_IN_ORDER, _REJECTED = cue("asks for items in order"), cue("rejects the value")
_EXACTLY: Final = Criteria(EXACT)
_NO_VALUE: Final = (Options, Truth, Words)
"""Answers without a mathematical value."""


def compare(
    reference: Answer,
    answer: Answer,
    *,
    question: str = "",
    tolerance: str = "auto",
    prove: Prove = unproved,
) -> Comparison:
    """Compare ``answer`` with ``reference``, both read as the reference's type.

    Args:
        reference: The accepted answer.
        answer: The answer that was found in the response.
        question: The question; its option texts identify letters, its words whether to round.
        tolerance: The name of a policy, see ``gradegpt.rules.tolerance``.
        prove: Called with two formulas that cannot be read here.

    Raises:
        InputError: There is no tolerance of that name.

    """
    criteria = Criteria(policy(tolerance, question), prove, question=question)
    if "/" in reference.text and (first := _in_two_spellings(reference.text)):
        reference = read_answer(first, reference.kind, question)
    compared = BY_TYPE.get(reference.kind, _values)(reference, answer, criteria)
    why = _left_open(reference, answer, question, compared)
    return Comparison(None, f"{reference.kind.value}:{why}") if why else compared


def _left_open(reference: Answer, answer: Answer, question: str, compared: Comparison) -> str:
    """Why what was found is not shown by the signs, the order and the remarks of the texts."""
    texts = reference.text, answer.text
    if compared.same is False and _CIRCLED.fullmatch(texts[0]) and _DIGITS.fullmatch(texts[1]):
        written = ("".join(filter(str.isdigit, fold(text))) for text in texts)
        return "other-numerals" if len({*written}) == 1 else ""  # ①③ and 13
    if not compared.same:
        return ""
    item = _LETTERS if reference.kind in CHOICE else _ITEM
    wanted, given = (item.findall(text.casefold()) for text in texts)
    same_items = wanted != given and sorted(wanted) == sorted(given)
    if same_items and {*"<>"}.isdisjoint(texts[0] + texts[1]) and _IN_ORDER.search(question):
        return "other-order"
    words = [fold(text.strip()).replace("’", "'") for text in texts]
    if all(map(_WORD.fullmatch, words)) and words[0].islower() and words[0] != words[1]:
        return "other-apostrophe" if "'" in words[0] + words[1] else ""  # its and it's
    return "rejected" if _REJECTED.search(texts[1]) and not _REJECTED.search(texts[0]) else ""


def _in_two_spellings(text: str) -> str:
    """The first of two spellings of one quantity, 30°/30度; empty for a quotient."""
    one, _, other = text.partition("/")
    amounts = quantity(one), quantity(other)
    measured = all(amount and amount.unit for amount in amounts)
    return one if measured and same_value(read(one), read(other), _EXACTLY) else ""


def _values(reference: Answer, answer: Answer, criteria: Criteria) -> Comparison:
    """By the texts, then by the values; what is equal is open where another form is asked for."""
    kind, question = reference.kind, criteria.question
    if shown := as_written(reference, answer, question):
        return shown
    year = reference.text.strip()
    if len(year) == 4 and year.isdecimal() and int(year) in _YEARS and WHEN.search(question):
        dated = compare_text(reference.text, answer.text, question)
        if dated.same:
            return dated
    if _other_word(reference.text, answer.text, question):
        return Comparison(False, f"{kind.value}:other-of-the-words")
    if isinstance(reference.value, _NO_VALUE) or isinstance(answer.value, _NO_VALUE):
        return Comparison(None, f"{kind.value}:not-shown")
    compared = compare_values(kind, (reference.value, answer.value), criteria)
    if compared.same is False and _is_in_other_terms(reference, answer):
        return Comparison(None, f"{kind.value}:not-shown")
    if not compared.same:
        return with_its_names(reference, answer, criteria) or compared
    why = in_another_form(reference, answer, question)
    if not why:
        return compared
    return Comparison(False if why in AS_ASKED else None, f"{kind.value}:{why}")


def _is_in_other_terms(reference: Answer, answer: Answer) -> bool:
    """Whether a number stands for a ratio, 50 ± 4 for its ends, 3 of "3 out of 4" for all."""
    if len({_OUT_OF.sub("", one.text.strip()) for one in (reference, answer)}) == 1:
        return True
    if _RATIO.fullmatch(reference.text) and {*":∶：比"}.isdisjoint(answer.text):
        return True
    wanted, given = reference.value, answer.value
    if not isinstance(wanted, Group):
        return False
    alike = isinstance(given, Group) and len(given.items) == len(wanted.items)
    steps = _STEP if not alike else _BOTH_SIGNS if reference.kind is AnswerType.TUPLE else None
    return (
        steps is not None and bool(steps.search(answer.text)) and not steps.search(reference.text)
    )


def _text(reference: Answer, answer: Answer, criteria: Criteria) -> Comparison:
    if _other_word(reference.text, answer.text, criteria.question):
        return Comparison(False, "text:other-of-the-words")
    if shown := as_written(reference, answer, criteria.question):
        return shown
    if is_range(reference.text):
        given, hyphen = read(answer.text), _HYPHEN.search(fold(answer.text))
        given = read(f"from {answer.text}") if hyphen and not isinstance(given, Range) else given
        compared = compare_values(reference.kind, (read(reference.text), given), criteria)
        if compared.same is not None and (isinstance(given, Range) or not hyphen):
            return compared
    return compare_text(reference.text, answer.text, criteria.question)


def _other_word(reference: str, answer: str, question: str) -> bool:
    """Whether the answer is another of the words of which the question asks for one.

    Such as "proved, disproved or unknown?", or a number or 'unknown'.
    """
    ends = plain(reference), plain(answer)
    wanted, given = (f"{end[:-3]}ved" if end.endswith("ven") else end for end in ends)  # proven
    if not given or given == wanted or len(given) > _WORDY:
        return False
    listed, quoted = _offered(question)
    number = wanted.removeprefix("-").isdecimal()
    return {wanted, given} <= listed | quoted or (number and given in quoted)


@lru_cache(maxsize=1024)
def _offered(question: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words that a question lists, and those that it quotes, of which one is the answer."""
    listed = (word for words in _LISTED.findall(question) for word in words)
    return frozenset(map(plain, listed)), frozenset(map(plain, _QUOTED.findall(question)))


def _truth(reference: Answer, answer: Answer, criteria: Criteria) -> Comparison:
    request = truth(answer.text) is None and TO_A_GRADER.search(answer.text)
    wanted, given = reference.value, answer.value
    if request or not isinstance(wanted, Truth) or not isinstance(given, Truth):
        return Comparison(None, "true_false:no-truth-word")
    if case_differs(reference.text.strip(), answer.text.strip(), criteria.question):
        return Comparison(None, "true_false:other-case-or-sign")  # NO, nitrogen monoxide
    same = wanted == given
    return Comparison(same, "true_false:same" if same else "true_false:opposite")


BY_TYPE: Final[dict[AnswerType, Callable[[Answer, Answer, Criteria], Comparison]]] = {
    AnswerType.SINGLE_CHOICE: compare_choice,
    AnswerType.MULTIPLE_CHOICE: compare_choice,
    AnswerType.TRUE_FALSE: _truth,
    AnswerType.TEXT: _text,
}
"""How answers of a type are compared; all others as values."""
