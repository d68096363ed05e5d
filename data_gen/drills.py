"""Comparison drills: many compared answers in one short row.

A whole chain holds one comparison in three or four hundred tokens, so a small model trained on
chains alone learns to quote and to copy both answers long before it compares them. A drill for the
base model holds one comparison in twenty tokens; one for a judge, in the wording of a chain, one in
fifty.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from gradegpt.answers.options import LETTERS
from gradegpt.chain import NO, YES, Chain, render_comparison
from gradegpt.fit import ELISION
from gradegpt.schema import AnswerType, TrainingRow, Verdict

from .candidates import Candidate, chat_row, clip, is_self_contradictory, is_tag_alone
from .comparisons import sample_comparison
from .phrases import read_lists
from .variants import equivalent_form, hard_negative

LINES: Final = 8
_OWN: Final = 0.5
"""Share of the candidates' comparisons that a judge's drills take unchanged."""
_REWRITTEN: Final = 0.5
"""Share of the other comparisons in which the reference, too, is written in another form."""
_DRAWN: Final = 0.47
"""Share of a judge's comparisons whose answers are drawn at random."""
_WORDY: Final = 0.12
"""Share of a judge's comparisons whose answer has words around it: "18 edges", "D. a noble gas"."""
_BARE: Final = {
    AnswerType.NUMBER: re.compile(r"\$?-?\d[\d.,]*(?:/\d+)?%?\$?"),
    AnswerType.SINGLE_CHOICE: re.compile(rf"[(（]?[{LETTERS}][)）]?"),
}
"""Answers around which words may be put, by type."""
_LETTER_JOINTS: Final = (". ", ". ", "、", "：", ": ", ".", ") ")
_WORDS: Final = read_lists("drills")
_ASK: Final = _WORDS["ask"]


class Pair(NamedTuple):
    """Two answers and whether they mean the same."""

    left: str
    right: str
    same: bool


def pair_of(candidate: Candidate) -> Pair | None:
    """The two answers that a chain compares; none where the response gives no answer."""
    chain = candidate.chain
    return _pair(chain) if chain is not None and not is_tag_alone(chain) else None


def _pair(chain: Chain) -> Pair | None:
    if not chain.answer or "\n" in f"{chain.answer}{chain.reference_answer}":
        return None
    return Pair(chain.reference_answer, chain.answer, chain.verdict is Verdict.CORRECT)


def comparison_drill(rng: random.Random, pairs: Sequence[Pair]) -> dict[str, Any]:
    """A chat row of ``LINES`` compared answers, half drawn at random and half from ``pairs``."""
    drawn = filter(None, (_pair(sample_comparison(rng)) for _ in itertools.count()))
    lines = [
        rng.choice(pairs) if pairs and rng.random() < 0.5 else next(drawn) for _ in range(LINES)
    ]
    shown = [(p.right, p.left) if rng.random() < 0.5 else (p.left, p.right) for p in lines]
    body = "\n".join(f"{a} | {b}" for a, b in shown)
    reply = "\n".join(
        f"{a} | {b}: {YES if p.same else NO}" for p, (a, b) in zip(lines, shown, strict=True)
    )
    row = chat_row(f"{rng.choice(_ASK)}\n\n{body}", reply)
    return row.model_dump(mode="json", exclude={"meta"})


def by_type(candidates: Iterable[Candidate]) -> dict[AnswerType, list[Candidate]]:
    """The candidates whose chains compare two answers, by answer type."""
    made: dict[AnswerType, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        if pair_of(candidate) is not None:
            made[candidate.kind].append(candidate)
    return made


def judge_drill(
    rng: random.Random, answers: Mapping[AnswerType, Sequence[Candidate]]
) -> TrainingRow:
    """``LINES`` comparisons in the wording of a chain's end, supervised at their tags alone.

    All answer types are equally frequent. Some answers are drawn at random, some have words around
    them. Of the others, half are the candidates' own and half are new forms of their references.
    """
    kinds = sorted(answers)
    chains = [_comparison(rng, answers, kinds) for _ in range(LINES)]
    types = [chain.answer_type for chain in chains]
    return chat_row(rng.choice(_ASK), "\n".join(map(render_comparison, chains)), {"types": types})


def _comparison(
    rng: random.Random,
    answers: Mapping[AnswerType, Sequence[Candidate]],
    kinds: Sequence[AnswerType],
) -> Chain:
    draw = rng.random()
    if draw < _DRAWN:
        return sample_comparison(rng)
    bare = [kind for kind in kinds if kind in _BARE] if draw < _DRAWN + _WORDY else []
    candidate = rng.choice(answers[rng.choice(bare or kinds)])
    chain = _compared(rng, candidate)
    texts = answers.get(AnswerType.TEXT, ())
    return _among_words(rng, chain, candidate, texts) if bare else chain


def _among_words(
    rng: random.Random, chain: Chain, candidate: Candidate, texts: Sequence[Candidate]
) -> Chain:
    """The comparison with words around a bare answer, or with an option's text after its letter."""
    kind, answer = candidate.kind, chain.answer or ""
    if not _BARE[kind].fullmatch(answer):
        return chain
    if kind is AnswerType.SINGLE_CHOICE and texts and rng.random() < 0.6:
        option = rng.choice(texts).chain
        text = option.reference_answer if option is not None else ""
        wordy = f"{answer}{rng.choice(_LETTER_JOINTS)}{text}"
    else:
        lang = "zh" if candidate.lang == "zh" else "en"
        wordy = rng.choice(_WORDS[f"{kind}_{lang}"]).format(answer)
    return chain.model_copy(update={"answer": clip(wordy)})


def _compared(rng: random.Random, candidate: Candidate) -> Chain:
    """The candidate's chain, or one with its reference and another form of it or a hard negative.

    The reference may be rewritten, too: it says "forty" as often as a response does.
    """
    chain = candidate.chain
    if chain is None:
        raise ValueError(f"{candidate.id}: chain: missing; a comparison needs one")
    if rng.random() < _OWN or chain.reference_answer.endswith(ELISION):
        return chain
    reference, kind, chinese = chain.reference_answer, candidate.kind, candidate.lang == "zh"
    wrong = rng.random() < 0.5
    question = candidate.item.question
    form = (hard_negative if wrong else equivalent_form)(rng, reference, kind, question, chinese)
    if form is None:
        return chain
    if rng.random() < _REWRITTEN:
        rewritten = clip(equivalent_form(rng, reference, kind, question, chinese))
        reference = reference if rewritten.endswith(ELISION) else rewritten
    verdict = Verdict.INCORRECT if wrong else Verdict.CORRECT
    drawn = chain.model_copy(
        update={"reference_answer": reference, "answer": clip(form), "verdict": verdict}
    )
    return chain if is_self_contradictory(drawn) else drawn
