"""One call from Python: names of judges, rows of any table, and the event loop."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

import gradegpt
from gradegpt import call
from gradegpt.engines import ScriptedEngine
from gradegpt.errors import EngineError, InputError, SettingsError
from gradegpt.judges import Judge, ModelJudge, RuleJudge
from gradegpt.judges.build import JudgeSettings
from gradegpt.schema import Example, Item, Judgement, Outcome, Verdict

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
    """As the command line prints it."""
    judgement = gradegpt.judge(
        response="The answer is 4.", reference=["five", "4"], question="2+2=?", judge="rules"
    )
    assert str(judgement) == (
        "The model response gives its answer here: The answer is 4.\n"
        "The reference answer 4 is a number; the model response gives 4.\n"
        "The answers agree: <Yes>\n"
        "\n"
        "verdict     correct\n"
        "confidence  1.00\n"
        "method      rules\n"
        "reason      number:same-text\n"
        "tolerance   auto"
    )


def test_options_are_fields_of_the_item_or_settings_of_the_judge(
    built: list[JudgeSettings],
) -> None:
    """By their names; one that is neither is an error with a suggestion."""
    close = {"response": "3.2", "reference": "3.14", "tolerance": "relative:0.05"}
    assert gradegpt.judge(**close, judge="model", batch_size=8).verdict is Verdict.CORRECT
    assert (built[0].kind, built[0].batch_size) == ("model", 8)
    with pytest.raises(SettingsError, match="unknown setting 'modle'; did you mean 'model'"):
        gradegpt.judge("4", "4", modle="x")
    with pytest.raises(SettingsError, match=r"judge: kind: .*'rules'"):
        gradegpt.judge("4", "4", judge="rule")
    with pytest.raises(InputError, match="judge: reference: an accepted answer is empty"):
        gradegpt.judge("4", " ", judge="rules")


def test_a_judge_is_built_once_for_equal_settings(built: list[JudgeSettings]) -> None:
    """Whichever way they were given; another setting is another judge."""
    gradegpt.judge("4", "4")
    gradegpt.judge_many(ROWS, "cascade")
    gradegpt.judge_many(ROWS, JudgeSettings())
    assert [s.kind for s in built] == ["cascade"]
    gradegpt.judge("4", "4", min_confidence=0.5)
    assert len(built) == 2


def test_a_judge_of_the_callers_own_is_asked_itself() -> None:
    """With settings beside it there would be two opinions."""
    engine = ScriptedEngine(["<Yes>"])
    judged = gradegpt.judge_many(ROWS[:1], ModelJudge(engine))
    assert (judged[0].verdict, judged[0].method) == ("correct", "model")
    with pytest.raises(SettingsError, match="model: goes with a judge's name"):
        gradegpt.judge_many(ROWS, ModelJudge(engine), model="x")


def test_an_engine_that_does_not_answer_is_an_outcome() -> None:
    """Never a verdict, and no exception: the other rows are not lost."""
    engine = ScriptedEngine(["<Yes>", EngineError("busy")])
    judged = gradegpt.judge_many(ROWS, ModelJudge(engine))
    assert [j.outcome for j in judged] == [Outcome.JUDGED, Outcome.FAILED]


def test_rows_may_be_mappings_items_or_both() -> None:
    """In order, with an id each; an example's label reaches no judge."""
    example = Example(id="mine", reference=("4",), response="5", verdict=Verdict.CORRECT)
    judged = gradegpt.judge_many([*ROWS, example, Item(reference=("4",), response="4")], "rules")
    assert [j.id for j in judged] == ["1", "2", "mine", "4"]
    assert [j.verdict for j in judged] == ["correct", "incorrect", "incorrect", "correct"]
    assert gradegpt.judge_many([], "rules") == []
    assert len(gradegpt.judge_many(iter(ROWS), "rules")) == 2


