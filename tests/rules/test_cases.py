"""The case table: reference, response, expected outcome and the reason; one line per past bug.

If a careful grader would accept several outcomes, all of them are listed; cases that need reading
comprehension may be undecided, but must not be decided wrongly. A case with a ``profile``, or with
several, is scored by it, and may state how the ``reason`` of the judgement begins.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradegpt.core.records import read_objects
from gradegpt.core.schema import Item, Judgement
from gradegpt.judges.profile import ProfileJudge
from gradegpt.judges.rules import RuleJudge

CASES = sorted((Path(__file__).parent / "cases").glob("*.jsonl"))


def table() -> list[dict[str, Any]]:
    """Every case of every file."""
    return [case for path in CASES for _, case in read_objects(str(path))]


def judged(case: dict[str, Any]) -> list[Judgement]:
    """What the rules, or each of the case's profiles, make of it."""
    fields = {k: v for k, v in case.items() if k not in ("expected", "why", "profile", "reason")}
    named = case.get("profile", [])
    profiles = [ProfileJudge(name) for name in ([named] if isinstance(named, str) else named)]
    item = Item.model_validate(fields)
    return [judge.judge([item])[0] for judge in profiles or [RuleJudge()]]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_cases(path: Path) -> None:
    """The rules return an outcome that the table allows; a failure names the lines."""
    wrong = [
        f"{path.name}:{line}: {case['why']}: {judgement}"
        for line, case in read_objects(str(path))
        for judgement in judged(case)
        if not is_allowed(judgement, case)
    ]
    assert not wrong, "\n".join(wrong)


def is_allowed(made: Judgement, case: dict[str, Any]) -> bool:
    """Whether the case allows the judgement."""
    outcome = (made.verdict or made.outcome).value
    return outcome in expected(case) and made.reason.startswith(case.get("reason", ""))


def expected(case: dict[str, Any]) -> list[str]:
    """The outcomes that the case allows."""
    listed = case["expected"]
    return listed if isinstance(listed, list) else [listed]


def test_the_table_is_large_and_varied() -> None:
    """The table has at least 400 cases, in both languages, with every outcome."""
    cases = table()
    assert len(cases) >= 400
    outcomes = {outcome for case in cases for outcome in expected(case)}
    assert outcomes == {"correct", "incorrect", "invalid", "undecided"}
    chinese = [any("\u3400" <= char <= "\u9fff" for char in c["response"]) for c in cases]
    assert 0.2 < sum(chinese) / len(chinese) < 0.8


def test_a_text_that_is_only_mentioned_is_not_given() -> None:
    """None of 300 answers that mention the reference and give another is allowed as correct."""
    mentioned = [case for case in table() if "control" not in case["why"]]
    mentioned = [
        c for c in mentioned if c.get("answer_type") == "text" and "correct" not in expected(c)
    ]
    assert len(mentioned) >= 300
    assert 100 <= sum(not case["response"].isascii() for case in mentioned) <= len(mentioned) - 100
