"""Seeds of the rows, in a fixed order: problems to answer, graded and ungraded answers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from gradegpt.core.errors import InputError
from gradegpt.core.schema import Example, Item, Verdict
from gradegpt.tables import Table
from gradegpt.tables.importers.labelled import (
    PartSettings,
    in_split,
    question_key,
    read_examples,
    read_items,
)

from .bilingual import Fact, bilingual, facts, question_of
from .candidates import Candidate, rng_for
from .drawn import parametric
from .guards import GUARDED, guard_of
from .problems import Problem, bank
from .public import measures_only
from .readings import digest_of, read_readings
from .real import crossed, group_of, labelled, unlabelled
from .settings import DataGenSettings
from .writer import synthetic

_RESPONSES: Final = 2
"""Responses written to a drawn problem."""


class Seed(NamedTuple):
    """A problem and the number of responses to write, or an answer.

    An answer without a grade has its language and source beside it.
    """

    body: Problem | Fact | Example | Item
    responses: int = 0
    lang: str = ""
    source: str = ""

    @property
    def group(self) -> str:
        """The key of the split, by which questions of evaluation files are left out."""
        if isinstance(self.body, Problem):
            return self.body.question
        return question_of(self.body) if isinstance(self.body, Fact) else group_of(self.body)


def seeds(settings: DataGenSettings, counts: Counter[str]) -> Iterator[Seed]:
    """Every seed in order, without those whose question is in an evaluation file."""
    avoided = {question_key(question) for question, *_ in avoided_texts(settings.avoid)} - {""}
    for seed in _read(settings):
        if question_key(seed.group) in avoided:
            counts["left_out:evaluation_question"] += 1
        else:
            yield seed


def avoided_texts(avoid: Iterable[PartSettings]) -> Iterator[tuple[str, str, str]]:
    """Question, reference and response of each row of the evaluation files."""
    for part in avoid:
        for _, row in Table.of(part.path).valid():
            value = row.get("reference") or ""
            reference = value if isinstance(value, str) else " ".join(map(str, value))
            question = str(row.get("question") or "")
            mine = part.split is None or in_split(question or reference, part.split)
            if mine and part.keeps(row):
                yield question, reference, str(row.get("response") or "")


def _read(settings: DataGenSettings) -> Iterator[Seed]:
    yield from (Seed(p, settings.bank) for p in bank() if settings.bank)
    yield from (Seed(p, _RESPONSES) for p in parametric(settings.parametric, settings.seed))
    kept = (f for f in facts() if settings.bilingual and f.held_out is settings.held_out)
    yield from (Seed(fact, settings.bilingual) for fact in kept)
    for source in settings.sources:
        if source.label in settings.leave_out:
            continue
        if measures_only(source.path):
            raise InputError(
                f"{source.path}: the set has no licence to train on; it may measure a judge, as a "
                "source of gradegpt eval"
            )
        for example in read_examples(source):
            yield Seed(example)
            if guard := guard_of(example, settings.guard, settings.seed):
                yield Seed(guard.model_copy(update={"source": f"{example.source}{GUARDED}"}))
        if source.label in settings.crossed:
            yield from map(Seed, crossed(read_examples(source), settings.seed))
    for source in settings.unlabelled:
        yield from (Seed(item, 0, lang, source.label) for item, lang in read_items(source))


def candidates_of(seed: Seed, settings: DataGenSettings) -> Iterator[Candidate]:
    """The candidates of one seed; they depend on the seed and the settings alone."""
    body = seed.body
    if isinstance(body, Problem | Fact):
        yield from (_written(body, index, settings) for index in range(seed.responses))
        return
    readings = read_readings(settings.readings)
    if isinstance(body, Example):
        yield labelled(body, readings)
    else:
        yield unlabelled(body, seed.lang, seed.source, readings.get(digest_of(body)))


def _written(body: Problem | Fact, index: int, settings: DataGenSettings) -> Candidate:
    """A response to a problem or a fact."""
    id_ = f"{body.id}:{index}"
    if isinstance(body, Fact):
        rng = rng_for(id_, settings.seed)
        return bilingual(body, _verdict(body.id, index, settings, rng), id_, rng)
    rng = rng_for(f"{id_}:{body.question}", settings.seed)
    return synthetic(body, _verdict(body.question, index, settings, rng), id_, rng)


def _verdict(asked: str, index: int, settings: DataGenSettings, rng: random.Random) -> Verdict:
    """Correct and incorrect in turn, so that no question predicts the verdict; some invalid."""
    first = rng_for(asked, settings.seed).randrange(2)
    if rng.random() < settings.invalid:
        return Verdict.INVALID
    return Verdict.CORRECT if (index + first) % 2 else Verdict.INCORRECT
