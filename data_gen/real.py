"""Real answers of models and pupils as candidates, labelled or not."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import Final

from gradegpt.answers.options import letters
from gradegpt.answers.read import read
from gradegpt.answers.spans import clause_ends, sentences
from gradegpt.answers.text import fold, plain, simplified, tidy
from gradegpt.chains.chain import Chain, needs_gloss
from gradegpt.chains.quote import MAX_QUOTE, part_runs
from gradegpt.core.schema import CHOICE, AnswerType, Example, Item, Verdict
from gradegpt.rules.asked import asked
from gradegpt.rules.compare import compare
from gradegpt.rules.compare.given import FILLER
from gradegpt.rules.extract import Found, How, find_answer
from gradegpt.rules.reference import answer_kind, answer_places, reference_answers

from .candidates import Candidate, by_rules, clip, rng_for, with_matched_answer
from .quoted import after_calculation

_TRUSTED: Final = (How.BOXED, How.ANNOUNCED, How.WHOLE)
_ALL_OF_IT: Final = (How.WHOLE, How.STATED)
_MAX_KEY: Final = 120
"""Longest answer that is used as a reference for another, in characters."""
_RESTATEMENT_CUT: Final = 0.5
"""Share of the responses that lose a last line which restates their result."""
_MAX_LAST_LINE: Final = 24
"""Longest such line, in characters: ``A: 18``, ``35``."""
_NUMBER: Final = re.compile(r"-?\d+(?:[.,]\d+)*")
_ITEM_FIELDS: Final = set(Item.model_fields) - {"id", "meta"}
_PEOPLE: Final = re.compile(r"human|teacher|people|annotator", re.IGNORECASE)
_VOTED: Final = re.compile(r"\bvote", re.IGNORECASE)
_MODEL: Final = re.compile(r"gpt|model|llm", re.IGNORECASE)
_COPULA: Final = re.compile(r"\b(?:is|are|was|were|means|called|named)\b|是|为|叫做?|[:：]")
_CLAUSE: Final = re.compile(r"[，；]|[,;](?=\s)")
"""Separators of clauses; the Chinese enumeration comma separates none."""
_WORD: Final = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")
_AROUND: Final = " \t.。．,，、;；:：!！?？*"
"""Characters that are stripped from both ends of a phrase."""


def labelled(example: Example, rng: random.Random) -> Candidate:
    """A real answer with its label, sometimes without a last line that restates its result."""
    labels = {_labeller(example.labelled_by): example.verdict}
    steps = without_restated_answer(example.response) if rng.random() < _RESTATEMENT_CUT else None
    if steps:
        example = example.model_copy(update={"response": steps})
    return _candidate(example, labels, example.lang, example.source, rng, shown=bool(steps))


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


def unlabelled(item: Item, lang: str, source: str, rng: random.Random) -> Candidate:
    """A real answer without a grade: labelled by the rules where they decide, else by a teacher."""
    return _candidate(item, {}, lang, source, rng)


def _labeller(name: str) -> str:
    """The kind of label source; a model that voted over several samples counts as a teacher."""
    kinds = {"people": _PEOPLE, "teacher": _VOTED, "model": _MODEL}
    return next((kind for kind, pattern in kinds.items() if pattern.search(name)), "key")


def _candidate(
    given: Item,
    labels: dict[str, Verdict],
    lang: str,
    source: str,
    rng: random.Random,
    *,
    shown: bool = False,
) -> Candidate:
    """A candidate, without a chain where the verdict is unknown or the rules contradict it.

    The label of a single model is not enough: unlike a teacher's it is not a vote over samples.
    ``shown``: the answer that the rules extract from the response is known to be its answer.
    """
    item = Item.model_validate(given.model_dump(include=_ITEM_FIELDS))
    rules_verdict = by_rules(item).verdict
    labels = labels if rules_verdict is None else labels | {"rules": rules_verdict}
    chain = None
    if labels and [*labels] != ["model"]:
        # The rules' `invalid` says more than a label `incorrect`.
        known = [*labels.values()]
        verdict = Verdict.INVALID if Verdict.INVALID in known else known[0]
        chain = chain_for(item, verdict, shown=shown or "rules" in labels)
    if chain is not None and chain.key_sentence is not None:
        item = _reformat_reference(item, chain.reference_answer, rng)
    return Candidate(
        id=f"{source}:{given.id}",
        item=item,
        chain=chain,
        lang=lang,
        response_lang="zh" if needs_gloss(item.response) else "en",
        source=source,
        origin="real",
        pattern="real",
        group=group_of(item),
        labels=labels,
    )


def chain_for(item: Item, verdict: Verdict, *, shown: bool) -> Chain | None:
    """The chain for a known verdict; none where the extracted answer contradicts it.

    An answer that is merely concluded is used only where it is ``shown`` to be the answer. Without
    an answer to quote, the chain is its verdict tag alone.
    """
    references = [answer for r in item.accepted for answer in reference_answers(r)]
    kind = answer_kind(item, references[0])
    if verdict is Verdict.INVALID:
        return Chain(verdict=verdict, reference_answer=clip(references[0]), answer_type=kind)
    places = answer_places(references[0], kind)
    found = find_answer(tidy(item.response), kind, places)
    settled = found is not None and (shown or found.how in _TRUSTED)
    if kind is AnswerType.TEXT and (found is None or not settled or found.how in _ALL_OF_IT):
        return _free_text(item, references, verdict)
    if found is None or not settled:
        return Chain(verdict=verdict, reference_answer=clip(references[0]), answer_type=kind)
    given = read(found.answer, kind, asked(item))
    wanted = [read(reference, kind, asked(item)) for reference in references]
    same = [compare(one, given, question=asked(item)).same for one in wanted]
    right = verdict is Verdict.CORRECT
    if (right and all(s is False for s in same)) or (not right and True in same):
        return None
    compared = list(zip(references, same, strict=True))
    agree = [r for r, s in compared if s] or [r for r, s in compared if s is None] or references
    reference = _nearest(agree, found.answer)
    run = _part_lines(item.response, places) if places > 1 else None
    return _comparison_chain(verdict, item.response, found, reference, kind, run)


def _part_lines(response: str, places: int) -> str | None:
    """The last numbered lines, one for each part, joined into one line."""
    runs = [run for run in part_runs(response.split("\n")) if len(run) == places]
    return " ".join(runs[-1]) if runs else None


def _comparison_chain(
    verdict: Verdict,
    response: str,
    found: Found,
    reference: str,
    kind: AnswerType,
    run: str | None = None,
) -> Chain | None:
    """The chain; it quotes ``run``, the joined lines of the parts, if there are several parts."""
    quote = run or _quote(response, found)
    if not quote:
        return None
    answer = quote if run and kind not in CHOICE else found.answer
    if kind is AnswerType.NUMBER and "=" not in reference:
        answer = after_calculation(answer)
    return Chain(
        verdict=verdict,
        key_sentence=quote,
        reference_answer=clip(reference),
        answer_type=kind,
        answer=clip(answer).rstrip(" ,，;；、") or None,
    )


def _quote(response: str, found: Found) -> str:
    """The key sentence; where it has several lines, its clause or else its first line."""
    spans = ((found.start, found.end), found.clause)
    texts = [response[start:end].strip() for start, end in spans]
    whole = (sentence for sentence in texts if sentence and "\n" not in sentence)
    return next(whole, texts[0].partition("\n")[0].strip())


def _free_text(item: Item, references: list[str], verdict: Verdict) -> Chain | None:
    """The chain for free text: it quotes the sentence nearest to a reference, right or wrong.

    It has no gloss: ``render_gloss`` translates only the writer's own sentences.
    """
    found = [item.response[start:end] for start, end in sentences(item.response)]
    if not found:
        return None
    sentence = max(found, key=lambda s: max(_share(r, s) for r in references))
    most = max(_share(r, sentence) for r in references)
    reference = _nearest([r for r in references if _share(r, sentence) == most], sentence)
    sentence = _shortened(sentence, reference)
    chain = Chain(
        verdict=verdict,
        key_sentence=sentence,
        reference_answer=clip(reference),
        answer_type=AnswerType.TEXT,
        answer=clip(_phrase(sentence, reference, asked(item))),
    )
    return with_matched_answer(chain)


def words(text: str) -> frozenset[str]:
    """The distinct words of a text without filler words; each Chinese character is a word."""
    found = frozenset(_WORD.findall(fold(simplified(text)).casefold()))
    return (found - FILLER) or found


def _share(reference: str, text: str) -> float:
    """The share of the reference's words that ``text`` contains."""
    wanted = words(reference)
    return len(wanted & words(text)) / len(wanted) if wanted else 0.0


