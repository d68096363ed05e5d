"""The writer of responses with known verdicts, in both languages.

A response is of a shape, the pieces of a text in order. A shape that gives an answer is drawn for
right and for wrong answers alike, so that it does not predict the verdict.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from gradegpt.answers.options import LETTERS
from gradegpt.answers.spans import ENDS
from gradegpt.answers.text import plain
from gradegpt.chains.chain import Chain, needs_gloss
from gradegpt.chains.quote import MAX_QUOTE
from gradegpt.core.schema import CHOICE, AnswerType, Item, Verdict

from .candidates import Candidate, with_rules
from .gloss import render_gloss
from .phrases import Attacks, Phrases, attacks, names_an_option, phrases
from .problems import Problem

_OTHER_LANGUAGE: Final = 0.12
"""Share of the responses that are not in the language of the question."""
_SHAPES: Final[Mapping[str, tuple[float, tuple[str, ...]]]] = {
    "plain": (12, ("body", "ending")),
    "answer_first": (2.5, ("ending", "body")),
    "bare": (2, ("answer",)),
    "revised": (2, ("body", "aside", "ending")),
    "answered_then_loops": (0.7, ("body", "ending", "loop")),
    "answered_attack": (0.8, ("body", "ending", "attack")),
    "attack_answered": (0.7, ("attack", "ending")),
    "answered_after_excuse": (0.7, ("excuse", "body", "ending")),
}
"""The responses that give an answer: their weights and pieces."""
_UNANSWERED: Final[Mapping[str, tuple[float, tuple[str, ...]]]] = {
    "refusal": (2, ("excuse",)),
    "cut_off": (3, ("begun",)),
    "loop": (1, ("begun", "loop")),
    "no_commitment": (2, ("begun", "undecided")),
    "attack": (2.5, ("attack",)),
    "attack_after_steps": (1, ("begun", "attack")),
    "stub": (2, ("stub",)),
    "quoted_reference": (1, ("quoted",)),
}
"""The responses that give none."""
_PART = re.compile(r"\s*[(（]\d[)）]\s*|[；;，,]\s*(?=[(（]\d[)）])")
_LABEL: Final = re.compile(rf"[{LETTERS}](?:[、, ]*[{LETTERS}])*")


class Task(NamedTuple):
    """One response to write. ``chinese`` is the response's language, not the question's."""

    rng: random.Random
    problem: Problem
    chinese: bool

    @property
    def words(self) -> Phrases:
        """The phrases of the response's language."""
        return phrases(self.chinese)

    @property
    def attacks(self) -> Attacks:
        """The attacks in the response's language."""
        return attacks(self.chinese)

    def right(self) -> str:
        """The answer in one of its forms."""
        return self.rng.choice((self.problem.reference, *self.problem.also_correct))

    def wrong(self) -> str:
        """A wrong answer in one of its forms."""
        return self.rng.choice(self.problem.hard_negatives)


def synthetic(problem: Problem, verdict: Verdict, id_: str, rng: random.Random) -> Candidate:
    """A written response with the requested verdict."""
    task = Task(rng, problem, (problem.lang == "zh") != (rng.random() < _OTHER_LANGUAGE))
    closing: Ending | None = None
    if verdict is not Verdict.INVALID:
        closing = ending(task, task.right() if verdict is Verdict.CORRECT else task.wrong())
    pattern, response = _response(task, closing, right=verdict is Verdict.CORRECT)
    if pattern == "bare" and closing is not None:
        closing = Ending(closing.answer, closing.answer)
    item = Item(
        question=problem.question,
        reference=(problem.reference,),
        response=response,
        answer_type=problem.answer_type,
    )
    return with_rules(
        Candidate(
            id=id_,
            item=item,
            chain=_chain(problem, verdict, closing),
            lang=problem.lang,
            response_lang="zh" if task.chinese else "en",
            source=problem.id.split("-")[0],
            origin="synthetic",
            pattern=pattern,
            group=problem.question,
            labels={"construction": verdict},
        )
    )


def _chain(problem: Problem, verdict: Verdict, closing: Ending | None) -> Chain:
    sentence = " ".join(closing.sentence.split("\n")).strip() if closing else ""
    gloss = render_gloss(sentence) if needs_gloss(sentence) else None
    return Chain(
        verdict=verdict,
        quotes=(sentence,) if sentence else (),
        glosses=(gloss,) if gloss else (),
        reference_answer=problem.reference,
        answer_type=problem.answer_type,
        answer=closing.answer if closing else None,
    )


# --- pieces ---------------------------------------------------------------------------------------


def _response(task: Task, closing: Ending | None, *, right: bool) -> tuple[str, str]:
    """The shape and the text of a response that ends in ``closing``, or gives no answer."""
    shapes = _UNANSWERED if closing is None else _SHAPES
    weights = [weight for weight, _ in shapes.values()]
    (pattern,) = task.rng.choices([*shapes], weights)
    pieces = [_piece(task, name, closing, right=right) for name in shapes[pattern][1]]
    return pattern, task.rng.choice(("\n", "\n\n")).join(filter(None, pieces))


def _piece(task: Task, name: str, closing: Ending | None, *, right: bool) -> str:
    rng, words = task.rng, task.words
    match name:
        case "ending" if closing:
            return closing.sentence
        case "answer" if closing:
            return closing.answer
        case "aside":
            other = task.wrong() if right else task.right()
            return rng.choice(words.revisions).format(other)
        case "loop":
            line = closing.sentence if closing and rng.random() < 0.6 else rng.choice(words.fillers)
            return "\n".join([line] * rng.randint(4, 8))
        case "excuse":
            whole = [text for text in words.no_answers if text[-1:] in f"{ENDS}."]
            return rng.choice(whole if closing else words.no_answers)
        case _:
            return _PIECES[name](task)


