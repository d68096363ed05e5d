"""Columns of other files become examples; a question is in the same split in every file."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from gradegpt.chains.chain import Chain, PromptSettings, build_prompt, render_chain
from gradegpt.core.errors import InputError, MissingError
from gradegpt.core.schema import (
    AnswerType,
    ChainFormat,
    Example,
    Item,
    Message,
    TrainingRow,
    Verdict,
)
from gradegpt.tables.importers.labelled import (
    Source,
    accepted,
    question_key,
    read_examples,
    read_items,
    split_of,
)

ROW = {
    "id": "r1", "question": "2+2=?", "reference": "4", "response": "It is 4.", "label": True,
    "lang": "en",
    "label_by": "human", "answer_type": "number", "model": "some-model",
}  # fmt: skip


@pytest.fixture
def source(tmp_path: Path) -> Any:
    """A source with these rows; options are the source's."""

    def make(*rows: Iterable[tuple[str, Any]] | dict[str, Any], **options: Any) -> Source:
        path = tmp_path / "graded.jsonl"
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
        return Source.model_validate({"path": str(path), **options})

    return make


def test_columns_are_mapped(source: Any) -> None:
    """By their usual names; other columns are ignored."""
    assert list(read_examples(source(ROW))) == [
        Example(
            id="r1", question="2+2=?", reference=("4",), response="It is 4.",
            answer_type=AnswerType.NUMBER,
            verdict=Verdict.CORRECT, labelled_by="human", lang="en", source="graded",
        )
    ]  # fmt: skip


def test_rows_set_aside_are_left_out(source: Any, tmp_path: Path) -> None:
    """By id, which may contain blanks; lines without a reason are comments."""
    aside = tmp_path / "aside.txt"
    aside.write_text("# id | why\nr 2 | the label contradicts the row\n")
    rows = [ROW, ROW | {"id": "r 2"}, ROW | {"id": "r3"}]
    kept = read_examples(source(*rows, set_aside=str(aside)))
    assert [e.id for e in kept] == ["r1", "r3"]
    with pytest.raises(MissingError, match=r"nowhere\.txt: set_aside: No such file"):
        list(read_examples(source(ROW, set_aside="nowhere.txt")))


def test_columns_of_any_name_are_mapped(source: Any) -> None:
    """An empty name means that the file has no such column."""
    row = {
        "prompt": "2+2=?",
        "gold": ["4", "four"],
        "completion": "5",
        "score": "incorrect",
        "n": 7,
    }
    fields = {
        "id": "n", "question": "prompt", "reference": "gold", "response": "completion",
        "verdict": "score", "lang": "",
        "labelled_by": "", "answer_type": "",
    }  # fmt: skip
    assert list(read_examples(source(row, fields=fields, name="other"))) == [
        Example(
            id="7", question="2+2=?", reference=("4", "four"), response="5",
            verdict=Verdict.INCORRECT, source="other"
        )
    ]  # fmt: skip


def test_rows_without_an_id_are_named_by_their_line(source: Any) -> None:
    """So every row can be found in its file."""
    rows = [ROW | {"id": None}, {k: v for k, v in ROW.items() if k != "id"}]
    assert [e.id for e in read_examples(source(*rows))] == ["graded.jsonl:1", "graded.jsonl:2"]


@pytest.mark.parametrize(
    ("label", "verdict"),
    [(True, "correct"), (False, "incorrect"), ("correct", "correct"), ("invalid", "invalid"),
     (1, "correct"), (0.0, "incorrect"), ("1.0", "correct"), ("C", "correct"), ("I", "incorrect"),
     ("Yes", "correct"), ("FALSE", "incorrect"), ("Incorrect", "incorrect"), ("错误", "incorrect")],
)  # fmt: skip
def test_labels(source: Any, label: object, verdict: str) -> None:
    """In their usual forms, in any case."""
    assert [e.verdict.value for e in read_examples(source(ROW | {"label": label}))] == [verdict]


