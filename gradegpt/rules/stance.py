"""Whether a response affirms an answer: it does not deny, quote or retract it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from gradegpt.answers.options import LETTERS
from gradegpt.answers.spans import sentence_start
from gradegpt.answers.truth import truth
from gradegpt.rules.extract import Found, How
from gradegpt.rules.extract.mentions import LIST_GAP, Mention

_REACH: Final = 80
_SOON: Final = 12
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
    r"(?:网上|小[\u3400-\u9fff]|有人|有的|(?:[很许]多|多数|大部分)的?(?:人|同学|学生|考生)|大家|同学|同桌|老师|别人|朋友|他们)"
    r"[^。；;\n]{0,10}(?:说|认为|觉得|回答|写|选|答案|算)[^。；;\n]{0,8}$"
    r"|有(?:[一这]?种|的)?(?:观点|说法|意见|看法|解法)[^。；;，,\n]{0,8}$"
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
    r"|我(?:持|不赞?同|反对)|我有(?:不同|异议)"
    r"|我(?:坚持|却|的答案|算(?:出|得)|选|得到)|但我|或(?:许|者)?(?:是|可能)"
)
_AFTER: Final = re.compile(
    r"[^\w]{0,8}(?:[?？]|(?:would|will) be (?:wrong|incorrect)"
    rf"|{_TAKEN_BACK_EN}|{_TAKEN_BACK_ZH})"
    r"|[\s)\]}*$,]{0,8}\bif\b[^.\n]{0,60}\b(?:were|was|had|did|could)\b",
    re.IGNORECASE,
)
"""Words directly after an answer that retract it, or contrast it with the writer's own."""


