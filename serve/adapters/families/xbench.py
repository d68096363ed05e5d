"""xbench-DeepSearch, in Chinese: lines with a conclusion, or a JSON schema of the same keys.

The first ``结论:`` is read, with a colon of one byte; a reason may hold none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gradegpt.schema import Judgement

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Json, Words, reason

_WORDS = Words("正确", "错误")
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "最终答案": {"type": "string"},
        "解释": {"type": "string"},
        "结论": {"type": "string", "enum": ["正确", "错误"]},
        "strict": {"type": "boolean", "const": True},
    },
    "required": ["最终答案", "解释", "结论"],
}
_FRAME = Frame(
    r"\[原问题\]\s*[:：]", "{question}", r"\[正确答案\]\s*[:：]", "{reference}",
    r"\[回答\]\s*[:：]", "{response}", r"你的判断必须",
)  # fmt: skip


def _object(judgement: Judgement, _: Mapping[str, str]) -> dict[str, object] | None:
    word = _WORDS.word(judgement)
    if word is None:
        return None
    why = {"最终答案": judgement.answer or "无", "解释": reason(judgement)}
    return {**why, "结论": word, "strict": True}


ADAPTERS = (
    Adapter(
        name="xbench",
        callers="xbench-DeepSearch, MiroThinker, verifiers",
        frames=(_FRAME,),
        tags=(r"结论\s*[:：]",),
        write=Words(
            "结论: 正确", "结论: 错误", around="解释: {why}\n\n{verdict}", hostile=r"结论|解释"
        ),
        schema=_SCHEMA,
        write_json=Json(_object),
        example="""[回答]是否给出[正确答案]？

[原问题]: {question}

[正确答案]: {reference}

[回答]: {response}

你的判断必须有两行：
解释: 为什么。
结论: '正确'或'错误'。""",
    ),
)
