"""The text before the answer: solution steps in one of the layouts that models write."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gradegpt.answers.options import LETTERS, letters
from gradegpt.answers.text import plain
from gradegpt.core.schema import CHOICE

from ..problems import Problem
from .task import Task

_NUMBER = re.compile(r"(?<![\d.\\{_^])\d{1,4}(?![\d.}])")
_WORDS = re.compile(r"[\u3400-\u9fff]|[A-Za-z]{3,}")
_CONCLUDES = re.compile(
    rf"答案|[故应所]选|选(?:项|择)?\W{{0,4}}[{LETTERS}]|boxed|####|\banswer\b|\b[Cc]hoose\b"
    rf"|\\text\s*\{{+\s*[{LETTERS}]\s*\}}"
)
_MAX_STEP: Final = 300
_SLIP: Final = 0.12
_TOGETHER: Final = 0.3
"""Share of the texts that rule out several options at once: 排除ABC."""
_OPERATIONS: Final = (("+", "+"), ("-", "-"), ("×", "\\times "), ("*", "\\cdot "))


def body(
    task: Task, answer: str = "", *, derived: str | None = None, aside: str | None = None
) -> str:
    """Steps that may end in the result ``derived`` and may give and revoke the result ``aside``.

    The text does not depend on whether the ``answer`` that follows is right, and never rules that
    answer out. Without an ``answer`` the steps reach no result.
    """
    rng = task.rng
    if rng.random() < 0.12 and aside is None and derived is None:
        return ""
    steps = _steps(task, answer, derived)
    if aside is not None:
        steps.insert(rng.randint(0, len(steps)), rng.choice(task.words.revisions).format(aside))
    if derived is not None:
        steps.append(_derivation(task, derived))
    return layout(task, steps)


def _steps(task: Task, answer: str, derived: str | None) -> list[str]:
    rng, words, problem = task.rng, task.words, task.problem
    steps = [rng.choice(words.openers)] if rng.random() < 0.6 else []
    if problem.solution and rng.random() < 0.75:
        sayable = _usable_steps(task) if answer else _first_half(task)
        steps += [_with_result(task, step, derived) for step in sayable]
    fillers = rng.choice((0, 1, 1, 2, 2, 3, 4, 6, 9))
    steps += rng.sample(words.fillers, min(fillers, len(words.fillers)))
    steps += [working(task) for _ in range(rng.choice((0, 0, 1, 2, 3)))]
    if problem.answer_type in CHOICE and rng.random() < 0.3:
        others = [letter for letter in "ABCD" if letter not in (letters(answer) or "ABCD")]
        given_up = rng.sample(others, rng.randint(0, len(others)))
        if rng.random() < _TOGETHER:
            given_up = [rng.choice(("", "、") if task.chinese else (" or ", "/")).join(given_up)]
        steps += [rng.choice(words.ruled_out).format(label) for label in given_up if label]
    return steps


def _usable_steps(task: Task) -> list[str]:
    """The steps of the reference solution; in the other language only those without words."""
    steps = [step[:_MAX_STEP] for step in steps_of(task.problem)]
    return steps if task.same_language else [step for step in steps if not _WORDS.search(step)]


def _first_half(task: Task) -> list[str]:
    """The first half of the solution, cut before the first step that contains the reference."""
    steps = _usable_steps(task)
    begun = steps[: len(steps) // 2]
    reference = plain(task.problem.reference)
    named = (i for i, step in enumerate(begun) if reference in plain(step))
    return begun[: next(named, len(begun))]


def steps_of(problem: Problem) -> list[str]:
    """The steps of the solution without those that state the final answer."""
    return [step for step in problem.solution if step.strip() and not _CONCLUDES.search(step)]


def _with_result(task: Task, step: str, derived: str | None) -> str:
    """The step with the reference replaced by the result of the response."""
    reference = task.problem.reference
    if derived is None or len(reference) < 2 or reference not in step:
        return step
    return step.replace(reference, derived)


def _derivation(task: Task, derived: str) -> str:
    lead = ("于是得到{}。", "算出来是{}。", "= {}", "化简得 {}。", "得 {}")
    other = ("This gives {}.", "= {}", "We arrive at {}.", "It comes out as {}.", "=> {}")
    return task.rng.choice(lead if task.chinese else other).format(derived)


def working(task: Task) -> str:
    """A line of arithmetic with numbers of the question, sometimes with an error."""
    rng = task.rng
    found = _NUMBER.findall(task.problem.question)
    numbers = [int(n) for n in found[:8]] or [rng.randint(2, 60)]
    a, b = rng.choice(numbers), rng.choice([*numbers, rng.randint(2, 12)])
    sign, latex = rng.choice(_OPERATIONS)
    value = {"+": a + b, "-": a - b}.get(sign, a * b)
    value += rng.choice((1, -1, 10)) if rng.random() < _SLIP else 0
    if rng.random() < 0.3:
        return rng.choice(("${}{}{} = {}$", "$${}{}{}={}$$", "\\[{}{}{} = {}\\]")).format(
            a, latex, b, value
        )
    return f"{a} {sign} {b} = {value}" if rng.random() < 0.5 else f"{a}{sign}{b}={value}"


def layout(task: Task, steps: Sequence[str]) -> str:
    """The steps as plain, tagged, numbered or bulleted lines, under headings, or in one line."""
    rng, chinese = task.rng, task.chinese
    numbered = list(enumerate(steps, start=1))
    match rng.randrange(8):
        case 0:
            lines = [f"{s} <STEP{i}>" for i, s in numbered]
        case 1:
            lines = [f"{i}. {s}" for i, s in numbered]
        case 2:
            lines = [f"第{i}步：{s}" if chinese else f"Step {i}: {s}" for i, s in numbered]
        case 3:
            lines = [f"- {s}" for s in steps]
        case 4:
            heading = "步骤" if chinese else "Step"
            return "\n\n".join(f"### {heading} {i}\n{s}" for i, s in numbered)
        case 5:
            lines = [f"**{i}.** {s}" for i, s in numbered]
        case _:
            lines = list(steps)
    return rng.choice(("\n", "\n", "\n\n", " ")).join(lines)
