"""NeMo Gym: ``equivalence_llm_judge`` and ``math_with_judge``.

The first label counts, so a reason may hold none; a reply without a label counts as different.
``math_with_judge`` asks twice, with the answers in both orders, and does not mark which of them is
expected: the first is used as the reference, as equality is symmetric.
"""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

_WORDS = Words("[[A=B]]", "[[A!=B]]", around="{why}\n\n{verdict}", hostile=r"\[\[")
_EQUIVALENCE = Frame(
    r"===== Inputs ===== QUESTION:", "{question}", r"GOLD:", "{reference}",
    r"CANDIDATE:", "{response}",
)  # fmt: skip
_MATH = Frame(
    r"<\|Problem\|>", "{question}", r"<\|Start of Assistant A's Answer\|>", "{reference}",
    r"<\|End of Assistant A's Answer\|> <\|Start of Assistant B's Answer\|>", "{response}",
    r"<\|End of Assistant B's Answer\|>",
)  # fmt: skip
_LABELS = (r"\[\[A=B\]\]", r"\[\[A!=B\]\]")

ADAPTERS = (
    Adapter(
        name="gym_equivalence",
        callers="NeMo Gym equivalence_llm_judge",
        frames=(_EQUIVALENCE,),
        tags=_LABELS,
        write=_WORDS,
        example="""Is the candidate equivalent to GOLD? Say why, then [[A=B]] or [[A!=B]].
===== Example =====
QUESTION:
Name the unit of force.

GOLD:
newton

CANDIDATE:
N

[[A=B]]

===== Inputs =====
QUESTION:
{question}

GOLD:
{reference}

CANDIDATE:
{response}
""",
    ),
    Adapter(
        name="gym_math",
        callers="NeMo Gym math_with_judge",
        frames=(_MATH,),
        tags=_LABELS,
        write=_WORDS,
        example=(
            "Are the two answers equivalent? Yes: [[A=B]]. No: [[A!=B]].",
            """<|Problem|>
{question}

<|Start of Assistant A's Answer|>
{reference}
<|End of Assistant A's Answer|>

<|Start of Assistant B's Answer|>
{response}
<|End of Assistant B's Answer|>""",
        ),
    ),
)
