"""Problems drawn at random, in both languages: a function or two for each answer type.

A kind draws the numbers, or a fact of the bilingual tables, and computes the answer and typical
wrong answers. All are written in the same forms, so that no notation reveals which one is right.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from gradegpt.answers.options import LETTERS
from gradegpt.core.schema import AnswerType

from .bilingual import PARTS, Fact, Lang, facts, question_in, sentences, wrong_name
from .problems import Problem

Text = tuple[str, str]
"""A text in Chinese and in English."""
AnswerParts = tuple[object, ...]
"""The parts of an answer, which its forms have in their gaps."""
_PEOPLE: Final = (("小明", "Tom"), ("李华", "Maria"), ("王芳", "Ben"), ("张伟", "Sara"))
_GOODS: Final = (("苹果", "apples"), ("气球", "balloons"), ("杯子", "cups"), ("盒子", "boxes"))
_GROUPS: Final = {
    "element": ("化学元素", "chemical elements"),
    "capital": ("国家的首都", "capitals of countries"),
    "unit": ("国际单位", "SI units"),
    "author": ("作家或艺术家", "writers or artists"),
    "language": ("语言", "languages"),
}
"""Kinds of facts of which no two share an answer."""
_TRIES: Final = 30
"""How often a new question is tried for, before the next kind."""


class DrawnProblem(NamedTuple):
    """A drawn problem; ``right`` begins with the form in which wrong options are written, too."""

    type: AnswerType
    question: str
    right: tuple[str, ...]
    wrong: tuple[tuple[str, ...], ...]


Kind = Callable[[random.Random, bool], DrawnProblem]
"""Takes a random generator, and whether the problem is to be in Chinese."""


def parametric(count: int, seed: int) -> Iterator[Problem]:
    """``count`` problems, half of them Chinese, all types equally frequent, no question twice.

    There are fewer where repeated draws give no new question.
    """
    seen: set[str] = set()
    types = list(KINDS)
    for index in range(count * 2):
        if len(seen) == count:
            return
        turn, zh = index // 2, index % 2 == 0
        kinds = KINDS[types[turn % len(types)]]
        first = turn // len(types) % len(kinds)
        rng = random.Random(f"{seed}:parametric:{index}")
        drawn = _new((*kinds[first:], *kinds[:first]), rng, zh, seen)
        if drawn is not None:
            seen.add(drawn.question)
            yield _problem(drawn, index, "zh" if zh else "en", rng)


def _new(
    kinds: Iterable[Kind], rng: random.Random, zh: bool, seen: set[str]
) -> DrawnProblem | None:
    """A problem of the first of ``kinds`` that gives a new question."""
    for kind in (kind for kind in kinds for _ in range(_TRIES)):
        drawn = kind(rng, zh)
        if drawn.question not in seen and drawn.wrong:
            return drawn
    return None


def _problem(drawn: DrawnProblem, index: int, lang: str, rng: random.Random) -> Problem:
    reference = rng.choice((*drawn.right[:1] * 2, *drawn.right))
    wrong = (form for forms in drawn.wrong for form in forms)
    return Problem(
        id=f"par-{lang}-{index:06d}",
        lang=lang,
        answer_type=drawn.type,
        question=drawn.question,
        reference=reference,
        also_correct=tuple(form for form in drawn.right if form != reference),
        hard_negatives=tuple(form for form in dict.fromkeys(wrong) if form not in drawn.right),
    )


def _drawn(
    kind: AnswerType, ask: str, answers: Sequence[AnswerParts], forms: Sequence[str]
) -> DrawnProblem:
    """The problem whose answer is the first of ``answers``, all of them written in all forms."""
    right, *wrong = dict.fromkeys(
        tuple(dict.fromkeys(form.format(*answer) for form in forms)) for answer in answers
    )
    return DrawnProblem(kind, ask, right, tuple(wrong))


# --- notation -------------------------------------------------------------------------------------


def _nonzero(rng: random.Random, bound: int) -> int:
    """A whole number from ``-bound`` to ``bound`` that is not 0."""
    return rng.choice([n for n in range(-bound, bound + 1) if n])


def polynomial(coefficients: Sequence[int], names: Sequence[str] = ("x^2", "x", "")) -> str:
    """A sum as LaTeX; the coefficients belong to the last ``names``.

    >>> polynomial((1, -3, 0)), polynomial((-1, 1))
    ('x^2-3x', '-x+1')
    """
    text = ""
    for number, name in zip(coefficients, names[-len(coefficients) :], strict=True):
        if number:
            size = "" if abs(number) == 1 and name else abs(number)
            text += f"{'-' if number < 0 else '+'}{size}{name}"
    return text.removeprefix("+") or "0"


# --- numbers and formulas -------------------------------------------------------------------------


def shopping(rng: random.Random, zh: bool) -> DrawnProblem:
    """The amount of money that is left after a purchase."""
    total, price, n = rng.randint(60, 900), rng.randint(2, 9), rng.randint(2, 6)
    (who, name), (what, things), left = rng.choice(_PEOPLE), rng.choice(_GOODS), total - price * n
    ask = (
        f"{who}带了{total}元，买了{n}个{what}，每个{price}元，还剩多少元？",
        f"{name} has {total} dollars and buys {n} {things} at {price} dollars each. "
        "How many dollars are left?",
    )
    values = (left, price * n, total - price, left + 10, left - 1, left + price, total - price - n)
    forms = ("{0}", "{0}元") if zh else ("{0}", "{0} dollars")
    return _drawn(AnswerType.NUMBER, ask[not zh], [(v,) for v in values], forms)


def set_operation(rng: random.Random, zh: bool) -> DrawnProblem:
    """The intersection, union or difference of two small sets."""
    pool = rng.sample(range(-3, 15), 7)
    both, left, right = {*pool[:2]}, {*pool[2:4]}, {*pool[5 : 5 + rng.randint(1, 2)]}
    made = {"cap": both, "cup": both | left | right, "setminus": left}
    name = rng.choice([*made])
    value = made.pop(name)
    sets = [value, *made.values(), right, value | {max(pool) + 1}, {*sorted(value)[1:]}]
    a, b = (", ".join(map(str, sorted(s))) for s in (both | left, both | right))
    task = f"$A=\\{{{a}\\}}$, $B=\\{{{b}\\}}$"
    ask = (f"已知集合 {task}，求 $A\\{name} B$。", f"Let {task}. Find $A\\{name} B$.")
    answers = [(", ".join(map(str, sorted(s))),) for s in sets]
    forms = ("{{{0}}}", "$\\{{{0}\\}}$")
    return _drawn(AnswerType.SET, ask[not zh], answers, forms)


def inequality(rng: random.Random, zh: bool) -> DrawnProblem:
    """A quadratic inequality."""
    a, b = sorted(rng.sample(range(-15, 16), 2))
    inside, closed = rng.random() < 0.5, rng.random() < 0.5
    sign = ("<" if inside else ">", "\\le" if inside else "\\ge")[closed]
    left = f"{_with_roots(rng, a, b)} {sign} 0"
    ask = (f"解不等式 ${left}$。", f"Solve the inequality ${left}$.")
    shapes = [(a, b, inside, closed), (a, b, not inside, closed), (a, b, inside, not closed)]
    shapes += [(-b, -a, inside, closed), (a, b + 1, inside, closed), (a - 1, b, inside, closed)]
    joint = "或" if zh else " or "
    answers = [_span(*shape, joint) for shape in shapes]
    return _drawn(AnswerType.INTERVAL, ask[not zh], answers, ("{0}", "{1}", "{{x|{1}}}"))


def _with_roots(rng: random.Random, one: int, other: int) -> str:
    k = rng.randint(1, 4)
    return polynomial((k, -k * (one + other), k * one * other))


def _span(low: int, high: int, inside: bool, closed: bool, joint: str) -> AnswerParts:
    """All between two numbers, or all outside, in brackets and as inequalities."""
    (left, right), less, more = ("[]", "≤", "≥") if closed else ("()", "<", ">")
    if inside:
        return f"{left}{low},{high}{right}", f"{low}{less}x{less}{high}"
    return f"(-∞,{low}{right}∪{left}{high},+∞)", f"x{less}{low}{joint}x{more}{high}"


def expand(rng: random.Random, zh: bool) -> DrawnProblem:
    """The product of two binomials."""
    k, a, b = rng.randint(1, 9), _nonzero(rng, 15), _nonzero(rng, 15)
    middle, last = k * b + a, a * b
    task = f"$({polynomial((k, a))})({polynomial((1, b))})$"
    ask = (f"展开并化简：{task}。", f"Expand and simplify {task}.")
    sums = [(k, middle, last), (k, k * b - a, last), (k, middle, a + b), (k, middle + 1, last)]
    sums += [(k, middle, -last), (k, -middle, last), (k + 1, middle, last)]
    answers = [(polynomial(s),) for s in sums]
    return _drawn(AnswerType.EXPRESSION, ask[not zh], answers, ("{0}", "${0}$"))


def circle(rng: random.Random, zh: bool) -> DrawnProblem:
    """The equation of a circle by its centre and radius."""
    a, b, r = _nonzero(rng, 12), _nonzero(rng, 12), rng.randint(2, 15)
    ask = (
        f"求圆心为 $({a},{b})$、半径为 {r} 的圆的方程。",
        f"Find the equation of the circle with centre $({a},{b})$ and radius {r}.",
    )
    s = r * r
    circles = [(a, b, s), (-a, -b, s), (a, b, r), (a, b, 2 * r), (a, -b, s), (a, b, s + 1)]
    names = ("x^2", "y^2", "x", "y", "")
    answers = [
        (
            f"({polynomial((1, -c))})^2+({polynomial((1, -d), ('y', ''))})^2={t}",
            f"{polynomial((1, 1, -2 * c, -2 * d, c * c + d * d - t), names)}=0",
        )
        for c, d, t in circles
    ]
    return _drawn(AnswerType.EQUATION, ask[not zh], answers, ("{0}", "${0}$", "{1}"))


# --- several numbers ------------------------------------------------------------------------------


def system(rng: random.Random, zh: bool) -> DrawnProblem:
    """The solution of two linear equations."""
    x, y = rng.sample([n for n in range(-9, 10) if n], 2)
    a, c, b, d = rng.randint(1, 6), rng.randint(1, 6), rng.randint(1, 5), -rng.randint(1, 5)
    lines = [f"{polynomial((m, n), ('x', 'y'))}={m * x + n * y}" for m, n in ((a, b), (c, d))]
    task = " , ".join(f"${line}$" for line in lines)
    ask = (f"解方程组 {task}，写成 $(x,y)$。", f"Solve {task} for $(x,y)$.")
    answers = [(x, y), (y, x), (x + 1, y), (x, y - 1), (-x, y), (x, -y)]
    return _drawn(AnswerType.TUPLE, ask[not zh], answers, ("({0},{1})", "x={0}, y={1}"))


def sequence(rng: random.Random, zh: bool) -> DrawnProblem:
    """A term and a sum of an arithmetic sequence, in two parts."""
    a, d, n = rng.randint(-20, 40), rng.randint(2, 12), rng.randint(5, 30)
    term, total = a + (n - 1) * d, n * a + n * (n - 1) * d // 2
    ask = (
        f"等差数列的首项为 {a}，公差为 {d}。(1) 求第 {n} 项；(2) 求前 {n} 项的和。",
        f"An arithmetic sequence begins with {a} and has the difference {d}. "
        f"(1) Find term number {n}. (2) Find the sum of the first {n} terms.",
    )
    pairs = [(term, total), (term + d, total), (term, total + d), (total, term), (term, n * term)]
    forms = ("(1) {0}; (2) {1}", "（1）{0}；（2）{1}" if zh else "(1) {0}, (2) {1}", "{0}; {1}")
    return _drawn(AnswerType.MULTI_PART, ask[not zh], pairs, forms)


def quadratic(rng: random.Random, zh: bool) -> DrawnProblem:
    """Both roots of a quadratic equation."""
    p, q = rng.sample(range(-15, 16), 2)
    left = f"{_with_roots(rng, p, q)}=0"
    ask = (f"解方程 ${left}$。", f"Solve ${left}$.")
    pairs = [(-p, -q), (p + 1, q), (p, q - 1), (p, p + q)]
    wrong = [pair for pair in pairs if pair[0] != pair[1] and {*pair} != {p, q}]
    joint = "或" if zh else " or "
    forms = (f"x={{0}}{joint}x={{1}}", "{0}, {1}", "$x_1={0}, x_2={1}$")
    made = _drawn(AnswerType.MULTI_ANSWER, ask[not zh], [(p, q), *wrong], forms)
    single = ((f"x={p}", str(p)), (f"x={q}", str(q)))
    return made._replace(wrong=(*made.wrong, *single))


# --- facts and options ----------------------------------------------------------------------------


@cache
def _facts(*, stated: bool = False) -> tuple[Fact, ...]:
    """The facts with short answers that are not held out; ``stated`` ones have sentences."""
    kinds = sentences().kinds
    named = (f for f in facts() if not f.held_out and f.kind != PARTS)
    kept = ((f, kinds.get(f.kind)) for f in named)
    return tuple(f for f, k in kept if (k.say and not k.near_only if k else not stated))


def recall(rng: random.Random, zh: bool) -> DrawnProblem:
    """A question about a fact; other names of its kind are wrong."""
    fact, lang = rng.choice(_facts()), _lang(zh)
    names = [fact.answer, *(wrong_name(fact, rng) for _ in range(8))]
    forms = [tuple(dict.fromkeys((*name.forms(lang), *name.en, *name.zh))) for name in names]
    right, *wrong = dict.fromkeys(forms)
    return DrawnProblem(AnswerType.TEXT, question_in(fact, lang, rng), right, tuple(wrong))


def claim(rng: random.Random, zh: bool) -> DrawnProblem:
    """Whether a claim about a fact is true."""
    fact, lang, holds = rng.choice(_facts(stated=True)), _lang(zh), rng.random() < 0.5
    name = fact.answer if holds else wrong_name(fact, rng)
    said = rng.choice(sentences().kinds[fact.kind].say)
    told = said.filled(lang, s=fact.subject[zh], a=name.forms(lang)[0])
    ask = (f"判断正误：{told}", f"True or false? {told}")
    words = [("正确", "错误"), ("对", "错")] if zh else [("True", "False"), ("Yes", "No")]
    right, wrong = (tuple(pair[holds is not one] for pair in words) for one in (True, False))
    return DrawnProblem(AnswerType.TRUE_FALSE, ask[not zh], right, (wrong,))


def choose(rng: random.Random, zh: bool) -> DrawnProblem:
    """Another problem with options, one of which is right."""
    drawn = rng.choice((recall, recall, shopping, expand, inequality, system))(rng, zh)
    others = [forms[0] for forms in drawn.wrong if forms[0] not in drawn.right]
    texts = [drawn.right[0], *rng.sample(others, min(len(others), 3))]
    listed = rng.sample(texts, len(texts))
    slots = [listed.index(text) for text in texts]
    forms = ("{0}", "({0})", "{0}. {1}", "{1}", "选项{0}" if zh else "option {0}")
    right, *wrong = (tuple(f.format(LETTERS[n], listed[n]) for f in forms) for n in slots)
    question = f"{drawn.question}{'（　　）' if zh else ''}\n{_options(rng, zh, listed)}"
    return DrawnProblem(AnswerType.SINGLE_CHOICE, question, right, tuple(wrong))


def members(rng: random.Random, zh: bool) -> DrawnProblem:
    """Which options are of a kind: two or three of four or five."""
    kind, other = rng.sample([*_GROUPS], 2)
    good, bad = (
        rng.sample(sorted({f.answer.forms(_lang(zh))[0] for f in _facts() if f.kind == name}), size)
        for name, size in ((kind, rng.choice((2, 3))), (other, rng.choice((1, 2))))
    )
    texts = rng.sample([*good, *bad], len(good) + len(bad))
    right = "".join(letter for letter, text in zip(LETTERS, texts, strict=False) if text in good)
    every = LETTERS[: len(texts)]
    subsets = itertools.chain(*(itertools.combinations(every, n) for n in range(1, len(texts))))
    wrong = [s for made in subsets if (s := "".join(made)) != right and len({*s} ^ {*right}) < 3]
    joint = "、" if zh else ", "
    answers = [(s, joint.join(s)) for s in (right, *rng.sample(wrong, min(4, len(wrong))))]
    ask = (f"（多选）以下哪些是{_GROUPS[kind][0]}？", f"Which of these are {_GROUPS[kind][1]}?")
    asked = f"{ask[not zh]}\n{_options(rng, zh, texts)}"
    return _drawn(AnswerType.MULTIPLE_CHOICE, asked, answers, ("{0}", "{1}"))


def _lang(zh: bool) -> Lang:
    return "zh" if zh else "en"


def _options(rng: random.Random, zh: bool, texts: Sequence[str]) -> str:
    layout = rng.choice(("{}. {}", "({}) {}", "{}、{}" if zh else "{}) {}", "{}: {}"))
    joint = rng.choice(("\n", "\n", "  ")) if sum(map(len, texts)) <= 60 else "\n"
    return joint.join(layout.format(*pair) for pair in zip(LETTERS, texts, strict=False))


KINDS: Final[dict[AnswerType, tuple[Kind, ...]]] = {
    AnswerType.SINGLE_CHOICE: (choose,),
    AnswerType.MULTIPLE_CHOICE: (members,),
    AnswerType.TRUE_FALSE: (claim,),
    AnswerType.NUMBER: (shopping,),
    AnswerType.SET: (set_operation,),
    AnswerType.INTERVAL: (inequality,),
    AnswerType.EXPRESSION: (expand,),
    AnswerType.EQUATION: (circle,),
    AnswerType.TUPLE: (system,),
    AnswerType.MULTI_PART: (sequence,),
    AnswerType.MULTI_ANSWER: (quadratic,),
    AnswerType.TEXT: (recall,),
}
"""The kinds of problems by answer type, used in turn."""
