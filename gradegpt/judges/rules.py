"""The rule judge: free, instant, deterministic; it decides only what it can show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Final

from gradegpt.chain import Chain, render_chain
from gradegpt.rules import values
from gradegpt.rules.compare import Comparison, Prove, compare, sparing
from gradegpt.rules.extract import COMMITTED, Found, How, endings, find_answer
from gradegpt.rules.extract.choice import find_choice, sequence
from gradegpt.rules.kinds import answer_type, truth
from gradegpt.rules.tidy import tidy
from gradegpt.rules.tolerance import DEFAULT
from gradegpt.rules.validity import (
    cut_off,
    gives_up,
    leaves_open,
    refuses,
    says_nothing,
    without_loop,
)
from gradegpt.rules.workers import shared_pool
from gradegpt.schema import CHOICE, AnswerType, ChainFormat, Item, Judgement, Outcome, Verdict

VERSION: Final = "7"
"""Raised with every change that can change a judgement; part of the fingerprint."""

_WORKED: Final = 40
"""A reference longer than this, in characters, is searched for the answer that it announces."""
_SHORT: Final = 12
_SAID_EARLY: Final = (AnswerType.TEXT, AnswerType.TRUE_FALSE)
"""Types whose answer may well stand before the place where a response is cut off."""
_SCORED = re.compile(r"[(（]\s*\d{1,2}\s*分\s*[)）]")
"""What a part of the answer is worth: (5分)."""
_LETTER = re.compile(r"(?<![A-Za-z])[A-H\uff21-\uff28]{1,8}(?![A-Za-z])")
_LIST = re.compile(r"\[\s*(?:'[^']*'|\"[^\"]*\")(?:\s*,\s*(?:'[^']*'|\"[^\"]*\"))*\s*\]")
_SAME_AS = re.compile(r"(?<![#\\])\\?#\s*\\?#(?!#)")
"""Between two spellings of one answer: 3/10 ## 0.3."""
_EITHER = re.compile(r"\d[\s$]*(?:或者?|\bor\b)[\s$]*(?:[a-zA-Z]\s*=\s*)?[-−]?\d")
_QUOTED = re.compile(r"'([^']+)'|\"([^\"]+)\"")


class RuleJudge:
    """Extracts the answer on both sides and compares them by type. Method: ``rules``.

    Args:
        prove: Asked about pairs of formulas that the rules cannot read; none asks a pool of
            computer-algebra workers, started when the first such pair comes.

    """

    name = "rules"

    def __init__(self, prove: Prove | None = None) -> None:
        self._prove = prove or shared_pool

    @property
    def fingerprint(self) -> str:
        """The rules' version."""
        return f"rules-{VERSION}"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """Judge each item on its own; ``correct``, ``incorrect``, ``invalid`` or undecided."""
        return [self._judge_one(item) for item in items]

    def _judge_one(self, item: Item) -> Judgement:
        references = [answer for r in item.accepted for answer in reference_answers(r)]
        kind = answer_kind(item, references[0])
        if says_nothing(item.response):
            return self._decided(item, Verdict.INVALID, "response:empty", None, references[0])
        read = tidy(item.response)
        looped = without_loop(read)
        response = read if looped is None else looped
        found = find_answer(response, kind, answer_places(references[0], kind))
        if nothing := _gives_nothing(response, found, kind, looped is not None):
            return self._decided(item, Verdict.INVALID, nothing, None, references[0])
        if found is None:
            return self._undecided(item, "response:no-answer-found")
        if gives_up(response) > found.clause[0]:
            return self._undecided(item, "response:named-and-left-open", found, kind)
        if kind is AnswerType.NUMBER and _EITHER.search(item.response, *found.clause):
            return self._undecided(item, "number:one-of-several", found, kind)
        comparisons = []
        for reference, comparison, at in self._compared(item, references, found, response, kind):
            if comparison.same:
                return self._decided(item, Verdict.CORRECT, comparison.reason, at, reference)
            comparisons.append(comparison)
        if found.how in COMMITTED and all(c.same is False for c in comparisons):
            reason = comparisons[0].reason
            return self._decided(item, Verdict.INCORRECT, reason, found, references[0])
        shown = comparisons[0].same is not None
        reason = f"{found.how.value}:not-a-commitment" if shown else comparisons[0].reason
        return self._undecided(item, reason, found, kind)

    def _compared(
        self,
        item: Item,
        references: Sequence[str],
        found: Found,
        response: str,
        kind: AnswerType,
    ) -> Iterator[tuple[str, Comparison, Found]]:
        """Each reference with what was found; then with the numbers that the response ends in.

        These are asked only where nothing settled was read. A number that was only mentioned is no
        answer, whatever it equals.
        """
        prove = sparing(self._prove)
        guessed = found.how is How.LAST_NUMBER
        open_ = found.how is How.CONCLUDED
        for reference in references:
            comparison = self._compare(item, reference, found, prove)
            open_ |= comparison.same is None and found.how is How.FINAL
            yield reference, comparison._replace(same=False) if guessed else comparison, found
        if kind is AnswerType.NUMBER and (open_ or guessed):
            for last, reference in product(endings(response), references):
                yield reference, self._compare(item, reference, last, prove), last

    def _undecided(
        self, item: Item, reason: str, found: Found | None = None, kind: AnswerType | None = None
    ) -> Judgement:
        return Judgement(
            id=item.id,
            outcome=Outcome.UNDECIDED,
            method=self.name,
            reason=reason,
            answer=found.answer if found else None,
            key_sentence=item.response[found.start : found.end] if found else None,
            answer_type=kind,
            tolerance=item.tolerance or DEFAULT,
        )

    def _compare(self, item: Item, reference: str, found: Found, prove: Prove) -> Comparison:
        return compare(
            reference,
            found.answer,
            answer_kind(item, reference),
            question=item.question,
            tolerance=item.tolerance or DEFAULT,
            prove=prove,
        )

    def _decided(
        self, item: Item, verdict: Verdict, reason: str, found: Found | None, reference: str
    ) -> Judgement:
        kind = answer_kind(item, reference)
        span = (found.start, found.end) if found else None
        answer = found.answer if found else None
        return judged(item, verdict, (self.name, reason), span, answer, reference, kind)


