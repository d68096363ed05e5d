"""Logs of other evaluation tools -> items with the score that the tool gave them.

``recognise`` finds the tool from the file's structure, ``items_of`` writes a log's items for
judging, ``compare`` compares the old scores with the judgements, and ``between`` compares two
files of judgements.
"""

from gradegpt.tables.importers.logs.regrade import (
    between,
    compare,
    is_regraded,
    items_of,
    opened,
    recognise,
)
from gradegpt.tables.importers.logs.rows import Tool

__all__ = ["Tool", "between", "compare", "is_regraded", "items_of", "opened", "recognise"]
