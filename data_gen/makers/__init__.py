"""Makers: one function a kind of problem, which draws the numbers and works out the answers."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from gradegpt.schema import AnswerType


class Drawn(NamedTuple):
    """A drawn problem: solution steps, other right forms of the reference, and near misses."""

    kind: AnswerType
    question: str
    reference: str
    steps: list[str]
    right: list[str]
    wrong: list[str]


Maker = Callable[[random.Random, bool], Drawn]
"""From a generator, and whether the problem is to be Chinese."""
