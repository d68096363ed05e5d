"""ATLAS: several sub-questions, and explanations that must not end the fence."""

from __future__ import annotations

import json

import pytest

from gradegpt.core.schema import AnswerType, Judgement, Outcome, Verdict
from gradegpt.judges.base import Judge
from gradegpt.judges.profile import ProfileJudge
from gradegpt.judges.rules import RuleJudge
from serve.templates import TEMPLATES, Ask, find

ATLAS = next(t for t in TEMPLATES if t.name == "atlas")


def asked(reference: str, response: str = '{"answers": ["3", "-3"]}') -> Ask:
    return find(ATLAS.prompt("Two roots of x^2=9?", reference, response))


def labels(judge: Judge, reference: str, response: str) -> list[str]:
    """The labels that the caller reads."""
    ask = asked(reference, response)
    core = ask.reply(judge.judge([ask.item()])[0]).core
    entries = json.loads(core.removeprefix("```json\n").removesuffix("\n```"))["judgements"]
    return [entry["label"] for entry in entries]


@pytest.mark.parametrize("reference", ['["3", "-3"]', "['3', '-3']", "[3, -3]"])
def test_a_list_holds_the_answer_of_each_sub_question(reference: str) -> None:
    """Lists of JSON and of Python are read; numbers are compared by the benchmark's own policy."""
    item = asked(reference).item()
    assert item.reference == ("(1) 3; (2) -3",)
    assert item.answer_type is AnswerType.MULTI_PART
    assert item.tolerance == "atlas"


@pytest.mark.parametrize(
    "response", ['["4", "9"]', "['4', '9']", '```json\n{"answers": ["4", "9"]}\n```']
)
def test_each_sub_answer_is_judged_in_its_place(response: str) -> None:
    """A judge with the profile gives a label for each, any other judge one for the whole."""
    assert labels(RuleJudge(), '["9", "4"]', response) == ["B"]
    assert labels(ProfileJudge("atlas"), '["9", "4"]', response) == ["B", "B"]
    assert labels(RuleJudge(), '["4", "9"]', response) == ["A"]
    assert labels(ProfileJudge("atlas"), '["4", "9"]', response) == ["A", "A"]
    assert labels(ProfileJudge("atlas"), '["4", "8"]', response) == ["A", "B"]


def test_option_letters_are_judged_in_their_places_too() -> None:
    """As a set of letters A, C would equal C, A."""
    assert labels(RuleJudge(), '["C", "A"]', '{"answers": ["A", "C"]}') == ["B"]
    assert labels(ProfileJudge("atlas"), '["A", "C"]', '{"answers": ["C", "A"]}') == ["B", "B"]
    assert labels(ProfileJudge("atlas"), '["A", "C"]', '{"answers": ["A", "C"]}') == ["A", "A"]


@pytest.mark.parametrize("reference", ["[0, 1)", "[]", "[''", "4", "[" * 5000])
def test_what_is_no_list_of_answers_is_one_answer(reference: str) -> None:
    """An interval, an empty list, a malformed one, and one nested too deeply."""
    item = asked(reference).item()
    assert item.reference == (reference,)
    assert item.answer_type is None


def test_the_reply_is_one_entry_with_the_verdict_on_the_whole() -> None:
    """LaTeX and quotes are escaped, and the caller's JSON parser restores them."""
    chain = 'The model response gives its answer here: \\frac{1}{2} "so"\nThe answers agree: <Yes>'
    judged = Judgement(
        id="", outcome=Outcome.JUDGED, verdict=Verdict.CORRECT, method="model", chain=chain
    )
    whole = asked("4").reply(judged).whole
    assert whole is not None
    (entry,) = json.loads(whole.removeprefix("```json\n").removesuffix("\n```"))["judgements"]
    assert entry["label"] == "A"
    assert '\\frac{1}{2} "so"' in entry["explanation"]


@pytest.mark.parametrize("breaks", ["```", "</think>"])
def test_an_explanation_that_breaks_out_is_left_out(breaks: str) -> None:
    """A response may contain a fence."""
    chain = f"The model response gives its answer here: {breaks} B\nThe answers agree: <No>"
    judged = Judgement(
        id="", outcome=Outcome.JUDGED, verdict=Verdict.INCORRECT, method="model", chain=chain
    )
    reply = asked("4").reply(judged)
    assert reply.whole is None
    assert breaks not in reply.core.removeprefix("```json").removesuffix("```")
