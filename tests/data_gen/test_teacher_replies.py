"""The teacher's replies: parsing into chains that are fit for training."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_gen.teacher.parse import read_reply
from gradegpt.chains.chain import Chain, parse_chain, render_chain
from gradegpt.core.schema import Verdict
from tests.data_gen.teacher_parts import CROSS, GLOSS, NO, NONE, QUOTE, RESPONSE, YES, Ask, chain
from tests.data_gen.teacher_server import Say


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "teacher:empty-reply"),
        ("The answers agree.", "teacher:unparsed"),
        ('{"verdict": "correct"', "teacher:unparsed"),
        (YES.replace("<Yes>", "<Maybe>"), "teacher:unparsed"),
        ("<Yes>", "teacher:no-quote"),
        (NONE.replace("<No>", "<Yes>"), "teacher:no-quote"),
        (YES.replace(QUOTE, "。"), "teacher:no-quote"),
        (YES.replace("一共有", "总共有"), "teacher:quote-not-verbatim"),
        (YES.replace(QUOTE, QUOTE.replace("42", "43")), "teacher:quote-not-verbatim"),
        (YES.replace("a number", "a sonnet"), "teacher:unknown-type"),
        (YES.replace("The reference answer 42 个 is", "It is"), "teacher:no-reference-answer"),
        (YES.replace("answer 42 个 is", "answer  is"), "teacher:no-reference-answer"),
        (YES.replace("gives 42.", "gives none."), "teacher:quote-without-answer"),
        (NONE.replace("gives none.", "gives 42."), "teacher:answer-without-quote"),
    ],
)
def test_a_reply_that_is_not_fit_for_training_is_rejected(text: str, reason: str) -> None:
    """It has a machine-readable reason and no verdict."""
    assert read_reply(text, RESPONSE, 4000) == reason


REPLACED = {
    "<Yes>": ("**<Yes>**", "<yes>", "Yes.", "＜Yes＞"),
    "The answers agree:": ("Judgment Result:", "", "**The answers agree:**"),
    QUOTE: (f'"{QUOTE}"', f"“{QUOTE}”", f"「{QUOTE}」", f"`{QUOTE}`"),
    GLOSS: (f'"{GLOSS}"', GLOSS.replace(" ", "\xa0")),
    " a number": (" a numerical answer", " a Numeric value"),
    " 42 个 is": (' "42 个" is', " “42 个” is"),
    "gives 42.": ("gives 42。", 'gives "42".', "gives “42”."),
    ": ": ("：", ":  "),
    "; ": ("；",),
}
AROUND = (
    "```\n{}\n```", "Here it is:\n```text\n{}\n```\nI hope this helps.", "{}\n\nI am sure of this.",
    "Sure! I compare the two answers.\n\n{}", "好的，我的判断如下：\n{}",
    "<think>\n<No> or <Yes>?\nThe answers agree: <No>\n</think>\n\n{}", NO + "\nNo.\n</think>\n{}",
)  # fmt: skip
EACH_LINE = ("{1}. {0}", "{1}) {0}", "- {0}", "> {0}", "### {0}", "**{0}**", "{0}\r", "{0}\n\n \n")
FORMS = [
    *(YES.replace(old, new) for old, forms in REPLACED.items() for new in forms),
    *(form.format(YES) for form in AROUND),
    *("\n".join(map(form.format, YES.split("\n"), range(1, 9))) for form in EACH_LINE),
]


def test_a_reply_in_another_form_is_the_same_chain(ask: Ask) -> None:
    """Where its sense is plain; nothing is asked for again."""
    votes, server, _ = ask(lambda _, number: Say([YES, *FORMS][number]), items=len(FORMS) + 1)
    found = dict(zip([YES, *FORMS], [vote.chain or vote.reason for vote in votes], strict=True))
    assert {form: said for form, said in found.items() if said != votes[0].chain} == {}
    assert (votes[0].chain, len(server.bodies)) == (chain(), len(FORMS) + 1)


@pytest.mark.parametrize("quote", ["**答案：42**", "由图可知 a＜42，a＞0", "“42”", "1. 42", "`42`"])
def test_a_quote_keeps_the_marks_that_are_the_responses_own(quote: str) -> None:
    """Marks around a line, full-width brackets and quotation marks may be its very words."""
    read = read_reply(YES.replace(QUOTE, quote), f"先算。\n{quote}\n完。", 4000)
    assert isinstance(read, Chain)
    assert read.quotes == (quote,)


UNUSABLE = {
    "teacher:answer-not-in-quote": YES.replace("gives 42.", "gives forty."),
    "teacher:quote-not-verbatim": YES.replace("一共有", "总共有"),
    "teacher:unknown-type": YES.replace("a number", "a sonnet"),
    "teacher:unparsed": "I cannot say.",
}


@pytest.mark.parametrize("reason", UNUSABLE)
def test_a_reply_that_cannot_be_used_is_asked_for_once_more(ask: Ask, reason: str) -> None:
    """With what is wrong in the first; one that still cannot be used is counted by the reason."""
    votes, server, teacher = ask(lambda _, n: Say((UNUSABLE[reason], YES)[n]))
    assert (votes[0].chain, len(server.bodies)) == (chain(), 2)
    assert re.search("by character|words of the quotes|of the list|form asked", server.questions[1])
    assert teacher.meter.summary()["rejected"] == {}
    votes, server, teacher = ask(lambda *_: Say(UNUSABLE[reason]), items=3)
    assert [vote.reason for vote in votes] == ["", reason, reason]
    assert len(server.bodies) == 4
    assert teacher.meter.summary()["rejected"] == {reason: 2}


@pytest.mark.parametrize(
    ("replies", "gloss", "requests"),
    [
        ([GLOSS], GLOSS, 1),
        ([f'Translation: "{GLOSS}"'], GLOSS, 1),
        ([f"<think>42?</think>Here you are:\n\n**{GLOSS}**\n"], GLOSS, 1),
        (["So there are 43 apples.", GLOSS], GLOSS, 2),
        ([QUOTE, "42 个 apples"], "", 2),
    ],
)
def test_a_gloss_alone_is_asked_for_and_checked(
    ask: Ask, replies: list[str], gloss: str, requests: int
) -> None:
    """Once for equal quotes; one that is not faithful once more, and then it is left out."""
    glosses, server, teacher = ask(lambda _, n: Say(replies[n]), [QUOTE, QUOTE])
    assert glosses == [gloss, gloss]
    assert len(server.bodies) == requests
    assert server.questions[0] == f"<text>{QUOTE}</text>"
    assert teacher.meter.summary()["rejected"] == ({} if gloss else {"teacher:gloss": 1})


@pytest.mark.parametrize("gloss", [None, QUOTE, "So there are 8 and 4 apples."])
def test_a_gloss_that_does_not_match_its_quote_is_left_out(gloss: str | None) -> None:
    """The chain is used without a gloss; a missing gloss is no error."""
    line = f"In English: {GLOSS}\n"
    text = YES.replace(line, "" if gloss is None else line.replace(GLOSS, gloss))
    assert read_reply(text, RESPONSE, 4000) in (chain(glosses=()), chain(glosses=("",)))


def test_a_quote_must_be_in_the_text_that_the_teacher_was_shown() -> None:
    """A quote from a part that did not fit into the prompt is rejected."""
    plain = "甲有 42 个苹果。"
    text, response = YES.replace(QUOTE, plain), plain + "\n" + "接着再检查一遍。" * 400
    assert read_reply(text, response, 40) == "teacher:quote-not-verbatim"
    assert isinstance(read_reply(text, response, 40_000), Chain)


_ANSWER = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)


@given(_ANSWER, _ANSWER, st.sampled_from(Verdict))
def test_an_accepted_chain_is_read_the_same_once_rendered(
    reference: str, answer: str, verdict: Verdict
) -> None:
    """For any answer, the rendered chain for training parses as the teacher's chain."""
    given = "none" if verdict is Verdict.INVALID else answer
    text = render_chain(chain(verdict), CROSS).replace("gives 42.", f"gives {given}.")
    read = read_reply(text.replace("answer 42 个 is", f"answer {reference} is"), RESPONSE, 4000)
    if isinstance(read, Chain):
        assert parse_chain(render_chain(read, CROSS)).chain == read
        assert read.verdict is verdict
