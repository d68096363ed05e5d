"""The teacher's settings: what cannot be meant is refused."""

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
        ({"base_url": ""}, "base_url: required, no server is given for 'm'"),
        ({"models": [{"model": "m"}, {"model": "m"}]}, "a name stands twice"),
        ({"samples": "3"}, "3 at temperature 0 would be one reply several times"),
        ({"agree": "2"}, "agree: 2 of 1 replies cannot agree"),
        ({"budget": "5"}, "budget: needs prices, 'm' has none"),
        ({"concurency": "2"}, "unknown setting 'concurency'; did you mean 'concurrency'"),
        ({"examples": [{"question": "q", "reference": "4", "response": "4", "chain": "<Yes>"}]},
        "examples.0.chain: teacher:no-quote"),
        ({"examples": [{"question": "q", "reference": "42 个", "response": RESPONSE,
        "chain": f"{YES}."}]}, "examples.0.chain: not what is asked for"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_meant_are_refused(changes: dict[str, Any], message: str) -> None:
    """With the name of the setting and what to do."""
    with pytest.raises(SettingsError, match=re.escape(message)):
        build_settings(TeacherSettings, {**GOOD, **changes}, where="teacher.yaml")


def test_settings_come_from_yaml_and_so_do_examples(tmp_path: Path) -> None:
    """Text scalars, ``null`` for none, and a path in place of a list."""
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
    with pytest.raises(MissingError, match="no such file of examples"):
        load_settings(TeacherSettings, path, [f"examples={tmp_path}/none.yaml"])
