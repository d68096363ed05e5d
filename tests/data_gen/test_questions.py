"""Questions of tables of any columns, as problems."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_gen.problems import Problem
from data_gen.questions import Questions, read_problems, steps
from gradegpt.core.errors import InputError, SettingsError


def problems(tmp_path: Path, *rows: dict[str, Any], **columns: str) -> list[Problem]:
    path = tmp_path / "m.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return list(read_problems(Questions(path=str(path), columns=columns), Counter()))


@pytest.mark.parametrize(
    ("row", "columns", "expected"),
    [
        ({"question": "1+1=?", "answer": "2"}, {}, ("en", "number", "2")),
        ({"stem": "水的沸点？", "key": "100℃"}, {"question": "stem", "reference": "key"},
         ("zh", "number", "100℃")),
        ({"question": "How many?", "answer": "20-12=<<20-12=8>>8 are left.\n#### 8"}, {},
         ("en", "number", "8")),
        ({"problem": "Which part?", "solution": r"It is $\boxed{\frac{3}{4}}$."},
         {"reference": "solution"}, ("en", "number", r"\frac{3}{4}")),
        ({"question": "选哪个？\nA. 一\nB. 二", "answer": "B", "answer_type": "single_choice"}, {},
         ("zh", "single_choice", "B")),
    ],
)  # fmt: skip
def test_a_row_becomes_a_problem(
    row: dict[str, Any], columns: dict[str, str], expected: tuple[str, str, str], tmp_path: Path
) -> None:
    """Columns by usual or given names; the answer of a worked solution; language by the script."""
    (problem,) = problems(tmp_path, row, **columns)
    assert (problem.lang, problem.answer_type.value, problem.reference) == expected


def test_context_tolerance_and_solution_are_kept(tmp_path: Path) -> None:
    """The context stands before the question, and a solution comes as steps."""
    row = {
        "context": "Let $g=9.8$.", "question": "How far?", "reference": "19.6 m",
        "tolerance": "relative:0.05",
        "solution": r"It falls $\frac{1}{2} g. t^2$. With $t=2$ this is $19.6$.",
    }  # fmt: skip
    (problem,) = problems(tmp_path, row)
    assert problem.question == "Let $g=9.8$.\nHow far?"
    assert problem.tolerance == "relative:0.05"
    assert problem.solution == (r"It falls $\frac{1}{2} g. t^2$.", "With $t=2$ this is $19.6$.")


def test_rows_left_out_are_counted_with_the_reason(tmp_path: Path) -> None:
    """A row without a question or reference, and one whose reference is a solution."""
    path, counts = tmp_path / "m.jsonl", Counter[str]()
    rows = [{"question": f"{n}+1=?", "answer": str(n + 1)} for n in range(40)]
    rows += [{"question": "Why?", "answer": "x" * 301}, {"question": "Who?"}, {"answer": "3"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = list(read_problems(Questions(path=str(path)), counts))
    assert len(found) == len({p.id for p in found}) == 40
    assert counts == {"read:m": 43, "skipped:m:long_reference": 1, "skipped:m:no_item": 2}


def test_a_table_without_questions_is_an_error(tmp_path: Path) -> None:
    """The error names the existing columns; a wrong name is an error, too."""
    with pytest.raises(InputError, match=r"no row has a question .* are: stem, answer\. Name"):
        problems(tmp_path, {"stem": "1+1=?", "answer": "2"})
    with pytest.raises(SettingsError, match="there is no column 'stam'"):
        problems(tmp_path, {"stem": "1+1=?", "answer": "2"}, question="stam")


@given(
    st.lists(st.sampled_from(["因此 $x=1。5$。", "So $a. B$ holds. ", r"\[ y. \] ", "\n", "12. "]))
)
def test_steps_cut_no_formula_and_lose_no_word(pieces: list[str]) -> None:
    """Dollars are paired in every step; short solutions are kept, apart from blanks."""
    found = steps("".join(["\\", *pieces]))
    assert all(
        step.count("$") % 2 == 0 and step.count(r"\[") == step.count(r"\]") for step in found
    )
    assert len(found) <= 12
    if len(pieces) <= 6:
        kept = "".join("".join(found).split())
        assert kept in "".join(("\\" + "".join(pieces)).split())
