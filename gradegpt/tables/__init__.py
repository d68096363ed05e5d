"""Readers and writers of tables: JSON Lines, JSON, CSV, TSV, Parquet, XLSX.

``hub`` reads a data set of the hub, ``source`` standard input. The meaning of columns is in
``gradegpt.columns``.
"""

from gradegpt.tables.forms import SUFFIXES, Form, Row, Rows, form_of, place, sniffed
from gradegpt.tables.rows import check_library, files, read, read_table, valid_rows, write
from gradegpt.tables.separated import as_cell
from gradegpt.tables.source import Source, Table, opened

__all__ = [
    "SUFFIXES",
    "Form",
    "Row",
    "Rows",
    "Source",
    "Table",
    "as_cell",
    "check_library",
    "files",
    "form_of",
    "opened",
    "place",
    "read",
    "read_table",
    "sniffed",
    "valid_rows",
    "write",
]
