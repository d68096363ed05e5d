"""Score a response's steps by a model: the prompt, the parser of its chain, and the scores.

The task is that of OlympicArena (section 3.4 and appendix C.6): given the reference solution's
steps and the response's, score each of the latter 0 or 1. Words and format are this project's own::

    Step 1 | Reference 2 | 12 + 7 = 18 | 0
    Step 2 | Reference none | so the length is 18 | 0
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, Literal

from pydantic import computed_field

from gradegpt.chains.chain import defuse, needs_gloss
from gradegpt.chains.fit import Budget, cost, fit_middle
from gradegpt.chains.prompts import prompt_text
from gradegpt.core.schema import Item, Message, Outcome, Row

from ..asking import conversation
from .split import MAX_STEPS, reference_steps, split_steps

VERSION: Final = "2"
"""Increased with every change of the prompt or of the parser."""
_LINE = re.compile(r"Step ([0-9]{1,3}) \| Reference ([0-9]{1,3}|none) \| (.*\S.*) \| ([01])")


class StepScores(Row):
    """The process-level result for one item (OlympicArena, appendix C.6).

    ``scores`` holds 1 for right or 0 for wrong for each step of the response, in order;
    ``references`` the number, from 1, of the reference step that it was compared with, or None.
    Only the outcome ``judged`` has scores; ``chain`` is the model's reply.
    """

    id: str
    outcome: Outcome
    reason: str
    n_steps: int
    scores: tuple[Literal[0, 1], ...] = ()
    references: tuple[int | None, ...] = ()
    chain: str | None = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def mean(self) -> float | None:
        """The mean of the steps."""
        return sum(self.scores) / len(self.scores) if self.scores else None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def first_error(self) -> int | None:
        """The first step that scores 0, from 1."""
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


def nothing_to_score(item: Item) -> str | None:
    """Why an item's steps cannot be scored; or None."""
    given, wanted = split_steps(item.response), reference_steps(item)
    if not given:
        return "response:no-steps"
    if not wanted:
        return "reference:no-solution"
    if max(len(given), len(wanted)) > MAX_STEPS:
        return f"steps:more-than-{MAX_STEPS}"
    return None


def build_step_prompt(item: Item, budget: Budget | None = None) -> tuple[Message, ...]:
    """The prompt for a score of every step, in the question's language.

    It is empty where ``nothing_to_score`` has a reason. Each solution takes at most the budget's
    ``response``; in a longer solution each step takes an equal share.
    """
    if nothing_to_score(item) is not None:
        return ()
    budget = budget or Budget()
    question = _framed("Question", "question", fit_middle(item.question, budget.question))
    context = fit_middle(item.context or "", budget.question)
    parts = [
        question,
        *([_framed("Context", "context", context)] if context else []),
        *_numbered("Reference", "reference", reference_steps(item), budget.response),
        *_numbered("Step", "response", split_steps(item.response), budget.response),
    ]
    system = prompt_text("steps", chinese=needs_gloss(item.question or item.response))
    return conversation(system, "\n".join(parts))


def _numbered(name: str, frame: str, steps: Sequence[str], budget: int) -> list[str]:
    long = sum(map(cost, steps)) > budget
    share = max(1, budget // len(steps))
    shown = [fit_middle(step, share) if long else step for step in steps]
    return [_framed(f"{name} {n}", frame, step) for n, step in enumerate(shown, 1)]


def _framed(name: str, frame: str, text: str) -> str:
    return f"{name}: <{frame}>\n{defuse(text)}\n</{frame}>"


def read_step_reply(item: Item, reply: str) -> StepScores:
    """The scores in a model's reply to ``build_step_prompt``.

    The reply must be exactly the lines of the prompt's format: each step once and in order, an
    existing reference step, a verbatim quote of the step. Any other reply is ``unparsed``, with the
    reason.
    """
    steps, n_references = split_steps(item.response), len(reference_steps(item))
    made = StepScores(id=item.id, outcome=Outcome.UNDECIDED, reason="", n_steps=len(steps))
    if (why := nothing_to_score(item)) is not None:
        return made.model_copy(update={"reason": why})
    lines = [_LINE.fullmatch(line.strip()) for line in reply.strip().split("\n") if line.strip()]
    why_not = next(
        (why for n, line in enumerate(lines, 1) if (why := _fault(n, line, steps, n_references))),
        "" if len(lines) >= len(steps) else f"{len(lines)} of {len(steps)} steps",
    )
    if why_not:
        found: dict[str, Any] = {"outcome": Outcome.UNPARSED, "reason": f"chain:{why_not}"}
    else:
        read = [line.groups() for line in lines if line]
        found = {
            "outcome": Outcome.JUDGED,
            "reason": "model:chain",
            "scores": tuple(int(score) for *_, score in read),
            "references": tuple(None if of == "none" else int(of) for _, of, *_ in read),
        }
    return made.model_copy(update={**found, "chain": reply})


def _fault(
    n: int, line: re.Match[str] | None, steps: Sequence[str], n_references: int
) -> str | None:
    """Why the n-th line is not the score of the n-th step; None if it is."""
    if line is None:
        return f"line {n} is no score"
    step, reference, quote, _ = line.groups()
    if int(step) != n:
        return f"score {n} is of step {int(step)}"
    if n > len(steps):
        return f"step {n} of {len(steps)}"
    if reference != "none" and not 1 <= int(reference) <= n_references:
        return f"step {n}: reference {int(reference)} of {n_references}"
    # Up to blanks and line breaks, defused or not.
    quoted, whole = (" ".join(defuse(text).split()) for text in (quote, steps[n - 1]))
    is_verbatim = re.search(r"\w", quoted) and quoted in whole
    return None if is_verbatim else f"step {n}: quote not verbatim"
