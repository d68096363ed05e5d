"""Responses written to problems, as candidates."""

from __future__ import annotations

import random
from typing import Final

from gradegpt.answers.options import in_order
from gradegpt.answers.spans import ENDS
from gradegpt.chains.chain import Chain
from gradegpt.core.schema import CHOICE, Item, Verdict

from .candidates import Candidate, with_rules
from .phrases import phrases
from .problems import Problem
from .writer import Task, answered, no_answer, steps_of

OTHER_LANGUAGE: Final = 0.12
"""Share of the responses that are not in the language of the question."""
_AS_SOLUTION: Final = 0.25
_MAX_SOLUTION: Final = 6


def synthetic(problem: Problem, verdict: Verdict, id_: str, rng: random.Random) -> Candidate | None:
    """A written response with the requested verdict; none where no wrong answer is known."""
    chinese = (problem.lang == "zh") != (rng.random() < OTHER_LANGUAGE)
    task = Task(rng, problem, chinese)
    if verdict is Verdict.INVALID:
        written = no_answer(task)
    elif (made := answered(task, right=verdict is Verdict.CORRECT)) is not None:
        written = made
    else:
        return None
    keyed = _as_answer_key(problem, rng)
    item = Item(
        question=problem.question,
        reference=reference_text(keyed, rng),
        response=written.response,
        answer_type=problem.answer_type,
        tolerance=problem.tolerance,
    )
    chain = Chain(
        verdict=written.verdict,
        quotes=(written.key_sentence,) if written.key_sentence else (),
        glosses=(written.gloss,) if written.gloss else (),
        reference_answer=keyed.reference,
        answer_type=problem.answer_type,
        answer=written.answer,
    )
    return with_rules(
        Candidate(
            id=id_,
            item=item,
            chain=chain,
            lang=problem.lang,
            response_lang="zh" if chinese else "en",
            source=problem.id.split("-")[0],
            origin="synthetic",
            pattern=written.pattern,
            group=problem.question,
            labels={"construction": written.verdict},
        )
    )


def _as_answer_key(problem: Problem, rng: random.Random) -> Problem:
    """Sometimes write the option letters of several questions a line each or in groups of five."""
    letters = in_order(problem.reference)
    if not letters or rng.random() < 0.4:
        return problem
    fives = ["".join(letters[n : n + 5]) for n in range(0, len(letters), 5)]
    together = " ".join(fives) if len(letters) % 5 == 0 else "\n".join(letters)
    key = together if rng.random() < 0.6 else "\n".join(letters)
    return problem.model_copy(update={"reference": key})


def reference_text(problem: Problem, rng: random.Random) -> str:
    """The reference alone, or as the end of a worked solution."""
    worked = steps_of(problem)
    if not worked or rng.random() >= _AS_SOLUTION:
        return problem.reference
    chinese = problem.lang == "zh"
    steps = " ".join(_with_full_stop(step, chinese) for step in worked[:_MAX_SOLUTION])
    answer = problem.reference
    if problem.answer_type in CHOICE and rng.random() < 0.3:
        answer = f"$\\text{{{answer}}}$"
    closing = rng.choice(phrases(chinese).closings).format(answer)
    return f"{steps}{rng.choice([' ', chr(10)])}{closing}"


def _with_full_stop(step: str, chinese: bool) -> str:
    """The step with a full stop, unless it ends in one."""
    return step if step.rstrip()[-1:] in f"{ENDS}.；;:：" else step + ("。" if chinese else ".")
