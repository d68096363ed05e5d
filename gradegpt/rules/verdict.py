"""From a reading to a verdict: ``STEPS``, of which the first that can say something decides.

A step has a name, a gate that costs next to nothing, and a decision or None. Whatever no step can
show stays undecided.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import Final, NamedTuple

from gradegpt.answers.amounts import amounts
from gradegpt.answers.answer import Answer
from gradegpt.answers.names import HAN
from gradegpt.answers.options import only_lists
from gradegpt.answers.read import read
from gradegpt.answers.spans import sentence_around
from gradegpt.answers.times import DATE, ORDINAL
from gradegpt.answers.units import COUNT
from gradegpt.answers.values import is_range, is_read
from gradegpt.answers.values import read as read_value
from gradegpt.answers.words import opposed
from gradegpt.core.schema import CHOICE, AnswerType, Verdict
from gradegpt.rules.claims import COMMITTED, Found, How, find_answer, names_another
from gradegpt.rules.compare import TO_A_GRADER, Comparison, Prove, compare, limited
from gradegpt.rules.compare.amount import by_sense, compare_amounts
from gradegpt.rules.compare.base import Shown
from gradegpt.rules.compare.names import compare_names
from gradegpt.rules.cues import cue
from gradegpt.rules.reading import SAID, Reading
from gradegpt.rules.stance import (
    EITHER,
    disowned,
    leaves_undecided,
    said_right,
    takes_back,
)
from gradegpt.rules.tolerance import DEFAULT, tolerance
from gradegpt.rules.validity import (
    REASON,
    UNANSWERABLE,
    cut_off,
    declines_by_policy,
    denies,
    leaves_open,
    refuses,
    says_nothing,
)

REFUSAL: Final = "response:refusal"
NOT_FOUND: Final = "response:no-answer-found"
ONE_OF_NUMBERS: Final = "number:one-of-several"
_OFTEN_FIRST: Final = (AnswerType.TEXT, AnswerType.TRUE_FALSE)
"""Types whose answer is often at the beginning, so that it is there if the response is cut off."""
_BRIEF: Final = 30
_ASKS_WRONG, _NEXT_QUESTION = map(cue, ("asks for the wrong", "next question"))
_ASKS_YES_NO, _AROUND = cue("asks yes or no"), r"[\s*_.,!?~…。，、！？]*"
_GIVES_UP = cue("gives up", before=_AROUND, after=_AROUND)
_LEAST_OWN: Final = 20
"""Characters before a made-up question that may hold an answer."""


_ONE_VALUE: Final = (AnswerType.NUMBER, AnswerType.EQUATION, AnswerType.EXPRESSION)


class Decision(NamedTuple):
    """A verdict or None, its reason, and the answer and the reference by which it was made."""

    verdict: Verdict | None
    reason: str
    found: Found | None = None
    reference: Answer | None = None


class Step(NamedTuple):
    """A name, whether the step concerns a reading, and what it decides."""

    name: str
    gate: Callable[[Reading], object]
    decide: Callable[[Reading, Prove], Decision | None]


def decide(reading: Reading, prove: Prove) -> Decision:
    """The decision of the first step that shows a verdict, else the last reason to have none."""
    open_ = Decision(None, NOT_FOUND, reading.found)
    for step in STEPS:
        made = step.decide(reading, prove) if step.gate(reading) else None
        if made is not None and made.verdict is not None:
            return made
        if made is not None:
            open_ = made
            if made.reason != NOT_FOUND and not made.reason.endswith(":not-shown"):
                return made
    return open_


# --- no answer ------------------------------------------------------------------------------------


def _empty(reading: Reading, _prove: Prove) -> Decision | None:
    """Invalid: nothing, or no more than "I don't know"."""
    if says_nothing(reading.response):
        return Decision(Verdict.INVALID, "response:empty")
    return Decision(Verdict.INVALID, NOT_FOUND) if _gives_up(reading) else None


def _gives_up(reading: Reading) -> bool:
    """Whether it says that its writer has no answer, which is not the reference; 不会 may deny."""
    response, texts = reading.response, [reference.text for reference in reading.references]
    if not _GIVES_UP.fullmatch(response):
        return False
    asks_whether = reading.kind is AnswerType.TRUE_FALSE or _ASKS_YES_NO.search(reading.question)
    if "会" in response and (asks_whether or denies(texts)):
        return False
    return not any(_GIVES_UP.fullmatch(text) or UNANSWERABLE.search(text) for text in texts)


def _is_not_the_reference(reading: Reading) -> bool:
    response = reading.response.strip()
    return all(response != reference.text.strip() for reference in reading.references)


def _no_answer(reading: Reading, _prove: Prove) -> Decision | None:
    """Invalid: a loop, cut off, left open, or a refusal."""
    response, found, kind = reading.response, reading.found, reading.kind
    unsettled = (
        found is None
        or found.how not in (*SAID, How.FINAL)
        or (reading.looped and found.how is How.FINAL)
    )
    opened = unsettled or (found is not None and found.answer.startswith("\\boxed"))
    claimed = found.answer if found is not None and found.how in SAID else response
    reason = ""
    if reading.looped and unsettled:
        reason = "response:loop"
    elif opened and kind not in _OFTEN_FIRST and cut_off(response):
        reason = "response:cut-off"
    elif leaves_open(claimed) or only_lists(claimed, reading.question):
        reason = "response:left-open"
    elif refuses(claimed):
        reason = REFUSAL
    if reason == REFUSAL and not declines_by_policy(response):
        return _declined(reading) or Decision(Verdict.INVALID, reason)
    return Decision(Verdict.INVALID, reason) if reason else None


def _declined(reading: Reading) -> Decision | None:
    """Where the reference says that there is no answer, or may say so; None where it does not."""
    response = reading.response
    denying = [r for r in reading.references if UNANSWERABLE.search(r.text)]
    means = UNANSWERABLE.search(response)  # needed where the reference is short
    same = next((r for r in denying if means or len(r.text) > _BRIEF), None)
    reasoned = all(REASON.search(text) for text in (response, *(r.text for r in denying)))
    heard = means and EITHER.match(response, means.end())
    taken = takes_back(response) or leaves_undecided(response)
    if same is not None and (heard or taken or reasoned):
        return Decision(None, "response:not-its-own-answer")
    if same is not None:
        start = len(response) - len(response.lstrip())
        whole = Found(response.strip(), start, len(response.rstrip()), How.WHOLE, (0, 0))
        return Decision(Verdict.CORRECT, "text:unanswerable", whole, same)
    if reading.kind is AnswerType.TEXT and denies(r.text for r in reading.references):
        return Decision(None, "response:declines-and-reference-denies")
    return None


# --- not its own answer ---------------------------------------------------------------------------


def _not_its_own(reading: Reading, _prove: Prove) -> Decision | None:
    """Open: the answer found is not the response's own, or only one of several."""
    response, kind, found = reading.response, reading.kind, reading.found
    assert found is not None
    choice, reason = kind in CHOICE, ""
    asks = kind is AnswerType.TRUE_FALSE and TO_A_GRADER.search(response, found.start, found.end)
    if asks or disowned(response, found):
        reason = "response:not-its-own-answer"
    elif choice and _ASKS_WRONG.search(reading.question) and said_right(response, found):
        reason = "choice:said-right-where-wrong-is-asked"
    elif _answers_another_question(reading, found):
        reason = "response:answers-another-question"
    elif kind in _ONE_VALUE and EITHER.match(response, found.place(response)[1]):
        reason = ONE_OF_NUMBERS
    return Decision(None, reason, found) if reason else None


