"""Fitting a text into a budget keeps the parts that can hold the answer, verbatim and in order."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gradegpt.chains.fit import _MARKED, ELISION, estimate_tokens, fit_middle, fit_response

_PIECES = st.sampled_from(
    ["答案是 4。", "因此，", "Thus 7. ", "x = 12; ", "\n", "\n\n", "  ", "word ", "填充，", "3.14",
    "#### 9\n", "好。", "a"]
)  # fmt: skip
TEXT = st.lists(_PIECES, max_size=60).map("".join)
BUDGET = st.integers(5, 60)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("abcd", 1.2), ("答案", 2), ("42", 1.4), ("a b", 0.7), ("（）", 2)],
)
def test_the_estimate_by_hand(text: str, tokens: float) -> None:
    """A CJK character 1, a digit or sign 0.7, a letter 0.3, a space 0.1."""
    assert estimate_tokens(text) == pytest.approx(tokens)


@given(TEXT, BUDGET)
def test_a_text_within_its_budget_is_unchanged(text: str, spare: int) -> None:
    """Also its blanks."""
    budget = int(estimate_tokens(text)) + spare
    assert fit_response(text, budget) == fit_middle(text, budget) == text


@given(TEXT, BUDGET)
def test_what_is_kept_is_within_the_budget_verbatim_and_in_order(text: str, budget: int) -> None:
    """Marks of omitted text are not counted; blank lines may be dropped."""
    for fitted in (fit_response(text, budget), fit_middle(text, budget)):
        marks = fitted.count(f"{ELISION}\n") * 0.1 + fitted.count(ELISION)
        assert estimate_tokens(fitted) - marks <= budget + 1e-9
        assert _follows(fitted, text)


def _follows(fitted: str, text: str) -> bool:
    solid, position = re.sub(r"\s", "", text), 0
    for piece in re.sub(r"\s", "", fitted).split(ELISION):
        position = solid.find(piece, position)
        if position < 0:
            return False
        position += len(piece)
    return True


@pytest.mark.parametrize("sentence", ["综上，正确答案是 C。", "Therefore the answer is 42."])
@pytest.mark.parametrize("place", ["beginning", "middle", "end"])
def test_the_announcing_sentence_survives_two_megabytes(sentence: str, place: str) -> None:
    """Anywhere in a response that is a thousand times too long."""
    noise = "The weather is fine today. 天气很好。\n" * 30_000
    before = {"beginning": 0, "middle": len(noise) // 2, "end": len(noise)}[place]
    text = f"{noise[:before]}\n{sentence}\n{noise[before:]}"
    fitted = fit_response(text, 240)
    assert sentence in fitted
    assert len(fitted) < 1_200
    assert _follows(fitted, text)


@pytest.mark.parametrize(
    "start",
    ["因此，所以，答案是 4。", "因此，" + "子丑寅卯，" * 12 + "所以答案是 4。", "答案：4。\n" * 40],
    ids=["one window", "windows that overlap", "many"],
)
def test_marks_close_together_are_kept_once(start: str) -> None:
    """Far before the end the text around a mark is kept; overlapping text is kept once."""
    text = f"{start}戊己庚辛。" + "填充文字。" * 6_000
    fitted = fit_response(text, 700)
    assert "4。" in fitted
    assert _follows(fitted, text)


def test_text_between_distant_marks_is_marked_as_omitted() -> None:
    """A quote across the gap would be a sentence that is not in the response."""
    text = "答案是 4。" + "无关文字。" * 200 + "答案是 5。" + "填充文字。" * 6_000
    fitted = fit_response(text, 900)
    first, second = fitted.index("答案是 4。"), fitted.index("答案是 5。")
    assert ELISION in fitted[first:second]


def test_a_question_keeps_its_beginning_and_its_end() -> None:
    """The question and its options are at the end."""
    question = "设函数如下。" + "背景材料，" * 500 + "\nA. 1\nB. 2"
    fitted = fit_middle(question, 50)
    assert fitted.startswith("设函数如下。")
    assert fitted.endswith("\nA. 1\nB. 2")
    assert fitted.count(ELISION) == 1


WORKED = "先看每个选项的意思，再看它是否合适，这里不再多说。\n" * 40


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            f"{WORKED}综上，最有可能的答案是：\n\nD. 促进了传播\n\n{WORKED}",
            "答案是：\nD. 促进了传播\n",
        ),
        (f"{WORKED}**【答案】**\n\nA\n\n{WORKED}", "**【答案】**\nA\n"),
        (f"{WORKED}Therefore the answer is:\n\n$$\nx = 4\n$$\n{WORKED}", "is:\n$$\nx = 4\n"),
        (f"B．能源问题突出\n\n{WORKED}", f"B．能源问题突出\n{ELISION}"),
    ],
    ids=["colon", "heading", "display", "first line"],
)
def test_the_answer_is_kept_with_its_announcement(text: str, kept: str) -> None:
    """An announcement alone, or an explanation without its first line, has no answer."""
    fitted = fit_response(text, 150)
    assert kept in fitted
    assert _follows(fitted, text)


@pytest.mark.parametrize("label", ["A", "3", "12"])
def test_a_label_is_kept_with_its_text(label: str) -> None:
    """An option is never kept without its letter, nor a letter without its option."""
    option = f"{label}. 生产方式变革的条件渐趋成熟\n"
    text = f"下面逐项分析。\n{'这一句说明背景，并不给出结论。' * 20}\n{option}以上就是分析。"
    for budget in range(10, 60):
        fitted = fit_response(text, budget)
        assert (f"{label}. " in fitted) is ("生产方式变革" in fitted)


# --- a sentence longer than the budget ------------------------------------------------------------

_ANSWERS = st.sampled_from(
    ["所以答案是38厘米", "Therefore, the final answer is 42", "故选 C", r"\boxed{x = 7}", "#### 9",
    "综上，正确选项为：\nB"]
)  # fmt: skip
_FILLER = st.builds(
    lambda text, times: text * times,
    st.text(max_size=30)
    | st.sampled_from(["设长为x，宽为y，", "Let x be 1. ", "甲", "\n", "乙。"]),
    st.sampled_from([0, 1, 3, 40, 1_500]),
)


@given(_FILLER, _ANSWERS, _FILLER, st.integers(60, 400))
def test_a_short_announced_answer_survives_any_filler(
    before: str, answer: str, after: str, budget: int
) -> None:
    """With sentences without an end or many short ones, and the announcement anywhere."""
    text, start = before + answer + after, len(before)
    assume([mark.start() for mark in _MARKED.finditer(text)][:1] == [start])
    assume(all(mark.end() <= start + len(answer) for mark in _MARKED.finditer(text)))
    fitted = fit_response(text, budget)
    assert answer in fitted
    assert _follows(fitted, text)


@pytest.mark.parametrize("after", ["…", "", "再说几句，" * 900, "一句。" * 900])
def test_of_an_endless_sentence_the_announcement_is_kept(after: str) -> None:
    """The sentence alone is longer than the budget; any text may follow."""
    text = "设长为x，宽为y，" * 1_000 + "所以答案是38厘米。" + after
    for budget in (30, 60, 150, 4_000):
        fitted = fit_response(text, budget)
        assert "所以答案是38厘米" in fitted
        assert fitted.endswith(after[-9:])


def test_remaining_room_is_used_for_text_before_the_announcement() -> None:
    """Clauses of an endless sentence are kept whole."""
    fitted = fit_response("设长为x，宽为y，" * 1_000 + "所以答案是38厘米。…", 200)
    assert re.fullmatch(r"…(宽为y，)?(设长为x，宽为y，){10,}所以答案是38厘米。…", fitted)


# --- by a tokenizer's count -----------------------------------------------------------------------

RARE = "".join(chr(0x3400 + number % 6_000) for number in range(5_000))


@pytest.fixture(scope="module")
def nano() -> Callable[[str], int]:
    """The built-in judge's tokenizer."""
    tokenizers = pytest.importorskip("tokenizers")
    folder = Path(__file__).parents[2] / "models" / "gradegpt-nano"
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


