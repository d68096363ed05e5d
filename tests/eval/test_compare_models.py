"""The difference of two models' accuracies: the numbers, what is refused, the command."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from eval.estimate.__main__ import app
from eval.estimate.estimate import compared, difference_in_words, pair_counts, strata_of
from eval.estimate.estimators import PairCounts, bonett_price, stratified_difference
from eval.estimate.sides import read_sides
from gradegpt.app.run import judge_file
from gradegpt.core.errors import GradeGPTError, InputError
from gradegpt.core.records import write_rows
from gradegpt.core.schema import Verdict
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.statistics import mcnemar
from gradegpt.tables.inputs import check_input

YES, NO = Verdict.CORRECT, Verdict.INCORRECT
ITEMS = 80


def counts(*tables: Sequence[Sequence[float]], items: Sequence[float]) -> PairCounts:
    both = np.array(tables, dtype=float)
    none = np.zeros((len(tables), 2))
    return PairCounts(np.array(items, dtype=float), both, none, none)


# --- estimators -----------------------------------------------------------------------------------


def test_the_adjusted_wald_limits_are_the_published_formula() -> None:
    """12 and 4 of 100 items differ: 13/102 and 5/102, their difference and its standard error."""
    found = bonett_price(np.array([[59.0, 4], [12, 25]]))
    more, less = 13 / 102, 5 / 102
    half = 1.959964 * np.sqrt((more + less - (more - less) ** 2) / 102)
    assert found.value == pytest.approx(0.08)
    assert (found.low, found.high) == pytest.approx((more - less - half, more - less + half))


def test_strata_are_weighed_by_their_shares() -> None:
    """0.9 of the items differ by 0.1, the others by -0.5: 0.04."""
    found = stratified_difference(counts([[0, 0], [4, 36]], [[0, 20], [0, 20]], items=[900, 100]))
    assert found.value == pytest.approx(0.9 * 0.1 - 0.1 * 0.5)
    assert found.low < found.value < found.high


def test_labels_of_one_model_narrow_the_interval() -> None:
    """Fifty more labels of either model count, though none is of an item with both."""
    few = counts([[10, 10], [15, 15]], items=[1000])
    more = few._replace(first=np.array([[20.0, 30]]), second=np.array([[25.0, 25]]))
    narrow, wide = stratified_difference(more), stratified_difference(few)
    assert narrow.high - narrow.low < 0.8 * (wide.high - wide.low)
    assert narrow.value == pytest.approx(0.6 - 0.5)


def test_a_stratum_without_labels_is_unknown() -> None:
    """A tenth of the items may differ by 1 in either direction."""
    found = stratified_difference(counts([[0, 0], [0, 50]], [[0, 0], [0, 0]], items=[900, 100]))
    assert found.high > 0.1
    assert found.low < -0.1


@pytest.mark.parametrize("by_verdict", [True, False], ids=["by results", "random"])
@pytest.mark.parametrize("difference", [0.0, 0.2])
def test_the_interval_covers_the_truth(difference: float, *, by_verdict: bool) -> None:
    """In at least 93 % of 2,000 data sets with 60 labelled items."""
    from benchmarks.differences import Case, drawn

    case = Case(0.7, difference, 0.4, (0.85, 0.8), 60)
    found = stratified_difference(drawn(case, 2000, np.random.default_rng(3), by_verdict))
    inside = (found.low <= difference) & (difference <= found.high)
    assert 0.93 <= inside.mean() <= 0.985


@pytest.mark.parametrize(
    ("gained", "lost", "p"), [(0, 0, 1.0), (0, 5, 2 / 32), (1, 8, 20 / 512), (4, 4, 1.0)]
)
def test_mcnemar_is_the_exact_binomial_test(gained: int, lost: int, p: float) -> None:
    """Twice the tail of a fair coin, at most 1."""
    assert mcnemar(gained, lost) == pytest.approx(p)


# --- files ----------------------------------------------------------------------------------------


def judged(folder: Path, name: str, wrong: set[int], order: Sequence[int]) -> Path:
    """Answers of a model and the rules' judgements; the places in ``wrong`` are wrong answers."""
    rows = [
        {"id": f"q{n}", "question": f"{n}+1=?", "reference": str(n + 1),
         "response": f"The answer is {n + 1 + (n in wrong)}."}
        for n in order
    ]  # fmt: skip
    write_rows(folder / f"{name}.in.jsonl", rows)
    judge_file(check_input(folder / f"{name}.in.jsonl"), folder / f"{name}.jsonl", RuleJudge())
    return folder / f"{name}.jsonl"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Two models: A errs on 10 items, B on 30 and has another order and one item more."""
    a = judged(tmp_path, "a", set(range(10)), range(ITEMS))
    b = judged(tmp_path, "b", set(range(5, 35)), range(ITEMS, -1, -1))
    return a, b


def labelled(path: Path, wrong: set[int], places: Sequence[int]) -> Path:
    write_rows(path, ({"id": f"q{n}", "label": "01"[n not in wrong]} for n in places))
    return path


def invoke(*arguments: object) -> str:
    ended = CliRunner().invoke(app, [*map(str, arguments)])
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return ended.output


def test_answers_are_matched_by_id(files: tuple[Path, Path], tmp_path: Path) -> None:
    """In another order, with labels of other items; an item of one file alone is left out."""
    one = labelled(tmp_path / "la.jsonl", set(range(10)), range(60))
    other = labelled(tmp_path / "lb.jsonl", set(range(5, 35)), range(20, 80))
    sides = read_sides(files, labels=[one, other])
    assert sides.left_out == 1
    assert [i.id for i in sides.first.items] == [i.id for i in sides.second.items]
    strata = strata_of([sides.first.only, sides.second.only])
    made = pair_counts(strata, sides.first.labels, sides.second.labels)
    assert (made.both.sum(), made.first.sum(), made.second.sum()) == (40, 20, 20)
    assert made.items.sum() == ITEMS


def test_the_command_prints_and_writes_the_difference(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    """A is right on 70 of 80 and B on 50, which the rules judge rightly: 25 points in every row."""
    one = labelled(tmp_path / "la.jsonl", set(range(10)), range(ITEMS))
    other = labelled(tmp_path / "lb.jsonl", set(range(5, 35)), range(ITEMS))
    out = tmp_path / "out.json"
    shown = invoke(files[0], one, "--compare", files[1], other, "-o", out)
    found = json.loads(out.read_text(encoding="utf-8"))
    assert [e["value"] for e in found] == pytest.approx([0.25] * 2)
    assert "+25.0" in shown
    assert "A is better by 25.0 points (95% interval +" in shown
    assert "1 items that only one file has" in shown


def test_a_sheet_has_both_responses_and_comes_back(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    """A row for each response, one for equal ones; filled in, it labels both models."""
    sheet = tmp_path / "labels.csv"
    invoke(files[0], "--compare", files[1], "--pick", "50", "-o", sheet)
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({row["id"] for row in rows}) == 50
    assert {row["answer_of"] for row in rows} == {"A", "B", "A and B"}
    assert len(rows) < 100
    for row in rows:
        row["label"] = "correct" if f" {row['reference']}." in row["response"] else "incorrect"
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    found = compared(read_sides(files, labels=[sheet]))
    raw, corrected = found
    assert raw.value == pytest.approx(0.25)
    assert corrected.value == pytest.approx(0.25)
    assert corrected.n_labels == 50
    assert "not usable: needs" not in invoke(files[0], sheet, "--compare", files[1])


def test_few_labels_give_no_interval(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Below thirty of each model the coverage was not measured; the judge's own share remains."""
    one = labelled(tmp_path / "la.jsonl", set(range(10)), range(29))
    other = labelled(tmp_path / "lb.jsonl", set(range(5, 35)), range(60))
    found = compared(read_sides(files, labels=[one, other]))
    raw, corrected = found
    assert raw.value is not None
    assert corrected.low is None
    assert "there are 29 and 60" in corrected.assumes
    assert difference_in_words(found).startswith("No corrected difference yet: not usable")


