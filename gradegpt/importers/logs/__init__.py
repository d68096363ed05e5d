"""Logs of other evaluation tools -> items with the score that the tool gave them.

``recognise`` finds the tool from the file's structure, ``items_of`` writes a log's items for
judging, ``compare`` compares the old scores with the judgements, and ``between`` compares two
files of judgements.
"""

from gradegpt.importers.logs.regrade import Tool as Tool
from gradegpt.importers.logs.regrade import between as between
from gradegpt.importers.logs.regrade import compare as compare
from gradegpt.importers.logs.regrade import is_regraded as is_regraded
from gradegpt.importers.logs.regrade import items_of as items_of
from gradegpt.importers.logs.regrade import recognise as recognise
