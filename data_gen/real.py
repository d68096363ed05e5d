"""Real answers of models and pupils as candidates, labelled or not."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from gradegpt.answers.options import letters
from gradegpt.answers.text import plain, tidy
from gradegpt.chains.chain import Chain, needs_gloss, parse_chain
from gradegpt.core.schema import CHOICE, AnswerType, Example, Item, Judgement, Verdict
from gradegpt.rules.claims import find_answer
from gradegpt.rules.reference import answer_kind, asked, reference_answers

from .candidates import Candidate, by_rules, rng_for
from .gloss import render_gloss
from .readings import Reading, digest_of
from .teacher import Teacher
from .truth import nearest

CROSSED: Final = "_crossed"
"""What the name of a source of crossed answers ends with."""
_MAX_KEY: Final = 120
"""Longest answer that is used as a reference for another, in characters."""
_RESTATEMENT_CUT: Final = 0.5
"""Share of the responses that lose a last line which restates their result."""
_MAX_LAST_LINE: Final = 24
"""Longest such line, in characters: ``A: 18``, ``35``."""
_NUMBER: Final = re.compile(r"-?\d+(?:[.,]\d+)*")
_SUM: Final = re.compile(
    r"[\d)}\]%](?:\s*+[A-Za-z]++){0,3}\s*"  # 4 boxes
    r"(?:[-+*/x^×÷]|\\(?:times|cdot|div)\b)"  # x
    r"\s*(?:[$({£]|\\[a-z]+)*\d[^=\n]*=\s*"  # 3 pens =
    r"(?:\d[\d.,]*>>)?"  # <<4*3=12>>
    r"(?=(?:[-$({<*\s£€]|\\boxed|\\[dt]?frac)*\d)"  # 12
)
_ITEM_FIELDS: Final = set(Item.model_fields) - {"id", "meta"}
_BECAUSE: Final = re.compile(r"[，,。]?\s*(?:因为|\b(?:because|since)\b)", re.IGNORECASE)
"""What follows an option is no part of it."""
_PEOPLE: Final = re.compile(r"human|teacher|people|annotator", re.IGNORECASE)
_MODEL: Final = re.compile(r"gpt|model|llm|\bvote", re.IGNORECASE)


def labelled(example: Example, rng: random.Random, readings: Mapping[str, Reading]) -> Candidate:
    """A real answer with its label, sometimes without a last line that restates its result."""
    reading = readings.get(digest_of(example))
    labels = {_labeller(example.labelled_by): example.verdict}
    steps = without_restated_answer(example.response) if rng.random() < _RESTATEMENT_CUT else None
    if steps and reading is None:
        example = example.model_copy(update={"response": steps})
        reading = readings.get(digest_of(example))  # a teacher's, who was shown the steps alone
    if reading is not None and example.source.endswith(CROSSED):
        # The verdict stays against another reference; the reason may name the first one.
        reading = reading.model_copy(update={"why": ""})
    return _candidate(example, labels, (example.lang, example.source), rng, reading)


def without_restated_answer(response: str) -> str | None:
    """The response without a short last line, where the step before ends in the same number.

    Solutions that stop at their result are rarer among graded answers than elsewhere. None where
    the last line says anything else.
    """
    steps, _, last = response.rstrip().rpartition("\n")
    restated, reached = (_NUMBER.findall(text) for text in (last, steps))
    short = len(last) <= _MAX_LAST_LINE and len(restated) == 1
    found = find_answer(tidy(steps)) if short and restated == reached[-1:] else None
    return steps.rstrip() if found and _NUMBER.findall(found.answer)[-1:] == restated else None


def unlabelled(
    item: Item, lang: str, source: str, rng: random.Random, reading: Reading | None
) -> Candidate:
    """A real answer without a grade: labelled by a reading, the rules, or else by a teacher."""
    return _candidate(item, {}, (lang, source), rng, reading)


def _labeller(name: str) -> str:
    """The kind of label source; the label of a model counts only beside another."""
    kinds = {"people": _PEOPLE, "model": _MODEL}
    return next((kind for kind, pattern in kinds.items() if pattern.search(name)), "key")


def _candidate(
    given: Item,
    labels: dict[str, Verdict],
    origin: tuple[str, str],
    rng: random.Random,
    reading: Reading | None,
) -> Candidate:
    """A candidate, without a chain where the verdict is unknown. ``origin``: language, source."""
    item = Item.model_validate(given.model_dump(include=_ITEM_FIELDS))
    ruled = by_rules(item)
    known: dict[str, Verdict | None] = {**labels}
    known |= {"rules": ruled.verdict} if ruled.verdict else {}
    known |= {"reading": reading.verdict} if reading and reading.confirms else {}
    verdicts = [verdict for verdict in known.values() if verdict]
    chain = None
    if verdicts and [*known] != ["model"]:
        # That no answer is given says more than a label `incorrect`.
        verdict = Verdict.INVALID if Verdict.INVALID in verdicts else verdicts[0]
        chain = chain_for(item, verdict, reading, ruled)
        if chain.quotes and not (reading and reading.confirms):
            item = _reformat_reference(item, chain.reference_answer, rng)
    return Candidate(
        id=f"{origin[1]}:{given.id}",
        item=item,
        chain=chain,
        lang=origin[0],
        response_lang="zh" if needs_gloss(item.response) else "en",
        source=origin[1],
        origin="real",
        pattern="real",
        group=group_of(item),
        labels=known,
    )


def chain_for(item: Item, verdict: Verdict, reading: Reading | None, ruled: Judgement) -> Chain:
    """The chain for a known verdict: a reader's, or the evidence of rules that decide alike.

    Where neither located the answer, the chain is its verdict tag alone.
    """
    references = [answer for r in item.accepted for answer in reference_answers(r)]
    tag = Chain(
        verdict=verdict,
        reference_answer=references[0],
        answer_type=answer_kind(item, references[0]),
    )
    if reading is not None and reading.verdict is not None:
        chain = reading.chain(item.response)
        # Of prose the rules would take a part; of a solution, its answer.
        wanted = item.accepted if tag.answer_type is AnswerType.TEXT else references
        kept = {
            "verdict": verdict,
            "reference_answer": nearest(wanted, chain.answer or ""),
            "answer_type": tag.answer_type,
        }
        return chain.model_copy(update=kept)
    shown = parse_chain(ruled.chain or "").chain
    if verdict is Verdict.INVALID or ruled.verdict is None or shown is None or not shown.quotes:
        return tag
    answer = shown.answer or ""
    if shown.answer_type is AnswerType.NUMBER and "=" not in shown.reference_answer:
        answer = _after_calculation(answer)
    elif shown.answer_type in CHOICE:
        answer = _BECAUSE.split(answer, maxsplit=1)[0]
    return with_gloss(shown.model_copy(update={"answer": answer, "verdict": verdict}))


def _after_calculation(text: str) -> str:
    """The result of the last calculation and what follows, 12 in "4 x 3 = 12"; else the text."""
    return text[max((m.end() for m in _SUM.finditer(text)), default=0) :]


def with_gloss(chain: Chain) -> Chain:
    """The chain with a gloss of each Chinese quote in words that the templates cover."""
    if chain.is_glossed:
        return chain
    glosses = (needs_gloss(quote) and render_gloss(quote) for quote in chain.quotes)
    return chain.model_copy(update={"glosses": tuple(gloss or "" for gloss in glosses)})


def teacher_glosses(chains: Sequence[Chain], teacher: Teacher) -> Iterator[Chain]:
    """The chains with a teacher's gloss of each Chinese quote that has none."""
    lacking = [
        [quote for quote in chain.quotes if needs_gloss(quote)] if not chain.is_glossed else []
        for chain in chains
    ]
    made = iter(teacher.glosses([quote for quotes in lacking for quote in quotes]))
    for chain, quotes in zip(chains, lacking, strict=True):
        english = dict(zip(quotes, made, strict=False)) if quotes else {}
        old = chain.glosses or ("",) * len(chain.quotes)
        glosses = (gloss or english.get(q, "") for q, gloss in zip(chain.quotes, old, strict=True))
        yield chain.model_copy(update={"glosses": tuple(glosses)}) if quotes else chain


