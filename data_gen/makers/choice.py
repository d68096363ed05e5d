"""Makers of problems with options, and of trends that are told in words."""

from __future__ import annotations

import random
from typing import Final, NamedTuple

from data_gen.makers import Drawn
from data_gen.makers.algebra import linear, midpoint
from data_gen.makers.arithmetic import percent, shopping
from gradegpt.schema import AnswerType


def choice(rng: random.Random, zh: bool) -> Drawn:
    """Another maker's problem with four options, one of them right."""
    drawn = rng.choice([shopping, percent, midpoint, linear])(rng, zh)
    near = {"A": 1, "B": -1, "C": 2, "D": 10}
    slot = rng.choice("ABCD")
    texts = {letter: _shift(drawn.reference, near[letter]) for letter in "ABCD"}
    texts[slot] = drawn.reference
    layout = rng.choice(["{}. {}", "({}) {}", "{}、{}", "{}：{}", "{}) {}"])
    listing = rng.choice(["\n", "  ", "\t"]).join(layout.format(*pair) for pair in texts.items())
    right = [
        f"({slot})",
        f"{slot}. {drawn.reference}",
        f"选项{slot}" if zh else f"option {slot}",
        f"{slot}项" if zh else f"Choice {slot}",
        drawn.reference,
    ]
    others = {letter: text for letter, text in texts.items() if letter != slot}
    wrong = [
        *others,
        *(f"{letter}. {text}" for letter, text in others.items()),
        *(f"({letter})" for letter in others),
        *(text for text in others.values() if text != drawn.reference),
    ]
    question = f"{drawn.question}\n{listing}"
    return Drawn(AnswerType.SINGLE_CHOICE, question, slot, drawn.steps, right, wrong)


def _shift(answer: str, step: int) -> str:
    digits = "".join(c for c in answer if c.isdigit())
    if digits and digits in answer:
        return answer.replace(digits, str(int(digits) + abs(step) + 1), 1)
    return f"{answer}{step:+d}"


def multiple(rng: random.Random, zh: bool) -> Drawn:
    """Which of four numbers can be divided by another: two or three of them."""
    numbers = rng.sample(range(10, 99), 4)
    k = rng.choice([2, 3, 4, 5, 6, 7])
    picked = rng.sample("ABCD", rng.choice([2, 2, 3]))
    values = {
        letter: n - n % k + (0 if letter in picked else rng.randint(1, k - 1))
        for letter, n in zip("ABCD", numbers, strict=True)
    }
    letters = "".join(sorted(picked))
    listing = "\n".join(f"{letter}. {value}" for letter, value in values.items())
    if zh:
        question = f"（多选）下列各数中，能被{k}整除的有（ ）\n{listing}"
        steps = [f"{v}÷{k}{'能整除' if v % k == 0 else '有余数'}" for v in values.values()]
    else:
        ask = f"Which of the following are divisible by {k}? Select all that apply."
        question = f"{ask}\n{listing}"
        steps = [
            f"{v} is {'' if v % k == 0 else 'not '}a multiple of {k}." for v in values.values()
        ]
    joined = [s.join(letters) for s in ("、", ",", ", ", " ", " and ", "和")]
    right = [*joined, f"({letters})", "".join(reversed(letters))]
    other = next(letter for letter in "ABCD" if letter not in letters)
    wrong = [
        letters[:-1],
        letters[1:],
        "".join(sorted(letters + other)),
        "".join(sorted(letters[:-1] + other)),
        "、".join(letters[:-1]),
    ]
    return Drawn(AnswerType.MULTIPLE_CHOICE, question, letters, steps, right, wrong)


class _Law(NamedTuple):
    """A question on two quantities, with a gap for what the first does, and whether they agree."""

    zh: str
    en: str
    proportional: bool


_LAWS: Final = (
    _Law(
        "电阻不变时，电压{}，电流会怎样变化？",
        "With a fixed resistance the voltage {}; how does the current change?",
        proportional=True,
    ),
    _Law(
        "温度不变时，一定质量的气体体积{}，压强会怎样变化？",
        "At fixed temperature the volume of a gas {}; how does its pressure change?",
        proportional=False,
    ),
    _Law(
        "路程一定时，速度{}，所用时间会怎样变化？",
        "For a fixed distance the speed {}; how does the time needed change?",
        proportional=False,
    ),
    _Law(
        "质量一定时，合力{}，加速度会怎样变化？",
        "For a fixed mass the net force {}; how does the acceleration change?",
        proportional=True,
    ),
)
_ZH_MORE: Final = ["增大", "变大", "增加"]
_ZH_LESS: Final = ["减小", "变小", "减少"]
_EN_MORE: Final = ["increases", "rises", "goes up"]
_EN_LESS: Final = ["decreases", "falls", "goes down"]


def trend(rng: random.Random, zh: bool) -> Drawn:
    """Whether a quantity grows or shrinks when another does."""
    law = rng.choice(_LAWS)
    factor, up = rng.randint(2, 60), rng.random() < 0.5
    if zh:
        more, less, same = _ZH_MORE, _ZH_LESS, "不变"
        question = law.zh.format(f"增大{factor}%" if up else f"减小{factor}%")
        step = "二者成正比。" if law.proportional else "二者成反比。"
    else:
        more, less, same = _EN_MORE, _EN_LESS, "stays the same"
        question = law.en.format(f"rises by {factor}%" if up else f"falls by {factor}%")
        how = "" if law.proportional else "inversely "
        step = f"The two are {how}proportional."
    good, bad = (more, less) if up == law.proportional else (less, more)
    right = [*good[1:], f"会{good[0]}" if zh else f"it {good[0]}"]
    return Drawn(AnswerType.TEXT, question, good[0], [step], right, [*bad, same])
