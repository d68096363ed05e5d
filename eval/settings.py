"""The settings of an evaluation: files of answers, judges, and the bootstrap."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, ClassVar, Final, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from gradegpt.importers.labelled import Source
from gradegpt.judges.build import JudgeSettings
from gradegpt.settings import Settings

LISTED: Final = 5000
"""The default number of items that a page lists: about 10 MB of ordinary rows."""
_FILE_NAME: Final = re.compile(r"\w[\w .+-]*")


def _file_name(name: str) -> str:
    if not _FILE_NAME.fullmatch(name):
        raise ValueError(f"the name {name!r} cannot name a file; use letters, digits and . + - _")
    return name


Name = Annotated[str, AfterValidator(_file_name)]
"""A name that is also that of a file or folder."""


class EvalSettings(Settings):
    """One evaluation: every judge judges every row of every source.

    ``sources`` have labels: the judges are measured. ``answers`` are files of a model's answers
    without labels: the model is measured, by each judge, and ``ks`` are the k of pass@k and related
    scores (default: powers of two that all questions reach). Columns of answers are recognised by
    their usual names; ``columns`` names the others. ``bootstrap`` is the number of resamples of an
    interval (0: no intervals), ``chunk`` the rows between two writes, ``disagreements`` the most in
    ``report.json`` for one judge, and ``listed`` the most items that the page lists. ``out``
    defaults to ``runs/<name>``.
    """

    command: ClassVar[str] = "eval"
    name: Name
    out: str = ""
    sources: tuple[Source, ...] = Field(default=(), examples=["[{path: graded.csv}]"])
    answers: tuple[str, ...] = Field(default=(), examples=["[answers.csv]"])
    columns: dict[str, str] = Field(default_factory=dict)
    ks: tuple[int, ...] = ()
    left_open: bool = False
    """Keep only the rows that the rules leave undecided, which a cascade's other judges decide."""
    sample: int = Field(default=0, ge=0)
    """The most rows of each source, drawn by ``seed``; 0 keeps all."""
    judges: tuple[JudgeSettings, ...] = Field(min_length=1, examples=["[{kind: rules}]"])
    bootstrap: int = Field(default=2000, ge=0)
    seed: int = Field(default=0, ge=0)
    chunk: int = Field(default=256, ge=1)
    disagreements: int = Field(default=200, ge=0)
    listed: int = Field(default=LISTED, ge=0)

    @property
    def folder(self) -> Path:
        """Where everything of this evaluation is written."""
        return Path(self.out or f"runs/{self.name}")

    @model_validator(mode="after")
    def _has_rows_of_one_kind(self) -> Self:
        if bool(self.sources) is bool(self.answers):
            raise ValueError(
                "give either 'sources', which have labels, or 'answers', which have none"
            )
        if self.columns and not self.answers:
            raise ValueError("'columns' belongs to 'answers'; for a source, use its 'fields'")
        if self.answers and (self.left_open or self.sample):
            raise ValueError(
                "'left_open' and 'sample' need labelled 'sources'; remove them with 'answers'"
            )
        return self

    @field_validator("judges")
    @classmethod
    def _judges_have_their_own_names(
        cls, judges: tuple[JudgeSettings, ...]
    ) -> tuple[JudgeSettings, ...]:
        labels = [judge.label for judge in judges]
        _distinct("judges", labels)
        for label in labels:
            _file_name(label)
        return judges

    @field_validator("sources")
    @classmethod
    def _sources_have_their_own_names(cls, sources: tuple[Source, ...]) -> tuple[Source, ...]:
        _distinct("sources", [source.label for source in sources])
        return sources


def _distinct(what: str, labels: list[str]) -> None:
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"two {what} have the name {label!r}; give each its own 'name'")
