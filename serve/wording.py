"""What the labels of a prompt name, where that is not in doubt."""

from __future__ import annotations

import re
from typing import Final

_HEAD: Final = re.compile(
    r"[(（,，]|\b(?:for|of|about|from|given by|that|which|according to)\b|\bto (?!be\b|assess)"
)
_KNOWN: Final = re.compile(
    r"\b(?:reference|ground ?truth|truth|gold\w*|expected|standard|labell?ed|official|ideal|expert|"
    r"canonical|criteri(?:on|a)|gt|target|answer key)\b|标准|参考|金标|真实|标答|"
    r"\b(?:correct|true|right|actual|real|accept(?:ed|able)) "
    r"(?:answer|response|solution|output|option|result|value)s?\b|正确(?:答案|解答|选项)"
)
_GIVEN: Final = re.compile(
    r"\b(?:student|candidate|model|predict\w*|pred|submi\w+|generated|examinee|test.?taker|llm|"
    r"assistant|hypothesis|attempt|provided|extracted|agent|ai|solver|participant|"
    r"user'?s? (?:answer|response)|to be \w+ed|to assess)(?:['’]?s)?\b|"
    r"考生|学生|模型|预测|候选|作答|待评|生成|用户答案|助手"
)
_REPLIED: Final = re.compile(r"\b(?:response|output|completion|reply)s?\b|回答|回复|输出|响应")
_ASKED: Final = re.compile(
    r"\b(?:question|problem|query|task|instruction|prompt|input|exercise|q)s?\b|"
    r"问题|题目|题干|试题|提问|原题|指令|任务"
)
_ANSWER: Final = re.compile(r"\b(?:answer|solution|a)s?\b|答案|解答|答")


def role_of(label: str) -> str:
    """The field that a label names, ``answer`` where it may be two, or an empty string.

    >>> role_of("Model answer:"), role_of("[Gold target]"), role_of("标准答案"), role_of("Answer:")
    ('response', 'reference', 'reference', 'answer')
    """
    text = re.sub(r"[_/\s-]+", " ", label.lower())
    head = next((part for part in _HEAD.split(text) if re.search(r"\w", part)), text)
    for part in (head, text):
        known, given = _KNOWN.search(part), _GIVEN.search(part)
        asked, replied = _ASKED.search(part), _REPLIED.search(part)
        if known or given:
            if (known and given) or (given and asked):
                return ""
            return "reference" if known else "response"
        if asked or replied:
            return "" if asked and replied else "question" if asked else "response"
    return "answer" if _ANSWER.search(text) else ""
