"""The simulation of large runs: by hand, against measured runs, and its tables in the document."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from benchmarks.scale import (
    FIGURES,
    PAGE,
    SIMULATED,
    Stage,
    duration,
    points,
    run,
    simulate,
    tables,
    written,
)

ALLOWED = 0.15


@pytest.fixture(scope="module")
def figures() -> Any:
    return yaml.safe_load(FIGURES.read_text(encoding="utf-8"))


def test_the_document_has_the_tables_that_the_simulation_prints(figures: Any) -> None:
    """If it differs: python benchmarks/scale.py --write."""
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page, tables(figures))


def test_measured_runs_are_reproduced(figures: Any) -> None:
    """Within 15 %, each of them."""
    for name, measured, simulated in points(figures):
        assert simulated == pytest.approx(measured, rel=ALLOWED), name


def test_parts_wait_for_a_core() -> None:
    """Four parts of 10 s on two cores take 20 s; on four, 10 s; on eight no less."""
    line = [Stage("judge", 1.0)]
    ended = [simulate([10] * 4, line, {"core": n}, 8)[0][-1] for n in (1, 2, 4, 8)]
    assert ended == [40.0, 20.0, 10.0, 10.0]


def test_the_slowest_resource_decides() -> None:
    """A GPU that takes 2 s a part, behind a core that takes 1 s, is busy from the first second."""
    line = [Stage("rules", 0.1), Stage("model", 0.2, "gpu")]
    done, worked = simulate([10] * 5, line, {"core": 1, "gpu": 1}, 9)
    assert done == pytest.approx([3.0, 5.0, 7.0, 9.0, 11.0])
    assert worked == {"core": pytest.approx(5.0), "gpu": pytest.approx(10.0)}


def test_what_is_under_way_is_bounded() -> None:
    """With one part at a time the stages take turns."""
    line = [Stage("rules", 0.1), Stage("model", 0.2, "gpu")]
    assert simulate([10] * 5, line, {"core": 1, "gpu": 1}, 1)[0][-1] == pytest.approx(15.0)


def test_the_pieces_of_a_part_share_the_cores() -> None:
    """Its next stage begins after the last of them."""
    line = [Stage("judge", 1.0, pieces=4), Stage("write", 0.1)]
    assert simulate([8], line, {"core": 2}, 1)[0] == [pytest.approx(4.8)]


def test_runs_beyond_what_is_simulated_take_the_same_rate() -> None:
    """Twice as many rows take twice as long."""
    line = [Stage("judge", 0.001)]
    once, twice = (run(n * SIMULATED * 10, 10, line, {"core": 3}) for n in (1, 2))
    assert twice.seconds == pytest.approx(2 * once.seconds, rel=1e-3)
    assert twice.busy["core"] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("seconds", "text"), [(4.86, "4.9 s"), (61, "61 s"), (150, "2.5 min"), (9e5, "10 days")]
)
def test_a_time_is_given_in_its_unit(seconds: float, text: str) -> None:
    """With two digits where it is small."""
    assert duration(seconds) == text
