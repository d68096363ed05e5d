"""SimpleQA: simple-evals, lighteval, OpenCompass, LiveReasonBench, NeMo-Skills, evalscope.

The reply is one of three letters alone: some callers take the first letter anywhere, lighteval
compares the whole reply. All count an unparsed reply as "not attempted". evalscope appends a
contract and parses a JSON object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gradegpt.schema import Judgement

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Json, Words, reason

# The examples before it have questions, targets and fences too.
_ITEM = (
    r"(?:Here is a (?:new example|sample)|NOT_ATTEMPTED\"\]\.(?= Question:))",
    r"Question:", "{question}", r"Gold targets?:", "{reference}",
    r"Predicted answer:", "{response}",
)  # fmt: skip
# A fence ends the item only where no menu does: a response may contain fences.
_FRAMES = (
    Frame(*_ITEM, r"(?:``` )?(?:Grade the predicted answer|According to the gold target)"),
    Frame(*_ITEM, r"```"),
    Frame(*_ITEM),
)
_TWO = (r"\bA: ", r"\bB: ")
_THIRD = r"\bC: "
_MENU = (*_TWO, _THIRD)
_CONTRACT = r"required keys"
_WORDS = Words("A", "B", "C")
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "verdict": {"type": "string", "enum": ["A", "B", "C"]},
    },
    "required": ["reasoning", "verdict"],
}
_EXAMPLE = """Grade predicted answers.
Here is a new example.
```
Question: {question}
Gold target: {reference}
Predicted answer: {response}
```
A: CORRECT
B: INCORRECT
C: NOT_ATTEMPTED
"""


def _object(judgement: Judgement, _: Mapping[str, str]) -> dict[str, str] | None:
    word = _WORDS.word(judgement)
    return None if word is None else {"reasoning": reason(judgement), "verdict": word}


ADAPTERS = (
    Adapter(
        name="simpleqa",
        callers="simple-evals, lighteval, OpenCompass, LiveReasonBench, NeMo-Skills",
        reasoning_content=False,
        frames=_FRAMES,
        tags=_MENU,
        without=(_CONTRACT,),
        write=_WORDS,
        example=_EXAMPLE,
    ),
    Adapter(
        name="simpleqa_ab",
        callers="SimpleQA with two grades, as knowledge editing uses it",
        frames=_FRAMES,
        tags=_TWO,
        without=(_CONTRACT, _THIRD),
        write=Words("A", "B"),
        example=_EXAMPLE.replace("C: NOT_ATTEMPTED\n", ""),
    ),
    Adapter(
        name="simpleqa_json",
        callers="evalscope SimpleQA",
        frames=_FRAMES,
        tags=(*_MENU, _CONTRACT, r'"verdict":'),
        write=Json(_object),
        schema=_SCHEMA,
        write_json=Json(_object),
        example=_EXAMPLE + 'A JSON object with the required keys "reasoning": and "verdict":',
    ),
)
