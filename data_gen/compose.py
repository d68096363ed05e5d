"""From answers with known verdicts to graded rows: item, chain, and where both come from."""

from __future__ import annotations

import random
from typing import Final, NamedTuple

from data_gen.forms import right_form, wrong_form
from data_gen.gloss import render_gloss
from data_gen.phrases import phrases
from data_gen.problems import Problem
from data_gen.writer import Written, write, write_no_answer
from gradegpt.chain import Chain, needs_gloss
from gradegpt.judges.rules import reference_answer
from gradegpt.rules.compare import compare
from gradegpt.rules.extract import Found, How, find_answer
from gradegpt.rules.kinds import answer_type, letters
from gradegpt.rules.normalise import plain
from gradegpt.schema import CHOICE, AnswerType, Example, Item, Verdict

MAX_REFERENCE: Final = 60
"""Longest reference answer written out in a chain, in characters; a longer text is clipped."""
_TRUSTED: Final = (How.BOXED, How.ANNOUNCED, How.WHOLE)
_CHANGEABLE: Final = (
    *CHOICE,
    AnswerType.NUMBER,
    AnswerType.EXPRESSION,
    AnswerType.INTERVAL,
    AnswerType.TUPLE,
)


class Graded(NamedTuple):
    """An item with its chain. ``labelled_by`` says what the verdict rests on.

    ``group`` is the question as it stood in its source: rows of one group never fall into two
    splits.
    """

    item: Item
    chain: Chain
    lang: str
    source: str
    labelled_by: str
    group: str


def synthetic(problem: Problem, verdict: Verdict, rng: random.Random) -> Graded | None:
    """A written response to ``problem`` with the wanted verdict.

    None where a wrong answer is wanted and none is known.
    """
    chinese = problem.lang == "zh"
    wrong = _wrong(problem, rng, chinese)
    if verdict is Verdict.INVALID:
        written = write_no_answer(rng, problem)
    elif verdict is Verdict.CORRECT:
        distractor = wrong if rng.random() < 0.1 else None
        written = write(rng, problem, _right(problem, rng, chinese), distractor=distractor)
    elif wrong is None:
        return None
    else:
        distractor = problem.reference if rng.random() < 0.1 else None
        written = write(rng, problem, wrong, distractor=distractor)
    item = Item(
        question=problem.question,
        reference=_reference_text(problem, rng),
        response=written.response,
        answer_type=problem.answer_type,
    )
    chain = _chain(verdict, written, problem.reference, problem.answer_type)
    source = f"synthetic:{problem.id.split('-')[0]}"
    return Graded(item, chain, problem.lang, source, "construction", problem.question)


def _right(problem: Problem, rng: random.Random, chinese: bool) -> str:
    if problem.also_correct and rng.random() < 0.6:
        return rng.choice(problem.also_correct)
    kind = problem.answer_type
    return right_form(rng, problem.reference, kind, problem.question, chinese)


def _wrong(problem: Problem, rng: random.Random, chinese: bool) -> str | None:
    if problem.near_misses and (rng.random() < 0.7 or problem.answer_type not in CHOICE):
        return rng.choice(problem.near_misses)
    return wrong_form(rng, problem.reference, problem.answer_type, problem.question, chinese)


def _reference_text(problem: Problem, rng: random.Random) -> str:
    """The reference as it stands, or as the end of a worked solution, as in many answer keys."""
    if not problem.solution or rng.random() < 0.7:
        return problem.reference
    chinese = problem.lang == "zh"
    steps = ("" if chinese else " ").join(problem.solution)
    closings = phrases(chinese).closings
    answer = problem.reference
    if problem.answer_type in CHOICE and rng.random() < 0.3:
        answer = f"$\\text{{{answer}}}$"
    return f"{steps}{rng.choice(['', ' ', chr(10)])}{rng.choice(closings).format(answer)}"


def _chain(
    verdict: Verdict, written: Written, reference: str, kind: AnswerType, answer: str | None = None
) -> Chain:
    return Chain(
        verdict=verdict,
        key_sentence=written.key_sentence,
        gloss=written.gloss,
        reference_answer=clip(reference),
        answer_type=kind,
        answer=clip(answer or written.answer or "") or None,
    )


def clip(text: str) -> str:
    """The text on one line, cut after 60 characters."""
    text = " ".join(text.split())
    return text if len(text) <= MAX_REFERENCE else text[: MAX_REFERENCE - 1] + "…"


