"""References that cannot be right, one of each fault, and similar right ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eval.references import ReferenceFault as Fault
from eval.references import app, check_file
from gradegpt.core.errors import InputError
from gradegpt.core.records import write_rows
from gradegpt.tables.inputs import Reading

OPTIONS = "Which gas?\nA. oxygen\nB. argon\nC. neon\nD. helium"


def found(tmp_path: Path, *rows: dict[str, Any], **columns: str) -> list[tuple[int, str, str]]:
    path = tmp_path / "bank.jsonl"
    write_rows(path, rows)
    count, findings = check_file(path, Reading(columns))
    assert count == len(rows)
    return [
        (int(f.where.rpartition(":")[2]), f.fault, f.detail.replace(f"{path}:", "line "))
        for f in findings
    ]


THREE = "A ball falls. (1) Find its speed. (2) Find its energy. (3) Find its momentum."
FAULTY: list[tuple[dict[str, Any], Fault]] = [
    ({"reference": "2x+1", "answer_type": "Numerical"}, Fault.NOT_A_NUMBER),
    ({"reference": "三倍的 a", "answer_type": "NV"}, Fault.NOT_A_NUMBER),
    ({"reference": "y=2x+1", "answer_type": "expression"}, Fault.EQUALS_SIGN),
    ({"reference": "5 m/s", "unit": "m/s"}, Fault.UNIT_INSIDE),
    ({"reference": "[5, 2)", "answer_type": "interval"}, Fault.ENDS_REVERSED),
    ({"reference": "(3, -\\infty]", "answer_type": "interval"}, Fault.NOT_AN_INTERVAL),
    ({"reference": "about five", "answer_type": "IN"}, Fault.NOT_AN_INTERVAL),
    ({"reference": "E", "question": OPTIONS, "answer_type": "SC"}, Fault.NO_SUCH_OPTION),
    ({"reference": "krypton", "question": OPTIONS, "answer_type": "SC"}, Fault.NO_OPTION),
    ({"reference": ""}, Fault.EMPTY),
    ({"reference": None}, Fault.EMPTY),
    *(({"reference": "12", "answer_type": name}, Fault.A_NUMBER)
      for name in ("EX", "EQ", "TUP", "SET", "IN")),
    ({"reference": "2x+1", "answer_type": "EQ"}, Fault.NO_EQUALS_SIGN),
    ({"reference": "![](https://x.org/a.png)", "answer_type": "OT"}, Fault.IMAGE),
    ({"reference": "<img src='a.jpg'>"}, Fault.IMAGE),
    ({"reference": "148", "solution": "The side is 12, so the area is 12*12 = 144."},
     Fault.SOLUTION),
    ({"reference": "7", "solution": "所以答案是 \\boxed{5}。"}, Fault.SOLUTION),
    ({"reference": "\\frac{1}{2"}, Fault.UNBALANCED),
    ({"reference": "$2(x+1$"}, Fault.UNBALANCED),
    ({"reference": "AC", "question": OPTIONS, "answer_type": "SC"}, Fault.SEVERAL_OPTIONS),
    ({"reference": "TODO"}, Fault.PLACEHOLDER),
    ({"reference": "see the solution"}, Fault.PLACEHOLDER),
    ({"reference": "略"}, Fault.PLACEHOLDER),
    ({"reference": "见解析"}, Fault.PLACEHOLDER),
    ({"reference": "(1) 10 m/s; (2) 100 J", "question": THREE}, Fault.PARTS),
    ({"reference": "10; 100", "question": THREE, "answer_type": "MPV"}, Fault.PARTS),
    ({"reference": "x=2=3"}, Fault.TWO_VALUES),
]  # fmt: skip


@pytest.mark.parametrize(("row", "fault"), FAULTY)
def test_each_fault(tmp_path: Path, row: dict[str, Any], fault: Fault) -> None:
    assert fault in [f for _, f, _ in found(tmp_path, {"question": "?", **row})]


def test_a_unit_inside_where_other_rows_have_it_apart(tmp_path: Path) -> None:
    """OlympicArena, B.1, rule 6: units are a field of their own there."""
    rows = [{"question": "v?", "reference": "5", "unit": "m/s"},
            {"question": "s?", "reference": "12 cm", "unit": ""}]  # fmt: skip
    assert found(tmp_path, *rows) == [(2, Fault.UNIT_INSIDE, "12 cm (cm)")]
    rows[1]["question"] = "s? Give the value and its unit."
    assert not found(tmp_path, *rows)


@pytest.mark.parametrize(
    "row",
    [
        {"reference": "42", "answer_type": "Numerical"},
        {"reference": "$\\frac{3}{4}$", "answer_type": "NV"},
        {"reference": "2x+1", "answer_type": "expression"},
        {"reference": "y=2x+1", "answer_type": "equation"},
        {"reference": "x=3"},
        {"reference": "5", "unit": "m/s", "solution": "It is 5 m/s."},
        {"reference": "12 cm", "solution": "so 12 cm"},
        {"reference": "[2, 5)", "answer_type": "interval"},
        {"reference": "(-\\infty, 3]", "answer_type": "interval"},
        {"reference": "]0, 1]", "answer_type": "interval"},
        {"reference": "(5, 2)", "answer_type": "tuple"},
        {"reference": "C", "question": OPTIONS, "answer_type": "SC"},
        {"reference": "AC", "question": OPTIONS, "answer_type": "MC"},
        {"reference": ["A", "B"], "question": OPTIONS},
        {"reference": "because warm air rises", "answer_type": "OT"},
        {"reference": "因为热空气上升"},
        {"reference": "\\{1, 2, 3\\}", "answer_type": "SET"},
        {"reference": "\\left[ 0, \\frac{1}{2} \\right)", "answer_type": "IN"},
        {"reference": "2H_2 + O_2 \\rightarrow 2H_2O", "answer_type": "EQ"},
        {"reference": "x^2 + y^2 = 4", "answer_type": "EQ"},
        {"reference": "n \\geq 3", "question": "For which n?"},
        {"reference": "1 + 2 = 3"},
        {"reference": "x = \\frac{1}{3} = 0.333"},
        {"reference": "概率", "question": "这种方法叫什么？"},
        {"reference": "(1) 10 m/s; (2) 100 J; (3) 20", "question": THREE},
        {"reference": "10; 100; 20", "question": THREE, "answer_type": "MPV"},
        {"reference": "no solution", "solution": "The discriminant is -3, so no solution exists."},
        {"reference": "True", "answer_type": "TF", "question": "Is 7 prime?"},
        {"reference": "144", "solution": "The side is 12, so the area is $12^2 = 144$."},
        {"reference": "7", "solution": "First 3+2 = 5. Then 5+2 = 7. So it is \\boxed{7}."},
        {"reference": "f(x) = \\sqrt{x} + C", "answer_type": "EQ"},
        {"reference": "print(2", "answer_type": "CODE"},
        {"reference": "小明说：“三点见。”"},
        {"reference": "1,024", "answer_type": "NV"},
        {"reference": "see-saw", "question": "What do children sit on?"},
        {"reference": "√2/2", "answer_type": "EX"},
        {"reference": "N/A", "context": "Code: N/A", "question": "Which code is entered?"},
    ],
)  # fmt: skip
def test_right_ones(tmp_path: Path, row: dict[str, Any]) -> None:
    assert not found(tmp_path, {"question": "?", **row})


def test_a_question_twice(tmp_path: Path) -> None:
    """Questions are compared by their words, and answers by their values."""
    rows = [
        {"question": "What is 1/2 of 1?", "reference": "1/2"},
        {"question": "what is 1/2 of 1 ?", "reference": "0.5"},
        {"question": "What is 1/2 of 1?", "reference": "2"},
        {"question": "Another?", "reference": "2"},
    ]
    assert found(tmp_path, *rows) == [
        (2, Fault.TWICE, "0.5 (line 1: 1/2)"), (3, Fault.ANOTHER_ANSWER, "2 (line 1: 1/2)"),
    ]  # fmt: skip


def test_a_context_is_part_of_the_question(tmp_path: Path) -> None:
    """The same question in another context is a different one; the context may list options."""
    asked = {"question": "Find v.", "answer_type": "number"}
    first, other = asked | {"reference": "5"}, asked | {"reference": "6", "context": "A train."}
    assert found(tmp_path, first | {"context": "A car."}, other) == []
    assert [fault for _, fault, _ in found(tmp_path, first, first | {"reference": "6"})] == [
        Fault.ANOTHER_ANSWER
    ]
    listed = {"question": "Which?", "context": "A. x\nB. y", "answer_type": "single_choice"}
    assert found(tmp_path, listed | {"reference": "B"}) == []
    assert [fault for _, fault, _ in found(tmp_path, listed | {"reference": "C"})] == [
        Fault.NO_SUCH_OPTION
    ]


def test_a_fraction_is_not_split_at_the_separator(tmp_path: Path) -> None:
    """Its sides are not two answers, so 8 is another answer than 7/8; of two words each is read."""
    path = tmp_path / "bank.jsonl"
    rows = [{"question": "a", "reference": "7/8"}, {"question": "a", "reference": "8"}]
    write_rows(path, [*rows, {"question": "b", "reference": "TBD/Paris"}])
    _, (other, placeholder) = check_file(path, Reading(separator="/"))
    assert other.fault == Fault.ANOTHER_ANSWER
    assert (placeholder.where, placeholder.detail) == (f"{path}:3", "TBD")


def test_other_columns_and_the_command(tmp_path: Path) -> None:
    """Every finding has its line; the exit code is 0 without findings, else 1."""
    path = tmp_path / "bank.jsonl"
    write_rows(path, [{"q": "a", "a": "[5,2]", "t": "interval", "id": "x"}, {"q": "b", "a": "3"}])
    with pytest.raises(
        InputError,
        match=r"no column is known as question or reference; name it:\n  --map question=COLUMN",
    ):
        check_file(path)
    words = [str(path), *(f"--map={m}" for m in ("question=q", "reference=a", "answer_type=t"))]
    ran = CliRunner().invoke(app, [*words, "-o", str(tmp_path / "found.jsonl")])
    assert ran.exit_code == 1
    assert "1 of 2 rows have a reference that cannot be right" in ran.output
    findings = [json.loads(line) for line in (tmp_path / "found.jsonl").read_text().splitlines()]
    assert (findings[0]["where"], findings[0]["id"]) == (f"{path}:1", "x")
    assert findings[0]["fault"] == Fault.ENDS_REVERSED.value
    write_rows(path, [{"q": "b", "a": "3", "t": "number"}])
    assert CliRunner().invoke(app, words).exit_code == 0
