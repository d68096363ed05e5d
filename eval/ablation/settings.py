"""The settings of an ablation: rows, one recipe, seeds, and labelled answers to measure on."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from pydantic import Field

from ..settings import RowsSettings

UNTUNED: Final = "untuned"


class AblationSettings(RowsSettings):
    """Every chain format, trained alike on the same rows, with every seed.

    ``data`` is a folder of ``data_gen``: its cross-lingual rows are rewritten into each format.
    ``recipe`` is a settings file of ``train``; ``train`` changes some of its keys for all runs.
    ``steps`` is the length of the equal-steps runs; the equal-tokens runs have more steps, as their
    rows are shorter. The untuned base is prompted with ``shots`` solved rows before each item.
    ``judge`` are further settings of every judge.
    """

    command: ClassVar[str] = "eval.ablation"
    data: str
    recipe: str
    model: str
    train: dict[str, str] = Field(default={})
    steps: int = Field(default=300, ge=1)
    seeds: tuple[int, ...] = Field(default=(0, 1, 2), min_length=1)
    shots: int = Field(default=3, ge=0)
    judge: dict[str, Any] = Field(default={"max_new_tokens": 256})
