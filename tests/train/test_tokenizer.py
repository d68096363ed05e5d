"""The tokenizer: single digits and letters, whole verdict tags, lossless decoding."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradegpt.chain import NO, SYSTEM, YES
from gradegpt.engines.chat import render_chat
from gradegpt.schema import Message
from train.rows import verdict_token_ids
from train.tokenizer import END, PAD, START, train_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

CORPUS = [
    *SYSTEM.values(), "所以答案是 12。", "故选：B．", "The answer is (B).", "\\boxed{\\frac{1}{2}}",
    "AB CD EFGH 0123456789",
    "The answers agree: <Yes>", "The answers agree: <No>",
]  # fmt: skip


@pytest.fixture(scope="module")
def made() -> Any:
    return train_tokenizer(CORPUS * 30, vocab_size=700, max_length=128)


def ids(tokenizer: PreTrainedTokenizerFast, text: str) -> list[int]:
    found: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return found


@pytest.mark.parametrize(
    "number", ["1", "42", "2024", "3.14159", "-0.5", "1,000,000", "１２", "x2y34"]
)
def test_digits_are_single(made: Any, number: str) -> None:
    """So numbers have the same tokens at any position."""
    pieces = [made.decode([i]) for i in ids(made, number)]
    assert "".join(pieces) == number or "�" in "".join(pieces)
    assert all(sum(c.isascii() and c.isdigit() for c in piece) <= 1 for piece in pieces)


@pytest.mark.parametrize("letter", "ABCDEFGH")
@pytest.mark.parametrize(
    "around",
    ["{}", " {}", "({})", "（{}）", "选{}", "故选：{}。", "{}.", "{}、", "**{}**", "\\boxed{{{}}}",
     "${}$", "answer is {}",
     "Choice_{}", "{}\n", "A{}", "{}C", "x{}", "\n{}"],
)  # fmt: skip
def test_an_option_letter_is_one_token_in_every_surrounding(
    made: Any, letter: str, around: str
) -> None:
    """Else a small model has to learn that "B", " B" and "(B" are one letter."""
    (alone,) = ids(made, letter)
    assert alone in ids(made, around.format(letter))


@pytest.mark.parametrize("tag", [YES, NO])
@pytest.mark.parametrize("around", ["{}", " {}", "agree: {}", "是{}。", "{}{}", "\n{}\n"])
def test_a_verdict_tag_is_one_ordinary_token(made: Any, tag: str, around: str) -> None:
    """Its probability is the confidence, and decoding keeps it as text."""
    (alone,) = ids(made, tag)
    text = around.replace("{}", tag)
    assert ids(made, text).count(alone) == around.count("{}")
    assert made.decode(ids(made, text), skip_special_tokens=True) == text
    assert alone not in made.all_special_ids
    assert verdict_token_ids(made) == {*ids(made, YES), *ids(made, NO)}


def test_chat_tokens_are_special(made: Any) -> None:
    """Each is one token; the end token ends a turn, and the pad token differs from it."""
    assert [len(ids(made, token)) for token in (START, END, PAD)] == [1, 1, 1]
    assert (made.eos_token, made.pad_token) == (END, PAD)
    assert made.decode(ids(made, f"{START}user\nhi{END}"), skip_special_tokens=True) == "user\nhi"


def test_a_chat_is_written_out_plainly(made: Any) -> None:
    """Each message is a turn, followed by the start of the reply."""
    chat = [Message(role="system", content="s"), Message(role="user", content=" u\n")]
    assert render_chat(made, chat) == (
        "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\n u\n<|im_end|>\n<|im_start|>assistant\n"
    )


@cache
def _small() -> Any:
    return train_tokenizer(CORPUS, vocab_size=600, max_length=64)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
@settings(deadline=None)
def test_any_text_comes_back(text: str) -> None:
    """Also Chinese, LaTeX, emoji and control characters that are not in the corpus."""
    made = _small()
    assert made.decode(ids(made, text)) == text


@pytest.mark.parametrize(
    "text",
    ["综上所述，本题的正确答案是 B。", "$\\frac{\\sqrt{3}}{2}\\le x<\\infty$", "🎉👨‍👩‍👧 é ñ",
     "a  b\t\tc \n\n d ", "‹Yes> … √2 ½",
     " ?!", "don't", "鑫𠮷", "\x00\x0c\u2028"],
)  # fmt: skip
def test_such_texts_come_back(made: Any, text: str) -> None:
    """Blanks and apostrophes are not normalised."""
    assert made.decode(ids(made, text)) == text


def test_the_same_corpus_gives_the_same_tokenizer() -> None:
    """The files are equal, so a base can be reproduced."""
    first, second = (train_tokenizer(CORPUS, 600, 64).backend_tokenizer.to_str() for _ in range(2))
    assert first == second