@pytest.mark.parametrize("label", [2, "B", " ", "P", 0.5, [True], "correct?"])
def test_an_unknown_label_is_an_error(source: Any, label: object) -> None:
    """It is never guessed. The message shows the values of the column."""
    given_ = source(ROW, ROW | {"label": label}, ROW)
    with pytest.raises(InputError) as caught:
        list(read_examples(given_))
    assert f"graded.jsonl:2: label {label!r} is not a verdict; use true or false" in str(
        caught.value
    )
    assert str(caught.value).endswith(f"with their counts: True (2), {label!r} (1)")
    with pytest.raises(InputError, match=r"7 \(1\) and 12 other values"):
        list(read_examples(source(*(ROW | {"label": n} for n in range(20)))))


def test_a_row_of_this_projects_own_may_call_its_verdict_a_label(source: Any) -> None:
    """As in other files; a row without a label is left out."""
    own = {"reference": "4", "response": "5"}
    verdict = own | {"verdict": "correct"}
    rows = source(own | {"label": "I"}, own | {"label": None}, verdict, fields=None)
    assert [e.verdict.value for e in read_examples(rows)] == ["incorrect", "correct"]


def test_the_other_fields_of_an_item_are_read_where_they_are_named(source: Any) -> None:
    """Only by name, as such columns may hold anything in other files."""
    row = ROW | {"of": "sums", "eps": "exact", "topic": '{"subject": "physics"}', "points": 0}
    (example,) = read_examples(source(row))
    assert (example.source, example.tolerance, example.tags) == ("graded", None, {})
    named = {"source": "of", "tolerance": "eps", "tags": "topic"}
    (example,) = read_examples(source(row, fields=named))
    assert (example.source, example.tolerance) == ("sums", "exact")
    assert example.tags == {"subject": "physics"}
    (example,) = read_examples(source(row, fields=named, tolerance="relative:0.1"))
    assert example.tolerance == "relative:0.1"
    wrong = r':1: points: should .* greater than 0; if it .* use fields: \{"points": ""\} to leave'
    with pytest.raises(InputError, match=wrong):
        list(read_examples(source(row, fields={"points": "points"})))


def test_rows_without_label_or_response_are_left_out(source: Any) -> None:
    """As items they may still be read."""
    rows = source(ROW | {"label": None}, ROW | {"response": None}, ROW)
    assert len(list(read_examples(rows))) == 1
    assert [lang for _, lang in read_items(rows)] == ["en", "en"]


def test_the_error_of_a_missing_column_lists_the_columns(source: Any) -> None:
    """It also says where to map them."""
    rows = source({"question": "q", "answer": "4", "response": "4", "label": True})
    columns = "answer, label, question, response"
    message = f":1: there is no column 'reference'; the row has: {columns}; map columns"
    with pytest.raises(InputError, match=message):
        list(read_examples(rows))


def test_an_invalid_row_is_an_error(source: Any) -> None:
    """With file, line and field."""
    with pytest.raises(InputError, match=r":1: reference: an accepted answer is empty"):
        list(read_examples(source(ROW | {"reference": ""})))


@pytest.mark.parametrize(
    ("reference", "separator", "expected"),
    [("a / b", " / ", ("a", "b")), ("a//b/", "/", ("a", "b")), ("1/2", "", "1/2"),
     (["a/b"], "/", ["a/b"]), ("/", "/", "/"), ("$7/8$", "/", ("$7/8$",)),
     ("775/775 rooms", "/", ("775", "775 rooms")), ("3×10^8 m/s", "/", ("3×10^8 m/s",)),
     ("2020/5/12", "/", ("2020/5/12",)), ("(a+b)/c", "/", ("(a+b)/c",)),
     ("[1, 2)", ",", ("[1, 2)",)), ("7,8", ",", ("7", "8")), ("2/3 / 4/6", " / ", ("2/3", "4/6")),
     ("0.5/50%", "/", ("0.5", "50%")), ("1961/1962", "/", ("1961", "1962"))],
)  # fmt: skip
def test_accepted_answers_are_split_at_the_separator(
    reference: object, separator: str, expected: object
) -> None:
    """Without a separator nothing is split, nor what is one value; a list of numbers is none."""
    assert accepted(reference, separator) == expected


def test_foreign_answer_types_are_dropped(source: Any) -> None:
    """A wrong type would change verdicts."""
    rows = source(ROW | {"answer_type": "MCQ"}, ROW | {"answer_type": 3})
    assert [e.answer_type for e in read_examples(rows)] == [None, None]


