"""Responses without an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .attacks import attack, quote, stub
from .body import body
from .task import Task, Written, unanswered


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
    return unanswered(stub(task), "attack:stub")


def quoted_reference(task: Task) -> Written:
    """The reference quoted, but not given as the answer."""
    return unanswered(quote(task), "attack:quoted_reference")


_MAKERS: Final[tuple[tuple[Callable[[Task], Written], float], ...]] = (
    (refusal, 2),
    (cut_off, 3),
    (loop, 1),
    (no_commitment, 2),
    (injection, 2.5),
    (stub_response, 2),
    (quoted_reference, 1),
)
