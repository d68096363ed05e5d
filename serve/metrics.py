"""The metrics of a server, in Prometheus' text format.

Several processes behind one port add their counts through files: call ``share(folder)`` before they
start, and any of them reports the sum. A single process needs no folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import Final, Literal

from gradegpt.schema import Judgement

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that prometheus_client reads once, when it is imported."""
_SECONDS: Final = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1,
    2.5,
    5,
    10,
    30,
    60,
    120,
)
_ITEMS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


def share(folder: Path) -> None:
    """Let this process and its children add their counts; call it before the first ``Metrics``.

    Files of an earlier run in the folder are removed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob("*.db"):
        left.unlink()
    os.environ[_FOLDER] = str(folder)


def forget(pid: int) -> None:
    """Remove an ended process from the gauges; its counts stay."""
    if _FOLDER in os.environ:
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(pid)  # type: ignore[no-untyped-call]


class Metrics:
    """The counters of one server process, in a registry of their own."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "gradegpt_requests", "Requests answered.", ("route", "status", "family"),
            registry=registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "gradegpt_request_seconds", "Time from a request to its answer.", ("route",),
            buckets=_SECONDS, registry=registry,
        )  # fmt: skip
        self._items = Counter(
            "gradegpt_items", "Items judged.", ("outcome", "method"), registry=registry
        )
        self._undecided = Counter(
            "gradegpt_undecided_replies", "Replies without a verdict of the judge.",
            ("family", "replied"), registry=registry,
        )  # fmt: skip
        self._queue = Gauge(
            "gradegpt_queue_items", "Items that wait for a stage of the judge.", ("stage",),
            registry=registry, multiprocess_mode="livesum",
        )  # fmt: skip
        self._batches = Histogram(
            "gradegpt_batch_items", "Items of a batch of the judge.", buckets=_ITEMS,
            registry=registry,
        )  # fmt: skip
        self._hits = Counter("gradegpt_cache_hits", "Items found in the cache.", registry=registry)
        self._misses = Counter(
            "gradegpt_cache_misses", "Items not found in the cache.", registry=registry
        )
        self._errors = Counter(
            "gradegpt_errors", "Errors in replies, and in lines of streams.", ("code",),
            registry=registry,
        )  # fmt: skip
        self._workers = Counter(
            "gradegpt_workers", "Worker processes lost, and restarted.", ("event",),
            registry=registry,
        )  # fmt: skip
        self._processes = Counter(
            "gradegpt_processes", "Server processes lost, and restarted.", ("event",),
            registry=registry,
        )  # fmt: skip
        for event in ("lost", "restarted"):  # at zero from the start, so that a rate can be taken
            self._workers.labels(event)
            self._processes.labels(event)
        self._cached = (0, 0)
        self._lock = Lock()

    def request(self, route: str, status: int, seconds: float, family: str = "") -> None:
        """Count an answered request; ``route`` is a path of the API, not of the request."""
        self._requests.labels(route, str(status), family).inc()
        self._seconds.labels(route).observe(seconds)

    def errors(self, codes: Mapping[str, int]) -> None:
        """Count the errors of a request by code."""
        for code, number in codes.items():
            self._errors.labels(code).inc(number)

    def worker(self, event: Literal["lost", "restarted"]) -> None:
        """Count a worker process that died or was killed at its deadline, or that runs again."""
        self._workers.labels(event).inc()

    def process(self, event: Literal["lost", "restarted"]) -> None:
        """Count a server process that died, or that runs again."""
        self._processes.labels(event).inc()

    def judged(self, judgements: Iterable[Judgement]) -> None:
        """Count judgements by outcome and method."""
        for judgement in judgements:
            self._items.labels(judgement.outcome.value, judgement.method).inc()

    def undecided(self, family: str, replied: str) -> None:
        """Count a reply to a judgement without a verdict, by what was replied or ``error``."""
        self._undecided.labels(family, replied).inc()

    def batch(self, items: int) -> None:
        """Record the number of items of a batch."""
        self._batches.observe(items)

    def queue(self, items: Mapping[str, int]) -> None:
        """Record the number of waiting items of each stage."""
        for stage, number in items.items():
            self._queue.labels(stage).set(number)

    def cache(self, hits: int, misses: int) -> None:
        """Record a ``CachedJudge``'s counts so far, which only grow."""
        with self._lock:
            before, self._cached = self._cached, (hits, misses)
        self._hits.inc(max(0, hits - before[0]))
        self._misses.inc(max(0, misses - before[1]))

    def render(self) -> bytes:
        """All metrics, of all processes that share them."""
        from prometheus_client import CollectorRegistry, generate_latest

        registry = self._registry
        if _FOLDER in os.environ:
            from prometheus_client.multiprocess import MultiProcessCollector

            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return bytes(generate_latest(registry))
