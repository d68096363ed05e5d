"""The English gloss of a Chinese answer sentence, without a teacher: phrase by phrase, mathematics kept verbatim.

Answer sentences are few in kind ("所以答案是…", "故选…"), and their word order is close to English, so a longest-match
phrase table renders them. A sentence with a phrase that the table lacks is not rendered at all: half a gloss would
teach a model to make things up.
"""

from __future__ import annotations

import re
from typing import Final

_PHRASES: Final[dict[str, str]] = {
    # connectives
    "综上所述": "in summary", "综上可知": "in summary", "综上可得": "in summary", "综上": "in summary", "由此可得": "from this",
    "由此可知": "from this", "由此": "from this", "因此可得": "therefore", "因此": "therefore", "因而": "therefore",
    "所以": "so", "故而": "hence", "故": "hence", "从而": "thus", "于是": "then", "那么": "then", "则": "then", "即": "that is",
    "也就是说": "that is", "也就是": "that is", "可得": "we get", "可知": "we know", "得出": "gives", "得到": "gives", "解得": "solving gives",
    "求得": "we find", "算得": "we compute", "计算得": "computing gives", "得": "gives", "最后": "finally", "最终": "final", "首先": "first",
    "而且": "and", "并且": "and", "以及": "and", "和": "and", "与": "and", "或者": "or", "或": "or", "且": "and", "但是": "but", "但": "but",
    "因为": "because", "由于": "since", "根据": "according to", "当": "when", "时": "", "其中": "where",
    # what is being named
    "本题的正确答案": "the correct answer to this question", "本题正确答案": "the correct answer to this question",
    "本题的答案": "the answer to this question", "本题答案": "the answer to this question", "这道题的答案": "the answer to this question",
    "该题答案": "the answer to this question", "正确答案应该": "the correct answer should", "正确答案": "the correct answer",
    "正确的答案": "the correct answer", "最终答案": "the final answer", "最后答案": "the final answer", "参考答案": "the reference answer",
    "答案应该": "the answer should", "答案应": "the answer should", "答案选择": "the answer is option", "答案选": "the answer is option",
    "故答案": "hence the answer", "的答案": "answer", "答案": "the answer", "正确的选项": "the correct option", "正确选项": "the correct option",
    "错误的选项": "the wrong option", "符合题意的选项": "the option that fits", "符合题意的": "what fits the question", "符合题意": "fits the question",
    "符合条件的": "what meets the conditions", "符合要求": "meets the requirement", "选项": "option", "该选项": "this option", "此选项": "this option", "此题": "this question",
    "本题": "this question", "最终结果": "the final result", "最后结果": "the final result", "计算结果": "the computed result", "结果": "the result",
    "结论": "the conclusion", "错误的": "the wrong one", "正确的": "the correct one", "叙述": "statement", "说法": "statement",
    # verbs
    "故选择": "hence choose", "故选": "hence choose", "因此选择": "therefore choose", "因此选": "therefore choose", "所以选择": "so choose",
    "所以选": "so choose", "应该选择": "should choose", "应该选": "should choose", "应当选": "should choose", "应选择": "should choose", "应选": "should choose",
    "可选": "choose", "本题选": "for this question choose", "此题选": "for this question choose", "选择": "choose", "选": "choose", "应该是": "should be", "应该为": "should be", "应为": "should be", "应是": "should be",
    "就是": "is", "是": "is", "为": "is", "等于": "equals", "约等于": "is about", "约为": "is about", "大约": "about", "约": "about", "有": "there are", "共有": "there are in all",
    "一共有": "there are in all", "一共是": "in all that is", "一共": "in all", "总共": "in all", "共计": "in all", "共": "in all", "需要": "needs", "需": "needs", "还剩下": "left are", "还剩": "left are",
    "剩下": "left are", "剩": "left are", "多": "more", "少": "fewer", "错误": "is wrong", "正确": "is correct", "不正确": "is not correct", "成立": "holds", "不成立": "does not hold",
    "大于": "is greater than", "小于": "is less than", "不变": "unchanged", "增大": "increases", "减小": "decreases", "增加": "increases", "减少": "decreases",
    "变大": "grows", "变小": "shrinks", "升高": "rises", "降低": "falls", "相等": "equal", "不存在": "does not exist", "存在": "exists",
    # mathematics
    "三角形": "triangle", "的面积": "area", "面积": "the area", "周长": "the perimeter", "体积": "the volume", "表面积": "the surface area", "半径": "the radius",
    "直径": "the diameter", "高度": "the height", "长度": "the length", "宽度": "the width", "边长": "the side", "距离": "the distance",
    "速度": "the speed", "时间": "the time", "质量": "the mass", "概率": "the probability", "平均数": "the mean", "中位数": "the median", "方程": "the equation",
    "的解": "solution", "的值": "value", "取值范围": "the range", "的取值范围": "range", "值域": "the range", "定义域": "the domain", "解集": "the solution set", "集合": "the set", "区间": "the interval",
    "坐标": "the coordinates", "点": "point", "直线": "the line", "斜率": "the slope", "最大值": "the maximum", "最小值": "the minimum", "的最大值": "maximum", "的最小值": "minimum", "面积是": "the area is", "实数": "the real number",
    "函数": "the function", "导数": "the derivative", "数列": "the sequence", "前": "first", "项和": "terms' sum", "通项公式": "the general term", "个数": "the count", "总和": "the total", "差": "the difference", "积": "the product",
    "商": "the quotient", "余数": "the remainder", "倍": "times", "原点": "the origin", "所求": "what is asked",
    # truth and letters
    "对": "true", "错": "false", "否": "no", "第一空": "first blank", "第二空": "second blank", "第一问": "first question", "第二问": "second question", "分别是": "are", "分别为": "are", "均": "all", "都是": "are all", "都": "all", "不是": "is not", "项": "option", "的": "of",
    # numerals and units
    "百分之": "percent ", "三分之一": "one third", "三分之二": "two thirds", "四分之一": "one quarter", "四分之三": "three quarters", "二分之一": "one half", "五分之": "fifths: ", "一半": "a half", "零": "zero", "一": "one", "二": "two", "两": "two", "三": "three", "四": "four",
    "五": "five", "六": "six", "七": "seven", "八": "eight", "九": "nine", "十": "ten", "百": "hundred", "千": "thousand", "万": "ten thousand", "亿": "hundred million",
    "平方厘米": "square centimetres", "平方米": "square metres", "平方分米": "square decimetres", "平方千米": "square kilometres", "立方厘米": "cubic centimetres", "立方米": "cubic metres", "立方分米": "cubic decimetres", "厘米": "centimetres", "分米": "decimetres",
    "毫米": "millimetres", "千米": "kilometres", "公里": "kilometres", "米": "metres", "千克": "kilograms", "公斤": "kilograms", "克": "grams", "吨": "tonnes", "毫升": "millilitres", "升": "litres", "元": "yuan", "角": "jiao", "小时": "hours", "分钟": "minutes",
    "秒": "seconds", "天": "days", "周": "weeks", "个月": "months", "月": "month", "年": "years", "岁": "years old", "度": "degrees", "个": "", "只": "", "人": "people", "名": "", "本": "books", "支": "", "张": "", "棵": "trees", "次": "times", "块": "", "条": "",
    "页": "pages", "辆": "", "件": "", "套": "sets", "种": "kinds", "排": "rows", "组": "groups", "盒": "boxes", "箱": "boxes", "袋": "bags", "瓶": "bottles", "头": "", "朵": "", "把": "", "苹果": "apples", "学生": "students", "本书": "books", "铅笔": "pencils", "树": "trees", "图书": "books", "男生": "boys", "女生": "girls",
    "解析": "Analysis", "解": "solution", "答": "answer", "注": "note", "小问": "part",
}  # fmt: skip
_LONGEST: Final = max(map(len, _PHRASES))
_PUNCTUATION: Final = str.maketrans("，。；：、！？（）【】“”．", ",.;:,!?()[]\"\".")
_CJK = re.compile(r"[\u3400-\u9fff]")
_MATH = re.compile(r"\$[^$]*\$|\\\(.*?\\\)|\\boxed\{.*\}")


def render_gloss(sentence: str) -> str | None:
    """The sentence in English, or none where a phrase is not known."""
    pieces: list[str] = []
    position = 0
    for math in _MATH.finditer(sentence):
        words = _words(sentence[position : math.start()])
        if words is None or _CJK.search(math[0]):
            return None
        pieces += [*words, math[0]]
        position = math.end()
    words = _words(sentence[position:])
    return None if words is None else _polish(" ".join([*pieces, *words]))


def _words(text: str) -> list[str] | None:
    pieces: list[str] = []
    position = 0
    while position < len(text):
        if not _CJK.match(text, position):
            end = next((m.start() for m in [_CJK.search(text, position)] if m), len(text))
            pieces.append(text[position:end].translate(_PUNCTUATION).strip())
            position = end
            continue
        for length in range(min(_LONGEST, len(text) - position), 0, -1):
            if (phrase := text[position : position + length]) in _PHRASES:
                pieces.append(_PHRASES[phrase])
                position += length
                break
        else:
            return None
    return pieces


def _polish(text: str) -> str:
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"\s+([,.;:!?)\]])", r"\1", text)
    text = re.sub(r"([(\[])\s+", r"\1", text).strip()
    return text[:1].upper() + text[1:]
