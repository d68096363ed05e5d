"""Graded answers on their way to being rows: the item, its chain, and who says what of it."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from typing import Any, Final, Literal

from gradegpt.chain import (
    Chain,
    PromptSettings,
    build_prompt,
    needs_gloss,
    parse_prompt,
    render_chain,
)
from gradegpt.judges.rules import RuleJudge
from gradegpt.quote import quotes_verbatim
from gradegpt.quoted import Quoted
from gradegpt.rules.compare.base import unproved
from gradegpt.schema import (
    AnswerType,
    ChainFormat,
    Item,
    Judgement,
    Message,
    Row,
    TrainingRow,
    Verdict,
)

MAX_REFERENCE: Final = 120
"""Longest answer written out in a chain, in characters; a longer text is clipped."""
RULES: Final = RuleJudge(prove=unproved)
"""The rules without computer algebra, whose clock would make the bytes depend on the machine."""

Origin = Literal["real", "counterfactual", "synthetic"]


class Candidate(Row):
    """An item that may become a row.

    ``chain`` is none where nobody has said a verdict yet. ``labels`` holds what each source of
    labels says: ``construction``, ``people``, ``key``, ``model``, ``rules``, ``teacher``. ``group``
    is the question as it stood in its source: rows of one group never fall into two splits.
    ``signature`` is for near duplicates.
    """

    id: str
    item: Item
    chain: Chain | None
    lang: str
    response_lang: str
    source: str
    origin: Origin
    pattern: str
    group: str
    labels: dict[str, Verdict]
    signature: str = ""

    @property
    def verdict(self) -> Verdict | None:
        """The chain's."""
        return self.chain.verdict if self.chain else None

    @property
    def kind(self) -> AnswerType:
        """The answer type that the row is counted under."""
        return (self.chain.answer_type if self.chain else None) or AnswerType.TEXT


def rng_for(key: str, seed: int) -> random.Random:
    """A generator that depends on the row alone, so order and threads do not matter."""
    return random.Random(hashlib.sha256(f"{seed}:{key}".encode()).digest())


def agree(labels: Mapping[str, Verdict]) -> bool | None:
    """Whether all who spoke are of one mind on right or not right; none where nobody spoke.

    Between ``incorrect`` and ``invalid`` there is no dispute: both are ``<No>``.
    """
    said = {verdict is Verdict.CORRECT for verdict in labels.values()}
    return None if not said else len(said) == 1


def by_rules(item: Item) -> Judgement:
    """What the rules say of an item."""
    return RULES.judge([item])[0]


def with_rules(candidate: Candidate) -> Candidate:
    """The candidate with the rules' verdict among its labels, where they have one."""
    verdict = by_rules(candidate.item).verdict
    if verdict is None:
        return candidate
    return candidate.model_copy(update={"labels": candidate.labels | {"rules": verdict}})


def texts_of(item: Item) -> tuple[str, ...]:
    """All that the item holds: context, question, references, response."""
    texts = (item.question, *item.reference, item.response)
    return (item.context, *texts) if item.context else texts


def clip(text: str) -> str:
    """The text on one line, without a full stop, cut after 120 characters."""
    text = " ".join(text.split())
    text = text.rstrip("。．") or text
    return text if len(text) <= MAX_REFERENCE else text[: MAX_REFERENCE - 1] + "…"


def as_named(chain: Chain) -> Chain:
    """A text whose quote says the reference gives just that, as constrained judges write it.

    Right or wrong: else the answer's length would tell the verdict before the comparison does.
    """
    quote, reference = (chain.key_sentence or "").encode(), chain.reference_answer.encode()
    named = Quoted(quote).naming(reference) if chain.answer_type is AnswerType.TEXT else []
    return chain.model_copy(update={"answer": clip(named[0].decode())}) if named else chain


def says_nothing_new(chain: Chain) -> bool:
    """Whether the chain calls two answers different that it writes, clipped, the same."""
    return chain.verdict is Verdict.INCORRECT and chain.reference_answer == chain.answer


def is_tag_alone(chain: Chain) -> bool:
    """Whether the chain has no more to say than its tag: nothing quoted, or nothing new said."""
    unquoted = chain.verdict is not Verdict.INVALID and not chain.key_sentence
    return unquoted or says_nothing_new(chain)


def formats_of(chain: Chain, formats: Mapping[ChainFormat, float]) -> dict[ChainFormat, float]:
    """The formats that the chain can take: a Chinese quote is cross-lingual by its gloss alone."""
    if is_tag_alone(chain):
        return {name: share for name, share in formats.items() if name is ChainFormat.OUTCOME}
    quote = chain.key_sentence
    if not quote or not needs_gloss(quote) or chain.gloss:
        return dict(formats)
    return {name: share for name, share in formats.items() if name is not ChainFormat.CROSS_LINGUAL}


def shown_item(item: Item, prompt: PromptSettings) -> Item:
    """The item as a judge sees it, fitted into the prompt's budget."""
    shown = parse_prompt(build_prompt(item, prompt))
    if shown is None:
        raise ValueError("a prompt of this project does not read as one")
    return shown


def quote_survives(chain: Chain, shown: Item) -> bool:
    """Whether the key sentence is still there when the response has been fitted."""
    return not chain.key_sentence or quotes_verbatim(chain.key_sentence, shown.response)


def chat_row(prompt: str, reply: str, meta: dict[str, Any] | None = None) -> TrainingRow:
    """One question and its reply, without the judge's prompt."""
    return TrainingRow(
        prompt=(Message(role="user", content=prompt),),
        completion=(Message(role="assistant", content=reply),),
        meta=meta or {},
    )


def training_row(
    candidate: Candidate, formats: Mapping[ChainFormat, float], prompt: PromptSettings, seed: int
) -> TrainingRow:
    """The prompt/completion row of a candidate with a chain, in a format drawn for it."""
    chain = candidate.chain
    if chain is None:
        raise ValueError(f"{candidate.id}: no chain, so no row")
    able = formats_of(chain, formats)
    rng = rng_for(f"format:{candidate.id}", seed)
    chosen = rng.choices([*able], weights=[*able.values()])[0]
    return TrainingRow(
        prompt=build_prompt(candidate.item, prompt.model_copy(update={"chain_format": chosen})),
        completion=(Message(role="assistant", content=render_chain(chain, chosen)),),
        meta={
            "id": candidate.id,
            "verdict": chain.verdict.value,
            "answer_type": candidate.kind.value,
            "lang": candidate.lang,
            "response_lang": candidate.response_lang,
            "source": candidate.source,
            "origin": candidate.origin,
            "pattern": candidate.pattern,
            "labelled_by": "+".join(sorted(candidate.labels)),
            "chain_format": chosen.value,
        },
    )
