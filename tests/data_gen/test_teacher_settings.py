"""The teacher's settings: invalid ones are rejected."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from data_gen.teacher import TeacherSettings
from gradegpt.core.errors import SettingsError
from gradegpt.core.settings import build_settings, load_settings

GOOD: dict[str, Any] = {"models": [{"model": "m"}], "base_url": "http://x/v1", "cache": "c.sqlite"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models": []}, "models: "),
        ({"models": [{"model": "m"}, {"model": "m"}]}, "a name occurs twice"),
        ({"budget": "5"}, "budget: 'm' has no prices; set input_price"),
        ({"concurency": "2"}, "unknown setting 'concurency'; did you mean 'concurrency'"),
    ],
)  # fmt: skip
def test_invalid_settings_are_rejected(changes: dict[str, Any], message: str) -> None:
    """The message names the setting and says what to do."""
    with pytest.raises(SettingsError, match=re.escape(message)):
        build_settings(TeacherSettings, {**GOOD, **changes}, where="teacher.yaml")


def test_settings_are_read_from_yaml(tmp_path: Path) -> None:
    """Scalars are text; several samples are drawn at a temperature."""
    path = tmp_path / "teacher.yaml"
    path.write_text(
        "base_url: http://x/v1\ncache: c.sqlite\nsamples: 3\n"
        "models: [{model: m, input_price: 2.5}]\n"
    )
    changes = ["budget=1.5", "models=[{model: n, input_price: 1}]"]
    made = load_settings(TeacherSettings, path, changes)
    assert (made.must_agree, made.temperature, made.budget) == (2, 0.7, 1.5)
    assert made.models[0].model == "n"
