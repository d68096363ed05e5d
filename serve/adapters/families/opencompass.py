"""OpenCompass: ``GenericLLMEvaluator`` and ``CascadeEvaluator`` with gold-target tags.

Two letters in nearly every configuration, three in some, distinguished by the menu. The parser
takes the first capital letter of these anywhere, so the reply is the letter alone.
"""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

_FRAME = Frame(
    r"<Original Question Begin>:?", "{question}", r"<Original Question End>",
    r"<Gold Target Begin>:?", "{reference}", r"<Gold Target End>",
    r"<Predicted Answer Begin>:?", "{response}", r"<Predicted (?:Answer )?End>",
)  # fmt: skip
_EXAMPLE = """Does the prediction reach the gold target? {menu}
<Original Question Begin>:
{question}
<Original Question End>
<Gold Target Begin>:
{reference}
<Gold Target End>
<Predicted Answer Begin>:
{response}
<Predicted End>
"""
_THIRD = r"C: \w+"

ADAPTERS = (
    Adapter(
        name="opencompass",
        callers="OpenCompass GenericLLMEvaluator, CascadeEvaluator",
        reasoning_content=False,
        frames=(_FRAME,),
        tags=(r"\bA: ", r"\bB: "),
        without=(_THIRD,),
        write=Words("A", "B"),
        example=_EXAMPLE.replace("{menu}", "A: CORRECT\nB: INCORRECT"),
    ),
    Adapter(
        name="opencompass_abc",
        callers="OpenCompass with three grades",
        reasoning_content=False,
        frames=(_FRAME,),
        tags=(r"\bA: ", r"\bB: ", _THIRD),
        write=Words("A", "B", "C"),
        example=_EXAMPLE.replace("{menu}", "A: CORRECT\nB: INCORRECT\nC: INVALID"),
    ),
)
