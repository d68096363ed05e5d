"""Glosses without a teacher: those of the project's own templates, phrase by phrase."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_gen.drawn import parametric
from data_gen.gloss import render_gloss
from data_gen.phrases import phrases
from data_gen.writer import Task, ending
from gradegpt.chains.chain import needs_gloss
from gradegpt.chains.gloss import faithful


@pytest.mark.parametrize(
    ("sentence", "gloss"),
    [
        ("故选：B。", "Hence choose: B."),
        ("综上所述，本题的正确答案是 B。", "In summary, the correct answer to this question is B."),
        ("所以答案是18元。", "So the answer is 18 yuan."),
        ("因此，最终答案为 $\\frac{1}{2}$。", "Therefore, the final answer is $\\frac{1}{2}$."),
        ("### 答案：`C`", "The answer: C"),
        ("答案是**18**元。", "The answer is 18 yuan."),
        ("【答案】C", "[The answer] C"),
        ("x=1或x=2", "x=1 or x=2"),
        ("（1）5；（2）9", "(1) 5; (2) 9"),
        ("所以B选项符合题意", "So option B fits the question"),
        ("A、C项正确，其他选项错误", "Option A, C is correct, the other options are incorrect"),
        ("正确", "Correct"),
        ("答案是是", "The answer is yes"),
        ("结果为负七分之一", "The result is -1/7"),
        ("答：1厘米", "Answer: 1 centimetre"),
        ("The answer is 星期三.", "The answer is Wednesday."),
        ("最终答案：“是星期二”。", "The final answer: is Tuesday."),
        ("点在第三象限", None),
        ("小明买了5本书", None),
        ("因此饕餮是答案。", None),
    ],
)
def test_known_sentences(sentence: str, gloss: str | None) -> None:
    """Phrases, names and units are translated, mathematics is kept; an unknown word: no gloss."""
    assert render_gloss(sentence) == gloss


@pytest.mark.parametrize(
    "part", ["labels", "choice_labels", "choices", "links", "names", "copulas"]
)
def test_every_way_to_name_an_answer_has_a_gloss(part: str) -> None:
    """Every phrase that introduces an answer has a gloss, as cross-lingual rows require."""
    frames = {
        "labels": "{0}", "choice_labels": "{0}", "choices": "{0}{{}}", "links": "{0}答案是{{}}",
        "names": "{0}是{{}}", "copulas": "答案{0}{{}}",
    }  # fmt: skip
    said = [frames[part].format(phrase).format("B") for phrase in getattr(phrases(True), part)]
    assert [s for s in said if needs_gloss(s) and not render_gloss(s)] == []


def test_written_answers_to_drawn_problems_have_a_gloss() -> None:
    """At least 97 of 100 written answers have a gloss with the content of their sentence."""
    tasks = [
        Task(random.Random(index), problem, chinese=problem.lang == "zh")
        for index, problem in enumerate(parametric(400, 11))
    ]
    said = [" ".join(ending(task, task.right()).sentence.split("\n")) for task in tasks]
    made = {sentence: render_gloss(sentence) for sentence in said if needs_gloss(sentence)}
    glossed = {sentence: gloss for sentence, gloss in made.items() if gloss}
    assert len(glossed) >= 0.97 * len(made) > 100
    assert all(faithful(sentence, gloss) for sentence, gloss in glossed.items())


_MATHS = ("$x^2+1$", "\\(a_1\\)", "18", "(1,2)", "x=1", "\\boxed{3}")
_WORDS = ("因此", "答案", "是", "故选", "B", "。", "，", "元", " ", "和", "项", "一百", "饕", "：")
_PIECES = st.sampled_from([*_WORDS, *_MATHS])


@given(st.lists(_PIECES, max_size=12))
@settings(max_examples=200)
def test_a_gloss_has_no_chinese_and_exactly_the_mathematics(pieces: list[str]) -> None:
    """Mathematics is neither lost nor repeated, and an unknown word means no gloss."""
    sentence = "".join(pieces)
    gloss = render_gloss(sentence)
    if "饕" in sentence:
        assert gloss is None
    elif gloss is not None:
        assert not needs_gloss(gloss)
        assert all(gloss.count(piece) == sentence.count(piece) for piece in _MATHS[:2])
