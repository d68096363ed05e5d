"""Judging a file: checked before any work, resumable anywhere, with counts that add up."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gradegpt.app.run import Counts, Summary, check_input, count, judge_file
from gradegpt.core.errors import EngineError, EngineTimeoutError, OutputError
from gradegpt.core.records import read_rows, sha256_file
from gradegpt.core.schema import Item, Judgement, Outcome, Verdict
from gradegpt.engines.base import Generation
from gradegpt.engines.scripted import ScriptedEngine
from gradegpt.judges.base import Judge
from gradegpt.judges.cascade import CascadeJudge
from gradegpt.judges.model import ModelJudge
from gradegpt.judges.rules import RuleJudge

ROW = {"reference": "4", "response": "The answer is 4."}


def write(path: Path, rows: Iterable[Any]) -> Path:
    """A file with one row per line; text is written unchanged."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def judge_all(source: Path, judge: Judge, **options: Any) -> Summary:
    return judge_file(check_input(source), source.with_name("out.jsonl"), judge, **options)


def test_every_row_gets_a_judgement_in_order_and_the_summary_adds_up(tmp_path: Path) -> None:
    rows = [
        ROW,
        {**ROW, "response": "The answer is 5."},
        {**ROW, "response": ""},
        {**ROW, "reference": "blue"},
    ]
    summary = judge_all(write(tmp_path / "in.jsonl", rows), RuleJudge(), rows_per_write=3)
    judged = list(read_rows(summary.output, Judgement))
    assert [j.verdict for j in judged] == ["correct", "incorrect", "invalid", None]
    assert summary.counts == Counts(
        n_items=4, n_judged=3, n_undecided=1, n_correct=1, n_incorrect=1, n_invalid=1
    )
    assert summary.rows_before == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "in.jsonl", "out.jsonl", "out.jsonl.manifest.json",
    ]  # fmt: skip


def test_no_judge_sees_a_label(tmp_path: Path) -> None:
    """A file may have columns with labels."""
    label = {"verdict": "correct", "labelled_by": "hand", "lang": "en", "source": "exam"}
    engine = ScriptedEngine(["<No>"])
    judge_all(write(tmp_path / "in.jsonl", [{**ROW, **label}]), ModelJudge(engine))
    assert not any(word in engine.prompts[0][-1].content for word in ("hand", "exam", "correct"))


def test_a_manifest_states_judge_input_output_and_counts(tmp_path: Path) -> None:
    """With the hashes of both files."""
    source = write(tmp_path / "in.jsonl", [ROW])
    summary = judge_all(source, RuleJudge())
    manifest = json.loads((tmp_path / "out.jsonl.manifest.json").read_text())
    assert manifest["judge"] == RuleJudge().fingerprint
    assert manifest["input"]["sha256"] == sha256_file(source)
    assert manifest["output"]["sha256"] == sha256_file(summary.output)
    assert manifest["counts"] == summary.counts.model_dump()


class _BatchJudge:
    """A judge whose reasons list the items of the batch; it can fail at an item."""

    name = "batch"
    fingerprint = "batch"

    def __init__(self, breaks_at: str = "") -> None:
        self.breaks_at = breaks_at

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        ids = [item.id for item in items]
        if self.breaks_at in ids:
            raise EngineTimeoutError("the engine is gone")
        return [
            Judgement(id=i, outcome=Outcome.UNDECIDED, method="m", reason=",".join(ids))
            for i in ids
        ]


def test_a_failed_run_is_resumed(tmp_path: Path) -> None:
    """The error says how many rows are kept; the second run judges the rest and counts all."""
    source = write(tmp_path / "in.jsonl", [ROW] * 7)
    with pytest.raises(EngineTimeoutError, match=r"^the engine is gone; 4 of 7 rows are kept in"):
        judge_all(source, _BatchJudge(breaks_at="5"), rows_per_write=2)
    assert not (tmp_path / "out.jsonl").exists()
    summary = judge_all(source, _BatchJudge(), rows_per_write=2)
    assert (summary.rows_before, summary.counts.n_items) == (4, 7)
    assert [j.id for j in read_rows(summary.output, Judgement)] == list("1234567")


