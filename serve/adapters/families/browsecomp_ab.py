"""BrowseComp as Tongyi DeepResearch, MiroThinker and verifiers grade it: one letter of two.

The first ``A`` or ``B`` of the reply is read, of two tokens at most; anything else is tried again.
"""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

# The examples before it have questions, standard answers and fences too.
_FRAME = Frame(
    r"Below is a new question example", r"Question:", "{question}",
    r"Standard Answer:", "{reference}", r"Predicted Answer:", "{response}",
    r"(?:``` )?Evaluate this new question",
)  # fmt: skip

ADAPTERS = (
    Adapter(
        name="browsecomp_ab",
        callers="Tongyi DeepResearch, MiroThinker, verifiers OpenSeeker",
        frames=(_FRAME,),
        tags=(r"\bA\. \[CORRECT\]", r"\bB\. \[INCORRECT\]"),
        write=Words("A", "B"),
        example="""Is the prediction [CORRECT] or [INCORRECT]?
Below is a new question example.
```
Question: {question}
Standard Answer: {reference}
Predicted Answer: {response}
```

Evaluate this new question's prediction:
A. [CORRECT]
B. [INCORRECT]
""",
    ),
)