@pytest.mark.parametrize("budget", [48, 150, 1_000, 4_000])
@pytest.mark.parametrize(
    "text",
    [RARE, f"{RARE}\n所以答案是 4。\n{RARE}", "😀" * 5_000, "\n" * 50_000, "é" * 20_000,
    "\x85é甲" * 9_000],
    ids=["rare", "rare around an answer", "emoji", "lines", "accents", "mixed"],
)  # fmt: skip
def test_texts_that_the_estimate_gets_wrong_are_fitted_by_the_count(
    text: str, budget: int, nano: Callable[[str], int]
) -> None:
    """They are within the budget by the judge's own tokenizer, and use at least half of it."""
    for fit in (fit_response, fit_middle):
        fitted = fit(text, budget, nano)
        assert nano(fit(text, budget)) > 2 * budget or fitted == fit(text, budget)
        assert budget / 2 < nano(fitted) <= budget or fitted == fit(text, budget)
        assert _follows(fitted, text)
    assert ("答案是 4" in text) is ("答案是 4" in fit_response(text, budget, nano))


@given(st.text(max_size=400), BUDGET, st.integers(1, 40))
def test_no_text_takes_more_than_twice_its_budget(text: str, budget: int, times: int) -> None:
    """Counted in bytes, an upper bound of any tokenizer's count, with marks of omitted text."""
    text *= times
    for fit in (fit_response, fit_middle):
        fitted = fit(text, budget, _bytes)
        assert _bytes(fitted) <= max(budget, 2 * estimate_tokens(fitted))
        assert _follows(fitted, text)


@given(TEXT, BUDGET)
def test_up_to_twice_the_estimate_the_count_changes_nothing(text: str, budget: int) -> None:
    """Byte for byte: prompts are as in training."""
    for fit in (fit_response, fit_middle):
        assert fit(text, budget, lambda t: int(2 * estimate_tokens(t))) == fit(text, budget)


def test_a_long_text_is_never_counted_whole() -> None:
    """There are few counts, of texts that are within the budget by the estimate."""
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text.encode())

    fit_response(RARE * 200, 100, count)
    assert len(counted) <= 3
    assert max(counted) <= 110


def _bytes(text: str) -> int:
    return len(text.encode())
