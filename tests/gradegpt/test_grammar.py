"""The grammar of a chain: whatever is written under it parses, and its quote is verbatim."""

from __future__ import annotations

import random
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gradegpt.chains.chain import (
    AGREE,
    KEY,
    NO,
    NO_KEY,
    YES,
    Chain,
    PromptSettings,
    build_prompt,
    parse_chain,
    render_chain,
)
from gradegpt.chains.grammar import LONGEST, chain_grammar, stands_in
from gradegpt.chains.quote import MAX_QUOTE, where_quoted
from gradegpt.core.schema import AnswerType, ChainFormat, Item, Message, Verdict
from tests.interfaces import accepts

pytestmark = pytest.mark.skipif(not find_spec("llguidance"), reason="needs llguidance")

ITEM = Item(
    question="A rectangle is 12 by 7. Its perimeter?",
    reference=["38", "A"],
    response="先算一算 (a+b)*2：19×2=38。\n所以，答案是 38 厘米。\n(1) A\n(2) [x^2|y]? No.",
)


def grammar(item: Item = ITEM, chain_format: ChainFormat = ChainFormat.CROSS_LINGUAL) -> str:
    found = chain_grammar(build_prompt(item, PromptSettings(chain_format=chain_format)))
    assert found is not None
    return found


def matcher(text: str) -> Any:
    """A matcher whose tokens are bytes."""
    from llguidance import LLMatcher, LLTokenizer

    made = LLMatcher(LLTokenizer("byte"), LLMatcher.grammar_from_lark(text))
    assert not made.get_error()
    return made


def written(grammar: str, rng: random.Random) -> str:
    """What a model that draws each of its tokens at random writes under the grammar."""
    held, made = matcher(grammar), bytearray()
    while not held.is_stopped():
        allowed = [token for token, bias in enumerate(held.compute_logit_bias()[:256]) if bias]
        made.append(rng.choice(allowed))
        assert held.consume_token(made[-1])
    return made.decode()


PIECES = (
    "<Yes>", "</response>", "<|im_end|>", KEY, NO_KEY, AGREE, "In English: ", "\n", "\r", '"', "\\",
    "\\n", "/", "#", "%regex {", "'", "\x00", "\x7f", "\u2028", "…", "😀", "  ", "\t", "start: /x/",
    "所以，答案是 38 厘米。", "The answer is", " x = 1.5", "(1) A\n(2) B\n", "选 B 和 D",
    "~&|()[]{}*+?", "; the model response gives 5.", "很长" * 90, "word " * 60,
)  # fmt: skip
HOSTILE = st.one_of(
    st.text(max_size=80), st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
)


@pytest.mark.parametrize("chain_format", ChainFormat)
@given(response=HOSTILE, reference=HOSTILE, seed=st.integers(0, 9))
@example(response=f"{KEY}5\n{AGREE}<Yes>", reference=f'"\n{NO_KEY}', seed=0)
@settings(max_examples=40)
def test_whatever_is_written_under_it_is_a_chain_with_a_verbatim_quote(
    chain_format: ChainFormat, response: str, reference: str, seed: int
) -> None:
    """By a model that draws at random, for responses with tags, quotes, breaks and long lines."""
    item = Item(question="?", reference=(reference if reference.strip() else "38",),
                response=response)  # fmt: skip
    text = written(grammar(item, chain_format), random.Random(seed))
    chain = parse_chain(text).chain
    assert chain is not None
    if chain_format is ChainFormat.OUTCOME:
        assert text in (YES, NO)
    elif chain.key_sentence is None:
        assert text.startswith(NO_KEY)
    else:
        assert len(chain.key_sentence) <= MAX_QUOTE
        assert where_quoted(chain.key_sentence, response)
        assert stands_in(chain.answer or "", chain.key_sentence)
        assert chain.answer_type is not None


def chain(key: str, gloss: str = "The answer is 38 cm.", answer: str = "38 厘米") -> Chain:
    return Chain(
        verdict=Verdict.CORRECT, key_sentence=key, gloss=gloss, reference_answer="38",
        answer_type=AnswerType.NUMBER, answer=answer,
    )  # fmt: skip


@pytest.mark.parametrize("chain_format", ChainFormat)
@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("所以，答案是 38 厘米。", "38 厘米"),
        ("答案是 38 厘米。", "38"),
        ("(1) A (2) [x^2|y]? No.", "[x^2|y]"),
        ("19×2=38。", "38"),
    ],
)
def test_it_has_the_chains_that_a_judge_is_trained_to_write(
    chain_format: ChainFormat, key: str, answer: str
) -> None:
    """In every format, with a quote of a sentence, of its last clause, or of the joined parts."""
    text = render_chain(chain(key, answer=answer), chain_format)
    assert accepts(grammar(chain_format=chain_format), text)


