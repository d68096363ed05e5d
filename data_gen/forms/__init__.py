"""Write answers in every notation that ``gradegpt.answers`` reads.

>>> from gradegpt.answers import AnswerType, read
>>> answer = read("一半", AnswerType.NUMBER)
>>> write(answer, Style()), write(answer, Style(digits=Digits.FRACTION))
('0.5', '1/2')
"""

from __future__ import annotations

from .numbers import Digits
from .render import Notation, UnwritableError
from .style import Style
from .styles import candidates, styles, written
from .write import write

__all__ = [
    "Digits",
    "Notation",
    "Style",
    "UnwritableError",
    "candidates",
    "styles",
    "write",
    "written",
]
