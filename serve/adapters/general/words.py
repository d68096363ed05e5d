"""The words of verdicts and of conditions in English and Chinese."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple


class Pair(NamedTuple):
    """Two words for right and wrong, or, with ``plain`` false, words that need a meaning."""

    right: str
    wrong: str
    plain: bool = True

    def may_be_in(self, lower: str) -> bool:
        """Whether a text in lower case has the beginnings of both."""
        return all(re.split("[ _-]", value)[0] in lower for value in (self.right, self.wrong))


PAIRS: Final = (
    Pair("yes", "no", plain=False),
    Pair("true", "false", plain=False),
    Pair("是", "否", plain=False),
    Pair("1", "0", plain=False),
    Pair("a", "b", plain=False),
    Pair("y", "n", plain=False),
    Pair("correct", "incorrect"),
    Pair("correct", "wrong"),
    Pair("right", "wrong"),
    Pair("pass", "fail"),
    Pair("match", "mismatch"),
    Pair("match", "no match"),
    Pair("equivalent", "not equivalent"),
    Pair("accept", "reject"),
    Pair("accepted", "rejected"),
    Pair("正确", "错误"),
    Pair("正确", "不正确"),
    Pair("对", "错"),
    Pair("一致", "不一致"),
    Pair("等价", "不等价"),
    Pair("符合", "不符合"),
    Pair("通过", "不通过"),
)
LOOSE: Final = (
    Pair("success", "failure"), Pair("success", "fail"), Pair("same", "different"),
    Pair("consistent", "inconsistent"), Pair("valid", "invalid"), Pair("good", "bad"),
    Pair("equivalent", "different"), Pair("equal", "different"), Pair("equal", "unequal"),
    Pair("consistent", "contradictory"), Pair("ok", "error"), Pair("agree", "disagree"),
    Pair("相同", "不同"), Pair("合格", "不合格"),
)  # fmt: skip
"""Pairs that are used only where no other words are asked for."""
THIRDS: Final = (
    "not attempted", "not_attempted", "not-attempted", "unattempted", "invalid", "no answer",
    "no_answer", "unanswered", "未尝试", "未作答", "未回答", "无效", "拒答",
)  # fmt: skip
"""Words for a response with nothing to grade."""
_QUOTE: Final = r"[\"'`“”‘’「」『』【】*\[\](){}<>\\]*"
_BETWEEN: Final = (
    r"\s*(?:,|，|/|\||、|;|；|:|\bor\b|\band\b|或者?|还是|和|与|或是)\s*(?:or\s+|either\s+)?"
)


@cache
def word(text: str) -> str:
    """A pattern for a word that is no part of a longer one."""
    spaced = r"[\s_-]?".join(map(re.escape, re.split(r"[\s_-]", text)))
    letters = r"A-Za-z0-9_"
    return rf"(?<![{letters}.])(?<!不)(?<!not )(?:{spaced})(?![{letters}]|\.\d)"


@cache
def beside(first: str, second: str) -> str:
    """A pattern for two words with only "or" and the like, or a remark, between them."""
    remark = r"(?:\s*[(（][^()（）\n]{0,60}[)）])?"
    a, b = word(first), word(second)
    one = rf"{a}{_QUOTE}{remark}{_BETWEEN}{_QUOTE}{b}"
    return rf"(?:{one}|{b}{_QUOTE}{remark}{_BETWEEN}{_QUOTE}{a})"


PAIR: Final = re.compile("|".join(beside(pair.right, pair.wrong) for pair in PAIRS), re.IGNORECASE)
_NAMES: Final = (
    r"judg(?:e)?ment|verdict|decision|label|grade|grading|conclusion|result|evaluation|correctness|"
    r"correct_or_not|correct\?|correct|is_correct|equivalent|score|rating|assessment|"
    r"classification|"
    r"answer|pred|match|判断|判断结果|结论|判定|判定结果|结果|评判|评判结果|评价|评估结果|"
    r"最终判断|最终结论|判决|裁决|评分|是否正确|是否一致"
)
VERDICT_LABEL: Final = re.compile(
    rf"[#*\[【<=\"'`\s_-]*(?:(?:the|your|my|final|overall|最终|[你您]的)[ _]?){{0,2}}(?:{_NAMES}|"
    r"output|response|reply|输出|回复|回答|evaluation output|json)"
    r"[\]】>*=\"'`\s]*(?:\([^()]*\)\s*)?[:：]?[\]】>*=\"'`\s]*(?:\([^()]*\))?\s*", re.IGNORECASE,
)  # fmt: skip
"""A line that only asks for the verdict, such as ``Judgement:``."""
_TOKEN: Final = r"[\"“'`‘「]([^\W_][\w -]{0,23})[\"”'`’」]"
QUOTED_PAIR: Final = re.compile(
    rf"{_TOKEN}\s*(?:,|/|\||、|\bor\b|或者?|还是)\s*{_TOKEN}(?!\s*(?:,|/|、|or\b|或))"
)
"""Two quoted words, and no third."""
LABELLED: Final = re.compile(
    rf"(?<![A-Za-z])(?P<label>(?:[A-Za-z]{{1,20}}_){{0,3}}(?:(?:final|overall|最终)[ _]?)?"
    rf"(?:{_NAMES}))[*\"'`]*\s*[:：][*\"'`]*\s*",
    re.IGNORECASE,
)
"""The label of a verdict in the format of a reply."""

_SAID: Final = "|".join(sorted({w for p in PAIRS for w in p[:2]}, key=len, reverse=True))
_QUOTED: Final = (
    rf"[\"'`“‘「<\[{{(](?:[^\n\"'`”’」]{{0,24}}[:：]\s*)?(?i:{_SAID})(?=[\"'`”’」>\]}})])"
)
_SHOUTED: Final = r"\b(?:YES|NO|TRUE|FALSE|CORRECT|INCORRECT|WRONG|RIGHT|PASS|FAIL)\b"
OFFERED: Final = re.compile(f"{_QUOTED}|{_SHOUTED}")
"""A word of a verdict in quotes, brackets or capitals."""
_NOTHING: Final = re.compile(
    r"not[ _-]?attempt(?:ed)?|unattempted|no answer|not answer|refus|declin|cannot be determined|"
    r"invalid|"
    r"incomplete|未作答|未尝试|未回答|无效|拒绝|拒答|没有回答|空白", re.IGNORECASE,
)  # fmt: skip
_PARTLY: Final = re.compile(r"partial|partly|部分|半对", re.IGNORECASE)
_WRONG_OR: Final = re.compile(r"(?:\b(?:wrong|incorrect)|错误)\s*(?:,|/|\bor\b|或)", re.IGNORECASE)
"""What joins a wrong response to one with nothing to grade: both have one word."""
_NO_ERROR: Final = re.compile(
    r"\b(?:no|without(?: any)?|free of|not contain any|not have any)\s+(?:\w+\s+)?(?:errors?|"
    r"mistakes?)|"
    r"\bnot (?:incorrect|wrong)|(?:没有|无|不存在|不含)(?:任何)?错误|无误", re.IGNORECASE,
)  # fmt: skip
_CORRECT_ONE: Final = re.compile(
    r"\W*(?:an? |the )?(?:correct|right|accurate) (?:answer|response|solution|one)s?\W*"
    r"(?:and|or|but)?\W*", re.IGNORECASE,
)  # fmt: skip
_WRONG: Final = re.compile(
    r"incorrect|inaccura|wrong|errors?\b|erroneous|mistake|mismatch|different|differs?\b|"
    r"inconsisten|"
    r"contradict|unequal|\bnot\b|n't\b|\bfails?\b|\bfailed\b|\bfalse\b|\bnone\b|\bneither\b|"
    r"\bno match|"
    r"\black|\bmiss(?:es|ing)?\b|non-?equivalent|flaw|不|错|未|无法|有误|没有|矛盾|相异|"
    r"缺", re.IGNORECASE,
)  # fmt: skip
_RIGHT: Final = re.compile(
    r"\bcorrect|\bright\b|\baccept|\bmatch(?:es|ing|ed)?\b|equivalen|\bequals?\b|\bagrees?\b|\baccurate|"
    r"\bsame (?:info|thing|answer|meaning|value|result|fact|final|as)|"
    r"\bmeets (?:all|the|every)\b|\btrue\b|\bpass(?:es|ed)?\b|\bvalid\b|\bconsisten|"
    r"正确|一致|等价|相同|相符|符合|匹配|对|"
    r"相等|吻合|准确",
    re.IGNORECASE,
)
_RIGHT_BY_REFERENCE: Final = re.compile(
    r"\bsame\b|\bcontain|\bpresent|\binclud|\bexpress|\bshares?\b|\bconvey|\bgives?\b|\bgot\b|"
    r"\bidentical|\bchoos|\bchose|\bselect|\bpick|\bidentif|"
    r"\bmeans\b|\breach|\barriv|包含|表达|意思|含义|得到|得出", re.IGNORECASE,
)  # fmt: skip
REFERENCE: Final = re.compile(
    r"\b(?:reference|(?:ground[- ]?)?truth|gold(?:en)?|expected|target|standard|answer key|"
    r"(?:accepted|acceptable|official|ideal|expert|correct|right|true) "
    r"(?:\w+ )?(?:answers?|solution|response|option|result|value))\b|\b(?:correct|right) one\b|"
    r"参考|标准答案|正确答案|真实答案",
    re.IGNORECASE,
)
OTHER_TASK: Final = re.compile(
    r"\b(?:style|tone|language|length|longer|shorter|fluen|grammar|grammatical|polite|toxic|"
    r"harm|safe|"
    r"helpful|relevan|creativ|concise|verbose|offensive|biased?|hallucinat|better|prefer|plagiari|"
    r"readab|engag|coheren|sentiment|cit(?:es|ation)|private|personal)|风格|语气|流畅|语法|有害|"
    r"安全|礼貌|更好|偏好|相关|简洁|抄袭|幻觉",
    re.IGNORECASE,
)
"""What a judge of correctness is not asked."""
_OR_NOT: Final = re.compile(
    r"\s*(?:,|/|\bor\b|或者?|还是)\s*(?:is )?(?:not\b(?: correct)?|in-?correct|wrong|false|"
    r"不正确|错误|错|不对|不一致|否)(?!\w* \w+ the)",
    re.IGNORECASE,
)


CONCESSION: Final = re.compile(
    r"\b(?:despite|regardless of|although|even (?:if|though|when)|no matter)\b[^,;，；]*|"
    r"(?:即使|尽管|无论)[^,，;；]*"
)


def meaning(condition: str) -> str | None:
    """``right``, ``wrong``, ``nothing`` or ``partly``: what a condition says of a response.

    >>> meaning("the answer matches"), meaning("it has an error"), meaning("it is long")
    ('right', 'wrong', None)
    """
    text = _OR_NOT.sub("", CONCESSION.sub("", condition))
    if OTHER_TASK.search(text):
        return None
    if _PARTLY.search(text):
        return "partly"
    if _NOTHING.search(text):
        return "wrong" if _WRONG_OR.search(text) else "nothing"
    if _NO_ERROR.search(text) or _CORRECT_ONE.fullmatch(text):
        return "right"
    if _WRONG.search(text):
        return "wrong"
    named = REFERENCE.search(text) is not None
    told = REFERENCE.sub(" ", text)
    if _RIGHT.search(told) or (named and _RIGHT_BY_REFERENCE.search(told)):
        return "right"
    return None
