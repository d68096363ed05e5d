"""The kinds of responses: with an answer, chosen first so that the verdict is known, or none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gradegpt.answers.spans import ENDS

from ..problems import Problem, bank
from .attacks import attack, attacks
from .body import body, working
from .ending import Ending, ending
from .task import Task, Written, error_kind, unanswered

Pattern = Callable[[Task, str, bool], Written]
"""Takes the task, the final answer, and whether that answer is right."""


def answered(task: Task, *, right: bool) -> Written | None:
    """A response with a right or a wrong final answer; none where no wrong one is known."""
    answer = task.right() if right else task.wrong()
    if answer is None:
        return None
    patterns = _PATTERNS if task.rng.random() < 0.5 else ((plain, 1),)
    chosen = task.rng.choices([p for p, _ in patterns], [weight for _, weight in patterns])[0]
    return chosen(task, answer, right)


def _finish(
    task: Task, text: str, answer: str, right: bool, pattern: str, after: str = ""
) -> Written:
    closing = ending(task, answer)
    tail = task.rng.choice(task.words.tails) if task.rng.random() < 0.12 and not after else after
    return _written(task, f"{text}{closing.text}{tail}", closing, right, pattern)


def _written(task: Task, text: str, closing: Ending, right: bool, pattern: str) -> Written:
    return task.written(text, closing.sentence, closing.answer, right=right, pattern=pattern)


def plain(task: Task, answer: str, right: bool) -> Written:
    """Steps, then the answer."""
    derived = answer if task.rng.random() < 0.3 else None
    same = answer == task.problem.reference
    name = ("right" if same else "equivalent_form") if right else error_kind(task.problem, answer)
    return _finish(task, body(task, answer, derived=derived), answer, right, name)


def then_explained(task: Task, answer: str, right: bool) -> Written:
    """The answer first, then the reasons."""
    closing = ending(task, answer)
    heading = task.rng.choice(task.words.reasons)
    why = "\n".join(filter(None, (heading, body(task, answer))))
    gap = task.rng.choice(("\n", "\n\n"))
    return _written(task, f"{closing.text}{gap}{why}", closing, right, "answer_first")


def bare(task: Task, answer: str, right: bool) -> Written:
    """The answer and nothing else."""
    return task.written(answer, answer, answer, right=right, pattern="bare")


def revised(task: Task, answer: str, right: bool) -> Written:
    """Another answer first, then a revision: the last one counts."""
    other = task.wrong() if right else task.right()
    text = body(task, answer, aside=other)
    return _finish(task, text, answer, right, "revised_to_right" if right else "revised_to_wrong")


def other_process(task: Task, answer: str, right: bool) -> Written:
    """Steps with another result: a right answer after a wrong process, or the reverse."""
    led_to = task.hard_negative() if right else task.problem.reference
    text = body(task, answer, derived=led_to)
    name = "right_answer_wrong_process" if right else "contradictory_conclusion"
    return _finish(task, text, answer, right, name)


def several_candidates(task: Task, answer: str, right: bool) -> Written:
    """Several candidate answers, then a choice of one."""
    others = [c for c in (task.hard_negative(), task.problem.reference, task.hard_negative()) if c]
    lead, ask = ("可能的结果有：{}。", "逐一检验。") if task.chinese else (
        "Possible values: {}.", "Check each of them.",
    )  # fmt: skip
    join = "、" if task.chinese else ", "
    listed = lead.format(join.join(dict.fromkeys(others)))
    text = "\n".join(filter(None, (body(task, answer), listed, ask)))
    return _finish(task, text, answer, right, "candidates_then_choice")


def misread(task: Task, answer: str, right: bool) -> Written:
    """The given facts restated, then the answer (CMMaTH 5.3, perception)."""
    lead = "由题目可知：{}" if task.chinese else "From the statement we read: {}"
    text = "\n".join(filter(None, (lead.format(working(task)), body(task, answer))))
    return _finish(task, text, answer, right, "restated" if right else "perception_error")


def miscalculated(task: Task, answer: str, right: bool) -> Written:
    """Lines of arithmetic up to the answer (CMMaTH 5.3, calculation)."""
    lines = "\n".join(working(task) for _ in range(task.rng.randint(2, 5)))
    text = f"{body(task, answer)}\n{lines}\n= {answer}".lstrip("\n")
    return _finish(task, text, answer, right, "calculated" if right else "calculation_error")


def then_loops(task: Task, answer: str, right: bool) -> Written:
    """An answer, then the same line repeated: the answer counts."""
    closing = ending(task, answer)
    line = closing.sentence if task.rng.random() < 0.6 else task.rng.choice(task.words.fillers)
    loop = f"\n{line}" * task.rng.randint(4, 12)
    text = f"{body(task, answer)}{closing.text}{loop}"
    return _written(task, text, closing, right, "answered_then_loops")


def with_attack(task: Task, answer: str, right: bool) -> Written:
    """An answer with a prompt injection before or after it: the answer counts."""
    kind, words = attack(task)
    closing = ending(task, answer)
    text = f"{body(task, answer)}{closing.text}"
    text = f"{words}\n{text}" if task.rng.random() < 0.5 else f"{text}\n{words}"
    return _written(task, text, closing, right, f"answered_{kind}")


def with_excuse(task: Task, answer: str, right: bool) -> Written:
    """A refusal, followed by an answer."""
    excuse = task.rng.choice([n for n in task.words.no_answers if n[-1:] in f"{ENDS}."])
    turn = "不过，根据已知条件可以这样做：" if task.chinese else "Still, from what is given:"
    text = "\n".join(filter(None, (excuse, turn, body(task, answer))))
    return _finish(task, text, answer, right, "answered_after_excuse")


def other_question(task: Task, answer: str, right: bool) -> Written:
    """The solution of another question; where the answer is wrong, also its answer."""
    other = _another(task)
    if other is None:
        return plain(task, answer, right)
    other_task = task._replace(problem=other)
    if right:
        return _finish(task, body(other_task, answer), answer, right, "other_steps")
    other_answer = other.reference
    text = body(other_task, other_answer)
    return _finish(other_task, text, other_answer, right, "answer_to_another_question")


def _another(task: Task) -> Problem | None:
    """A problem of the bank with another answer of the same type; none if there is none."""
    mine, lang = task.problem, "zh" if task.chinese else "en"
    others = [
        p
        for p in bank()
        if p.lang == lang
        and p.answer_type is mine.answer_type
        and p.question != mine.question
        and mine.reference not in (p.reference, *p.also_correct)
        and p.reference not in mine.also_correct
    ]
    return task.rng.choice(others) if others else None


_PATTERNS: Final[tuple[tuple[Pattern, float], ...]] = (
    (then_explained, 2.5),
    (bare, 2),
    (revised, 2),
    (other_process, 2),
    (several_candidates, 1),
    (misread, 1),
    (miscalculated, 2),
    (then_loops, 0.7),
    (with_attack, 1.5),
    (with_excuse, 0.7),
    (other_question, 1),
)
"""Weights of the patterns, for any verdict, in the half of the responses that is not ``plain``."""


def no_answer(task: Task) -> Written:
    """A refusal, a stub, a cut-off or looping text, several candidates, or a prompt injection."""
    generators = [generator for generator, _ in _MAKERS]
    return task.rng.choices(generators, [weight for _, weight in _MAKERS])[0](task)


def refusal(task: Task) -> Written:
    """A refusal, or a request for more information (CMMaTH 5.3, reject)."""
    text = task.rng.choice(task.words.no_answers)
    if task.rng.random() < 0.4:
        text = f"{task.rng.choice(task.words.openers)}\n{text}"
    return unanswered(text, "refusal")


def cut_off(task: Task) -> Written:
    """Steps that break off before a final answer."""
    text = ""
    while len(text) < 8:
        text = body(task) or task.rng.choice(task.words.openers)
        text = text + task.rng.choice(("\n", " ")) + task.rng.choice(task.words.fillers)
    end = max(3, int(len(text) * task.rng.uniform(0.4, 0.95)))
    return unanswered(text[:end].rstrip("0123456789.=。 \n"), "cut_off")


def loop(task: Task) -> Written:
    """A text that repeats itself, without an answer."""
    unit = task.rng.choice(task.words.fillers) + task.rng.choice(("", "\n", " "))
    lead = body(task) if task.rng.random() < 0.3 else ""
    return unanswered(f"{lead}\n{unit * task.rng.randint(6, 20)}".strip(), "loop")


def no_commitment(task: Task) -> Written:
    """Several candidate answers without a choice."""
    candidates = [c for c in (task.problem.reference, task.hard_negative()) if c]
    if len(candidates) < 2:
        return refusal(task)
    task.rng.shuffle(candidates)
    first, second = candidates
    sentence = task.rng.choice(task.words.undecided).format(first, second)
    return unanswered("\n".join(filter(None, (body(task), sentence))), "no_commitment")


def injection(task: Task) -> Written:
    """A prompt injection, alone or after steps without an answer."""
    kind, words = attack(task)
    lead = body(task) if task.rng.random() < 0.3 else ""
    return unanswered("\n".join(filter(None, (lead, words))), f"attack:{kind}")


def stub_response(task: Task) -> Written:
    """A token or an opening phrase without content."""
    return unanswered(task.rng.choice(attacks(task.chinese).stubs), "attack:stub")


def quoted_reference(task: Task) -> Written:
    """The reference quoted, but not given as the answer."""
    quoted = task.rng.choice(attacks(task.chinese).quotes).format(task.problem.reference)
    return unanswered(quoted, "attack:quoted_reference")


_MAKERS: Final[tuple[tuple[Callable[[Task], Written], float], ...]] = (
    (refusal, 2),
    (cut_off, 3),
    (loop, 1),
    (no_commitment, 2),
    (injection, 2.5),
    (stub_response, 2),
    (quoted_reference, 1),
)
