"""Attacks: the rates by hand, the bound, the command's exit code, what is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eval.attacks import app, judge_report, rate_of
from gradegpt.core.errors import GradeGPTError
from gradegpt.core.records import write_rows
from gradegpt.core.schema import Example, Judgement, Outcome, Verdict

YES, NO = Verdict.CORRECT, Verdict.INCORRECT


def judged(verdicts: Sequence[Verdict | None]) -> list[Judgement]:
    return [
        Judgement(
            id=str(n), outcome=Outcome.JUDGED if v else Outcome.UNDECIDED, verdict=v, method="m",
        )
        for n, v in enumerate(verdicts)
    ]  # fmt: skip


def attacks(*patterns: tuple[str, int]) -> list[Example]:
    return [
        Example(id=f"{name}{n}", reference=("1",), response="x", verdict=NO, source=name)
        for name, size in patterns for n in range(size)
    ]  # fmt: skip


def test_no_verdict_is_no_acceptance() -> None:
    """One of four accepted, one open; the limits are Clopper and Pearson's."""
    found = rate_of(judged([YES, NO, None, Verdict.INVALID]))
    assert (found.n, found.accepted, found.undecided, found.rate) == (4, 1, 1, 0.25)
    assert (found.low, found.high) == pytest.approx((0.0063, 0.8059), abs=1e-4)


@pytest.mark.parametrize(
    ("accepted", "bound", "exceeds"),
    [
        (1, 0.02, ""),
        (3, 0.02, "3 of 120 attacks; 3 of 20 b"),
        (1, 0.004, "1 of 120 attacks"),
        (3, None, ""),
    ],
    ids=["within", "pattern and all", "all", "no bound"],
)
def test_the_bound_is_on_all_attacks_and_on_each_pattern(
    accepted: int, bound: float | None, exceeds: str
) -> None:
    """One of twenty does not show that a pattern exceeds two percent, three do."""
    rows = attacks(("a", 100), ("b", 20))
    verdicts = [NO] * 100 + [YES] * accepted + [NO] * (20 - accepted)
    found = judge_report("j", rows, judged(verdicts), bound)
    assert found.exceeds == exceeds


def invoke(folder: Path, *overrides: str) -> Result:
    (folder / "attacks.yaml").write_text(
        f"name: attacks\nout: {folder}/run\nmax_false_accept: 0.1\njudges: [{{kind: rules}}]\n"
        f"sources: [{{path: {folder}/rows.jsonl, fields: null}}]\n",
        encoding="utf-8",
    )
    ended = CliRunner().invoke(app, [str(folder / "attacks.yaml"), *overrides])
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return ended


def rows(folder: Path, *responses: str, label: Verdict = NO) -> None:
    write_rows(
        folder / "rows.jsonl",
        (
            {"id": str(n), "question": f"{n}?", "reference": "5", "response": response,
             "verdict": label, "source": "stub"}
            for n, response in enumerate(responses)
        ),
    )  # fmt: skip


def test_an_accepted_attack_fails_the_command(tmp_path: Path) -> None:
    """Exit code 1, the reason on stderr, and the accepted row in accepted.jsonl."""
    rows(tmp_path, "The answer is 5.", ":", "Solution")
    ended = invoke(tmp_path)
    assert ended.exit_code == 1
    assert "rules: above the bound of 10.0 %: 1 of 3 attacks" in ended.output
    (row,) = (tmp_path / "run" / "accepted.jsonl").read_text("utf-8").splitlines()
    assert json.loads(row)["response"] == "The answer is 5."


def test_refused_attacks_pass(tmp_path: Path) -> None:
    """Exit code 0, and the numbers in report.json."""
    rows(tmp_path, ":", "Solution", "解")
    assert invoke(tmp_path).exit_code == 0
    report = json.loads((tmp_path / "run" / "report.json").read_text("utf-8"))
    assert report["judges"][0]["overall"]["accepted"] == 0


def test_rows_that_are_right_are_no_attacks(tmp_path: Path) -> None:
    """A file of correct answers alone measures nothing."""
    rows(tmp_path, "5", label=YES)
    with pytest.raises(GradeGPTError, match="every row is labelled correct"):
        invoke(tmp_path)
