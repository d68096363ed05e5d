"""The order of test files: the long ones first, so that no worker is left alone with one."""

from __future__ import annotations

from typing import Final

import pytest

LONG: Final = (
    "test_distributed", "test_wheel", "test_resume", "test_generate", "test_responses",
    "test_dev_eval", "test_export", "test_sft", "test_card", "test_cli", "test_guide",
    "test_engines",
)  # fmt: skip
"""Files that start processes, train or generate: many seconds for few tests.

To be read with ``--dist loadfile --no-loadscope-reorder``: files with many tests would go first.
"""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files named above, in their order; the others as they are."""
    place = {name: at for at, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONG)))