_MISLED: Final = re.compile(
    r"\b(?:fooled|tricked|misled|tempted|lured) (?:in)?to \w", re.IGNORECASE
)
"""Words before an answer that nobody should give."""
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
_LATER: Final = re.compile(
    r"(?:^|[\n.。!！?？;；:：…”\"])[\s\W]{0,8}?(?:"
    r"(?:(?:hmm|oh|no|nope|and|but|or)[,.]? )?(?:"
    r"(?:no|wait|hmm),? (?:wait|that|let me|i (?:was|made|mis))|wait\b[,.!:]|wait a|actually,"
    r"|correction\b|(?:scratch|strike) that|i(?:['’]m| am)? tak(?:e|ing) (?:it|that) back"
    r"|i meant\b|on second thought|oops"
    r"|(?:sorry|i apologi[sz]e),? (?:i|it|that|the|my)"
    r"|i (?:made|was) (?:a |an )?(?:mistake|error|wrong)"
    r"|(?:that|this)(?:'s| is| was) (?:wrong|incorrect|not (?:right|correct))"
    r"|but,? (?:i (?:get|got|think|say|believe|find)|my (?:own )?(?:answer|result)|mine)\b"
    r")|不对|错了|更正|等等[，,]|慢着|等一下|(?:[哎啊哦][，,])?(?:说岔|口误|手滑|[说写打念]错)"
    r"|抱歉，|对不起，|哦?不，(?:等|应|是|答)|我(?:刚才|之前)?(?:算|写|看|说|弄|搞)错"
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


_JOINT = re.compile(
    r"[,;:!?。、…”\"\n]|(?<!\d)\.|\.(?!\d)|\b(?:and|but|so|which|yet|whereas)\b|但|而|可是"
)
"""The boundaries of clauses."""
_NOT = re.compile(
    r"[绝决并]非|不(?:会|能|应|可能|可)?(?:是|为|等于|选)|n't\b|\b(?:not|never|no|neither)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"不(?!难|妨|等式|如|列|丹|变|到|足|同)|非(?!负|零|常)|没(?!满|到)|莫(?=[选要非])|[别勿错误撤]|未(?!知)|无关|与其|排除|舍去|淘汰|作废"
    r"|推翻|收回|放弃|否定|陷阱|n't\b"
    r"|\b(?:not|never|no|nor|neither|none|cannot|hardly|without|wrong|false|incorrect|lacks?"
    r"|mis(?:t[ao]|read|print|calc|le[ad])\w*(?! for)\b|(?:error|typo|slip)(?! for)|trap"
    r"|(?:rather|other) than|instead of|opposed to|far from|anything but|rul(?:ed?|ing) out"
    r"|(?:reject|discard|exclud|avoid|eliminat|contradict|abandon|dis(?:agree|regard|miss|prov))\w*"
    r"|un(?:likely|true|able|sure|decided)|withdr\w+|ignore|take back|(?<!no )doubts?)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"[?]|例如|比如|或|要么|可能|也许|大概|恐怕|似乎|如果|假如|倘若|若|否则|的话|是否|猜"
    r"|(?<!首)都(?:对|是|可|行|正确|成立|有可能)|任选|也行"
    r"|二者|两个|\be\.g\b"
    r"|\b(?:x?or|either|perhaps|maybe|may|might|could|possibl[ey]|probabl[ey]|likely|if|otherwise"
    r"|unless|whether|provided|should|guess\w*|both|depends|chance|pick)\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(r"如果|假如|倘若|若|\b(?:if|suppose|were|should)\b", re.IGNORECASE)
_EARLIER = re.compile(
    r"之前|原[来先]|先前|起初|一开始|刚开始|本来|曾|旧|刚才|第一反应|先想到|脱口|差点|险些|以为|至于是"
    r"|草稿|初稿|直觉|印象里|提示|讲义|传闻|划掉"
    r"|\b(?:before|earlier|previous(?:ly)?|initial(?:ly)?|original(?:ly)?|formerly"
    r"|(?<!years )(?<!year )(?<!-)(?<!how )old"
    r"|(?:at )?first (?:thought|glance|version|draft|guess|bulletin|instinct)|at first|used to|ago"
    r"|about to (?:write|say|put|answer|choose)|first,? I (?:put|wrote|said|had|took|guessed)"
    r"|(?:nearly|almost|I would|I['’]d) have|(?:I )?(?:very )?(?:nearly|almost)|off the top"
    r"|in mind|comes? to mind|look(?:s|ed) plausible|argue for|tempt\w*|swears?|hint\w*|insists"
    r"|where it (?:says|said|reads)|draft|crossed|leak(?:s|ed)?|rumou?rs?|suspected|confus\w*"
    r"|instinct|mention(?:ed|s))\b",
    re.IGNORECASE,
)
"""Words that put an answer aside: an earlier one, or one that only comes to mind."""
_PEOPLE = (
    r"同[桌学伴]|老师|朋友|(?<=[我的])[爸妈哥姐弟妹爷奶叔]|室友|导师|邻居|班[上里长主级]|女[儿友生同]"
    r"|儿子"
)
PERSON = re.compile(
    rf"(?<![告给让对跟问教劝诉])(?:我|本人|自己)(?!们?的?(?:{_PEOPLE}|听|看到|被|查|抄))"
    r"|\b(?:I|[Ww]e)\b(?! (?:hear|heard|read|saw|was|am|copied|know)\b)|\bMe:|\bmine\b"
    r"|\b(?:[Mm]y|[Oo]ur)(?: \w+)? (?:answer|result|conclusion|reply|solution|choice)\b"
)
_SAYS = r"(?:说|认|觉|讲|坚持|选|猜|算|答|写成|投|建议)"
_OTHERS = re.compile(
    rf"{_PEOPLE}|(?<!其)[他她]们?\S{{0,3}}{_SAYS}|别人|有人|大家|参考|标准|官方|书[上里中本说写]|[这本]书"
    r"|课本|教材|教科书|网[上友站]"
    r"|\b(?:teacher|friend|classmate|\w*book|key|official|others|people|model"
    r"|(?:some|any|every|no)one"
    r"|(?:s?he|they)(?:['’]\w+| will| would| has| have)* (?:sa|thin|thought|insist|claim|g[eo]t"
    r"|pick|ch[oa]|answ|beli|suggest|w[ro])\w*)\b",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"改|换成|更正|订正|修正|更新|重新|为准|[而才]是|现在|如今|最终|最后|整理|化简|其实|明明|事实上|等等"
    r"|慢着|新|[只仅](?:剩|能|有)|剩下"
    r"|\b(?:wait|instead|correct(?:ed|ion)|chang\w+|now|edit\w*|replac\w+|becom\w+|final(?:ly)?"
    r"|update\w*|actually|in fact|new|lea(?:ves?|ving)|left with|adopt|accept|second thoughts?"
    r"|sorry|hold on|read (?:it|that|this) as|th(?:is|e right|e correct) one)\b",
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
_EXCEPT = re.compile(
    r"\b(?:or|but|except|unlike|rather|instead|though|although|however|yet)\b|或|而非|除了|但|虽|不过|然而|其实",
    re.IGNORECASE,
)
_REFERS = re.compile(
    r"\b(?:first|second|former|latter) (?:one|of (?:these|the))\b"
    r"|\bthe (?:first|second|former|latter)\b[.,]"
    r"|[前后]一[个者]|[前后]者",
    re.IGNORECASE,
)
"""An answer that is named by its place in the response."""
_TITLE = re.compile(r"[\"“][^\"”]*[\"”]")
_SEVERAL = re.compile(
    r"[两几多]个(?:答案|结果|选项|可能)|候选|备选|\b(?:two|several) (?:answers|results|options)\b"
    r"|\bcandidates?\b",
    re.IGNORECASE,
)
Same = Callable[[Mention, Mention], bool]


class Clause(NamedTuple):
    """A mention with its clause, whether the clause denies it, and whether it puts it aside."""

    mention: Mention
    start: int
    end: int
    denied: bool
    aside: bool


def takes_stance(text: str) -> bool:
    """Whether a text has a word of those by which an answer is denied, hedged or preferred."""
    return revises(text) or _HEDGE.search(text) is not None


def revises(text: str) -> bool:
    """Whether a text has a word of those by which one answer gives way to another."""
    return any(p.search(text) for p in (_STANCE, _NEGATION, _OTHERS, _NOW, _EARLIER, _REFERS))


def denies(text: str, start: int = 0, end: int = sys.maxsize) -> bool:
    """Whether a part of a text denies or excepts something."""
    return any(p.search(text, start, end) for p in (_NEGATION, _EXCEPT))


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
    """The mention to which a text commits; None if it is not shown to."""
    out = [one.mention for one in named if one.denied]
    live = [one for one in named if not any(same(one.mention, m) for m in out)]
    live = [one for one in live if not one.aside]
    if not live:
        return None
    last = live[-1]
    if _REFERS.search(text) or takes_back(text, last.mention.end):
        return None
    others = [
        one for one in named if not same(one.mention, last.mention) and one.start < last.start
    ]
    words = _words(text, last, others)
    rest = _rest(text, last, named)
    only = all(same(one.mention, last.mention) for one in named)
    soon = rest[:_SOON] if only else rest
    if _HEDGE.search(words) or _HEDGE.search(soon) or _NEGATION.search(soon):
        return None
    rival = next((one for one in reversed(others) if one in live), None)
    return last if rival is None or _outweighs(text, last, rival, words) else None


def _words(text: str, last: Clause, others: list[Clause]) -> str:
    """The words around the last mention, after the clauses of the others, and what follows it."""
    ends = (one.end if one.end <= last.start else one.mention.end for one in others)
    before = max(ends, default=last.start)
    mark = re.match(r"[\s\"”)$]*\?", text[last.mention.end :])
    after = text[last.mention.end : last.end] + ("?" if mark else "")
    return f"{text[before : last.mention.start]}\0{after}"


def _rest(text: str, last: Clause, named: Sequence[Clause]) -> str:
    """What follows the clause of the last mention, without the clauses of others."""
    rest, at = "", last.end
    for one in named:
        if one.start >= last.end:
            rest, at = rest + text[at : one.start], one.end
    return rest + text[at:]


def _outweighs(text: str, last: Clause, rival: Clause, words: str) -> bool:
    """Whether words commit to the answer that they introduce, and not to its rival."""
    begin = sentence_start(text, rival.mention.start)
    ended = re.search("[.。]", text[rival.end : last.start])
    if _SUPPOSED.search(text, begin, rival.mention.start) and not ended:
        return False
    if _is_aside(words):
        return False
    if _NOW.search(words):
        return True
    beside = text[rival.mention.end : rival.end] if rival.end <= last.start else ""
    first = f"{text[rival.start : rival.mention.start]}\0{beside}"
    if PERSON.search(first):
        return False
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
    start, end = found.clause
    at = text.rfind(found.answer, start, end)
    at, end = (start, end) if at < 0 else (at, at + len(found.answer))
    before = text[max(sentence_start(text, at), at - _REACH) : at]
    if _BEFORE.search(before) or _AFTER.match(text[end : end + _REACH]):
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


def hedges(text: str) -> bool:
    """Whether a text names an alternative to its answer, or attributes it to somebody else."""
    return _HEDGES.search(text) is not None
