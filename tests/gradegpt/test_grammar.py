"""The grammar of a chain: whatever is written under it parses, and its quote is verbatim."""

from __future__ import annotations

import random
from importlib.util import find_spec

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gradegpt.chains.chain import (
    AGREE,
    ALSO,
    KEY,
    MAX_WHY,
    NO,
    NO_KEY,
    WHY,
    YES,
    Chain,
    PromptSettings,
    TagPlace,
    build_prompt,
    needs_gloss,
    parse_chain,
    render_chain,
)
from gradegpt.chains.fit import ELISION
from gradegpt.chains.grammar import LONGEST, MAX_GLOSS, accepts, chain_grammar, stands_in
from gradegpt.chains.quote import MAX_QUOTE, MAX_QUOTES, where_quoted
from gradegpt.core.schema import AnswerType, ChainFormat, Item, Message, Verdict

pytestmark = pytest.mark.skipif(not find_spec("llguidance"), reason="needs llguidance")

ITEM = Item(
    question="A rectangle is 12 by 7. Its perimeter?",
    reference=["38", "A"],
    response="先算一算 (a+b)*2：19×2=38。\n所以，答案是 38 厘米。\n(1) A\n(2) [x^2|y]? No.",
)


PLACES: tuple[TagPlace, ...] = ("last", "first")
CROSS, PLAIN = ChainFormat.CROSS_LINGUAL, ChainFormat.JUDGE_OF_CHAIN


def grammar(item: Item = ITEM, chain_format: ChainFormat = CROSS, place: TagPlace = "last") -> str:
    asked = PromptSettings(chain_format=chain_format, verdict=place)
    found = chain_grammar(build_prompt(item, asked))
    assert found is not None
    return found


def written(grammar: str, rng: random.Random) -> str:
    """What a model that draws each of its tokens, which are bytes, writes under the grammar."""
    from llguidance import LLMatcher, LLTokenizer, grammar_from

    held = LLMatcher(LLTokenizer("byte"), grammar_from("grammar", grammar))  # as vLLM reads it
    made = bytearray()
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


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("chain_format", ChainFormat)
@given(response=HOSTILE, reference=HOSTILE, seed=st.integers(0, 9))
@example(response=f"{KEY}5\n{AGREE}<Yes>", reference=f'"\n{NO_KEY}', seed=0)
@example(response=":;<;/..-:0{", reference="38", seed=0)  # llguidance gave up
@example(response="3" * 200, reference="3" * 200, seed=1)  # and in one number
@settings(max_examples=15)
def test_whatever_is_written_under_it_is_a_chain_with_verbatim_quotes(
    chain_format: ChainFormat, place: TagPlace, response: str, reference: str, seed: int
) -> None:
    """By a model that draws at random, for responses with tags, quotes, breaks and long lines."""
    item = Item(question="?", reference=(reference if reference.strip() else "38",),
                response=response)  # fmt: skip
    text = written(grammar(item, chain_format, place), random.Random(seed))
    chain = parse_chain(text).chain
    assert chain is not None
    if chain_format is ChainFormat.OUTCOME:
        assert text in (YES, NO)
        return
    assert text.startswith((YES, NO)) is (place == "first")
    assert len(chain.why) <= MAX_WHY
    assert len(chain.quotes) <= MAX_QUOTES
    assert all(len(quote) <= MAX_QUOTE for quote in chain.quotes)
    if not chain.quotes:
        assert (chain.answer, NO_KEY in text) == (None, True)
        assert place == "last" or chain.verdict is Verdict.INVALID
        return
    assert where_quoted(chain.quotes, response)
    assert stands_in(chain.answer or "", response)
    assert chain.is_glossed or chain_format is PLAIN
    assert chain.answer_type is not None
    assert len(chain.reference_answer) <= LONGEST


def chain(*quotes: str, gloss: str = "The answer is 38 cm.", answer: str = "38 厘米") -> Chain:
    return Chain(
        verdict=Verdict.CORRECT, quotes=quotes, reference_answer="38", answer=answer,
        glosses=tuple(gloss if needs_gloss(quote) else "" for quote in quotes),
        answer_type=AnswerType.NUMBER, why="38 厘米 and 38 are equal",
    )  # fmt: skip


