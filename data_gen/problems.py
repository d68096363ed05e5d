"""Problems with a known answer: the embedded bank, parametric ones, and questions from files."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from gradegpt.records import read_rows
from gradegpt.schema import AnswerType, Row

BANK: Final = Path(__file__).parent / "bank" / "problems.jsonl"


class Problem(Row):
    """A question, its answer in several right forms, and wrong answers that look near."""

    id: str
    lang: str
    answer_type: AnswerType
    question: str
    reference: str
    solution: tuple[str, ...] = ()
    also_correct: tuple[str, ...] = ()
    near_misses: tuple[str, ...] = ()


def bank() -> list[Problem]:
    """The embedded, hand-written problems."""
    return list(read_rows(BANK, Problem))


Maker = Callable[[random.Random, bool], tuple[AnswerType, str, str, list[str], list[str], list[str]]]
"""(generator, Chinese?) -> type, question, reference, solution steps, other right forms, near misses."""


def parametric(count: int, seed: int) -> Iterator[Problem]:
    """``count`` problems from templates with drawn numbers, half of them Chinese; distinct questions."""
    seen: set[str] = set()
    for index in range(count * 4):
        rng = random.Random(f"{seed}:parametric:{index}")
        chinese = index % 2 == 0
        maker = _MAKERS[(index // 2) % len(_MAKERS)]
        kind, question, reference, steps, right, wrong = maker(rng, chinese)
        wrong = [w for w in wrong if w != reference and w not in right]
        if question in seen or not wrong:
            continue
        seen.add(question)
        lang = "zh" if chinese else "en"
        yield Problem(
            id=f"par-{lang}-{index:06d}", lang=lang, answer_type=kind, question=question, reference=reference,
            solution=tuple(steps), also_correct=tuple(right), near_misses=tuple(dict.fromkeys(wrong)),
        )  # fmt: skip
        if len(seen) == count:
            return


_ZH_NAMES: Final = ("小明", "小红", "李华", "王芳", "张伟", "刘洋", "小刚", "陈静")
_EN_NAMES: Final = ("Tom", "Anna", "Maria", "Ben", "Sara", "Leo", "Nina", "Omar")
_ZH_THINGS: Final = ("苹果", "铅笔", "本子", "橘子", "贴纸", "气球", "杯子", "糖果")
_EN_THINGS: Final = ("apples", "pencils", "notebooks", "oranges", "stickers", "balloons", "cups", "candies")


def _shopping(rng: random.Random, zh: bool):
    total, price, n = rng.randint(60, 900), rng.randint(2, 9), rng.randint(2, 6)
    left = total - price * n
    i = rng.randrange(8)
    unit = "元" if zh else " dollars"
    question = (
        f"{_ZH_NAMES[i]}有{total}元，一个{_ZH_THINGS[i]}{price}元，买了{n}个，还剩多少元？" if zh
        else f"{_EN_NAMES[i]} has ${total}. {_EN_THINGS[i].capitalize()} cost ${price} each, and {n} are bought. How much money is left?"
    )  # fmt: skip
    steps = (
        [f"买东西一共花了 {price}×{n}={price * n} 元。", f"{total}-{price * n}={left}。"] if zh
        else [f"The purchase costs {price} * {n} = {price * n} dollars.", f"{total} - {price * n} = {left}."]
    )  # fmt: skip
    right = [f"{left}{unit}", f"{left}.0", f"${left}$", f"{left}.00{unit}"] + ([] if zh else [f"${left}"])
    wrong = [f"{left + d}{u}" for d in (1, -1, 10, price, -price) for u in ("", unit)] + [f"{price * n}{unit}"]
    return AnswerType.NUMBER, question, str(left), steps, right, wrong


def _fraction(rng: random.Random, zh: bool):
    a, b, c, d = rng.randint(1, 7), rng.randint(2, 9), rng.randint(1, 7), rng.randint(2, 9)
    top, bottom = a * d + b * c, b * d
    g = math.gcd(top, bottom)
    n, m = top // g, bottom // g
    if m == 1:
        n, m = n * 3 + 1, 3
        question = f"计算 ${n - 1}/3 + 1/3$ 的值。" if zh else f"Compute {n - 1}/3 + 1/3."
        steps = [f"({n - 1}+1)/3={n}/3"]
    else:
        question = (
            f"计算 $\\frac{{{a}}}{{{b}}}+\\frac{{{c}}}{{{d}}}$，结果写成最简分数。" if zh
            else f"Write \\frac{{{a}}}{{{b}}} + \\frac{{{c}}}{{{d}}} as a fraction in lowest terms."
        )  # fmt: skip
        steps = (
            [f"通分得 $\\frac{{{a * d}}}{{{bottom}}}+\\frac{{{c * b}}}{{{bottom}}}$", "再约分即可。"] if zh
            else [f"The common denominator is {bottom}: {a * d}/{bottom} + {c * b}/{bottom}.", "Then reduce."]
        )  # fmt: skip
    right = [f"\\frac{{{n}}}{{{m}}}", f"${n}/{m}$", f"$\\frac{{{n}}}{{{m}}}$", f"\\dfrac{{{n}}}{{{m}}}", f"{n} / {m}"]
    wrong = [f"{n + 1}/{m}", f"\\frac{{{n}}}{{{m + 1}}}", f"{m}/{n}", f"-{n}/{m}", f"$\\frac{{{n - 1}}}{{{m}}}$"]
    return AnswerType.NUMBER, question, f"{n}/{m}" if rng.random() < 0.5 else f"\\frac{{{n}}}{{{m}}}", steps, right, wrong


def _percent(rng: random.Random, zh: bool):
    base, p = rng.randint(2, 40) * 50, rng.choice([5, 10, 12, 15, 20, 25, 30, 40, 60, 75])
    value = base * p // 100
    if base * p % 100:
        base, value = 200, 2 * p
    ask = rng.random() < 0.5
    if ask:
        question = f"{base}的{p}%是多少？" if zh else f"What is {p}% of {base}?"
        steps = [f"{base}×{p}%={value}"]
        return (
            AnswerType.NUMBER, question, str(value), steps, [f"{value}.0", f"${value}$"],
            [str(value * 10), str(value + 5), str(base - value), f"{value}%"],
        )  # fmt: skip
    question = f"{value}占{base}的百分之几？" if zh else f"{value} is what percent of {base}?"
    steps = [f"{value}÷{base}={p / 100:g}"]
    right = [f"{p / 100:g}", f"{p}\\%", f"${p}\\%$"] + ([] if zh else [f"{p} percent"])
    return AnswerType.NUMBER, question, f"{p}%", steps, right, [f"{p + 5}%", f"{p / 10:g}%", f"{100 - p}%", f"{p}‰"]


def _linear(rng: random.Random, zh: bool):
    x, a, b = rng.randint(-12, 12), rng.randint(2, 9), rng.randint(-20, 20)
    c = a * x + b
    sign = f"+{b}" if b >= 0 else str(b)
    question = f"解方程 ${a}x{sign}={c}$。" if zh else f"Solve for x: {a}x{sign} = {c}"
    steps = [f"{a}x={c - b}", f"x={c - b}/{a}"]
    wrong = [f"x={x + 1}", f"x={-x if x else 3}", f"x = {x - 2}", f"$x={a * x or 7}$", str(x + 3)]
    right = [f"x = {x}", f"$x={x}$", str(x), f"${x}$"]
    return AnswerType.EQUATION, question, f"x={x}", steps, right, wrong


def _quadratic(rng: random.Random, zh: bool):
    p, q = rng.sample(range(-9, 10), 2)
    b, c = -(p + q), p * q
    text = f"x^2{b:+d}x{c:+d}=0".replace("+0x", "").replace("-0x", "").replace("+0=", "=")
    question = f"求方程 ${text}$ 的所有实数根。" if zh else f"Find all real roots of ${text}$."
    steps = [f"(x{-p:+d})(x{-q:+d})=0"]
    either = "或" if zh else " or "
    right = [f"x_1={q}, x_2={p}", f"{q}, {p}", f"x={q}{either}x={p}", f"$x={p}$, $x={q}$", f"x={p}{either}{q}"]
    wrong = [f"x={p}", f"x={p}{either}x={-q if q else 11}", f"x={p + 1}{either}x={q}", f"{-p if p else 12}, {q}", f"x={q}"]
    return AnswerType.MULTI_ANSWER, question, f"x={p}{either}x={q}", steps, right, wrong


def _inequality(rng: random.Random, zh: bool):
    a, b = sorted(rng.sample(range(-9, 10), 2))
    closed = rng.random() < 0.5
    op = "\\le" if closed else "<"
    left, right_ = ("[", "]") if closed else ("(", ")")
    question = (
        f"不等式 $(x{-a:+d})(x{-b:+d}){op} 0$ 的解集用区间表示为____。" if zh
        else f"Solve $(x{-a:+d})(x{-b:+d}) {op} 0$ and give the solution as an interval."
    )  # fmt: skip
    steps = [f"{'两根为' if zh else 'The roots are'} {a}, {b}", "开口向上，取两根之间。" if zh else "The parabola opens upward, so take the part between the roots."]
    sign = "≤" if closed else "<"
    ref = f"{left}{a},{b}{right_}"
    right = [f"${ref}$", f"{left}{a}, {b}{right_}", f"{a}{sign}x{sign}{b}", f"${a} {op} x {op} {b}$", f"{{x|{a}{sign}x{sign}{b}}}"]
    flip = ("(", ")") if closed else ("[", "]")
    wrong = [f"{flip[0]}{a},{b}{flip[1]}", f"{left}{a},{b + 1}{right_}", f"(-∞,{a})∪({b},+∞)", f"{left}{-b},{-a}{right_}" if a != -b else f"{left}{a - 1},{b}{right_}"]
    return AnswerType.INTERVAL, question, ref, steps, right, wrong


def _divisors(rng: random.Random, zh: bool):
    n = rng.choice([12, 15, 16, 18, 20, 21, 22, 25, 26, 27, 28, 32, 33, 34, 35, 39, 44, 45, 49, 50, 52])
    top = rng.randint(n // 2, n)
    found = [d for d in range(1, top + 1) if n % d == 0]
    question = (
        f"写出集合 $\\{{x\\mid x\\text{{ 是 }}{n}\\text{{ 的正约数且 }}x\\le {top}\\}}$ 的所有元素。" if zh
        else f"List the set of positive divisors of {n} that are at most {top}."
    )  # fmt: skip
    steps = [", ".join(f"{n}={d}×{n // d}" for d in found[:3])]
    body = ",".join(map(str, found))
    shuffled = rng.sample(found, len(found))
    right = [f"$\\{{{body}\\}}$", "{" + ", ".join(map(str, shuffled)) + "}", f"{{{body}}}", f"\\{{{', '.join(map(str, found))}\\}}"]
    wrong = [
        "{" + ",".join(map(str, found[:-1])) + "}", "{" + ",".join(map(str, found[1:])) + "}",
        "{" + ",".join(map(str, [*found, top + 1])) + "}", "{" + ",".join(map(str, [*found[:-1], found[-1] + 1])) + "}",
    ]  # fmt: skip
    return AnswerType.SET, question, f"{{{body}}}", steps, right, wrong


def _midpoint(rng: random.Random, zh: bool):
    x, y, dx, dy = (rng.randint(-9, 9) for _ in range(4))
    question = (
        f"已知点 A({x - dx},{y - dy})，B({x + dx},{y + dy})，求线段 AB 的中点坐标。" if zh
        else f"Find the midpoint of the segment from ({x - dx}, {y - dy}) to ({x + dx}, {y + dy})."
    )  # fmt: skip
    steps = [f"({x - dx}+{x + dx})/2={x}", f"({y - dy}+{y + dy})/2={y}"]
    wrong = [f"({y},{x})", f"({x},{-y})", f"({x + 1},{y})", f"({-x},{y})", f"({2 * x},{2 * y})"]
    wrong = [w for w in wrong if w != f"({x},{y})"]
    right = [f"$({x},{y})$", f"({x}, {y})", f"x={x}, y={y}", f"M({x},{y})"]
    return AnswerType.TUPLE, question, f"({x},{y})", steps, right, wrong


def _expand(rng: random.Random, zh: bool):
    a, b = rng.randint(1, 9), rng.randint(-9, 9) or 4
    s, p = a + b, a * b
    middle = "" if s == 0 else f"{s:+d}x".replace("+1x", "+x").replace("-1x", "-x") if abs(s) == 1 else f"{s:+d}x"
    ref = f"x^2{middle}{p:+d}"
    question = f"展开并化简 $(x{a:+d})(x{b:+d})$。" if zh else f"Expand and simplify (x{a:+d})(x{b:+d})."
    steps = [f"x^2{b:+d}x{a:+d}x{p:+d}"]
    right = [f"${ref}$", f"x²{middle}{p:+d}", f"{p}{middle}+x^2", f"$x^{{2}}{middle}{p:+d}$"]
    wrong = [f"x^2{middle}{-p:+d}", f"x^2{s + 1:+d}x{p:+d}", f"x^2{p:+d}x{s:+d}", f"x^2{p:+d}"]
    return AnswerType.EXPRESSION, question, ref, steps, right, wrong


def _derivative(rng: random.Random, zh: bool):
    a, n, b = rng.randint(2, 9), rng.randint(2, 6), rng.randint(2, 9)
    power = f"x^{n - 1}" if n > 2 else "x"
    ref = f"{a * n}{power}+{b}"
    question = f"求函数 $f(x)={a}x^{n}+{b}x$ 的导数。" if zh else f"Differentiate f(x) = {a}x^{n} + {b}x."
    steps = [f"({a}x^{n})'={a * n}{power}", f"({b}x)'={b}"]
    right = [f"${ref}$", f"f'(x)={ref}", f"{b}+{a * n}{power}", f"{a * n} {power} + {b}"]
    wrong = [f"{a * n}x^{n}+{b}", f"{a}{power}+{b}", f"{a * n}{power}", f"{a * n}{power}-{b}", f"{a * n + 1}{power}+{b}"]
    return AnswerType.EXPRESSION, question, ref, steps, right, wrong


def _compare(rng: random.Random, zh: bool):
    a, b = rng.randint(2, 30), rng.randint(2, 30)
    n = rng.randint(2, 3)
    claim = a**n > b
    question = (
        f"判断对错：${a}^{n}$ 大于 ${b * a}$。" if zh else f"True or false: {a}^{n} is greater than {a * b}."
    )  # fmt: skip
    claim = a**n > a * b
    steps = [f"{a}^{n}={a**n}"]
    yes, no = (["正确", "对", "√", "是"], ["错误", "错", "×", "不正确"]) if zh else (["True", "true", "Yes", "correct"], ["False", "false", "No", "incorrect"])
    good, bad = (yes, no) if claim else (no, yes)
    return AnswerType.TRUE_FALSE, question, good[0], steps, good[1:], bad


def _circle(rng: random.Random, zh: bool):
    a, b, r = rng.randint(-6, 6), rng.randint(-6, 6), rng.randint(2, 9)
    left = (f"(x{-a:+d})^2" if a else "x^2") + (f"+(y{-b:+d})^2" if b else "+y^2")
    ref = f"{left}={r * r}"
    question = f"求以点({a},{b})为圆心、{r}为半径的圆的标准方程。" if zh else f"Write the standard equation of the circle with centre ({a}, {b}) and radius {r}."
    other = (f"(x{a:+d})^2" if a else "(x+1)^2") + (f"+(y{b:+d})^2" if b else "+y^2")
    steps = ["到圆心的距离等于半径。" if zh else "Every point is at distance r from the centre."]
    right = [f"${ref}$", ref.replace("=", " = "), ref.replace("^2", "²"), f"{left}-{r * r}=0"]
    return AnswerType.EQUATION, question, ref, steps, right, [f"{left}={r}", f"{other}={r * r}", f"{left}={r * r + 1}", f"{left}={2 * r}"]


def _two_parts(rng: random.Random, zh: bool):
    a, d, n = rng.randint(1, 9), rng.randint(2, 6), rng.randint(5, 12)
    term, total = a + (n - 1) * d, n * a + n * (n - 1) * d // 2
    question = (
        f"等差数列首项为{a}，公差为{d}。（1）求第{n}项；（2）求前{n}项和。" if zh
        else f"An arithmetic sequence has first term {a} and common difference {d}. (1) Find term {n}. (2) Find the sum of the first {n} terms."
    )  # fmt: skip
    steps = [f"a_{n}={a}+{n - 1}×{d}={term}", f"S_{n}={n}×({a}+{term})/2={total}"]
    ref = f"(1) {term}; (2) {total}"
    right = [f"（1）{term}（2）{total}", f"{term}, {total}", f"(1) ${term}$ (2) ${total}$", f"(1) a_{n}={term}; (2) S_{n}={total}"]
    wrong = [f"(1) {total}; (2) {term}", f"(1) {term}; (2) {total + d}", f"(1) {term + d}; (2) {total}", f"(1) {term}", f"{term}"]
    return AnswerType.MULTI_PART, question, ref, steps, right, wrong


def _choice(rng: random.Random, zh: bool):
    kind, question, reference, steps, _, _ = rng.choice([_shopping, _percent, _midpoint, _linear])(rng, zh)
    near = {"A": 1, "B": -1, "C": 2, "D": 10}
    slot = rng.choice("ABCD")
    texts = {l: _shift(reference, near[l]) for l in "ABCD"}
    texts[slot] = reference
    layout = rng.choice(["{l}. {t}", "({l}) {t}", "{l}、{t}", "{l}：{t}", "{l}) {t}"])
    listing = rng.choice(["\n", "  ", "\t"]).join(layout.format(l=l, t=t) for l, t in texts.items())
    del kind
    right = [f"({slot})", f"{slot}. {reference}", f"选项{slot}" if zh else f"option {slot}", f"{slot}项" if zh else f"Choice {slot}", reference]
    wrong = [l for l in "ABCD" if l != slot] + [f"{l}. {texts[l]}" for l in "ABCD" if l != slot] + [f"({l})" for l in "ABCD" if l != slot]
    wrong += [t for l, t in texts.items() if l != slot and t != reference]
    return AnswerType.SINGLE_CHOICE, f"{question}\n{listing}", slot, steps, right, wrong


def _shift(answer: str, step: int) -> str:
    digits = "".join(c for c in answer if c.isdigit())
    return answer.replace(digits, str(int(digits) + abs(step) + 1), 1) if digits and digits in answer else f"{answer}{step:+d}"


def _multiple(rng: random.Random, zh: bool):
    numbers = rng.sample(range(10, 99), 4)
    k = rng.choice([2, 3, 4, 5, 6, 7])
    picked = rng.sample("ABCD", rng.choice([2, 2, 3]))
    values = {l: n - n % k + (0 if l in picked else rng.randint(1, k - 1)) for l, n in zip("ABCD", numbers, strict=True)}
    letters = "".join(sorted(picked))
    question = (
        f"（多选）下列各数中，能被{k}整除的有（ ）\n" if zh else f"Which of the following are divisible by {k}? Select all that apply.\n"
    ) + "\n".join(f"{l}. {v}" for l, v in values.items())  # fmt: skip
    steps = [f"{v}÷{k}{'能整除' if v % k == 0 else '有余数'}" if zh else f"{v} is {'' if v % k == 0 else 'not '}a multiple of {k}." for v in values.values()]
    joined = [s.join(letters) for s in ("、", ",", ", ", " ", " and ", "和")]
    rest = [l for l in "ABCD" if l not in letters]
    wrong = [letters[:-1], letters[1:], "".join(sorted(letters + rest[0])), "".join(sorted(letters[:-1] + rest[0])), "、".join(letters[:-1])]
    right = [*joined, f"({letters})", "".join(reversed(letters))]
    return AnswerType.MULTIPLE_CHOICE, question, letters, steps, right, wrong


_TRENDS: Final = (
    ("电阻不变时，电压{}，电流会怎样变化？", "With a fixed resistance the voltage {}; how does the current change?", 1),
    ("温度不变时，一定质量的气体体积{}，压强会怎样变化？", "At fixed temperature the volume of a gas {}; how does its pressure change?", -1),
    ("路程一定时，速度{}，所用时间会怎样变化？", "For a fixed distance the speed {}; how does the time needed change?", -1),
    ("质量一定时，合力{}，加速度会怎样变化？", "For a fixed mass the net force {}; how does the acceleration change?", 1),
)  # fmt: skip


def _trend(rng: random.Random, zh: bool):
    chinese, english, sign = rng.choice(_TRENDS)
    factor, up = rng.randint(2, 60), rng.random() < 0.5
    zh_words, en_words = (("增大", "变大", "增加"), ("减小", "变小", "减少")), (("increases", "rises", "goes up"), ("decreases", "falls", "goes down"))
    words = zh_words if zh else en_words
    change = (f"增大{factor}%" if up else f"减小{factor}%") if zh else (f"rises by {factor}%" if up else f"falls by {factor}%")
    grows = up == (sign > 0)
    good, bad = (words[0], words[1]) if grows else (words[1], words[0])
    question = (chinese if zh else english).format(change)
    steps = ["二者成正比。" if zh else "The two are proportional."] if sign > 0 else ["二者成反比。" if zh else "The two are inversely proportional."]
    same = "不变" if zh else "stays the same"
    return AnswerType.TEXT, question, good[0], steps, [*good[1:], f"会{good[0]}" if zh else f"it {good[0]}"], [*bad, same]


_MAKERS: Final[tuple[Maker, ...]] = (
    _choice, _shopping, _multiple, _fraction, _compare, _percent, _quadratic, _linear, _choice, _inequality, _divisors,
    _midpoint, _expand, _two_parts, _circle, _derivative, _trend, _multiple,
)  # fmt: skip
