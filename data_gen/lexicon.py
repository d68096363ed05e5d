"""Classes of words that exclude each other, for hard negatives: ``text/lexicon.yaml``."""

from __future__ import annotations

from typing import Final

from .phrases import read_lists

_LISTS: Final = read_lists("lexicon")
CLASSES: Final = _LISTS["classes"]
"""Lines of words of which no two mean the same."""
NO_OPTION_ZH: Final = _LISTS["no_option_zh"]
NO_OPTION_EN: Final = _LISTS["no_option_en"]
"""Answers that choose no option."""
