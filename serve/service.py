"""What every handler of requests uses: the settings, the judge's scheduler, and the counts."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field
from typing import Any, Final, Self

from fastapi import Request

from gradegpt.core.schema import Outcome

from .logs import Note
from .metrics import Metrics
from .refused import Refused
from .scheduler import BatchScheduler
from .settings import ServeSettings
from .templates import Template
from .templates.trials import chosen

_log = logging.getLogger(__name__)
HEADER: Final = "X-GradeGPT-Undecided"
"""The header with the number of replies for which the judge reached no verdict."""


@dataclass
class Gate:
    """Whether the server drains, the running requests, and the bytes of their bodies and replies.

    ``over`` is set at the end of the grace period; ``streams`` are those of the requests that are.
    """

    draining: bool = False
    over: bool = False
    held: int = 0
    streams: int = 0
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    @property
    def running(self) -> int:
        """The number of running requests."""
        return len(self.tasks)

    def stop(self) -> None:
        """End the grace period: every running request is answered that the server stops."""
        self.over = True
        for task in self.tasks:
            task.cancel()


@dataclass(frozen=True)
class Service:
    """A judge and the names and limits of its settings; without one until the scheduler opens."""

    settings: ServeSettings
    scheduler: BatchScheduler
    metrics: Metrics
    templates: tuple[Template, ...]
    refused: Refused | None = None
    gate: Gate = field(default_factory=Gate)
    told: set[str] = field(default_factory=set)
    started: int = field(default_factory=lambda: int(time.time()))

    @classmethod
    def of(cls, settings: ServeSettings) -> Self:
        """The service of some settings."""
        metrics = Metrics()
        templates = chosen(settings.adapters, settings.templates)
        refused = Refused(settings.refused) if settings.refused else None
        return cls(settings, BatchScheduler(settings, metrics), metrics, templates, refused)

    def undecided(self, note: Note, family: str, replied: str) -> None:
        """Count a reply without a verdict; log the first of a family that passes for one."""
        self.metrics.count("undecided_replies", family, replied)
        note.undecided += 1
        if replied not in (Outcome.UNDECIDED, "refuse") and family not in self.told:
            self.told.add(family)
            _log.warning(
                "%s: no verdict was reached, and its caller knows no such reply: it got %s "
                "(undecided=refuse gives none); /metrics and the header %s count them",
                family, replied, HEADER,
            )  # fmt: skip


def service_of(request: Request) -> Service:
    """The service of a request."""
    service: Service = request.app.state.service
    return service
