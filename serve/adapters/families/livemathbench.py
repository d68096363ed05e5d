r"""OpenCompass LiveMathBench, English and Chinese: the last box, ``\boxed{yes}`` or else."""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

_WORDS = Words(r"\boxed{yes}", r"\boxed{no}", around="{why}\n{verdict}", hostile=r"boxed")
_EN = Frame(
    r"Original Question:", "{question}", r"Standard Answer:", "{reference}",
    r"Examinee's Answer:", "{response}", r"Analysis:",
)  # fmt: skip
_CN = Frame(
    r"原问题[:：]", "{question}", r"标准答案[:：]", "{reference}", r"考生答案[:：]", "{response}",
    r"分析[:：]",
)  # fmt: skip
_TAGS = (r"\\boxed\{+yes\}", r"\\boxed\{+no\}")

ADAPTERS = (
    Adapter(
        name="livemathbench",
        callers="OpenCompass LiveMathBench, English judge",
        reasoning_content=False,
        frames=(_EN,),
        tags=_TAGS,
        write=_WORDS,
        example=r"""Does the examinee reach the standard answer? \boxed{yes} or \boxed{no}.
Original Question: {question}
Standard Answer: {reference}
Examinee's Answer: {response}

Analysis:
""",
    ),
    Adapter(
        name="livemathbench_cn",
        callers="OpenCompass LiveMathBench, Chinese judge",
        reasoning_content=False,
        frames=(_CN,),
        tags=_TAGS,
        write=_WORDS,
        example=r"""考生是否答对？答对写\boxed{yes}，否则写\boxed{no}。
原问题：{question}
标准答案：{reference}
考生答案：{response}

分析：
""",
    ),
)
