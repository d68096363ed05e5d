"""The texts of all prompts: the files beside this module, which nothing else reads.

A prompt that exists in both languages has two files, ``NAME.en.txt`` and ``NAME.zh.txt``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from gradegpt.core.settings import LOADER


@cache
def prompt_text(name: str, *, chinese: bool | None = None) -> str:
    """The text of the prompt ``name``, without its last line break."""
    return _read(f"{name}{_language(chinese)}.txt").removesuffix("\n")


@cache
def prompt_phrases(name: str, *, chinese: bool | None = None) -> dict[str, Any]:
    """The phrases of which the prompt ``name`` is made; all of them are texts."""
    text = _read(f"{name}{_language(chinese)}.yaml")
    phrases: dict[str, Any] = yaml.load(text, LOADER)  # noqa: S506
    return phrases


def _language(chinese: bool | None) -> str:
    return "" if chinese is None else ".zh" if chinese else ".en"


def _read(file: str) -> str:
    return (Path(__file__).parent / file).read_text(encoding="utf-8")