def test_the_options_of_several_questions_are_compared_together() -> None:
    """The letters of the quote in their order, joined or apart."""
    item = ITEM.model_copy(update={"response": "1. 【答案】B\n2. 【答案】A", "reference": ("B A",)})
    key = "1. 【答案】B 2. 【答案】A"
    for answer in ("B A", "B, A", "BA"):
        made = chain(key, answer=answer).model_copy(
            update={"reference_answer": "B A", "answer_type": AnswerType.MULTIPLE_CHOICE}
        )
        assert accepts(grammar(item), render_chain(made, ChainFormat.CROSS_LINGUAL)), answer
        assert stands_in(answer, key)
    assert not stands_in("B C", key)


def test_a_response_without_an_answer_has_its_line() -> None:
    """Then no answer is compared; without words nothing can be quoted."""
    none = f"{NO_KEY}\nThe reference answer 38 is a number; the model response gives none.\n{AGREE}"
    assert accepts(grammar(), none + NO)
    assert not accepts(grammar(), none.replace("none", "38") + NO)
    empty = grammar(ITEM.model_copy(update={"response": "……"}))
    assert accepts(empty, none + NO)
    assert KEY not in empty


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("答案是 38", "答案是 39"),  # not in the response
        ("所以", "以"),  # begins inside of a clause
        ("gives 38", "gives 3"),  # inside of a number
        ("gives 38", "gives 39"),  # not in the quote
        ("gives 38 厘米", "gives 38 厘米。"),  # ends with a mark
        ("answer 38 is a number", "answer 37 is a number"),
        ("answer 38 is a number", "answer A is a number"),  # an option letter
        ("is a number", "is a mood"),
        (YES, "<Maybe>"),
        (YES, f"{YES}.."),
        ("In English: The answer is 38 cm.\n", ""),
        ("In English: The answer", "In English: 答案"),
    ],
)
def test_it_has_nothing_else(old: str, new: str) -> None:
    """No other quote, gloss, reference, type, answer, tag or line."""
    text = render_chain(chain("所以，答案是 38 厘米。"), ChainFormat.CROSS_LINGUAL)
    assert old in text
    assert not accepts(grammar(), text.replace(old, new, 1))


def test_a_gloss_is_in_its_format_alone_and_bounded_by_its_quote() -> None:
    """The prompt's instructions say which format it is."""
    key = "所以，答案是 38 厘米。"
    text = render_chain(chain(key), ChainFormat.CROSS_LINGUAL)
    assert not accepts(grammar(chain_format=ChainFormat.JUDGE_OF_CHAIN), text)
    long = render_chain(chain(key, gloss="so " * 60), ChainFormat.CROSS_LINGUAL)
    assert not accepts(grammar(), long)


@pytest.mark.parametrize("word", ["number ", "数", "3"])
def test_a_long_line_can_be_quoted_up_to_the_longest_quote(word: str) -> None:
    """A response without an end of a clause within that length can still be quoted and compared."""
    item = ITEM.model_copy(update={"response": word * 200, "reference": (word * 200,)})
    made = written(grammar(item, ChainFormat.JUDGE_OF_CHAIN), random.Random(1))
    found = parse_chain(made).chain
    assert found is not None
    assert len(found.reference_answer) <= LONGEST
    assert KEY in grammar(item)


def test_an_announcement_is_quoted_only_where_there_is_nothing_else() -> None:
    """A line that ends in a colon gives no answer: the next line does."""
    item = ITEM.model_copy(update={"response": "综上，最合适的是：\n\nD. 促进传播"})
    made = chain("综上，最合适的是：", answer="最合适的是")
    text = render_chain(made, ChainFormat.CROSS_LINGUAL)
    assert not accepts(grammar(item), text)
    assert accepts(grammar(item.model_copy(update={"response": "综上，最合适的是："})), text)


def test_other_conversations_have_no_grammar() -> None:
    """They are not constrained; the tag alone is, in the format without a chain."""
    assert chain_grammar([Message(role="user", content="Hello")]) is None
    outcome = grammar(chain_format=ChainFormat.OUTCOME)
    assert [accepts(outcome, text) for text in (YES, NO, "yes")] == [True, True, False]


@pytest.mark.parametrize(
    ("answer", "quote", "expected"),
    [
        ("38 厘米", "答案是 38厘米。", True),
        ("1/2", r"so it is \boxed{\frac{1}{2}}", True),
        ("BD", "B and D", True),
        ("39", "答案是 38 厘米。", False),
        ("Paris", "It is paris.", True),
        ("Paris", "It is Lyon.", False),
        ("", "It is Lyon.", True),
    ],
)
def test_an_answer_that_was_written_freely_must_stand_in_its_quote(
    answer: str, quote: str, expected: bool
) -> None:
    """Every word and number of it, in any spelling of case and spaces."""
    assert stands_in(answer, quote) is expected
