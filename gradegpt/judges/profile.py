"""A judge that scores as a benchmark's own scorer does, for comparable numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gradegpt.answers.json_list import listed
from gradegpt.core.errors import SettingsError
from gradegpt.core.schema import Item, Judgement, Verdict
from gradegpt.judges.rules import VERSION as RULES
from gradegpt.judges.rules import judged
from gradegpt.rules.compare import Prove, limited
from gradegpt.rules.profiles import PROFILES, VERSION, Question, Scored
from gradegpt.rules.reference import answer_kind, asked, reference_answer, reference_answers
from gradegpt.rules.workers import shared_pool

_FIRST: Final = (Verdict.CORRECT, None)
"""With several references a match decides first, then a reference that cannot be graded."""


class ProfileJudge:
    """Scores as the benchmark ``profile`` does: an answer that does not match is ``incorrect``.

    Answer types without a rule in the benchmark's paper are ``undecided``, with a reason such as
    ``olympicarena:cannot-grade-code``.

    Args:
        profile: One of ``gradegpt.rules.profiles.PROFILES``.

    Raises:
        SettingsError: there is no such profile.

    """

    def __init__(self, profile: str) -> None:
        if profile not in PROFILES:
            raise SettingsError(
                f"profile {profile!r}: is unknown; use one of {', '.join(PROFILES)}"
            )
        self.name = profile
        self._profile = PROFILES[profile]

    @property
    def fingerprint(self) -> str:
        """The profile, its version, and the version of the rules that it uses."""
        return f"{self.name}-{VERSION}-rules-{RULES}"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """Score each item on its own; a match with any accepted reference suffices."""
        return [self._judge_one(item) for item in items]

    def _judge_one(self, item: Item) -> Judgement:
        prove = limited(shared_pool)
        scored = [(question, self._score(question, prove)) for question in self._questions(item)]
        first = (pair for verdict in _FIRST for pair in scored if pair[1].verdict is verdict)
        question, made = next(first, scored[0])
        reason, policy = f"{self.name}:{made.reason}", made.tolerance
        where, compared = (made.span, made.answer), (question.reference, question.kind)
        return judged(item, made.verdict, (self.name, reason), *where, *compared, policy)

    def _score(self, question: Question, prove: Prove) -> Scored:
        if question.kind not in self._profile.grades:
            return Scored(None, f"cannot-grade-{question.kind.value.replace('_', '-')}")
        return self._profile.score(question, prove)

    def _questions(self, item: Item) -> Iterator[Question]:
        """A question for each accepted answer; one for all sub-answers, if the item has several."""
        several = item.reference if len(item.reference) > 1 else listed(item.reference[0])
        if self._profile.in_parts and item.needs != "any" and len(several) > 1:
            parts = tuple(map(reference_answer, several))
            yield self._question(item, "; ".join(parts), parts)
            return
        for reference in item.accepted:
            for answer in reference_answers(reference) or (reference,):
                yield self._question(item, answer)

    def _question(self, item: Item, reference: str, parts: tuple[str, ...] = ()) -> Question:
        kind = answer_kind(item, reference)
        return Question(reference, item.response, kind, item.tolerance, parts, asked(item))
