"""Steps: splitting a solution, scores by rules, and the parsing of a model's replies."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.steps.chain import build_step_prompt, read_step_reply
from eval.steps.results import result_of
from eval.steps.rules import (
    align,
    nothing_to_score,
    place,
    score_by_rules,
    with_repeats,
)
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


# --- results ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "left", "right"),
    [
        ("So the area is S = ab/2 = 12 cm².", "S", "12 cm²"),
        ("长方形的周长等于两倍。(12+7)×2=19×2=38。", "(12+7)×2", "38"),
        ("She has 3*4=<<3*4=12>>12 eggs.", "3*4", "12"),
        ("There are 18 x 4 = 72 seats in the hall.", "18 × 4", "72"),
        ("Hence 2x + 1 = 7 and x = 3.", "x", "3"),
        ("得 $c^2=7$，所以 $c=\\sqrt{7}$。", "c", "\\sqrt{7}"),
        ("He buys 3 boxes * 4 = 12 pens", "", "12"),
        ("f'(x) = 2x", "f'(x)", "2x"),
        ("The answer is 38.", "", "38"),
        ("\\boxed{x=3}", "x", "3"),
    ],
)
def test_the_result_of_a_step_is_its_last_equation(step: str, left: str, right: str) -> None:
    """With the symbol or formula whose value it is."""
    found = result_of(step)
    assert found is not None
    assert (found.left, found.right.text) == (left, right)


@pytest.mark.parametrize(
    "step", ["We multiply by 2.", "Thus x = 2, 3", "x > 3", "因为 m 是整数", "Add them up.", ""]
)
def test_a_step_without_a_single_result_has_none(step: str) -> None:
    assert result_of(step) is None


# --- scoring by rules ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("response", "scores", "references"),
    [
        ("7 + 12 = 19\n2 × 19 = 38\nSo the answer is 38.", (1, 1, 1), (1, 2, 2)),
        ("12 + 7 = 18\n18 × 2 = 36\nThe answer is 36.", (0, None, 0), (1, None, 2)),
        ("2×12=24\n2×7=14\n24+14=38\n答案是38", (None, None, 1, 1), (None, None, 2, 2)),
        ("12 + 7 = 19\nThe answer is 19.", (1, 0), (1, 2)),
        ("2 × 12 = 24\nThe answer is 24.", (None, 0), (None, 2)),
        ("12 + 8 = 19\n12 + 7 = 19", (None, 1), (None, 1)),
        ("19 × 2 = 38\n12 + 7 = 19", (1, None), (2, None)),
        ("12 + 7 = 19 cm", (1,), (1,)),
    ],
)
def test_steps_are_aligned_in_order(
    response: str, scores: tuple[int | None, ...], references: tuple[int | None, ...]
) -> None:
    """1 for equal values, 0 for another value of the same quantity, None where nothing compares.

    Another way to the answer is not wrong, nor is a right step that is then given as the answer;
    false arithmetic is not right; steps in another order are undecided.
    """
    found = score_by_rules(item(response))
    assert (found.scores, found.references) == (scores, references)


@pytest.mark.parametrize(
    ("solution", "response", "reference", "scores"),
    [
        ("x = 3\ny = 5", "x = 5\ny = 3", "(3, 5)", (0, 0)),  # not those of the other symbol
        ("x = 3", "y = 3\nz = 1", "1", None),
        ("S = 12", "V = 13\ns = 14", "14", None),  # case matters
        ("S = 12", "V = 13\nT = 14", "12", (None, 0)),  # another answer
        ("S = 12 cm", "S = 120 mm", "12 cm", (1,)),
        ("8 * 5 = 40 minutes", "8 * 5 = 40 hours", "40 minutes", (0,)),
        ("x^2 - 5x + 6 = 0", "x^2 - 5x + 4 = 0", "x^2 - 5x + 4 = 0", None),  # 0 on both sides
        ("x = 3", "If x = 4, then no.\nx = 3", "3", (None, 1)),
        ("x = 3", "Suppose that x = 4.\nx is odd", "7", None),
        ("S = 12", "S = 13\nS = 13\nthe answer is 12", "12", (None, None, 1)),
        ("S = 12", "S = 13\nso the answer is 13", "12", (0, 0)),
        ("x = 3\nCheck: 2x + 1 = 7", "x = 3\nThe answer is 3.", "3", (1, 1)),
        ("A: 4", "8 / 2 = 4\nThe answer is 6.", "4", (None, 0)),
        ("所以选 B。", "因为 2>1\n故选 C", "B", (None, 0)),
        ("v = \\sqrt{2gh}", "v = 3", "3", None),  # a formula may have any value
    ],
)
def test_which_results_are_contradictions(
    solution: str, response: str, reference: str, scores: tuple[int | None, ...] | None
) -> None:
    """Only different values of one symbol, of one formula, or of the answer."""
    assert score_by_rules(item(response, solution, reference)).scores == (scores or ())


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (item(""), "response:no-steps"),
        (item("x = 1", ""), "reference:no-solution"),
        (item("x = 1\n" * 201), "steps:more-than-200"),
        (item("I do not know."), "rules:nothing-to-compare"),
    ],
)
def test_nothing_is_scored_by_default(made: Item, why: str) -> None:
    """There is a reason, and neither a mean nor a first error."""
    found = score_by_rules(made)
    assert (found.outcome, found.reason, found.scores) == (Outcome.UNDECIDED, why, ())
    assert found.mean is found.first_error is found.first_error_at is None
    assert nothing_to_score(made) in (why, None)


def test_mean_and_first_error() -> None:
    """The mean of the steps (OlympicArena, C.6): here 1, 0 and 0; the second of three is 1/2."""
    found = score_by_rules(item("v = 5\nt = 4\ns = 20", "v = 5\nt = 3\ns = 15", "15"))
    assert found.scores == (1, 0, 0)
    assert found.mean == pytest.approx(1 / 3)
    assert (found.first_error, found.first_error_at) == (2, 0.5)
    assert [place(n, 4) for n in (1, 2, 3, 4)] == [0.125, 0.375, 0.625, 0.875]


def test_alignment_by_hand() -> None:
    """Two equal pairs score more than three others; each side keeps its order."""
    assert align([[False, True, None], [None, False, True], [None, None, False]]) == [1, 2, None]
    assert align([[None, True], [True, None]]) in ([1, None], [None, 0])
    assert align([]) == []
    assert with_repeats([0, None, None], [[True], [False], [True]]) == [0, None, 0]
    assert with_repeats([0, None], [[False], [False]]) == [0, 0]


@pytest.mark.parametrize("seed", range(40))
def test_scores_of_constructed_solutions_are_right(seed: int) -> None:
    """Sums of random numbers, with an error from a random step on: no score is wrong."""
    rng = random.Random(seed)
    n_steps, wrong = rng.randint(2, 7), rng.randint(0, 6)
    total = given = rng.randint(100, 900)
    solution, response, truth = [], [], []
    for n in range(n_steps):
        plus = rng.randint(11, 99)
        solution.append(f"{total} + {plus} = {total + plus}")
        slip = rng.randint(1, 9) if n == wrong else 0
        response.append(f"Then {given} + {plus} = {given + plus + slip} apples.")
        total, given = total + plus, given + plus + slip
        truth.append(int(total == given))
    response.append(f"The answer is {given}.")
    found = score_by_rules(item("\n".join(response), "\n".join(solution), str(total)))
    assert all(s in (None, t) for s, t in zip(found.scores, [*truth, truth[-1]], strict=True))
    assert found.first_error == (wrong + 1 if wrong < n_steps else None)


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
