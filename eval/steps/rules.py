"""Score a response's steps by rules, where they end in results that can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, Self

from pydantic import Field, model_validator

from gradegpt.core.schema import Item, Outcome, Row

from .results import Result, response_results, solution_results
from .same import same_result
from .split import MAX_STEPS, reference_steps, response_steps

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


METHOD: Final = "rules"
VERSION: Final = "1"
"""Increased with every change that can change a score."""
StepResults = Sequence[Result | None]
Matches = Sequence[Sequence[bool | None]]
"""Whether each step (row) has the result of each reference step (column)."""


def score_by_rules(item: Item) -> StepScores:
    """Score each step of the response by the reference step that it is compared with.

    1 where the results are equal, 0 where they are different values of the same quantity, None
    where there is nothing to compare. The alignment keeps the order of both sides and uses each
    step once; a step that is not aligned gets the score of an aligned step with the same match to
    the same reference step.
    """
    steps = response_steps(item)
    if (why := nothing_to_score(item)) is not None:
        return not_judged(item, METHOD, Outcome.UNDECIDED, why, n_steps=len(steps))
    wanted, given = solution_results(reference_steps(item), item), response_results(steps, item)
    matches = _matches(wanted, given, item)
    pairs = with_repeats(align(matches), matches)
    scores: list[Score] = [
        None if at is None else 1 if matches[n][at] else 0 for n, at in enumerate(pairs)
    ]
    n_scored = sum(score is not None for score in scores)
    if not n_scored:
        reason = "rules:nothing-to-compare"
        return not_judged(item, METHOD, Outcome.UNDECIDED, reason, n_steps=len(steps))
    references = [None if at is None else at + 1 for at in pairs]
    return judged(item, METHOD, f"rules:{n_scored}-of-{len(steps)}-steps", scores, references)


def _matches(wanted: StepResults, given: StepResults, item: Item) -> Matches:
    """Every step of the response compared with every step of the reference."""
    matches = [[a and b and same_result(a, b, item) for a in wanted] for b in given]
    answer = next((n for n, result in enumerate(wanted) if result and result.answers), None)
    if answer is not None and matches[-1][answer] is False and given[-1] and given[-1].answers:
        for row in matches[:-1]:
            if row[answer]:
                row[answer] = None  # no credit for the answer in a step if the final one differs
    return matches


def nothing_to_score(item: Item) -> str | None:
    """Why an item's steps cannot be scored by any method; or None."""
    given, wanted = response_steps(item), reference_steps(item)
    if not given:
        return "response:no-steps"
    if not wanted:
        return "reference:no-solution"
    if max(len(given), len(wanted)) > MAX_STEPS:
        return f"steps:more-than-{MAX_STEPS}"
    return None


def align(matches: Matches) -> list[int | None]:
    """For each row the column it is aligned with, in order: the most equal, then the most pairs.

    By dynamic programming over both sequences (Needleman and Wunsch 1970), with the two counts, in
    lexicographic order, as the score.

    >>> align([[True, None], [None, None], [None, False]])
    [0, None, 1]
    """
    n_columns = len(matches[0]) if matches else 0
    best = [[(0, 0)] * (n_columns + 1)]
    for row in matches:
        above, line = best[-1], [(0, 0)]
        for at, same in enumerate(row):
            paired = (-1, -1) if same is None else (above[at][0] + same, above[at][1] + 1)
            line.append(max(above[at + 1], line[at], paired))
        best.append(line)
    return _traced(best, matches)


def _traced(best: Sequence[Sequence[tuple[int, int]]], matches: Matches) -> list[int | None]:
    """The pairs of the best alignment, by backtracking; of equally good ones, the first."""
    pairs: list[int | None] = [None] * len(matches)
    row, column = len(matches), len(best[0]) - 1
    while row and column:
        if best[row][column] == best[row - 1][column]:
            row -= 1
        elif best[row][column] == best[row][column - 1]:
            column -= 1
        else:
            row, column = row - 1, column - 1
            pairs[row] = column
    return pairs


def with_repeats(pairs: Sequence[int | None], matches: Matches) -> list[int | None]:
    """The pairs, and for a step that repeats an aligned step's result the column of that step.

    >>> with_repeats([0, None], [[True], [True]])
    [0, 0]
    """
    aligned = {(at, matches[n][at]) for n, at in enumerate(pairs) if at is not None}
    repeated = sorted(aligned, key=lambda pair: (not pair[1], pair[0]))  # equal results first
    return [
        next((col for col, same in repeated if row[col] is same), None) if at is None else at
        for at, row in zip(pairs, matches, strict=True)
    ]
