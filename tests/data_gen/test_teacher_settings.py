"""The teacher's settings: invalid ones are rejected."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from data_gen.teacher import TeacherSettings
from data_gen.teacher.settings import FEW_SHOT
from gradegpt.errors import MissingError, SettingsError
from gradegpt.settings import build_settings, load_settings
from tests.data_gen.teacher_parts import RESPONSE, YES

GOOD: dict[str, Any] = {"models": [{"model": "m"}], "base_url": "http://x/v1", "cache": "c.sqlite"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models": []}, "models: "),
        ({"base_url": ""}, "base_url: missing for 'm'; set it"),
        ({"models": [{"model": "m"}, {"model": "m"}]}, "a name occurs twice"),
        ({"samples": "3"}, "samples: 3 samples at temperature 0 are equal"),
        ({"agree": "2"}, "agree: 2 of 1 replies cannot agree"),
        ({"budget": "5"}, "budget: 'm' has no prices; set input_price"),
        ({"concurency": "2"}, "unknown setting 'concurency'; did you mean 'concurrency'"),
        ({"examples": [{"question": "q", "reference": "4", "response": "4", "chain": "<Yes>"}]},
        "examples.0.chain: teacher:no-quote"),
        ({"examples": [{"question": "q", "reference": "42 个", "response": RESPONSE,
        "chain": f"{YES}."}]}, "examples.0.chain: not as render_chain writes it"),
    ],
)  # fmt: skip
def test_invalid_settings_are_rejected(changes: dict[str, Any], message: str) -> None:
    """The message names the setting and says what to do."""
    with pytest.raises(SettingsError, match=re.escape(message)):
        build_settings(TeacherSettings, {**GOOD, **changes}, where="teacher.yaml")


def test_settings_and_examples_are_read_from_yaml(tmp_path: Path) -> None:
    """YAML may have text scalars, ``null`` for none, and a path in place of a list of examples."""
    path = tmp_path / "teacher.yaml"
    path.write_text(
        "base_url: http://x/v1\ncache: c.sqlite\nsamples: 3\ntemperature: null\n"
        f"models: [{{model: m, input_price: 2.5}}]\nexamples: {FEW_SHOT}\n"
    )
    made = load_settings(
        TeacherSettings, path, ["budget=1.5", "models=[{model: n, input_price: 1}]"]
    )
    assert (made.must_agree, made.temperature, made.budget) == (2, None, 1.5)
    assert made.models[0].model == "n"
    assert len(made.examples) == 6
    with pytest.raises(MissingError, match="examples: no such file"):
        load_settings(TeacherSettings, path, [f"examples={tmp_path}/none.yaml"])
