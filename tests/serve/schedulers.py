"""A scheduler with a judge."""

from __future__ import annotations

from typing import Any

from gradegpt.judges.base import Judge
from serve.scheduler import BatchScheduler
from serve.worker import InProcess


def scheduler_of(judge: Judge, **limits: Any) -> BatchScheduler:
    """A scheduler with one judge in this process."""
    scheduler = BatchScheduler(**limits)
    scheduler.open([InProcess(judge)])
    return scheduler
