"""LangChain's evaluators: criteria with a reference (``Y`` or ``N``), and a grade of an answer.

The parser looks at the first and the last letter or word of the reply, so nothing else is said.
"""

from __future__ import annotations

import re
from typing import Final

from gradegpt.schema import Item

from ..adapter import Adapter, Fields, PromptError, item_of
from ..frame import Frame
from ..reply import Words

_STARS = r"(?<!\*)\*{3,}"
_CRITERIA = Frame(
    r"\[BEGIN DATA\] \*{3,} \[Input\]:", "{question}", _STARS + r" \[Submission\]:", "{response}",
    _STARS + r" \[Criteria\]:", "{criteria}", _STARS + r" \[Reference\]:", "{reference}",
    _STARS + r" \[END DATA\]",
)  # fmt: skip
_PROFESSOR = Frame(
    r"You are grading the following question:", "{question}",
    r"Here is the real answer:", "{reference}",
    r"You are grading the following predicted answer:", "{response}",
    r"Respond with CORRECT or INCORRECT",
)  # fmt: skip
_QUIZ = r"Begin!\W* QUESTION:"
# What comes back may be described behind the grade: "GRADE: (Correct or Incorrect)".
_GRADE = r"GRADE:(?!\s*\()"
_QA = Frame(
    _QUIZ, "{question}", r"STUDENT ANSWER:", "{response}", r"TRUE ANSWER:", "{reference}", _GRADE
)
_QA_TRUE_FIRST = Frame(
    _QUIZ, "{question}", r"TRUE ANSWER:", "{reference}", r"STUDENT ANSWER:", "{response}", _GRADE
)
_OF_CORRECTNESS: Final = re.compile(r"(?i)correct|accura|factual")


def _item(fields: Fields) -> Item:
    """The item, if what is asked is whether the submission is correct."""
    if not _OF_CORRECTNESS.search(fields["criteria"]):
        raise PromptError(
            f"langchain_criteria: the criterion {fields['criteria'][:60]!r} is not correctness, "
            "which is all that is judged here; use criteria='correctness'"
        )
    return item_of(fields)


ADAPTERS = (
    Adapter(
        name="langchain_criteria",
        callers="LangChain labeled_criteria",
        frames=(_CRITERIA,),
        tags=(r"\"Y\" or \"N\"",),
        write=Words("Y", "N"),
        item=_item,
        example="""Does the submission meet the criteria?
[BEGIN DATA]
***
[Input]: {question}
***
[Submission]: {response}
***
[Criteria]: correctness: is it correct?
***
[Reference]: {reference}
***
[END DATA]
End with "Y" or "N" on a line of its own.
""",
    ),
    Adapter(
        name="langchain_qa",
        callers="LangChain QAEvalChain",
        frames=(_QA,),
        write=Words("CORRECT", "INCORRECT"),
        example="""Grade the student's answer as CORRECT or INCORRECT. Begin!

QUESTION: {question}
STUDENT ANSWER: {response}
TRUE ANSWER: {reference}
GRADE:""",
    ),
    Adapter(
        name="langchain_qa_true_first",
        callers="LangChain QAEvalChain with a prompt that states the true answer first",
        frames=(_QA_TRUE_FIRST,),
        write=Words("CORRECT", "INCORRECT"),
        example="""Grade the student's answer as CORRECT or INCORRECT. Begin!

QUESTION: {question}
TRUE ANSWER: {reference}
STUDENT ANSWER: {response}
GRADE:""",
    ),
    Adapter(
        name="langchain_qa_professor",
        callers="LangChain QAEvalChain with a prompt of its examples",
        frames=(_PROFESSOR,),
        write=Words("CORRECT", "INCORRECT"),
        example="""You are grading the following question:
{question}
Here is the real answer:
{reference}
You are grading the following predicted answer:
{response}
Respond with CORRECT or INCORRECT:
Grade:""",
    ),
)
