"""The writer of synthetic responses, in both languages and many styles, with known verdicts."""

from __future__ import annotations

from .body import steps_of
from .patterns import answered, no_answer
from .task import Task, Written

__all__ = ["Task", "Written", "answered", "no_answer", "steps_of"]
