"""Columns by their usual names: recognised, ambiguous, unknown; values read from cells."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from gradegpt.core.complaints import Complaint, Complaints
from gradegpt.core.errors import ColumnsError, InputError, SettingsError
from gradegpt.core.schema import Item
from gradegpt.tables.columns import (
    ALIASES,
    FIELDS,
    LABELS,
    REQUIRED,
    looks_like_several,
    on_command_line,
    read_item,
    recognise,
    survey,
)
from gradegpt.tables.outputs import added_columns

ROW = {"reference": "4", "response": "It is 4."}


def item_of(row: dict[str, Any], **options: Any) -> Item:
    """The item of a valid row."""
    columns = recognise(survey([row]), name="t", **options)
    item, wrong = read_item(row, columns, 7)
    assert wrong == []
    assert item is not None
    return item


def complaints_of(row: dict[str, Any], **options: Any) -> list[Complaint]:
    columns = recognise(survey([row]), name="t", hint=on_command_line, **options)
    return read_item(row, columns, 1)[1]


@pytest.mark.parametrize(
    ("row", "description"),
    [
        (ROW, ""),
        ({"prompt": "q", "answer": "4", "completion": "4"},
         "question = prompt, reference = answer, response = completion"),
        ({"Problem": "q", "Gold Answer": "4", "model_output": "4"},
         "question = Problem, reference = Gold Answer, response = model_output"),
        ({"题号": 1, "题目": "q", "参考答案": "4", "模型回答": "4"},
         "question = 题目, reference = 参考答案, response = 模型回答"),
    ],
    ids=["exact", "prompt-completion", "case-and-blanks", "chinese"],
)  # fmt: skip
def test_columns_are_recognised_by_their_usual_names(row: dict[str, Any], description: str) -> None:
    """Case, blanks and underscores are ignored; exact names are not described."""
    assert recognise(survey([row]), name="t").description == description
    assert (item_of(row).reference, item_of(row).response) in [
        (("4",), "4"), (("4",), "It is 4."),
    ]  # fmt: skip


def test_no_usual_name_is_that_of_two_fields() -> None:
    """Nor of a field and a label; each is in its normalised form."""
    names = [name for aliases in ALIASES.values() for name in aliases] + list(LABELS)
    assert len(names) == len(set(names))
    assert all(name == name.casefold().replace("_", "") for name in names)
    assert not set(names) & set(FIELDS)


def test_a_field_may_be_mapped_to_no_column() -> None:
    """``--map tests=``: the column of that name is left out, and the description says so."""
    row = ROW | {"tests": "unit 3", "passage": "In 1816."}
    columns = recognise(survey([row]), {"tests": "", "context": ""}, name="t")
    assert columns.description == "context = (none), tests = (none)"
    assert read_item(row, columns, 7) == (item_of(ROW), [])
    (wrong,) = complaints_of(ROW, given={"response": ""})
    assert (wrong.field, wrong.what) == ("response", "field required")
    (wrong,) = complaints_of(ROW | {"": "4"}, given={"reference": ""})  # a column without a name
    assert (wrong.field, wrong.what) == ("reference", "field required")


@pytest.mark.parametrize(
    ("row", "column", "what"),
    [
        ({"tests": "assert f(1) == 2"}, "tests", 'expected the test cases of a program, [{"input"'),
        ({"tests": [{"in": "1"}, {"in": "2"}]}, "tests", "expected the test cases of a program"),
        ({"tags": "physics"}, "tags", "expected what the question is about, {"),
        ({"steps": 3}, "steps", "expected a list of texts"),
        ({"answer_type": "MCQ"}, "answer_type", "should be 'single_choice', "),
        ({"points": 0}, "points", "should be greater than 0"),
    ],
)
def test_an_invalid_optional_field_is_an_error_that_says_how_to_leave_it_out(
    row: dict[str, Any], column: str, what: str
) -> None:
    """There is one complaint per field, also if several of its parts are wrong."""
    (wrong,) = complaints_of(ROW | row)
    assert wrong.field == column
    assert wrong.what.startswith(what)
    assert wrong.advice == (f"; if it is something else, use --map {column}= to leave it out")
    assert item_of(ROW | row, given={column: ""}) == item_of(ROW)


def test_a_cell_may_be_an_array() -> None:
    """Such as a list in a data frame that was read from Parquet."""
    numpy = pytest.importorskip("numpy")
    row = {"gold": numpy.array(["4", "four"]), "response": "4", "points": numpy.float64("nan")}
    assert item_of(row).reference == ("4", "four")
    assert survey([{"a": numpy.array([])}, {"a": ""}, {"a": 0}])["a"][1:] == [0]


@pytest.mark.parametrize(
    ("row", "given", "labels"),
    [
        ({}, None, ()), ({"is_correct": 1}, None, ("is_correct",)),
        ({"verdict": 1, "correct": 1}, None, ("verdict",)),
        ({"is_correct": 1, "Correct": 1}, None, ("is_correct", "Correct")),
        ({"score": 1, "label": 1}, {"label": "score"}, ("score",)),
        ({"label": 1}, {"label": ""}, ()), ({"human_label": "x"}, None, ("human_label",)),
    ],
)  # fmt: skip
def test_the_columns_that_may_hold_the_label(
    row: dict[str, Any], given: dict[str, str] | None, labels: tuple[str, ...]
) -> None:
    """The one given, else the exact name, else every usual one; none of them is an error."""
    columns = recognise(survey([ROW | row]), given, name="t")
    assert columns.labels == labels
    assert read_item(ROW | row, columns, 7) == (item_of(ROW), [])


def test_an_exact_name_wins_over_a_usual_one_and_a_given_column_over_both() -> None:
    """The other column is not read, which is said with what would read it."""
    row = ROW | {"gold": "5"}
    assert item_of(row).reference == ("4",)
    columns = recognise(survey([row]), name="t", hint=on_command_line)
    assert columns.notes == ["'gold' is not read; to read it, use --map reference=gold"]
    assert item_of(row, given={"reference": "gold"}).reference == ("5",)
    unwanted = recognise(survey([ROW]), {"response": ""}, name="t", hint=on_command_line)
    assert unwanted.notes == ["columns: response = (none)"]


def test_a_column_may_be_a_path_into_nested_values() -> None:
    """With dots; a column whose own name has dots is found, and the outer column is read."""
    row = {"doc": {"gold": ["4", "four"], "q": "2+2=?"}, "choices": [{"text": "4"}], "n": 1}
    given = {"reference": "doc.gold", "question": "doc.q", "response": "choices.0.text"}
    columns = recognise(survey([row]), given | {"id": "n"}, name="t")
    item, wrong = read_item(row, columns, 7)
    assert (item, wrong) == (
        Item(id="1", question="2+2=?", reference=("4", "four"), response="4"), [],
    )  # fmt: skip
    assert columns.description == (
        "id = n, question = doc.q, reference = doc.gold, response = choices.0.text"
    )
    assert item_of(ROW | {"a.b": "5"}, given={"context": "a.b"}).context == "5"
    (wrong_,) = complaints_of(ROW | {"doc": {}}, given={"reference": "doc.gold"})
    assert (wrong_.field, wrong_.what) == ("doc.gold", "field required")


@pytest.mark.parametrize("times", [1, 2])
def test_what_judging_added_to_a_table_is_no_field_and_no_label(times: int) -> None:
    """A judged table is read as the table that was judged, though it has the columns once more."""
    row = dict.fromkeys(("答案", "作答", "标注"), "4")
    for _ in range(times):
        row |= dict.fromkeys(added_columns([*row]).values(), "correct")
    found = recognise(survey([row]), name="rows")
    assert found.fields == {"reference": "答案", "response": "作答"}
    assert (found.labels, len(found.notes)) == (("标注",), 1)
    own = {**dict.fromkeys(("answer", "verdict"), "4"), "response": "4"}
    own |= dict.fromkeys(added_columns([*own]).values(), "correct")
    found = recognise(survey([own]), name="rows")
    assert (found.fields["reference"], found.labels) == ("answer", ("verdict",))


@pytest.mark.parametrize(
    ("column", "meant"),
    [("refrence", "reference"), ("Reponse", "response"), ("tolerence", "tolerance"),
     ("prompt_id", ""), ("question_type", ""), ("response_time", ""), ("answer_key", ""),
     ("score", ""), ("level", ""), ("test", ""), ("学号", ""), ("姓名", ""), ("班级", "")],
)  # fmt: skip
def test_other_columns_pass_and_a_misspelt_one_is_said(column: str, meant: str) -> None:
    """A name with one more word is another thing: no suggestion is better than an absurd one."""
    columns = recognise(survey([ROW | {column: "x"}]), name="t", hint=on_command_line)
    said = f"{column!r} is not read; to read it, use --map {meant}={column}"
    assert columns.notes == ([said] if meant else [])
    assert item_of(ROW | {column: "x"}) == item_of(ROW)


@pytest.mark.parametrize(
    ("reference", "seems"),
    [("Batman/Superman", True), ("巴黎/Paris", True), ("dogs ; cats", True), ("北京；北平", True),
     ("km/h", False), ("a/b", False), ("x = input/output", False), ("yes", False),
     (r"\\frac{alpha}/beta", False)],
)  # fmt: skip
def test_a_reference_that_looks_like_several_answers_is_noticed(
    reference: str, seems: bool
) -> None:
    """It is judged as it is: what separates answers is said by the user."""
    assert looks_like_several(item_of(ROW | {"reference": reference})) is seems
    several = item_of(ROW | {"reference": reference}, separator="/").reference
    assert several == tuple(part.strip() for part in reference.split("/"))


@pytest.mark.parametrize("reference", ["7/8", "五十千米/小时", "3×10^8 m/s", "x/2"])
def test_a_reference_that_is_one_value_is_not_noticed(reference: str) -> None:
    """A fraction and a unit have the sign that is between answers."""
    assert not looks_like_several(item_of(ROW | {"reference": reference}))


def test_two_columns_for_one_field_are_an_error_that_shows_three_rows_of_each() -> None:
    """No column is guessed; empty cells are not shown."""
    rows = [
        {"reference": "4", "prediction": n, "output": f"It\x1b is\u3000{n}." if n else None}
        for n in range(6)
    ]
    with pytest.raises(InputError) as caught:
        recognise(survey(rows), name="in.csv", hint=on_command_line)
    assert str(caught.value) == (
        "in.csv: `response` may be any of prediction, output; "
        "use --map response=prediction or --map response=output\n"
        "  prediction: 0 | 1 | 2\n"
        "  output: 'It\\x1b is 1.' | 'It\\x1b is 2.' | 'It\\x1b is 3.'"
    )


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"refrence": "gold"}, "map refrence=gold: there is no field 'refrence'; did you mean "
         "'reference'?"),
        ({"answer": "gold"}, "map answer=gold: there is no field 'answer'; did you mean "
         "'reference'?"),
        ({"reference": "golt"}, "t: map reference=golt: there is no column 'golt'; did you mean "
         "'gold'?; the columns are: gold, response"),
    ],
)  # fmt: skip
def test_a_map_with_an_unknown_name_is_an_error(wanted: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        recognise(survey([{"gold": "4", "response": "4"}]), wanted, name="t")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("value", "text"),
    [(42, "42"), (0.5, "0.5"), (-3, "-3"), ("0.50", "0.50"), (10**30, "1" + "0" * 30)],
)
def test_numbers_are_taken_as_text(value: object, text: str) -> None:
    """In every field that holds text, and in a list."""
    item = item_of({"id": value, "question": value, "reference": value, "response": value})
    assert (item.id, item.question, item.reference, item.response) == (text, text, (text,), text)
    assert item_of(ROW | {"reference": [value, "four"]}).reference == (text, "four")


def test_a_missing_value_is_left_out() -> None:
    """None and NaN in any field; an empty cell where it is not a value. A response may be empty."""
    empty = {"context": None, "tolerance": "", "answer_type": "", "points": float("nan")}
    assert item_of(ROW | empty) == item_of(ROW)
    assert item_of(ROW | {"response": ""}).response == ""
    assert item_of(ROW).id == "7"


def test_a_cell_may_hold_a_list_as_json() -> None:
    """If the field is a list; a reference ``[1, 2]`` is kept as text."""
    assert item_of(ROW | {"steps": '["a", "b"]'}).steps == ("a", "b")
    assert item_of(ROW | {"meta": '{"n": 1}'}).meta == {"n": 1}
    assert item_of(ROW | {"reference": "[1, 2]"}).reference == ("[1, 2]",)


@pytest.mark.parametrize(
    ("cell", "what"),
    [(datetime.datetime(2026, 4, 3), "a date, not text"),  # noqa: DTZ001
     ("#N/A", "#N/A: a formula without a value"), ("#DIV/0!", "#DIV/0!: a formula")],
)  # fmt: skip
def test_what_a_spreadsheet_made_of_a_cell_is_not_an_answer(cell: Any, what: str) -> None:
    """It silently turns 3/4 into a date."""
    for column in ("gold", "response"):
        (wrong,) = complaints_of({"gold": "4", "response": "4", column: cell})
        assert wrong.field == column
        assert wrong.what.startswith(what)


SHEET = {"task": "2+2=?", "model_answer": "4", "student": "It is 4.", "grade": 1}


@pytest.mark.parametrize(
    ("given", "missing", "named"),
    [
        ({}, "reference",
         "question=COLUMN reference=COLUMN response=model_answer label=COLUMN"),
        ({"reference": "model_answer"}, "response", "question=COLUMN response=COLUMN label=COLUMN"),
        ({"reference": "model_answer", "question": "task", "label": "grade"}, "response",
         "response=student"),
        ({"reference": "model_answer", "response": ""}, "", ""),
    ],
    ids=["all", "two taken", "one left", "none wanted"],
)  # fmt: skip
def test_the_columns_to_name_are_said_at_once(
    given: dict[str, str], missing: str, named: str
) -> None:
    """Also those that may be left out, and never a column that is another field's."""
    surveyed = survey([SHEET])
    if not missing:
        recognise(surveyed, given, name="t", required=REQUIRED)
        return
    with pytest.raises(ColumnsError, match=f"no column is known as {missing}; name it") as caught:
        recognise(surveyed, given, name="t", hint=on_command_line, required=REQUIRED)
    assert caught.value.options == " ".join(f"--map {one}" for one in named.split())
    assert caught.value.options in str(caught.value)
    assert "student: 'It is 4.'" in str(caught.value)


