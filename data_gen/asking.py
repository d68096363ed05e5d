"""Ask a teacher for the labels, chains and glosses that candidates lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from gradegpt.chains.chain import Chain, needs_gloss
from gradegpt.core.records import write_rows
from gradegpt.core.schema import ChainFormat

from .candidates import Candidate, as_taught, labels_agree, rng_for
from .readings import BY_RULES, Reading, reading_of
from .real import CROSSED, with_gloss
from .settings import DataGenSettings
from .shards import StageProgress, read_shard
from .teacher import Teacher, TeacherVote


def ask_teacher(
    paths: Sequence[Path], settings: DataGenSettings, folder: Path, progress: StageProgress
) -> tuple[list[Path], list[Reading], dict[str, Any]]:
    """The shards with a teacher's labels, its readings, and what was spent.

    The same shards without a teacher.
    """
    if settings.teacher is None:
        return [*paths], [], {}
    labelled, readings = list[Path](), list[Reading]()
    with Teacher(settings.teacher) as teacher:
        for number, path in enumerate(paths):
            progress("asking the teacher", number, len(paths))
            counts: Counter[str] = Counter()
            candidates = [*read_shard(path, counts)]
            checked = {c.id for c in candidates if _is_checked(c, settings)}
            glossed = ChainFormat.CROSS_LINGUAL in settings.formats
            answered, said = with_teacher(candidates, teacher, checked=checked, glossed=glossed)
            readings += said
            labelled.append(folder / path.name)
            made = (as_taught(c, settings.prompt) for c in answered)
            write_rows(labelled[-1], [*made, {"counts": dict(sorted(counts.items()))}])
        progress("asking the teacher", len(paths), len(paths))
        return labelled, readings, teacher.meter.summary()


def _is_checked(candidate: Candidate, settings: DataGenSettings) -> bool:
    return rng_for(f"teacher:{candidate.id}", settings.seed).random() < settings.check


def with_teacher(
    candidates: Sequence[Candidate],
    teacher: Teacher,
    *,
    checked: Set[str] = frozenset(),
    glossed: bool = True,
) -> tuple[list[Candidate], list[Reading]]:
    """The candidates with a teacher's label and chain where they have none, and its readings.

    Those ``checked``, by their ids, are labelled by the teacher, too. ``glossed``: chains get the
    English that they lack.
    """
    asked = [c for c in candidates if c.chain is None or c.flaw or c.id in checked]
    votes = teacher.label([c.item for c in asked])
    voted = {c.id: vote for c, vote in zip(asked, votes, strict=True)}
    known = [_with_vote(c, voted[c.id]) if c.id in voted else c for c in candidates]
    made = [*_glossed(known, teacher)] if glossed else known
    return made, [*_readings(known, made, voted, teacher.name)]


def _with_vote(candidate: Candidate, vote: TeacherVote) -> Candidate:
    if vote.verdict is None:
        return candidate.model_copy(update={"flaw": candidate.flaw or vote.reason})
    labels = candidate.labels | {"teacher": vote.verdict}
    # A teacher's chain reads better than a template's: it is used where the labels agree.
    chain = vote.chain if labels_agree(labels) and vote.chain is not None else candidate.chain
    return candidate.model_copy(update={"labels": labels, "chain": chain})


def _glossed(candidates: Sequence[Candidate], teacher: Teacher) -> Iterator[Candidate]:
    """The candidates with a gloss of each Chinese quote that has none, once for equal quotes."""
    chains = [c.chain and with_gloss(c.chain) for c in candidates]
    lacking = [
        quote
        for chain in chains
        if chain and not chain.is_glossed
        for quote in chain.quotes
        if needs_gloss(quote)
    ]
    english = dict(zip(lacking, teacher.glosses(lacking), strict=True))
    for candidate, chain in zip(candidates, chains, strict=True):
        yield candidate.model_copy(update={"chain": chain and _translated(chain, english)})


def _translated(chain: Chain, english: Mapping[str, str]) -> Chain:
    if chain.is_glossed:
        return chain
    old = chain.glosses or ("",) * len(chain.quotes)
    glosses = tuple(own or english.get(q, "") for q, own in zip(chain.quotes, old, strict=True))
    return chain.model_copy(update={"glosses": glosses})


def _readings(
    before: Sequence[Candidate],
    after: Sequence[Candidate],
    voted: Mapping[str, TeacherVote],
    teacher: str,
) -> Iterator[Reading]:
    """The votes on real rows and the glosses as readings, by which a later run asks for nothing.

    Not of crossed rows: a reading is found by question and response, which are another row's.
    """
    for old, new in zip(before, after, strict=True):
        said, chain = voted.get(new.id, TeacherVote(None, "")).chain, new.chain
        if new.origin != "real" or new.source.endswith(CROSSED):
            continue
        own = said is not None or "reading" in new.labels
        if said and not (chain and labels_agree(new.labels)):
            chain = said
        elif not said and (chain == old.chain or not labels_agree(new.labels)):
            continue
        if chain is not None:
            item = new.item.model_copy(update={"id": new.id})
            yield reading_of(chain, item, new.source, teacher if own else f"{BY_RULES}{teacher}")
