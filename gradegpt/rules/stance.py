"""The stance of a response to an answer: affirmed, denied, doubted, attributed or taken back.

The words are in ``cues.tsv``. They are looked for in the clause of an answer, directly after it and
at the beginning of later sentences; words that are not known there leave a response open.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from gradegpt.answers.options import LETTERS
from gradegpt.answers.spans import sentence_start
from gradegpt.answers.truth import truth
from gradegpt.rules.bind import DISOWNED, LIST_GAP, Mention
from gradegpt.rules.claims import Found, How
from gradegpt.rules.cues import cue

_REACH: Final = 80
_SOON: Final = 12
"""Characters before and after an answer that are searched."""
_NEGATION, _NOT, _HEDGE, _SUPPOSED = cue("negation"), cue("not"), cue("hedge"), cue("supposed")
_EARLIER, _OTHERS, _NOW, _SO, _ELSE = map(cue, ("earlier", "others", "now", "so", "else"))
_REFERS, _SEVERAL = cue("refers"), cue("several")
_REVISES: Final = cue("talk", "negation", "others", "now", "earlier", "refers")
_EXCEPTS: Final = cue("negation", "except")
_AFTER: Final = cue("retracted", before=r"[^\w]{0,8}")
_UNDECIDED: Final = cue("quoted", "hearsay", "left open")
_LATER: Final = cue("later", before=r"(?:^|[\n.。!！?？;；:：…”\"])[\s\W]{0,8}?")
PERSON = cue("writer")
_MISLED = cue("misled")
_CONTRASTED: Final = re.compile(r"[;,]\s*(?:but|yet)\s+[A-Z][\w']*(?:\s[A-Z][\w']*)*\.?\s*\Z")
"""Another name at the end: "Verdi comes to mind, but Puccini"."""
_SAID_RIGHT: Final = re.compile(
    r"[\s)）*.]{0,3}(?:选?项)?(?:的?(?:说法|叙述|表述))?(?:是|is )?\s*"
    r"(?:正确(?!答案|选项)|对的?[，,。.]|(?:right|true|correct)\b(?! (?:answer|option|choice)))"
)
_SAID_GOOD: Final = re.compile(
    rf"[{LETTERS}](?:选?项)?(?:的?(?:说法|叙述|表述))?"
    r"(?:[都均全]?(?:没有?|无)(?:问题|错|误)|[都均全][属是为]|是?正确[,，。;；])"
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
_JOINT = re.compile(
    r"[,;:!?。、…”\"\n]|(?<!\d)\.|\.(?!\d)|\b(?:and|but|so|which|yet|whereas)\b|但|而|可是"
)
"""The boundaries of clauses."""
_ANSWER = re.compile(
    r"(?:^|[,;:。.!?])\s*(?:(?:and|so|but|hence|thus|therefore|here|所以|因此|故|则|于是|从而)[\s,]*)*"
    r"(?:(?:the )?(?:(?:correct|right|true|final|real|actual|only) )*"
    r"(?:answer|result|conclusion|solution|value)(?! (?:to|of|in|from|by))"
    r"|(?:it|they|which)(?: is| are|'s| must be| equals?)\W(?=\W*(?:\w+\W+)?\0)|它是"
    r"|(?:正确|最终|最后|真正|本题|这道?题)?的?(?:答案|结果|结论|正解)|应|填|正确的)",
    re.IGNORECASE,
)
_BARE = re.compile(r"[;.。]\s*\0[\s.。]*\Z")
"""A last clause that is an answer and nothing else."""
_TITLE = re.compile(r"[\"“][^\"”]*[\"”]")
Same = Callable[[Mention, Mention], bool]


class Clause(NamedTuple):
    """A mention with its clause, whether the clause denies it, and whether it puts it aside."""

    mention: Mention
    start: int
    end: int
    denied: bool
    aside: bool


def revises(text: str) -> bool:
    """Whether a text has a word of those by which one answer gives way to another."""
    return _REVISES.search(text) is not None


def denies(text: str, start: int = 0, end: int = sys.maxsize) -> bool:
    """Whether a part of a text denies or excepts something."""
    return _EXCEPTS.search(text, start, end) is not None


def clauses(text: str, found: Sequence[Mention]) -> list[Clause]:
    """Each mention of a text in ASCII punctuation with the clause around it."""
    made = list[Clause]()
    for i, one in enumerate(found):
        low = found[i - 1].end if i else 0
        high = found[i + 1].start if i + 1 < len(found) else len(text)
        start = max((m.end() for m in _JOINT.finditer(text, low, one.start)), default=low)
        stop = _JOINT.search(text, one.end, high)
        end = stop.start() if stop else high
        words = f"{text[start : one.start]} \0 {text[one.end : end]}"
        made.append(Clause(one, start, end, bool(_NEGATION.search(words)), _is_aside(words)))
    for i in range(len(made) - 2, -1, -1):
        if made[i + 1].denied and LIST_GAP.fullmatch(text, found[i].end, found[i + 1].start):
            made[i] = made[i]._replace(denied=True)  # A, C and D are wrong
    return made


def negated(text: str, one: Clause) -> bool:
    """Whether a negation stands before an answer in its clause."""
    return _NOT.search(text, one.start, one.mention.start) is not None


def _is_aside(words: str) -> bool:
    """Whether the words around an answer give it to somebody else, or to an earlier time."""
    others = _OTHERS.search(words) and not PERSON.search(words)
    return bool(others or _EARLIER.search(words))


def commitment(text: str, named: Sequence[Clause], same: Same) -> Clause | None:
    """The mention to which a text commits; None if it is not shown to.

    The last one that is neither denied nor put aside counts, and only where words commit to it that
    do not commit to the one before it as well.
    """
    out = [one.mention for one in named if one.denied]
    live = [one for one in named if not any(same(one.mention, m) for m in out)]
    live = [one for one in live if not one.aside]
    if not live or _REFERS.search(text) or takes_back(text, live[-1].mention.end):
        return None
    last = live[-1]
    others = [
        one for one in named if not same(one.mention, last.mention) and one.start < last.start
    ]
    # the words around the last mention, after the clauses of the others, and what follows it
    ends = (one.end if one.end <= last.start else one.mention.end for one in others)
    before = max(ends, default=last.start)
    mark = "?" if re.match(r"[\s\"”)$]*\?", text[last.mention.end :]) else ""
    words = f"{text[before : last.mention.start]}\0{text[last.mention.end : last.end]}{mark}"
    rest, at = "", last.end
    for one in named:
        if one.start >= last.end:
            rest, at = rest + text[at : one.start], one.end
    rest += text[at:]
    soon = rest[:_SOON] if all(same(one.mention, last.mention) for one in named) else rest
    if _HEDGE.search(words) or _HEDGE.search(soon) or _NEGATION.search(soon):
        return None
    rival = next((one for one in reversed(others) if one in live), None)
    return last if rival is None or _outweighs(text, last, rival, words) else None


def _outweighs(text: str, last: Clause, rival: Clause, words: str) -> bool:
    """Whether words commit to the answer that they introduce, and not to its rival."""
    begin = sentence_start(text, rival.mention.start)
    ended = re.search("[.。]", text[rival.end : last.start])
    supposed = _SUPPOSED.search(text, begin, rival.mention.start) and not ended
    if supposed or _is_aside(words):
        return False
    beside = text[rival.mention.end : rival.end] if rival.end <= last.start else ""
    first = f"{text[rival.start : rival.mention.start]}\0{beside}"
    if _NOW.search(words) or PERSON.search(first):
        return _NOW.search(words) is not None
    if PERSON.search(words) or (_BARE.search(words) and not _HEDGE.search(first)):
        return True
    return any(p.search(words) and not p.search(first) for p in (_ANSWER, _SO))


def alone(text: str, one: Clause) -> bool:
    """Whether nothing around a text that is said says that the writer's answer is another."""
    excepted = one.denied and not negated(text, one)
    return not (excepted or _SEVERAL.search(text[: one.start]) or goes_on(text, one))


