"""The order of test files, and no garbage collection of what stays for the whole run."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Final

import pytest

LONG: Final = (
    "test_distributed", "test_wheel", "test_resume", "test_generate", "test_responses",
    "test_dev_eval", "test_export", "test_sft", "test_card", "test_cli",
    "test_constrained", "test_engines",
)  # fmt: skip
"""The long files first, so that no worker ends with one of them: they start processes, train or
generate, many seconds for few tests.

Use ``--dist loadfile --no-loadscope-reorder``, or files with many tests are started first.
"""


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
