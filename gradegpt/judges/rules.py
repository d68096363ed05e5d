"""The rule judge: free, instant, deterministic; it decides only what rules can show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gradegpt.chains.chain import Chain, render_chain
from gradegpt.core.schema import AnswerType, ChainFormat, Item, Judgement, Outcome, Verdict
from gradegpt.judges.calibration import packaged, rule_of
from gradegpt.rules.compare import Prove
from gradegpt.rules.reading import read_item, signs_of
from gradegpt.rules.tolerance import DEFAULT
from gradegpt.rules.verdict import decide
from gradegpt.rules.workers import shared_pool

VERSION: Final = "23"
"""Increased with every change that can change a judgement; part of the fingerprint."""


class RuleJudge:
    """Extracts the answer on both sides and compares them by type. Method: ``rules``.

    Args:
        prove: Compares pairs of formulas that the rules cannot read: a pool of computer-algebra
            workers, started for the first such pair.

    """

    name = "rules"

    def __init__(self, prove: Prove = shared_pool) -> None:
        self._prove = prove

    @property
    def fingerprint(self) -> str:
        """The version of the rules."""
        return f"rules-{VERSION}"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """Judge each item on its own; ``correct``, ``incorrect``, ``invalid`` or undecided."""
        return [self._judge_one(item) for item in items]

    def _judge_one(self, item: Item) -> Judgement:
        reading = read_item(item)
        made = decide(reading, self._prove)
        found, reference = made.found, made.reference or reading.references[0]
        span = (found.start + reading.begin, found.end + reading.begin) if found else None
        judgement = judged(
            item, made.verdict, (self.name, made.reason), span, found and found.answer,
            reference.text, reference.kind,
        )  # fmt: skip
        measured = packaged(self.name)
        if made.verdict is None or measured is None or measured.judge != self.fingerprint:
            return judgement
        rule = rule_of(made.verdict, made.reason)
        confidence = measured.confidence_of(signs_of(reading, made.verdict), rule)
        return judgement.model_copy(update={"confidence": confidence})


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
