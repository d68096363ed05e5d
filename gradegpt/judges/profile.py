"""A judge that scores as a benchmark's own scorer does, for users who need its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from gradegpt.errors import SettingsError
from gradegpt.judges.rules import VERSION, judged
from gradegpt.rules.compare import Prove, sparing
from gradegpt.rules.extract import find_answer
from gradegpt.rules.profiles import PROFILES, Question, Scored
from gradegpt.rules.reference import answer_kind, reference_answers
from gradegpt.rules.workers import shared_pool
from gradegpt.schema import Item, Judgement, Verdict


class ProfileJudge:
    """Two-valued, like the scorer it stands for: what is not matched is ``incorrect``.

    Args:
        profile: One of ``gradegpt.rules.profiles.PROFILES``.
        prove: Asked about formulas that the rules cannot read; none asks the shared pool.

    Raises:
        SettingsError: no profile of that name.

    """

    def __init__(self, profile: str, prove: Prove | None = None) -> None:
        if profile not in PROFILES:
            raise SettingsError(f"profile {profile!r}: use one of {', '.join(PROFILES)}")
        self.name = profile
        self._score = PROFILES[profile]
        self._prove = prove or shared_pool

    @property
    def fingerprint(self) -> str:
        """The profile and the version of the rules whose readers it uses."""
        return f"{self.name}-rules-{VERSION}"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """Score each item on its own; any accepted reference that matches suffices."""
        return [self._judge_one(item) for item in items]

    def _judge_one(self, item: Item) -> Judgement:
        references = [answer for r in item.accepted for answer in reference_answers(r)]
        prove = sparing(self._prove)
        scored = [self._one(item, reference, prove) for reference in references]
        best = next((at for at, made in enumerate(scored) if made.right), 0)
        made, reference = scored[best], references[best]
        kind = answer_kind(item, reference)
        verdicts = {True: Verdict.CORRECT, False: Verdict.INCORRECT, None: Verdict.INVALID}
        found = find_answer(item.response, kind)
        span = (found.start, found.end) if found and made.answer is not None else None
        how = (self.name, f"{self.name}:{made.reason}")
        return judged(
            item, verdicts[made.right], how, span, made.answer, reference, kind, self.name
        )

    def _one(self, item: Item, reference: str, prove: Prove) -> Scored:
        kind = answer_kind(item, reference)
        return self._score(Question(reference, item.response, kind, item.tolerance), prove)
