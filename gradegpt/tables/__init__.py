"""Tables of any form, each read and written here alone: JSON Lines, JSON, CSV, TSV, Parquet, XLSX.

``hub`` reads a data set of the hub, ``source`` standard input. Nothing here knows what a column
means: that is ``gradegpt.columns``.
"""

from gradegpt.tables.forms import SUFFIXES, Form, Row, Rows, form_of, place
from gradegpt.tables.rows import check_library, files, read, read_table, write
from gradegpt.tables.source import Source, opened

__all__ = [
    "SUFFIXES",
    "Form",
    "Row",
    "Rows",
    "Source",
    "check_library",
    "files",
    "form_of",
    "opened",
    "place",
    "read",
    "read_table",
    "write",
]
