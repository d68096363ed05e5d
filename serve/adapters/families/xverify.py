"""xVerify: the judge's prompt, its form without a question, and the two annotation prompts.

xVerify parses only the bare word, although its prompt has brackets. The annotation prompts ask for
a JSON object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gradegpt.schema import Judgement

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Json, Words, reason

_WORDS = Words("Correct", "Incorrect")
_JSON = r'"judgement":'
_QUOTED = (
    r'Question: """', "{question}", r'""" Output sentence: """', "{response}",
    r'""" Correct answer:', "{reference}",
)  # fmt: skip
_NO_QUESTION = Frame(
    r'Output sentence: "(?!"")', "{response}", r'" Correct answer: "', "{reference}",
    r'" Judgement:',
)  # fmt: skip
_FEEDBACK = Frame(
    r"Question:", "{question}", r"Reference Answer:", "{reference}",
    r"Model's Answer:", "{response}",
)  # fmt: skip
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "judgement": {"type": "string", "enum": ["Correct", "Incorrect"]},
    },
    "required": ["reasoning", "judgement"],
}
_CONTRACT = 'Reply in JSON: {"reasoning": "why", "judgement": "Correct or Incorrect"}'
_EXAMPLE = '''{task}

Question: """{question}"""

Output sentence: """{response}"""

Correct answer: {reference}
'''


def _object(judgement: Judgement, _: Mapping[str, str]) -> dict[str, str] | None:
    word = _WORDS.word(judgement)
    return None if word is None else {"reasoning": reason(judgement), "judgement": word}


ADAPTERS = (
    Adapter(
        name="xverify",
        callers="xVerify",
        frames=(Frame(*_QUOTED, r"Judgement:"),),
        without=(_JSON,),
        write=_WORDS,
        example=_EXAMPLE.replace("{task}", "[Correct] or [Incorrect]?") + "\nJudgement:",
    ),
    Adapter(
        name="xverify_no_question",
        callers="xVerify without a question",
        frames=(_NO_QUESTION,),
        write=_WORDS,
        example="""[Correct] or [Incorrect]?

Output sentence: "{response}"

Correct answer: "{reference}"

Judgement:""",
    ),
    Adapter(
        name="xverify_annotation",
        callers="xVerify's annotation with GPT-4o, judge.yaml",
        frames=(Frame(*_QUOTED),),
        tags=(_JSON,),
        write=Json(_object),
        schema=_SCHEMA,
        write_json=Json(_object),
        example=_EXAMPLE.replace("{task}", _CONTRACT),
    ),
    Adapter(
        name="xverify_annotation2",
        callers="xVerify's annotation with GPT-4o, judge2.yaml",
        frames=(_FEEDBACK,),
        tags=(_JSON,),
        write=Json(_object),
        schema=_SCHEMA,
        write_json=Json(_object),
        example=_CONTRACT
        + """
Question: {question}

Reference Answer: {reference}

Model's Answer: {response}
""",
    ),
)
