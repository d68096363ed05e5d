"""The writer: responses in both languages and many styles whose verdict is known from the start."""

from __future__ import annotations

from data_gen.writer.answered import answered
from data_gen.writer.body import steps_of
from data_gen.writer.task import Task, Written
from data_gen.writer.unanswered import no_answer

__all__ = ["Task", "Written", "answered", "no_answer", "steps_of"]
