"""Readers and writers of tables: JSON Lines, JSON, CSV, TSV, Parquet, XLSX.

The meaning of columns is in ``gradegpt.tables.columns``. ``read_table`` reads a file that was sent.
"""

from gradegpt.tables.forms import SUFFIXES, Form, Rows, TableRow, form_of, place, sniffed
from gradegpt.tables.inputs import read_table
from gradegpt.tables.table import Table, each_row, files, opened, write
from gradegpt.tables.text import as_cell

__all__ = [
    "SUFFIXES", "Form", "Rows", "Table", "TableRow", "as_cell", "each_row", "files", "form_of",
    "opened", "place", "read_table", "sniffed", "write",
]  # fmt: skip
