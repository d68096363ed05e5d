"""The expression for a chain: it has the chains of a prompt, and no quote that is not there."""

from __future__ import annotations

import re

import pytest

from gradegpt.chain import (
    AGREE,
    KEY,
    NO,
    NO_KEY,
    YES,
    Chain,
    PromptSettings,
    build_prompt,
    render_chain,
)
from gradegpt.constrained import constraint_for
from gradegpt.schema import AnswerType, ChainFormat, Item, Message, Verdict
from gradegpt.structured import chain_regex

ITEM = Item(
    question="A rectangle is 12 by 7. Its perimeter?",
    reference=["38", "A"],
    response="先算一算 (a+b)*2：19×2=38。\n所以，答案是 38 厘米。\n(1) A\n(2) [x^2|y]? No.",
)


def regex(item: Item = ITEM, chain_format: ChainFormat = ChainFormat.CROSS_LINGUAL) -> str:
    found = chain_regex(build_prompt(item, PromptSettings(chain_format=chain_format)))
    assert found is not None
    return found


def chain(key: str, gloss: str = "The answer is 38 cm.", answer: str = "38 厘米") -> Chain:
    return Chain(
        verdict=Verdict.CORRECT, key_sentence=key, gloss=gloss, reference_answer="38",
        answer_type=AnswerType.NUMBER, answer=answer,
    )  # fmt: skip


@pytest.mark.parametrize("chain_format", ChainFormat)
@pytest.mark.parametrize(
    "key", ["所以，答案是 38 厘米。", "答案是 38 厘米", "(1) A (2) [x^2|y]? No."]
)
def test_it_has_the_chains_that_a_judge_is_trained_to_write(
    chain_format: ChainFormat, key: str
) -> None:
    """In every format, with a quote of a clause, of a line, or of the joined parts."""
    assert re.fullmatch(regex(chain_format=chain_format), render_chain(chain(key), chain_format))


def test_a_response_without_an_answer_has_its_line() -> None:
    """Then no answer is compared; without content nothing can be quoted."""
    none = f"{NO_KEY}\nThe reference answer 38 is a number; the model response gives none.\n{AGREE}"
    assert re.fullmatch(regex(), none + NO)
    assert not re.fullmatch(regex(), none.replace("none", "38") + NO)
    empty = regex(ITEM.model_copy(update={"response": "……"}))
    assert re.fullmatch(empty, none + NO)
    assert KEY not in empty


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("答案是 38", "答案是 39"),  # not in the response
        ("所以", "以"),  # begins inside of a clause
        ("answer 38 is a number", "answer 37 is a number"),
        ("answer 38 is a number", "answer A is a number"),  # an option letter
        ("is a number", "is a mood"),
        (YES, "<Maybe>"),
        (YES, f"{YES}.."),
        ("In English: ", ""),
    ],
)
def test_it_has_nothing_else(old: str, new: str) -> None:
    """No other quote, reference, type, tag or line."""
    text = render_chain(chain("所以，答案是 38 厘米。"), ChainFormat.CROSS_LINGUAL)
    assert old in text
    assert not re.fullmatch(regex(), text.replace(old, new, 1))


def test_no_gloss_is_written_in_the_format_without_one() -> None:
    """The prompt's instructions say which format it is."""
    text = render_chain(chain("所以，答案是 38 厘米。"), ChainFormat.CROSS_LINGUAL)
    assert not re.fullmatch(regex(chain_format=ChainFormat.JUDGE_OF_CHAIN), text)


def test_every_quote_is_one_that_the_constraint_of_local_models_allows() -> None:
    """Each span of the response is tried as a quote; some are allowed, and by both."""
    prompt = build_prompt(ITEM, PromptSettings())
    constraint, pattern, tail = constraint_for(prompt), re.compile(regex()), " is a number;"
    assert constraint is not None
    rest = f"\nThe reference answer 38{tail} the model response gives 38.\n{AGREE}{YES}"
    text = " ".join(ITEM.response.split("\n"))
    spans = {text[a:b] for a in range(len(text)) for b in range(a + 1, len(text) + 1)}
    quoted = {span for span in spans if pattern.fullmatch(f"{KEY}{span}{rest}")}
    assert {"答案是 38 厘米", "所以，答案是 38 厘米。", "19×2=38"} <= quoted
    assert all(constraint.allows(f"{KEY}{span}\n".encode()) for span in quoted)


def test_a_long_sentence_can_be_quoted_up_to_the_longest_quote() -> None:
    """A response that has no end of a clause within that length can still be quoted."""
    for word in ("number ", "数"):
        item = ITEM.model_copy(update={"response": word * 200})
        assert KEY in regex(item), word


def test_other_conversations_have_no_expression() -> None:
    """They are not constrained; the tag alone is, in the format without a chain."""
    assert chain_regex([Message(role="user", content="Hello")]) is None
    outcome = regex(chain_format=ChainFormat.OUTCOME)
    assert [bool(re.fullmatch(outcome, text)) for text in (YES, NO, "yes")] == [True, True, False]
