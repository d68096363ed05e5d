"""Which files are collected and in what order, which run together, and what is no garbage."""

from __future__ import annotations

import gc
import io
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import hypothesis
import pytest

_SLOW: Final = hypothesis.HealthCheck.too_slow
hypothesis.settings.register_profile(
    "no clock", deadline=None, max_examples=60, suppress_health_check=[_SLOW]
)
hypothesis.settings.load_profile("no clock")

# Of two starts of Ray in one process, one with authentication and one without, the second hangs.
os.environ["RAY_AUTH_MODE"] = "disabled"
ROOT: Final = Path(__file__).parent
LONG: Final = (
    "test_distributed", "test_wheel", "test_generate", "test_responses", "test_card", "test_cli",
    "test_one_answer", "test_server", "test_grammar",
)  # fmt: skip
"""Files that start processes, train or generate, many seconds for few tests: they come first, so
that no worker ends with one of them.
"""
TRAINING: Final = (
    "tests/train/", "tests/gradegpt/test_engines.py", "tests/gradegpt/test_local_tags.py",
    "tests/eval/test_ablation.py", "tests/test_memory_trace.py",
)  # fmt: skip
"""Files that one worker runs, as importing torch and its companions takes longer than most."""


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Do not import a module for its examples if it has none."""
    inside = collection_path.relative_to(ROOT).parts
    if collection_path.suffix != ".py" or inside[0] == "tests":
        return None
    return ">>>" not in collection_path.read_text(encoding="utf-8") or None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """A file is run by one worker, and so are all files that need torch."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            return TRAINING[0] if nodeid.startswith(TRAINING) else nodeid.partition("::")[0]

    config.option.loadscopereorder = False  # it would start files with many tests first
    return ByFile(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without garbage collections, and exempt modules and tests from later ones.

    They are a million objects, and training calls ``gc.collect`` in every run.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the files named above first, in their order."""
    place = {name: at for at, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONG)))


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """What is logged in a test.

    Pytest's own plugin is off: it adds its handlers to each of the many loggers six times a test,
    which takes a tenth of the time of all tests.
    """
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)
