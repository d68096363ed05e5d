"""Readers and writers of tables: JSON Lines, JSON, CSV, TSV, Parquet, XLSX.

The meaning of columns is in ``gradegpt.tables.columns``.
"""

from gradegpt.tables.forms import SUFFIXES, Form, Rows, TableRow, form_of, place, sniffed
from gradegpt.tables.table import (
    HUB,
    Table,
    check_library,
    digest,
    files,
    opened,
    read_table,
    write,
)
from gradegpt.tables.text import as_cell

__all__ = [
    "HUB",
    "SUFFIXES",
    "Form",
    "Rereadable",
    "Rows",
    "Table",
    "TableRow",
    "as_cell",
    "check_library",
    "digest",
    "files",
    "form_of",
    "opened",
    "place",
    "read",
    "read_table",
    "sniffed",
    "write",
]  # fmt: skip
