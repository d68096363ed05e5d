"""Where a field without an end mark ends: before the instructions at the end of a prompt."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from .headings import request_under
from .words import LABELLED, OFFERED, PAIR, QUOTED_PAIR, VERDICT_LABEL

_ASKS: Final = re.compile(
    r"^\W*(?:(?:important|note|remember|strictly|carefully|always|注意|重要|严格|务必)\W*)?"
    r"(?:(?:please|now|only|just|simply|analy[sz]e|examine|check|review|read|identify|keep|be|make|"
    r"respond|reply|answer (?:with|only|by|just|in)|output|return|provide|give|"
    r"write|"
    r"end with|conclude|your|judge|grade|evaluate|assess|compare|determine|decide|verify|choose|"
    r"select|say|ignore|use|follow|focus|treat|put|pick|rate|score|"
    r"based on|do not|don't|think|explain|then|finally|if|the output|the response should|"
    r"remember|note|is|does|do|are|has|did|format|first|label|mark|write)(?![a-z])|"
    r"请|你的?|只|仅|直接|[以用按]|输出|判断|评判|根据|不要|如果|若|以上|上述|注意|最后|回答|格式|并)",
    re.IGNORECASE,
)  # fmt: skip
"""How an instruction begins."""
_ITEM: Final = re.compile(
    r"\b(?:(?:candidate|student|predicted|model|reference|correct|ground[- ]truth|gold|expected|"
    r"standard|target|submitted|generated|assistant)(?:'s)? (?:answer|response|solution|output)|"
    r"ground truth|the reference|the response|the prediction|the submission|the candidate|"
    r"the student|judg(?:e)?ment|verdict|json)\b|参考答案|标准答案|正确答案|学生答案|"
    r"学生的?(?:答案|回答)|"
    r"模型的?(?:答案|回答|输出)|候选答案|待评\w*答案|回答是否|答案是否|是否正确|是否一致|是否等价",
    re.IGNORECASE,
)
"""What instructions to a judge speak of."""
_BESIDE: Final = re.compile(
    r"^\s*(?:$|[-+*•`{}\[\]\"'<]|\(?[A-Ea-e\d]{1,2}[.):：=]|\w+\s*[:：])|"
    r"\b(?:semantic|differences?|formatting|consider|allow|ground truth|equivalence|"
    r"answers?|responses?|reference|question|correct|equivalent|"
    r"reason(?:ing)?|explanation|letter|word|respond|json|"
    r"format|output|grade|judge|score)\b|答案|回答|参考|判断|输出|理由|格式|正确|一致",
    re.IGNORECASE,
)
"""Lines that may follow the first instruction."""
_SHORT: Final = 60
"""Characters below which a line may be a heading or a label."""
_LONGEST: Final = 1_000
"""Characters from which a line is no instruction."""


class Split(NamedTuple):
    """A field and the instructions after it; ``clear`` is false where they may begin elsewhere."""

    value: str
    tail: str
    clear: bool = True


def split_tail(text: str, *, sentences: bool = False) -> Split:
    """The text before the instructions that end it, and these.

    The last line that no instruction can be ends the field. An instruction before it is a part of
    the field, or the instructions have a line that is not known: that is not clear. With
    ``sentences`` the instructions may begin within a line.
    """
    lines = (_SENTENCES if sentences else _LINES).split(text)
    requests = list(map(instructs, lines))
    start = at = len(lines)
    while at and (requests[at - 1] or _goes_on(lines[at - 1])):
        at -= 1
        if requests[at]:
            start = at
    start = start if sentences else _paragraph(lines, start)
    size = sum(len(line) + 1 for line in lines[:start])
    clear = not any(requests[:start]) and (start < len(lines) or not _ends_in_words(text))
    return Split(text[: max(0, size - 1)], text[size:], clear)


def _ends_in_words(text: str) -> bool:
    """Whether the last paragraph offers words of a verdict, though no line of it is known."""
    last = text.rstrip().rsplit("\n\n", 1)[-1][-_LONGEST:]
    return PAIR.search(last) is not None or len(OFFERED.findall(last)) > 1


def _goes_on(line: str) -> bool:
    """Whether a line may stand among instructions."""
    return bool(_BESIDE.search(line) or _ASKS.match(line))


_LINES: Final = re.compile(r"\n")
_SENTENCES: Final = re.compile(
    r"\n|(?<=[.?!;|。？！]) | (?=(?:Is|Are|Does|Do|Answer|Reply|Respond|Output|Return|Please|Say|"
    r"Decide) )"
)


def instructs(line: str) -> bool:
    """Whether a line tells a judge what to do or how to reply."""
    line = line.strip()
    if not line:
        return False
    if len(line) < _SHORT and _is_heading(line):
        return True
    under = request_under(line) if len(line) <= _LONGEST else None
    if under is not None and (not under or _ASKS.match(under)):
        return True
    if _CASES.search(line):
        return True
    return len(line) <= _LONGEST and (_requests(line) or _offers(line))


def _is_heading(line: str) -> bool:
    """Whether a short line introduces the reply: ``Verdict:``, ``Answer (yes/no):``."""
    return bool(
        PAIR.fullmatch(line.strip(" .()?"))
        or VERDICT_LABEL.fullmatch(line)
        or (line.endswith((":", "：")) and PAIR.search(line))
        or _BRACKETED.search(line)
    )


def _requests(line: str) -> bool:
    """Whether a line asks for something that is a judge's."""
    if any(_ASKS.match(part) and PAIR.search(part) for part in _SENTENCE.split(line)):
        return True
    if _GRADE.fullmatch(line) or (_MENU.match(line) and _ITEM.search(line)):
        return True
    return _ASKS.match(line) is not None and bool(
        _ITEM.search(line)
        or (_REPLIES.search(line) and _DRESSED.search(line))
        or len(_CONDITIONED.findall(line)) > 1
        or (line.endswith((":", "：")) and _REPLIES.search(line))
    )


