"""One call from Python: names of judges, and rows of any table."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pandas as pd
import pytest

import gradegpt
from gradegpt import errors
from gradegpt.app import call
from gradegpt.core.errors import InputError, SettingsError
from gradegpt.core.schema import Example, Item, Judgement, Verdict
from gradegpt.engines.scripted import ScriptedEngine
from gradegpt.judges.base import Judge
from gradegpt.judges.model import ModelJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.settings import JudgeSettings

ROWS = [{"reference": "4", "response": "It is 4."}, {"reference": "4", "response": "It is 5."}]


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[JudgeSettings]:
    """The settings that judges were built from; each is a rule judge."""
    settings: list[JudgeSettings] = []

    def build(wanted: JudgeSettings) -> Judge:
        settings.append(wanted)
        return RuleJudge()

    monkeypatch.setattr(call, "build_judge", build)
    call._kept.cache_clear()
    return settings


def test_one_response_is_judged_and_prints_itself() -> None:
    """``str`` of a judgement is what the command line prints."""
    judgement = gradegpt.judge(
        response="The answer is 4.", reference=["five", "4"], question="2+2=?", judge="rules"
    )
    said = re.sub(r"0\.\d{3}\b", "0.9", str(judgement))  # whatever was measured
    assert said == (
        "The model response gives its answer here: The answer is 4.\n"
        "The reference answer 4 is a number; the model response gives 4.\n"
        "The answers agree: <Yes>\n"
        "\n"
        "verdict     correct\n"
        "confidence  0.9\n"
        "method      rules\n"
        "reason      number:same-text\n"
        "in words    Number: both answers read the same.\n"
        "tolerance   auto"
    )


def test_options_are_fields_of_the_item_or_settings_of_the_judge(
    built: list[JudgeSettings],
) -> None:
    """Options are assigned by name; an unknown one is an error with a suggestion."""
    close = {"response": "3.2", "reference": "3.14", "tolerance": "relative:0.05"}
    assert gradegpt.judge(**close, judge="model", batch_size=8).verdict is Verdict.CORRECT
    assert (built[0].kind, built[0].batch_size) == ("model", 8)
    with pytest.raises(SettingsError, match="unknown setting 'modle'; did you mean 'model'"):
        gradegpt.judge(response="4", reference="4", modle="x")
    with pytest.raises(SettingsError, match=r"judge: kind: .*'rules'"):
        gradegpt.judge(response="4", reference="4", judge="rule")
    with pytest.raises(InputError, match="judge: reference: an accepted answer is empty"):
        gradegpt.judge(response="4", reference=" ", judge="rules")


def test_a_judge_is_built_once_for_equal_settings(built: list[JudgeSettings]) -> None:
    """Also if they were given in another form; another setting is another judge."""
    gradegpt.judge(response="4", reference="4")
    gradegpt.judge_many(ROWS, "cascade")
    gradegpt.judge_many(ROWS, JudgeSettings.of())
    assert [s.kind for s in built] == ["cascade"]
    gradegpt.judge(response="4", reference="4", min_confidence=0.5)
    assert len(built) == 2


def test_a_judge_that_the_caller_built_is_used() -> None:
    """Settings in addition to it are an error."""
    engine = ScriptedEngine(["<Yes>"])
    judged = gradegpt.judge_many(ROWS[:1], ModelJudge(engine))
    assert (judged[0].verdict, judged[0].method) == ("correct", "model")
    with pytest.raises(SettingsError, match="model: allowed only where judge is a name"):
        gradegpt.judge_many(ROWS, ModelJudge(engine), model="x")


def test_rows_may_be_mappings_items_or_both() -> None:
    """The judgements are in order, each with an id; no judge sees an example's label."""
    example = Example(id="mine", reference=("4",), response="5", verdict=Verdict.CORRECT)
    judged = gradegpt.judge_many([*ROWS, example, Item(reference=("4",), response="4")], "rules")
    assert [j.id for j in judged] == ["1", "2", "mine", "4"]
    assert [j.verdict for j in judged] == ["correct", "incorrect", "incorrect", "correct"]
    assert gradegpt.judge_many([], "rules") == []
    assert len(gradegpt.judge_many(iter(ROWS), "rules")) == 2


def test_a_data_frame_is_rows_and_its_missing_cells_are_none() -> None:
    """Numbers are read as text; columns may have their usual names."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"gold": [4, 0.5], "output": ["It is 4.", "1/2"], "context": ["x", None], "label": [1, 0]}
    )
    judged = gradegpt.judge_many(frame, "rules")
    assert [j.verdict for j in judged] == ["correct", "correct"]


class Frame:
    """A data frame with polars' interface."""

    def to_dicts(self) -> list[dict[str, Any]]:
        return ROWS


