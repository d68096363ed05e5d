"""The scores of a response's steps: the common result of all scoring methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from gradegpt.schema import Item, Outcome, Row

Score = Literal[0, 1] | None


class StepScores(Row):
    """The process-level result for one item (OlympicArena, appendix C.6).

    ``scores`` holds for each step of the response, in order, 1 for right, 0 for wrong, None for
    undecided; ``references`` the number, from 1, of the reference step that it was compared with,
    or None. ``mean`` is over the steps that have a score. ``first_error`` is the first step that
    scores 0, from 1; steps before it may be undecided. ``first_error_at`` is the position of its
    middle in the response, (k - 1/2) / n for step k of n, so that errors that are equally likely
    everywhere have the mean 1/2. Only the outcome ``judged`` has scores; ``chain`` is a model's
    reply.
    """

    id: str
    outcome: Outcome
    method: str
    reason: str
    n_steps: int
    scores: tuple[Score, ...] = ()
    references: tuple[int | None, ...] = ()
    mean: float | None = None
    first_error: int | None = None
    first_error_at: float | None = None
    chain: str | None = None
    meta: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        judged = self.outcome is Outcome.JUDGED
        known = [score for score in self.scores if score is not None]
        if judged != bool(known) or judged != (self.mean is not None):
            raise ValueError(
                "scores: must have a score and a mean if the outcome is judged, and else neither"
            )
        if judged and not len(self.scores) == len(self.references) == self.n_steps:
            raise ValueError(f"scores: must have one for each of the {self.n_steps} steps")
        if self.first_error != first_error(self.scores):
            raise ValueError(f"first_error: {self.first_error} is not the first step that scores 0")
        return self


def first_error(scores: Sequence[Score]) -> int | None:
    """The first step that scores 0, from 1."""
    return next((n for n, score in enumerate(scores, 1) if score == 0), None)


def place(step: int, n_steps: int) -> float:
    """The position of the middle of a step in the solution, in [0, 1]."""
    return (step - 0.5) / n_steps


def judged(
    item: Item,
    method: str,
    reason: str,
    scores: Sequence[Score],
    references: Sequence[int | None],
    chain: str | None = None,
) -> StepScores:
    """The row of an item with at least one scored step."""
    known = [score for score in scores if score is not None]
    first = first_error(scores)
    return StepScores(
        id=item.id, outcome=Outcome.JUDGED, method=method, reason=reason, n_steps=len(scores),
        scores=tuple(scores), references=tuple(references), mean=sum(known) / len(known),
        first_error=first, first_error_at=first and place(first, len(scores)), chain=chain,
    )  # fmt: skip


def not_judged(
    item: Item,
    method: str,
    outcome: Outcome,
    reason: str,
    *,
    n_steps: int,
    chain: str | None = None,
) -> StepScores:
    """The row of an item without a scored step, and the reason."""
    return StepScores(
        id=item.id, outcome=outcome, method=method, reason=reason, n_steps=n_steps, chain=chain
    )
