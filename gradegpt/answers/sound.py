"""How alike a foreign name and a Chinese transliteration sound, by their consonants.

Chinese writes names by sound: 阿拉米斯 (a la mi si) is Aramis. Vowels vary between
transliterations, consonants hardly, so that Vermeer and 维米尔 are w-l-m-l and w-m-l.
"""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher
from typing import Final

_ENGLISH: Final = (
    (r"\bkn", "n"), (r"ough\b", "o"), (r"sch|sh|ch|tch|zh|th(?=e\b)", "s"), (r"ph", "f"),
    (r"th", "t"), (r"ck", "k"), (r"c(?=[eiy])", "s"), (r"x", "ks"), (r"[cq]", "k"),
    (r"g(?=[ei])|[jz]", "s"), (r"ng\b", "n"), (r"v", "w"), (r"r", "l"), (r"b", "p"),
    (r"d", "t"), (r"g", "k"), (r"[aeiouyh]", ""),
)  # fmt: skip
_PINYIN: Final = (
    (r"^(?:zh|ch|sh|[jqxzcs])", "s"), (r"^b", "p"), (r"^d", "t"), (r"^g", "k"), (r"^[rl]", "l"),
    (r"^v", "w"), (r"^er$", "l"), (r"(?<=[aeiouv])ng?$", "n"), (r"[aeiouvyh]", ""),
)  # fmt: skip
TRANSLITERATES: Final = frozenset(
    "阿埃艾爱安奥昂巴白拜班贝本比彼毕宾波伯勃博布采查达代丹当道德登迪蒂底丁杜多顿恩尔厄法范菲费芬丰弗夫福富盖戈冈"
    "高哥格根贡古圭哈海汉豪赫黑亨洪胡霍基吉加贾江杰金津卡凯康考柯科可克肯孔库夸奎昆拉莱赖兰朗劳勒雷里利连林琳"
    "留隆卢鲁路伦罗洛吕马玛迈麦曼芒毛梅门蒙米密姆明摩莫默墨木穆纳娜乃奈南内尼涅年宁纽农努诺欧帕派潘庞佩彭皮平珀"
    "蒲普齐奇恰乔切琴丘让热日荣茹儒瑞若撒萨塞赛三桑森沙莎山尚绍舍申圣施诗什史士舒斯丝司苏索塔台泰坦汤唐特腾提"
    "廷图托陀瓦万旺威韦维卫魏温文翁沃乌武伍西希锡席夏香肖谢辛欣星休修雪逊雅亚延扬杨耶叶伊易因英尤雨约扎詹张珍芝"
    "治朱祖佐罕隶坎屈纪葛曲雷茨萧孟鲍第蕾莉娅"
)
"""Characters that write foreign names."""


def skeleton(name: str) -> str:
    """The consonants of a foreign name."""
    text = "".join(
        c for c in unicodedata.normalize("NFKD", name.lower()) if c.isalpha() or c == " "
    )
    for pattern, to in _ENGLISH:
        text = re.sub(pattern, to, text)
    return re.sub(r"(.)\1+", r"\1", text.replace(" ", ""))


def transliterated(syllables: tuple[str, ...]) -> str:
    """The consonants of a name in Pinyin."""
    made = []
    for syllable in syllables:
        text = syllable
        for pattern, to in _PINYIN:
            text = re.sub(pattern, to, text)
        made.append(text)
    return re.sub(r"(.)\1+", r"\1", "".join(made))


def likeness(one: str, other: str) -> float:
    """The share of two skeletons that is the same, from 0 to 1."""
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
