"""What is known of every candidate while rows are selected: a table of about 70 bytes a row."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from gradegpt.fit import fit_middle
from gradegpt.importers.labelled import question_key, split_of

from .candidates import Candidate
from .settings import DataGenSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

Keys: TypeAlias = Any
"""A ``pyarrow.Table`` with a row for each candidate, in the order of the candidates."""

NAMES: Final = (
    "verdict", "lang", "response_lang", "type", "origin", "pattern", "source", "labelled_by",
)  # fmt: skip
"""The columns of names; the others are numbers.

``row`` is the candidate's number, ``order`` a digest of its id, ``group`` one of its question,
``shown`` one of the question as the prompt shows it, ``dev`` whether its question belongs to dev.
"""


NO_QUESTION: Final = 0
"""In ``shown``."""


def key_of(candidate: Candidate, row: int, settings: DataGenSettings) -> dict[str, Any]:
    """The row of the table for a candidate."""
    budget = settings.prompt.budget
    shown = question_key(fit_middle(candidate.item.question, budget.question))
    return {
        "row": row,
        "order": _digest(candidate.id),
        "group": _digest(candidate.group),
        "shown": _digest(shown) if shown else NO_QUESTION,
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


def table_of(keys: Sequence[Mapping[str, Any]]) -> Keys:
    """The table of some candidates."""
    import pyarrow as pa

    numbers = {"row": pa.int64(), "order": pa.uint64(), "group": pa.uint64(), "shown": pa.uint64()}
    names = dict.fromkeys(NAMES, pa.dictionary(pa.int32(), pa.string()))
    return pa.Table.from_pylist(keys, pa.schema(numbers | {"dev": pa.bool_()} | names))


class Column(NamedTuple):
    """A column of names: ``names[codes[i]]`` is the name of row ``i``."""

    codes: NDArray[np.int32]
    names: list[str]

    def among(self, wanted: Sequence[str]) -> NDArray[np.bool_]:
        """Which rows have one of these names."""
        return np.array([name in wanted for name in self.names], dtype=np.bool_)[self.codes]


def column(keys: Keys, name: str) -> Column:
    """A column of names."""
    found = keys[name].unify_dictionaries().combine_chunks()
    return Column(found.indices.to_numpy(), found.dictionary.to_pylist())


def numbers(keys: Keys, name: str) -> Any:
    """A column of numbers."""
    return keys[name].to_numpy()


def concatenated(tables: Iterable[Keys]) -> Keys:
    """The rows of some tables, in order."""
    import pyarrow as pa

    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()


def tally(keys: Keys, name: str) -> Counter[str]:
    """How many rows have each name."""
    codes, names = column(keys, name)
    counts = np.bincount(codes, minlength=len(names)).tolist()
    return Counter({name: count for name, count in zip(names, counts, strict=True) if count})


def selection_order(keys: Keys) -> Any:
    """The places of the rows in the order in which they are selected.

    Labelled real answers come before counterfactual ones; otherwise the order is a digest's.
    """
    return np.lexsort((numbers(keys, "order"), column(keys, "origin").among(["counterfactual"])))


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])
