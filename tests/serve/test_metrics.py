"""The metrics for Prometheus."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gradegpt.core.schema import Item
from gradegpt.judges.rules import RuleJudge
from serve.metrics import Metrics


def read(text: bytes) -> dict[tuple[str, ...], float]:
    """Samples by name and the values of their labels, in the order of the labels' names."""
    return {
        (sample.name, *(sample.labels[name] for name in sorted(sample.labels))): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


def test_requests_are_counted_and_timed(metrics: Metrics) -> None:
    """They are counted by route, status and family, and timed by route, in cumulative buckets."""
    metrics.request("/v1/judge", 200, 0.02)
    metrics.request("/v1/judge", 200, 0.2)
    metrics.request("/v1/chat/completions", 422, 3.0, "xverify")
    found = read(metrics.render())
    assert found["gradegpt_requests_total", "", "/v1/judge", "200"] == 2
    assert found["gradegpt_requests_total", "xverify", "/v1/chat/completions", "422"] == 1
    assert found["gradegpt_request_seconds_count", "/v1/judge"] == 2
    assert found["gradegpt_request_seconds_sum", "/v1/judge"] == pytest.approx(0.22)
    assert found["gradegpt_request_seconds_bucket", "0.025", "/v1/judge"] == 1
    assert found["gradegpt_request_seconds_bucket", "+Inf", "/v1/judge"] == 2


def test_items_are_counted_by_how_their_judging_ended(metrics: Metrics) -> None:
    """Failures are counted like verdicts."""
    answers = ("The answer is 4.", "The answer is 5.", "azure")
    metrics.judged(RuleJudge().judge([Item(reference=("4",), response=a) for a in answers[:2]]))
    metrics.judged(RuleJudge().judge([Item(reference=("blue",), response=answers[2])]))
    found = read(metrics.render())
    assert found["gradegpt_items_total", "rules", "judged"] == 2
    assert found["gradegpt_items_total", "rules", "undecided"] == 1


def test_queue_batches_and_cache(metrics: Metrics) -> None:
    """The queue has its current length; the cache has its counts so far, also if reported again."""
    for size in (1, 32):
        metrics.batch("full", size)
    for waiting, cached in ((5, (2, 1)), (5, (2, 1)), (3, (5, 4))):
        metrics.state({"full": waiting}, cached)
    found = read(metrics.render())
    assert found["gradegpt_queue_items", "full"] == 3
    batches = (found[f"gradegpt_batch_items_{what}", "full"] for what in ("sum", "count"))
    assert (*batches,) == (33, 2)
    assert (found["gradegpt_cache_hits_total",], found["gradegpt_cache_misses_total",]) == (5, 4)


def test_errors_and_lost_workers_are_counted(metrics: Metrics) -> None:
    """Errors by code; workers from zero, so that their rate is known before the first dies."""
    assert read(metrics.render())["gradegpt_workers_total", "lost"] == 0
    for code, number in (("queue_full", 1), ("too_large", 2), ("queue_full", 1)):
        metrics.count("errors", code, by=number)
    metrics.count("workers", "lost")
    found = read(metrics.render())
    assert found["gradegpt_errors_total", "queue_full"] == 2
    assert found["gradegpt_errors_total", "too_large"] == 2
    assert found["gradegpt_workers_total", "lost"] == 1
