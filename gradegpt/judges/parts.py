"""Every sub-answer is judged by itself, in order (ATLAS, section 5.2 and prompt E.2).

The response gives its answers as a JSON list, the item has their references in ``parts``. Each gets
a label: A correct, B incorrect, C no gradable answer, and ``?`` where the judge left it undecided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gradegpt.answers.json_list import Fault, json_answers
from gradegpt.answers.parts import numbered, pieces, run_of_parts
from gradegpt.chains.chain import defuse
from gradegpt.core.schema import AnswerType, Item, Judgement, Outcome, Verdict
from gradegpt.judges.base import Judge, decided, undecided
from gradegpt.rules.profiles import LABELS, written
from gradegpt.rules.validity import refuses, says_nothing, without_loop
from gradegpt.rules.verdict import REFUSAL

VERSION: Final = "2"
PARTS: Final = "parts:"
"""The beginning of the reason of a judgement in parts; the labels follow."""
_ROUNDING: Final = 1e-9


class PartsJudge:
    """Judges every sub-answer of an item by another judge. Method: ``parts``.

    An item is correct if at least the share ``least`` of its parts is right: all of them, as in
    ATLAS, or fewer for partial credit. It is invalid where no part has an answer, and undecided
    where the undecided parts could still change the verdict. ``chain`` has a line per part,
    ``(1) A: number:equal``. An item without ``parts`` has one part, its reference.
    """

    name = "parts"

    def __init__(self, judge: Judge, least: float = 1.0) -> None:
        self.inner, self._least = judge, least

    @property
    def fingerprint(self) -> str:
        """The version, the share, and the judge of the parts."""
        return f"parts-{VERSION}({self._least:g}|{self.inner.fingerprint})"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """Judge the parts of all items together."""
        read = [read_answers(item) for item in items]
        answered = [
            part for item, answers in zip(items, read, strict=True)
            if not isinstance(answers, Judgement)
            for part in part_items(item, answers) if not says_nothing(part.response)
        ]  # fmt: skip
        judged = iter(self.inner.judge(answered) if answered else ())
        return [
            answers if isinstance(answers, Judgement) else self._whole(item, answers, judged)
            for item, answers in zip(items, read, strict=True)
        ]

    def _whole(self, item: Item, answers: Sequence[str], judged: Iterator[Judgement]) -> Judgement:
        """The judgement of an item; an empty answer was not judged, and is invalid."""
        nothing = decided(item, Verdict.INVALID, self.name, "no-answer")
        parts = [nothing if says_nothing(answer) else next(judged) for answer in answers]
        verdicts = [part.verdict for part in parts]
        verdict = _verdict(verdicts, self._least)
        left = {part.outcome for part in parts if part.verdict is None}
        ended = (Outcome.FAILED, Outcome.UNPARSED, Outcome.UNDECIDED)
        outcome = next((one for one in ended if one in left), Outcome.UNDECIDED)
        reason = f"{PARTS}{written(verdicts)}"
        if verdict is Verdict.INVALID:
            reasons = {part.reason.rpartition(":")[2] for part in parts}
            reason += f":{reasons.pop() if len(reasons) == 1 else 'no-answer'}"
        several = len(answers) > 1
        return Judgement(
            id=item.id,
            outcome=outcome if verdict is None else Outcome.JUDGED,
            verdict=verdict,
            score=_confidence(parts, verdict),
            method=self.name,
            reason=reason,
            answer=numbered(answers) if several else answers[0] or None,
            answer_type=AnswerType.MULTI_PART if several else item.answer_type,
            chain="\n".join(
                f"({n}) {LABELS[part.verdict]}: {' '.join(defuse(part.reason).split())}"
                for n, part in enumerate(parts, 1)
            ),
            tolerance=item.tolerance,
            prompt_tokens=sum(part.prompt_tokens for part in parts),
            completion_tokens=sum(part.completion_tokens for part in parts),
        )


def references(item: Item) -> tuple[str, ...]:
    """The references of the sub-questions; of an item without parts its reference."""
    return item.parts or (" or ".join(item.accepted),)


def read_answers(item: Item) -> tuple[str, ...] | Judgement:
    """The response's answers, one for each part; or the judgement of an unreadable response.

    In a list with fewer answers the last parts have none, as in the profile of ATLAS.
    """
    if not all(part.strip() for part in references(item)):
        return undecided(item, PartsJudge.name, "parts:empty-reference")
    places = len(references(item))
    answers = json_answers(item.response, places)
    if answers is Fault.WRONG_COUNT:
        short = json_answers(item.response)
        if not isinstance(short, Fault) and len(short) < places:  # the last parts have no answer
            return (*short, *[""] * (places - len(short)))
    if not isinstance(answers, Fault):
        return answers
    return decided(item, Verdict.INVALID, PartsJudge.name, _why_nothing(item.response, answers))


def _why_nothing(response: str, fault: Fault) -> str:
    if says_nothing(response):
        return "response:empty"
    if without_loop(response) is not None:
        return "response:loop"
    if fault is Fault.NO_JSON and refuses(response):
        return REFUSAL
    if fault is Fault.JSON_ERROR and not response.rstrip().endswith(("}", "]", "```")):
        return "response:cut-off"
    return f"response:{fault}"


def part_items(item: Item, answers: Sequence[str]) -> list[Item]:
    """An item for each answer: its reference, and its sub-question where the question marks it.

    The usual tolerance is that of ATLAS (prompt E.2), as in its profile.
    """
    tolerance = item.tolerance or "atlas"
    if len(item.parts) < 2:
        found = {"reference": item.parts or item.reference, "response": answers[0]}
        return [item.model_copy(update={**found, "tolerance": tolerance})]
    return [
        Item(
            id=f"{item.id}({n})", question=question, reference=(reference,), response=answer,
            context=item.context, tolerance=tolerance,
        )
        for n, (question, reference, answer) in enumerate(
            zip(_questions(item.question, len(answers)), item.parts, answers, strict=True), 1
        )
    ]  # fmt: skip


def _questions(question: str, places: int) -> list[str]:
    """The question of each part after the common stem; the whole question where none is marked."""
    run = run_of_parts(question, places)
    if not run:
        return [question] * places
    stem = question[: min(mark.start for mark in run)].strip()
    return [f"{stem}\n{asked.strip()}".strip() for asked in pieces(question, run)]


def _verdict(verdicts: Sequence[Verdict | None], least: float) -> Verdict | None:
    """The verdict on the item, if it is the same whatever the undecided parts are."""
    right, left = verdicts.count(Verdict.CORRECT), verdicts.count(None)
    needed = least * len(verdicts) - _ROUNDING
    if set(verdicts) == {Verdict.INVALID}:
        return Verdict.INVALID
    if right >= needed:
        return Verdict.CORRECT
    return Verdict.INCORRECT if right + left < needed else None


def _confidence(parts: Sequence[Judgement], verdict: Verdict | None) -> float | None:
    """The least confidence of the right parts if correct, else the largest of the other parts."""
    right = verdict is Verdict.CORRECT
    given = [p.confidence for p in parts if p.verdict and (p.verdict is Verdict.CORRECT) is right]
    known = [confidence for confidence in given if confidence is not None]
    if verdict is None or len(known) < len(given):
        return None
    return min(known) if right else max(known)
