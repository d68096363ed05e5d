"""Small tables in the format of each data set, and helpers to read them in tests."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from data_gen.problems import Problem
from data_gen.sources import Mapping, Questions, read_problems

SHAPES = Path(__file__).parent / "shapes"
SHAPE = {path.stem: str(path) for path in sorted(SHAPES.iterdir())}
PLAIN = Mapping(question=("question",), reference=("answer",))
Write = Callable[[str, str], str]


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def problems(path: str, mapping: str | Mapping = PLAIN, **more: Any) -> list[Problem]:
    return list(read_problems(Questions(path=path, mapping=mapping, **more), Counter()))
