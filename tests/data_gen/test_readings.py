"""Readings: the shipped ones, and what a row teaches beside one that agrees or disagrees."""

from __future__ import annotations

import re
from typing import Any

import pytest

from data_gen.candidates import labels_agree
from data_gen.readings import SHIPPED, Reading, digest_of, read_readings
from data_gen.real import CROSSED, labelled, unlabelled
from gradegpt.core.schema import Example, Item, Verdict

RIGHT, WRONG, NOTHING = Verdict.CORRECT, Verdict.INCORRECT, Verdict.INVALID
OPEN, DECIDED = "Some would call it osmosis.", "The answer is osmosis."
"""Responses that the rules leave undecided, and that they accept."""


def item(response: str) -> Item:
    return Item(question="Which process is it?", reference=("osmosis",), response=response)


def reading(response: str, verdict: Verdict | None, **changes: Any) -> Reading:
    """A reading that quotes the last word of a response."""
    own = {"sha": digest_of(item(response)), "verdict": verdict, "why": "it is named"}
    last = {"spans": [[len(response) - 8, len(response) - 1]], "answer": "osmosis"}
    return Reading.model_validate(own | ({} if verdict is NOTHING else last) | changes)


def test_the_shipped_readings_are_whole_and_hold_no_text_of_a_set() -> None:
    """At most five places, which do not overlap; no field is as long as a response."""
    readings = read_readings()
    assert SHIPPED.stat().st_size < 2e6
    assert len(readings) > 5000
    for sha, one in readings.items():
        assert re.fullmatch("[0-9a-f]{16}", sha)
        ends = [place for span in sorted(one.spans) for place in span]
        assert len(one.spans) <= 5
        assert ends == sorted(ends), one
        assert all(start < end for start, end in one.spans)
        assert len(one.glosses) in (0, len(one.spans))
        assert max(map(len, (one.id, one.set, one.answer, one.why, *one.glosses))) <= 420


@pytest.mark.parametrize(
    ("label", "by", "response", "read", "verdict", "agree", "quote"),
    [
        (RIGHT, "two teachers", OPEN, RIGHT, RIGHT, True, "osmosis"),
        (RIGHT, "two teachers", OPEN, WRONG, RIGHT, False, "osmosis"),
        (RIGHT, "two teachers", OPEN, None, RIGHT, False, None),
        (WRONG, "key", OPEN, NOTHING, NOTHING, True, None),
        (RIGHT, "gpt-4", OPEN, RIGHT, RIGHT, True, "osmosis"),
        (RIGHT, "gpt-4", DECIDED, "-", RIGHT, True, DECIDED),
        (RIGHT, "gpt-4", OPEN, "-", None, True, None),
        (RIGHT, "two teachers", OPEN, "-", RIGHT, True, None),
        (None, "", OPEN, WRONG, WRONG, True, "osmosis"),
        (None, "", OPEN, None, None, False, None),
        (None, "", OPEN, "-", None, None, None),
        (None, "", DECIDED, "-", RIGHT, True, DECIDED),
    ],
)
def test_a_label_and_a_reading(
    label: Verdict | None, by: str, response: str, read: Any, verdict: Verdict | None,
    agree: bool | None, quote: str | None,
) -> None:  # fmt: skip
    """A label by one model counts only beside a reading or the rules; an unsure reader disputes."""
    known = {} if read == "-" else {digest_of(item(response)): reading(response, read)}
    if label is None:
        made = unlabelled(item(response), "en", "s", next(iter(known.values()), None))
    else:
        given = Example(**dict(item(response)), verdict=label, labelled_by=by)
        made = labelled(given, known)
    assert (made.verdict, labels_agree(made.labels)) == (verdict, agree)
    assert (made.chain.key_sentence if made.chain else None) == quote


@pytest.mark.parametrize(("source", "why"), [("qa", "it is named"), (f"qa{CROSSED}", "")])
def test_against_another_reference_a_reading_has_no_reason(source: str, why: str) -> None:
    """It may name the first one."""
    given = Example(**dict(item(OPEN)), verdict=RIGHT, labelled_by="key", source=source)
    made = labelled(given, {digest_of(given): reading(OPEN, RIGHT)}).chain
    assert made is not None
    assert (made.key_sentence, made.why) == ("osmosis", why)