def test_examples_in_the_projects_own_form_are_read_completely(source: Any) -> None:
    """``fields: null``: with tolerance and source; unknown columns are errors."""
    example = Example(
        reference=("3.14",), response="3.1", verdict=Verdict.CORRECT, tolerance="relative:0.05",
        source="mine"
    )  # fmt: skip
    row = example.model_dump(mode="json")
    unnamed = row | {"source": ""}
    assert list(read_examples(source(row, unnamed, fields=None))) == [
        example,
        example.model_copy(update={"source": "graded"}),
    ]
    with pytest.raises(InputError, match=":1: label: unknown field"):
        list(read_examples(source(row | {"label": True}, fields=None)))


# --- splits ---------------------------------------------------------------------------------------


def test_splits_are_disjoint_complete_and_of_the_right_size(source: Any) -> None:
    """75, 5 and 20 per cent, by the question alone."""
    rows = [ROW | {"id": str(n), "question": f"Question number {n}"} for n in range(1_000)]
    parts = {
        name: [e.id for e in read_examples(source(*rows, split=name))]
        for name in ("train", "dev", "test")
    }
    everything = itertools.chain.from_iterable(parts.values())
    assert sorted(everything, key=int) == [row["id"] for row in rows]
    assert [len(parts[name]) for name in ("train", "dev", "test")] == pytest.approx(
        [750, 50, 200], rel=0.3
    )


@pytest.mark.parametrize(
    ("question", "part"),
    [("2+2=?", "train"), ("Question 3", "dev"), ("下列说法正确的是（ ）", "test"), ("", "test")],
)  # fmt: skip
def test_the_split_of_a_question_never_changes(question: str, part: str) -> None:
    """A changed hash would move test questions into training data."""
    assert split_of(question) == part


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is 2 + 2?", "what is  2+2 ?"),
        ("下列说法正确的是（ ）", "下列说法正确的是(  )。"),
        ("Ａ、１＋１", "a 1 1"),
        ("x_1\n= 3", "x1=3"),
    ],
)
def test_another_spelling_is_the_same_question(one: str, other: str) -> None:
    """Case, blanks, punctuation and full width are ignored."""
    assert question_key(one) == question_key(other)
    assert split_of(one) == split_of(other)


def test_a_row_without_a_question_is_split_by_its_reference(source: Any) -> None:
    """The split is the same in every file."""
    rows = [ROW | {"question": "", "reference": f"answer {n}", "id": str(n)} for n in range(40)]
    for name in ("train", "test"):
        found = [e.id for e in read_examples(source(*rows, split=name))]
        assert found == [str(n) for n in range(40) if split_of(f"answer {n}") == name]


def test_a_field_that_does_not_exist_is_an_error_that_suggests_one() -> None:
    """A misspelt field would otherwise be read from its usual column."""
    with pytest.raises(ValueError, match="no field 'refrence'; did you mean 'reference'"):
        Source(path="graded.jsonl", fields={"refrence": "gold"})


def test_a_training_row_is_read_as_the_example_in_its_prompt(source: Any) -> None:
    """Question, references and response are those of the prompt; the pattern is the source."""
    item = Item(question="1+1?", reference=("2", "two"), response="It is <Yes> 2.")
    chain = Chain(verdict=Verdict.CORRECT, quotes=("It is 2.",), answer="2")
    row = TrainingRow(
        prompt=build_prompt(item, PromptSettings()),
        completion=(Message(role="assistant", content=render_chain(chain, ChainFormat.OUTCOME)),),
        meta={"id": "a", "verdict": "correct", "lang": "en", "pattern": "right_form"},
    ).model_dump(mode="json")
    (example,) = read_examples(source(row, fields=None))
    assert (example.question, example.reference) == ("1+1?", ("2", "two"))
    assert (example.verdict, example.source, example.lang) == (Verdict.CORRECT, "right_form", "en")
    assert example.response == "It is ‹Yes> 2."
    with pytest.raises(InputError, match=r"1: not a judge's training row"):
        list(read_examples(source(row | {"meta": {}}, fields=None)))
