"""Readings: the shipped ones, and what a row teaches beside one that agrees or disagrees."""

from __future__ import annotations

import re
from typing import Any

import pytest

from data_gen.candidates import labels_agree, rng_for
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
    rng = rng_for("x", 0)
    if label is None:
        made = unlabelled(item(response), "en", "s", rng, next(iter(known.values()), None))
    else:
        given = Example(**dict(item(response)), verdict=label, labelled_by=by)
        made = labelled(given, rng, known)
    assert (made.verdict, labels_agree(made.labels)) == (verdict, agree)
    assert (made.chain.key_sentence if made.chain else None) == quote


@pytest.mark.parametrize(
    ("response", "source", "why", "quotes"),
    [
        (OPEN, "qa", "it is named", {"osmosis"}),
        (OPEN, f"qa{CROSSED}", "", {"osmosis"}),
        ("It ends with 17.\nA: 17", "qa", "it is named", {"with 17", None}),
    ],
)
def test_a_reading_is_found_for_what_was_read(
    response: str, source: str, why: str, quotes: set[str | None]
) -> None:
    """Against another reference without its reason; of a response cut before it was read."""
    read = [reading(text, RIGHT) for text in (OPEN, "It ends with 17.")]
    given = Example(**dict(item(response)), verdict=RIGHT, labelled_by="key", source=source)
    made = [labelled(given, rng_for("x", n), {one.sha: one for one in read}) for n in range(9)]
    chains = [candidate.chain for candidate in made if candidate.chain]
    assert {chain.key_sentence for chain in chains} == quotes
    assert {chain.why for chain in chains if chain.quotes} == {why}
