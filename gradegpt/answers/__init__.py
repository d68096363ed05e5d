"""Reading and writing answers: all knowledge of option alphabets, part marks and number words.

>>> read("x=3 or x=-3").kind
<AnswerType.MULTI_ANSWER: 'multi_answer'>
>>> answer = read("一半", AnswerType.NUMBER)
>>> write(answer, Style()), write(answer, Style(digits=Digits.FRACTION)), read("50%") == answer
('0.5', '1/2', True)
"""

from __future__ import annotations

from gradegpt.answers.answer import Answer
from gradegpt.answers.numbers import Digits
from gradegpt.answers.read import read
from gradegpt.answers.render import Notation, UnwritableError
from gradegpt.answers.style import Style
from gradegpt.answers.styles import styles, written
from gradegpt.answers.types import AnswerType
from gradegpt.answers.write import write

__all__ = [
    "Answer",
    "AnswerType",
    "Digits",
    "Notation",
    "Style",
    "UnwritableError",
    "read",
    "styles",
    "write",
    "written",
]
