"""The fields that labels name, in English and Chinese.

A label is read as a phrase: what it names (an answer, a reply, a question) and whose (the
reference's, the model's, somebody's). Each English word has a kind, and the kinds of a phrase are
matched together, so that no list of whole labels is needed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

from .kinds import ENGLISH, KIND

Role = Literal["question", "reference", "response", "either", "other"]
"""``either``: a reference or a response, which the other labels decide. ``other``: no field."""

_PART: Final = "|".join(sorted((w for w in ENGLISH if len(w) > 1), key=len, reverse=True))
_JOINED: Final = re.compile(f"(?:{_PART})+")
_PARTS: Final = re.compile(_PART)
_WORDS: Final = re.compile(r"[A-Z]*[^\W\d_A-Z]+|[A-Z]+|\d+")
_BEHIND: Final = frozenset(
    [
        "to",
        "of",
        "for",
        "from",
        "by",
        "under",
        "being",
        "that",
        "as",
        "is",
        "are",
        "was",
        "de",
        "du",
        "do",
        "da",
        "del",
        "della",
        "di",
        "begins",
        "starts",
        "follows",
    ]
)
"""Words after which a phrase says more of what it names."""
_GRADED: Final = re.compile(r"evaluat|grad|judg|assess|scor|check|verif|mark")
_ROLES: Final[tuple[tuple[Role, re.Pattern[str]], ...]] = (
    ("question", re.compile("[fmpox]{0,5}q+[xl]?|[fmp]*w")),
    ("either", re.compile("f*[AO]x?|f*pA|[fo]{1,3}A")),
    ("reference", re.compile("f*[At]*[Ttf]*T[Ttf]*[AORx]*l?|f*t[tf]*[AORxT]+l?|f*Af*t+")),
    ("response", re.compile("[fmpo]{0,4}R[RAOxmpf]*|[fo]{0,2}[mp][mpf]*[AORx]+l?|f*Af*[Rmp]+")),
)
"""Fields by the kinds of the words of a label; ``o`` is a word that is not known."""
_SHORT: Final = 5
"""Words of a label that names two things."""
_FEW: Final = 2
"""Words of a remark that may name the owner: ``Answer A (reference)``."""

_GLUE_ZH: Final = re.compile(
    "^(?:(?:当前|以下是|下面是|这是|具体|(?:给定|本题|该题|对应)的?)+)|"
    "(?:(?<!的)如下|[为是]|文本|列表|开始|(?<=.[题案答])内容)+$"
)
_THING_ZH: Final = "(?:答案|解答|回答|作答|答卷|回复|响应|预测|输出|生成|结果|选项|要点|内容|话术)"
_OF_REFERENCE_ZH: Final = "(?:参考|标准|正确|真实|黄金|金标准?|基准|预期|期望|官方|权威|专家)"
_OF_RESPONSE_ZH: Final = (
    "(?:模型|学生|考生|助手|ai|用户|选手|智能体|系统|机器人|候选|预测|生成|提交|实际|待|被)"
)
_RESPONSE_ZH: Final = (
    f".{{0,8}}(?:回答|作答|回复|应答|答复|答卷|预测)|.{{0,4}}{_OF_RESPONSE_ZH}.{{0,5}}{_THING_ZH}"
)
_QUESTION_ZH: Final = (
    "题[干目面](?:内容)?|原题|任务|指令|(?:用户)?输入|.{0,5}(?:问题|题目|提问|查询|[问题])(?:描述)?"
)
_ROLES_ZH: Final[tuple[tuple[Role, re.Pattern[str]], ...]] = (
    (
        "other",
        re.compile("(?:[请只需应须并判]|直接|要求|回答(?!$)|注意|关键|以下|评[判分]|你的).*"),
    ),
    (
        "reference",
        re.compile(
            f".{{0,4}}{_OF_REFERENCE_ZH}+的?{_THING_ZH}|参考|正解|金标准|真值|标答|题目答案"
        ),
    ),
    ("question", re.compile(_QUESTION_ZH)),
    ("either", re.compile("答案|解答|(?:最终)?结果|(?:模型|给出的|最终)答案")),
    ("response", re.compile(_RESPONSE_ZH)),
    ("either", re.compile(".{1,6}(?:答案|解答)")),
)
_ASIDE: Final = re.compile(r"[(（]([^)）]*)[)）]?")
_POSSESSIVE: Final = re.compile(r"['’]s?(?![a-z])", re.IGNORECASE)
_NO_LETTER: Final = re.compile(r"[\W_]+")
_OWNERS_ZH: Final[tuple[tuple[Role, re.Pattern[str]], ...]] = (
    ("reference", re.compile(f"{_OF_REFERENCE_ZH}+的?(.{{1,8}})")),
    ("response", re.compile(f"(?:{_OF_RESPONSE_ZH}|输出|回答)+的?(.{{1,8}})")),
)
_LATIN: Final = re.compile(r"[A-Za-z]+")
_CHINESE: Final = re.compile(r"[\u4e00-\u9fff]")


@lru_cache(maxsize=4096)
def squashed(label: str) -> str:
    """A label in lower case, without blanks, punctuation and remarks in parentheses."""
    return _NO_LETTER.sub("", re.sub(r"['’]s\b", "", _ASIDE.sub("", label))).lower()


@lru_cache(maxsize=4096)
def role_of(label: str) -> Role:
    """The field that a label names.

    >>> role_of("Student's final answer (to be graded)"), role_of("参考答案"), role_of("Rules")
    ('response', 'reference', 'other')
    """
    if _CHINESE.search(label):
        role = _first(_GLUE_ZH.sub("", squashed(label)), _ROLES_ZH)
        return _mixed(label) if role == "other" and _LATIN.search(label) else role
    main, *remarks = _ASIDE.split(label)
    role = _phrase(main)
    aside = _kinds(remarks[0]) if remarks else ""
    if (
        role not in ("other", "either")
        or not 0 < len(aside) <= _FEW
        or not re.search("[AR]", _kinds(main) if squashed(main) != "a" else "A")
    ):
        return role
    return (
        "reference"
        if re.search("[Tt]", aside)
        else "response"
        if re.search("[Rmp]", aside)
        else role
    )


def _mixed(label: str) -> Role:
    """The field that a label in both languages names: each half does, or the Latin one is owned.

    >>> _mixed("标准答案 gold answers"), _mixed("题目的ground_truth是"), _mixed("输出result")
    ('reference', 'reference', 'other')
    """
    main = _ASIDE.sub("", label)
    own = _GLUE_ZH.sub("", squashed(_LATIN.sub("", main)))
    latin = _phrase(" ".join(_LATIN.findall(main)))
    if own.endswith("的"):
        named = f"{own}答案" if latin == "either" else ""
        return _first(named, _ROLES_ZH) if named else latin
    roles = {_first(own, _ROLES_ZH), latin}
    sure = roles - {"either"} or roles
    return sure.pop() if len(sure) == 1 else "other"


def owned_thing(label: str) -> tuple[Role, str]:
    """Whose a label says that a thing is, the truth's or the model's, and the thing.

    >>> owned_thing("Ground truth emotion"), owned_thing("模型预测的情感"), owned_thing("Emotion")
    (('reference', 'emotion'), ('response', '情感'), ('other', ''))
    """
    for side, pattern in _OWNERS_ZH:
        if (match := pattern.fullmatch(squashed(label))) is not None:
            return side, match[1]
    kinds = _kinds(label)
    sides = {side for side, of in _OWNERS if re.search(of, kinds)}
    thing = " ".join(word for word in words_of(label) if KIND.get(word, "o") in "oOx")
    return (sides.pop(), thing) if len(sides) == 1 and "!" not in kinds and thing else ("other", "")


_OWNERS: Final[tuple[tuple[Role, str], ...]] = (("reference", "[Tt]"), ("response", "[Rmp]"))


def bare_output(label: str) -> bool:
    """Whether a label only says that something comes out: ``Output``, ``Result``."""
    return _kinds(label) == "O" or squashed(label) in ("输出", "结果")


def plain_answer(label: str) -> bool:
    """Whether a label only says that something is an answer: ``Solution``, not ``Model answer``."""
    return re.fullmatch("f*[AO]+x?", _kinds(label)) is not None


def is_order(label: str) -> bool:
    """Whether a label has words of a sentence to a judge: ``Compare the answers``."""
    return "!" in _kinds(label)


def weak(label: str) -> bool:
    """Whether instructions to a judge may have the label of a question, too: ``Task``."""
    return "w" in _kinds(label) or bool(re.search("任务|指令|输入", label))


def known(label: str) -> bool:
    """Whether every word of a label is known."""
    return bool(_CHINESE.search(label)) or not re.search("[o!]", _kinds(label) or "o")


def owner(label: str, question: str = "") -> bool:
    """Whether a label only says whose the answer is: ``Chatbot``, or ``A`` after ``Q``."""
    answers = (squashed(label), squashed(question)) == ("a", "q")
    return answers or re.fullmatch("f*[mp]+f*", _kinds(label)) is not None


def of_reference(label: str) -> bool:
    """Whether a label only says that something is right: ``Correct``."""
    return re.fullmatch("f*t+", _kinds(label)) is not None


def mentions_answer(label: str) -> bool:
    """Whether a label that names no field may be one of an answer: ``Answer 1``."""
    return re.fullmatch("[^c!]*[AORTtmp][^c!]*", _kinds(label)) is not None


def _phrase(text: str) -> Role:
    """The field that an English phrase names, by its words before and behind a preposition."""
    if "/" in text:  # "Correct answer / rubric"
        roles = {_phrase(part) for part in text.split("/")} - {"other"}
        return roles.pop() if len(roles) == 1 else "other"
    words = words_of(text)
    if "and" in words and len(words) <= _SHORT:  # "Question and options"
        at = words.index("and")
        roles = {_phrase(" ".join(part)) for part in (words[:at], words[at + 1 :])} - {"other"}
        return roles.pop() if len(roles) == 1 else "other"
    if len(words) > 1 and words[0] in ("a", "an", "your"):  # described, or the judge's own
        return "other"
    cut = next((at for at, word in enumerate(words) if word in _BEHIND), len(words))
    head, behind = _of(words[:cut]), words[cut + 1 :]
    if not head.strip("f"):  # "Here is the question"
        return _first(_of(behind), _ROLES)
    role = _first(head, _ROLES)
    more = _of(behind)
    if role == "either" and (re.search("[Rmp]", more) or any(map(_GRADED.match, behind))):
        return "response"
    return "reference" if role == "either" and re.search("[Tt]", more) else role


def _first(name: str, roles: tuple[tuple[Role, re.Pattern[str]], ...]) -> Role:
    return next((role for role, pattern in roles if pattern.fullmatch(name)), "other")


def words_of(text: str) -> list[str]:
    """The words of a label in lower case; those in camel case are taken apart."""
    return [word.lower() for word in _WORDS.findall(_POSSESSIVE.sub(" ", text))]


def _kinds(text: str) -> str:
    return _of(words_of(text))


def _of(words: list[str]) -> str:
    """The kinds of words; those that are written together are taken apart."""
    parts = [
        part
        for word in words
        for part in (
            _PARTS.findall(word) if word not in KIND and _JOINED.fullmatch(word) else [word]
        )
    ]
    return "".join(KIND.get(part, "o") for part in parts)
