"""Free text as words that can be compared: framing words removed, synonyms unified."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from gradegpt.answers.text import fold

_WORD = re.compile(r"[^\W_]+(?:['’][A-Za-z]+)?")
_OVERLAY: Final = "\u0338"
"""The stroke of ≠ and ∦, which is no accent."""
_GREEK: Final = str.maketrans(
    {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "λ": "lambda"}
)

TRENDS: Final = (
    ("增大/变大/增加", "减小/变小/减少", "不变"),
    ("升高/上升", "降低/下降", "不变"),
    ("increases/rises/goes up", "decreases/falls/goes down", "stays the same"),
    ("increase/rise/go up", "decrease/fall/go down", "stay the same"),
    ("increased/rose", "decreased/fell", "stayed the same"),
    ("偏大", "偏小"), ("偏高", "偏低"), ("增强/变强", "减弱/变弱"), ("加快/变快", "减慢/变慢"),
    ("变长", "变短"), ("变亮", "变暗"), ("向左/往左", "向右/往右"), ("向上/往上", "向下/往下"),
    ("顺时针", "逆时针"), ("吸热/吸收热量", "放热/放出热量"), ("大于", "小于"), ("超重", "失重"),
    ("增函数/单调递增", "减函数/单调递减"), ("正电", "负电"), ("偶数", "奇数"),
    ("凸透镜", "凹透镜"),
    ("偶函数", "奇函数"), ("酸性", "碱性"), ("串联", "并联"), ("氧化剂", "还原剂"),
    ("放大", "缩小"),
    ("直立/正立", "倒立"), ("实像", "虚像"), ("显性", "隐性"), ("有理数", "无理数"),
    ("质数", "合数"),
    ("increasing/rising", "decreasing/falling"), ("gets larger/gets bigger", "gets smaller"),
    ("to the left/leftward", "to the right/rightward"), ("upward/upwards", "downward/downwards"),
    ("clockwise", "counterclockwise/anticlockwise"), ("higher", "lower"), ("faster", "slower"),
    ("greater than/more than", "less than/smaller than"), ("larger/bigger", "smaller"),
    ("positive", "negative"), ("even", "odd"), ("convex", "concave"), ("acidic", "basic/alkaline"),
    ("endothermic", "exothermic"), ("maximum", "minimum"), ("attract", "repel"),
    ("attraction", "repulsion"), ("in series", "in parallel"), ("rational", "irrational"),
    ("dominant", "recessive"), ("oxidation", "reduction"), ("prime", "composite"),
    ("convergent", "divergent"), ("converges", "diverges"), ("demand", "supply"),
    ("expansion", "contraction"), ("renewable", "non-renewable"),
)  # fmt: skip
"""Synonyms for a trend, those for its opposite in the same order, and for no change."""
_WHOLE_OPPOSITES: Final = (
    ("正反应", "逆反应"), ("左", "右"), ("left", "right"), ("up", "down"), ("valid", "invalid"),
    ("yes", "no"), ("possible", "impossible"), ("stable", "unstable"), ("greater", "less"),
)  # fmt: skip
"""Opposites as whole answers; within a text these words may have another meaning."""
_FIRST: Final = [
    [words.partition("/")[0] for words in line[:2]] for line in (*TRENDS, *_WHOLE_OPPOSITES)
]
OPPOSITE: Final = {a: b for x, y in _FIRST for a, b in ((x, y), (y, x))}
"""A whole answer and its opposite, both as ``meaning`` returns them."""
UNCHANGED: Final = (
    ("不变/保持不变/没有变化", "增大/减小"),
    ("stays the same/does not change/remains the same", "increases/decreases"),
)
"""Synonyms for no change, and words for a change."""


def _synonyms() -> dict[str, list[str]]:
    groups = [group.split("/") for line in TRENDS for group in line[:2]]
    groups += [unchanged.split("/") for unchanged, _ in UNCHANGED]
    return {word: group for group in groups for word in group if len(group) > 1}


def any_of(table: Iterable[str]) -> re.Pattern[str]:
    """A pattern for one of the words, the longest first; English ones only as whole words."""
    ordered = sorted(table, key=len, reverse=True)
    english, chinese = ("|".join(w for w in ordered if w.isascii() is e) for e in (True, False))
    bounded = rf"(?<![A-Za-z])(?<!\d )(?:{english})(?![A-Za-z])"
    return re.compile("|".join(filter(None, (english and bounded, chinese))))


SYNONYMS: Final = _synonyms()
TREND: Final = any_of(SYNONYMS)
_FRAME = re.compile(
    r"^(?:(?:it|that) is (?=\S)|it's (?=\S)|it (?=\S)|[是即会](?=[\u3400-\u9fff]))"
    r"|(?<=[\u3400-\u9fff])了$",
    re.IGNORECASE,
)
_EXCLAIMED = re.compile(r"(?<=[^\W\d_]{2})!+\Z")
MAX_MEANING: Final = 60
"""Most characters of a text that is compared by its trend."""


def meaning(text: str) -> str:
    """A short text without a leading ``It is`` or 是, each trend by its first synonym."""
    text = fold(text).strip(" .,;:'\"“”")
    text = _EXCLAIMED.sub("", text)
    if not 0 < len(text) <= MAX_MEANING:
        return text
    return TREND.sub(lambda m: SYNONYMS[m[0]][0], _FRAME.sub("", text))


class Words(NamedTuple):
    """Free text, which has no other value than its words."""

    text: str


class Token(NamedTuple):
    """A word in lower case, whether it was capitalised, and the characters before it."""

    word: str
    capital: bool
    gap: str


@lru_cache(maxsize=1024)
def tokens(text: str) -> tuple[Token, ...]:
    """The words of a text, in order, without accents, Greek letters spelt out."""
    bare, made, end = _bare(text), list[Token](), 0
    for m in _WORD.finditer(bare):
        if bare[m.start() - 1 : m.start()] != "\\":  # a command is a sign
            made.append(Token(m[0].casefold(), m[0][0].isupper(), bare[end : m.start()]))
            end = m.end()
    return tuple(made)


@lru_cache(maxsize=1024)
def words(text: str) -> tuple[str, ...]:
    """The words of a text in lower case."""
    if "\\" in text:
        return tuple(token.word for token in tokens(text))
    return tuple(map(str.casefold, _WORD.findall(_bare(text))))


def _bare(text: str) -> str:
    text = fold(text)
    if text.isascii():
        return text
    spelt = unicodedata.normalize("NFKD", text).translate(_GREEK)
    return "".join(c for c in spelt if c == _OVERLAY or not unicodedata.combining(c))
