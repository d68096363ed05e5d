"""The settings of an ablation: rows, one recipe, seeds, and labelled answers to measure on."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Final

from pydantic import Field

from gradegpt.importers.labelled import Source
from gradegpt.schema import ChainFormat
from gradegpt.settings import Settings

from ..settings import Name

UNTUNED: Final = "untuned"


class AblationSettings(Settings):
    """Every chain format, trained alike on the same rows, with every seed.

    ``data`` is a folder of ``data_gen``: its cross-lingual rows are rewritten into each format.
    ``recipe`` is a settings file of ``train``; ``train`` changes some of its keys for all runs.
    ``steps`` is the length of the equal-steps runs; the equal-tokens runs have more steps, as their
    rows are shorter. The untuned base is prompted with ``shots`` solved rows before each item.
    ``fast`` judges with float32 exports on the CPU, which write the same texts many times faster.
    ``left_open`` and ``sample`` choose rows as in an evaluation.
    """

    command: ClassVar[str] = "eval.ablation"
    name: Name
    out: str = ""
    data: str
    recipe: str
    model: str
    train: dict[str, str] = Field(default={})
    steps: int = Field(default=300, ge=1)
    seeds: tuple[int, ...] = Field(default=(0, 1, 2), min_length=1)
    formats: tuple[ChainFormat, ...] = tuple(ChainFormat)
    shots: int = Field(default=3, ge=0)
    sources: tuple[Source, ...] = Field(min_length=1, examples=["[{path: graded.csv}]"])
    left_open: bool = False
    sample: int = Field(default=0, ge=0)
    max_new_tokens: int = Field(default=256, ge=1)
    fast: bool = False
    batch_size: int = Field(default=32, ge=1)
    threads: int | None = Field(default=None, ge=1)
    bootstrap: int = Field(default=2000, ge=100)
    seed: int = 0

    @property
    def folder(self) -> Path:
        """Where everything of this ablation is written."""
        return Path(self.out or f"runs/{self.name}")