def _undecided(task: Task) -> str:
    both = [task.problem.reference, task.wrong()]
    return task.rng.choice(task.words.undecided).format(*task.rng.sample(both, 2))


def _attack(task: Task) -> str:
    """A prompt injection; for choice questions, one without an option letter."""
    kinds = (task.attacks.instructions, task.attacks.fake_judgements, task.attacks.delimiters)
    texts = task.rng.choice(kinds)
    if task.problem.answer_type in CHOICE:
        texts = tuple(text for text in texts if not names_an_option(text))
    return task.rng.choice(texts)


def _begun(task: Task) -> str:
    """A body that breaks off before an answer, and does not contain the reference."""
    text = _body(task) + task.rng.choice(("\n", " ")) + task.rng.choice(task.words.fillers)
    end = max(3, int(len(text) * task.rng.uniform(0.4, 0.95)))
    text = text[:end].strip().rstrip("0123456789.=。 ")
    reference = plain(task.problem.reference)
    return text if text and reference not in plain(text) else task.rng.choice(task.words.openers)


def _body(task: Task) -> str:
    """An opening and lines that say nothing, in one of the layouts that models write."""
    rng, words = task.rng, task.words
    if rng.random() < 0.12:
        return ""
    lines = [rng.choice(words.openers)] if rng.random() < 0.6 else []
    lines += rng.sample(words.fillers, rng.choice((0, 1, 1, 2, 2, 3, 4, 6, 9)))
    step = "第{0}步：{1}" if task.chinese else "Step {0}: {1}"
    layouts = ("{1} <STEP{0}>", "{0}. {1}", step, "- {1}", "**{0}.** {1}", "{1}", "{1}", "{1}")
    layout = rng.choice(layouts)
    joint = rng.choice(("\n", "\n", "\n\n", " "))
    return joint.join(layout.format(n, line) for n, line in enumerate(lines, start=1))


_PIECES: Final[Mapping[str, Callable[[Task], str]]] = {
    "body": _body,
    "begun": _begun,
    "attack": _attack,
    "undecided": _undecided,
    "stub": lambda task: task.rng.choice(task.attacks.stubs),
    "quoted": lambda task: task.rng.choice(task.attacks.quotes).format(task.problem.reference),
}
"""Those that do not depend on the answer that is given."""


# --- the ending -----------------------------------------------------------------------------------


class Ending(NamedTuple):
    """The key sentence, and the answer in it; the lines of several parts are one key sentence."""

    sentence: str
    answer: str


def ending(task: Task, answer: str) -> Ending:
    """A random sentence, label or line that gives the answer."""
    rng, words = task.rng, task.words
    if rng.random() < 0.3 and (lines := _part_lines(task, answer)):
        return lines
    roll = rng.random()
    if roll < 0.08:
        return Ending(answer, answer)
    if task.problem.answer_type in CHOICE and roll < 0.55 and len(answer) <= 12:
        return Ending(
            _choice(task, answer) + rng.choice(("", "。" if task.chinese else ".")), answer
        )
    if roll < 0.45:
        label = rng.choice(words.labels)
        busy = any(sign in label for sign in ("boxed", "$", "**")) and _has_markup(answer)
        return Ending((words.labels[0] if busy else label).format(answer), answer)
    named = "".join(rng.choice(part) for part in (words.links, words.names, words.copulas))
    stop = rng.choice(("", "。", "。", ".") if task.chinese else ("", ".", "."))
    return Ending(f"{_capitalised(f'{named}{_formatted(task, answer)}')}{stop}", answer)


def _part_lines(task: Task, answer: str) -> Ending | None:
    """The parts of an answer on numbered lines; none where the answer has no marked parts."""
    parts = [part for part in _PART.split(answer) if part.strip()]
    if task.problem.answer_type is not AnswerType.MULTI_PART or len(parts) < 2:
        return None
    pattern = task.rng.choice(task.words.part_lines)
    lines = [pattern.format(n, part) for n, part in enumerate(parts, start=1)]
    joined = " ".join(lines)
    return Ending("\n".join(lines), joined) if len(joined) <= MAX_QUOTE else None


def _has_markup(answer: str) -> bool:
    return "\\boxed" in answer or "$" in answer or "*" in answer


def _formatted(task: Task, answer: str) -> str:
    """The answer bare, bold or boxed; words are not typeset as mathematics."""
    words = any(c >= "\u3400" for c in answer) or (" " in answer.strip() and answer.isascii())
    if _has_markup(answer) or (words and task.rng.random() < 0.7):
        return answer
    pattern = task.rng.choice(task.words.dress)
    return ("**{}**" if words and ("$" in pattern or "\\" in pattern) else pattern).format(answer)


def _choice(task: Task, answer: str) -> str:
    rng, words, label = task.rng, task.words, answer.strip("()（）.")
    if rng.random() < 0.3 and _LABEL.fullmatch(label):
        return rng.choice(words.choice_labels).format(label)
    opening = rng.choice(words.choices)
    if opening.endswith("("):
        return _capitalised(f"{opening}{answer.strip('()')})")
    link = "" if task.chinese else rng.choice(words.links)
    return _capitalised(f"{link}{opening}{_formatted(task, answer)}")


def _capitalised(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
