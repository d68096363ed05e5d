"""Score a response's steps by rules, where they end in results that can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from pydantic import computed_field

from gradegpt.core.schema import Item, Outcome, Row, Verdict
from gradegpt.judges.rules import RuleJudge

from .results import Result, response_results, same_result, solution_results
from .split import MAX_STEPS, reference_steps, response_steps

Score = Literal[0, 1] | None


class StepScores(Row):
    """The process-level result for one item (OlympicArena, appendix C.6).

    ``scores`` holds for each step of the response, in order, 1 for right, 0 for wrong, None for
    undecided; ``references`` the number, from 1, of the reference step that it was compared with,
    or None. Only the outcome ``judged`` has scores; ``chain`` is a model's reply.
    """

    id: str
    outcome: Outcome
    method: str
    reason: str
    n_steps: int
    scores: tuple[Score, ...] = ()
    references: tuple[int | None, ...] = ()
    chain: str | None = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def mean(self) -> float | None:
        """The mean of the steps that have a score."""
        known = [score for score in self.scores if score is not None]
        return sum(known) / len(known) if known else None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def first_error(self) -> int | None:
        """The first step that scores 0, from 1; steps before it may be undecided."""
        return next((n for n, score in enumerate(self.scores, 1) if score == 0), None)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def first_error_at(self) -> float | None:
        """The position of the first error in the response, as of ``place``."""
        return self.first_error and place(self.first_error, self.n_steps)


def place(step: int, n_steps: int) -> float:
    """The position of the middle of a step in the solution, in [0, 1].

    (k - 1/2) / n for step k of n, so that errors that are equally likely everywhere have the mean
    1/2.
    """
    return (step - 0.5) / n_steps


METHOD: Final = "rules"
VERSION: Final = "2"
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
    made = StepScores(
        id=item.id, outcome=Outcome.UNDECIDED, method=METHOD, reason="", n_steps=len(steps)
    )
    if (why := nothing_to_score(item)) is not None:
        return made.model_copy(update={"reason": why})
    wanted, given = solution_results(reference_steps(item), item), response_results(steps, item)
    matches = _matches(wanted, given, item)
    pairs = with_repeats(align(matches), matches)
    scores: list[Score] = [
        None if at is None else 1 if matches[n][at] else 0 for n, at in enumerate(pairs)
    ]
    known = sum(score is not None for score in scores)
    reason = f"rules:{known}-of-{len(steps)}-steps"
    if not known:
        if RuleJudge().judge([item])[0].verdict in (None, Verdict.CORRECT):
            return made.model_copy(update={"reason": "rules:nothing-to-compare"})
        # Without a score a wholly wrong solution would leave the mean, which would flatter a model.
        scores[-1], reason = 0, "rules:answer-not-correct"
    return made.model_copy(
        update={
            "outcome": Outcome.JUDGED,
            "reason": reason,
            "scores": tuple(scores),
            "references": tuple(None if at is None else at + 1 for at in pairs),
        }
    )


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
