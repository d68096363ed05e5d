"""What the labels of a prompt name, and the reply that it asks for, where neither is in doubt.

A word without a meaning of its own (yes, 1, A) is used only where the prompt defines it.
"""

from __future__ import annotations

import re
from typing import Final

from gradegpt.core.errors import InputError


class LearnError(InputError):
    """Prompts from which no template can be learnt without a guess."""


_HEAD: Final = re.compile(
    r"[(（,，]|\b(?:for|of|about|from|given by|that|which|according to)\b|\bto (?!be\b|assess)"
)
_KNOWN: Final = re.compile(
    r"\b(?:reference|ground ?truth|truth|gold\w*|expected|standard|labell?ed|official|ideal|expert|"
    r"canonical|criteri(?:on|a)|gt|target|answer key)\b|标准|参考|金标|真实|标答|"
    r"\b(?:correct|true|right|actual|real|accept(?:ed|able)) "
    r"(?:answer|response|solution|output|option|result|value)s?\b|正确(?:答案|解答|选项)"
)
_GIVEN: Final = re.compile(
    r"\b(?:student|candidate|model|predict\w*|pred|submi\w+|generated|examinee|test.?taker|llm|"
    r"assistant|hypothesis|attempt|provided|extracted|agent|ai|solver|participant|"
    r"user'?s? (?:answer|response)|to be \w+ed|to assess)(?:['’]?s)?\b|"
    r"考生|学生|模型|预测|候选|作答|待评|生成|用户答案|助手"
)
_REPLIED: Final = re.compile(r"\b(?:response|output|completion|reply)s?\b|回答|回复|输出|响应")
_ASKED: Final = re.compile(
    r"\b(?:question|problem|query|task|instruction|prompt|input|exercise|q)s?\b|"
    r"问题|题目|题干|试题|提问|原题|指令|任务"
)
_ANSWER: Final = re.compile(r"\b(?:answer|solution|a)s?\b|答案|解答|答")


def role_of(label: str) -> str:
    """The field that a label names, ``answer`` where it may be two, or an empty string.

    >>> role_of("Model answer:"), role_of("[Gold target]"), role_of("标准答案"), role_of("Answer:")
    ('response', 'reference', 'reference', 'answer')
    """
    text = re.sub(r"[_/\s-]+", " ", label.lower())
    head = next((part for part in _HEAD.split(text) if re.search(r"\w", part)), text)
    for part in (head, text):
        known, given = _KNOWN.search(part), _GIVEN.search(part)
        asked, replied = _ASKED.search(part), _REPLIED.search(part)
        if known or given:
            return (
                ""
                if (known and given) or (given and asked)
                else "reference"
                if known
                else "response"
            )
        if asked or replied:
            return "" if asked and replied else "question" if asked else "response"
    return "answer" if _ANSWER.search(text) else ""


_PLAIN: Final = (
    ("correct", "incorrect"), ("correct", "wrong"), ("right", "wrong"), ("pass", "fail"),
    ("match", "mismatch"), ("equivalent", "not equivalent"), ("accept", "reject"),
    ("正确", "错误"), ("正确", "不正确"), ("对", "错"), ("一致", "不一致"),
)  # fmt: skip
_DEFINED: Final = (("yes", "no"), ("true", "false"), ("是", "否"))
"""Words that answer a question, and may mean that the response is wrong: "Has it an error?"."""
_W: Final = r"(?:(?i:yes|no|correct|incorrect|true|false|pass|fail)\b|正确|错误|是|否|[A-Z01]\b)"
_FORM: Final = re.compile(
    rf"(?i:\bjson\b|\bdictionary\b|字典)|\{{\s*[\"']\w+[\"']\s*:|\\boxed\{{+\s*{_W}|\[\[|\$[A-Z]{{3,}}"
    rf"|<\w+>\s*{_W}\s*</|\[{_W}|\*\*(?i:correct|incorrect)[ ]\w"
    r"|(?m:^#+ .*(?i:judge?ment|verdict|decision)\s*$)"
    r"|(?:(?i:judge?ment|verdict|decision|grade|label|conclusion|score|correct)|结论|判断)"
    rf"[\W_]{{0,4}}[:：]\W{{0,4}}(?i:answer\W{{0,3}})?{_W}"
)
"""Forms around the words, such as ``Verdict: PASS``, which the user gives."""
_ASK: Final = (
    r"(?i:\b(?:respond|reply|output|return|answer|say|write|give|print|choose|grade|with|only|either|as)\b|"
    r"输出|回复|回答|返回|写|为|是)[\s:：\"'“`*]{0,4}"
)
_BAD: Final = re.compile(
    r"(?i)\b(?:in(?:correct|accura|consisten)\w*|wrong\w*|errors?|mis(?:take|match|s)\w*|differ\w*|false|"
    r"contradict\w*|fail\w*|conflict\w*|omit\w*|hallucinat\w*|unsupported|lack\w*|reject\w*|deviat\w*)\b|"
    r"错|有误|矛盾|不同|偏离|遗漏"
)
_NOT: Final = re.compile(
    r"(?i)\b(?:not|no|none|never|neither|without|cannot|lacks?|non|unless)\b|n't\b|不|未|否|没有|无"
)
_GOOD: Final = re.compile(
    r"(?i)\b(?:correct\w*|right|match\w*|equivalen\w*|equal\w*|same|consisten\w*|agree\w*|accura\w*|"
    r"accept\w*|identical)\b|正确|一致|相同|等价|匹配|相符|符合|对|吻合|相等"
)
_NAMED: Final = re.compile(
    r"(?i)\b(?:correct|right|true|standard|reference|expected|same)[ _](?:final )?(?:answer|one|"
    r"option|response|solution|result|value|label|output|question|item)s?\b|正确答案|相同的?(?:问题|题目)"
)
"""What is no judgement of the response."""


