"""Fixtures for the tests of the data generator: a scripted teacher."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from data_gen import teacher as teaching
from data_gen.teacher import Teacher, TeacherSettings
from tests.data_gen.teacher_parts import Ask, item
from tests.data_gen.teacher_server import Script, serving


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Label ``items`` items, or gloss texts, by a script; return that, the server, the teacher."""

    def run(
        script: Script, items: int | list[Any] = 1, max_retries: int = 1, **changes: Any
    ) -> Any:
        monkeypatch.setattr(teaching, "MAX_RETRIES", max_retries)
        with serving(script) as server:
            options = {
                "base_url": server.base_url,
                "cache": str(tmp_path / "cache.sqlite"),
                "model": "m",
                "input_price": 1.0,
                "output_price": 10.0,
                "concurrency": 1,
                "timeout_s": 20.0,
                **changes,
            }
            with Teacher(TeacherSettings.model_validate(options)) as teacher:
                asked = [item(n) for n in range(items)] if isinstance(items, int) else items
                made = teacher.glosses if isinstance(asked[0], str) else teacher.label
                return made(asked), server, teacher

    return run