def _phrase(sentence: str, reference: str, question: str) -> str:
    """The answer in free text: the clause nearest to the reference, or that clause's predicate.

    The predicate is used where the words before "is" mostly repeat the question and contain nothing
    more of the reference. Right and wrong answers are treated alike. The text is verbatim.
    """
    clauses = [clause.strip(_AROUND) for clause in _CLAUSE.split(sentence)]
    clause = max(clauses, key=lambda c: _share(reference, c))
    asked, predicates = words(question), list[str]()
    for copula in _COPULA.finditer(clause):
        head, rest = words(clause[: copula.start()]), clause[copula.end() :].strip(_AROUND)
        if rest and 2 * len(head & asked) >= len(head):
            predicates.append(rest)
    most = _share(reference, clause)
    whole = [*(p for p in predicates[:1] if _share(reference, p) == most), clause]
    return next(filter(None, whole), sentence)


def _nearest(references: list[str], answer: str) -> str:
    """The accepted answer that is most similar to the given one as a string; the first on ties."""
    given = SequenceMatcher(b=plain(answer), autojunk=False)

    def likeness(reference: str) -> float:
        given.set_seq1(plain(reference))
        return given.ratio()

    return max(references, key=likeness)


def _shortened(sentence: str, wanted: str) -> str:
    """The whole sentence, or as many clauses of a long one as fit into a quote."""
    if len(sentence) <= MAX_QUOTE:
        return sentence
    at = sentence.casefold().find(wanted.casefold())
    stop = at + len(wanted) if at >= 0 else 0
    breaks = [0, *clause_ends(sentence), len(sentence)]
    start = max(b for b in breaks if b <= at) if stop > MAX_QUOTE else 0
    most = start + MAX_QUOTE
    ends = (b for b in breaks if max(start + 1, stop) <= b <= most)
    return sentence[start : max(ends, default=most)].strip()


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
                source = f"{example.source}_crossed"
                key = rng_for(f"{source}:{example.id}", seed).choice(others)
                yield example.model_copy(update={"reference": (key,), "source": source})


def group_of(item: Item) -> str:
    """The key of the split: the question, or the reference where there is no question."""
    return item.question or " ".join(item.reference)
