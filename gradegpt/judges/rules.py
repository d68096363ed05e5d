"""The rule judge: free, instant, deterministic; it decides only what rules can show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from gradegpt.answers.answer import Answer
from gradegpt.answers.dictionary import installed
from gradegpt.answers.hidden import after_thought
from gradegpt.answers.read import read
from gradegpt.answers.text import tidy
from gradegpt.chains.chain import Chain, render_chain
from gradegpt.core.schema import CHOICE, AnswerType, ChainFormat, Item, Judgement, Outcome, Verdict
from gradegpt.judges.calibration import packaged
from gradegpt.rules.asked import asked
from gradegpt.rules.compare import Comparison, Prove, compare, limited
from gradegpt.rules.extract import (
    COMMITTED,
    Found,
    How,
    counted,
    endings,
    find_answer,
    has_later_result,
)
from gradegpt.rules.reference import answer_kind, answer_places, reference_answers
from gradegpt.rules.stance import disowned, hedges, said_right, takes_back
from gradegpt.rules.tolerance import DEFAULT
from gradegpt.rules.validity import (
    cut_off,
    declines_by_policy,
    denies,
    gives_reason,
    gives_up,
    leaves_open,
    refuses,
    says_nothing,
    says_unanswerable,
    without_loop,
)
from gradegpt.rules.workers import shared_pool

VERSION: Final = "15"
"""Increased with every change that can change a judgement; part of the fingerprint."""

REFUSAL: Final = "response:refusal"
_OFTEN_FIRST: Final = (AnswerType.TEXT, AnswerType.TRUE_FALSE)
"""Types whose answer is often at the beginning, so that it is there if the response is cut off."""
_SHORT: Final = 30
_ASKS_WRONG = re.compile(
    r"错误|不正确|不恰当|不符合|不属于|有误|\b(?:incorrect|wrong|false|not|except|least)\b",
    re.IGNORECASE,
)
_EITHER = re.compile(r"\d[\s$]*(?:或者?|\bor\b)[\s$]*(?:[a-zA-Z]\s*=\s*)?[-−]?\d")


class RuleJudge:
    """Extracts the answer on both sides and compares them by type. Method: ``rules``.

    Args:
        prove: Compares pairs of formulas that the rules cannot read. None: a pool of
            computer-algebra workers, started for the first such pair.

    """

    name = "rules"

    def __init__(self, prove: Prove | None = None) -> None:
        self._prove = prove or shared_pool

    @property
    def fingerprint(self) -> str:
        """The rules' version, and whether they have the dictionary of names."""
        return f"rules-{VERSION}{'+names' if installed() else ''}"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """Judge each item on its own; ``correct``, ``incorrect``, ``invalid`` or undecided."""
        return [self._judge_reply(item) for item in items]

    def _judge_reply(self, item: Item) -> Judgement:
        """The judgement of what follows a model's thought, whose answer is no evidence."""
        begin = after_thought(item.response)
        if not begin:
            return self._judge_one(item)
        judged = self._judge_one(item.model_copy(update={"response": item.response[begin:]}))
        if judged.span is None:
            return judged
        span = (judged.span[0] + begin, judged.span[1] + begin)
        return judged.model_copy(update={"span": span})

    def _judge_one(self, item: Item) -> Judgement:
        question = asked(item)
        accepted = [answer for r in item.accepted for answer in reference_answers(r)]
        references = [read(r, answer_kind(item, r), question) for r in accepted]
        kind = references[0].kind
        shown = tidy(item.response)
        if says_nothing(shown):
            return self._decided(item, Verdict.INVALID, "response:empty", None, references[0])
        looped = without_loop(shown)
        response = shown if looped is None else looped
        found = find_answer(response, kind, answer_places(accepted[0], kind, question))
        verbatim = response.strip() in {reference.text.strip() for reference in references}
        if not verbatim and (reason := _no_answer(response, found, kind, looped is not None)):
            return self._declined(item, reason, references, response, kind)
        if found is None:
            return self._undecided(item, "response:no-answer-found")
        if kind is AnswerType.NUMBER and found.how not in (How.BOXED, How.ANNOUNCED):
            found = counted(response, found, question)
        if reason := _left_open(response, found, kind, question):
            return self._undecided(item, reason, found, kind)
        comparisons = []
        for reference, comparison, at in self._compared(item, references, found, response, kind):
            if comparison.same:
                return self._decided(item, Verdict.CORRECT, comparison.reason, at, reference)
            comparisons.append(comparison)
        if found.how in COMMITTED and all(c.same is False for c in comparisons):
            reason = comparisons[0].reason
            return self._decided(item, Verdict.INCORRECT, reason, found, references[0])
        compared = comparisons[0].same is not None
        reason = f"{found.how.value}:not-a-commitment" if compared else comparisons[0].reason
        return self._undecided(item, reason, found, kind)

    def _declined(
        self, item: Item, reason: str, references: Sequence[Answer], response: str, kind: AnswerType
    ) -> Judgement:
        """Invalid, unless the reference says that there is no answer, or may say so."""
        if reason == REFUSAL and not declines_by_policy(response):
            denying = [r for r in references if says_unanswerable(r.text)]
            same = next((r for r in denying if _may_mean(response, r.text)), None)
            reasoned = gives_reason(response) and all(gives_reason(r.text) for r in denying)
            if same is not None and (takes_back(response) or hedges(response) or reasoned):
                return self._undecided(item, "response:not-its-own-answer")
            if same is not None:
                start = len(response) - len(response.lstrip())
                whole = Found(response.strip(), start, len(response.rstrip()), How.WHOLE, (0, 0))
                return self._decided(item, Verdict.CORRECT, "text:unanswerable", whole, same)
            if kind is AnswerType.TEXT and denies(r.text for r in references):
                return self._undecided(item, "response:declines-and-reference-denies")
        return self._decided(item, Verdict.INVALID, reason, None, references[0])

    def _compared(
        self,
        item: Item,
        references: Sequence[Answer],
        found: Found,
        response: str,
        kind: AnswerType,
    ) -> Iterator[tuple[Answer, Comparison, Found]]:
        """Each reference compared with the answer found; then with the response's last numbers.

        The last numbers are compared only where no final answer was found. A number that was only
        mentioned is not an answer, even if it is equal.
        """
        prove = limited(self._prove)
        later = found.how is How.CONCLUDED and has_later_result(response, found)
        guessed = found.how is How.LAST_NUMBER or (kind is AnswerType.NUMBER and later)
        open_ = found.how is How.CONCLUDED
        for reference in references:
            comparison = self._compare(item, reference, found, prove)
            open_ |= comparison.same is None and found.how is How.FINAL
            yield reference, comparison._replace(same=False) if guessed else comparison, found
        if kind is AnswerType.NUMBER and (open_ or guessed):
            own = [last for last in endings(response) if not disowned(response, last)]
            for last, reference in product(own, references):
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
            span=(found.start, found.end) if found else None,
            answer_type=kind,
            tolerance=item.tolerance or DEFAULT,
        )

    def _compare(self, item: Item, reference: Answer, found: Found, prove: Prove) -> Comparison:
        return compare(
            reference,
            read(found.answer, reference.kind, asked(item), (found.start, found.end)),
            question=asked(item),
            tolerance=item.tolerance or DEFAULT,
            prove=prove,
        )

    def _decided(
        self, item: Item, verdict: Verdict, reason: str, found: Found | None, reference: Answer
    ) -> Judgement:
        span = (found.start, found.end) if found else None
        answer = found.answer if found else None
        made = judged(
            item, verdict, (self.name, reason), span, answer, reference.text, reference.kind
        )
        measured = packaged(self.name)
        if measured is None or measured.judge.removesuffix("+names") != f"rules-{VERSION}":
            return made
        confidence = measured.confidence_of(verdict, reason, reference.kind)
        return made.model_copy(update={"confidence": confidence})


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
    """A judgement with its chain; ``how`` is method and reason, ``span`` the key sentence."""
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
        method=how[0],
        reason=how[1],
        key_sentence=sentence,
        span=span,
        answer=answer,
        answer_type=kind,
        tolerance=item.tolerance or tolerance,
        chain=render_chain(chain, ChainFormat.JUDGE_OF_CHAIN),
    )


