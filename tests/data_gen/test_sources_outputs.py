"""Outputs of models, joined to their own questions, with every skipped one counted."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from data_gen.sources import Outputs, read_outputs
from gradegpt.errors import InputError, SettingsError
from gradegpt.schema import Example, Item, Verdict
from gradegpt.settings import build_settings
from tests.data_gen.source_parts import SHAPE, Write, lines


def outputs(write: Write, rows: list[dict[str, Any]], **more: Any) -> Outputs:
    questions = {"path": SHAPE["tal_scq"], "mapping": "tal_scq"}
    paths = [write("model-x.jsonl", lines(rows))]
    settings = {"paths": paths, "questions": questions, "response": "text"} | more
    return build_settings(Outputs, settings, "gen.yaml")


def read(settings: Outputs) -> tuple[list[tuple[Item, str]], Counter[str]]:
    counts: Counter[str] = Counter()
    return list(read_outputs(settings, counts)), counts


def test_outputs_are_joined_by_id_or_by_the_question(write: Write) -> None:
    """The text may be with or without options; the item has the question and the response."""
    rows = [
        {"key": "q001", "text": "The answer is B."},
        {"prompt": "小明有8个球 丢了3个 还剩多少个", "text": "选A"},
        {"prompt": "Which number is even?\nA. 3\nB. 7\nC. 10", "text": ""},
    ]
    found, counts = read(outputs(write, rows, id="key", question="prompt"))
    assert [(i.id, i.response, i.reference, lang) for i, lang in found] == [
        ("tal_scq-q001:model-x:0", "The answer is B.", ("B",), "en"),
        ("tal_scq-q002:model-x:0", "选A", ("A",), "zh"),
        ("tal_scq-q003:model-x:0", "", ("C",), "en"),
    ]
    assert found[0][0].question.endswith("C. $$43$$")
    assert counts == {"read:tal_scq": 3}


def test_several_models_and_samples_answer_a_question(write: Write) -> None:
    """A list holds samples, an object one response a model, and dots reach into both."""
    rows: list[dict[str, Any]] = [
        {"key": "q001", "by": "m1", "text": ["B", None, "C"]},
        {"key": "q001", "by": "m1", "text": {"m2": "A", "m3": ["B"]}},
        {"key": "q001", "by": "m4", "choices": [{"message": {"content": "B"}}]},
    ]
    settings = outputs(
        write, rows, id="key", model="by", response=["text", "choices.message.content"]
    )
    found, counts = read(settings)
    assert [(i.id.partition(":")[2], i.response, i.meta["model"]) for i, _ in found] == [
        ("m1:0", "B", "m1"),
        ("m1:2", "C", "m1"),
        ("m2:0", "A", "m2"),
        ("m3:0", "B", "m3"),
        ("m4:0", "B", "m4"),
    ]
    assert counts == {"read:tal_scq": 6, "skipped:tal_scq:no_response": 1}


@pytest.mark.parametrize(
    ("label", "verdict"),
    [(True, "correct"), (0, "incorrect"), ("False", "incorrect"), ("invalid", "invalid")],
)
def test_labelled_outputs_are_examples(label: Any, verdict: str, write: Write) -> None:
    """They have verdict, language, source and labeller; an output without a label is an item."""
    rows = [{"key": "q002", "text": "A", "ok": label}, {"key": "q002", "text": "A", "ok": None}]
    settings = outputs(write, rows, id="key", label="ok", labelled_by="human", name="runs")
    ((example, _), (item, _)), _ = read(settings)
    assert isinstance(example, Example)
    assert (example.verdict, example.lang, example.source, example.labelled_by) == (
        Verdict(verdict),
        "zh",
        "runs",
        "human",
    )
    assert type(item) is Item


def test_a_list_of_labels_belongs_to_the_samples(write: Write) -> None:
    """Each label belongs to the sample at the same position."""
    rows = [{"key": "q001", "text": ["B", "C"], "ok": [True, False]}]
    found, _ = read(outputs(write, rows, id="key", label="ok"))
    assert [i.verdict for i, _ in found if isinstance(i, Example)] == ["correct", "incorrect"]


def test_outputs_without_a_question_are_counted_with_the_reason(write: Write) -> None:
    """The reason is an unknown id, or why the question was left out."""
    rows = [{"key": key, "text": "x"} for key in ("q001", "q001", "q999")]
    _, counts = read(outputs(write, rows, id="key"))
    assert counts == {"read:tal_scq": 3, "skipped:tal_scq:unknown_question": 1}
    asked = {"path": SHAPE["tal_scq"], "mapping": "tal_scq", "only": {"qid": "2"}}
    found, counts = read(outputs(write, rows, id="key", questions=asked))
    assert not found
    assert counts["skipped:tal_scq:not_asked_for"] == 2


def test_a_question_that_two_problems_share_joins_neither(write: Write) -> None:
    """A response to "which is right?" is not graded with the options of another question."""
    shared = [{"q": "Which is right?", "o": [a, "none"], "a": "A"} for a in ("1+1=2", "2+2=4")]
    columns = {"question": "q", "reference": "a", "options": "o"}
    asked = {"path": write("two.jsonl", lines(shared)), "mapping": columns}
    rows = [
        {"prompt": text, "text": "A"}
        for text in ("Which is right?", "Which is right? A. 2+2=4 B. none")
    ]
    found, counts = read(outputs(write, rows, question="prompt", questions=asked))
    assert [i.question.splitlines()[1] for i, _ in found] == ["A. 2+2=4"]
    assert counts["skipped:two:ambiguous_question"] == 1


@pytest.mark.parametrize(
    ("rows", "more", "complaint"),
    [
        ([{"key": "1", "text": "B"}], {}, r"no response matches .*model-x\.jsonl:1: '1'"),
        ([{"key": "q001"}], {}, r"model-x\.jsonl:1: no column .*'response'"),
        (
            [{"key": "q001", "text": "B", "ok": "maybe"}],
            {"label": "ok"},
            "'maybe' is not a verdict",
        ),
    ],
)
def test_unreadable_outputs_are_errors_with_the_reason(
    rows: list[dict[str, Any]], more: dict[str, Any], complaint: str, write: Write
) -> None:
    """A join by the wrong column, where no response matches, is an error and no empty file."""
    with pytest.raises(InputError, match=complaint):
        read(outputs(write, rows, id="key", **more))


def test_outputs_must_name_a_column_to_join_by(write: Write) -> None:
    """Settings without id and question are an error."""
    with pytest.raises(SettingsError, match="name the column of the question's 'id'"):
        outputs(write, [])
