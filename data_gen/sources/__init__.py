"""Questions, references and models' outputs from the tables that people have them in."""

from data_gen.sources.mapping import Mapping, load_mapping
from data_gen.sources.outputs import Outputs, read_outputs
from data_gen.sources.questions import Questions, read_problems
from gradegpt.tables import files, read_table

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