class DataSet:
    """Iterates as a ``datasets.Dataset`` does, and has its ``to_dict``."""

    def __iter__(self) -> Any:
        return iter(ROWS)

    def to_dict(self) -> dict[str, list[Any]]:
        raise AssertionError("by columns")


@pytest.mark.parametrize("rows", [Frame(), DataSet()], ids=["frame", "data-set"])
def test_tables_are_recognised_by_their_methods(rows: Any) -> None:
    """Their libraries are not imported."""
    assert [j.verdict for j in gradegpt.judge_many(rows, "rules")] == ["correct", "incorrect"]


@pytest.mark.parametrize("rows", [{"train": ROWS}, "in.jsonl", 7])
def test_anything_but_rows_is_an_error(rows: Any) -> None:
    """Such as a data set with its splits, or the name of a file."""
    with pytest.raises(InputError, match="give a list of rows, a data frame, or one split"):
        gradegpt.judge_many(rows, "rules")


def test_all_wrong_rows_are_reported_and_nothing_is_judged(built: list[JudgeSettings]) -> None:
    """The message names options as in Python."""
    with pytest.raises(InputError) as caught:
        gradegpt.judge_many([*ROWS, {"answr": "4"}, {"response": "4", "points": "x"}])
    assert str(caught.value).split("\n  ")[-1] == (
        "row 4: points: expected a number; if it is something else, use columns={'points': ''} to "
        "leave it out\nskip_bad=True judges the other rows"
    )
    assert built == []
    with pytest.raises(InputError, match="row 1: list is not a row; give a mapping or an Item"):
        gradegpt.judge_many([["4", "4"]], "rules")


def test_a_row_that_cannot_be_judged_has_failed_and_a_blank_response_is_invalid() -> None:
    """With ``skip_bad`` judgements and rows stay side by side, as in a data frame."""
    frame = pd.DataFrame([*ROWS, {"reference": "4"}, {"response": "4"}])
    made = gradegpt.judge_many(frame, "rules", skip_bad=True)
    assert [j.verdict or j.outcome for j in made] == ["correct", "incorrect", "invalid", "failed"]
    assert [j.correct for j in made] == [True, False, False, None]
    assert (made[3].id, made[3].reason) == ("4", "row:reference: field required")
    with pytest.raises(errors.InputError, match=r"row 4: .*\nskip_bad=True judges"):
        gradegpt.judge_many(frame, "rules")
    made = gradegpt.judge_many([*ROWS, {"id": "a7", "reference": "4"}], "rules", skip_bad=True)
    assert made[-1].id == "a7"


@pytest.mark.parametrize(("reference", "response"), [(4, 4.0), (True, "TRUE"), ([1, 4], 4)])
def test_numbers_and_flags_are_read_as_text(reference: Any, response: Any) -> None:
    """As in a table."""
    assert gradegpt.judge(reference=reference, response=response, judge="rules").correct
    row = {"reference": reference, "response": response}
    assert gradegpt.judge_many([row], "rules")[0].correct


def test_ambiguous_columns_are_set_by_the_caller() -> None:
    """The message says how."""
    rows = [{"reference": "4", "output": "4", "prediction": "5"}]
    with pytest.raises(InputError, match=r"use columns=\{'response': 'output'\} or columns="):
        gradegpt.judge_many(rows, "rules")
    chosen = {"response": "prediction"}
    judged = gradegpt.judge_many(rows, "rules", columns=chosen)
    assert judged[0].verdict is Verdict.INCORRECT


def test_progress_is_reported_after_every_few_rows(built: list[JudgeSettings]) -> None:
    """With the numbers of rows judged and of all rows."""
    seen: list[tuple[int, int]] = []
    gradegpt.judge_many(ROWS * 3, "model", batch_size=2, on_progress=lambda *n: seen.append(n))
    assert seen == [(4, 6), (6, 6)]


class Slow:
    """A judge that blocks its thread, and fails if two threads call it at a time."""

    name = fingerprint = "slow"

    def __init__(self) -> None:
        self.free = threading.Lock()

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        assert self.free.acquire(blocking=False), "called by two threads at a time"
        time.sleep(0.05)
        self.free.release()
        return RuleJudge().judge(items)


def test_threads_share_a_model_one_batch_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call, "build_judge", lambda _: Slow())
    call._kept.cache_clear()
    with ThreadPoolExecutor(2) as threads:
        one = threads.submit(gradegpt.judge, response="4", reference="4", judge="model")
        many = threads.submit(gradegpt.judge_many, ROWS, "model")
        judged = [one.result(), *many.result()]
    call._kept.cache_clear()
    assert [j.verdict for j in judged] == ["correct", "correct", "incorrect"]


def test_all_public_names_are_listed() -> None:
    assert {*gradegpt.__all__} <= {*dir(gradegpt)}
