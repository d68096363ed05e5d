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
from .teacher import Teacher, TeacherLabel


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
            drawn = ((c.id, rng_for(f"teacher:{c.id}", settings.seed)) for c in candidates)
            checked = {name for name, rng in drawn if rng.random() < settings.check}
            glossed = ChainFormat.CROSS_LINGUAL in settings.formats
            answered, said = with_teacher(candidates, teacher, checked=checked, glossed=glossed)
            readings += said
            labelled.append(folder / path.name)
            made = (as_taught(c, settings.prompt) for c in answered)
            write_rows(labelled[-1], [*made, {"counts": dict(sorted(counts.items()))}])
        progress("asking the teacher", len(paths), len(paths))
        return labelled, readings, teacher.meter.summary()


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
    labels = teacher.label([c.item for c in asked])
    said = {c.id: label for c, label in zip(asked, labels, strict=True)}
    known = [_with_label(c, said[c.id]) if c.id in said else c for c in candidates]
    made = [*_glossed(known, teacher)] if glossed else known
    return made, [*_readings(known, made, said, teacher.settings.model)]


def _with_label(candidate: Candidate, label: TeacherLabel) -> Candidate:
    if label.chain is None:
        return candidate.model_copy(update={"flaw": candidate.flaw or label.reason})
    labels = candidate.labels | {"teacher": label.chain.verdict}
    # A teacher's chain reads better than a template's: it is used where the labels agree.
    chain = label.chain if labels_agree(labels) else candidate.chain
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
    labelled: Mapping[str, TeacherLabel],
    teacher: str,
) -> Iterator[Reading]:
    """The chains of real rows and the glosses as readings, by which a later run asks for nothing.

    Not of crossed rows: a reading is found by question and response, which are another row's.
    """
    for old, new in zip(before, after, strict=True):
        said, chain = labelled.get(new.id, TeacherLabel(None)).chain, new.chain
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
