"""The case table: reference, response, expected outcome and the reason; one line per past bug.

If a careful grader would accept several outcomes, all of them are listed; cases that need reading
comprehension may be undecided, but must not be decided wrongly.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradegpt.core.records import read_objects
from gradegpt.core.schema import Item
from gradegpt.judges.rules import RuleJudge

CASES = Path(__file__).parent / "cases"


def table() -> list[Any]:
    """Every case of every file, named by its file, line and reason."""
    return [
        pytest.param(case, id=f"{path.stem}-{line}-{ascii(case['why'])[1:41]}")
        for path in sorted(CASES.glob("*.jsonl"))
        for line, case in read_objects(str(path))
    ]


@pytest.mark.parametrize("case", table())
def test_case(case: dict[str, Any]) -> None:
    """The rules return an outcome that the table allows."""
    fields = {k: v for k, v in case.items() if k not in ("expected", "why")}
    judgement = RuleJudge().judge([Item.model_validate(fields)])[0]
    assert (judgement.verdict or judgement.outcome).value in expected(case), judgement


def expected(case: dict[str, Any]) -> list[str]:
    """The outcomes that the case allows."""
    listed = case["expected"]
    return listed if isinstance(listed, list) else [listed]


def test_the_table_is_large_and_varied() -> None:
    """The table has at least 400 cases, in both languages, with every outcome."""
    cases = [p.values[0] for p in table()]
    assert len(cases) >= 400
    outcomes = {outcome for case in cases for outcome in expected(case)}
    assert outcomes == {"correct", "incorrect", "invalid", "undecided"}
    chinese = [any("\u3400" <= char <= "\u9fff" for char in c["response"]) for c in cases]
    assert 0.2 < sum(chinese) / len(chinese) < 0.8


def test_a_text_that_is_only_mentioned_is_not_given() -> None:
    """None of 300 answers that mention the reference and give another is allowed as correct."""
    mentioned = [p.values[0] for p in table() if "control" not in p.values[0]["why"]]
    mentioned = [
        c for c in mentioned if c.get("answer_type") == "text" and "correct" not in expected(c)
    ]
    assert len(mentioned) >= 300
    assert 100 <= sum(not case["response"].isascii() for case in mentioned) <= len(mentioned) - 100
