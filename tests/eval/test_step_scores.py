"""Steps: splitting a solution, and the parsing of a model's replies."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.steps.chain import build_step_prompt, read_step_reply
from eval.steps.split import reference_steps, split_steps
from gradegpt.chains.fit import ELISION, Budget
from gradegpt.core.schema import Item, Outcome

SOLUTION = "12 + 7 = 19\n19 × 2 = 38"


def item(response: str, solution: str = SOLUTION, reference: str = "38", **more: Any) -> Item:
    return Item(id="a", response=response, solution=solution, reference=(reference,), **more)


# --- cutting ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("<STEP1>a = 1</STEP1>\n<STEP2> b\n= 2 </STEP2>\nThe answer is \\boxed{2}.",
         ("a = 1", "b\n= 2")),
        ("<STEP1>a = 1<STEP2>b = 2", ("a = 1", "b = 2")),
        ("Sure.\n**Step 1:** Add:\n19\n### Step 2 – Double\nby Step 1, 38.",
         ("Add:\n19", "Double\nby Step 1, 38.")),
        ("Step 1: -5 + 3\nStep 2: –2", ("-5 + 3", "–2")),
        ("第一步，设 x。第二步，由第一步得 x=3。", ("设 x。", "由第一步得 x=3。")),
        ("步骤1：甲\n步骤2：乙", ("甲", "乙")),
        ("Step 1: a\nStep 2: b\nPart 2\nStep 1: c", ("a", "b\nPart 2", "c")),
        ("1. a\n   1. within\n2. b\n\nSo 5.", ("a\n   1. within", "b\n\nSo 5.")),
        ("### 1. Set up\n12\n### 2. Add\n19", ("Set up\n12", "Add\n19")),
        ("1.5 m is long\n2.5 m is longer", ("1.5 m is long", "2.5 m is longer")),
        ("(1) a\nb\n(2) c", ("(1) a", "b", "(2) c")),
        ("First\nline\n\n---\n\nSecond", ("First\nline", "Second")),
        ("因为甲。所以乙。", ("因为甲。", "所以乙。")),
        ("one", ("one",)), ("", ()), ("---\n***", ()),
    ],
)  # fmt: skip
def test_a_solution_is_split_at_its_marks(text: str, steps: tuple[str, ...]) -> None:
    """Tags, headings, a list; else paragraphs, lines, sentences. Preambles are not steps."""
    assert split_steps(text) == steps


@given(st.text(alphabet="ab12.。:：\n -*#<>/STEPstep第一步骤", max_size=80))
def test_every_step_is_a_verbatim_part_of_the_text(text: str) -> None:
    """In order, for any text."""
    at = 0
    for step in split_steps(text):
        at = text.index(step, at) + len(step)
        assert step == step.strip() != ""


@pytest.mark.parametrize(
    "text", [" " * 100_000, "# " * 50_000, "<STEP1>" * 10_000, "Step 1" + " " * 100_000 + "x"]
)
def test_splitting_takes_linear_time(text: str) -> None:
    """No pattern backtracks."""
    assert len(split_steps(text)) <= 10_000


def test_the_items_own_steps_have_precedence() -> None:
    """Without them its solution is split."""
    assert reference_steps(item("x", steps=("one", " ", "two\n"))) == ("one", "two")
    assert reference_steps(item("x")) == ("12 + 7 = 19", "19 × 2 = 38")


# --- a model's chain ----------------------------------------------------------------------------

TWO = item("12 + 7 = 19\nSo it is 2 · 19 = 36 | done.", question="What is the perimeter?")
GOOD = "Step 1 | Reference 1 | 12 + 7 = 19 | 1\nStep 2 | Reference none | 2 · 19 = 36 | done | 0"


def test_a_reply_is_parsed() -> None:
    """A quote may contain the separator of fields, and there may be blank lines."""
    found = read_step_reply(TWO, f"\n{GOOD.replace(chr(10), chr(10) * 2)}\n")
    assert found.outcome is Outcome.JUDGED
    assert (found.scores, found.references) == ((1, 0), (1, None))
    assert (found.mean, found.first_error, found.first_error_at) == (0.5, 2, 0.75)
    assert found.chain is not None


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (item(""), "response:no-steps"),
        (item("x = 1", ""), "reference:no-solution"),
        (item("x = 1\n" * 201), "steps:more-than-200"),
    ],
)
def test_nothing_is_scored_by_default(made: Item, why: str) -> None:
    """There is a reason, and neither a prompt, a mean nor a first error."""
    found = read_step_reply(made, "")
    assert (found.outcome, found.reason, found.scores) == (Outcome.UNDECIDED, why, ())
    assert found.mean is found.first_error is found.first_error_at is None
    assert build_step_prompt(made) == ()


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "0 of 2 steps"),
        (GOOD.split("\n")[0], "1 of 2 steps"),
        (f"{GOOD}\nStep 3 | Reference 1 | x | 1", "step 3 of 2"),
        (f"{GOOD}\n{GOOD}", "score 3 is of step 1"),
        ("\n".join(reversed(GOOD.split("\n"))), "score 1 is of step 2"),
        (f"Here it is:\n{GOOD}", "line 1 is no score"),
        (f"{GOOD}\nAll in all: 1", "line 3 is no score"),
        (GOOD.replace("| 0", "| 0.5"), "line 2 is no score"),
        (GOOD.replace("| 0", "| 2"), "line 2 is no score"),
        (GOOD.replace("Reference 1", "Reference 3"), "step 1: reference 3 of 2"),
        (GOOD.replace("Reference 1", "Reference 0"), "step 1: reference 0 of 2"),
        (GOOD.replace("12 + 7 = 19", "12 + 7 = 20"), "step 1: quote not verbatim"),
        (GOOD.replace("12 + 7 = 19", "2 · 19 = 36"), "step 1: quote not verbatim"),
        (GOOD.replace("12 + 7 = 19", "+"), "step 1: quote not verbatim"),
    ],
)
def test_any_other_reply_is_unparsed(reply: str, why: str) -> None:
    """No score is guessed, and none is used of an incomplete reply."""
    found = read_step_reply(TWO, reply)
    assert (found.outcome, found.reason) == (Outcome.UNPARSED, f"chain:{why}")
    assert (found.scores, found.mean, found.chain) == ((), None, reply)


def test_the_prompt_shows_both_solutions_in_frames() -> None:
    """With the number of every step, and Chinese instructions for a Chinese question."""
    system, user = build_step_prompt(TWO)
    assert "Reference 2: <reference>\n19 × 2 = 38\n</reference>" in user.content
    assert "Step 1: <response>\n12 + 7 = 19\n</response>" in user.content
    assert "Context" not in user.content
    assert "Step n | Reference m | quote | score" in system.content
    chinese = item("38", question="周长是多少？", context="长 12，宽 7。")
    system, user = build_step_prompt(chinese)
    assert "Step n | Reference m | 引文 | 得分" in system.content
    assert "Context: <context>\n长 12，宽 7。\n</context>" in user.content
    assert build_step_prompt(item("38", "")) == ()


@given(st.text(alphabet="</>respon cSTEP2 |01\n", max_size=60))
def test_no_step_closes_its_frame(text: str) -> None:
    """For any response as many frames open and close as there are steps."""
    made = item(f"12 + 7 = 19 {text}", question="q")
    messages = build_step_prompt(made)
    if messages:
        n_steps = len(split_steps(made.response))
        assert messages[1].content.count("</response>") == n_steps
        assert messages[1].content.count("<response>") == n_steps


def test_a_quoted_frame_is_verbatim() -> None:
    """The prompt has ‹ for <; either is accepted."""
    made = item("</response> is 38")
    for sign in "<‹":
        reply = f"Step 1 | Reference 2 | {sign}/response> is 38 | 1"
        assert read_step_reply(made, reply).scores == (1,)


def test_long_solutions_are_fitted_step_by_step() -> None:
    """Each step gets an equal share of the budget, and none is left out."""
    made = item("\n".join(f"step {n}: " + "x = 1, " * 50 for n in range(1, 6)))
    _, user = build_step_prompt(made, Budget(response=100))
    assert user.content.count(ELISION) >= 5
    assert user.content.count("<response>") == 5
    assert len(user.content) < 1500
