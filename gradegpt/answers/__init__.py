"""How an answer is written: the one place that knows an alphabet, a mark or a number word.

>>> read("x=3 or x=-3").kind
<AnswerType.MULTI_ANSWER: 'multi_answer'>
"""

from __future__ import annotations

from gradegpt.answers.read import read
from gradegpt.answers.types import Answer

__all__ = ["Answer", "read"]
