"""GradeGPT: grade a response against a reference answer, with a chain that can be checked."""

__version__ = "0.1.0"
