r"""CompassVerifier's prompts, with reasoning and without, also sent by other programs.

Without reasoning the reply is a letter of three. With reasoning the last ``\boxed{X}`` is read, so
the reason may precede it unless it has its own box.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from gradegpt.schema import Judgement

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Reply, Words

_FRAME = Frame(
    r"<Original Question Begin>:?", "{question}", r"<Original Question End>",
    r"<Standard Answer Begin>:?", "{reference}", r"<Standard Answer End>",
    r"<Candidate's Answer Begin>:?", "{response}", r"<Candidate's Answer End>",
)  # fmt: skip
_CANDIDATE_FIRST = Frame(
    r"<Original Question Begin>:?", "{question}", r"<Original Question End>",
    r"<Candidate's Answer Begin>:?", "{response}", r"<Candidate's Answer End>",
    r"<Standard Answer Begin>:?", "{reference}", r"<Standard Answer End>",
)  # fmt: skip
_LETTERS = (r"\bA: ", r"\bB: ", r"\bC: ")
_EXAMPLE = """Does the candidate's final answer match the standard answer?
{menu}
<Original Question Begin>:
{question}
<Original Question End>
<Standard Answer Begin>:
{reference}
<Standard Answer End>
<Candidate's Answer Begin>:
{response}
<Candidate's Answer End>
"""
_BOXED = r"boxed\{+A"
_KINDS: Final = {"response:loop": "REPETITIVE", "response:refusal": "REFUSAL"}
_WORDS = Words(
    r"Final Judgment: \boxed{A} - CORRECT",
    r"Final Judgment: \boxed{B} - INCORRECT",
    r"Final Judgment: \boxed{C} - INCOMPLETE",
    around="{why}\n{verdict}",
    hostile=r"(?i)boxed|final judge?ment",
)


def _with_reasoning(judgement: Judgement, fields: Mapping[str, str]) -> Reply | None:
    """The reply with the kind of an invalid response in its third grade."""
    kind = _KINDS.get(judgement.reason, "INCOMPLETE")
    words = replace(_WORDS, invalid=rf"Final Judgment: \boxed{{C}} - {kind}")
    return words(judgement, fields)


ADAPTERS = (
    Adapter(
        name="compassverifier",
        callers="CompassVerifier without reasoning, OpenCompass *_academic, VLMEvalKit",
        reasoning_content=False,
        frames=(_FRAME,),
        tags=_LETTERS,
        without=(_BOXED,),
        write=Words("A", "B", "C"),
        example=_EXAMPLE.replace("{menu}", "A: CORRECT\nB: INCORRECT\nC: INVALID"),
    ),
    Adapter(
        name="compassverifier_candidate_first",
        callers="CompassVerifier's prompt with the candidate's answer before the standard answer",
        reasoning_content=False,
        frames=(_CANDIDATE_FIRST,),
        tags=_LETTERS,
        without=(_BOXED,),
        write=Words("A", "B", "C"),
        example="""A: CORRECT
B: INCORRECT
C: INVALID
<Original Question Begin>:
{question}
<Original Question End>
<Candidate's Answer Begin>:
{response}
<Candidate's Answer End>
<Standard Answer Begin>:
{reference}
<Standard Answer End>
""",
    ),
    Adapter(
        name="compassverifier_cot",
        callers="CompassVerifier with reasoning, VLMEvalKit, verifiers HybridMathRubric",
        reasoning_content=False,
        frames=(_FRAME,),
        tags=(_BOXED,),
        write=_with_reasoning,
        example=_EXAMPLE.replace("{menu}", r"Reason, then \boxed{A}, \boxed{B} or \boxed{C}."),
    ),
)
