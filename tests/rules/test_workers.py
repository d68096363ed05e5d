"""The pool of computer algebra workers has time limits and is shared between threads."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from gradegpt.rules.workers import MAX_LENGTH, AlgebraPool


@pytest.fixture(scope="module")
def pool() -> Iterator[AlgebraPool]:
    pool = AlgebraPool(size=1, seconds=20)
    yield pool
    pool.close()


def test_a_worker_compares_formulas_by_computer_algebra(pool: AlgebraPool) -> None:
    """Formulas are equal or different; one that does not parse gives None."""
    assert pool.equal(r"\int_0^1 2x\,dx", "1") is True
    assert pool.equal(r"\sum_{k=1}^{4} k", "11") is False
    assert pool.equal(r"\frac{1", "1") is None


def test_a_worker_that_takes_too_long_loses_only_its_pair(
    pool: AlgebraPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parent measures the time, so the limit holds outside the main thread, too."""
    assert pool.equal("x", "x") is True
    monkeypatch.setattr(pool, "_seconds", 0.3)
    start = time.monotonic()
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(pool.equal, "99999999!", "1").result() is None
    assert time.monotonic() - start < 10
    monkeypatch.undo()
    assert pool.equal("x+x", "2x") is True


def test_a_closed_pool_and_a_long_formula_show_nothing(pool: AlgebraPool) -> None:
    """Both return None and raise no error."""
    assert pool.equal("x" * (MAX_LENGTH + 1), "x") is None
    closed = AlgebraPool(size=1)
    closed.close()
    assert closed.equal("x", "x") is None
