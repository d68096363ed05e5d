"""Problems and what is written to them: what is called right is right, a quote is a quote."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from data_gen.compose import Graded, counterfactual, from_label, synthetic
from data_gen.generate import rng_for
from data_gen.parametric import parametric
from data_gen.problems import Problem, bank
from gradegpt.chain import PromptSettings, build_prompt, parse_chain, quotes_verbatim, render_chain
from gradegpt.judges import RuleJudge
from gradegpt.rules.compare import compare
from gradegpt.rules.normalise import fold
from gradegpt.rules.values import quantity
from gradegpt.schema import AnswerType, ChainFormat, Example, Item, Verdict

BANK = bank()
DRAWN = list(parametric(300, seed=3))
BOTH = pytest.mark.parametrize("problems", [BANK, DRAWN], ids=["bank", "parametric"])


def written(problems: list[Problem], verdict: Verdict, count: int) -> Iterator[tuple[str, Graded]]:
    for problem, index in itertools.product(problems, range(count)):
        graded = synthetic(problem, verdict, rng_for(f"{problem.id}:{index}", 0))
        if graded is not None:
            yield problem.id, graded


# --- problems -------------------------------------------------------------------------------------


def test_the_bank_has_every_answer_type_in_both_languages() -> None:
    """But for code, which nobody grades by its text. Each problem once."""
    types = {*AnswerType} - {AnswerType.CODE}
    assert {(p.lang, p.answer_type) for p in BANK} == {*itertools.product(("zh", "en"), types)}
    assert len({p.id for p in BANK}) == len({p.question for p in BANK}) == len(BANK)


@BOTH
def test_right_forms_are_never_different_by_the_rules(problems: list[Problem]) -> None:
    """What the rules can show must not contradict the writer."""
    for p in problems:
        for right in p.also_correct:
            assert (
                compare(p.reference, right, p.answer_type, question=p.question).same is not False
            ), (p.id, right)


@BOTH
def test_near_misses_are_never_equal_to_a_right_form_by_the_rules(problems: list[Problem]) -> None:
    """But for a unit where the reference names none: the rules then let any unit pass."""
    for p in problems:
        for right, wrong in itertools.product((p.reference, *p.also_correct), p.near_misses):
            if compare(right, wrong, p.answer_type, question=p.question).same:
                assert _unit_alone_differs(right, wrong), (p.id, right, wrong)


def _unit_alone_differs(right: str, wrong: str) -> bool:
    read, other = quantity(fold(right)), quantity(fold(wrong))
    return read is not None and other is not None and not read.unit and bool(other.unit)


def test_parametric_problems_depend_on_their_seed_alone() -> None:
    """No question twice, half of them Chinese, other numbers for another seed."""
    assert list(parametric(300, seed=3)) == DRAWN
    assert len({p.question for p in DRAWN}) == len(DRAWN) == 300
    assert sum(p.lang == "zh" for p in DRAWN) == pytest.approx(150, abs=15)
    assert {p.question for p in parametric(300, seed=4)} != {p.question for p in DRAWN}
    assert list(parametric(0, seed=3)) == []


# --- written responses ----------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("verdict", [Verdict.CORRECT, Verdict.INCORRECT])
def test_a_written_response_has_its_verdict_and_its_quote(
    problems: list[Problem], verdict: Verdict
) -> None:
    """The chain agrees with the label, its key sentence stands verbatim in the response."""
    seen = set()
    for name, graded in written(problems, verdict, 4):
        seen.add(name)
        assert graded.chain.verdict is verdict
        text = render_chain(graded.chain, ChainFormat.JUDGE_OF_CHAIN)
        parsed = parse_chain(text).chain
        assert parsed is not None
        assert parsed.verdict is verdict
        assert parsed.key_sentence is not None
        assert quotes_verbatim(parsed.key_sentence, graded.item.response), (name, text)
        assert graded.chain.answer_type is graded.item.answer_type
    assert seen == {p.id for p in problems}


@BOTH
def test_a_response_without_an_answer_is_labelled_invalid(problems: list[Problem]) -> None:
    """And its chain quotes nothing."""
    for _, graded in written(problems, Verdict.INVALID, 2):
        assert graded.chain.key_sentence is None
        assert graded.chain.answer is None
        assert (
            parse_chain(render_chain(graded.chain, ChainFormat.CROSS_LINGUAL)).chain == graded.chain
        )


@BOTH
@pytest.mark.parametrize("verdict", [Verdict.CORRECT, Verdict.INCORRECT])
def test_the_rules_hardly_ever_contradict_a_written_label(
    problems: list[Problem], verdict: Verdict
) -> None:
    """Where they decide, they agree; but a bare reference lets any unit pass."""
    made = [graded for _, graded in written(problems, verdict, 4)]
    judgements = RuleJudge().judge([graded.item for graded in made])
    decided = [j for j in judgements if j.verdict is not None]
    assert len(decided) > len(made) / 10
    wrong = [j for j in decided if j.verdict is not verdict]
    assert len(wrong) <= len(made) / 50, [(j.reason, j.chain) for j in wrong][:5]


def test_the_same_problem_is_written_the_same_way() -> None:
    """By problem, index and seed alone."""
    assert list(written(DRAWN[:20], Verdict.CORRECT, 2)) == list(
        written(DRAWN[:20], Verdict.CORRECT, 2)
    )


# --- real responses -------------------------------------------------------------------------------

CHOICE = "Which is the smallest?\nA. 0\nB. -3\nC. 2\nD. -1"


@pytest.mark.parametrize(
    ("reference", "response", "verdict", "kept"),
    [
        ("B", "Negative numbers are smaller.\nSo the answer is B.", Verdict.CORRECT, True),
        ("B", "The answer is C.", Verdict.INCORRECT, True),
        ("B", "The answer is C.", Verdict.CORRECT, False),
        ("B", "The answer is B.", Verdict.INCORRECT, False),
        ("B", "I do not know which.", Verdict.INCORRECT, False),
        ("B", "The answer is B.", Verdict.INVALID, False),
        ("18", "故答案是18元。", Verdict.CORRECT, True),
        ("the water cycle", "It is called the water cycle.", Verdict.CORRECT, True),
        ("the water cycle", "It is called erosion.", Verdict.INCORRECT, True),
    ],
)
def test_a_real_label_is_used_where_the_rules_do_not_contradict_it(
    reference: str, response: str, verdict: Verdict, kept: bool
) -> None:
    """A wrong label would teach a wrong comparison."""
    question = CHOICE if reference == "B" else "What is it?"
    example = Example(question=question, reference=(reference,), response=response, verdict=verdict)
    graded = from_label(example, rng_for("x", 0))
    assert (graded is not None) is kept
    if graded is not None:
        assert graded.chain.verdict is verdict
        assert graded.chain.key_sentence is not None
        assert quotes_verbatim(graded.chain.key_sentence, response)


@pytest.mark.parametrize(
    ("response", "lang"),
    [
        ("Let me see.\nThe answer is 42.", "en"),
        ("所以答案是 1,234。", "zh"),
        ("故选B。", "zh"),
        ("\\boxed{3/4}", "en"),
    ],
)
@pytest.mark.parametrize("verdict", [Verdict.CORRECT, Verdict.INCORRECT])
def test_another_reference_turns_the_verdict(response: str, lang: str, verdict: Verdict) -> None:
    """Neither question nor style tells it; only the comparison does."""
    item = Item(
        question=CHOICE if "选" in response else "多少？", reference=("x",), response=response
    )
    for index in range(30):
        graded = counterfactual(item, verdict, lang, "s", rng_for(str(index), 0))
        assert graded is not None
        assert graded.chain.verdict is verdict
        assert graded.item.response == response
        judged = RuleJudge().judge([graded.item])[0].verdict
        assert judged in (None, verdict)


def test_a_response_that_commits_to_nothing_gets_no_other_reference() -> None:
    """There is no answer of its own to compare with."""
    item = Item(
        reference=("x",), response="First 3, then 4.\nThat makes 7 in the end, or so it seems"
    )
    assert counterfactual(item, Verdict.CORRECT, "en", "s", rng_for("0", 0)) is None


def test_a_row_can_be_judged_from_its_prompt() -> None:
    """The reference stands in it, as an answer or as a worked solution."""
    for _, graded in written(BANK[:30], Verdict.CORRECT, 2):
        user = build_prompt(graded.item, PromptSettings())[-1].content
        assert graded.chain.reference_answer.rstrip("…")[:20] in " ".join(user.split())
