"""Questions with references, from tables of any columns, as problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gradegpt.core.errors import InputError
from gradegpt.core.settings import Settings
from gradegpt.tables import each_row

from ..problems import Problem
from .mapping import Mapping, load_mapping, map_row

MAX_REFERENCE: Final = 300
"""Most characters of a reference: a longer one is a solution, and has no hard negative."""


class Questions(Settings):
    """A table of questions with references and without responses; the writer writes responses.

    ``path``: a file (``.jsonl .json .csv .tsv .parquet``), several with ``*``, or a data set of the
    hub, ``hf:owner/name:config@split``. ``mapping``: the name of a ready one, a YAML file, or the
    columns.
    """

    path: str
    mapping: str | Mapping = "jsonl"

    @property
    def label(self) -> str:
        """The name of the source in tables: that of the file or of its folder."""
        parts = Path(self.path.partition("@")[0]).with_suffix("").parts
        return next((p for p in reversed(parts) if "*" not in p), "questions")

    @property
    def columns(self) -> Mapping:
        """The mapping, loaded if the setting is a name or a path."""
        return load_mapping(self.mapping) if isinstance(self.mapping, str) else self.mapping


def read_problems(questions: Questions, counts: Counter[str]) -> Iterator[Problem]:
    """The problems of a table, in order.

    Every row is counted in ``counts``: ``read:LABEL``, and ``skipped:LABEL:REASON`` for those left
    out (the reasons of ``map_row``, and ``long_reference``).

    Raises:
        MissingError: the file, data set or mapping does not exist.
        InputError: a row cannot be read, or no row has a question and a reference, which means that
            the columns are not those of the mapping.

    """
    mapping, fits, have = questions.columns, False, ""
    for where, row in each_row(questions.path):
        have = have or ", ".join(row)
        found = map_row(row, mapping, where, questions.label)
        fits = fits or found not in ("no_question", "no_reference")
        if isinstance(found, Problem) and len(found.reference) > MAX_REFERENCE:
            found = "long_reference"
        counts[f"read:{questions.label}"] += 1
        if isinstance(found, Problem):
            yield found
        else:
            counts[f"skipped:{questions.label}:{found}"] += 1
    if not fits:
        raise InputError(
            f"{questions.path}: no row has a question and a reference; the first has the columns: "
            f"{have or 'none'}. Name the right ones in 'mapping'"
        )