def test_a_data_frame_is_rows_and_its_missing_cells_are_none() -> None:
    """Numbers are text; the columns have their usual names."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"gold": [4, 0.5], "output": ["It is 4.", "1/2"], "context": ["x", None], "label": [1, 0]}
    )
    judged = gradegpt.judge_many(frame, "rules")
    assert [j.verdict for j in judged] == ["correct", "correct"]


class Frame:
    """A data frame as polars has them."""

    def to_dicts(self) -> list[dict[str, Any]]:
        return ROWS


class DataSet:
    """What iterates as a ``datasets.Dataset`` does, and has its ``to_dict``."""

    def __iter__(self) -> Any:
        return iter(ROWS)

    def to_dict(self) -> dict[str, list[Any]]:
        raise AssertionError("by columns")


@pytest.mark.parametrize("rows", [Frame(), DataSet()], ids=["frame", "data-set"])
def test_tables_are_known_by_what_they_can_do(rows: Any) -> None:
    """Without importing their libraries."""
    assert [j.verdict for j in gradegpt.judge_many(rows, "rules")] == ["correct", "incorrect"]


@pytest.mark.parametrize("rows", [{"train": ROWS}, "in.jsonl", 7])
def test_what_is_no_rows_is_an_error(rows: Any) -> None:
    """Such as a data set with its splits, or a file's name."""
    with pytest.raises(InputError, match="give a list of rows, a data frame, or one split"):
        gradegpt.judge_many(rows, "rules")


def test_wrong_rows_are_told_together_and_nothing_is_judged(built: list[JudgeSettings]) -> None:
    """In Python's words: the option is ``columns``."""
    rows = [row | {"answr": 1} for row in ROWS]
    with pytest.raises(InputError) as caught:
        gradegpt.judge_many([*rows, {"reference": "4"}])
    lines = str(caught.value).split("\n  ")
    assert lines == [
        "rows: 3 complaints, nothing was judged",
        "rows: `answr`: unknown column in 2 rows; did you mean reference? use "
        "columns={'reference': 'answr'}, or ignore_extra=True to leave it out (first: row 1)",
        "row 3: response: field required",
    ]
    assert built == []
    with pytest.raises(InputError, match="row 1: a list; every row is a mapping or an Item"):
        gradegpt.judge_many([["4", "4"]], "rules")


def test_columns_are_set_where_they_are_not_clear() -> None:
    """The message says how."""
    rows = [{"reference": "4", "output": "4", "prediction": "5"}]
    with pytest.raises(InputError, match=r"use columns=\{'response': 'output'\} or columns="):
        gradegpt.judge_many(rows, "rules")
    chosen = {"response": "prediction"}
    judged = gradegpt.judge_many(rows, "rules", columns=chosen, ignore_extra=True)
    assert judged[0].verdict is Verdict.INCORRECT


def test_progress_is_told_after_every_few_rows(built: list[JudgeSettings]) -> None:
    told: list[tuple[int, int]] = []
    gradegpt.judge_many(ROWS * 3, "model", batch_size=2, on_progress=lambda *n: told.append(n))
    assert told == [(4, 6), (6, 6)]


class Slow:
    """A judge that blocks its thread, and notices when two threads ask it at a time."""

    name = fingerprint = "slow"

    def __init__(self) -> None:
        self.free = threading.Lock()

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        assert self.free.acquire(blocking=False), "asked by two threads at a time"
        time.sleep(0.05)
        self.free.release()
        return RuleJudge().judge(items)


def test_the_event_loop_goes_on_while_a_judge_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """A local model takes one batch at a time, however many calls wait."""
    monkeypatch.setattr(call, "build_judge", lambda _: Slow())
    call._kept.cache_clear()

    async def both() -> tuple[list[Any], int]:
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                await asyncio.sleep(0.005)
                beats += 1

        heart = asyncio.create_task(beat())
        one = gradegpt.ajudge("4", "4", "2+2=?", judge="model")
        done = await asyncio.gather(one, gradegpt.ajudge_many(ROWS, judge="model"))
        heart.cancel()
        return done, beats

    (one, many), beats = asyncio.run(both())
    call._kept.cache_clear()
    assert [j.verdict for j in (one, *many)] == ["correct", "correct", "incorrect"]
    assert beats >= 3


def test_a_call_imports_no_library_of_tables() -> None:
    """A frame is known by its methods."""
    assert "gradegpt.call" in sys.modules
    assert not {"pandas", "polars", "datasets"} & set(vars(call))
