"""Which of several answers that a short response names is the one to which it commits.

A response that talks about answers and derives none names them side by side: one that is denied,
that somebody else gives, that is taken back, or that may be right as well. The last one that is not
denied counts, and only where words commit to it that do not commit to the one before it as well. So
words that are not known here leave a response open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from gradegpt.answers.answer import Answer
from gradegpt.answers.options import half_width
from gradegpt.answers.read import read
from gradegpt.answers.spans import sentence_around, sentence_end, sentence_start
from gradegpt.core.schema import CHOICE, AnswerType
from gradegpt.rules.compare import TO_A_GRADER, compare
from gradegpt.rules.extract import Found, How
from gradegpt.rules.extract.mentions import (
    LIST_GAP,
    LISTS,
    Mention,
    mentions,
    occurrences,
    size,
    twice,
)
from gradegpt.rules.reference import answer_places

_TALK: Final = 300
_MOST: Final = 8
_LINES: Final = 2
"""Most characters beside the answers, answers, and lines of a response that only names them."""
_SHARED: Final = 3
"""Most words that it shares with the question, one less in English; a derivation shares more."""
_LONGEST: Final = 1_000
_UNREAD: Final = (AnswerType.TEXT, AnswerType.CODE)
_WORD = re.compile(r"[A-Za-z]{4,}|(?=([\u3400-\u9fff]{2}))")
_CHAIN = re.compile(r"=[^=,;]*=|<<")
_STEP = re.compile(r"=[^=]*=|[-+*/×÷]\s*\d[^=]*=|<<")
"""Steps of derivations: two equals signs, or an operation before one."""
_PARTS = re.compile(r"[①-⑨]|\b[a-e]\)")
_OTHER_FORM = re.compile(r"\\begin|boxed|\A\s*\{\s*\"")
"""Matrices, boxes and JSON, whose answers are read where they are."""
_JOINT = re.compile(
    r"[,;:!?。、…”\"\n]|(?<!\d)\.|\.(?!\d)|\b(?:and|but|so|which|yet|whereas)\b|但|而|可是"
)
"""The boundaries of clauses."""
_NOT = re.compile(
    r"[绝决并]非|不(?:会|能|应|可能|可)?(?:是|为|等于|选)|n't\b|\b(?:not|never|no|neither)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"不(?!难|妨|等式|如)|非(?!负|零|常)|[没别勿莫错误撤]|未(?!知)|无关|与其|排除|舍去|淘汰|作废|推翻"
    r"|收回|放弃|否定|陷阱|n't\b"
    r"|\b(?:not|never|no|nor|neither|none|cannot|hardly|without|wrong|false|incorrect"
    r"|mis(?:t[ao]|read|print|calc|le[ad])\w*(?! for)\b|(?:error|typo|slip)(?! for)|trap"
    r"|(?:rather|other) than|instead of|opposed to|far from|anything but|rul(?:ed?|ing) out"
    r"|(?:reject|discard|exclud|avoid|eliminat|contradict|abandon|dis(?:agree|regard|miss|prov))\w*"
    r"|un(?:likely|true|able|sure|decided)|withdr\w+|ignore|take back|(?<!no )doubts?)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"[?]|例如|比如|或|要么|可能|也许|大概|恐怕|似乎|如果|假如|倘若|若|否则|的话|是否|[猜都]|任选|也行"
    r"|二者|两个|\be\.g\b"
    r"|\b(?:x?or|either|perhaps|maybe|may|might|could|possibl[ey]|probabl[ey]|likely|if|otherwise"
    r"|unless|whether|provided|should|guess\w*|both|depends|chance|pick)\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(r"如果|假如|倘若|若|\b(?:if|suppose|were|should)\b", re.IGNORECASE)
_BEFORE = re.compile(
    r"之前|原[来先]|先前|起初|一开始|本来|曾|旧|刚才"
    r"|\b(?:before|earlier|previous(?:ly)?|initial(?:ly)?|original(?:ly)?|formerly|old)\b",
    re.IGNORECASE,
)
_PEOPLE = r"同[桌学伴]|老师|朋友|[爸妈哥姐弟妹爷奶叔]|室友|导师|邻居|班|女|儿子"
_PERSON = re.compile(
    rf"(?<![告给让对跟问教劝诉])(?:我|本人|自己)(?!们?的?(?:{_PEOPLE}|听|看到|被|查|抄))"
    r"|\b(?:I|[Ww]e)\b(?! (?:hear|heard|read|saw|was|am|copied|know)\b)|\bMe:|\bmine\b"
    r"|\b(?:[Mm]y|[Oo]ur)(?: \w+)? (?:answer|result|conclusion|reply|solution|choice)\b"
)
_OTHERS = re.compile(
    rf"{_PEOPLE}|[他她]|别人|有人|大家|参考|标准|官方|书|网"
    r"|\b(?:he|she|teacher|friend|classmate|book|key|official|others|people|model|\w+one)\b",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"改|换成|更正|订正|修正|更新|重新|为准|[而才]是|现在|如今|最终|最后|整理|化简|其实|明明|事实上|等等"
    r"|慢着|新|[只仅](?:剩|能|有)|剩下"
    r"|\b(?:wait|instead|correct(?:ed|ion)|chang\w+|now|edit\w*|replac\w+|becom\w+|final(?:ly)?"
    r"|update\w*|actually|in fact|new|lea(?:ves?|ving)|left with|adopt|accept|second thoughts?"
    r"|sorry|hold on|th(?:is|e right|e correct) one)\b",
    re.IGNORECASE,
)
_SO = re.compile(r"\b(?:so|hence|thus|therefore)\b|所以|因此|[故即]", re.IGNORECASE)
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
_ELSE = re.compile(
    r"\bboth (?:are|is|of)\b|\b(?:accept|allow) both|\b(?:neither|wait|instead|edit|sorry)\b|两个"
    r"|(?:^|[,;.])\s*(?:but |so )?(?:the|my) (?:\w+ )?(?:answer|choice)"
    r"|更正|改为|而是|应[该当]?[为是]|答案",
    re.IGNORECASE,
)
"""Words after a text that say that it is not, or not alone, the answer."""
_STANCE = re.compile(
    r"犹豫|[甲乙]|之间|以为|作废|先写|撤|\b(?:between|torn|hesitat\w+|undecided|supposed(?:ly)?|claim\w*)\b",
    re.IGNORECASE,
)
"""Further words of a response that talks about answers rather than giving them in turn."""
_FIRST = re.compile(r"[A-Z][。.]\s*[A-Z]项?(?:错误|不正确)")
"""A letter alone, then another that is wrong, of which either may be what is asked: B。A错误。"""
_TITLE = re.compile(r"[\"“][^\"”]*[\"”]")
_SEVERAL = re.compile(
    r"[两几多]个(?:答案|结果|选项|可能)|候选|备选|\b(?:two|several) (?:answers|results|options)\b"
    r"|\bcandidates?\b",
    re.IGNORECASE,
)
Same = Callable[[Mention, Mention], bool]


class Settled(NamedTuple):
    """The answer to which a response commits that names several; None if it is not shown to."""

    found: Found | None


def settled(
    response: str, first: Found, references: Sequence[Answer], question: str
) -> Settled | None:
    """What a response comes to that only talks about answers; None for any other response."""
    kind, text = references[0].kind, half_width(response)
    if _is_read(text, first) or (kind is AnswerType.TRUE_FALSE and TO_A_GRADER.search(text)):
        return None
    if kind in _UNREAD:
        named = occurrences(text, [reference.text for reference in references])
        talks = _talks(text, named, kind, question)
        alone = all(_alone(text, one) for one in _clauses(text, named))
        return Settled(None) if talks and not alone else None
    named = mentions(text, kind, question)
    if not _talks(text, named, kind, question):
        return None
    if any(twice(one.text, kind) for one in named):
        return Settled(None)
    if _one_by_one(named, kind, references[0].text, question):
        return None

    def same(one: Mention, other: Mention) -> bool:
        left, right = (read(m.text, kind, question) for m in (one, other))
        return left.value == right.value or compare(left, right, question=question).same is True

    clauses = _clauses(text, named)
    if all(same(one, named[0]) for one in named[1:]):
        denied = all(_NOT.search(text, one.start, one.mention.start) for one in clauses)
        later = text[sentence_end(text, clauses[-1].end) :]
        taken = kind in CHOICE and _PERSON.search(later)
        return Settled(None) if taken or (denied and kind is not AnswerType.TRUE_FALSE) else None
    if not any(p.search(text) for p in (_STANCE, _NEGATION, _HEDGE, _OTHERS, _NOW)):
        return None
    last = _commitment(text, clauses, same)
    if last is None or (kind in CHOICE and _FIRST.match(text) and not last.start):
        return Settled(None)
    span = sentence_around(response, last.start, last.end)
    place = (last.start, last.end)
    return Settled(Found(response[slice(*place)], *span, How.ANNOUNCED, place))


def _is_read(text: str, found: Found) -> bool:
    """Whether the answer found stands by itself: in a box, or announced in a last line."""
    line = text.rfind("\n", 0, len(text.rstrip())) + 1
    last = line > 0 and found.how is How.ANNOUNCED and found.clause[1] > line
    long = len(text) > _LONGEST
    return last or long or found.how is How.BOXED or _OTHER_FORM.search(text) is not None


def _talks(text: str, named: list[Mention], kind: AnswerType, question: str) -> bool:
    """Whether a text names answers in words that are not those of the question."""
    if not 0 < len(named) <= _MOST or text.count("\n") >= _LINES:
        return False
    beside = text
    for one in reversed(named):
        beside = f"{beside[: one.start]} \0 {beside[one.end :]}"
    own = _content(beside)
    shared = len(own & _content(question)) + text.isascii()
    if len(beside) > _TALK or not own or shared > _SHARED:
        return False
    if kind is AnswerType.MULTI_PART and _PARTS.search(text):
        return False
    step = _STEP if kind is AnswerType.NUMBER else _CHAIN
    return kind in LISTS or not any(step.search(m.text) for m in named)


def _content(text: str) -> set[str]:
    """The words of a text: Latin ones of four letters and more, and pairs of Chinese characters."""
    return {(m[0] or m[1]).lower() for m in _WORD.finditer(text)}


def _one_by_one(named: list[Mention], kind: AnswerType, reference: str, question: str) -> bool:
    """Whether a text gives several answers that are asked for one after another."""
    if kind not in CHOICE and kind not in LISTS:
        return False
    full = sum(size(one.text, kind) > 1 for one in named)
    least = 1 if kind is AnswerType.MULTI_ANSWER else 2
    return full < least and answer_places(reference, kind, question) > 1


class _Clause(NamedTuple):
    """A mention with its clause, and whether the clause denies it."""

    mention: Mention
    start: int
    end: int
    denied: bool


def _clauses(text: str, found: list[Mention]) -> list[_Clause]:
    made = list[_Clause]()
    for i, one in enumerate(found):
        low = found[i - 1].end if i else 0
        high = found[i + 1].start if i + 1 < len(found) else len(text)
        start = max((m.end() for m in _JOINT.finditer(text, low, one.start)), default=low)
        stop = _JOINT.search(text, one.end, high)
        end = stop.start() if stop else high
        words = f"{text[start : one.start]} \0 {text[one.end : end]}"
        made.append(_Clause(one, start, end, _NEGATION.search(words) is not None))
    for i in range(len(made) - 2, -1, -1):
        if made[i + 1].denied and LIST_GAP.fullmatch(text, found[i].end, found[i + 1].start):
            made[i] = made[i]._replace(denied=True)  # A, C and D are wrong
    return made


def _commitment(text: str, named: list[_Clause], same: Same) -> Mention | None:
    """The mention to which a text commits; None if it is not shown to."""
    out = [one.mention for one in named if one.denied]
    live = [one for one in named if not any(same(one.mention, m) for m in out)]
    if not live:
        return None
    last = live[-1]
    others = [one for one in named[: named.index(last)] if not same(one.mention, last.mention)]
    words = _words(text, last, others)
    rest = _rest(text, last, named)
    if _HEDGE.search(words) or _HEDGE.search(rest) or _NEGATION.search(rest):
        return None
    rival = next((one for one in reversed(others) if one in live), None)
    return last.mention if rival is None or _outweighs(text, last, rival, words) else None


def _words(text: str, last: _Clause, others: list[_Clause]) -> str:
    """The words around the last mention, after the clauses of the others, and what follows it."""
    ends = (one.end if one.end <= last.start else one.mention.end for one in others)
    before = max(ends, default=last.start)
    mark = re.match(r"[\s\"”)$]*\?", text[last.mention.end :])
    after = text[last.mention.end : last.end] + ("?" if mark else "")
    return f"{text[before : last.mention.start]}\0{after}"


def _rest(text: str, last: _Clause, named: list[_Clause]) -> str:
    """What follows the clause of the last mention, without the clauses that deny another."""
    rest, at = "", last.end
    for one in named:
        if one.start >= last.end:
            rest, at = rest + text[at : one.start], one.end
    return rest + text[at:]


def _outweighs(text: str, last: _Clause, rival: _Clause, words: str) -> bool:
    """Whether words commit to the answer that they introduce, and not to its rival."""
    begin = sentence_start(text, rival.mention.start)
    ended = re.search("[.。]", text[rival.end : last.start])
    if _SUPPOSED.search(text, begin, rival.mention.start) and not ended:
        return False
    person = _PERSON.search(words)
    if _BEFORE.search(words) or (_OTHERS.search(words) and not person):
        return False
    if _NOW.search(words):
        return True
    beside = text[rival.mention.end : rival.end] if rival.end <= last.start else ""
    first = f"{text[rival.start : rival.mention.start]}\0{beside}"
    if _PERSON.search(first):
        return False
    if person or (_BARE.search(words) and not _HEDGE.search(first)):
        return True
    return any(p.search(words) and not p.search(first) for p in (_ANSWER, _SO))


def _alone(text: str, one: _Clause) -> bool:
    """Whether nothing around a text that is said says that the writer's answer is another."""
    rest = _TITLE.sub("", text[one.mention.end :])
    negated = one.denied and not _NOT.search(text, one.start, one.mention.start)
    if negated or re.match(r"[\s\"”)]*\?", rest) or _SEVERAL.search(text[: one.start]):
        return False
    person = _PERSON.search(rest) and not _PERSON.search(one.mention.text)
    return not (person or _ELSE.search(rest))
