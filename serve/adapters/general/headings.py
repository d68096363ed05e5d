"""The headings of instructions to a judge: what a label says that names no data of an item."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from .labels import words_of

_HEADS_TEXT: Final = """
task tasks instruction instructions rule rules criteria criterion requirement requirements
guideline guidelines guidance step steps note notes option options choices format formats
formatting example examples demonstration demonstrations input inputs data information important
consideration considerations principle principles point points procedure process method definition
definitions role objective goal purpose reminder warning constraint constraints caution policy
scale rubric schema json yaml xml template structure scoring grading judging judgement judgment
verdict decision evaluation assessment comparison classification category categories label labels
score scores grade grades rating conclusion explanation reasoning rationale reason analysis
feedback confidence result results outcome thought thoughts consider remember hint hints tip tips
protocol workflow description overview system prompt exception exceptions condition conditions
case cases scenario item items background logic checklist aspects factors dimensions standards
correct incorrect wrong right true false yes no pass fail partial partially attempted unanswered
invalid unclear refusal match mismatch equivalent reply output outputs starts start begin begins
end ends unattempted respond answering return judge evaluate grader evaluator expert assistant
"""
_HEADS: Final = frozenset(_HEADS_TEXT.split())
_HEADED: Final = re.compile(
    r"\w{3,}(?:ity|ities|ence|ences|ance|ances|ness|ing|acy|ency|ency|ancy|ism)"
)
"""An abstract noun, as criteria have: ``Semantic equivalence``, ``Rounding``."""
_FILLERS_TEXT: Final = """
a an the of for to in on and or with your you this that these those is are be if when not no how
what final overall key main general specific additional special common strict expected required
response answer submission one two three short brief detailed quick core first second third new
current following below above only please now here user model question as by from about between
all each any more most
"""
_FILLERS: Final = frozenset(_FILLERS_TEXT.split())
_ZH: Final = re.compile(
    r"任务|要求|标准$|规则|准则|原则|注意|说明|格式|步骤|示例|例子|样例|范例|举例|角色|目标$|背景|"
    r"流程|方法|定义|提示|重要|输入$|输出$|判断|评判|评分|评估|评价|判定|打分|结论|理由|原因|分析|"
    r"解释|指南|指令|约束|限制|选项|类别|等级|分数|得分|正确$|错误$|部分正确|一致$|等价$|未尝试|情况|"
    r"其他|另外|首先|然后|最后|请|如下|以下"
)
_CHINESE: Final = re.compile(r"[\u4e00-\u9fff]")


_REQUESTS_TEXT: Final = """
format formats instruction instructions rule rules criteria criterion requirement requirements
guideline guidelines task tasks evaluation grading judging judgement judgment scoring rubric your
note notes options choices
"""
_REQUESTS: Final = frozenset(_REQUESTS_TEXT.split())
_REQUESTS_ZH: Final = re.compile(r"任务|要求|标准$|规则|准则|原则|注意|说明|格式|^输出$|选项|你的")
_LABEL: Final = re.compile(
    r"\s*(?P<open>[#*\[【<=-]*)\s*(?P<label>[^\W\d_][^\n:：*\]】>=]{0,60})[\]】>*=\s]*(?P<colon>[:：]?)"
    r"[\s*]*(?P<rest>.*)",
    re.DOTALL,
)


def request_under(line: str) -> str | None:
    """What stands behind the heading of a request to a judge; None without such a heading.

    Narrower than ``heads``: a response has headings, too, such as ``Conclusion``.
    """
    found = _LABEL.fullmatch(line)
    if found is None or not (found["colon"] or (found["open"] and not found["rest"])):
        return None
    label = re.sub(r"[(（].*", "", found["label"])
    asks = _REQUESTS_ZH.search(label) or not _REQUESTS.isdisjoint(words_of(label))
    return found["rest"] if asks and heads(label) else None


@lru_cache(maxsize=4096)
def heads(label: str) -> bool:
    """Whether a label is the heading of instructions, and of no data.

    >>> heads("Task Steps"), heads("Expression 1"), heads("Lösung")
    (True, False, False)
    """
    if _CHINESE.search(label):
        return _ZH.search(label) is not None
    words = words_of(label)
    about = [w for w in words if w in _HEADS or (w not in _FILLERS and _HEADED.fullmatch(w))]
    return bool(about) and all(w in about or w in _FILLERS or w.isdigit() for w in words)
