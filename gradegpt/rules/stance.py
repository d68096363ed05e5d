"""Whether a response affirms an answer: it does not deny, quote or retract it."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers.spans import sentence_start
from gradegpt.rules.extract import Found, How

_REACH: Final = 80
"""Characters before and after an answer that are searched."""
_DENIED: Final = (
    r"(?:不能?选|不应选|不是|并非|不为|不等于|是否(?:是|为|选)?|(?:也|或)许是?|\bperhaps|\bmaybe"
    r"|(?:不能|无法|不敢|很难)(?:断定|确定|确认|判断|肯定)\S{0,6}"
    r"|\bwhether(?: \w+){0,3}"
    r"|(?:[不别勿莫没未]|不(?:要|会|可以)|差点|险些|[误错]|(?:本来|原本)[想要会]?)"
    r"(?:应该?|该|会|能|可以?|要|去)?选(?:择|项)?"
    r"|(?:\b(?:never|not|almost|nearly|hardly|anything but|rather than|instead of|would have)"
    r"|n['’]t)(?: \w+)? (?:go(?:ing)? (?:with|for)|choo?s\w+|pick\w*|select\w*|sa(?:y|id))"
    r"(?: option| choice)?"
    r"|\b(?:wrong|worst|second|other|common|popular|typical|tempting|obvious|least \w+)(?: \w+)?"
    r" (?:answer|option|choice|guess|pick|one)s?\b(?: \w+){0,2}:?|\bused to be"
    r"|\b(?:isn't|is not|can(?:no|')t be|not equal to|unsure (?:if|whether|that))(?: \w+){0,2})"
    r"\s*[$\\({\"“'‘*]*(?:boxed\s*\{)?$"
)
_OTHERS_ZH: Final = (
    r"(?:网上|有人|有的|(?:[很许]多|多数|大部分)的?(?:人|同学|学生|考生)|大家|同学|同桌|老师|别人|朋友|他们)"
    r"[^。；;\n]{0,10}(?:说|认为|觉得|回答|写|选|答案|算)[^。；;\n]{0,8}$"
    r"|题目[^。；;，,\n]{0,6}(?:说|写|给的?答案)[^。；;\n]{0,8}$"
    r"|(?:按理说|本以为|原以为)[^。；;\n]{0,12}$|另一(?:种|个)?可能[^。\n]{0,6}$"
)
_OTHERS_EN: Final = (
    r"\b(?:friend|classmate|teacher|tutor|neighbou?r|someone|somebody|textbook|website"
    r"|some(?: people| students)?|(?:many|most|other) (?:people|students|pupils|candidates)"
    r"|(?:many|most) of (?:them|us)|everyone|everybody|anyone|others|they)\b[^.;\n]{0,24}"
    r"\b(?:says?|said|thinks?|thought|answer(?:ed|s)?|claim(?:ed|s)?|got|gets?|wrote|chose|chooses?"
    r"|pick(?:ed|s)?|select(?:ed|s)?|go(?:es)? (?:with|for)|went (?:with|for)|suggest(?:ed|s)?)\b"
    r"[^.;\n]{0,20}$"
    r"|\b(?:by the way|alternatively|(?:would|might|may) (?:expect|have thought))\b[^.;\n]{0,20}$"
)
_BEFORE: Final = re.compile(f"{_DENIED}|{_OTHERS_ZH}|{_OTHERS_EN}", re.IGNORECASE)
"""Words before an answer, in its sentence, that deny, question or attribute it."""
_TAKEN_BACK_EN: Final = (
    r"(?:no|wait|hmm),? (?:wait|no|that|let|i)\b|wait\b|actually|on second thought|scratch that"
    r"|correction|oops|sorry|or (?:possibly|perhaps|maybe)|not sure|i(?:'m| am) not|i don't think"
    r"|(?:but|and|yet|though|however),? (?:i|my|that|this|he|she|they|it)\b[^.\n]{0,30}"
    r"\b(?:wrong|incorrect|disagree|not|get|got)"
    r"|mine is|my (?:own )?(?:answer|result) is|i (?:get|got|choose|chose|say|insist)"
)
_TAKEN_BACK_ZH: Final = (
    r"我(?:觉得|认为)不(?:是|对)|不对|不，|就?错了|说错|更正|改(?:为|选|成)|等等|等一下|哦不|再想想"
    r"|我(?:坚持|却|的答案|算(?:出|得)|选|得到)|但我|或(?:许|者)?(?:是|可能)"
)
_AFTER: Final = re.compile(
    rf"[^\w]{{0,8}}(?:[?？]|{_TAKEN_BACK_EN}|{_TAKEN_BACK_ZH})"
    r"|[\s)\]}*$,]{0,8}\bif\b[^.\n]{0,60}\b(?:were|was|had|did|could)\b",
    re.IGNORECASE,
)
"""Words directly after an answer that retract it, or contrast it with the writer's own."""


