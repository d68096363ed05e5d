"""A model's accuracy from judgements and labels: the numbers, what is refused, the command."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from typer.testing import CliRunner

from eval.estimate.__main__ import app
from eval.estimate.estimate import LabelCounts, estimates, in_words, strata_of, stratified
from eval.estimate.pick import allocation, pick
from eval.report import whole
from gradegpt.app.run import judge_file
from gradegpt.core.errors import GradeGPTError, InputError
from gradegpt.core.records import write_rows
from gradegpt.core.schema import Item, Judgement, Outcome, Verdict
from gradegpt.judges.rules import RuleJudge
from gradegpt.tables.inputs import check_input, placed

YES, NO = Verdict.CORRECT, Verdict.INCORRECT
R, W, OPEN = "right", "wrong", "open"


def judged(results: Sequence[str]) -> list[Judgement]:
    """Judgements with these results, in order."""
    verdicts = {R: YES, W: NO, OPEN: None}
    return [
        Judgement(
            id=str(n), outcome=Outcome.UNDECIDED if r == OPEN else Outcome.JUDGED,
            verdict=verdicts[r], method="rules", reason="x",
        )
        for n, r in enumerate(results)
    ]  # fmt: skip


def items(n: int) -> list[Item]:
    """As many different questions."""
    return [Item(question=str(k), reference=("1",), response="x") for k in range(n)]


def counts(*strata: tuple[float, float, float]) -> LabelCounts:
    return LabelCounts(*(np.array(column, dtype=float) for column in zip(*strata, strict=True)))


# --- estimators -----------------------------------------------------------------------------------


def test_strata_are_weighed_by_their_shares() -> None:
    """800 judged correct, 27 of 30 rightly, and 200 not, 6 of 30 of them correct: 0.76."""
    found = stratified(counts((800, 30, 27), (200, 30, 6)))
    assert found.value == pytest.approx(0.8 * 0.9 + 0.2 * 0.2)
    assert found.low < 0.70
    assert 0.82 < found.high < 0.86
    assert found.low < found.value < found.high


def test_a_stratum_without_labels_is_unknown() -> None:
    """Its share of the interval is all of it."""
    found = stratified(counts((900, 40, 40), (100, 0, 0)))
    assert found.low < 0.9
    assert found.high >= 0.99
    assert found.high - found.low > 0.1


@pytest.mark.parametrize("by_verdict", [True, False], ids=["by verdict", "random"])
@pytest.mark.parametrize(
    ("accuracy", "sensitivity", "specificity"), [(0.7, 0.9, 0.8), (0.95, 0.97, 0.6)]
)
def test_the_interval_covers_the_truth(
    accuracy: float, sensitivity: float, specificity: float, *, by_verdict: bool
) -> None:
    """In 93 to 98.5 % of 4,000 data sets with 60 labels, and no wider than labels alone."""
    from benchmarks.intervals import Case, drawn, gold_only

    case = Case(accuracy, sensitivity, specificity, 60)
    data = drawn(case, 4000, np.random.default_rng(5), by_verdict)
    found = stratified(data)
    assert 0.93 <= ((found.low <= accuracy) & (accuracy <= found.high)).mean() <= 0.985
    if not by_verdict:
        alone = gold_only(data)
        assert (found.high - found.low).mean() <= (alone.high - alone.low).mean()


# --- judgements and labels ------------------------------------------------------------------------


def test_estimates_stand_beside_what_they_correct() -> None:
    """The judge's share and the corrected accuracy, with their counts, and in one sentence."""
    results = [R] * 60 + [W] * 30 + [OPEN] * 10
    labels: list[Verdict | None] = [None] * 100
    for place, label in ((0, YES), (1, YES), (2, NO), (60, NO), (61, YES), (90, YES)):
        labels[place] = label
    raw, corrected = found = estimates(items(100), judged(results), labels)
    assert (raw.value, raw.n_items) == (pytest.approx(60 / 90), 90)
    assert "10 items left open" in raw.assumes
    assert corrected.value == pytest.approx(0.6 * 2 / 3 + 0.3 / 2 + 0.1)
    assert in_words(found).startswith("The accuracy is 65.0 % (95 % interval ")
    assert in_words(found).endswith(
        "by 6 labels; the judge alone says 66.7 %, of the 90 items that it decided."
    )
    found = estimates(items(100), judged(results), [*labels[:90], *[None] * 10])
    assert "no label among the 10 undecided (0 to 1)" in found[1].assumes


