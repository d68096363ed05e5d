r"""Pitfalls of rule- and model-based verifiers: the generative verifier with ``\boxed{1}``.

A box is read, the last in the reply.
"""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

_REST = (
    r"\*\*Ground Truth Answer:\*\*", "{reference}", r"\*\*Extracted Answer:\*\*", "{response}",
)  # fmt: skip
_WITH = Frame(r"\*\*Question\*\*(?!:)", "{question}", *_REST, r"Please follow these")
_WITHOUT = Frame(*_REST, r"- If \*\*Extracted Answer\*\*")
_TAGS = (r"\*\*Extracted Answer\*\*", r"\\boxed\{+1\}")
_WORDS = Words(r"\boxed{1}", r"\boxed{0}", around="{why}\n{verdict}", hostile=r"boxed")

ADAPTERS = (
    Adapter(
        name="pitfalls_genrm",
        callers="RL-Verifier-Pitfalls, r1_with_question and qwen-boxed_with_question",
        frames=(_WITH,),
        tags=_TAGS,
        write=_WORDS,
        example=r"""Is the **Extracted Answer** equivalent to the **Ground Truth Answer**?
**Question**
{question}
**Ground Truth Answer:**
{reference}
**Extracted Answer:**
{response}
Please follow these rules: compare, then end with \boxed{1} if they agree, else \boxed{0}.""",
    ),
    Adapter(
        name="pitfalls_genrm_pair",
        callers="RL-Verifier-Pitfalls, r1_wo_question and qwen-boxed_wo_question",
        frames=(_WITHOUT,),
        tags=_TAGS,
        without=(r"\*\*Question\*\*",),
        write=_WORDS,
        example=r"""Is the **Extracted Answer** equivalent to the **Ground Truth Answer**?
**Ground Truth Answer:**
{reference}
**Extracted Answer:**
{response}
- If **Extracted Answer** agrees, reply \boxed{1}
- If not, reply \boxed{0}""",
    ),
)
