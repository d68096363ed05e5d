"""VerifyBench with a reference: the last ``Yes`` or ``No`` of the reply, capitalised, is read.

Without one its script fails, so a judge that did not decide refuses.
"""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

_FRAME = Frame(
    r"(?<!-)-{3,} Problem:", "{question}", r"Reference Answer:", "{reference}",
    r"Solution to be evaluated:", "{response}",
)  # fmt: skip

ADAPTERS = (
    Adapter(
        name="verifybench",
        callers="VerifyBench w_ref",
        frames=(_FRAME,),
        tags=(r"Final Judgment: Yes/No",),
        write=Words("Final Judgment: Yes", "Final Judgment: No", around="{why}\n{verdict}"),
        example="""Does the solution reach the reference answer? End with 'Final Judgment: Yes/No'.

-------

Problem: {question}
Reference Answer: {reference}
Solution to be evaluated: {response}
""",
    ),
)
