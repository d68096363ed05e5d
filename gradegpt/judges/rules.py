"""The rule judge: free, instant, deterministic; it decides only what it can show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gradegpt.chain import Chain, render_chain
from gradegpt.rules.compare import Comparison, compare
from gradegpt.rules.extract import Found, How, find_answer
from gradegpt.rules.extract.choice import find_choice, sequence
from gradegpt.rules.kinds import answer_type
from gradegpt.rules.validity import before_loop, cut_off, refuses, says_nothing
from gradegpt.schema import CHOICE, AnswerType, ChainFormat, Item, Judgement, Outcome, Verdict

VERSION: Final = "3"
"""Raised with every change that can change a judgement; part of the fingerprint."""

_WORKED: Final = 40
"""A reference longer than this, in characters, is searched for the answer that it announces."""
_COMMITTED: Final = (How.BOXED, How.ANNOUNCED, How.WHOLE)


class RuleJudge:
    """Extracts the answer on both sides and compares them by type. Method: ``rules``."""

    name = "rules"

    @property
    def fingerprint(self) -> str:
        """The rules' version."""
        return f"rules-{VERSION}"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """Judge each item on its own; ``correct``, ``incorrect``, ``invalid`` or undecided."""
        return [self._judge_one(item) for item in items]

    def _judge_one(self, item: Item) -> Judgement:
        references = [reference_answer(r) for r in item.reference]
        kind = _kind(item, references[0])
        if says_nothing(item.response):
            return self._decided(item, Verdict.INVALID, "response:empty", None, references[0])
        looped = before_loop(item.response)
        response = item.response if looped is None else looped
        found = find_answer(response, choice=kind in CHOICE, places=len(sequence(references[0])))
        if found is None or found.how not in _COMMITTED:
            if looped is not None:
                return self._decided(item, Verdict.INVALID, "response:loop", None, references[0])
            if cut_off(response):
                return self._decided(item, Verdict.INVALID, "response:cut-off", None, references[0])
            if refuses(response):
                return self._decided(item, Verdict.INVALID, "response:refusal", None, references[0])
        if found is None:
            return Judgement(
                id=item.id,
                outcome=Outcome.UNDECIDED,
                method=self.name,
                reason="response:no-answer-found",
            )
        comparisons = [
            (r, self._compare(item, r, found)) for r in references
        ]
        for reference, comparison in comparisons:
            if comparison.same and found.how is not How.LAST_NUMBER:
                return self._decided(item, Verdict.CORRECT, comparison.reason, found, reference)
        reference, comparison = comparisons[0]
        if found.how in _COMMITTED and all(c.same is False for _, c in comparisons):
            return self._decided(item, Verdict.INCORRECT, comparison.reason, found, reference)
        reason = (
            comparison.reason if comparison.same is None else f"{found.how.value}:not-a-commitment"
        )
        return Judgement(
            id=item.id,
            outcome=Outcome.UNDECIDED,
            method=self.name,
            reason=reason,
            answer=found.answer,
            key_sentence=item.response[found.start : found.end],
            answer_type=_kind(item, reference),
        )

    def _compare(self, item: Item, reference: str, found: Found) -> Comparison:
        tolerance = item.tolerance or "exact"
        return compare(
            reference,
            found.answer,
            _kind(item, reference),
            question=item.question,
            tolerance=tolerance,
        )

    def _decided(
        self, item: Item, verdict: Verdict, reason: str, found: Found | None, reference: str
    ) -> Judgement:
        kind = _kind(item, reference)
        sentence = item.response[found.start : found.end] if found else None
        answer = found.answer if found else None
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
            method=self.name,
            reason=reason,
            key_sentence=sentence,
            answer=answer,
            answer_type=kind,
            chain=render_chain(chain, ChainFormat.JUDGE_OF_CHAIN),
        )


def reference_answer(reference: str) -> str:
    """The short answer inside a reference, which may be a worked solution that ends in it."""
    if len(reference) <= _WORKED and "\n" not in reference.strip():
        return reference.strip()
    if sequence(reference):
        return reference.strip()
    chosen = find_choice(reference)
    if chosen is not None and chosen.committed and reference[chosen.end :].strip(" .。．$}\n)）") == "":
        return chosen.letters or reference.strip()
    found = find_answer(reference)
    return found.answer if found and found.how in (How.BOXED, How.ANNOUNCED) else reference.strip()


def _kind(item: Item, reference: str) -> AnswerType:
    return item.answer_type or answer_type(reference, item.question)
