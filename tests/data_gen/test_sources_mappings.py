"""Mappings in a configuration, and the selection of a table's questions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from data_gen.problems import Problem
from data_gen.sources import Questions, load_mapping, read_problems
from gradegpt.errors import InputError, MissingError, SettingsError
from gradegpt.importers.labelled import split_of
from gradegpt.settings import build_settings
from tests.data_gen.source_parts import PLAIN, Write, lines, problems

# --- mappings in a configuration ------------------------------------------------------------------


def one(write: Write, row: dict[str, Any], **mapping: Any) -> Problem:
    columns = {"question": "q", "reference": "a"} | mapping
    settings = {"path": write("one.jsonl", lines([row])), "mapping": columns}
    (problem,) = read_problems(build_settings(Questions, settings, "test.yaml"), Counter())
    return problem


def test_alternatives_are_accepted_each(write: Write) -> None:
    """The first alternative is the reference; the others are accepted, each once."""
    row = {"q": "Half of one?", "a": ["1/2", "0.5", "1/2"]}
    problem = one(write, row, several="alternatives")
    assert (problem.reference, problem.accepted) == ("1/2", ("0.5",))


def test_the_first_column_that_is_not_empty_is_used(write: Write) -> None:
    """Blank cells and missing columns count as empty."""
    row = {"q": "1+1=?", "final": " ", "meta": {"key": 2.0}}
    assert one(write, row, reference=["final", "gold", "meta.key"]).reference == "2"


def test_option_columns_are_listed_in_their_order(write: Write) -> None:
    """An empty option is left out."""
    row = {"q": "Pick the even one.", "a": "B", "A": "3", "B": "4", "C": ""}
    problem = one(write, row, option_columns=["A", "B", "C"])
    assert problem.question == "Pick the even one.\nA. 3\nB. 4"
    assert problem.answer_type == "single_choice"


@pytest.mark.parametrize(
    ("error", "policy"),
    [("1e-3", "olympiadbench:1e-3"), (0.05, "olympiadbench:0.05"), (1e20, "olympiadbench:1e20")]
    + [(none, "relative:0.01") for none in (None, "", ",1e-5", "1e-1,2")],
)
def test_a_row_without_one_error_gets_the_tolerance_of_the_mapping(
    error: Any, policy: str, write: Write
) -> None:
    """A list of errors for several answers is no tolerance policy of the row."""
    row = {"q": "Speed?", "a": "3.2", "e": error}
    assert one(write, row, error="e", tolerance="relative:0.01").tolerance == policy


@pytest.mark.parametrize(
    ("lang", "row", "expected"),
    [
        ("zh", {}, "zh"),
        ("detect", {"q": "Which of 甲 and 乙 is taller?"}, "zh"),
        ("detect", {}, "en"),
        ("l", {"l": "Chinese"}, "zh"),
        ("l", {"l": "EN"}, "en"),
        ("l", {"l": None}, "en"),
    ],
)
def test_the_language_is_fixed_stated_or_detected_by_the_script(
    lang: str, row: dict[str, Any], expected: str, write: Write
) -> None:
    """Without a stated language, Han characters in the question decide."""
    assert one(write, {"q": "1+1=?", "a": "2"} | row, lang=lang).lang == expected


def test_an_answer_type_that_the_mapping_does_not_know_is_an_error(write: Write) -> None:
    """The type is not guessed; the message names the row, the type and the setting."""
    row = {"q": "1+1=?", "a": "2", "t": "Numbr"}
    with pytest.raises(InputError, match=r"one\.jsonl:1: answer type 'Numbr' .*'answer_types'"):
        one(write, row, answer_type="t", answer_types={"Numerical": "number"})
    assert one(write, row, answer_type="t", answer_types={"*": "infer"}).answer_type == "number"


def test_a_mapping_is_a_name_a_file_or_columns(write: Write) -> None:
    """The error for a wrong name or column suggests the right ones."""
    path = write("own.yaml", "question: q\nreference: [a, b]\n")
    assert load_mapping(path).reference == ("a", "b")
    with pytest.raises(MissingError, match="did you mean 'olympiadbench'"):
        load_mapping("olympiad_bench")
    with pytest.raises(SettingsError, match=r"unknown setting '.*questoin'; did you mean 'quest"):
        build_settings(Questions, {"path": "a", "mapping": {"questoin": "q"}}, "gen.yaml")


def test_one_text_of_several_answers_takes_no_unit(write: Write) -> None:
    """A unit after the last answer would apply to that answer alone."""
    row = {"q": "Both lengths?", "a": "3, 4", "u": "m", "many": True}
    assert one(write, row, unit="u", multiple="many").reference == "3, 4"
    assert one(write, row, unit="u").reference == "3, 4 m"


# --- questions ------------------------------------------------------------------------------------


def many(count: int) -> list[dict[str, Any]]:
    return [{"question": f"{n}+1=?", "answer": str(n + 1), "of": n % 2} for n in range(count)]


def test_split_limit_length_and_only_select_rows(write: Write) -> None:
    """Skipped rows are counted, and the split is the one that all files share."""
    path = write("m.jsonl", lines([*many(40), {"question": "Why?", "answer": "x" * 301, "of": 0}]))
    counts: Counter[str] = Counter()
    asked = Questions(path=path, mapping=PLAIN, split="test", only={"of": ("0",)})
    read = list(read_problems(asked, counts))
    assert read
    assert all(split_of(p.question) == "test" for p in read)
    assert counts["skipped:m:not_asked_for"] == 20
    assert counts["skipped:m:long_reference"] == 1
    assert counts.pop("read:m") == 41
    assert len(read) + counts.total() == 41
    assert len(problems(path, limit=3)) == 3


def test_a_table_that_the_mapping_does_not_fit_is_an_error(write: Write) -> None:
    """The error names the existing columns, and no empty result is returned."""
    path = write("m.jsonl", lines([{"problem": "1+1=?", "answer": "2"}]))
    with pytest.raises(InputError, match=r"no row has a question .* columns: problem, answer\."):
        problems(path)
