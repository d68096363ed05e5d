"""Words with known neighbours, handles by which a text is changed: ``text/lexicon.yaml``."""

from __future__ import annotations

from typing import Final

from .phrases import read_lists

_LISTS: Final = read_lists("lexicon")
CLASSES: Final = _LISTS["classes"]
"""Words of which none can stand for another of its line."""
NO_OPTION_ZH: Final = _LISTS["no_option_zh"]
NO_OPTION_EN: Final = _LISTS["no_option_en"]
"""Answers that choose no option, all of them as wrong."""