def _offers(line: str) -> bool:
    """Whether a line that speaks of a reply offers words for it."""
    replies = _REPLIES.search(line) is not None
    if replies and QUOTED_PAIR.search(line):
        return True
    return (replies or LABELLED.match(line) is not None) and len(OFFERED.findall(line)) > 1


_DRESSED: Final = re.compile(
    r"<(\w+)>[^<>\n]{0,40}</\1>|\\boxed\{|\[\[|\{[\"']\w+[\"']:|</?\w+> tags?\b"
)
"""A form of a reply."""
_BRACKETED: Final = re.compile(rf"[:：]\W*[\[<({{]\W*(?i:{PAIR.pattern})\W*[\])>}}]\W*\Z")
_CONDITIONED: Final = re.compile(r"\b[A-Z]{2,}\b[\"'`”]?\s+(?:if|when|where|for|in)\b")
_CASE: Final = (
    r"(?:(?:输出|回答|返回|给出?|记为?|判为?|填写?|选择?|[得打])\s*[\"“]?(?:[AB01]|[是否对错])(?!\w*[A-Za-z])|"
    r"\b[ABYN01]\b[\"'`”]?\s+(?:if|when|for)\b)"
)
_CASES: Final = re.compile(rf"{_CASE}.{{1,200}}?(?:{_CASE}|\botherwise\b|否则)")
"""Two values, each with its condition."""
_SENTENCE: Final = re.compile(r"(?<=[.?!])\s+|(?<=[。？！，])")
_GRADE: Final = re.compile(r"\W*[A-E]\W+(?:CORRECT|INCORRECT|NOT[ _]ATTEMPTED|正确|错误|未尝试)\W*")
_MENU: Final = re.compile(r"\W*[A-E][)\].:：]")
_REPLIES: Final = re.compile(
    r"\b(?:respond|reply|answer|output|return|print|write|give|provide|end|conclude|choose|"
    r"select|label|"
    r"say|state|use|put|mark|grade|judge|verdict|decision)\b|[写填]|输出|回答|回复|返回|给出|判断|结论|"
    r"标记",
    re.IGNORECASE,
)
"""What speaks of a reply."""


def _paragraph(lines: list[str], start: int) -> int:
    """The first line of the paragraph of line ``start``, where all before it are requests, too."""
    first = start
    while first and lines[first - 1].strip() and _ASKS.match(lines[first - 1]):
        first -= 1
    return first if first and not lines[first - 1].strip() else start
