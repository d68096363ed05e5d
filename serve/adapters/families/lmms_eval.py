"""lmms-eval: the binary and the correctness judge.

The caller names its two words, ``1`` and ``0`` or ``Yes`` and ``No``. The parser takes any ``1``
in the reply, or a ``yes`` at its start, so the reply is the word alone.
"""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

_WORDS = Words("{positive}", "{negative}")
_BINARY = Frame(
    r"# Input Question: ```", "{question}", r"``` Ground Truth Answer: ```", "{reference}",
    r"``` Model Prediction: ```", "{response}", r"``` # Evaluation Rules",
)  # fmt: skip
_CORRECTNESS = Frame(
    r"Question:", "{question}", r"(?<!-)-{16,} Correct Answer:", "{reference}",
    r"(?<!-)-{16,} Solution:", "{response}", r"(?<!-)-{16,}",
)  # fmt: skip

ADAPTERS = (
    Adapter(
        name="lmms_binary",
        callers="lmms-eval binary judge",
        frames=(_BINARY,),
        tags=(r"must output \S+ for", r"Output format \S+ or \S+"),
        options={
            "positive": r"Output format (\S+) or",
            "negative": r"Output format \S+ or (\S+)",
        },
        write=_WORDS,
        example="""You must output 1 for a correct prediction and 0 for any other.

# Input
Question:
```
{question}
```
Ground Truth Answer:
```
{reference}
```
Model Prediction:
```
{response}
```

# Evaluation Rules
- Compare what they mean.

# Strict Output format
1 or 0""",
    ),
    Adapter(
        name="lmms_correctness",
        callers="lmms-eval correctness judge",
        frames=(_CORRECTNESS,),
        tags=(r"Only return \"[^\"]+\" or \"[^\"]+\"",),
        options={
            "positive": r"Only return \"([^\"]+)\" or \"",
            "negative": r"Only return \"[^\"]+\" or \"([^\"]+)\"",
        },
        write=_WORDS,
        example="""Does the solution reach the correct answer?
Only return "Yes" or "No" and nothing more.

Question:
{question}
--------------------------------
Correct Answer:
{reference}
--------------------------------
Solution:
{response}
--------------------------------""",
    ),
)
