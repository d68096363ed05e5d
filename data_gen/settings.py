"""Settings of the data generator."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, field_validator

from gradegpt.chain import PromptSettings
from gradegpt.importers.labelled import Part, Source
from gradegpt.schema import AnswerType, ChainFormat, Verdict
from gradegpt.settings import Settings

from .sources import Outputs, Questions
from .teacher import TeacherSettings


class Avoid(Settings):
    """An evaluation file or one split of it, from which no row may be generated."""

    path: str
    split: Part | None = None
    question: str = "question"
    reference: str = "reference"
    response: str = "response"


def _as_avoid(value: Any) -> Any:
    return {"path": value} if isinstance(value, str) else value


class Balance(Settings):
    """Target composition of the set, in shares of the accepted rows; a shortfall is reported.

    The share of ``correct`` is the same in every cell of origin, language and answer type, so that
    none of these predicts the verdict; ``invalid`` is a share of all rows.
    """

    rows: int = Field(default=0, ge=0)
    """How many rows to keep; 0 keeps all that the balance allows."""
    correct: float = Field(default=0.475, gt=0, lt=1)
    invalid: float = Field(default=0.045, ge=0, lt=0.5)
    real: float = Field(default=0.4, ge=0, le=1)
    """Share of rows with a real response, if there are enough."""
    least_type: float = Field(default=0.02, ge=0, lt=0.1)
    least_language: float = Field(default=0.35, ge=0, le=0.5)


class Stratum(Settings):
    """A share of the rows and conditions on its candidates; an empty condition accepts all.

    ``open``: whether the rules leave the candidate undecided. A candidate belongs to the first
    stratum whose conditions it meets.
    """

    name: str
    share: float = Field(gt=0, le=1)
    sources: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    types: tuple[AnswerType, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    lang: str = ""
    response_lang: str = ""
    open: bool | None = None


class Quality(Settings):
    """Filters of the rows, and the artifact probe of those that are kept."""

    ngram: int = Field(default=13, ge=5)
    """Rows that share this many consecutive tokens with an evaluation file are left out."""
    near_duplicate: float = Field(default=0.9, gt=0.5, le=1)
    """Estimated Jaccard similarity at or above which one of two rows is left out."""
    longest: int = Field(default=0, ge=0)
    """Rows with more estimated tokens are left out, counting question, references and response as
    the prompt shows them; 0 keeps all."""
    artifact_probe: bool = True
    """Whether to measure how well the response alone predicts the verdict."""


class DataGenSettings(Settings):
    """Inputs, amounts and formats of a data generation run.

    ``kind``: ``judge`` makes chain-labelled rows, ``attacks`` makes labelled responses that attack
    a judge. ``formats`` are the weights of the chain formats.
    """

    command: ClassVar[str] = "data"
    name: str
    out: str = ""
    kind: Literal["judge", "attacks"] = "judge"
    seed: int = 0
    workers: int = Field(default=0, ge=0)
    """Processes; 0 starts one per core. The rows do not depend on it."""
    on: str = ""
    """Where the work is done: nothing for this machine's processes; ``ray`` for the Ray cluster of
    this machine (one is started if there is none); or a cluster's address, ``ray://host:port``.
    Every node needs the input files and ``out`` under the same paths."""
    sources: tuple[Source, ...] = ()
    """Graded answers."""
    crossed: tuple[str, ...] = ()
    """Sources whose answers are also compared with another correct answer to their question, as
    source ``<source>_crossed``."""
    unlabelled: tuple[Source, ...] = ()
    """Answers without a grade: the rules or a teacher may give one."""
    outputs: tuple[Outputs, ...] = ()
    """Result files of models, joined with their questions."""
    questions: tuple[Questions, ...] = ()
    """Questions with references, to which the writer writes responses."""
    avoid: tuple[Annotated[Avoid, BeforeValidator(_as_avoid)], ...] = ()
    bank: int = Field(default=4, ge=0)
    """Responses written for each problem of the built-in bank."""
    parametric: int = Field(default=2_000, ge=0)
    """Problems with random numbers."""
    bilingual: int = Field(default=0, ge=0)
    """Responses written for each fact of the bilingual tables."""
    attacks: int = Field(default=10, ge=1)
    """With ``kind: attacks``: how often each text of each pattern is drawn, with other problems."""
    held_out: bool = False
    """Whether to use the facts kept for evaluation, instead of the other ones."""
    responses_per_question: int = Field(default=2, ge=1)
    invalid: float = Field(default=0.1, ge=0, lt=1)
    """Share of written responses that give no answer."""
    counterfactuals: int = Field(default=1, ge=0)
    """Rows made from each real response with a generated reference."""
    teacher: TeacherSettings | None = None
    check: float = Field(default=0.0, ge=0, le=1)
    """Share of the labelled rows that the teacher labels, too."""
    balance: Balance = Balance()
    strata: tuple[Stratum, ...] = ()
    """Named shares of the rows, instead of the cells of ``balance``: ``balance.rows`` rows for
    training and ``dev_rows`` rows of other questions."""
    dev_rows: int = Field(default=400, ge=0)
    quality: Quality = Quality()
    card: bool = True
    """Whether to draw the data card."""
    formats: dict[ChainFormat, float] = Field(default={ChainFormat.CROSS_LINGUAL: 1.0})
    prompt: PromptSettings = PromptSettings()

    @field_validator("strata")
    @classmethod
    def _shares_sum_to_one(cls, strata: tuple[Stratum, ...]) -> tuple[Stratum, ...]:
        if sum(part.share for part in strata) > 1 + 1e-9:
            raise ValueError("the shares sum to more than 1; lower some of them")
        return strata

    @property
    def folder(self) -> str:
        """The output folder: ``out``, or ``data/<name>``."""
        return self.out or f"data/{self.name}"
