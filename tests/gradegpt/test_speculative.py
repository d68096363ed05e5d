"""Speculative drafts predict the predictable text of correct chains, and never raise."""

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
def test_predictable_text(written: str, draft: str) -> None:
    """Drafts have fixed words, the rest of a sentence, the reference, and the matching tag."""
    assert ChainDraft(RESPONSE, ["38"], glosses=True).after(written) == draft


def test_only_prompts_that_ask_for_a_chain_have_drafts() -> None:
    """Prompts for a tag alone and other conversations have none; a gloss only if asked for."""
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
def test_a_draft_continues_a_chain_at_any_position(
    response: str, reference: str, data: st.DataObject
) -> None:
    """No position raises an error, for any texts, and the length of a draft is bounded."""
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