@pytest.mark.parametrize("rows", [1, 20])
def test_rows_of_one_question_are_not_independent(rows: int) -> None:
    """20 equal answers to each of 20 questions tell little more than one; one each is as before."""
    half = [YES] * 10 * rows + [NO] * 10 * rows
    results = [R if one is YES else W for one in half]
    own, found = estimates([i for i in items(20) for _ in range(rows)], judged(results), half)
    plain = stratified(counts((10, 10, 10), (10, 10, 0)))
    assert found.high - found.low == pytest.approx(plain.high - plain.low, rel=0.15 * (rows > 1))
    assert own.low == pytest.approx(found.low, abs=0.06)


def test_the_interval_covers_the_truth_of_samples() -> None:
    """With 8 answers to a question, where a hard question has many wrong ones; 30 % without it."""
    rng, covered = np.random.default_rng(5), 0
    asked = [item for item in items(50) for _ in range(8)]
    for _ in range(100):
        right = rng.random(400) < np.repeat(rng.beta(0.3, 0.2, 50), 8)
        said = np.where(rng.random(400) < 0.8, right, ~right)
        labels = [YES if one else NO for one in right]
        found = estimates(asked, judged([R if one else W for one in said]), labels)[1]
        covered += found.low <= 0.6 <= found.high
    assert covered >= 90


def test_what_cannot_be_estimated_is_refused() -> None:
    """No label, none of a frequent verdict, and nothing judged."""
    with pytest.raises(InputError, match="no judged item has a label"):
        estimates(items(1), judged([R]), [None])
    with pytest.raises(InputError, match="no item was judged"):
        estimates(items(1), judged([OPEN]), [YES])
    alone = r"among the 2 judged correct and the 1 judged incorrect, so .* label some of every"
    with pytest.raises(InputError, match=alone):
        estimates(items(4), judged([R, R, W, OPEN]), [None, None, None, YES])


# --- which and how many ---------------------------------------------------------------------------


def test_rare_results_are_picked_more_often_than_by_chance() -> None:
    """In proportion to the square root of their number; labelled items are not picked."""
    strata = strata_of(judged([R] * 901 + [W] * 100 + [OPEN] * 3))
    has_label = [YES if place == 0 else None for place in range(1004)]
    picked = pick(strata, has_label, 43, seed=3)
    assert Counter(strata[p] for p in picked) == {"correct": 30, "incorrect": 10, "undecided": 3}
    assert len({*picked}) == 43
    assert 0 not in picked
    assert picked == pick(strata, has_label, 43, seed=3)
    assert picked != pick(strata, has_label, 43, seed=4)
    with pytest.raises(InputError, match="1,003 are without a label"):
        pick(strata, has_label, 1004, seed=3)


