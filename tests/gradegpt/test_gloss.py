"""A gloss is kept if its numbers, letters, names and formulas are those of its quote."""

from __future__ import annotations

import pytest

from gradegpt.chains.gloss import faithful


@pytest.mark.parametrize(
    ("quote", "gloss"),
    [
        ("所以次品率是八分之一。", "So the defect rate is 1/8."),
        ("所以次品率是八分之一。", "So the defect rate is one eighth."),
        ("概率是百分之五", "The probability is five percent."),
        ("概率是5%", "The probability is five percent."),
        ("总价是3.2万元", "The total price is 32,000 yuan."),
        ("一共跑了五千米", "In all one ran five kilometres."),
        ("有一百二十三人", "There are one hundred and twenty-three people."),
        ("每秒5米", "5 metres per second"),
        ("答案是-3", "The answer is minus three."),
        ("点在第三象限", "The point is in the third quadrant."),
        ("它是等边三角形", "It is an equilateral triangle."),
        ("放出二氧化碳", "Carbon dioxide is given off."),
        ("5月3日", "The third of May"),
        ("最多卖两倍", "At most twice as many are sold."),
        ("故选AC。", "Hence choose A and C."),
        ("正确的是C", "The correct one is C."),
        ("由Newton提出", "It was proposed by Newton."),
        ("作者是莎士比亚", "The author is Shakespeare."),
        ("因此 $x^2 = 9$。", "Therefore x^2=9."),
        ("> **答案：** x=1，y=2", "Answer: x=1, y=2"),
    ],
)
def test_a_faithful_gloss_is_kept(quote: str, gloss: str) -> None:
    """Numbers may be in digits or words; the meaning of Chinese words is not checked."""
    assert faithful(quote, gloss)


@pytest.mark.parametrize(
    ("quote", "gloss"),
    [
        ("所以次品率是八分之一。", "8 and 4"),
        ("所以次品率是八分之一。", "So the defect rate is an eighth, or 4."),
        ("莎士比亚", "the third quadrant"),
        ("答案是36", "The answer is thirty-five."),
        ("答案是三十六", "The answer is known."),
        ("答案是-3", "The answer is 3."),
        ("故选B", "Hence choose C."),
        ("故选AC", "Hence choose A."),
        ("由Newton提出", "It was proposed by Einstein."),
        ("因此 x = 3。", "Therefore y=3."),
        ("答案是3", "The answer is x=3."),
        ("答案是B", "The 答案 is B."),
        ("答案是B", " "),
    ],
)
def test_a_gloss_with_other_contents_is_rejected(quote: str, gloss: str) -> None:
    """An additional, missing or different number, letter, name or formula; Chinese; no text."""
    assert not faithful(quote, gloss)
