"""AA-LCR, long-context reading, and Big Bench Audio, which frames the same parts more closely.

One parser looks for INCORRECT first, one compares the beginning, one takes the label that comes
first; a reason may hold either word, so the reply is the word alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gradegpt.schema import Item, Judgement

from ..adapter import Adapter, item_of
from ..frame import Frame
from ..reply import Json, Words

_PARTS = (
    r"The question, for reference only:(?: START QUESTION)?", "{question}",
    r"(?:END QUESTION )?The OFFICIAL ANSWER:", "{reference}",
    r"(?:END OFFICIAL ANSWER )?(?:BEGIN )?CANDIDATE ANSWER TO ASSESS:?", "{response}",
)  # fmt: skip
_END = r"(?:END CANDIDATE ANSWER TO ASSESS )?"
_FRAME = Frame(*_PARTS, _END + r"Reply only with")
_FRAME_JSON = Frame(*_PARTS, _END + r"Reply as JSON")
_WORDS = Words("CORRECT", "INCORRECT")
_SCHEMA: Final = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["CORRECT", "INCORRECT"]}},
    "required": ["verdict"],
}
_LIST_OF_ONE: Final = re.compile(r"""\[(['"])(?!.*\1\s*,\s*['"])(.*)\1\]""", re.DOTALL)


def _item(fields: Mapping[str, str]) -> Item:
    """OpenCompass writes its answers as a Python list, nearly always of one."""
    found = _LIST_OF_ONE.fullmatch(fields["reference"])
    return item_of({**fields, "reference": found[2] if found else fields["reference"]})


def _object(judgement: Judgement, _: Mapping[str, str]) -> dict[str, str] | None:
    word = _WORDS.word(judgement)
    return None if word is None else {"verdict": word}


ADAPTERS = (
    Adapter(
        name="aa_lcr",
        callers="OpenCompass and evalscope AA-LCR, NeMo-Skills, NeMo Gym lc_judge, ultravox",
        reasoning_content=False,
        frames=(_FRAME,),
        write=_WORDS,
        item=_item,
        example="""Is the candidate answer consistent with the official one?
The question, for reference only: {question}
The OFFICIAL ANSWER: {reference}
CANDIDATE ANSWER TO ASSESS: {response}

Reply only with CORRECT or INCORRECT.""",
    ),
    Adapter(
        name="aa_lcr_json",
        callers="AA-LCR 1.1",
        frames=(_FRAME_JSON,),
        write=Json(_object),
        schema=_SCHEMA,
        write_json=Json(_object),
        item=_item,
        example="""Is the candidate answer consistent with the official one?
The question, for reference only: START QUESTION {question}
END QUESTION
The OFFICIAL ANSWER: {reference}
END OFFICIAL ANSWER
BEGIN CANDIDATE ANSWER TO ASSESS
{response}
END CANDIDATE ANSWER TO ASSESS

Reply as JSON, with a verdict of CORRECT or INCORRECT.""",
    ),
)
