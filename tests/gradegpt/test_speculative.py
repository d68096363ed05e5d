"""Guesses of a chain: what is foreseeable of a true one is foreseen, and nothing raises."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradegpt.chain import Chain, PromptSettings, build_prompt, render_chain
from gradegpt.schema import AnswerType, ChainFormat, Item, Message, Verdict
from gradegpt.speculative import ChainDraft, draft_for

RESPONSE = "先算一算。\n所以，答案是 38 厘米。多谢\nIt is 38.5 cm. Yes"
KEY = "The model response gives its answer here: "
START = "The reference answer 38 is a"
COMPARED = "The reference answer 38 is a number; the model response gives "


@pytest.mark.parametrize(
    ("written", "draft"),
    [
        ("", KEY),
        ("The model", KEY.removeprefix("The model")),
        ("The model response gives no answer that can", f" be graded.\n{START}"),
        (f"{KEY}所以", "，答案是 38 厘米。\nIn English: "),
        (f"{KEY}It is", " 38.5 cm.\nThe reference answer 38 is a"),
        (f"{KEY}因此", ""),
        (f"{KEY}所以，答案是 38 厘米。\n", "In English: "),
        (f"{KEY}所以，答案是 38 厘米。\nIn English: So", ""),
        (f"{KEY}所以，答案是 38 厘米。\nIn English: So it is 38 cm.\n", START),
        (f"{KEY}It is 38.5 cm.\nThe reference", " answer 38 is a"),
        (f"{KEY}It is 38.5 cm.\nThe reference answer 38 is a nu", "mber; the model response gives "
         "38.\nThe answers agree: <Yes>"),
        (f"{KEY}It is 39 cm.\n{COMPARED}", ""),
        (f"{KEY}It is 39 cm.\n{COMPARED}39", " cm.\nThe answers agree: <No>"),
        (f"{KEY}It is 38 cm.\n{COMPARED}", "38.\nThe answers agree: <Yes>"),
        (f"{KEY}It is 39 cm.\n{COMPARED}39 cm.\n", "The answers agree: <No>"),
        (f"{KEY}It is 38 cm.\n{COMPARED}38.\nThe answers agree: ", "<Yes>"),
        ("Once upon a time", ""),
    ],
)  # fmt: skip
def test_what_is_foreseeable(written: str, draft: str) -> None:
    """Fixed words, the rest of a sentence, the reference answer; the tag by whether they agree."""
    assert ChainDraft(RESPONSE, ["38"], glosses=True).after(written) == draft


def test_only_what_asks_for_a_chain_is_guessed() -> None:
    """Not the tag alone, not other talk; a gloss only where one is asked for."""
    item = Item(reference=("38",), response=RESPONSE)

    def draft(chain_format: ChainFormat) -> ChainDraft | None:
        return draft_for(build_prompt(item, PromptSettings(chain_format=chain_format)))

    assert draft(ChainFormat.OUTCOME) is None
    assert draft_for([Message(role="user", content="Hello")]) is None
    for chain_format, line in (
        (ChainFormat.CROSS_LINGUAL, "In English: "),
        (ChainFormat.JUDGE_OF_CHAIN, "The reference answer 38 is a"),
    ):
        found = draft(chain_format)
        assert found is not None
        assert found.after(f"{KEY}所以，答案是 38 厘米。\n") == line


@given(st.text(max_size=60), st.text(min_size=1, max_size=20), st.data())
@settings(deadline=None)
def test_a_guess_goes_on_a_chain_wherever_it_is_asked(
    response: str, reference: str, data: st.DataObject
) -> None:
    """At every place of a chain, whatever the texts; it never comes without an end."""
    chain = Chain(
        verdict=data.draw(st.sampled_from(Verdict)),
        key_sentence=response.split("\n")[0].strip() or None,
        gloss="So it is.",
        reference_answer=reference,
        answer_type=data.draw(st.sampled_from(AnswerType)),
        answer=response.strip() or None,
    )
    draft = ChainDraft(response, [reference], glosses=data.draw(st.booleans()))
    text = render_chain(chain, ChainFormat.CROSS_LINGUAL)
    longest = len(response) + len(reference) + 200
    assert all(len(draft.after(text[:end])) <= longest for end in range(len(text) + 1))
