"""Generators: one function a kind of problem, which draws the numbers and works out the answers.

What a question says stands in ``words/*.txt``, how an answer is written in ``ways.py``; a generator
holds the arithmetic and the errors that people make in it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from gradegpt.schema import AnswerType


class Drawn(NamedTuple):
    """A drawn problem: solution steps, other right forms of the reference, and hard negatives.

    ``rivals`` writes wrong answers the way the reference is: the options of a choice.
    """

    kind: AnswerType
    question: str
    reference: str
    steps: list[str]
    right: list[str]
    wrong: list[str]
    rivals: Callable[[], list[str]] = list


Generator = Callable[[random.Random, bool], Drawn]
"""From a generator, and whether the problem is to be Chinese."""
