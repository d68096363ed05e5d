"""The settings of an evaluation: files of answers, judges, and the bootstrap."""

from __future__ import annotations

import re
from typing import ClassVar, Final, Self

from pydantic import Field, field_validator, model_validator

from gradegpt.core.settings import RunSettings
from gradegpt.judges.settings import AnyJudge, JudgeSettings
from gradegpt.tables.importers.labelled import Source
from gradegpt.tables.inputs import USUAL, Reading

_FILE_NAME: Final = re.compile(r"\w[\w .+-]*")


def _file_name(name: str) -> str:
    if not _FILE_NAME.fullmatch(name):
        raise ValueError(f"the name {name!r} cannot name a file; use letters, digits and . + - _")
    return name


class RowsSettings(RunSettings):
    """Labelled rows, and where everything that is made of them is written.

    ``left_open`` keeps the rows that the rules leave undecided, which a cascade's other judges
    decide; ``sample`` is the most rows of each source, drawn by ``seed``, and 0 keeps all. ``out``
    defaults to ``runs/<name>``.
    """

    sources: tuple[Source, ...] = Field(default=(), examples=["[{path: graded.csv}]"])
    left_open: bool = False
    sample: int = Field(default=0, ge=0)
    seed: int = Field(default=0, ge=0)

    @field_validator("name")
    @classmethod
    def _names_a_folder(cls, name: str) -> str:
        return _file_name(name)


class EvalSettings(RowsSettings):
    """One evaluation: every judge judges every row of every source.

    ``sources`` have labels: the judges are measured. ``answers`` are files of a model's answers
    without labels: the model is measured, by each judge, and ``ks`` are the k of pass@k and related
    scores (default: powers of two that all questions reach). Columns of answers are recognised by
    their usual names; ``columns`` names the others, ``sheet`` a workbook's sheet,
    ``separator`` what is between accepted answers. ``bootstrap`` is the number of resamples of the
    interval of a score that is no share (0: no such intervals).
    """

    command: ClassVar[str] = "eval"
    answers: tuple[str, ...] = Field(default=(), examples=["[answers.csv]"])
    columns: dict[str, str] = Field(default_factory=dict)
    sheet: str = ""
    separator: str = ""
    ks: tuple[int, ...] = ()
    judges: tuple[AnyJudge, ...] = Field(min_length=1, examples=["[{kind: rules}]"])
    bootstrap: int = Field(default=2000, ge=0)

    @property
    def reading(self) -> Reading:
        """How ``answers`` are read."""
        return Reading(self.columns, self.sheet, self.separator)

    @model_validator(mode="after")
    def _has_rows_of_one_kind(self) -> Self:
        if bool(self.sources) is bool(self.answers):
            raise ValueError(
                "give either 'sources', which have labels, or 'answers', which have none"
            )
        if self.reading != USUAL and not self.answers:
            what = "'columns', 'sheet' and 'separator' belong to 'answers'"
            raise ValueError(f"{what}; a source has 'fields', 'sheet' and 'reference_separator'")
        if self.answers and (self.left_open or self.sample):
            raise ValueError(
                "'left_open' and 'sample' need labelled 'sources'; remove them with 'answers'"
            )
        return self

    @field_validator("sources")
    @classmethod
    def _sources_have_their_own_names(cls, sources: tuple[Source, ...]) -> tuple[Source, ...]:
        _distinct("sources", [source.label for source in sources])
        return sources

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


def _distinct(what: str, labels: list[str]) -> None:
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"two {what} have the name {label!r}; give each its own 'name'")