@pytest.mark.parametrize("size", [0, 1, 90, 230, 299, 410, 520, 690])
def test_a_run_cut_off_at_any_byte_writes_the_same_bytes(tmp_path: Path, size: int) -> None:
    """Also inside a line or a batch: the judge gets the same batches as in an uninterrupted run."""
    source = write(tmp_path / "in.jsonl", [ROW] * 8)
    whole = judge_all(source, _BatchJudge(), rows_per_write=3).output.read_bytes()
    with pytest.raises(EngineTimeoutError):
        judge_all(source, _BatchJudge(breaks_at="7"), rows_per_write=3, overwrite=True)
    partial = tmp_path / "out.jsonl.partial"
    partial.write_bytes(partial.read_bytes()[:size])
    again = judge_all(source, _BatchJudge(), rows_per_write=3, overwrite=True)
    assert again.output.read_bytes() == whole
    assert again.rows_before == whole[:size][: len(whole)].count(b"\n")


def test_another_input_or_judge_does_not_resume_a_partial_file(tmp_path: Path) -> None:
    """It is an error that says what to do; ``overwrite`` replaces it."""
    source = write(tmp_path / "in.jsonl", [ROW] * 3)
    with pytest.raises(EngineError):
        judge_all(source, _BatchJudge(breaks_at="3"), rows_per_write=1)
    with pytest.raises(OutputError, match="begun with another input or other settings"):
        judge_all(source, RuleJudge())
    write(source, [ROW] * 4)
    with pytest.raises(OutputError, match=r"begun with another input or other settings; pass --ov"):
        judge_all(source, _BatchJudge())
    summary = judge_all(source, RuleJudge(), overwrite=True)
    assert (summary.rows_before, summary.counts.n_correct) == (0, 4)
    assert not list(tmp_path.glob("*.partial*"))


def test_two_runs_do_not_write_one_file(tmp_path: Path) -> None:
    """Each row would be written twice; the second run is an error."""
    source = write(tmp_path / "in.jsonl", [ROW] * 2)

    def start_another(done: int, _: int) -> None:
        with pytest.raises(OutputError, match="another run is writing this file"):
            judge_all(source, _BatchJudge())

    summary = judge_all(source, _BatchJudge(), rows_per_write=1, on_progress=start_another)
    assert summary.counts.n_items == 2


class _Down:
    """An engine that answers no prompt."""

    name = "down"

    def generate(self, prompts: Any, *, max_new_tokens: int) -> list[Generation | EngineError]:
        return [EngineError("connection refused")] * len(prompts)


def test_an_engine_that_is_down_stops_the_run_instead_of_failing_every_row(tmp_path: Path) -> None:
    """Earlier rows that the rules decided are kept; no failed row is written."""
    hard = {"reference": "blue", "response": "the sky has the colour of the sea"}
    source = write(tmp_path / "in.jsonl", [ROW] * 20 + [hard] * 20)
    judge = CascadeJudge([RuleJudge(), ModelJudge(_Down())])
    with pytest.raises(EngineError) as caught:
        judge_all(source, judge, rows_per_write=20)
    assert str(caught.value) == (
        "all 20 items failed: engine:error: connection refused; "
        f"20 of 40 rows are kept in {tmp_path}/out.jsonl.partial; "
        "run the same command again to resume"
    )


def test_single_failures_are_counted_and_do_not_stop_the_run(tmp_path: Path) -> None:
    """One answer in a write shows that the engine is up."""
    script = [EngineError("odd")] * 19 + ["<Yes>"]
    source = write(tmp_path / "in.jsonl", [ROW] * 20)
    summary = judge_all(source, ModelJudge(ScriptedEngine(script)))
    assert (summary.counts.n_failed, summary.counts.n_correct) == (19, 1)