_CONTRASTED: Final = re.compile(r"[;,]\s*(?:but|yet)\s+[A-Z][\w']*(?:\s[A-Z][\w']*)*\.?\s*\Z")
"""Another name at the end: "Verdi comes to mind, but Puccini"."""
_SAID_RIGHT: Final = re.compile(
    r"[\s)）*.]{0,3}(?:选?项)?(?:的?(?:说法|叙述|表述))?(?:是|is )?\s*"
    r"(?:正确(?!答案|选项)|对的?[，,。.]|(?:right|true|correct)\b(?! (?:answer|option|choice)))"
)
_LATER: Final = re.compile(
    r"(?:^|[\n.。!！?？;；:：…”\"])[\s\W]{0,8}?(?:"
    r"(?:no|wait|hmm),? (?:wait|that|let me|i (?:was|made|mis))|wait\b[,.!:]|wait a|actually,"
    r"|correction\b|scratch that|on second thought|oops"
    r"|(?:sorry|i apologi[sz]e),? (?:i|it|that|the|my)"
    r"|i (?:made|was) (?:a |an )?(?:mistake|error|wrong)"
    r"|(?:that|this)(?:'s| is| was) (?:wrong|incorrect|not (?:right|correct))"
    r"|but,? (?:i (?:get|got|think|say|believe|find)|my (?:own )?(?:answer|result)|mine)\b"
    r"|不对|错了|更正|等等[，,]|等一下|抱歉，|对不起，|哦?不，(?:等|应|是|答)|我(?:刚才|之前)?(?:算|写|看|说|弄|搞)错"
    r"|[，,]?(?:但|可|不过|然而|而)是?我(?:认为|觉得|算|得|选|的))",
    re.IGNORECASE,
)
"""Words at the beginning of a later sentence that retract everything before it."""


_HEDGES: Final = re.compile(
    r"也许|可能是|或(?:者|许)|有人|\b(?:or|perhaps|maybe|classmate|friend) ", re.IGNORECASE
)
_DENIED_WHOLE: Final = re.compile(
    r"\W*(?:(?:the )?answer |it |答案|结果)?(?:is |are )?"
    r"(?:not\b(?! enough)|isn't\b|不是|并非|不选|不等于)"
    r"(?=\s*[($`\\\d]|\s*[A-Za-z]\w{0,2}(?:\([^()]*\))?\s*=)",
    re.IGNORECASE,
)
_DENIED_PARTS: Final = re.compile(
    r"(?:\bnot|n't|不是)\s*(?:[(（]\s*[a1一]\s*[)）]|①)", re.IGNORECASE
)
"""The beginning of an answer that denies the following formula, option or list."""


def disowned(text: str, found: Found) -> bool:
    """Whether the words around the answer, or a later sentence, deny or retract it."""
    start, end = found.clause
    at = text.rfind(found.answer, start, end)
    at, end = (start, end) if at < 0 else (at, at + len(found.answer))
    before = text[max(sentence_start(text, at), at - _REACH) : at]
    if _BEFORE.search(before) or _AFTER.match(text[end : end + _REACH]):
        return True
    if found.how in (How.STATED, How.WHOLE):
        if _CONTRASTED.search(text):
            return True
        end = start
    if takes_back(text, max(start, end - 1)) or takes_back(found.answer):
        return True
    denied = _DENIED_WHOLE.match(found.answer) or _DENIED_PARTS.search(text, start)
    return denied is not None


def said_right(text: str, found: Found) -> bool:
    """Whether the words after an option call it right: "C is correct", C正确."""
    return len(found.answer) == 1 and _SAID_RIGHT.match(text, found.clause[1]) is not None


def takes_back(text: str, since: int = 0) -> bool:
    """Whether a sentence from ``since`` on retracts the text before it."""
    return _LATER.search(text, since) is not None


def hedges(text: str) -> bool:
    """Whether a text names an alternative to its answer, or attributes it to somebody else."""
    return _HEDGES.search(text) is not None
