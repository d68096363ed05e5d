"""inspect_ai: ``model_graded_qa`` and ``model_graded_fact``.

The parser takes the last ``GRADE: X``; a reply without one leaves the sample unscored, which is
what a judge that did not decide wants. Partial credit is never given.
"""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

_WORDS = Words(
    "GRADE: C",
    "GRADE: I",
    undecided="The judge did not decide.",
    around="{why}\n{verdict}",
    hostile=r"(?i)grade\s*:",
)
_STARS = r"(?<!\*)\*{3,}"
_QA = Frame(
    r"\[BEGIN DATA\] \*{3,} \[Task\]:", "{question}",
    _STARS + r" \[(?:Submission|Reasoning)\]:", "{response}",
    _STARS + r" \[Criterion\]:", "{reference}", _STARS + r" \[END DATA\]",
)  # fmt: skip
_FACT = Frame(
    r"\[BEGIN DATA\] \*{3,} \[Question\]:", "{question}", _STARS + r" \[Expert\]:", "{reference}",
    _STARS + r" \[Submission\]:", "{response}", _STARS + r" \[END DATA\]",
)  # fmt: skip

ADAPTERS = (
    Adapter(
        name="inspect_qa",
        callers="inspect_ai model_graded_qa, vitals",
        frames=(_QA,),
        tags=(r"GRADE: ",),
        without=(r"GRADE: <integer",),
        write=_WORDS,
        example="""Does the submission meet the criterion?
[BEGIN DATA]
***
[Task]: {question}
***
[Submission]: {response}
***
[Criterion]: {reference}
***
[END DATA]
Explain, then end with GRADE: C or GRADE: I.
""",
    ),
    Adapter(
        name="inspect_fact",
        callers="inspect_ai model_graded_fact",
        frames=(_FACT,),
        tags=(r"GRADE: ",),
        write=_WORDS,
        example="""Does the submission say what the expert says?
[BEGIN DATA]
************
[Question]: {question}
************
[Expert]: {reference}
************
[Submission]: {response}
************
[END DATA]
Explain, then end with GRADE: C or GRADE: I.
""",
    ),
)
