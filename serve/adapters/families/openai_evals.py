"""openai/evals: ``fact`` with its five relations and ``closedqa`` with ``Y`` and ``N``.

The frames are those of inspect_ai, which asks for a grade; here a letter on a line of its own is
read, from the top or from the end. Of the relations a judge of correctness knows two: the same
details (C) and a disagreement (D). ``fact`` counts any other reply as invalid; ``closedqa`` scores
it as ``N``.
"""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

_FACT = Frame(
    r"\[BEGIN DATA\] \*{3,} \[Question\]:", "{question}", r"(?<!\*)\*{3,} \[Expert\]:",
    "{reference}", r"(?<!\*)\*{3,} \[Submission\]:", "{response}", r"(?<!\*)\*{3,} \[END DATA\]",
)  # fmt: skip
_CLOSED = Frame(
    r"\[BEGIN DATA\] \*{3,} \[Task\]:", "{question}", r"(?<!\*)\*{3,} \[Submission\]:",
    "{response}", r"(?<!\*)\*{3,} \[Criterion\]:", "{reference}", r"(?<!\*)\*{3,} \[END DATA\]",
)  # fmt: skip
_GRADE = r"GRADE: "

ADAPTERS = (
    Adapter(
        name="openai_evals_fact",
        callers="openai/evals modelgraded fact",
        frames=(_FACT,),
        tags=(r"\(A\) ", r"\(C\) ", r"\(D\) ", r"\(E\) "),
        without=(_GRADE,),
        write=Words("C", "D", undecided="?"),
        example="""How does the submission relate to the expert's answer?
[BEGIN DATA]
************
[Question]: {question}
************
[Expert]: {reference}
************
[Submission]: {response}
************
[END DATA]
(A) a part of it
(B) more than it
(C) the same details
(D) a disagreement
(E) differences that do not matter
""",
    ),
    Adapter(
        name="openai_evals_closedqa",
        callers="openai/evals modelgraded closedqa",
        frames=(_CLOSED,),
        tags=(r"\"Y\" or \"N\"",),
        without=(_GRADE,),
        write=Words("Y", "N"),
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
End with "Y" or "N" on a line of its own.
""",
    ),
)