def test_a_misspelt_column_is_proposed_and_ambiguous_ones_are_said_with_the_missing() -> None:
    """One message says all that is wrong with the columns."""
    seen = survey([{"reponse": "4", "gold": "4", "target": "5"}])
    with pytest.raises(ColumnsError) as caught:
        recognise(seen, name="t", hint=on_command_line, required=REQUIRED)
    assert "`reference` may be any of gold, target" in str(caught.value)
    assert "--map response=reponse" in caught.value.options
    assert on_command_line({"reference": "the key"}) == "--map 'reference=the key'"


def test_equal_complaints_are_listed_once_with_their_number() -> None:
    """A single one keeps its place; up to twenty kinds are listed below a line with their total."""
    found = Complaints("in.csv")
    for line in range(2, 2_002):
        found.add(f"in.csv:{line}", complaints_of(ROW | {"points": "x"}))
    assert found.listed().startswith("in.csv: `points`: expected a number in 2,000 rows; if it is")
    found.add("in.csv:9000", [Complaint("", "4 cells under 3 columns")])
    lines = found.listed().split("\n  ")
    assert lines[0] == "in.csv: 2,001 complaints, nothing was judged"
    assert lines[1].endswith("(first: in.csv:2)")
    assert lines[2] == "in.csv:9000: 4 cells under 3 columns"
    for n in range(21):
        found.add(f"t:{n}", [Complaint("f", f"complaint {n}")])
    lines = found.listed().split("\n  ")
    assert (len(lines), lines[-1]) == (22, "... and 3 more")
