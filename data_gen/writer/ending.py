"""The sentence that states the final answer, with headings and punctuation."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from gradegpt.answers.options import LETTERS, in_order
from gradegpt.chains.quote import MAX_QUOTE
from gradegpt.core.schema import CHOICE, AnswerType

from ..variants import parts_of
from .task import Task

_BY_LINES: Final = 0.3
_LABEL: Final = re.compile(rf"[{LETTERS}](?:[、, ]*[{LETTERS}])*")


class Ending(NamedTuple):
    """The end of a response: text before, the key sentence, text after.

    ``answer`` is the answer in the key sentence. The lines of several parts are one key sentence.
    """

    before: str
    sentence: str
    after: str
    answer: str

    @property
    def text(self) -> str:
        """The whole text of the ending."""
        return f"{self.before}{self.sentence}{self.after}"


def ending(task: Task, answer: str) -> Ending:
    """A random ending with the answer."""
    rng, words = task.rng, task.words
    if rng.random() < _BY_LINES and (lines := _part_lines(task, answer)):
        return lines
    before = f"\n\n{rng.choice(words.headings)}\n" if rng.random() < 0.08 else "\n"
    roll = rng.random()
    if roll < 0.08:
        return Ending(before, answer, "", answer)
    if task.problem.answer_type in CHOICE and roll < 0.55 and len(answer) <= 12:
        after = rng.choice(["", "。" if task.chinese else "."])
        return Ending(before, _choice(task, answer), after, answer)
    if roll < 0.45:
        return Ending(before, _label(task, answer), "", answer)
    return Ending(before, _sentence(task, answer), "", answer)


def _part_lines(task: Task, answer: str) -> Ending | None:
    """The parts of an answer on numbered lines; none where the answer has no parts."""
    rng, words = task.rng, task.words
    letters = in_order(answer) if in_order(task.problem.reference) else ()
    several = task.problem.answer_type is AnswerType.MULTI_PART
    parts = letters or (parts_of(answer) if several else ())
    if len(parts) < 2:
        return None
    pattern = rng.choice(words.part_lines + (words.keyed_lines if letters else ()))
    lines = [pattern.format(n, part) for n, part in enumerate(parts, start=1)]
    joined = " ".join(lines)
    if len(joined) > MAX_QUOTE:
        return None
    heading = rng.choice([*words.headings, *words.part_headings, ""])
    given = " ".join(letters) or joined
    return Ending(f"\n\n{heading}\n" if heading else "\n", "\n".join(lines), "", given)


def _has_markup(answer: str) -> bool:
    return "\\boxed" in answer or "$" in answer or "*" in answer


def _formatted(task: Task, answer: str) -> str:
    """The answer bare, bold or boxed; words are not typeset as mathematics."""
    words = any(c >= "\u3400" for c in answer) or (" " in answer.strip() and answer.isascii())
    if _has_markup(answer) or (words and task.rng.random() < 0.7):
        return answer
    pattern = task.rng.choice(task.words.dress)
    if words and ("$" in pattern or "\\" in pattern):
        return f"**{answer}**"
    return pattern.format(answer)


def _label(task: Task, answer: str) -> str:
    label = task.rng.choice(task.words.labels)
    busy = any(sign in label for sign in ("boxed", "$", "**"))
    return (task.words.labels[0] if busy and _has_markup(answer) else label).format(answer)


def _sentence(task: Task, answer: str) -> str:
    rng, words = task.rng, task.words
    named = "".join(rng.choice(part) for part in (words.links, words.names, words.copulas))
    sentence = f"{named}{_formatted(task, answer)}"
    if task.chinese:
        return sentence + rng.choice(["", "。", "。", "."])
    return capitalised(sentence) + rng.choice(["", ".", "."])


def _choice(task: Task, answer: str) -> str:
    rng, words = task.rng, task.words
    label = answer.strip("()（）.")
    if rng.random() < (0.25 if task.chinese else 0.4) and _LABEL.fullmatch(label):
        return rng.choice(words.choice_labels).format(label)
    if task.chinese:
        return f"{rng.choice(words.choices)}{_formatted(task, answer)}"
    opening = rng.choice(words.choices)
    named = f"{answer.strip('()')})" if opening.endswith("(") else _formatted(task, answer)
    return capitalised(f"{rng.choice(words.links)}{opening}{named}")


def capitalised(sentence: str) -> str:
    """The sentence with a capital letter first."""
    return sentence[:1].upper() + sentence[1:]
