"""inspect_ai's own scorers, with their grader behind our URL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.serve.clients.rows import OPEN, sums


def test_samples_get_their_grades_and_open_ones_none(server: str) -> None:
    """Fifteen right or wrong answers are graded; two undecided ones are not in the accuracy."""
    known = sums(15)
    opened = [OPEN.model_copy(update={"id": f"open-{n}"}) for n in range(2)]
    rows = [
        {
            "id": item.id,
            "question": item.question,
            "reference": item.reference[0],
            "response": item.response,
        }
        for item in [*(item for item, _ in known), *opened]
    ]
    run = Path(__file__).with_name("inspect_run.py")
    done = subprocess.run(
        [sys.executable, run, "openai-api/gradegpt/gpt-4o"],
        input=json.dumps(rows),
        # The only change to a pipeline: the URL of its grader.
        env={**os.environ, "GRADEGPT_BASE_URL": f"{server}/v1", "GRADEGPT_API_KEY": "none"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout.splitlines()[-1])
    grades: dict[str | None, str | None] = {item.id: "C" if right else "I" for item, right in known}
    for scorer in ("qa", "fact"):
        assert made[scorer]["grades"] == {**grades, **{item.id: None for item in opened}}
        assert made[scorer]["accuracy"] == pytest.approx(8 / 15)
