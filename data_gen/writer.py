"""The writer: realistic responses in both languages with a known key sentence and answer."""

from __future__ import annotations

import random
from typing import NamedTuple

from data_gen.gloss import render_gloss
from data_gen.phrases import phrases
from data_gen.problems import Problem
from gradegpt.schema import CHOICE


class Written(NamedTuple):
    """A response, its sentence that gives the answer, that sentence's gloss, and the answer.

    No ``key_sentence`` means that the response gives no answer.
    """

    response: str
    key_sentence: str | None
    gloss: str | None
    answer: str | None


class Ending(NamedTuple):
    """A closing that commits to an answer: text before, the key sentence, text after."""

    before: str
    sentence: str
    after: str


def write(
    rng: random.Random, problem: Problem, answer: str, *, distractor: str | None = None
) -> Written:
    """A response that settles on ``answer``; it may first name ``distractor`` and give it up."""
    chinese = problem.lang == "zh"
    ending = _ending(rng, problem, answer, chinese)
    body = _body(rng, problem, chinese, distractor)
    tail = rng.choice(phrases(chinese).tails) if rng.random() < 0.15 else ""
    response = "".join([body, ending.before, ending.sentence, ending.after, tail]).lstrip("\n")
    sentence = ending.sentence.strip()
    return Written(response, sentence, render_gloss(sentence) if chinese else None, answer)


def write_no_answer(rng: random.Random, problem: Problem) -> Written:
    """A response with nothing to grade: a refusal, stub, cut or loop, or words for the grader."""
    chinese = problem.lang == "zh"
    words = phrases(chinese)
    match rng.randrange(6):
        case 0 | 1:
            text = rng.choice(words.no_answers)
        case 2:
            text = rng.choice(words.attacks)
        case 3:
            body = _body(rng, problem, chinese, None)
            text = body[: max(3, int(len(body) * rng.uniform(0.3, 0.8)))].rstrip("0123456789.=")
        case 4:
            text = (rng.choice(words.fillers) + rng.choice(["", "\n", " "])) * rng.randint(5, 20)
        case _:
            parts = (words.openers, words.fillers, words.no_answers)
            text = "".join(rng.choice(part) for part in parts)
    return Written(text, None, None, None)


def _ending(rng: random.Random, problem: Problem, answer: str, chinese: bool) -> Ending:
    words = phrases(chinese)
    before = "\n"
    if rng.random() < 0.08:
        before = f"\n\n{rng.choice(words.headings)}\n"
    roll = rng.random()
    dressed = "\\boxed" in answer or answer.startswith("$")
    plain = dressed or any(c >= "\u3400" for c in answer)
    dress = "{}" if plain else rng.choice(words.dress)
    if roll < 0.10:
        return Ending(before, answer, "")
    if problem.answer_type in CHOICE and roll < 0.55:
        sentence = _choice_sentence(rng, answer, chinese, dress)
        return Ending(before, sentence, rng.choice(["", "。" if chinese else "."]))
    if roll < 0.5:
        label = rng.choice(words.labels)
        label = label if "boxed" not in label or not dressed else "{}"
        return Ending(before, label.format(answer), "")
    named = "".join(rng.choice(part) for part in (words.links, words.names, words.copulas))
    sentence = f"{named}{dress.format(answer)}"
    if chinese:
        return Ending(before, sentence + rng.choice(["", "。", "。", "."]), "")
    return Ending(before, _capitalised(sentence) + rng.choice(["", ".", "."]), "")


def _choice_sentence(rng: random.Random, answer: str, chinese: bool, dress: str) -> str:
    words = phrases(chinese)
    if chinese:
        return f"{rng.choice(words.choices)}{dress.format(answer)}"
    if rng.random() < 0.4 and len(answer) <= 6:
        return rng.choice(words.choice_labels).format(answer.strip("()."))
    opening = rng.choice(words.choices)
    named = f"{answer.strip('()')})" if opening.endswith("(") else dress.format(answer)
    return _capitalised(f"{rng.choice(words.links)}{opening}{named}")


def _capitalised(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _body(rng: random.Random, problem: Problem, chinese: bool, distractor: str | None) -> str:
    words = phrases(chinese)
    if rng.random() < 0.12 and distractor is None:
        return ""
    steps = [rng.choice(words.openers)] if rng.random() < 0.6 else []
    steps += [s[:400] for s in problem.solution] if problem.solution and rng.random() < 0.8 else []
    steps += rng.sample(words.fillers, rng.randint(0, 3))
    if problem.answer_type in CHOICE and rng.random() < 0.35:
        given_up = rng.sample("ABCD", rng.randint(1, 3))
        steps += [rng.choice(words.ruled_out).format(letter) for letter in given_up]
    if distractor is not None:
        place = rng.randint(0, len(steps))
        steps.insert(place, rng.choice(words.revisions).format(distractor))
    style = rng.randrange(5)
    numbered = list(enumerate(steps, start=1))
    if style == 0:
        steps = [f"{s} <STEP{i}>" for i, s in numbered]
    elif style == 1:
        steps = [f"{i}. {s}" for i, s in numbered]
    elif style == 2:
        steps = [f"第{i}步：{s}" if chinese else f"Step {i}: {s}" for i, s in numbered]
    return rng.choice(["\n", "\n", "\n\n", " "]).join(steps)