@pytest.mark.parametrize("n", [1, 5, 8, 20, 110])
def test_an_allocation_has_its_sum(n: int) -> None:
    """And no stratum gets more labels than it has items."""
    sizes = np.array([100.0, 2.0, 0.0, 8.0])
    quota = allocation(sizes, n)
    assert quota.sum() == n
    assert (quota <= sizes).all()


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A judged file: 40 answers, three in four of them right."""
    rows = [
        Item(id=f"q{n}", question="1+1=?", reference=("2",), response=f"It is {2 if n % 4 else 3}.")
        for n in range(40)
    ]
    write_rows(tmp_path / "a.jsonl", rows)
    judge_file(check_input(tmp_path / "a.jsonl"), tmp_path / "judged.jsonl", RuleJudge())
    return tmp_path


def command(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if result.exception is not None and isinstance(result.exception, GradeGPTError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_from_a_file_of_judgements_to_an_accuracy(folder: Path) -> None:
    """A sheet is drawn, filled in and read; the sheet does not show the verdict."""
    sheet = folder / "labels.csv"
    assert "12 items" in command(folder / "judged.jsonl", "--pick", 12, "-o", sheet)
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {*rows[0]} == {"id", "question", "reference", "response", "label"}
    assert Counter(int(row["id"][1:]) % 4 == 0 for row in rows) == {True: 5, False: 7}
    for row in rows:
        row["label"] = "incorrect" if "3" in row["response"] else "correct"
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    printed = command(folder / "judged.jsonl", sheet, "-o", folder / "found.json")
    assert "75.0" in printed
    found = {e["method"]: e for e in json.loads((folder / "found.json").read_text("utf-8"))}
    assert found["stratified"]["value"] == pytest.approx(0.75)
    assert found["stratified"]["n_labels"] == 12
    assert "The accuracy is 75.0 %" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "needs a table of labels as the second argument"),
        (["--pick", 3], "needs the name of a .csv, .tsv or .xlsx"),
        (["--pick", 3, "-o", "x.jsonl"], "needs the name of a .csv"),
        (["--pick", 99, "-o", "x.csv"], "cannot pick 99 items"),
    ],
)
def test_what_cannot_be_done_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[object], message: str
) -> None:
    """The error says what to do."""
    monkeypatch.chdir(folder)
    with pytest.raises(GradeGPTError, match=message):
        command("judged.jsonl", *arguments)


def test_the_judged_file_is_read_as_every_command_reads_it(folder: Path) -> None:
    """The options for its columns and for several accepted answers are those of judge."""
    rows = [f"q{n},1+1=?,2|two,It is {2 if n % 4 else 3}." for n in range(40)]
    (folder / "moved.csv").write_text("\n".join(["id,asked,key,said", *rows]), encoding="utf-8")
    mapped = [word for pair in ("reference=key", "response=said") for word in ("--map", pair)]
    reading = ["--items", folder / "moved.csv", *mapped, "--separator", "|"]
    command(folder / "judged.jsonl", *reading, "--pick", 12, "-o", folder / "labels.csv")
    assert ",2 / two,It is 2.," in (folder / "labels.csv").read_text(encoding="utf-8-sig")


def test_a_sheet_has_the_columns_and_the_encoding_of_the_table(tmp_path: Path) -> None:
    """Such as the names of pupils, in GB 18030."""
    lines = ["姓名,题目,参考答案,学生答案", *(f"学生{n},1+1=?,2,{1 + n % 2}" for n in range(9))]
    (tmp_path / "class.csv").write_text("\n".join(lines), encoding="gb18030")
    judge_file(check_input(tmp_path / "class.csv"), tmp_path / "judged.jsonl", RuleJudge())
    command(tmp_path / "judged.jsonl", "--pick", 2, "-o", tmp_path / "labels.csv")
    head, first, _ = (tmp_path / "labels.csv").read_text(encoding="gb18030").splitlines()
    assert head == "id,姓名,question,reference,response,label"
    assert "学生" in first


def test_a_sheet_is_never_replaced(folder: Path) -> None:
    """It may hold the labels of an afternoon."""
    (folder / "labels.csv").write_text("id,label\n", encoding="utf-8")
    with pytest.raises(GradeGPTError, match="may hold labels"):
        command(folder / "judged.jsonl", "--pick", 3, "-o", folder / "labels.csv")


def test_a_judged_table_with_its_own_labels_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of 200,000 rows takes half as long as when it is read for its labels first."""
    rows = (
        {
            "id": f"q{n}", "question": f"{n}+1=?", "reference": str(n + 1), "response": "x",
            "judgement": {"outcome": "judged", "verdict": "correct", "method": "rules"},
            "label": n % 4 > 0,
        }
        for n in range(40)
    )  # fmt: skip
    write_rows(tmp_path / "judged.jsonl", rows)
    reader = Mock(side_effect=placed)
    monkeypatch.setattr(whole, "placed", reader)
    assert "The accuracy is 75.0 %" in command(tmp_path / "judged.jsonl")
    assert reader.call_count == 1