def _may_mean(response: str, reference: str) -> bool:
    """Whether a refusal may mean a reference that says so: a short one needs "cannot be told"."""
    return len(reference) > _SHORT or says_unanswerable(response)


def _left_open(response: str, found: Found, kind: AnswerType, question: str) -> str:
    """The reason why the answer found is not the response's own or only one; empty if it is."""
    if disowned(response, found):
        return "response:not-its-own-answer"
    if kind in CHOICE and _ASKS_WRONG.search(question) and said_right(response, found):
        return "choice:said-right-where-wrong-is-asked"
    if gives_up(response) > found.clause[0]:
        return "response:named-and-left-open"
    if kind is AnswerType.NUMBER and _EITHER.search(response, *found.clause):
        return "number:one-of-several"
    return ""


def _no_answer(response: str, found: Found | None, kind: AnswerType, looped: bool) -> str:
    """The reason why the response is invalid; empty if it is not."""
    announced = found is not None and found.how in (How.BOXED, How.ANNOUNCED)
    whole = found is not None and found.how is How.WHOLE
    unsettled = found is None or found.how not in COMMITTED or whole
    if looped and unsettled:
        return "response:loop"
    opened = unsettled or (found is not None and found.answer.startswith("\\boxed"))
    if opened and kind not in _OFTEN_FIRST and cut_off(response):
        return "response:cut-off"
    if leaves_open(found.answer if found and announced else response):
        return "response:left-open"
    if refuses(found.answer if found and announced else response):
        return REFUSAL
    return ""
