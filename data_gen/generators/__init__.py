"""Problem generators: one function for each kind of problem.

A generator draws the numbers and computes the answer and typical wrong answers. The texts of the
questions are in ``words/*.txt``; ``builders.py`` writes the answers.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from gradegpt.schema import AnswerType


class GeneratedProblem(NamedTuple):
    """A generated problem: solution steps, equivalent forms of the reference, hard negatives.

    ``distractors`` writes wrong answers in the form of the reference, for multiple choice.
    """

    kind: AnswerType
    question: str
    reference: str
    steps: list[str]
    right: list[str]
    wrong: list[str]
    distractors: Callable[[], list[str]] = list


Generator = Callable[[random.Random, bool], GeneratedProblem]
"""Takes a random generator and whether the problem is to be in Chinese."""
