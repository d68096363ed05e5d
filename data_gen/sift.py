"""Sift the candidates: those whose labels agree stay, without duplicates.

The candidates stay in their shards; what is in memory of each is a row of keys and a signature,
about 1.5 kB.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gradegpt.chains.fit import fit_middle
from gradegpt.core.records import dump
from gradegpt.core.schema import Verdict
from gradegpt.tables.importers.labelled import question_key, split_of

from .candidates import Candidate, labels_agree, texts_of
from .duplicates import exact_key, near_copies
from .selection import NO_QUESTION, Keys
from .settings import DataGenSettings
from .shards import StageProgress, read_shard, signature_of, why_unusable
from .truth import stated

if TYPE_CHECKING:
    from .duplicates import Signature


class Sifted(NamedTuple):
    """The agreed candidates by their keys, and the lines of the disputed ones with all labels.

    ``counts``: how many were left out, and why.
    """

    paths: Sequence[Path]
    keys: Keys
    disputed: list[str]
    counts: Counter[str]


def read_rows_of(path: Path, rows: Container[int]) -> Iterator[Candidate]:
    """Some candidates of a shard, in order."""
    yield from (c for row, c in enumerate(read_shard(path, Counter())) if row in rows)


def sift(paths: Sequence[Path], settings: DataGenSettings, progress: StageProgress) -> Sifted:
    """Sift the candidates of some shards."""
    import pandas as pd

    counts, own, disputed = Counter[str](), Counter[str](), list[str]()
    keys, seen = list[dict[str, Any]](), set[bytes]()
    signatures: list[Signature] = []
    for number, path in enumerate(paths):
        progress("checking labels", number, len(paths))
        for row, candidate in enumerate(read_shard(path, counts)):
            own["answers"] += 1
            left_out = _left_out(candidate, settings, seen)
            if left_out == "disputed":
                disputed.append(dump(candidate) + "\n")
            elif left_out:
                own[f"left_out:{left_out}"] += 1
            else:
                if candidate.flaw:
                    own[f"no_chain:{candidate.flaw}"] += 1
                keys.append(key_of(candidate, settings) | {"shard": number, "row": row})
                signatures.append(signature_of(candidate))
    counts["disputed"] = len(disputed)
    own["answers"] += sum(n for why, n in counts.items() if why.startswith("left_out:"))
    counts.update(own)
    progress("checking labels", len(paths), len(paths))
    table = pd.DataFrame(keys, columns=[*_COLUMNS, "shard", "row"]).astype({"dev": bool})
    copies = _near_copies(table, signatures, settings.near_duplicate)
    table = table.drop(index=copies)
    alike = _contradictory(table)
    for reason, rows in (("near_duplicate", copies), ("same_answer", alike)):
        if len(rows):
            counts[f"left_out:{reason}"] = len(rows)
    return Sifted(paths, table.drop(index=alike), disputed, counts)


def _contradictory(keys: Keys) -> Sequence[int]:
    """The rows with opposite verdicts on the same stated answer to the same question and reference.

    What tells them apart is not in what their chains compare.
    """
    stating = keys[keys["stated"] != 0]
    right = (stating["verdict"] == Verdict.CORRECT).groupby(stating["stated"])
    return list(stating.index[right.transform("nunique") > 1])


def _left_out(candidate: Candidate, settings: DataGenSettings, seen: set[bytes]) -> str:
    """Why a candidate is left out; empty where it stays."""
    if labels_agree(candidate.labels) is False:
        return "disputed"
    if reason := why_unusable(candidate, settings):
        return reason
    key = exact_key("\0".join(texts_of(candidate.item)))
    if key in seen:
        return "exact_duplicate"
    seen.add(key)
    return ""


def _near_copies(keys: Keys, signatures: Sequence[Signature], threshold: float) -> list[int]:
    """The numbers of the near duplicates among the rows of one verdict and question."""
    import numpy as np

    classes: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for number, key in enumerate(zip(keys["verdict"], keys["group"], strict=True)):
        classes[key].append(number)
    found = list[int]()
    for rows in classes.values():
        if len(rows) > 1:
            stacked = np.stack([signatures[row] for row in rows])
            found += (rows[place] for place in near_copies(stacked, threshold))
    return found


_COLUMNS = (
    "order", "twins", "group", "shown", "stated", "dev", "verdict", "lang", "response_lang", "type",
    "origin", "pattern", "source", "labelled_by",
)  # fmt: skip


def key_of(candidate: Candidate, settings: DataGenSettings) -> dict[str, Any]:
    """What the selection needs of a candidate.

    ``order`` is a digest of its id, or the number of its twins, which are selected together;
    ``group`` is one of its question, ``shown`` one of the question as the prompt shows it,
    ``stated`` one of the answer that its chain states, with the question and the references; 0
    without one. ``dev``: whether its question belongs to dev.
    """
    states = stated(candidate.chain, candidate.item)
    shown = question_key(fit_middle(candidate.item.question, settings.prompt.budget.question))
    twins = twins_of(candidate, settings)
    return {
        "order": twins or _digest(candidate.id),
        "twins": twins,
        "group": _digest(candidate.group),
        "shown": _digest(shown) if shown else NO_QUESTION,
        "stated": _digest(states) if states else 0,
        "dev": split_of(candidate.group) == "dev",
        "verdict": candidate.verdict,
        "lang": candidate.lang,
        "response_lang": candidate.response_lang,
        "type": candidate.kind.value,
        "origin": candidate.origin,
        "pattern": candidate.pattern,
        "source": candidate.source,
        "labelled_by": "+".join(sorted(candidate.labels)),
    }


def twins_of(candidate: Candidate, settings: DataGenSettings) -> int:
    """The number that all twins of a question and its references have; 0 in other sources."""
    asked = "\0".join((candidate.group, *candidate.item.reference))
    return _digest(asked) >> 16 if candidate.source in settings.twins else 0


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])