def judged(
    item: Item,
    verdict: Verdict,
    how: tuple[str, str],
    span: tuple[int, int] | None,
    answer: str | None,
    reference: str,
    kind: AnswerType,
    tolerance: str = DEFAULT,
) -> Judgement:
    """A judgement with its chain; ``how`` is method and reason, ``span`` the key sentence's."""
    sentence = item.response[slice(*span)] if span else None
    chain = Chain(
        verdict=verdict,
        key_sentence=sentence,
        reference_answer=reference,
        answer_type=kind,
        answer=answer,
    )
    return Judgement(
        id=item.id,
        outcome=Outcome.JUDGED,
        verdict=verdict,
        confidence=1.0,
        method=how[0],
        reason=how[1],
        key_sentence=sentence,
        answer=answer,
        answer_type=kind,
        tolerance=item.tolerance or tolerance,
        chain=render_chain(chain, ChainFormat.JUDGE_OF_CHAIN),
    )


def _gives_nothing(response: str, found: Found | None, kind: AnswerType, looped: bool) -> str:
    """Why the response is invalid, or nothing."""
    announced = found is not None and found.how in (How.BOXED, How.ANNOUNCED)
    whole = found is not None and found.how is How.WHOLE
    unsettled = found is None or found.how not in COMMITTED or whole
    if looped and unsettled:
        return "response:loop"
    opened = unsettled or (found is not None and found.answer.startswith("\\boxed"))
    if opened and kind not in _SAID_EARLY and cut_off(response):
        return "response:cut-off"
    if not announced and leaves_open(response):
        return "response:left-open"
    if refuses(found.answer if found and announced else response):
        return "response:refusal"
    return ""


@lru_cache(maxsize=4096)
def answer_places(reference: str, kind: AnswerType) -> int:
    """How many answers the reference holds, in order."""
    if kind in CHOICE:
        return len(sequence(reference))
    value = values.read(reference)
    return len(value.items) if isinstance(value, values.Group) and value.ordered else 1


@lru_cache(maxsize=4096)
def reference_answers(reference: str) -> tuple[str, ...]:
    """The accepted answers in a reference: itself, its ending if it is a solution, or its list."""
    listed = _LIST.fullmatch(reference.strip())
    if listed:
        return tuple(m[1] or m[2] for m in _QUOTED.finditer(reference))
    spelt = [piece for piece in _SAME_AS.split(reference) if piece.strip()]
    return tuple(reference_answer(piece) for piece in spelt or [reference])


def reference_answer(reference: str) -> str:
    """The short answer inside a reference, which may be a worked solution that ends in it."""
    text = _SCORED.sub("", reference.strip())
    if text.strip("$ ").startswith("\\boxed") and (boxed := find_answer(text)):
        return boxed.answer
    if sequence(text) or len(text) <= _SHORT:
        return text
    chosen = find_choice(text) if _LETTER.search(text) else None
    if chosen is not None and chosen.committed and not text[chosen.end :].strip(" .。．$}\n)）"):
        return chosen.letters or text
    if len(text) <= _WORKED and "\n" not in text:
        return text
    found = find_answer(text)
    return found.answer if found and found.how in (How.BOXED, How.ANNOUNCED) else text


def answer_kind(item: Item, reference: str) -> AnswerType:
    """The stated type, unless the reference contradicts it: "True" is no number."""
    all_of = item.needs == "all" and len(item.reference) > 1
    return _kind_of(item.answer_type, all_of, reference, item.question)


@lru_cache(maxsize=8192)
def _kind_of(stated: AnswerType | None, all_of: bool, reference: str, question: str) -> AnswerType:
    if stated is AnswerType.NUMBER and truth(reference) is not None:
        return AnswerType.TRUE_FALSE
    if stated is not None:
        return stated
    if len(sequence(reference)) > 1:
        return AnswerType.MULTIPLE_CHOICE
    return AnswerType.MULTI_ANSWER if all_of else answer_type(reference, question)