def test_what_cannot_be_compared_is_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Labels that do not say whose they are, other ids, and ids that occur twice."""
    one = labelled(tmp_path / "la.jsonl", set(), range(40))
    with pytest.raises(InputError, match="no column 'answer_of'"):
        read_sides(files, labels=[one])
    other = tmp_path / "c.jsonl"
    write_rows(tmp_path / "c.in.jsonl", [{"id": "x", "reference": "1", "response": "1"}] * 2)
    judge_file(check_input(tmp_path / "c.in.jsonl"), other, RuleJudge())
    with pytest.raises(InputError, match="two rows have the id 'x'"):
        read_sides([files[0], other])
    last = judged(tmp_path, "d", set(), [500])
    with pytest.raises(InputError, match="share no id"):
        read_sides([files[0], last])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--beside", "x.jsonl"], "--compare: excludes"),
        ([], "needs a table of labels"),
        (["--pick", "10"], "needs the name of a .csv"),
    ],
    ids=["beside", "no labels", "no sheet"],
)
def test_options_that_do_not_go_together_are_refused(
    files: tuple[Path, Path], options: list[str], message: str
) -> None:
    """Each error says what to do."""
    with pytest.raises(GradeGPTError, match=message):
        invoke(files[0], "--compare", files[1], *options)


def test_two_files_of_labels_need_a_comparison(files: tuple[Path, Path], tmp_path: Path) -> None:
    """A second positional file would otherwise be ignored."""
    one = labelled(tmp_path / "la.jsonl", set(), range(40))
    with pytest.raises(GradeGPTError, match="need --compare"):
        invoke(files[0], one, one)
