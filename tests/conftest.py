"""The order of test files: the long ones first, so that no worker ends with one of them."""

from __future__ import annotations

from typing import Final

import pytest

LONG: Final = (
    "test_distributed", "test_wheel", "test_resume", "test_generate", "test_responses",
    "test_dev_eval", "test_export", "test_sft", "test_card", "test_cli",
    "test_constrained", "test_engines",
)  # fmt: skip
"""Files that start processes, train or generate: many seconds for few tests.

Use ``--dist loadfile --no-loadscope-reorder``, or files with many tests are started first.
"""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the files named above first, in their order."""
    place = {name: at for at, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONG)))
