"""The command line, run in the process of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradegpt.app import cli


def call(*arguments: str | Path) -> int:
    """Run ``gradegpt`` with these arguments; the exit code."""
    with pytest.raises(SystemExit) as ended:
        cli.run(cli.app, [str(one) for one in arguments], name="gradegpt")
    return int(ended.value.code or 0)