def goes_on(text: str, one: Clause) -> bool:
    """Whether what follows an answer questions it, or announces another one."""
    rest = _TITLE.sub("", text[one.mention.end :])
    person = PERSON.search(rest) and not PERSON.search(one.mention.text)
    return bool(re.match(r"[\s\"”)]*\?", rest) or person or _ELSE.search(rest))


def disowned(text: str, found: Found) -> bool:
    """Whether the words around the answer, or a later sentence, deny or retract it."""
    start, (at, end) = found.clause[0], found.place(text)
    before = text[max(sentence_start(text, at), at - _REACH) : at]
    if DISOWNED.search(before) or _AFTER.match(text[end : end + _REACH]):
        return True
    if _UNDECIDED.search(text, max(min(found.start, start), start - _REACH), max(found.end, end)):
        return True
    word, after = truth(found.answer) is not None, end  # 不对 alone takes nothing back
    if found.how in (How.STATED, How.WHOLE):
        if _CONTRASTED.search(text) or _MISLED.search(text):
            return True
        end = start
    since = after if word else max(start, end - 1)
    if takes_back(text, since) or (not word and takes_back(found.answer)):
        return True
    denied = _DENIED_WHOLE.match(found.answer) or _DENIED_PARTS.search(text, start)
    return denied is not None


def said_right(text: str, found: Found) -> bool:
    """Whether the words after an option call it right: "C is correct", C正确; A、B都没有问题."""
    after = len(found.answer) == 1 and _SAID_RIGHT.match(text, found.clause[1])
    return bool(after or _SAID_GOOD.search(found.answer))


def takes_back(text: str, since: int = 0) -> bool:
    """Whether a sentence from ``since`` on retracts the text before it."""
    return _LATER.search(text, since) is not None
