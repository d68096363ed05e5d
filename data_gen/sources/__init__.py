"""Questions, references and models' outputs from the tables that people have them in."""

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