def _answers_another_question(reading: Reading, found: Found) -> bool:
    """Whether the answer stands after a question that the response made up, and differs before."""
    response, kind = reading.response, reading.kind
    more = _NEXT_QUESTION.search(response)
    own = response[: more.start()] if more and more.start() < found.clause[0] else ""
    if len(own.strip()) <= _LEAST_OWN:
        return False
    first = find_answer(own, kind, 1, reading.question)
    given = {read(one.answer, kind, reading.question).value for one in (first, found) if one}
    return first is None or len(given) > 1


def _sense(reading: Reading, _prove: Prove) -> Decision | None:
    """Where equal signs may mean different things: a clock time, a range, a bearing, Mb and MB."""
    found, reference = reading.found, reading.references[0]
    assert found is not None
    unsure, shown = by_sense(reference.text, reading.response, reading.question, found.answer)
    if unsure and shown and (shown.same or len(reading.references) == 1):
        verdict = Verdict.CORRECT if shown.same else Verdict.INCORRECT
        return Decision(verdict, shown.reason, found, reference)
    return Decision(None, "number:sense-not-shown", found) if unsure else None


# --- by comparison --------------------------------------------------------------------------------


def _by_comparison(reading: Reading, prove: Prove) -> Decision | None:
    """Correct where one comparison is equal; incorrect where none may be."""
    found, prove = reading.found, limited(prove)
    assert found is not None
    if reading.is_lettered:
        return Decision(None, "choice:reference-names-no-option", found)
    if not found.bound:
        return _by_rivals(reading, found, prove) or Decision(None, ONE_OF_NUMBERS, found)
    comparisons = []
    for reference in reading.references:
        comparison = _compare(reading, reference, found, prove)
        if comparison.same:
            if opposed(reference.text, reading.response[found.start : found.end]):
                return Decision(None, "number:sense-not-shown", found)
            return Decision(Verdict.CORRECT, comparison.reason, found, reference)
        comparisons.append(comparison)
    reason = comparisons[0].reason
    if found.how in COMMITTED and all(c.same is False for c in comparisons):
        if _by_rivals(reading, found, prove) is None:
            return Decision(None, ONE_OF_NUMBERS, found)
        return Decision(Verdict.INCORRECT, reason, found)
    compared = comparisons[0].same is not None
    return Decision(None, f"{found.how.value}:not-a-commitment" if compared else reason, found)


