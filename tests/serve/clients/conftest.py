"""A real server on a free loopback port."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gradegpt.judges.rules import RuleJudge
from serve.app import create_app
from tests.serve.browser.conftest import served


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of a rule judge behind uvicorn."""
    with served(create_app(RuleJudge())) as address:
        yield address
