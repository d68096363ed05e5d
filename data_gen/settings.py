"""Settings of the data generator."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from gradegpt.chain import PromptSettings
from gradegpt.importers.labelled import Source, Split
from gradegpt.schema import ChainFormat
from gradegpt.settings import Settings


class Questions(Settings):
    """A file of questions with short references and no responses; the writer answers them."""

    path: str
    split: Split | None = None
    limit: int | None = Field(default=None, ge=1)
    solution: str = ""
    """Column of a worked solution inside ``meta``, or empty."""


class DataGenSettings(Settings):
    """What to generate from, how much, and in which form.

    ``kind``: ``judge`` makes chain-labelled rows, ``base`` makes the pre-training mixture of the
    embedded base. ``formats`` weighs the chain formats. Shares are per problem: correct, incorrect,
    the rest invalid.
    """

    name: str
    out: str = ""
    kind: Literal["judge", "base"] = "judge"
    seed: int = 0
    sources: tuple[Source, ...] = ()
    unlabelled: tuple[Source, ...] = ()
    questions: tuple[Questions, ...] = ()
    avoid: tuple[str, ...] = ()
    """Evaluation files: no question of theirs may be generated from."""
    bank: int = Field(default=4, ge=0)
    """Responses written for each problem of the embedded bank."""
    parametric: int = Field(default=2_000, ge=0)
    responses_per_question: int = Field(default=1, ge=1)
    counterfactuals: int = Field(default=1, ge=0)
    """Rows made from each real response by giving it another reference."""
    correct_share: float = Field(default=0.47, gt=0, lt=1)
    incorrect_share: float = Field(default=0.47, gt=0, lt=1)
    formats: dict[ChainFormat, float] = Field(default={ChainFormat.CROSS_LINGUAL: 1.0})
    prompt: PromptSettings = PromptSettings()
    repeats: int = Field(default=1, ge=1)
    """How often a ``base`` mixture draws a task from each graded answer."""
    sheets: int = Field(default=0, ge=0)
    """Comparison sheets added to a ``base`` mixture."""

    @property
    def folder(self) -> str:
        """Where the rows go: ``out``, or ``data/<name>``."""
        return self.out or f"data/{self.name}"