def _by_rivals(reading: Reading, found: Found, prove: Prove) -> Decision | None:
    """Incorrect where no other value beside the answer is a reference's; None where one may be."""
    answers = (found._replace(answer=rival) for rival in found.rivals)
    signed = [r for r in reading.references if r.text[:1] in ("-", "−")]  # a fall by 15 %
    sizes = [read(r.text[1:], r.kind, reading.question) for r in signed]
    pairs = product((*reading.references, *sizes), answers)
    same = [_compare(reading, reference, one, prove).same for reference, one in pairs]
    listed = reading.kind in (AnswerType.NUMBER, AnswerType.TUPLE)
    none = not any(same) if found.bound else listed and all(result is False for result in same)
    if found.how in COMMITTED and none:
        return Decision(Verdict.INCORRECT, f"{reading.kind.value}:different", found)
    return None


def _compare(reading: Reading, reference: Answer, found: Found, prove: Prove) -> Comparison:
    given = read(found.answer, reference.kind, reading.question, (found.start, found.end))
    named = reading.item.tolerance or DEFAULT
    return compare(reference, given, question=reading.question, tolerance=named, prove=prove)


# --- by the whole response ------------------------------------------------------------------------

_LATIN = re.compile(r"[A-Za-z]{2,}")
_NAMED: Final = (AnswerType.TEXT, AnswerType.MULTI_ANSWER)
"""The types of names and lists of names."""
_IN_WORDS: Final = (AnswerType.NUMBER, AnswerType.TEXT, AnswerType.EXPRESSION)
_SHORT: Final = 400
"""Most characters of a response whose quantities are read where its answer says nothing."""
_SPOKEN: Final = 2_000
"""Characters of a response that show its language, and most of one that is read."""


def _across_languages(reading: Reading, _prove: Prove) -> Decision | None:
    """The verdict on a response in the other language; None where it is not, or not shown."""
    response, question = reading.response, reading.question
    first, kind = reading.references[0].text, reading.kind
    other = kind in _NAMED and _differ(first, response)
    if not other and not _differ(f"{question} {first}", response):
        return None
    spoken = any(_chinese(r.text) is _chinese(response) for r in reading.references)
    shown = [
        _quantity(reading, r)
        or (compare_names(r.text, response, question) if r.kind in _NAMED and not spoken else None)
        for r in reading.references
    ]
    return _decided(reading, shown)


