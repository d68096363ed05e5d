"""Candidates for training rows: an item, its chain, and the label of each source."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from gradegpt.chains.chain import Chain, PromptSettings, build_prompt, render_chain
from gradegpt.core.schema import (
    AnswerType,
    ChainFormat,
    Item,
    Judgement,
    Message,
    Row,
    TrainingRow,
    Verdict,
)
from gradegpt.judges.rules import RuleJudge
from gradegpt.rules.compare.base import unproved

from .truth import formats_of, taught

RULES: Final = RuleJudge(prove=unproved)
"""The rules without computer algebra, whose time limit makes results depend on the machine."""

Origin = Literal["real", "synthetic"]


class Candidate(Row):
    """An item that may become a row.

    ``chain`` is none where no verdict is known yet, and its tag alone where ``flaw`` says why.
    ``labels`` holds the verdict of each source of labels: ``construction``, ``people``, ``key``,
    ``model``, ``rules``, ``teacher``, ``reading``; None where a reader was unsure. ``group`` is the
    question as its source has it: all rows of a group are in the same split. ``signature`` is the
    MinHash signature for near duplicates.
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
    labels: dict[str, Verdict | None]
    flaw: str = ""
    signature: str = ""

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of the chain."""
        return self.chain.verdict if self.chain else None

    @property
    def kind(self) -> AnswerType:
        """The answer type under which the row is counted."""
        return (self.chain.answer_type if self.chain else None) or AnswerType.TEXT


def rng_for(key: str, seed: int) -> random.Random:
    """A random generator that depends on the row alone, not on order or threads."""
    return random.Random(hashlib.sha256(f"{seed}:{key}".encode()).digest())


def labels_agree(labels: Mapping[str, Verdict | None]) -> bool | None:
    """Whether all labels agree on correct or not correct; none where there is no label.

    ``incorrect`` and ``invalid`` agree: both are ``<No>``. An unsure reader agrees with none.
    """
    sides = {verdict and verdict is Verdict.CORRECT for verdict in labels.values()}
    return None if not sides else len(sides) == 1 and None not in sides


def by_rules(item: Item) -> Judgement:
    """The judgement of the rules on an item."""
    return RULES.judge([item])[0]


def with_rules(candidate: Candidate) -> Candidate:
    """The candidate with the rules' verdict added to its labels, where the rules decide."""
    verdict = by_rules(candidate.item).verdict
    if verdict is None:
        return candidate
    return candidate.model_copy(update={"labels": candidate.labels | {"rules": verdict}})


def texts_of(item: Item) -> tuple[str, ...]:
    """All texts of the item: context, question, references, response."""
    texts = (item.question, *item.reference, item.response)
    return (item.context, *texts) if item.context else texts


def as_taught(candidate: Candidate, prompt: PromptSettings) -> Candidate:
    """The candidate with its chain as it may be taught (``truth.taught``)."""
    if candidate.chain is None:
        return candidate
    chain, flaw = taught(candidate.chain, candidate.item, prompt)
    return candidate.model_copy(update={"chain": chain, "flaw": flaw and (candidate.flaw or flaw)})


def training_row(
    candidate: Candidate,
    formats: Mapping[ChainFormat, float],
    prompt: PromptSettings,
    seed: int,
    meta: Mapping[str, object] = MappingProxyType({}),
) -> TrainingRow:
    """The prompt/completion row of a candidate with a chain, in a randomly drawn chain format.

    Where the tag is first, one prompt asks for it, with a chain behind it or without. ``meta`` is
    added to the row's, without what is empty.
    """
    chain = candidate.chain
    if chain is None:
        raise ValueError(f"{candidate.id}: chain: missing; a training row needs one")
    able = formats_of(chain, formats)
    rng = rng_for(f"format:{candidate.id}", seed)
    chosen = rng.choices([*able], weights=[*able.values()])[0]
    alone = chosen is ChainFormat.OUTCOME and prompt.verdict == "first"
    asked = prompt if alone else prompt.model_copy(update={"chain_format": chosen})
    return TrainingRow(
        prompt=build_prompt(candidate.item, asked),
        completion=(
            Message(role="assistant", content=render_chain(chain, chosen, prompt.verdict)),
        ),
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
            **{name: value for name, value in meta.items() if value},
        },
    )