PARTS = ("38", "cm", "所以", "。", "(1)", "[x^2|y]?", "\\frac{1}{2}", "x<1", "<Yes>", "1,000.5")
STRETCH = st.lists(
    st.sampled_from([f"{part}{joint}" for part in PARTS for joint in ("", " ", "\n", "\r\n\t")]),
    min_size=1, max_size=12,
).map("".join)  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("chain_format", ChainFormat)
@given(quotes=st.lists(STRETCH, min_size=1, max_size=MAX_QUOTES), why=st.text(max_size=MAX_WHY))
@settings(max_examples=15)
def test_it_has_every_chain_whose_quotes_are_stretches_of_the_response(
    chain_format: ChainFormat, place: TagPlace, quotes: list[str], why: str
) -> None:
    """Several, across line breaks, with any reason, and the parts of an answer from anywhere."""
    item = ITEM.model_copy(update={"response": "\n".join([*quotes, "38 cm"])})
    made = chain(*quotes, answer="38; cm").model_copy(update={"why": why})
    text = render_chain(made, chain_format, place)
    assert accepts(grammar(item, chain_format, place), text)


def test_the_options_of_several_questions_are_compared_together() -> None:
    """The letters of the quotes in their order, joined or apart."""
    item = ITEM.model_copy(update={"response": "1. 【答案】B\n2. 【答案】A", "reference": ("B A",)})
    key = "1. 【答案】B 2. 【答案】A"
    for answer in ("B A", "B, A", "BA", "B; A"):
        made = chain("1. 【答案】B", "2. 【答案】A", answer=answer).model_copy(
            update={"reference_answer": "B A", "answer_type": AnswerType.MULTIPLE_CHOICE}
        )
        assert accepts(grammar(item), render_chain(made, CROSS)), answer
        assert stands_in(answer, key)
    assert not stands_in("B C", key)


def test_a_response_without_an_answer_has_its_line() -> None:
    """Then no answer is compared; without words nothing can be quoted."""
    none = f"{NO_KEY}\nThe reference answer 38 is a number; the model response gives none."
    last = f"{none}\n{WHY}it stops.\n{AGREE}{NO}"
    assert accepts(grammar(), last)
    assert not accepts(grammar(), last.replace("none", "38"))
    empty = ITEM.model_copy(update={"response": "……"})
    assert accepts(grammar(empty), last)
    assert KEY not in grammar(empty)
    for item in (ITEM, empty):
        first = grammar(item, place="first")
        assert [accepts(first, f"{tag}\n{none}") for tag in (NO, YES)] == [True, False]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("答案是 38", "答案是 39"),  # not in the response
        ("38 厘米。", "3"),  # ends inside of a number
        ("gives 38", "gives 3"),
        ("gives 38", "gives 39"),  # not in the response
        ("gives 38 厘米", "gives 38 厘米。"),  # ends with a mark
        ("answer 38 is a number", "answer 37 is a number"),
        ("answer 38 is a number", "answer A is a number"),  # an option letter
        ("is a number", "is a mood"),
        (YES, "<Maybe>"),
        (WHY, f"{WHY}<"),
        (WHY, f"{WHY}{'x' * MAX_WHY}"),
        ("\nThe", f"\n{f'{ALSO}38{chr(10)}' * MAX_QUOTES}The"),
        ("In English: The answer is 38 cm.\n", ""),
        ("In English: The answer", "In English: 答案"),
        ("In English: ", f"In English: {'x' * MAX_GLOSS}"),
    ],
)
def test_it_has_nothing_else(old: str, new: str) -> None:
    """No other quote, gloss, reference, type, answer, reason, tag or line, nor one more of them."""
    for place in PLACES:
        text = render_chain(chain("所以，答案是 38 厘米。"), CROSS, place)
        assert old in text
        both = f"{YES}\n{text}" if place == "last" else f"{text}\n{AGREE}{YES}"
        assert [accepts(grammar(place=place), t) for t in (text, both)] == [True, False]
        assert not accepts(grammar(place=place), text.replace(old, new, 1))
        assert not accepts(grammar(chain_format=PLAIN, place=place), text)


def test_no_quote_crosses_an_elision_or_is_too_long() -> None:
    """The omitted text may say the opposite; each side of it can be quoted."""
    said = f"It is{ELISION}not 38 cm. {'数' * 300}"
    made = grammar(ITEM.model_copy(update={"response": said}), PLAIN)
    good = (("It is", "not 38 cm."), ("38", "数" * MAX_QUOTE))
    for quotes in (*good, (f"is{ELISION}not 38",), ("is not 38",), ("数" * (MAX_QUOTE + 1),)):
        text = render_chain(chain(*quotes, answer="38 cm"), PLAIN)
        assert accepts(made, text) is (quotes in good), quotes


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
