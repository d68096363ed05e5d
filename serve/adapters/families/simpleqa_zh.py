"""Chinese SimpleQA and BrowseComp-ZH: one letter of three, or of two.

The first letter anywhere is read; what holds none was not attempted, or is asked for again.
"""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

# The examples before it have questions, standard answers and fences too.
_FRAME = Frame(
    r"下面是一个新的问题示例", r"问题\s*[:：]", "{question}", r"(?:正确|标准)答案\s*[:：]",
    "{reference}", r"预测答案\s*[:：]", "{response}", r"(?:``` )?将此新问题的预测答案",
)  # fmt: skip
_TWO = (r"A\s*[:：.]\s*【正确】", r"B\s*[:：.]\s*【错误】")
_THIRD = r"C\s*[:：.]\s*【\w+】"
_EXAMPLE = """判断预测答案是否正确。
下面是一个新的问题示例。
```
问题: {question}
正确答案: {reference}
预测答案: {response}
```

将此新问题的预测答案评定为：
A:【正确】
B:【错误】
"""

ADAPTERS = (
    Adapter(
        name="simpleqa_zh",
        callers="Chinese SimpleQA, OpenCompass, evalscope and verl with it, Chinese SimpleVQA",
        reasoning_content=False,
        frames=(_FRAME,),
        tags=(*_TWO, _THIRD),
        write=Words("A", "B", "C"),
        example=_EXAMPLE + "C:【未尝试】\n",
    ),
    Adapter(
        name="browsecomp_zh",
        callers="BrowseComp-ZH: Tongyi DeepResearch, MiroThinker",
        frames=(_FRAME,),
        tags=_TWO,
        without=(_THIRD,),
        write=Words("A", "B"),
        example=_EXAMPLE,
    ),
)
