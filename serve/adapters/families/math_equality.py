"""Two expressions, equal or not: simple-evals, OpenCompass with brackets, evalscope's AIME as JSON.

simple-evals and OpenCompass put the reference first; evalscope puts the whole response first, and
excludes a sample whose reply is no JSON object. The question is in few of the prompts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gradegpt.schema import Judgement

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Json, Reply, Words

_TASK = r"YOUR TASK:? Respond with"
_BRACKETS = r"\[Yes\]"
_CONTRACT_ENDS = r'exactly\sone\sof\s"Yes"\sor\s"No"'
# Both ends are marks: with evalscope's contract there, or without.
_PAIR = (
    _TASK, r"Expression 1:", "{reference}", r"Expression 2:", "{response}",
    rf"(?<!{_CONTRACT_ENDS})(?<!\s)\s*\Z",
)  # fmt: skip
_PLAIN = Frame(*_PAIR)
_ASKED = Frame(r"question and two statements", r"\bQuestion\b", "{question}", *_PAIR)
_JSON = Frame(
    _TASK, r"Expression 1:", "{response}", r"Expression 2:", "{reference}",
    rf"Reply with a single JSON object(?s:(?!Reply with).){{0,300}}?{_CONTRACT_ENDS}\s*\Z",
)  # fmt: skip
_WORDS = Words("Yes", "No", undecided="The judge did not decide.")
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": ["Yes", "No"]},
    },
    "required": ["verdict"],
}
_EXAMPLE = """Are the two expressions the same after trivial simplifications?
YOUR TASK
Respond with {menu}.
    Expression 1: {first}
    Expression 2: {second}
"""


def _example(menu: str, first: str, second: str) -> str:
    example = _EXAMPLE.replace("{menu}", menu)
    return example.replace("{first}", first).replace("{second}", second)


def _object(judgement: Judgement, _: Mapping[str, str]) -> dict[str, str] | None:
    word = None if judgement.verdict is None else _WORDS.word(judgement)
    return None if word is None else {"verdict": word}


def _json(judgement: Judgement, fields: Mapping[str, str]) -> Reply | None:
    """Asked for no object, so that something else is no fault: evalscope leaves it out."""
    return Json(_object)(judgement, fields) or _WORDS(judgement, fields)


ADAPTERS = (
    Adapter(
        name="math_equality",
        callers="simple-evals MATH and AIME",
        reasoning_content=False,
        frames=(_PLAIN,),
        without=(_BRACKETS, r"question and two statements"),
        write=Words("Yes", "No"),
        example=_example('"Yes" or "No"', "{reference}", "{response}"),
    ),
    Adapter(
        name="math_equality_asked",
        callers="simple-evals' equality prompt, with the question",
        frames=(_ASKED,),
        without=(_BRACKETS,),
        write=Words("Yes", "No"),
        example="""Of the question and two statements, are the statements the same?
Question
{question}

YOUR TASK:
Respond with "Yes" or "No".
    Expression 1: {reference}
    Expression 2: {response}
""",
    ),
    Adapter(
        name="math_equality_brackets",
        callers="OpenCompass LMEvaluator, math_llm_judge",
        reasoning_content=False,
        frames=(_PLAIN,),
        tags=(_BRACKETS,),
        write=Words("[Yes]", "[No]", undecided="The judge did not decide."),
        example=_example("[Yes] or [No]", "{reference}", "{response}"),
    ),
    Adapter(
        name="math_equality_json",
        callers="evalscope AIME",
        frames=(_JSON,),
        write=_json,
        schema=_SCHEMA,
        write_json=Json(_object),
        example=_example('"Yes" or "No"', "{response}", "{reference}")
        + 'Reply with a single JSON object, keys:\n- "verdict": exactly one of "Yes" or "No"',
    ),
)
