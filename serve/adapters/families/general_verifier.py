"""General-Verifier: General-Reasoner, open-instruct, RL-Verifier-Pitfalls, Reasoning360 of old.

Mostly a raw completion, ``User: … Assistant:``. ``Final Decision: Yes`` anywhere in the reply is
correct, so a reason may precede it unless it mentions a final decision itself.
"""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

_FRAME = Frame(
    r"### Question:", "{question}", r"### Ground Truth Answer:", "{reference}",
    r"### Student Answer:", "{response}",
    r"(?:For the above question|Verify if the student)",
)  # fmt: skip

ADAPTERS = (
    Adapter(
        name="general_verifier",
        callers="General-Reasoner, open-instruct, RL-Verifier-Pitfalls, Reasoning360 legacy",
        frames=(_FRAME,),
        tags=(r"Final Decision: Yes",),
        write=Words(
            "Final Decision: Yes",
            "Final Decision: No",
            around="{why}\n{verdict}",
            hostile=r"(?i)final\s+decision",
        ),
        example="""### Question: {question}

### Ground Truth Answer: {reference}

### Student Answer: {response}

For the above question: are the two equivalent? Final Decision: Yes or Final Decision: No.""",
    ),
)
