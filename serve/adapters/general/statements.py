"""What a prompt says its words mean: "1 if the answer matches", "A: CORRECT", "是否正确"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from .words import CONCESSION, OTHER_TASK, meaning, word

_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+(?=[\"'A-Z(])|[\n。！？；;]+")
_JOINS: Final = re.compile(
    r"[.)\]][ \t]+(?=\w)(?!if\b|when\b|for\b)|"
    r"[\"'`”’*\])}>）]*\s*(?:\([^()]{0,40}\)\s*)?(?:,\s*)?(?:only |points? |marks? |score )?"
    r"(?::|：|=|-+>?|–|—|→|\(|（|if\b|when\b|where\b|means?\b|"
    r"indicates?\b|for (?:a |an |any )?(?=\w)|"
    r"iff\b|only if\b|to mean\b|represents?\b|stands? for\b|表示|代表|说明|意味着|即|为(?=正确|"
    r"错误))\s*",
    re.IGNORECASE,
)
"""What joins a word to the condition after it."""
_CONDITION: Final = re.compile(
    r"\b(?:if|when|for)\b|如果|若|当|=>|则|"
    r"(?<![\"'`“*])(?:\b(?:in-?correct|wrong|right|correct)|正确|错误|一致|不一致)\s*(?:[:：=(（]|->|→)\s*\Z|"
    r"(?:正确|错误|有误|无误|一致|等价|符合|相符|相同|不同|对|错)(?:的|时|则|就|，)*(?:请|直接)?"
    r"(?:输出|回答|返回|给出?|[打给计]|记为?|判为?|填写?|选择?|得|标记?为?)\s*\W*\Z",
    re.IGNORECASE,
)
_OTHERWISE: Final = re.compile(
    r"\b(?:otherwise|else|(?:all|any|every) other)\b|否则|其他情况|反之", re.IGNORECASE
)
_CLAUSE: Final = re.compile(r"[,，(（]|\bbecause\b|\bsince\b")
_LONGEST: Final = 200
_ASKED: Final = re.compile(
    r"\b(?:whether|(?:determine|decide|judge|check|assess|evaluate|verify|tell me|see|"
    r"say) if)\b([^.?!\n;]{3,200})|"
    r"(?:^|(?<=[.!?\n:,])\s*)((?:is|would|are|does|do|did|has|can|would)\b[^.?!\n]{3,200}\?)|"
    r"\b(?:evaluat\w+|assess\w*|judg\w+|check\w*|determin\w+|verif\w+|grad\w+) (?:only )?"
    r"(?:the |its )?"
    r"(?:\w+ )?(correctness)\b|"
    r"(是否[^。？！\n；;，,]{1,80})|([^。？！\n；，]{2,60}吗)",
    re.IGNORECASE,
)


_REQUEST: Final = re.compile(
    r"[,:]\s*(?:(?:and|but|then)\s+)*(?:do not|don't|never|without|only|just|please|answer|reply|"
    r"respond|output|return|write|print|give|provide|finish|end|conclude)\b",
    re.IGNORECASE,
)
"""Where a question ends and a request begins."""


_DRESSED: Final = re.compile(r"\\boxed\{([^{}\n]{1,24})\}|<\w+>([^<>\n]{1,24})</\w+>")
"""A value in a box or a tag."""
_SO: Final = re.compile(
    r"\s*(?:they|it|the \w+) (?:are|is|do|does)\b(?!n't| not)\W*(?:and|or|\Z|[,;.])"
)
_YES: Final = re.compile(r"\W*(?:yes|true|是)(?![a-z])", re.IGNORECASE)
_NO: Final = re.compile(r"\W*(?:no|false|否)(?![a-z])", re.IGNORECASE)
_IF_NOT: Final = re.compile(
    r"\s*there (?:is|are) none\W*|\s*(?:(?:it|they|the \w+) )?(?:is|are|does|do)?\s*(?:not|n't)\W*",
    re.IGNORECASE,
)
"""Conditions that only point back: "if they are", "if not"."""


def meanings(text: str, values: Sequence[str]) -> dict[str, set[str]]:
    """What each value stands for; empty where the text does not say it.

    A condition before or behind a value counts. "Otherwise" is the opposite of the other value.
    """
    text = _DRESSED.sub(lambda m: f' "{m[1] or m[2]}" ', text)
    question = asked(text) - {"other"}
    found: dict[str, set[str]] = {value: set() for value in values}
    token = re.compile("|".join(f"(?:{word(value)})" for value in values), re.IGNORECASE)
    rest: list[str] = []
    for sentence in _SENTENCE.split(text):
        places = [m for m in token.finditer(sentence) if _stands_alone(m, sentence)]
        before_first = sentence[: places[0].start()] if places else ""
        leads = bool(_CONDITION.search(before_first)) and meaning(_short(before_first)) is not None
        for at, match in enumerate(places):
            start = places[at - 1].end() if at else 0
            end = places[at + 1].start() if at + 1 < len(places) else len(sentence)
            before, after = sentence[start : match.start()], sentence[match.end() : end]
            before = _JOINED.sub("", before)
            value = next(v for v in values if re.fullmatch(word(v), match[0], re.IGNORECASE))
            joined = _JOINS.match(sentence, match.end(), end)
            joined = None if "?" in after else joined  # a question is no condition
            condition = before if leads else sentence[joined.end() : end] if joined else ""
            said = meaning(_short(condition, last=leads)) or meaning(condition[:_LONGEST])
            if len(question) == 1 and (_SO.match(condition) or _YES.match(condition)):
                said = next(iter(question))
            elif len(question) == 1 and _NO.match(condition):
                said = "wrong" if question == {"right"} else "right"
            if said and not _IF_NOT.fullmatch(condition):
                found[value].add(said)
            elif (
                _IF_NOT.fullmatch(condition)
                or _OTHERWISE.search(before)
                or (not leads and _OTHERWISE.search(after))
            ):
                rest.append(value)
    for value in rest:
        others = set().union(*(found[other] for other in values if other != value)) & {
            "right",
            "wrong",
        }
        if len(others) == 1 and not found[value]:
            found[value] = {"wrong"} if others == {"right"} else {"right"}
    return found


_GLOSSED: Final = re.compile(r"(?:correct|wrong|right|正确|错误)\s*[(（]\Z", re.IGNORECASE)
"""What has a value in parentheses behind it: "correct (1)"."""


_JOINED: Final = re.compile(r"\A\W*(?:or|and|或|和)\s*(?=\w)")
"""What joins a condition to the value before it: "right (1) or wrong (0)"."""


def _stands_alone(match: re.Match[str], sentence: str) -> bool:
    """Whether a letter is a value and no article, a digit no number of a list."""
    if len(match[0]) > 1 or not match[0].isascii():
        return True
    if match[0].islower():
        return False
    if match[0].isdigit() and re.match(r"[.)]\s", sentence[match.end() :]):
        return _GLOSSED.search(sentence, 0, match.start()) is not None
    quoted = match.start() and sentence[match.start() - 1] in "\"'`“‘([{*"
    follows = sentence[match.end() :]
    plain = match[0].isdigit() or not re.match(
        r"\s+(?!if\b|for\b|when\b|means\b|or\b|and\b|only\b)[a-z]", follows
    )
    return bool(quoted) or plain


def _short(condition: str, *, last: bool = False) -> str:
    """The clause next to a value."""
    condition = CONCESSION.sub("", condition)
    clauses = [clause for clause in _CLAUSE.split(condition) if meaning(clause)]
    if not clauses:
        return condition[-_LONGEST:] if last else condition[:_LONGEST]
    return clauses[-1 if last else 0][:_LONGEST]


@lru_cache(maxsize=16)
def asked(text: str) -> frozenset[str]:
    """What the text asks of a response: ``right``, ``wrong``, or ``other`` for another task.

    >>> asked("Is the answer correct?"), asked("Decide whether it has an error.")
    (frozenset({'right'}), frozenset({'wrong'}))
    """
    found = set()
    for match in _ASKED.finditer(text):
        question = next(group for group in match.groups() if group)
        said = meaning(_REQUEST.split(question)[0])
        if said in ("right", "wrong"):
            found.add(said)
        elif OTHER_TASK.search(question):
            found.add("other")
    return frozenset(found)
