"""The writer of synthetic responses, in both languages and many styles, with known verdicts."""

from __future__ import annotations

from .answered import answered
from .body import steps_of
from .task import Task, Written
from .unanswered import no_answer

__all__ = ["Task", "Written", "answered", "no_answer", "steps_of"]
