"""Settings of the data generator, a class for each kind of rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, field_validator

from gradegpt.chains.chain import PromptSettings
from gradegpt.core.schema import ChainFormat, Verdict
from gradegpt.core.settings import RunSettings, Settings, load_settings
from gradegpt.core.shipped import found
from gradegpt.tables.importers.labelled import PartSettings, Source

from .teacher import TeacherSettings


def _as_avoid(value: Any) -> Any:
    return {"path": value} if isinstance(value, str) else value


class Balance(Settings):
    """Target composition of the set, in shares of the accepted rows; a shortfall is reported.

    The share of ``correct`` is the same in every cell of origin, language and answer type, so that
    none of these predicts the verdict; ``invalid`` is a share of all rows.
    """

    rows: int = Field(default=0, ge=0)
    """How many rows to keep; 0 keeps all that the balance allows."""
    correct: float = Field(default=0.475, ge=0, lt=1)
    """0 keeps every row, whatever its verdict."""
    invalid: float = Field(default=0.045, ge=0, lt=0.5)
    real: float = Field(default=0.4, ge=0, le=1)
    """Share of rows with a real response, if there are enough."""


class Stratum(Settings):
    """A share of the rows and conditions on its candidates; an empty condition accepts all.

    ``open``: whether the rules leave the candidate undecided. A candidate belongs to the first
    stratum whose conditions it meets.
    """

    name: str
    share: float = Field(gt=0, le=1)
    sources: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    lang: str = ""
    response_lang: str = ""
    open: bool | None = None


class DataSettings(RunSettings):
    """What all kinds have in common.

    ``kind``: ``judge`` makes rows from problems and answers of many sources, ``labelled`` from one
    table of labelled answers; ``attacks`` makes labelled responses that attack a judge; ``public``
    fetches public sets of graded answers.
    """

    command: ClassVar[str] = "data"
    kind: Literal["judge", "labelled", "attacks", "public"] = "judge"
    home: ClassVar[str] = "data"
    seed: int = 0


class DataGenSettings(DataSettings):
    """Inputs, amounts and formats of a data generation run.

    ``formats`` are the weights of the chain formats.
    """

    workers: int = Field(default=0, ge=0)
    """Processes; 0 starts one per core. The rows do not depend on it."""
    on: str = ""
    """Where the work is done: nothing for this machine's processes; ``ray`` for the Ray cluster of
    this machine (one is started if there is none); or a cluster's address, ``ray://host:port``.
    Every node needs the input files and ``out`` under the same paths."""
    sources: tuple[Source, ...] = ()
    """Graded answers."""
    leave_out: tuple[str, ...] = ()
    """Names of sources that are not used, such as those under a licence that does not suit."""
    twins: tuple[str, ...] = ()
    """Sources of right and wrong answers to one question that belong into one step of training."""
    guard: float = Field(default=0.0, ge=0, le=1)
    """The share of the graded answers to which a guard row is added, as source ``<source>_guard``:
    words to the grader beside the answer, or an attack instead of it."""
    crossed: tuple[str, ...] = ()
    """Sources whose answers are also compared with another correct answer to their question, as
    source ``<source>_crossed``."""
    unlabelled: tuple[Source, ...] = ()
    """Answers without a grade: the rules or a teacher may give one."""
    avoid: tuple[Annotated[PartSettings, BeforeValidator(_as_avoid)], ...] = ()
    bank: int = Field(default=4, ge=0)
    """Responses written for each problem of the built-in bank."""
    parametric: int = Field(default=2_000, ge=0)
    """Problems drawn at random, of all answer types."""
    bilingual: int = Field(default=0, ge=0)
    """Responses written for each fact of the bilingual tables."""
    held_out: bool = False
    """Whether to use the facts kept for evaluation, instead of the other ones."""
    invalid: float = Field(default=0.1, ge=0, lt=1)
    """Share of written responses that give no answer."""
    readings: tuple[str, ...] = ()
    """Files of readings besides the shipped ones, as a run with a teacher writes them."""
    teacher: TeacherSettings | None = None
    check: float = Field(default=0.0, ge=0, le=1)
    """Share of the labelled rows that the teacher labels, too."""
    balance: Balance = Balance()
    strata: tuple[Stratum, ...] = ()
    """Named shares of the rows, instead of the cells of ``balance``: ``balance.rows`` rows for
    training, and 400 rows of other questions."""
    agreeing: int = Field(default=1, ge=1, le=3)
    """How many sources of labels have to agree on a real answer: people or a key, the rules, a
    reading, a teacher. With 2 a label that nobody confirmed teaches nothing."""
    trusted: tuple[str, ...] = ()
    """Sources of which the label alone is enough."""
    near_duplicate: float = Field(default=0.9, gt=0.5, le=1)
    """Estimated Jaccard similarity at or above which one of two rows is left out."""
    longest: int = Field(default=0, ge=0)
    """Rows with more estimated tokens are left out, counting question, references and response as
    the prompt shows them; 0 keeps all."""
    formats: dict[ChainFormat, float] = Field(default={ChainFormat.CROSS_LINGUAL: 1.0})
    prompt: PromptSettings = PromptSettings()

    @field_validator("strata")
    @classmethod
    def _shares_sum_to_one(cls, strata: tuple[Stratum, ...]) -> tuple[Stratum, ...]:
        if sum(part.share for part in strata) > 1 + 1e-9:
            raise ValueError("the shares sum to more than 1; lower some of them")
        return strata


class AttackRowSettings(DataSettings):
    """``kind: attacks``: responses that attack a judge."""

    attacks: int = Field(default=10, ge=1)
    """How often each text of each pattern is drawn, with other problems."""
    problems: int = Field(default=3_000, ge=1, le=3_000)
    """How many of the problems of ``bank/attacked.jsonl`` are drawn from."""


class PublicSettings(DataSettings):
    """``kind: public``: public sets of graded answers, fetched by name (``data_gen.public``)."""

    sets: tuple[str, ...] = ()
    """Their names; empty fetches all."""
    unseen: bool = False
    """Only the questions that were never seen, as ``<set>.unseen.jsonl``, to measure."""


class LabelledSettings(DataSettings):
    """``kind: labelled``: a table of labelled answers, and what a row teaches.

    ``format``: ``tag`` teaches the verdict tag alone; ``chain`` the chain where one can be written
    and else the tag; ``both`` the two as separate rows, so that one judge can be asked either way.
    The tag is then taught twice, since most tokens of a chain say nothing about the verdict.
    """

    path: Annotated[str, AfterValidator(found)]
    test: str | None = None
    """A second table for the test split; by default a share of the questions is held out."""
    format: Literal["tag", "chain", "both"] = "both"
    mix: tuple[str, ...] = ()
    """Folders that ``gradegpt data`` wrote, whose training rows are added."""
    columns: dict[str, str] = Field(default_factory=dict)
    sheet: str = ""
    separator: str = ""
    skip_bad: bool = False
    test_share: float = Field(default=0.25, gt=0, lt=0.5)
    guard: float = Field(default=0.4, ge=0, le=1)
    """The share of the training answers to which a guard row is added; 0 adds none."""
    prompt: PromptSettings = PromptSettings(chain_format=ChainFormat.OUTCOME)
    readings: tuple[str, ...] = ()
    """Files of readings besides the shipped ones, as a run with a teacher writes them."""
    teacher: TeacherSettings | None = None
    """Asked for a chain where none can be written; it is used where it agrees with the label.
    Without a column of labels its verdicts are the labels."""
    sheet_rows: int = Field(default=60, ge=0)
    """Rows of the sheet for a person to label, where the teacher's verdicts are the labels."""


KINDS: Final[dict[str, type[DataSettings]]] = {
    "judge": DataGenSettings, "labelled": LabelledSettings, "attacks": AttackRowSettings,
    "public": PublicSettings,
}  # fmt: skip


class _Any(DataSettings):
    """Settings of any kind, to see which one it is."""

    model_config = ConfigDict(extra="ignore")


def load_data_settings(path: str | Path, overrides: Sequence[str] = ()) -> DataSettings:
    """The settings in a file, of the class of their kind.

    Raises:
        MissingError: there is no such file.
        SettingsError: an unknown setting, or a value of the wrong kind.

    """
    return load_settings(KINDS[load_settings(_Any, path, overrides).kind], path, overrides)
