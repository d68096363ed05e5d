"""Problems from templates with drawn numbers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from data_gen.makers import Maker
from data_gen.makers.algebra import (
    circle,
    derivative,
    expand,
    inequality,
    linear,
    midpoint,
    quadratic,
)
from data_gen.makers.arithmetic import compare, divisors, fraction, percent, sequence, shopping
from data_gen.makers.choice import choice, multiple, trend
from data_gen.problems import Problem

_MAKERS: Final[tuple[Maker, ...]] = (
    choice, shopping, multiple, fraction, compare, percent, quadratic, linear, choice, inequality,
    divisors, midpoint, expand, sequence, circle, derivative, trend, multiple,
)  # fmt: skip
"""Taken in turn; one that stands twice is drawn twice as often."""


def parametric(count: int, seed: int) -> Iterator[Problem]:
    """``count`` problems, half of them Chinese, no question twice."""
    seen: set[str] = set()
    for index in range(count * 4):
        rng = random.Random(f"{seed}:parametric:{index}")
        chinese = index % 2 == 0
        drawn = _MAKERS[(index // 2) % len(_MAKERS)](rng, chinese)
        wrong = [w for w in drawn.wrong if w != drawn.reference and w not in drawn.right]
        if drawn.question in seen or not wrong:
            continue
        seen.add(drawn.question)
        lang = "zh" if chinese else "en"
        yield Problem(
            id=f"par-{lang}-{index:06d}",
            lang=lang,
            answer_type=drawn.kind,
            question=drawn.question,
            reference=drawn.reference,
            solution=tuple(drawn.steps),
            also_correct=tuple(drawn.right),
            near_misses=tuple(dict.fromkeys(wrong)),
        )
        if len(seen) == count:
            return