def from_label(example: Example, rng: random.Random) -> Graded | None:
    """A real answer with its label, where it can be found and rules do not contradict the label."""
    found = find_answer(example.response)
    references = [reference_answer(r) for r in example.reference]
    if found is None or example.verdict is Verdict.INVALID:
        return None
    kind = example.answer_type or answer_type(references[0], example.question)
    results = [compare(r, found.answer, kind, question=example.question).same for r in references]
    wanted = example.verdict is Verdict.CORRECT
    if wanted and True in results:
        reference = references[results.index(True)]
    elif not wanted and all(r is False for r in results):
        reference = references[0]
    elif all(r is None for r in results) and kind is AnswerType.TEXT:
        return _free_text(example, references, rng)
    else:
        return None
    item = _shuffled_reference(example, reference, rng)
    written = _quote(example.response, found)
    chain = _chain(example.verdict, written, reference, kind, found.answer)
    return Graded(item, chain, example.lang, example.source, example.labelled_by, _group(example))


def _shuffled_reference(example: Example, reference: str, rng: random.Random) -> Item:
    item = Item.model_validate(example.model_dump(include=set(Item.model_fields) - {"id", "meta"}))
    short = len(item.reference) == 1 and letters(reference)
    if not short or rng.random() < 0.8:
        return item
    form = rng.choice(
        [f"({reference})", f"答案：{reference}", f"{reference}.", f"Answer: {reference}"]
    )
    return item.model_copy(update={"reference": (form,)})


def _free_text(example: Example, references: list[str], rng: random.Random) -> Graded | None:
    """A free-text answer: the quote is the first sentence that shares words with the reference."""
    lines = [line.strip() for line in example.response.splitlines() if line.strip()]
    if not lines or (any(c >= "\u3400" for c in example.response) and rng.random() < 0.3):
        return None
    named = next(
        ((r, s) for r in references for s in lines if plain(r) and plain(r) in plain(s)), None
    )
    reference, sentence = named or (references[0], lines[0])
    sentence = sentence[:160].strip()
    written = Written(example.response, sentence, render_gloss(sentence), sentence)
    if named and example.verdict is Verdict.CORRECT:
        written = written._replace(answer=reference)
    item = Item.model_validate(example.model_dump(include=set(Item.model_fields) - {"id", "meta"}))
    chain = _chain(example.verdict, written, reference, AnswerType.TEXT)
    return Graded(item, chain, example.lang, example.source, example.labelled_by, _group(example))


def counterfactual(
    example: Item, verdict: Verdict, lang: str, source: str, rng: random.Random
) -> Graded | None:
    """A real response against a reference made for it.

    Neither question nor style tells the verdict then. For ``correct`` the reference is the
    response's own answer; for ``incorrect`` a near miss of it.
    """
    found = find_answer(example.response)
    if found is None or found.how not in _TRUSTED or len(found.answer) > 40 or "\n" in found.answer:
        return None
    kind = answer_type(found.answer, example.question)
    if kind not in _CHANGEABLE:
        return None
    chinese = lang == "zh"
    own = found.answer
    if kind in CHOICE:
        named = letters(own)
        if not named:
            return None
        own = "".join(sorted(named))
    make = right_form if verdict is Verdict.CORRECT else wrong_form
    reference = make(rng, own, kind, example.question, chinese)
    if reference is None:
        return None
    if kind in CHOICE and rng.random() < 0.7:
        reference = "".join(sorted(letters(reference) or ())) or reference
    shown = _as_solution(rng, reference, chinese) if rng.random() < 0.3 else reference
    question = example.question if rng.random() < 0.8 else ""
    item = Item(question=question, reference=shown, response=example.response)
    chain = _chain(verdict, _quote(example.response, found), reference, kind, found.answer)
    return Graded(item, chain, lang, f"counterfactual:{source}", "construction", _group(example))


def _group(item: Item) -> str:
    return item.question or " ".join(item.reference)


def _as_solution(rng: random.Random, answer: str, chinese: bool) -> str:
    pattern = rng.choice(phrases(chinese).solutions)
    return pattern.replace("{{{}}}", "{" + answer + "}").replace("{}", answer)


def _quote(response: str, found: Found) -> Written:
    """The key sentence; the narrower clause where the sentence needs a gloss and has none."""
    for start, end in ((found.start, found.end), found.clause):
        sentence = response[start:end].strip()
        if not sentence or "\n" in sentence:
            continue
        gloss = render_gloss(sentence) if needs_gloss(sentence) else None
        if gloss or not needs_gloss(sentence):
            return Written(response, sentence, gloss, found.answer)
    sentence = " ".join(response[found.start : found.end].splitlines()[:1]).strip()
    return Written(response, sentence or found.answer, None, found.answer)
