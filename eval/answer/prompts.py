"""The prompt of a question: how to reason, and how to write an answer of its type.

The kinds are those of the papers (CMMaTH, tables 10 and 11; OlympiadBench, figure 3; OlympicArena,
figure 15, table 10 and appendix C.6; ATLAS, prompt E.1); the wording is this project's own, so
scores are close to the papers' and not identical.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from gradegpt.chains.chain import needs_gloss
from gradegpt.core.schema import AnswerType, Item, Message
from gradegpt.judges.calibration import type_of


class PromptStyle(StrEnum):
    """How a model is asked to reason.

    ``direct``: no instruction (OlympiadBench, OlympicArena). ``steps``: numbered ``<STEP1>``, as
    process-level scores need them (OlympicArena, C.6). ``english``: in English, for any language of
    the question (CMMaTH, En-CoT). ``cross_lingual``: the question is first understood sentence by
    sentence in its own language (CMMaTH, CLP). ``json``: final answers as a JSON list, one for each
    sub-question (ATLAS, E.1).
    """

    DIRECT = "direct"
    STEPS = "steps"
    ENGLISH = "english"
    CROSS_LINGUAL = "cross_lingual"
    JSON = "json"


_THINK: Final = {
    PromptStyle.DIRECT: ("", ""),
    PromptStyle.STEPS: (
        "Solve it in steps. Write each step between <STEPn> and </STEPn>, where n is its number, "
        "with one conclusion to a step.",
        "请分步解答。每一步写在 <STEPn> 与 </STEPn> 之间，n 为步骤序号，每步只得出一个结论。",
    ),
    PromptStyle.ENGLISH: ("Think step by step in English.", "请用英语一步一步地思考。"),
    PromptStyle.CROSS_LINGUAL: (
        "First say in English what each sentence of the problem means; then solve it step by step "
        "in English.",
        "请先用英语逐句说明题意，再用英语一步一步地解答。",
    ),
    PromptStyle.JSON: (
        "Solve it step by step, each sub-question by itself.",
        "请逐步解答，每个小问单独作答。",
    ),
}
_FORM: Final = {
    AnswerType.SINGLE_CHOICE: ("the letter of one option", "一个选项的字母"),
    AnswerType.MULTIPLE_CHOICE: ("the letters of all right options", "所有正确选项的字母"),
    AnswerType.TRUE_FALSE: ("True or False", "“对”或“错”"),
    AnswerType.NUMBER: ("a number", "一个数"),
    AnswerType.SET: ("a set, such as \\{1, 2\\}", "一个集合，例如 \\{1, 2\\}"),
    AnswerType.INTERVAL: ("an interval, such as [1, 2)", "一个区间，例如 [1, 2)"),
    AnswerType.EXPRESSION: ("an expression without an equals sign", "一个不含等号的式子"),
    AnswerType.EQUATION: ("an equation", "一个方程"),
    AnswerType.TUPLE: ("a tuple, such as (1, 2)", "一个有序数组，例如 (1, 2)"),
    AnswerType.MULTI_PART: (
        "the answers to all parts in their order, with commas between them",
        "按顺序写出各小问的答案，用逗号分开",
    ),
    AnswerType.MULTI_ANSWER: (
        "all answers, with commas between them",
        "写出所有答案，用逗号分开",
    ),
    AnswerType.TEXT: ("the answer in a few words", "用几个词写出答案"),
}
_BOX: Final = (
    "End with the sentence: The final answer is \\boxed{{…}}, and in the box {form}.",
    "最后写一句：最终答案是 \\boxed{{…}}，框内{form}。",
)
_CODE: Final = (
    "End with the whole program in one block between ``` marks.",
    "最后将完整的程序写在一对 ``` 之间。",
)
_JSON: Final = (
    'End with nothing but a block ```json {"answers": ["…", "…"]} ```, a text for each '
    "sub-question in order; one text where there is one question.",
    '最后只写一个代码块 ```json {"answers": ["…", "…"]} ```，每个小问一个字符串，按顺序排列。',
)
_UNIT: Final = (
    "Compute it in {unit}, and leave the unit out of the box.",
    "请以 {unit} 为单位计算，框内不写单位。",
)


def prompt(
    item: Item, style: PromptStyle = PromptStyle.DIRECT, unit: str = ""
) -> tuple[Message, ...]:
    """The conversation that asks the item's question, in the question's language.

    ``unit``: the unit of the answer. The item's ``context``, such as earlier parts, comes first.
    """
    chinese = needs_gloss(item.question)
    kind = type_of(item)
    if style is PromptStyle.JSON:
        last = _JSON[chinese]
    elif kind is AnswerType.CODE:
        last = _CODE[chinese]
    else:
        last = _BOX[chinese].format(form=_FORM[kind][chinese])
    parts = (
        item.context or "",
        item.question,
        _THINK[style][chinese],
        _UNIT[chinese].format(unit=unit) if unit else "",
        last,
    )
    return (Message(role="user", content="\n\n".join(part for part in parts if part)),)
