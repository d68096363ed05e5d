"""The metrics of a server, in Prometheus' text format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gradegpt.core.schema import Judgement

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_COUNTERS: Final = (
    ("requests", "Requests answered.", "route", "status", "family"),
    ("items", "Items judged.", "outcome", "method"),
    (
        "undecided_replies",
        "Replies without a verdict, by what the setting made of them.",
        "family",
        "replied",
    ),
    ("cache_hits", "Items found in the cache."),
    ("cache_misses", "Items not found in the cache."),
    ("errors", "Errors in replies, and in lines of streams.", "code"),
    ("workers", "Worker processes lost, and restarted.", "event"),
)
"""The name of each counter, what it counts, and its labels."""
_SECONDS: Final = (
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120,
)  # fmt: skip
_ITEMS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Metrics:
    """The counters of a server, in a registry of their own."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self._registry = registry = CollectorRegistry()
        self._counters = {
            name: Counter(f"gradegpt_{name}", what, labels, registry=registry)
            for name, what, *labels in _COUNTERS
        }
        self._seconds = Histogram(
            "gradegpt_request_seconds", "Time from a request to its answer.", ("route",),
            buckets=_SECONDS, registry=registry,
        )  # fmt: skip
        self._queue = Gauge(
            "gradegpt_queue_items", "Items that wait for a stage of the judge.", ("stage",),
            registry=registry,
        )  # fmt: skip
        self._batches = Histogram(
            "gradegpt_batch_items", "Items of a batch of a stage of the judge.", ("stage",),
            buckets=_ITEMS, registry=registry,
        )  # fmt: skip
        for event in ("lost", "restarted"):  # at zero from the start, so that a rate can be taken
            self.count("workers", event, by=0)
        self._cached = (0, 0)

    def count(self, name: str, *labels: str, by: int = 1) -> None:
        """Count an event by its labels: ``count("errors", "queue_full")``."""
        counter = self._counters[name]
        (counter.labels(*labels) if labels else counter).inc(by)

    def request(self, route: str, status: int, seconds: float, family: str = "") -> None:
        """Count an answered request; ``route`` is a path of the API, not of the request."""
        self.count("requests", route, str(status), family)
        self._seconds.labels(route).observe(seconds)

    def judged(self, results: Iterable[Any]) -> None:
        """Count the judgements among the results of a batch by outcome and method."""
        for result in results:
            if isinstance(result, Judgement):
                self.count("items", result.outcome.value, result.method)

    def batch(self, stage: str, items: int) -> None:
        """Record the number of items of a batch."""
        self._batches.labels(stage).observe(items)

    def state(self, waiting: Mapping[str, int], cached: tuple[int, int]) -> None:
        """Record the waiting items of each stage, and the cache's hits and misses so far."""
        for stage, number in waiting.items():
            self._queue.labels(stage).set(number)
        before, self._cached = self._cached, cached
        self.count("cache_hits", by=max(0, cached[0] - before[0]))
        self.count("cache_misses", by=max(0, cached[1] - before[1]))

    def render(self) -> bytes:
        """All metrics."""
        from prometheus_client import generate_latest

        return bytes(generate_latest(self._registry))
