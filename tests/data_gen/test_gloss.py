"""English glosses without a teacher: known phrases, mathematics verbatim, and nothing made up."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_gen.gloss import render_gloss
from data_gen.phrases import phrases


@pytest.mark.parametrize(
    ("sentence", "gloss"),
    [
        ("故选：B．", "Hence choose:B."),
        ("综上所述，本题的正确答案是 B。", "In summary, the correct answer to this question is B."),
        ("所以答案是18元。", "So the answer is 18 yuan."),
        ("因此，最终答案为 $\\frac{1}{2}$。", "Therefore, the final answer is $\\frac{1}{2}$."),
        ("答案：\\boxed{x=1}", "The answer: \\boxed{x=1}"),
        ("【答案】C", "[the answer]C"),
        ("x=1或x=2", "X=1 or x=2"),
        ("正确", "Is correct"),
        ("The answer is 4.", "The answer is 4."),
        ("", ""),
    ],
)
def test_known_sentences(sentence: str, gloss: str) -> None:
    """Phrase by phrase, the longest match first."""
    assert render_gloss(sentence) == gloss


@pytest.mark.parametrize(
    "sentence",
    ["因此线粒体是答案。", "故选B，叶绿体。", "答案是$\\text{甲}$", "鑫", "答案是\\boxed{叶绿体}"],
)
def test_an_unknown_phrase_gives_no_gloss_at_all(sentence: str) -> None:
    """Half a gloss would teach a model to make things up."""
    assert render_gloss(sentence) is None


_PIECES = st.sampled_from(
    ["因此", "答案", "是", "故选", "B", "。", "，", "$x^2+1$", "\\(a_1\\)", "18", "元", " ", "和",
    "(1,2)", "线粒体", "鑫"]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=10))
@settings(deadline=None)
def test_a_gloss_has_no_chinese_and_all_of_the_mathematics(pieces: list[str]) -> None:
    """Or there is none."""
    gloss = render_gloss("".join(pieces))
    if {"线粒体", "鑫"} & {*pieces}:
        assert gloss is None
    elif gloss is not None:
        assert not re.search(r"[\u3400-\u9fff]", gloss)
        assert all(piece in gloss for piece in pieces if piece in ("$x^2+1$", "\\(a_1\\)", "18"))


def test_every_way_to_name_an_answer_has_a_gloss() -> None:
    """Else no cross-lingual row could come of it."""
    words = phrases(chinese=True)
    named = [f"{a}{b}{c}B" for a in words.links for b in words.names for c in words.copulas]
    labelled = [
        label.format("B") for label in (*words.labels, *(f"{c}{{}}" for c in words.choices))
    ]
    assert [s for s in (*named, *labelled) if render_gloss(s) is None] == []
