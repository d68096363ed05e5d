"""For any numbers, an equivalent form is never incorrect, and another value never correct."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gradegpt.answers.hidden import visible
from gradegpt.answers.text import tidy
from gradegpt.core.schema import AnswerType, Item
from gradegpt.judges.rules import RuleJudge

SMALL = st.integers(-20, 20)
POSITIVE = st.integers(1, 60)
UNITS = [
    ("m", "cm", 100), ("kg", "g", 1000), ("h", "min", 60), ("L", "mL", 1000),
    ("千米", "米", 1000), ("小时", "分钟", 60),
]  # fmt: skip


def verdict(reference: str, response: str, kind: AnswerType | None = None, **more: str) -> str:
    item = Item(reference=(reference,), response=response, answer_type=kind, **more)  # type: ignore[arg-type]
    judgement = RuleJudge().judge([item])[0]
    return (judgement.verdict or judgement.outcome).value


def _signed(number: int) -> str:
    return f"+{number}" if number >= 0 else str(number)


@given(SMALL, SMALL, SMALL)
@settings(max_examples=60)
def test_a_product_and_its_expansion(a: int, b: int, shift: int) -> None:
    """(x+a)(x+b) equals x² + (a+b)x + ab in either order, but not with another constant."""
    product = f"(x{_signed(a)})(x{_signed(b)})"
    expansion = f"{_signed(a * b)}{_signed(a + b)}x+x^{{2}}"
    assert verdict(product, f"\\boxed{{{expansion}}}", AnswerType.EXPRESSION) == "correct"
    assume(shift)
    other = f"x^2{_signed(a + b)}x{_signed(a * b + shift)}"
    assert verdict(product, f"\\boxed{{{other}}}", AnswerType.EXPRESSION) == "incorrect"


@given(st.lists(st.fractions(-50, 50, max_denominator=12), min_size=2, max_size=5, unique=True),
       st.randoms())  # fmt: skip
@settings(max_examples=60)
def test_a_set_in_any_order(values: list[Fraction], rng: object) -> None:
    """Sets match in any order, tuples only in their own."""
    shuffled = sorted(values, reverse=True)
    left = ", ".join(map(str, values))
    right = ", ".join(f"\\frac{{{v.numerator}}}{{{v.denominator}}}" for v in shuffled)
    assert verdict(f"{{{left}}}", f"\\boxed{{\\{{{right}\\}}}}", AnswerType.SET) == "correct"
    if shuffled != values:
        assert verdict(f"({left})", f"\\boxed{{({right})}}", AnswerType.TUPLE) == "incorrect"


@given(
    SMALL,
    POSITIVE,
    st.sampled_from(["()", "[]", "(]", "[)"]),
    st.sampled_from(["()", "[]", "(]", "[)"]),
)
@settings(max_examples=60)
def test_an_interval_as_an_inequality(low: int, width: int, ends: str, others: str) -> None:
    """Both forms match if and only if the same endpoints are included."""
    high = low + width
    left, right = ("<" if e in "()" else "\\le " for e in ends)
    reference = f"{ends[0]}{low},{high}{ends[1]}"
    inequality = f"\\boxed{{{low}{left}x{right}{high}}}"
    assert verdict(reference, inequality, AnswerType.INTERVAL) == "correct"
    other = f"\\boxed{{{others[0]}{low},{high}{others[1]}}}"
    expected = "correct" if others == ends else "incorrect"
    assert verdict(reference, other, AnswerType.INTERVAL) == expected


@given(POSITIVE, st.sampled_from(UNITS))
@settings(max_examples=60)
def test_a_quantity_in_another_unit(value: int, units: tuple[str, str, int]) -> None:
    """A converted quantity matches; the same number in another unit does not."""
    big, small, factor = units
    kind = AnswerType.NUMBER
    assert verdict(f"{value} {big}", f"The answer is {value * factor} {small}.", kind) == "correct"
    assert verdict(f"{value} {big}", f"The answer is {value} {small}.", kind) == "incorrect"


@given(st.integers(1, 400), st.integers(1, 400))
@settings(max_examples=60)
def test_a_share_in_every_spelling(a: int, b: int) -> None:
    """Percentage, decimal and fraction of one share match; those of two shares do not."""
    share = Fraction(a, 400)
    for form in (f"{float(share * 100)}\\%", f"{float(share)}", f"\\frac{{{a}}}{{400}}"):
        assert verdict(str(share), f"\\boxed{{{form}}}", AnswerType.NUMBER) == "correct"
    assume(abs(a - b) > 0.06 * a and b not in (100 * a, a / 100))
    assert verdict(str(share), f"\\boxed{{{b}/400}}", AnswerType.NUMBER) == "incorrect"


@given(st.text(max_size=200))
def test_a_tidied_text_keeps_its_length(text: str) -> None:
    """A span of the result is therefore a span of the response."""
    assert len(tidy(text)) == len(text)
    assert len(tidy(f"<p>{text}&nbsp;</p>")) == len(text) + 13


@given(st.lists(st.sampled_from(
    ["<!--", "-->", "--!>", "<p hidden>", "</p>", "<script>", "`", "```", "\\phantom{", "}", "\n",
     "[//]: # (", "72", "\u200b", " ", "。", "答案是"]
), max_size=30))  # fmt: skip
def test_hiding_preserves_lengths_and_lines(pieces: list[str]) -> None:
    """So a span of what is shown is a span of the response."""
    text = "".join(pieces)
    shown = visible(text)
    assert len(shown) == len(text)
    assert [at for at, c in enumerate(shown) if c == "\n"] == [
        at for at, c in enumerate(text) if c == "\n"
    ]
