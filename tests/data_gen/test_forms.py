"""Writing an answer and reading it back gives the same value, in every style."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from data_gen.forms import styles, write
from gradegpt.answers import Answer, AnswerType, algebra, read
from gradegpt.answers.formula import Node, variables
from gradegpt.answers.types import Group, Leaf, Options, Piece, Quantity, Region, Relation, Truth
from gradegpt.answers.units import UNITS
from gradegpt.rules.compare import compare

K = AnswerType
QUESTION = "Which?\nA. the lever\nB. 12 kg\nC. 斜面\nD. a pulley, fixed"
WHOLE = st.integers(-20, 20).map(Fraction)
NUMBERS = st.one_of(
    WHOLE,
    st.integers(-99_999, 99_999).map(Fraction),
    st.fractions(-40, 40, max_denominator=60),
    st.decimals(-500, 500, allow_nan=False, places=2).map(Fraction),
    st.builds(lambda n, p: Fraction(n) * Fraction(10) ** p, st.integers(1, 99), st.integers(-8, 9)),
)
SURDS = st.builds(
    lambda n, r, d: n * r / d,
    st.sampled_from((1, -1, 2, 3, -5)),
    st.sampled_from((3.141592653589793, 2**0.5, 3**0.5)),
    st.sampled_from((1, 2, 3, 6)),
)
NAMES = [name for unit in UNITS for name in (*unit.symbols, *unit.chinese, *unit.english)]


def leaf(value: Fraction, unit: str = "", name: str = "") -> Leaf:
    return Leaf("", name, Quantity(value, unit))


LEAVES = NUMBERS.map(leaf)


def num(value: int) -> Node:
    return Node("num", value=Fraction(value))


ATOMS = st.one_of(
    st.integers(2, 30).map(num),
    st.sampled_from("xyabn").map(lambda name: Node("var", name=name)),
    st.just(Node("const", name="π")),
)


def _nested(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    two = st.tuples(inner, inner)
    return st.one_of(
        st.builds(Node, st.sampled_from("++**/"), two),
        inner.map(lambda arg: Node("neg", (arg,))),
        st.builds(lambda a, n: Node("^", (a, num(n))), inner, st.integers(2, 4)),
        st.builds(lambda a, n: Node("root", (a, num(n))), inner, st.sampled_from((2, 2, 3))),
        st.builds(
            lambda f, a: Node("call", (a,), name=f), st.sampled_from(("sin", "cos", "ln")), inner
        ),
        inner.map(lambda arg: Node("abs", (arg,))),
    )


FORMULAS = st.recursive(ATOMS, _nested, max_leaves=5)
PIECES = st.tuples(
    NUMBERS | st.just(float("-inf")) | SURDS, NUMBERS | st.just(float("inf")) | SURDS
)


def region(*ends: float | Fraction, inside: tuple[bool, bool] = (True, False)) -> Region:
    """The intervals between each two endpoints."""
    pairs = zip(ends[::2], ends[1::2], strict=False)
    return Region(
        tuple(
            Piece(low, inside[0] and low > float("-inf"), high, inside[1] and high < float("inf"))
            for low, high in pairs
        )
    )


REGIONS = st.builds(
    lambda ends, inside: region(*sorted(ends)[: len(ends) // 2 * 2], inside=inside),
    st.lists(NUMBERS | SURDS | st.sampled_from((float("inf"), float("-inf"))), min_size=2,
             max_size=5, unique_by=lambda e: round(float(e), 6)),
    st.tuples(st.booleans(), st.booleans()),
)  # fmt: skip


def group(*, ordered: bool, least: int) -> st.SearchStrategy[Group]:
    items = st.lists(NUMBERS, min_size=least, max_size=5, unique=not ordered)
    return items.map(lambda xs: Group(ordered, tuple(map(leaf, xs))))


ANSWERS = st.one_of(
    st.builds(Answer, st.just(K.NUMBER), LEAVES),
    st.builds(
        lambda value, unit: Answer(K.NUMBER, leaf(value, unit)), NUMBERS, st.sampled_from(NAMES)
    ),
    st.builds(lambda value: Answer(K.EQUATION, leaf(value, name="x")), NUMBERS),
    st.builds(lambda value: Answer(K.NUMBER, Leaf("", "", Quantity(value))), SURDS),
    st.builds(lambda tree: Answer(K.EXPRESSION, Leaf("", "", None, tree)), FORMULAS),
    st.builds(
        lambda left, right: Answer(K.EQUATION, Relation("", left, right)),
        FORMULAS.filter(variables),
        FORMULAS,
    ).filter(lambda a: algebra.equal(a.value.left, a.value.right) is False),
    st.builds(Answer, st.just(K.INTERVAL), REGIONS),
    st.builds(Answer, st.just(K.SET), group(ordered=False, least=0)),
    st.builds(Answer, st.just(K.TUPLE), group(ordered=True, least=2)),
    st.builds(Answer, st.just(K.MULTI_ANSWER), group(ordered=False, least=2)),
    st.builds(Answer, st.just(K.MULTI_PART), group(ordered=True, least=2)),
    st.builds(lambda x: Answer(K.SINGLE_CHOICE, Options((x,))), st.sampled_from("ABCD")),
    st.builds(
        lambda xs: Answer(K.MULTIPLE_CHOICE, Options(tuple(sorted(xs)))),
        st.sets(st.sampled_from("ABCD"), min_size=2, max_size=4),
    ),
    st.builds(
        lambda xs: Answer(K.MULTIPLE_CHOICE, Options(("B", *xs, "A"), ordered=True)),
        st.lists(st.sampled_from("ABCD"), max_size=5),
    ),
    st.builds(
        lambda xs: Answer(K.MULTIPLE_CHOICE, Options(tuple(sorted(xs)))),
        st.sets(st.sampled_from("1234"), min_size=1, max_size=4),
    ),
    st.builds(lambda holds: Answer(K.TRUE_FALSE, Truth(holds)), st.booleans()),
    st.sampled_from(
        ("增大", "先升高后降低", "rises", "the Eiffel tower", "心脏", "Isaac Newton")
    ).map(lambda said: read(said, K.TEXT)),
    st.text(max_size=30).map(lambda said: read(said, K.CODE)),
    st.sampled_from(("print(1)", "for x in xs:\n    f(x)")).map(lambda said: read(said, K.CODE)),
)


def same(answer: Answer, other: Answer) -> bool:
    shown = compare(answer, other, tolerance="exact")
    return answer.value == other.value or shown.same is True


@given(answer=ANSWERS, data=st.data())
@settings(max_examples=200)
def test_a_written_answer_is_read_as_the_same_answer(answer: Answer, data: st.DataObject) -> None:
    """Every type is read back, in every style."""
    statements = isinstance(answer.value, Options) and answer.value.letters[0].isdigit()
    question = "" if statements or data.draw(st.booleans()) else QUESTION
    named = [*styles(answer, question)]
    assert named
    for style in named:
        text = write(answer, style, question)
        assert same(answer, read(text, answer.kind, question)), (text, style)


def test_more_parts_than_marks_are_written_with_separators() -> None:
    """There are nine marks; eleven parts are written without marks, and read back equal."""
    answer = Answer(K.MULTI_PART, Group(True, tuple(leaf(Fraction(n)) for n in range(11))))
    named = [*styles(answer)]
    assert named
    assert not any(style.form for style in named)
    assert all(same(answer, read(write(answer, style), answer.kind)) for style in named)
