"""Reading answers: all knowledge of option alphabets, part marks and number words.

>>> read("x=3 or x=-3").kind
<AnswerType.MULTI_ANSWER: 'multi_answer'>
>>> read("一半", AnswerType.NUMBER).value.quantity.value
Fraction(1, 2)
"""

from __future__ import annotations

from gradegpt.answers.answer import Answer
from gradegpt.answers.read import read
from gradegpt.answers.types import AnswerType

__all__ = ["Answer", "AnswerType", "read"]
