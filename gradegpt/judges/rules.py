"""The rule judge: free, instant, deterministic; it decides only what rules can show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from gradegpt.answers.answer import Answer
from gradegpt.answers.dictionary import installed
from gradegpt.answers.read import read
from gradegpt.chains.chain import Chain, render_chain
from gradegpt.core.schema import CHOICE, AnswerType, ChainFormat, Item, Judgement, Outcome, Verdict
from gradegpt.judges.calibration import packaged, rule_of
from gradegpt.rules.across import across_languages, in_other_words
from gradegpt.rules.compare import Comparison, Prove, compare, limited
from gradegpt.rules.compare.amount import by_sense
from gradegpt.rules.extract import (
    COMMITTED,
    Found,
    How,
    endings,
    has_later_result,
    numbers_around,
)
from gradegpt.rules.reading import (
    NOT_FOUND,
    ONE_OF_NUMBERS,
    ONE_OF_SEVERAL,
    Decision,
    Reading,
    as_choice,
    is_lettered,
    read_item,
    signs_of,
    without_comparison,
)
from gradegpt.rules.stance import disowned
from gradegpt.rules.tolerance import DEFAULT
from gradegpt.rules.workers import shared_pool

VERSION: Final = "19"
"""Increased with every change that can change a judgement; part of the fingerprint."""


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
        return [self._judge_one(item) for item in items]

    def _judge_one(self, item: Item) -> Judgement:
        reading = read_item(item)
        made = self._decide(reading)
        lettered = is_lettered(reading)
        if (made.verdict is None or lettered) and (chosen := as_choice(reading)) is not None:
            again = self._decide(chosen)
            reading, made = (chosen, again) if again.verdict else (reading, made)
        elif lettered:
            made = Decision(None, "choice:reference-names-no-option", made.found)
        found, reference = made.found, made.reference or reading.references[0]
        span = (found.start + reading.begin, found.end + reading.begin) if found else None
        judgement = judged(
            item, made.verdict, (self.name, made.reason), span, found and found.answer,
            reference.text, reference.kind,
        )  # fmt: skip
        measured = packaged(self.name)
        if made.verdict is None or measured is None or not _is_of_these(measured.judge):
            return judgement
        rule = rule_of(made.verdict, made.reason)
        confidence = measured.confidence_of(signs_of(reading, made.verdict), rule)
        return judgement.model_copy(update={"confidence": confidence})

    def _decide(self, reading: Reading) -> Decision:
        made = without_comparison(reading)
        chosen = reading.settled is not None and reading.settled.found is not None
        if not chosen and (made is None or made.reason in (NOT_FOUND, ONE_OF_SEVERAL)):
            made = across_languages(reading) or made
        if made is None:
            assert reading.found is not None
            made = self._by_comparison(reading, reading.found)
            if made.verdict is None:
                not_shown = made.reason.endswith("not-shown")
                made = in_other_words(reading, reading.found, not_shown) or made
        if reading.kind not in CHOICE and made.verdict is not Verdict.INVALID:
            reference = made.reference or reading.references[0]
            found = made.found.answer if made.found else ""
            unsure, shown = by_sense(reference.text, reading.response, reading.question, found)
            if unsure and shown and (shown.same or len(reading.references) == 1):
                verdict = Verdict.CORRECT if shown.same else Verdict.INCORRECT
                return Decision(verdict, shown.reason, made.found, reference)
            made = Decision(None, "number:sense-not-shown", made.found) if unsure else made
        return made

    def _by_comparison(self, reading: Reading, found: Found) -> Decision:
        """Correct where one comparison is equal; incorrect where none may be."""
        comparisons = []
        for reference, comparison, at in self._compared(reading, found):
            if comparison.same:
                return Decision(Verdict.CORRECT, comparison.reason, at, reference)
            comparisons.append(comparison)
        reason = comparisons[0].reason
        if found.how in COMMITTED and all(c.same is False for c in comparisons):
            if reading.kind is AnswerType.NUMBER and self._is_beside(reading, found):
                return Decision(None, ONE_OF_NUMBERS, found)
            return Decision(Verdict.INCORRECT, reason, found)
        compared = comparisons[0].same is not None
        return Decision(None, f"{found.how.value}:not-a-commitment" if compared else reason, found)

    def _is_beside(self, reading: Reading, found: Found) -> bool:
        """Whether a number of the sentences around the answer is the reference's.

        "Jill earns $92,500 a year. Over 52 weeks it would be $96,200."
        """
        alone = found.end - found.start <= len(found.answer) + 3
        if alone or found.how not in (How.WHOLE, How.FINAL):
            return False
        prove = limited(self._prove)
        pairs = product(numbers_around(reading.response, found), reading.references)
        return any(_compare(reading, reference, one, prove).same for one, reference in pairs)

    def _compared(
        self, reading: Reading, found: Found
    ) -> Iterator[tuple[Answer, Comparison, Found]]:
        """Each reference compared with the answer found; then with the response's last numbers.

        The last numbers are compared only where no final answer was found. A number that was only
        mentioned is not an answer, even if it is equal.
        """
        prove, number = limited(self._prove), reading.kind is AnswerType.NUMBER
        open_ = found.how is How.CONCLUDED
        later = open_ and number and has_later_result(reading.response, found)
        guessed = found.how is How.LAST_NUMBER or later
        for reference in reading.references:
            comparison = _compare(reading, reference, found, prove)
            open_ |= comparison.same is None and found.how is How.FINAL
            yield reference, comparison._replace(same=False) if guessed else comparison, found
        if number and (open_ or guessed):
            last = [end for end in endings(reading.response) if not disowned(reading.response, end)]
            for end, reference in product(last, reading.references):
                yield reference, _compare(reading, reference, end, prove), end


def _compare(reading: Reading, reference: Answer, found: Found, prove: Prove) -> Comparison:
    given = read(found.answer, reference.kind, reading.question, (found.start, found.end))
    tolerance = reading.item.tolerance or DEFAULT
    return compare(reference, given, question=reading.question, tolerance=tolerance, prove=prove)


def _is_of_these(judge: str) -> bool:
    """Whether what was measured is this version of the rules, with or without the dictionary."""
    return judge.removesuffix("+names") == f"rules-{VERSION}"


def judged(
    item: Item,
    verdict: Verdict | None,
    how: tuple[str, str],
    span: tuple[int, int] | None,
    answer: str | None,
    reference: str,
    kind: AnswerType,
    tolerance: str = DEFAULT,
) -> Judgement:
    """A judgement with its chain, or an undecided one without.

    ``how`` is the method and the reason, ``span`` the place of the key sentence in the response.
    """
    sentence = item.response[slice(*span)] if span else None
    chain = verdict and Chain(
        verdict=verdict,
        quotes=(sentence,) if sentence else (),
        reference_answer=reference,
        answer_type=kind,
        answer=answer,
    )
    return Judgement(
        id=item.id,
        outcome=Outcome.JUDGED if verdict else Outcome.UNDECIDED,
        verdict=verdict,
        method=how[0],
        reason=how[1],
        key_sentence=sentence,
        span=span,
        answer=answer,
        answer_type=kind,
        tolerance=item.tolerance or tolerance,
        chain=chain and render_chain(chain, ChainFormat.JUDGE_OF_CHAIN),
    )
