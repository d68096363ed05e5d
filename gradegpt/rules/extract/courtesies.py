"""Polite words around an answer: "Sure, let us look at this question. … I hope this helps."."""

from __future__ import annotations

import re
from typing import Final

_LONGEST: Final = 400
"""Only so many last characters are looked at."""
_ENGLISH: Final = (
    r"(?:i )?hope (?:this|that|it|the above|my (?:answer|explanation)) (?:helps?|is helpful)"
    r"(?: you)?(?: out)?",
    r"(?:please )?(?:let me know|feel free to (?:ask|reach out)|don['’]t hesitate to ask)"
    r"(?: me)?(?: if you (?:have|need) (?:any )?(?:more|other|further|additional)? ?"
    r"(?:questions?|help|clarification|details|doubts)(?: or (?:concerns|help|clarification))?)?",
    r"(?:if you have any (?:more|other|further)? ?questions, )(?:please )?"
    r"(?:let me know|feel free to ask|ask)(?: me)?",
    r"(?:many )?thank(?:s| you)(?: (?:so|very) much| a lot)?"
    r"(?: for (?:asking|your question|reading))?",
    r"(?:i['’]m |always )?(?:happy|glad) to help(?: you)?",
    r"(?:have a (?:nice|good|great|wonderful) day|good luck(?: with your (?:studies|exam))?)",
)
_CHINESE: Final = (
    r"希望(?:以上|这个|上述|我的|这些)?(?:的)?(?:解答|回答|答案|解释|内容|说明)?(?:能|可以)?"
    r"(?:够)?对(?:你|您)(?:能)?有(?:所)?帮助",
    r"希望(?:能|可以)?(?:帮到|帮助到)(?:你|您)",
    r"(?:非常)?(?:谢谢|感谢)(?:你|您|大家)?(?:的)?(?:提问|阅读|观看|聆听)?",
    r"(?:如果|如|若)?(?:你|您)?(?:还)?有(?:其他|任何|更多|什么)?(?:的)?(?:疑问|问题|不懂的地方)"
    r"(?:，|,)?(?:欢迎|请|可以)?(?:随时|继续)?(?:提问|告诉我|问我|联系我|提出)",
    r"祝(?:你|您)(?:学习|考试)?(?:进步|愉快|顺利|成功)",
)
_CLOSING: Final = re.compile(
    rf"(?<=[.。!！?？\n])[\s*_]{{0,8}}(?:(?:{'|'.join((*_ENGLISH, *_CHINESE))})"
    r"[\s,，.。!！~～*_:)\U0001F600-\U0001F64F]{0,8}){1,5}\Z",
    re.IGNORECASE,
)


_OPENING: Final = re.compile(
    r"\s*(?:(?:(?:great|good|interesting) question"
    r"|thank(?:s| you) for (?:asking|(?:your|the) question)"
    r"|(?:这|那)?是?一?个?好问题|谢谢(?:你|您)?的提问)[\s,，.。!！:：]{1,8})*"
    r"(?:(?:(?:sure|certainly|of course|absolutely|okay|ok|alright|yes)(?: thing)?[\s,.!:]{1,4})?"
    r"(?:let(?:['’]s| us| me)|(?:i|we)(?:['’]ll| will| can)"
    r"|i(?:['’]d| would) be (?:happy|glad) to|to)"
    r" (?:(?:first|now|carefully) )?"
    r"(?:look at|solve|answer|work through|consider|think about|go through|help(?: you)? with)"
    r" (?:this|the|your|that)(?: (?:question|problem|task|exercise))?"
    r"(?: (?:step by step|together|now|carefully|first))*[\s,.!:]{1,4}"
    r"|(?:(?:好的?|当然(?:可以)?|没问题|可以)[\s，,。.!！:：]{1,4})?(?:那?(?:让我们|我们|让我|我|下面|首先))"
    r"(?:先|一起)?来?(?:看一?看?下?|分析|解答?|解决|回答|思考)(?:一下)?(?:这道|这个|本|此|该|你的|您的)"
    r"(?:选择|填空|数学|物理)?(?:题目?|问题)[\s，,。.!！:：]{1,4})?",
    re.IGNORECASE,
)


def without_courtesies(text: str) -> str:
    """The text up to its polite last words, its polite first ones blanked: places stay the same.

    "Sure" and its like alone stay, as they answer some questions.

    >>> without_courtesies("So x = 5. I hope this helps. Thank you!")
    'So x = 5.'
    """
    closing = _CLOSING.search(text, max(0, len(text) - _LONGEST))
    text = text[: closing.start()] if closing else text
    opening = _OPENING.match(text)
    end = opening.end() if opening else 0
    return " " * end + text[end:] if text[end:].strip() else text
