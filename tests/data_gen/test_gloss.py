"""English glosses without a teacher: words in English order, mathematics verbatim, or none."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_gen.gloss import render_gloss
from data_gen.gloss.lexicon import lexicon, plural, simplified, third_person
from data_gen.phrases import phrases


@pytest.mark.parametrize(
    ("sentence", "gloss"),
    [
        ("故选：B．", "Hence choose: B."),
        ("综上所述，本题的正确答案是 B。", "In summary, the correct answer to this question is B."),
        ("所以答案是18元。", "So the answer is 18 yuan."),
        ("因此，最终答案为 $\\frac{1}{2}$。", "Therefore, the final answer is $\\frac{1}{2}$."),
        ("答案：\\boxed{x=1}", "Answer: \\boxed{x=1}"),
        ("**答案：** C", "Answer: C"),
        ("### 答案：`C`", "Answer: `C`"),
        ("答案是**18**元。", "The answer is 18 yuan."),
        ("【答案】C", "[Answer] C"),
        ("所以选C【答案】C", "So choose C [Answer] C"),
        ("x=1或x=2", "x=1 or x=2"),
        ("x=1，y=2，故选A", "x=1, y=2, hence choose A"),
        ("正确", "Correct"),
        ("The answer is 4.", "The answer is 4."),
        ("", ""),
        ("正確答案是選項B", "The correct answer is option B"),
        ("答案為３", "The answer is 3"),
        ("（１）面積是5；（２）周長是9", "(1) the area is 5; (2) the perimeter is 9"),
        ("圆的半径是3", "The radius of the circle is 3"),
        ("这个圆的面积的一半是7", "Half of the area of this circle is 7"),
        ("三角形ABC的面积为6平方厘米", "The area of the triangle ABC is 6 square centimetres"),
        ("圆的半径和三角形的高", "The radius of the circle and the height of the triangle"),
        ("长方形的周长和面积分别为10和6",
         "The perimeter and the area of the rectangle are 10 and 6 respectively"),
        ("方程的两个根分别为1和2", "The two roots of the equation are 1 and 2 respectively"),
        ("a与b的和是10", "The sum of a and b is 10"),
        ("a、b与c的积为0", "The product of a, b and c is 0"),
        ("点A到直线l的距离是5", "The distance from the point A to the line l is 5"),
        ("函数y=2x在区间[0,1]上的最大值为2",
         "The maximum of the function y=2x on the interval [0,1] is 2"),
        ("曲线y=x^2在点(1,1)处的切线方程为y=2x-1",
         "The equation of the tangent to the curve y=x^2 at the point (1,1) is y=2x-1"),
        ("点P的坐标是(1，2)", "The coordinates of the point P are (1,2)"),
        ("当x=1时，y取得最大值3", "When x=1, y attains the maximum 3"),
        ("若x>1，则f(x)>0", "If x>1, then f(x)>0"),
        ("因为a>0，所以f(x)单调递增", "Because a>0, f(x) is increasing"),
        ("解得x=1", "Solving gives x=1"),
        ("可得a的值为5", "We get that the value of a is 5"),
        ("选项A正确，选项B错误", "Option A is correct, option B is incorrect"),
        ("A、C选项正确", "Options A, C are correct"),
        ("（1）$x$的值是2", "(1) the value of $x$ is 2"),
        ("(2)和(3)", "(2) and (3)"),
        ("函数f(x)在R上是连续的", "The function f(x) is continuous on R"),
        ("物理意义", "The physical significance"),
        ("圆的周长与直径的比是3", None),
        ("一个周期为2π的周期函数", None),
        ("只有选项A正确", "Only option A is correct"),
        ("曲线C和D的方程分别为y=x和y=1",
         "The equations of the curves C and D are y=x and y=1 respectively"),
        ("12和18的最大公因数是6", "The greatest common factor of 12 and 18 is 6"),
        ("长方体的长、宽和高分别是3、4和5",
         "The length, the width and the height of the cuboid are 3, 4 and 5 respectively"),
        ("本金是1000元", "The principal is 1000 yuan"),
        ("正确的有①②", None),
        ("苹果有18千克", "There are 18 kilograms of apples"),
        ("函数f(x)的零点有2个", None),
        ("小红比小明大3岁", None),
        ("第三天走了12千米", None),
        ("1、圆的面积是2", "1. The area of the circle is 2"),
        ("苹果的总数是8", "The total number of apples is 8"),
        ("x和y的值分别是3和2", "The values of x and y are 3 and 2 respectively"),
        ("大于\t小于", None),
        ("选项B和D都正确", "Options B and D are both correct"),
        ("A项符合题意", "Option A fits the question"),
        ("①正确", "① is correct"),
        ("符合题意的选项是B", "The option that fits the question is B"),
        ("正确的是AC", "The correct one is AC"),
        ("下列说法正确的是D", "The correct one among the following statements is D"),
        ("第一空填3，第二空填5",
         "The first blank is filled with 3, the second blank is filled with 5"),
        ("全班人数的三分之二是24人",
         "Two thirds of the number of people of the whole class is 24 people"),
        ("这本书的价格降低百分之五，变为19元",
         "The price of this book falls by five percent, and becomes 19 yuan"),
        ("概率是百分之五", "The probability is five percent"),
        ("总价是3.2万元", "The total price is 3.2 × 10,000 yuan"),
        ("还剩十八个苹果", "Eighteen apples are left"),
        ("小明还剩3个", "Xiaoming has 3 left"),
        ("小明买了5本书", "Xiaoming bought 5 books"),
        ("小明比小红多5个苹果", "Xiaoming has 5 apples more than Xiaohong"),
        ("a比b大5", "a is greater than b by 5"),
        ("袋子中有3个红球", "There are 3 red balls in the bag"),
        ("红球有3个", "There are 3 red balls"),
        ("一共有12种选法", "There are 12 kinds of ways of choosing in all"),
        ("三箱梨的总重量是36千克", "The total weight of three boxes of pears is 36 kilograms"),
        ("火车每小时行驶60千米", "The train travels 60 kilometres per hour"),
        ("汽车的速度是60千米/时", "The speed of the car is 60 kilometres per hour"),
        ("需要2小时15分钟", "2 hours 15 minutes are needed"),
        ("x的值至少为5", "The value of x is at least 5"),
        ("至少有4人", "There are at least 4 people"),
        ("x大于等于3且小于7", "x is greater than or equal to 3 and is less than 7"),
        ("x不大于3", "x is not greater than 3"),
        ("51不是质数", "51 is not a prime number"),
        ("这三个数都是质数", "These three numbers are all prime numbers"),
        ("甲数是乙数的3倍", "Number Jia is 3 times number Yi"),
        ("2的n次方", "2 to the power n"),
        ("植物吸收二氧化碳，释放氧气", "The plant absorbs carbon dioxide, and releases oxygen"),
        ("这个说法是错误的", "This statement is incorrect"),
        ("栈S为空", "The stack S is empty"),
        ("答案是A（即x>3）。", "The answer is A (that is, x>3)."),
    ],
)  # fmt: skip
def test_known_sentences(sentence: str, gloss: str | None) -> None:
    """Owners stand behind what they own, numbers agree, and mathematics is as it was."""
    assert render_gloss(sentence) == gloss


@pytest.mark.parametrize(
    "sentence",
    [
        "因此饕餮是答案。",
        "答案是$\\text{甲}$",
        "鑫",
        "答案是\\boxed{叶绿体}",
        "x>0的最小值为1",
        "x和y不都是质数",
        "小明买的苹果是红的",
        "三角形（等边）是图形",
        "解了方程的学生的人数是3",
        "甲把书给乙",
        "答案是“甲”",
        "答案（B",
        "因此，的答案",
        "答案\ue000是3",
        "的" * 300,
    ],
)
def test_what_cannot_be_put_faithfully_has_no_gloss(sentence: str) -> None:
    """Half a gloss, or one in the wrong order, would teach a model to make things up."""
    assert render_gloss(sentence) is None


_MATHS = ("$x^2+1$", "\\(a_1\\)", "18", "(1,2)", "x=1", "\\boxed{3}")
_PIECES = st.sampled_from(
    ["因此", "答案", "是", "故选", "B", "。", "，", "元", " ", "和", "的", "圆", "半径", "面积",
     "、", "当", "时", "大于", "分别为", "不", "有", "个", "饕", "：", "（", "）", "在", "上", "比",
     *_MATHS]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=12))
@settings(deadline=None, max_examples=300)
def test_a_gloss_has_no_chinese_and_exactly_the_mathematics(pieces: list[str]) -> None:
    """Nothing lost, nothing twice; an unknown word means no gloss."""
    sentence = "".join(pieces)
    gloss = render_gloss(sentence)
    if "饕" in sentence:
        assert gloss is None
    elif gloss is not None:
        assert not re.search(r"[\u3400-\u9fff\ue000-\uf8ff]", gloss)
        assert sorted(re.findall(r"\d", gloss)) == sorted(re.findall(r"\d", sentence))
        for piece in _MATHS[:2]:
            assert gloss.count(piece) == sentence.count(piece)


@given(st.text(alphabet="的是圆半径答案12xA在上比和、，。：（）$\\{}[]*", max_size=400))
@settings(deadline=None, max_examples=100)
def test_any_text_is_read_in_bounded_time(text: str) -> None:
    """Ambiguity is cut off: no text makes the grammar run away."""
    started = time.perf_counter()
    render_gloss(text)
    assert time.perf_counter() - started < 2


def test_the_same_sentence_gives_the_same_gloss() -> None:
    """Rendering keeps nothing between calls that could change its words."""
    sentence = "所以圆的半径和面积分别是3和9"
    assert len({render_gloss(sentence) for _ in range(5)}) == 1


def test_every_word_has_one_meaning_a_category() -> None:
    """A second line of the same word and category would never be read."""
    for word, entries in lexicon().entries.items():
        categories = [entry.category for entry in entries]
        assert len(categories) == len(set(categories)), word
        assert not any(c in simplified() for c in map(ord, word)), word


def test_english_forms() -> None:
    """Plurals and third persons follow the spelling rules."""
    assert [plural(w) for w in ("box", "velocity", "day", "root")] == [
        "boxes", "velocities", "days", "roots"
    ]  # fmt: skip
    assert [third_person(v) for v in ("be equal", "have", "pass through")] == [
        "is equal", "has", "passes through"
    ]  # fmt: skip


def test_every_way_to_name_an_answer_has_a_gloss() -> None:
    """Else no cross-lingual row could come of it."""
    words = phrases(chinese=True)
    named = [f"{a}{words.names[0]}是B" for a in words.links]
    named += [f"{a}{b}{c}B" for a in ("", "所以") for b in words.names for c in words.copulas]
    labels = [label.format("B") for label in (*words.labels, *(f"{c}{{}}" for c in words.choices))]
    assert [s for s in (*named, *labels) if render_gloss(s) is None] == []
