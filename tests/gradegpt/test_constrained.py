"""Constrained decoding: quotes are verbatim, no line loops, other text is not restricted."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradegpt.chain import KEY, NO_KEY, Chain, PromptSettings, build_prompt, render_chain
from gradegpt.constrained import MAX_TEXT, QUOTE_BYTES, ChainConstraint, constraint_for
from gradegpt.fit import ELISION, Budget
from gradegpt.quote import MAX_QUOTE
from gradegpt.quoted import LONGEST, has_content
from gradegpt.schema import AnswerType, ChainFormat, Item, Message, Verdict

RESPONSE = "先算一算。\n所以，答案是 38 厘米。\n多谢…再见"


def allowed(written: str, piece: str | bytes, response: str = RESPONSE) -> bool:
    constraint = ChainConstraint(response, ["38", "thirty-eight, about"])
    constraint.write(written.encode())
    return constraint.allows(piece.encode() if isinstance(piece, str) else piece)


@pytest.mark.parametrize(
    ("written", "piece", "expected"),
    [
        (KEY, "所以", True),
        (KEY, "算一算", False),
        (KEY, "答案是", True),
        (KEY, "因此", False),
        (KEY + "所以，答案是 38", " 厘米", True),
        (KEY + "所以，答案是 38", " 千米", False),
        (KEY + "所以，答案是 38 厘米。", "\n", True),
        (KEY + "所以", "，答案是\n", False),
        (KEY + "所以", "，答案是 38 厘米\n", True),
        (KEY + "算一算。", "所以", False),
        (KEY + "多谢", "…", False),
        (KEY, "\n", False),
        (KEY, " \n", False),
        (KEY[:-1], " 所以", True),
        (KEY[:-1], " 因此", False),
        (KEY, "所".encode()[:1], True),
        (KEY, "国".encode()[:2], False),
        (KEY, "所".encode()[1:], False),
        (KEY + "算一算。\n", "In English: Anything", True),
        ("Once upon a time", " there was", True),
        ("", "The", True),
    ],
)
def test_a_quote_is_a_part_of_one_line_of_the_response(
    written: str, piece: str | bytes, expected: bool
) -> None:
    """Bytes are checked, so incomplete characters are, too; other text is not restricted."""
    assert allowed(written, piece) is expected


def test_one_comparison_and_then_whether_the_answers_agree() -> None:
    """No text between these is allowed, and no second comparison."""
    compared = f"{KEY}是 38 厘\nThe reference answer 38 is a number; the model response gives 38.\n"
    assert allowed(compared, "The answers")
    assert not allowed(compared, "The reference")
    assert not allowed(compared + "The answers", " differ")
    assert allowed(compared + "The answers agree: ", "<Yes>")
    assert allowed(compared + "The answers agree: ", "<No>")
    assert not allowed(compared[:-2], "; the model response gives 38")


@pytest.mark.parametrize(
    ("written", "piece", "expected"),
    [
        ("", "38", True),
        ("", "83", False),
        ("3", "8 is a number", True),
        ("thirty", "-eight, about", True),
        ("thirty-eight", "… is a text", False),
        ("thirty-eight", ", about is a text", True),
        ("thirty-eight, abo", "ut is a text", True),
        ("thirty-eight, abo", " is a text", False),
        ("thirty-eight", " or", False),
        ("38", " i", True),
        ("38 is", " an expression", True),
        ("38 is a number", "; the model response gives 算一算.\n", True),
        ("38 is a number", "\n", False),
        ("38 is a", " number number number number number number number number", False),
    ],
)
def test_the_reference_answer_is_from_the_reference(
    written: str, piece: str, expected: bool
) -> None:
    """It may be clipped with an ellipsis; the words for the type and the line are bounded."""
    assert allowed(f"{KEY}算一算。\nThe reference answer {written}", piece) is expected


@pytest.mark.parametrize(
    ("quote", "given", "piece", "expected"),
    [
        ("一共 120 个", "", "12", True),
        ("一共 120 个", "", "168", False),
        ("一共 120 个", "1", "6", False),
        ("一共 120 个", "120", ".", True),
        ("一共 120 个", "120", "\n", False),
        ("一共 120 个", "120.", "\n", True),
        ("一共 120 个", "120个", ".\n", True),
        ("x = 1.5", "1", ".", True),
        ("x = 1.5", "1.", "5", True),
        ("x = 1.5", "1.", "2", False),
        ("选 A、B 和 D", "A", "BD.", True),
        ("选 A、B 和 D", "A", "C", False),
        ("一共 120 个", "", ".", False),
        ("一共 120 个", " ", "120.\n", False),
        ("一  共", "一  ", "共.\n", True),
        ("很长很长", "很长", "….\n", False),
        ("很长" * 60, "很长" * 49, "….\n", False),
        ("很长" * 60, "很长" * 50, "….\n", True),
    ],
)
def test_the_answer_given_is_from_the_quote(
    quote: str, given: str, piece: str, expected: bool
) -> None:
    """It is a part of the quote, spaces aside, perhaps clipped, or its letters joined."""
    written = f"{KEY}{quote}\nThe reference answer 38 is a number; the model response gives {given}"
    assert allowed(written, piece, response=quote) is expected


@pytest.mark.parametrize("quote", ["".join(chr(0x4E00 + n) for n in range(120)), "转圈" * 40])
def test_an_answer_is_bounded_by_its_quote(quote: str) -> None:
    """It may be the whole quote, also one that loops, and no character more."""
    start = f"{KEY}{quote}\nThe reference answer 38 is a number; the model response gives "
    assert allowed(start + quote[:-1], quote[-1], response=quote)
    assert not allowed(start + quote, quote[-1], response=quote)
    assert allowed(start + quote, ".\n", response=quote)
    assert not allowed(start + quote[:60], "….\n", response=quote)
    assert allowed(start + quote[:110], "….\n", response=quote) is (len(quote) > 110)


def test_an_answer_of_the_greatest_length_may_end() -> None:
    """It may end anywhere, since there may be no better position."""
    quote = "很长" * 75
    start = f"{KEY}{quote}\nThe reference answer {quote[:LONGEST]}"
    constraint = ChainConstraint(quote, [quote])
    constraint.write(start.encode())
    assert not constraint.allows(quote[LONGEST].encode())
    assert constraint.allows("…".encode())
    compared = " is a text; the model response gives "
    assert constraint.allows(compared.encode())
    constraint.write(f"{compared}{quote[:LONGEST]}".encode())
    assert not constraint.allows(quote[LONGEST].encode())
    assert constraint.allows(b".\n")


@pytest.mark.parametrize(
    ("answer", "more"), [("", " "), ("", "\t"), ("38", "  "), ("38 ", "\u3000"), ("38 ", "\u00a0")]
)
def test_an_answer_has_no_run_of_spaces(answer: str, more: str) -> None:
    """A small model once wrote spaces until its tokens ran out."""
    start = f"{KEY}38 厘米\nThe reference answer 38 is a number; the model response gives {answer}"
    assert not allowed(start, more, response="38 厘米")
    assert allowed(start, "厘" if answer else "38", response="38 厘米")


def test_a_gloss_is_bounded_by_its_quote() -> None:
    """The gloss of six characters has at most 84 bytes; then its line must end."""
    start = f"{KEY}此题选第四项\nIn English: For this question, "
    sentence = "choose the fourth term of those that stand above here now"
    assert allowed(start, sentence[: 84 - len("For this question, ")], response="此题选第四项")
    assert not allowed(start + sentence, " and then", response="此题选第四项" * 2)
    assert allowed(start + sentence, "\n", response="此题选第四项")
    assert allowed("Let us see.\n" + "In English: " + "abcdefgh " * 7, "i", response="")


def test_a_gloss_may_repeat_itself_little_more_than_its_quote() -> None:
    """A small model once repeated itself with small changes until its tokens ran out."""
    response = "选第四项，此题选第四项，再看一遍还是选第四项，不会错的"
    repeat = "the fourth term, {} the {}th term, "
    start = f"{KEY}{response}\nIn English: "
    lost = "".join(repeat.format("abcdefgh"[n], n) for n in range(6))
    at = next(n for n in range(len(lost)) if not allowed(start + lost[:n], lost[n], response))
    assert 100 < at < 180
    assert allowed(start + lost[:at], "\n", response)
    assert all(allowed(f"{KEY}{response}\nIn English: " + lost[:n], lost[n]) for n in range(60))


@pytest.mark.parametrize(
    ("written", "piece", "expected"),
    [
        (f"{KEY}算一算。\n", "In Eng", True),
        (f"{KEY}算一算。\n", "The ref", True),
        (f"{KEY}算一算。\n", "So", False),
        (f"{KEY}算一算。\nIn Eng", "\n", False),
        (f"{KEY}算一算。\nIn English: ", " \n", False),
        (f"{KEY}算一算。\nIn English: count.\n", "In English: ", False),
        (f"{KEY}算一算。\nIn English: count.\n", "The reference answer 38", True),
        (f"{NO_KEY}\n", "In English: ", False),
        (f"{NO_KEY}\n", "The reference", True),
    ],
)
def test_quote_gloss_and_comparison_follow_one_another(
    written: str, piece: str, expected: bool
) -> None:
    """A quote is followed by at most one gloss, then by the comparison; no quote has no gloss."""
    assert allowed(written, piece) is expected


def test_answers_have_complete_characters() -> None:
    """An answer must not end inside of a character, where byte tokens may end."""
    half = "约".encode()[:2]
    constraint = ChainConstraint("约3", ["约3"])
    constraint.write(f"{KEY}约3\nThe reference answer ".encode() + half)
    assert not constraint.allows(b" is a")
    constraint.write("约".encode()[2:])
    assert constraint.allows(b" is a")
    constraint.write(b" is a number; the model response gives " + half)
    assert not constraint.allows(b".")
    assert not constraint.allows("…".encode())


def test_nothing_is_clipped_inside_a_character() -> None:
    """No text could follow, and a model without an allowed token loops."""
    constraint = ChainConstraint("约" * 120, ["约" * 120])
    begun = f"{KEY}约3\nThe reference answer {'约' * 110}"
    constraint.write(begun.encode() + "约".encode()[:1])
    assert not constraint.allows("…".encode())
    constraint.write("约".encode()[1:])
    assert constraint.allows("…".encode())


@pytest.mark.parametrize(
    ("response", "begins", "expected"),
    [
        ("综上，最合适的是：\n\nD. 促进传播", "综", False),
        ("综上，最合适的是：\n\nD. 促进传播", "D", True),
        ("So the answer is:**\nB", "So", False),
        ("**【答案】**\nA\n【解析】略", "【答案】", False),
        ("**【答案】**\nA\n【解析】略", "【解析】略", True),
        ("The answer is:\n", "The", True),
        ("So, the answer is\n$\\boxed{B}$", "So", False),
        ("正确答案为\nB", "正", False),
        ("B\n这句话的判断：是", "这", True),
        ("略\n故选【A】", "故选【A】", True),
        ("略\n【A】", "【A】", True),
        ("略\n答案：A【解析】", "答案", True),
        ("The ratio is 2:3", "The", True),
    ],
)
def test_an_announcement_is_quoted_only_where_there_is_nothing_else(
    response: str, begins: str, expected: bool
) -> None:
    """A line that ends in a colon gives no answer: the next line does."""
    assert allowed(KEY, begins, response=response) is expected


@pytest.mark.parametrize(
    ("response", "written", "piece", "expected"),
    [
        ("(1) x = 3\n(2) y = 5", "(1) x = 3", " (2)", True),
        ("(1) x = 3\n(2) y = 5", "(1) x = 3 (2) y = 5", "\n", True),
        ("So x = 3\nand y = 5", "So x = 3", " and", False),
        (f"(1) x = 3\n{ELISION}\n(3) y = 5", "(1) x = 3", " (3)", False),
    ],
)
def test_lines_of_parts_are_quoted_together(
    response: str, written: str, piece: str, expected: bool
) -> None:
    """Their line breaks become spaces; other lines are not joined."""
    assert allowed(KEY + written, piece, response=response) is expected


@pytest.mark.parametrize(
    ("reference", "quote", "expected"),
    [
        ("3, 5", "(1) x = 3", False),
        ("3, 5", "(1) x = 3 (2) y = 5", True),
        ("3, 5", "(2) y = 5", True),
        ("3, 5", "x = 3", True),
        ("3", "(1) x = 3", True),
    ],
)
def test_a_quote_of_the_first_part_of_an_answer_continues_to_the_last(
    reference: str, quote: str, expected: bool
) -> None:
    """If the reference has several parts, a quote must not end after the first."""
    constraint = ChainConstraint("So we have\n(1) x = 3\n(2) y = 5", [reference])
    constraint.write(f"{KEY}{quote}".encode())
    assert constraint.allows(b"\n") is expected


@pytest.mark.parametrize(
    ("reference", "quote", "piece", "expected"),
    [
        ("B A D", "", "1. ", True),
        ("B A D", "", "2. ", False),
        ("B A D", "", "【", False),
        ("B A D", "1. 【答案】B", "\n", False),
        ("B A D", "1. 【答案】B <eoa>", " 2. ", True),
        ("B A D", "1. 【答案】B <eoa> 2. 【答案】A <eoa> 3. 【答案】C", " <eoa>\n", True),
        ("B A D", "", "略", False),
        ("BAD", "", "2. ", True),
        ("B A", "", "2. ", True),
        ("B A", "", "略", True),
    ],
)
def test_the_answers_of_several_questions_are_quoted_together(
    reference: str, quote: str, piece: str, expected: bool
) -> None:
    """If there are as many lines as the reference has options, no other quote is allowed."""
    lines = [f"{n}. 【答案】{x} <eoa>" for n, x in enumerate("BAC", start=1)]
    constraint = ChainConstraint("\n".join(["略", *lines]), [reference])
    constraint.write(f"{KEY}{quote}".encode())
    assert constraint.allows(piece.encode()) is expected


@pytest.mark.parametrize(
    ("answer", "piece", "expected"),
    [
        ("", "B", True),
        ("", "A", False),
        ("B", " A", True),
        ("B", ".", False),
        ("B", ".\n", False),
        ("B", "、", False),
        ("B A C", ".\n", True),
        ("B A C", " <eoa>", False),
        ("B A C", " ", False),
    ],
)
def test_the_answers_of_several_questions_are_compared_together(
    answer: str, piece: str, expected: bool
) -> None:
    """The answer is all options of the quoted lines, in their order, without other text."""
    lines = [f"{n}. 【答案】{x} <eoa>" for n, x in enumerate("BAC", start=1)]
    constraint = ChainConstraint("\n".join(lines), ["B A D"])
    compared = "The reference answer B A D is a multiple choice; the model response gives "
    constraint.write(f"{KEY}{' '.join(lines)}\n{compared}{answer}".encode())
    assert constraint.allows(piece.encode()) is expected


@pytest.mark.parametrize(
    ("quote", "references", "written", "expected"),
    [
        ("Her surname is Adkins.", ["Adkins"], "Adkins is a text; {}Adkins.", True),
        ("Her surname is Adkins.", ["Adkins"], "Adkins is a text; {}Her surname is Adkins.", False),
        ("Her surname is Adkins.", ["Adkins"], "Adkins is a text; {}Her", False),
        ("It was the river Kanawha.", ["The  KANAWHA"], "The KANAWHA is a text; {}Kanawha.", True),
        ("It was the Kanawha.", ["The Kanawha"], "The Kanawha is a text; {}Kanawha.", False),
        ("It was the Kanawha.", ["The Kanawha"], "The Kanawha is a text; {}the Kanawha.", True),
        ("电阻率增大", ["增大"], "增大 is a text; {}增大.", True),
        ("电阻率增大", ["增大"], "增大 is a text; {}电阻率增大.", False),
        ("电阻率不会增大", ["增大"], "增大 is a text; {}电阻率不会增大.", True),
        ("It isn't Adkins.", ["Adkins"], "Adkins is a text; {}It isn't Adkins.", True),
        ("We met Adkinson.", ["Adkins"], "Adkins is a text; {}We met Adkinson.", True),
        ("] ] )", [")"], ") is a text; {}] ] ).", True),
        ("about 5 apples", ["5 apples"], "5 apples is a number; {}5.", True),
        ("They went to Rome.", ["Paris", "Rome"], "Rome", True),
        ("They went to Rome.", ["Paris", "Rome"], "Paris", False),
        ("They went to Oslo.", ["Paris", "Rome"], "Paris", True),
    ],
)
def test_a_text_in_the_quote_is_named_exactly(
    quote: str, references: list[str], written: str, expected: bool
) -> None:
    """The answer has the words of the quote and no others, unless the quote has a negation."""
    constraint = ChainConstraint(quote, references)
    constraint.write(f"{KEY}{quote}\nThe reference answer ".encode())
    assert constraint.allows(written.format("the model response gives ").encode()) is expected


def test_letters_do_not_end_in_spaces() -> None:
    """A model could write spaces until its tokens run out."""
    start = (
        f"{KEY}选 C D C\nThe reference answer BC is a multiple choice; the model response gives "
    )
    assert allowed(start + "C D C", " ", response="选 C D C") is False
    constraint = ChainConstraint("选 C D C", ["BC"])
    constraint.write(f"{start}C D C ".encode())
    assert not constraint.allows(b" ")
    assert constraint.allows(b".\n")


def test_a_part_without_a_possible_continuation_may_end_a_quote() -> None:
    """Its next line is not quotable, and a model without an allowed token loops."""
    constraint = ChainConstraint("(1) x = 3\n(2) y is:\n5", ["3, 5"])
    constraint.write(f"{KEY}(1) x = 3".encode())
    assert constraint.allows(b"\n")


@pytest.mark.parametrize(
    ("response", "quote", "expected"),
    [
        ("a scalene triangle", "a sca", False),
        ("a scalene triangle", "a scalene", False),
        ("a scalene triangle", "a scalene triangle", True),
        ("scalene, as it has no equal sides", "scalene", True),
        ("最终答案是4 谢谢！", "最终答案是4", True),
        ("So it is <b>4</b>", "So it is <b>4", True),
        ("于是答案是4<x<16。", "于是答案是4", False),
        ("so $\\frac{13}{2} = 6.5$.", "so $\\frac{13}{", False),
        ("so $\\frac{13}{2} = 6.5$.", "so $\\frac{13}{2} = 6.5", False),
        ("so $\\frac{13}{2} = 6.5$.", "so $\\frac{13}{2} = 6.5$", True),
    ],
)
def test_a_quote_does_not_end_inside_of_a_word_or_formula(
    response: str, quote: str, expected: bool
) -> None:
    """It must not end there, but it may continue."""
    assert allowed(KEY + quote, "\n", response=response) is expected
    assert not allowed(KEY, "cal", response="a scalene triangle")


def test_a_quote_of_the_greatest_length_may_end_anywhere() -> None:
    """Both the characters and the bytes of a quote are bounded, so Chinese ones are shorter."""
    constraint = ChainConstraint("x" * 400, ["38"])
    constraint.write(f"{KEY}{'x' * (QUOTE_BYTES - 10)}".encode())
    assert not constraint.allows(b"\n")
    constraint.write(b"x" * 10)
    assert constraint.allows(b"\n")
    assert not constraint.allows(b"x")
    assert not allowed(KEY + "算" * MAX_QUOTE, "算", response="算" * 400)


@pytest.mark.parametrize(
    ("quote", "given", "piece", "expected"),
    [
        ("it is 120 cm", "12", ".", False),
        ("it is 120 cm", "", "20", False),
        ("it is 120 cm", "120", ".\n", True),
        ("x = 5", "x", ".", False),
        ("x = 5", "x=5", ".", True),
        ("it is $\\frac{1}{2}$", "\\frac{1", ".", False),
        ("it is $\\frac{1}{2}$", "\\frac{1}{2}", ".", True),
        ("it is $\\frac{1}{2}$", "\\frac{1…", ".", False),
    ],
)
def test_an_answer_does_not_end_inside_of_a_number_or_formula(
    quote: str, given: str, piece: str, expected: bool
) -> None:
    """An ellipsis does not permit it in a short answer."""
    written = f"{KEY}{quote}\nThe reference answer 38 is a number; the model response gives {given}"
    assert allowed(written, piece, response=quote) is expected


@pytest.mark.parametrize(
    ("quote", "given", "piece", "expected"),
    [
        ("so this is it", "t", " ", False),
        ("so this is it", "this", " ", True),
        ("so this is it", "this", "is", False),
        ("so this is it", "this is", " it.\n", True),
        ("nine of them take 25 minutes", "n", "ine", False),
        ("nine of them take 25 minutes", "2", "5 minutes.\n", True),
        ("question 3: nine", "n", "ine.\n", True),
        ("in all sqrt(5) m", "sqrt", "(5) m.\n", True),
        ("x = 5", "x ", "= 5.\n", True),
        ("选 A 和 B", "A ", "B.\n", True),
        ("30 km", "30", "km.\n", True),
    ],
)
def test_words_are_whole_and_separated(quote: str, given: str, piece: str, expected: bool) -> None:
    """Spaces other than those between words are ignored."""
    written = f"{KEY}{quote}\nThe reference answer 38 is a number; the model response gives {given}"
    assert allowed(written, piece, response=quote) is expected


@pytest.mark.parametrize(
    ("quote", "given", "expected"),
    [
        ("a total of 4 x 3 = 12 tomatoes.", "1", True),
        ("a total of 4 x 3 = 12 tomatoes.", "3", False),
        ("a total of 4 x 3 = 12 tomatoes.", "4", False),
        ("$45 + $20 = $65 per balloon", "$65", True),
        ("$45 + $20 = $65 per balloon", "$4", False),
        ("he runs 60/10 = <<60/10=6>>6 hours", "6 h", True),
        ("he runs 60/10 = <<60/10=6>>6 hours", "6>", False),
        ("he runs 60/10 = <<60/10=6>>6 hours", "60", False),
        ("20 seconds - 2 seconds = 18 seconds", "18", True),
        ("20 seconds - 2 seconds = 18 seconds", "20", False),
        ("x = 3", "x", True),
        ("所以 $f(x)=3x+1$", "$f", True),
    ],
)
def test_a_number_is_the_result_of_its_calculation(quote: str, given: str, expected: bool) -> None:
    """Operands are not allowed as an answer; an equation is compared as a whole."""
    for kind, held in (("a number", expected), ("an equation", True)):
        compared = f"{KEY}{quote}\nThe reference answer 5 is {kind}; the model response gives "
        constraint = ChainConstraint(quote, ["5"])
        constraint.write(compared.encode())
        assert all(constraint.allows(given[:n].encode()) for n in range(1, len(given) + 1)) is held


@pytest.mark.parametrize(
    ("reference", "written", "allows"),
    [
        (
            "$ \\rm A$",
            "$ \\rm A$ is a ",
            {"s": True, "se": False, "si": True, "m": True, "n": False},
        ),
        ("(BC)", "(BC) is a ", {"multi": True, "multiple c": True, "multi a": False, "t": False}),
        ("AB = 5", "AB = 5 is a", {"n e": True, " s": True}),
    ],
)
def test_option_letters_are_a_choice(reference: str, written: str, allows: dict[str, bool]) -> None:
    """Option letters are only of a choice type; other answers are of any type."""
    for words, expected in allows.items():
        constraint = ChainConstraint("So A is right.", [reference])
        constraint.write(f"{KEY}So A is right.\nThe reference answer {written}".encode())
        assert constraint.allows(words.encode()) is expected


@pytest.mark.parametrize(
    ("reference", "named", "expected"),
    [
        ("y = 3(x-1)^2 - 2", "y = 3(x-1)^2 - 2", True),
        ("y = 3(x-1)^2 - 2", "y = 3", False),
        ("y = 3(x-1)^2 - 2", "2", False),
        ("$\\frac{1}{2}$", "$\\frac{1}{2}$", True),
        ("$\\frac{1}{2}$", "\\frac{1}{2}", True),
        ("$\\frac{1}{2}$", "$", False),
        ("(2, 3).", "2, 3", True),
        ("(1) 5; (2) 7", "(1) 5", False),
        ("So we obtain 5 = x.", "5 = x", True),
        ("故选5", "5", True),
    ],
)
def test_a_reference_that_is_a_formula_is_named_whole(
    reference: str, named: str, expected: bool
) -> None:
    """Only enclosing signs may be omitted; of a sentence, a part is named."""
    written = f"{KEY}so 5\nThe reference answer "
    clause = f"{named} is an equation; the model response gives "
    constraint = ChainConstraint("so 5", [reference])
    constraint.write(written.encode())
    assert constraint.allows(clause.encode()) is expected


@pytest.mark.parametrize(
    "response", ["答", "\\end{align*}", "**答案：**", "Answer:", "$$", "综上所述，", "So,"]
)
def test_nothing_without_content_is_quoted(response: str) -> None:
    """Marks, layout and headings are not a quote."""
    assert allowed("The model response gives ", "no answer", response=response)
    assert not allowed("The model response gives ", "its answer", response=response)
    assert allowed("The model response gives ", "its answer", response=response + "\n5")


@settings(deadline=None, max_examples=200)
@given(
    st.text("abAC1 答.,$\\{}^_=< 中。…", min_size=1, max_size=60).filter(
        re.compile("[ab1中]").search
    ),
    st.integers(1, 9),
    st.randoms(),
)
def test_there_is_always_an_allowed_continuation(text: str, times: int, rng: random.Random) -> None:
    """Quote and answers can be completed, whichever of the allowed bytes are chosen."""
    response = reference = " ".join([text] * times)  # an ellipsis is what a budget cut out
    constraint = ChainConstraint(response, [reference])
    constraint.write(KEY.encode())
    quote = walk(constraint, response, ["\n"], rng)
    constraint.write(b"The reference answer ")
    types = (f" is a {kind}; the model response gives " for kind in ("number", "single choice"))
    walk(constraint, f"{reference}…", [*types], rng)
    assert walk(constraint, f"{quote}.… \u3000", ["\n"], rng).endswith(".")


def walk(constraint: ChainConstraint, pieces: str, last: list[str], rng: random.Random) -> str:
    """Write drawn bytes that the constraint allows, then one of the last texts that it allows."""
    written = b""
    while True:
        ends = [
            end.encode()
            for text in last
            for end in (text, text[1:])
            if end and constraint.allows(end.encode())
        ]
        options = [
            bytes([b]) for b in sorted(set(pieces.encode())) if constraint.allows(bytes([b]))
        ]
        assert ends or options, (pieces, written)
        if ends and (not options or rng.random() < 0.5):
            constraint.write(ends[0])
            return written.decode()
        written += rng.choice(options)
        constraint.write(written[-1:])


@pytest.mark.parametrize("mark", ["：", ",", "。", "**"])
def test_an_answer_does_not_begin_with_a_mark(mark: str) -> None:
    """A mark before the answer is not a part of it."""
    quote = f"选项是{mark}D"
    start = f"{KEY}{quote}\nThe reference answer 38 is a number; the model response gives "
    assert not allowed(start, mark, response=quote)
    assert allowed(start, "D", response=quote)


def test_without_a_quote_the_answer_is_none() -> None:
    """A text that does not begin like a chain is not restricted."""
    compared = "\nThe reference answer 38 is a number; the model response gives "
    assert allowed(NO_KEY + compared, "none.\n")
    assert not allowed(NO_KEY + compared, "38")
    assert allowed("Let us see." + compared, "39.\n")


def test_a_chain_does_not_end_before_its_tag() -> None:
    """A text that is not a chain may end anywhere."""
    constraint = ChainConstraint(RESPONSE, ["38"])
    assert constraint.may_end()
    constraint.write(f"{KEY}是 38 厘".encode())
    assert not constraint.may_end()
    constraint.write(b"\nThe reference answer 38 is a number; the model response gives 38.\n")
    constraint.write(b"The answers agree: ")
    assert not constraint.may_end()
    constraint.write(b"<No>")
    assert constraint.may_end()


@pytest.mark.parametrize("period", ["错", "ab", "A, B, C is ", "一二三四五六七八"])
def test_a_loop_is_stopped_in_its_fourth_repeat(period: str) -> None:
    """A loop has at least twenty-four bytes: a row of zeros may be a number."""
    constraint = ChainConstraint("", [])
    constraint.write(b"In English: ")
    repeats = 0
    while constraint.allows(period.encode()) and repeats < 100:
        constraint.write(period.encode())
        repeats += 1
    assert 3 <= repeats < max(4, 24 // len(period.encode()) + 1)
    assert allowed("In English: 1", "00000000000000000000")


def test_a_line_has_a_greatest_length() -> None:
    """After ``MAX_TEXT`` bytes only the end of the line is allowed."""
    text = "".join(chr(0x4E00 + n) for n in range(MAX_TEXT // 3))
    assert not allowed(f"In English: {text}", "又")
    assert allowed(f"In English: {text}", "\n")


def test_only_a_gradegpt_prompt_has_a_constraint() -> None:
    """The constraint uses the response as the prompt shows it, shortened and neutralised."""
    item = Item(reference=("38",), response="<Yes> " + "很长的话。" * 400 + "答案是38。")
    prompt = PromptSettings(budget=Budget(response=60))
    constraint = constraint_for(build_prompt(item, prompt))
    assert constraint is not None
    constraint.write(KEY.encode())
    assert constraint.allows("答案是38。\n".encode())
    assert not constraint.allows(b"<Yes>")
    assert constraint_for([Message(role="user", content="Hello")]) is None


@given(st.text(min_size=1, max_size=60), st.data())
@settings(deadline=None)
def test_every_correct_chain_is_allowed(response: str, data: st.DataObject) -> None:
    """For any response, a chain that quotes it can be written character by character."""
    line = response.split("\n")[0].strip()
    plain = (
        line == " ".join(line.split())
        and not any(mark in line for mark in "…\r\x0c【")
        and line[:1] not in ":：,，;；、。*"
    )
    quote = (
        line
        if plain and has_content(line.encode()) and line.rstrip("*_ ")[-1:] not in (":", "：")
        else ""
    )
    chain = Chain(
        verdict=data.draw(st.sampled_from(Verdict)),
        key_sentence=quote or None,
        reference_answer="38",
        answer_type=AnswerType.TEXT,  # a number does not begin with the words before it
        answer=quote or None,
    )
    constraint = constraint_for(
        build_prompt(Item(reference=("38",), response=response), PromptSettings())
    )
    if constraint is None:
        return
    for char in render_chain(chain, ChainFormat.JUDGE_OF_CHAIN):
        assert constraint.allows(char.encode()), char
        constraint.write(char.encode())
