"""ATLAS: several sub-questions, and explanations that must not end the fence."""

from __future__ import annotations

import json

import pytest

from gradegpt.schema import Judgement, Outcome, Verdict
from serve.adapters import ADAPTERS, Ask, find

ATLAS = next(adapter for adapter in ADAPTERS if adapter.name == "atlas")


def asked(reference: str) -> Ask:
    return find(ATLAS.prompt("Two roots of x^2=9?", reference, '{"answers": ["3", "-3"]}'))


@pytest.mark.parametrize("reference", ['["3", "-3"]', "['3', '-3']"])
def test_a_list_of_answers_is_needed_as_a_whole(reference: str) -> None:
    """However the caller writes the list; numbers are compared by the benchmark's own policy."""
    item = asked(reference).item()
    assert item.reference == ("3", "-3")
    assert item.needs == "all"
    assert item.tolerance == "atlas"


@pytest.mark.parametrize("reference", ["[0, 1)", "[]", "[''", "4", "[" * 5000])
def test_what_is_no_list_of_answers_is_one_answer(reference: str) -> None:
    """An interval, an empty list, a broken one, one too deep to read."""
    item = asked(reference).item()
    assert item.reference == (reference,)
    assert item.needs is None


def test_the_reply_is_one_entry_with_the_verdict_on_the_whole() -> None:
    """Latex and quotes are escaped; the caller's own reader of JSON gets them back."""
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
    """A response may quote a fence of its own."""
    chain = f"The model response gives its answer here: {breaks} B\nThe answers agree: <No>"
    judged = Judgement(
        id="", outcome=Outcome.JUDGED, verdict=Verdict.INCORRECT, method="model", chain=chain
    )
    reply = asked("4").reply(judged)
    assert reply.whole is None
    assert breaks not in reply.core.removeprefix("```json").removesuffix("```")
