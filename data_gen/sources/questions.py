"""Questions with references, from any table, as problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field

from gradegpt.errors import InputError
from gradegpt.importers.labelled import Split, split_of
from gradegpt.settings import Settings
from gradegpt.tables import read_table

from ..problems import Problem
from .mapping import Column, Mapped, Mapping, load_mapping, map_row
from .texts import pick, texts


class Questions(Settings):
    """A table of questions with references and without responses; the writer writes responses.

    ``path``: a file (``.jsonl .json .csv .tsv .parquet``), several with ``*``, or a data set of the
    hub, ``hf:owner/name:config@split``. ``mapping``: the name of a ready one, a YAML file, or the
    columns. ``only`` keeps the rows whose column holds one of the values. ``split`` keeps one part
    of the questions, by a hash of the question that all files share. A reference of more than
    ``max_reference`` characters is left out: it is a solution, for which there is no hard negative.
    """

    path: str
    mapping: str | Mapping = "jsonl"
    name: str = ""
    only: dict[str, Column] = Field(default={})
    split: Split | None = None
    limit: int | None = Field(default=None, ge=1)
    max_reference: int = Field(default=300, ge=1)

    @property
    def label(self) -> str:
        """The name of the source in tables: ``name``, or that of the file or of its folder."""
        parts = Path(self.path.partition("@")[0]).with_suffix("").parts
        return self.name or next((p for p in reversed(parts) if "*" not in p), "questions")

    @property
    def columns(self) -> Mapping:
        """The mapping, loaded if the setting is a name or a path."""
        return load_mapping(self.mapping) if isinstance(self.mapping, str) else self.mapping


def read_problems(questions: Questions, counts: Counter[str]) -> Iterator[Problem]:
    """The problems of a table, in order.

    Every row is counted in ``counts``: ``read:LABEL``, and ``skipped:LABEL:REASON`` for those left
    out (the reasons of ``map_row``, and ``not_asked_for``, ``long_reference``, ``other_split``).

    Raises:
        MissingError: the file, data set or mapping does not exist.
        InputError: a row cannot be read, or no row has a question and a reference, which means that
            the columns are not those of the mapping.

    """
    taken = 0
    for mapped in read_mapped(questions):
        counts[f"read:{questions.label}"] += 1
        if isinstance(mapped.problem, str):
            counts[f"skipped:{questions.label}:{mapped.problem}"] += 1
            continue
        yield mapped.problem
        taken += 1
        if taken == questions.limit:
            return


def read_mapped(questions: Questions) -> Iterator[Mapped]:
    """Every row with its id and question, and its problem or the reason why there is none."""
    mapping, fits, have = questions.columns, False, ""
    for where, row in read_table(questions.path):
        have = have or ", ".join(row)
        mapped = map_row(row, mapping, where, questions.label)
        fits = fits or mapped.problem not in ("no_question", "no_reference")
        yield mapped._replace(problem=_wanted(mapped.problem, row, questions))
    if not fits:
        raise InputError(
            f"{questions.path}: no row has a question and a reference; the first has the columns: "
            f"{have or 'none'}. Name the right ones in 'mapping'"
        )


def _wanted(problem: Problem | str, row: dict[str, Any], questions: Questions) -> Problem | str:
    if isinstance(problem, str):
        return problem
    for column, values in questions.only.items():
        if not set(texts(pick(row, (column,)))) & set(values):
            return "not_asked_for"
    if any(len(r) > questions.max_reference for r in (problem.reference, *problem.accepted)):
        return "long_reference"
    if questions.split not in (None, split_of(problem.question)):
        return "other_split"
    return problem
