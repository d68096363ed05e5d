"""Mappings in a configuration, and the selection of a table's questions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from data_gen.problems import Problem
from data_gen.sources import Questions, load_mapping, read_problems
from gradegpt.core.errors import InputError, MissingError, SettingsError
from gradegpt.core.settings import build_settings
from tests.data_gen.source_parts import PLAIN, Write, lines, problems

# --- mappings in a configuration ------------------------------------------------------------------


def one(write: Write, row: dict[str, Any], **mapping: Any) -> Problem:
    columns = {"question": "q", "reference": "a"} | mapping
    settings = {"path": write("one.jsonl", lines([row])), "mapping": columns}
    (problem,) = read_problems(build_settings(Questions, settings, "test.yaml"), Counter())
    return problem


def test_the_first_column_that_is_not_empty_is_used(write: Write) -> None:
    """Blank cells and missing columns count as empty."""
    row = {"q": "1+1=?", "final": " ", "meta": {"key": 2.0}}
    assert one(write, row, reference=["final", "gold", "meta.key"]).reference == "2"


def test_option_columns_are_listed_in_their_order(write: Write) -> None:
    """An empty option is left out."""
    row = {"q": "Pick the even one.", "a": "B", "A": "3", "B": "4", "C": ""}
    problem = one(write, row, options=["A", "B", "C"])
    assert problem.question == "Pick the even one.\nA. 3\nB. 4"
    assert problem.answer_type == "single_choice"


@pytest.mark.parametrize(
    ("error", "policy"),
    [("1e-3", "olympiadbench:1e-3"), (0.05, "olympiadbench:0.05"), (1e20, "olympiadbench:1e20")]
    + [(none, None) for none in (None, "", ",1e-5", "1e-1,2")],
)
def test_one_number_as_the_error_is_the_tolerance(
    error: Any, policy: str | None, write: Write
) -> None:
    """A list of errors for several answers is no tolerance policy of the row."""
    row = {"q": "Speed?", "a": "3.2", "e": error}
    assert one(write, row, error="e").tolerance == policy


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


# --- questions ------------------------------------------------------------------------------------


def test_a_long_reference_is_left_out_and_counted(write: Write) -> None:
    """It is a solution, for which there is no hard negative."""
    rows = [{"question": f"{n}+1=?", "answer": str(n + 1)} for n in range(40)]
    path = write("m.jsonl", lines([*rows, {"question": "Why?", "answer": "x" * 301}]))
    counts: Counter[str] = Counter()
    assert len(list(read_problems(Questions(path=path, mapping=PLAIN), counts))) == 40
    assert counts == {"read:m": 41, "skipped:m:long_reference": 1}


def test_a_table_that_the_mapping_does_not_fit_is_an_error(write: Write) -> None:
    """The error names the existing columns, and no empty result is returned."""
    path = write("m.jsonl", lines([{"problem": "1+1=?", "answer": "2"}]))
    with pytest.raises(InputError, match=r"no row has a question .* columns: problem, answer\."):
        problems(path)
