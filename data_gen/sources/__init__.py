"""Readers for questions with references and for models' outputs, from tables of any columns."""

from gradegpt.tables import files, read_table

from .mapping import Mapping, load_mapping
from .outputs import Outputs, read_outputs
from .questions import Questions, read_problems

__all__ = [
    "Mapping",
    "Outputs",
    "Questions",
    "files",
    "load_mapping",
    "read_outputs",
    "read_problems",
    "read_table",
]
