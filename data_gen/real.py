"""Real answers of models and pupils as candidates, labelled or not."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gradegpt.answers.text import plain
from gradegpt.chains.chain import Chain, needs_gloss, parse_chain
from gradegpt.core.schema import CHOICE, AnswerType, Example, Item, Judgement, Verdict
from gradegpt.rules.reference import answer_kind, asked, reference_answers

from .candidates import Candidate, by_rules, rng_for
from .gloss import render_gloss
from .readings import Reading, digest_of
from .truth import nearest

CROSSED: Final = "_crossed"
"""What the name of a source of crossed answers ends with."""
_MAX_KEY: Final = 120
"""Longest answer that is used as a reference for another, in characters."""
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


def labelled(example: Example, readings: Mapping[str, Reading]) -> Candidate:
    """A real answer with its label."""
    reading = readings.get(digest_of(example))
    if reading is not None and example.source.endswith(CROSSED):
        # The verdict stays against another reference; the reason may name the first one.
        reading = reading.model_copy(update={"why": ""})
    labels = {_labeller(example.labelled_by): example.verdict}
    return _candidate(example, labels, (example.lang, example.source), reading)


def unlabelled(item: Item, lang: str, source: str, reading: Reading | None) -> Candidate:
    """A real answer without a grade: labelled by a reading, the rules, or else by a teacher."""
    return _candidate(item, {}, (lang, source), reading)


def _labeller(name: str) -> str:
    """The kind of label source; the label of a model counts only beside another."""
    kinds = {"people": _PEOPLE, "model": _MODEL}
    return next((kind for kind, pattern in kinds.items() if pattern.search(name)), "key")


def _candidate(
    given: Item,
    labels: dict[str, Verdict],
    origin: tuple[str, str],
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
        # The result of the last calculation and what follows, 12 in "4 x 3 = 12".
        answer = answer[max((m.end() for m in _SUM.finditer(answer)), default=0) :]
    elif shown.answer_type in CHOICE:
        answer = _BECAUSE.split(answer, maxsplit=1)[0]
    return with_gloss(shown.model_copy(update={"answer": answer, "verdict": verdict}))


def with_gloss(chain: Chain) -> Chain:
    """The chain with a gloss of each Chinese quote in words that the templates cover."""
    if chain.is_glossed:
        return chain
    glosses = (needs_gloss(quote) and render_gloss(quote) for quote in chain.quotes)
    return chain.model_copy(update={"glosses": tuple(gloss or "" for gloss in glosses)})


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