def _reformat_reference(item: Item, reference: str, rng: random.Random) -> Item:
    """Sometimes rewrite a reference of option letters as an answer key writes it."""
    if len(item.reference) > 1 or not letters(reference) or rng.random() < 0.8:
        return item
    forms = (f"({reference})", f"答案：{reference}", f"{reference}.", f"Answer: {reference}")
    return item.model_copy(update={"reference": (rng.choice(forms),)})


def crossed(examples: Iterable[Example], seed: int) -> Iterator[Example]:
    """Each answer with another correct answer to the same question as its reference.

    The verdict stays: an answer that differs from the key differs from a correct answer, too.
    """
    alike: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        alike[asked(example)].append(example)
    for same in alike.values():
        right = [e for e in same if e.verdict is Verdict.CORRECT and len(e.response) <= _MAX_KEY]
        for example in same:
            given = plain(example.response)
            others = [e.response.strip() for e in right if plain(e.response) not in given]
            if others:
                source = f"{example.source}{CROSSED}"
                key = rng_for(f"{source}:{example.id}", seed).choice(others)
                yield example.model_copy(update={"reference": (key,), "source": source})


def group_of(item: Item) -> str:
    """The key of the split: the question, or the reference where there is no question."""
    return item.question or " ".join(item.reference)