def _in_other_words(reading: Reading, _prove: Prove) -> Decision | None:
    """The verdict on a short response by the quantities that it says; None where not shown.

    Not for bare numbers, which may count other things, nor where the values were compared.
    """
    response, kind, first, found = (
        reading.response, reading.kind, reading.references[0], reading.found,
    )  # fmt: skip
    assert found is not None
    if kind not in _IN_WORDS or names_another(response):
        return None
    wanted = {a.measures for r in reading.references for a in amounts(r.text)}
    if not wanted or COUNT in wanted or not (said := amounts(response)):
        return None
    text = is_range(first.text) if kind is AnswerType.TEXT else is_read(read_value(first.text))
    if (is_read(read_value(found.answer)) and text) or any(amount.side for amount in said):
        return None
    made = _decided(reading, [_quantity(reading, r) for r in reading.references])
    if made is None or made.found is None or made.verdict is Verdict.CORRECT:
        return made
    kinds, sizes = {a.measures for a in said}, {a.value for a in said}
    only = len(sizes) == 1 and kinds <= wanted - {DATE, ORDINAL}  # the next episode's date varies
    return made if only else None


def _quantity(reading: Reading, reference: Answer) -> Shown | None:
    policy = tolerance(reading.item.tolerance or DEFAULT, reading.question)
    return compare_amounts(reference.text, reading.response, reading.question, policy)


def _decided(reading: Reading, compared: Sequence[Shown | None]) -> Decision | None:
    response = reading.response
    shown = [*zip(reading.references, compared, strict=True)]
    equal = next(((answer, one) for answer, one in shown if one and one.same), None)
    missing = next((one for _, one in shown if one and one.same is None), None)
    if missing is not None and equal is None:
        return Decision(None, missing.reason)  # the names need a package
    answer, one = equal or shown[0]
    if one is None or not (equal or all(compared)):
        return None
    span = (one.start, one.end)
    found = Found(response[slice(*span)], *sentence_around(response, *span), How.STATED, span)
    if disowned(response, found) or (equal and opposed(answer.text, response)):
        return None
    if equal is None:
        return Decision(Verdict.INCORRECT, one.reason, found, answer)
    later = (said.end() for said in cue("answer is").finditer(response, one.end))
    again = all(response[slice(*span)] in response[at:] for at in later)
    if takes_back(response, found.end) or not again:
        return None
    return Decision(Verdict.CORRECT, one.reason, found, answer)


def _differ(asked: str, response: str) -> bool:
    """Whether one is in Chinese and the other in a language of Latin letters."""
    if len(response) > _SPOKEN or bool(HAN.search(asked)) is bool(HAN.search(response)) is False:
        return False
    one, other = _chinese(asked), _chinese(response)
    return one is not None and other is not None and one is not other


def _chinese(text: str) -> bool | None:
    """Whether a text is in Chinese; None for one without words, such as a formula."""
    characters, words = len(HAN.findall(text)), len(_LATIN.findall(text))
    return characters > words if characters or words else None


def _is_found(reading: Reading) -> bool:
    return reading.found is not None


STEPS: Final = (
    Step("empty", lambda r: len(r.response) < _SHORT and _is_not_the_reference(r), _empty),
    Step("no answer", _is_not_the_reference, _no_answer),
    Step("not its own", _is_found, _not_its_own),
    Step("sense", lambda r: _is_found(r) and r.kind not in CHOICE, _sense),
    Step(
        "across languages",
        lambda r: r.kind not in (*CHOICE, AnswerType.TRUE_FALSE),
        _across_languages,
    ),
    Step("comparison", _is_found, _by_comparison),
    Step("in other words", lambda r: _is_found(r) and len(r.response) <= _SHORT, _in_other_words),
)