def says(clause: str) -> str:
    """``right``, ``wrong``, or an empty string where a clause is not clear.

    >>> says("the answers match"), says("it does not match"), says("no errors")
    ('right', 'wrong', '')
    """
    told = _NAMED.sub(" ", clause)
    bad, good, negated = _BAD.search(told), _GOOD.search(told), _NOT.search(_BAD.sub(" ", told))
    if bad:
        return "" if negated or good else "wrong"
    return ("wrong" if negated else "right") if good else ""


def _word(text: str) -> str:
    """A pattern for a word that is no part of another."""
    case = text if len(text) == 1 else f"(?i:{text})"
    return rf"(?<![\w.])(?<!不)(?<!not ){case}(?!\w|\.\d)"


def _said(text: str, word: str) -> set[str]:
    """What the prompt says of a word: ``1 if ...``, ``A: ...``."""
    joined = r"[:：=–—-]|->|→|\.|\)|only if|if|when|for|means?|indicates?|表示|代表"
    clauses = re.findall(
        rf"{_word(word)}[\"'”’`*)\]]*\s*(?:{joined})[\s\[【*\"]*([^.;\n。；，,\"“'`(（—]{{2,160}})",
        text,
    )
    return {says(re.split(r"\s[A-Z][:：.)]", clause)[0]) for clause in clauses} - {""}


def _asks(text: str) -> set[str]:
    """What the prompt asks about the response: ``whether it is correct``."""
    about = r"(?i:\b(?:whether|if|is|are|does|do|did)\b|是否)([^.;\n?？。；,，:：(（—]{3,160})"
    verbs = r"(?i:\b(?:judge|determine|decide|assess|evaluate|verify|check|tell)\b|判断|评估|判定)"
    found = re.finditer(rf"{verbs}[^.\n]{{0,80}}?{about}|{about}[^.\n]{{0,80}}[?？]", text)
    return {says(re.split(r"\bor\b|或", m[1] or m[2])[0]) for m in found} - {""}


def _offered(text: str, word: str) -> str:
    """The word as it is last written in quotes, in capitals, or behind a verb that asks for it."""
    w = f"({_word(word)})"
    upper = rf"|(?<!\w)({word.upper()})(?!\w)" if word.isalpha() and word.isascii() else ""
    found = re.findall(
        rf"[\"'“‘`「『【]{w}[\"'”’`」』】.,]|{_ASK}{w}|{w}\W{{0,3}}(?:or\b|或|/)|(?:\bor|或|/)\W{{0,3}}{w}{upper}",
        text,
    )
    return next((one for one in found[-1] if one), "") if found else ""


def reply_of(text: str) -> dict[str, str]:
    """The words for ``correct`` and ``incorrect`` that a prompt's text asks for.

    Raises:
        LearnError: there are others or none, they are not defined, or have a form around.

    """
    found = {p: tuple(_offered(text, word) for word in p) for p in (*_PLAIN, *_DEFINED, ("1", "0"))}
    pairs = [pair for pair, words in found.items() if all(words)]
    if [_said(text, word) for word in "AB"] == [{"right"}, {"wrong"}]:
        pairs, found = [("A", "B")], {("A", "B"): ("A", "B")}
    form = _FORM.search(text)
    if form is None and len(pairs) == 1 and _is_defined(text, pairs[0]):
        return dict(zip(("correct", "incorrect"), found[pairs[0]], strict=True))
    seen = repr(form[0]) if form else ", ".join("/".join(pair) for pair in pairs) or "no words"
    raise LearnError(
        f"the reply is not clear ({seen}); give both replies as your pipeline reads them, such as "
        "--correct 'GRADE: C' --incorrect 'GRADE: I', or "
        """--correct '{"verdict": true}' --incorrect '{"verdict": false}'"""
    )


def _is_defined(text: str, pair: tuple[str, str]) -> bool:
    said = [_said(text, word) for word in pair]
    asked = not any(said) and pair in _DEFINED and _asks(text) == {"right"}
    return pair in _PLAIN or said == [{"right"}, {"wrong"}] or asked