class _Bug:
    """A judge with a bug that some of the items meet."""

    name = fingerprint = "bug"

    def __init__(self, at: str) -> None:
        self.at = set(at)
        self.batches: list[str] = []

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        self.batches.append("".join(item.id for item in items))
        if self.at & {*self.batches[-1]}:
            raise ValueError("a\n  bug")
        return RuleJudge().judge(items)


def test_a_bug_that_one_row_meets_is_that_rows_failure(tmp_path: Path) -> None:
    """The others are judged in halves of the batch; the reason says where the bug is."""
    source, judge = write(tmp_path / "in.jsonl", [ROW] * 8), _Bug(at="6")
    summary = judge_all(source, judge)
    assert judge.batches == ["12345678", "1234", "5678", "56", "5", "6", "78"]
    judged = list(read_rows(summary.output, Judgement))
    assert [j.outcome for j in judged if j.id != "6"] == ["judged"] * 7
    assert judged[5].outcome == "failed"
    assert re.fullmatch(r"judge:error: ValueError: a bug \(in judge, line \d+\)", judged[5].reason)
    assert summary.counts.n_failed == 1
    assert summary.failure == f"6: {judged[5].reason}"


def test_many_rows_that_meet_a_bug_stop_no_run_in_which_others_are_judged(tmp_path: Path) -> None:
    """Where every row meets it, the run stops, as for an engine that is down."""
    source = write(tmp_path / "in.jsonl", [{**ROW, "id": c} for c in "abcdefghijklmnopqrst"])
    summary = judge_all(source, _Bug(at="abcdefghijklmnopqrs"))
    assert (summary.counts.n_failed, summary.counts.n_correct) == (19, 1)
    with pytest.raises(EngineError, match="all 20 items failed: judge:error: ValueError: a bug"):
        judge_all(source, _Bug(at="abcdefghijklmnopqrst"), overwrite=True)


def test_the_same_command_judges_failed_rows_again(tmp_path: Path) -> None:
    """The other rows are kept."""
    source = write(tmp_path / "in.jsonl", [ROW] * 5)
    first = ["<No>", EngineError("busy"), "<No>", EngineError("busy"), "<No>"]
    summary = judge_all(source, ModelJudge(ScriptedEngine(first)))
    assert (summary.counts.n_failed, summary.failure) == (2, "2: engine:error: busy")
    engine = ScriptedEngine(["<Yes>", "<Yes>"])
    summary = judge_all(source, ModelJudge(engine), rows_per_write=1)
    rows = [json.loads(line)["verdict"] for line in summary.output.read_text().splitlines()]
    assert rows == ["incorrect", "correct", "incorrect", "correct", "incorrect"]
    assert (len(engine.prompts), summary.rows_before, summary.counts.n_failed) == (2, 3, 0)


def test_another_judge_does_not_resume_a_file_with_failed_rows(tmp_path: Path) -> None:
    """The file exists already."""
    source = write(tmp_path / "in.jsonl", [ROW] * 2)
    judge_all(source, ModelJudge(ScriptedEngine(["<No>", EngineError("busy")])))
    with pytest.raises(OutputError, match="exists already"):
        judge_all(source, RuleJudge())


@given(st.lists(st.sampled_from([*Outcome, *Verdict])))
def test_counts_add_up_for_any_judgements(ends: list[Outcome | Verdict]) -> None:
    """The sum of the counts of two parts is the count of the whole."""
    rows = [
        Judgement(id="", outcome=Outcome.JUDGED, verdict=end, method="m")
        if isinstance(end, Verdict)
        else Judgement(id="", outcome=end, method="m")
        for end in ends
        if end is not Outcome.JUDGED
    ]
    half = len(rows) // 2
    assert count(rows[:half]) + count(rows[half:]) == count(rows)
    assert count(rows).n_items == len(rows)


@pytest.mark.parametrize("wrong", [{"n_items": 1}, {"n_items": 1, "n_judged": 1}])
def test_counts_that_do_not_add_up_are_refused(wrong: dict[str, int]) -> None:
    """By the type itself."""
    with pytest.raises(ValidationError, match="do not add up"):
        Counts(**wrong)
