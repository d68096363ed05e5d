"""PrimeIntellect verifiers: ``JudgeRubric`` and the ``ReferenceJudge`` of v1.

The first is read by its callers, mostly as ``"yes" in reply.lower()``. The second names its two
labels and raises without one: the sample is tried again, which suits a judge that did not decide.
"""

from __future__ import annotations

from typing import Final

from gradegpt.schema import Item

from ..adapter import Adapter, Fields
from ..frame import Frame
from ..reply import Words

_RUBRIC = Frame(
    r"Question: ```", "{question}", r"``` Ground truth answer: ```", "{reference}",
    r"``` Response: ```", "{response}", r"``` Respond either \"yes\" or \"no\"",
)  # fmt: skip
_PAIR = Frame(
    r"Ground truth answer: ```", "{reference}", r"``` Response: ```", "{response}",
    r"``` Respond either \"yes\" or \"no\"",
)  # fmt: skip
_REFERENCE = Frame(
    r"Task: ```", "{question}", r"``` Reference answer: ```", "{reference}",
    r"``` Response: ```", "{response}", r"``` Respond (?=either \")",
)  # fmt: skip
_SHORT: Final = 100
"""Characters of a line that may be one of several answers and no part of a long one."""


def _item(fields: Fields) -> Item:
    """Several acceptable answers come as one a line."""
    lines = fields["reference"].splitlines()
    several = all(line.strip() and len(line) <= _SHORT for line in lines)
    return Item(
        question=fields["question"],
        reference=tuple(lines) if several and lines else (fields["reference"],),
        response=fields["response"],
    )


ADAPTERS = (
    Adapter(
        name="verifiers_rubric",
        callers="verifiers JudgeRubric",
        frames=(_RUBRIC,),
        tags=(r"\bground truth answer\b",),
        write=Words("yes", "no"),
        example="""Does the response agree with the ground truth answer?

Question:
```
{question}
```

Ground truth answer:
```
{reference}
```

Response:
```
{response}
```

Respond either "yes" or "no".""",
    ),
    Adapter(
        name="verifiers_rubric_pair",
        callers="verifiers JudgeRubric before it showed the question",
        frames=(_PAIR,),
        tags=(r"\bground truth answer\b",),
        without=(r"Question: ```",),
        write=Words("yes", "no"),
        example="""Does the response agree with the ground truth answer?

Ground truth answer:
```
{reference}
```

Response:
```
{response}
```

Respond either "yes" or "no".""",
    ),
    Adapter(
        name="verifiers_reference",
        callers="verifiers v1 ReferenceJudge",
        frames=(_REFERENCE,),
        tags=(r"\breference answer\b", r"either \"[^\"]+\" or \"[^\"]+\""),
        options={
            "positive": r"either \"([^\"]+)\" or \"",
            "negative": r"either \"[^\"]+\" or \"([^\"]+)\"",
        },
        write=Words("{positive}", "{negative}"),
        item=_item,
        example="""Does the response agree with the reference answer?

Task:
```
{question}
```

Reference answer:
```
{reference}
```

Response:
```
{response}
```

Respond either "yes" or "no".""",
    ),
)
