"""Candidates: responses written to problems and real responses, with their chains."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from data_gen.candidates import Candidate, labels_agree, rng_for, texts_of, training_row
from data_gen.drawn import parametric
from data_gen.phrases import attacks
from data_gen.problems import Problem, bank
from data_gen.real import crossed, labelled
from data_gen.writer import Task, ending, synthetic
from gradegpt.chains.chain import SYSTEM, Chain, PromptSettings
from gradegpt.chains.grammar import stands_in
from gradegpt.core.schema import AnswerType, ChainFormat, Example, Item, Verdict
from gradegpt.judges.rules import RuleJudge

BANK = [*bank()]
DRAWN = list(parametric(120, seed=3))
BOTH = pytest.mark.parametrize("problems", [BANK, DRAWN], ids=["bank", "parametric"])
ANSWERED = pytest.mark.parametrize("verdict", [Verdict.CORRECT, Verdict.INCORRECT])


def written(
    problems: list[Problem], verdict: Verdict, count: int
) -> Iterator[tuple[Candidate, Chain]]:
    for problem, index in itertools.product(problems, range(count)):
        made = once(problem, verdict, index)
        assert made.chain is not None
        yield made, made.chain


@cache
def once(problem: Problem, verdict: Verdict, index: int) -> Candidate:
    """The responses that several tests share."""
    id_ = f"{problem.id}:{index}"
    return synthetic(problem, verdict, id_, rng_for(id_, 0))


# --- written responses ----------------------------------------------------------------------------


@BOTH
@ANSWERED
def test_the_rules_hardly_ever_contradict_a_written_label(
    problems: list[Problem], verdict: Verdict
) -> None:
    """Where the rules decide, they agree, apart from units that the reference does not have."""
    made = [candidate for candidate, _ in written(problems, verdict, 4)]
    assert sum("rules" in c.labels for c in made) > len(made) / 10
    wrong = [c for c in made if not labels_agree(c.labels)]
    assert len(wrong) <= len(made) / 40, [(c.item, c.labels) for c in wrong][:5]


def test_every_shape_of_an_answer_occurs_with_both_verdicts() -> None:
    """No kind of response predicts the verdict; those without an answer are of their own kinds."""
    found = {verdict: {c.pattern for c, _ in written(BANK, verdict, 4)} for verdict in Verdict}
    assert found[Verdict.CORRECT] == found[Verdict.INCORRECT]
    assert len(found[Verdict.CORRECT]) == 8
    assert len(found[Verdict.INVALID]) == 8
    assert not found[Verdict.CORRECT] & found[Verdict.INVALID]


@pytest.mark.parametrize("verdict", Verdict)
def test_a_chain_quotes_the_answer_where_one_is_given(verdict: Verdict) -> None:
    """The quote stands in the response, blanks aside, and has the answer in it."""
    for made, chain in written([*BANK, *DRAWN], verdict, 1):
        assert bool(chain.quotes) is (verdict is not Verdict.INVALID)
        for quote in chain.quotes:
            assert "".join(quote.split()) in "".join(made.item.response.split())
            assert stands_in(chain.answer or "", quote), (chain.answer, quote)


def test_responses_come_in_the_other_language_too() -> None:
    """There are English responses to Chinese questions, and the reverse."""
    pairs = Counter((c.lang, c.response_lang) for c, _ in written(DRAWN, Verdict.CORRECT, 4))
    total = sum(pairs.values())
    assert 0.03 * total < pairs["zh", "en"] < 0.1 * total
    assert 0.03 * total < pairs["en", "zh"] < 0.1 * total


def test_a_response_that_breaks_off_does_not_hold_the_reference() -> None:
    """Not even one of a digit, which is soon written by chance."""
    adds = Problem(
        id="t-2", lang="en", question="Compute 3 + 4.", reference="7", hard_negatives=("8",),
        answer_type=AnswerType.NUMBER,
    )  # fmt: skip
    for index in range(60):
        made = synthetic(adds, Verdict.INVALID, f"{index}", rng_for(f"{index}", 0))
        assert made.pattern != "cut_off" or "7" not in made.item.response


@pytest.mark.parametrize("chinese", [True, False], ids=["zh", "en"])
def test_attacks_alone_are_never_correct_by_the_rules(chinese: bool) -> None:
    """An empty answer, an opening phrase or an injection is never correct, for any reference."""
    words = attacks(chinese)
    for reference in ("5", "B", "x=3", "True", "Yes", "对", "increases"):
        quoted = [q.format(reference) for q in words.quotes]
        for text in (*words.stubs, *words.instructions, *words.fake_judgements, *words.delimiters):
            judged = RuleJudge().judge([Item(reference=(reference,), response=text)])[0]
            assert judged.verdict is not Verdict.CORRECT, (reference, text)
        assert all(reference in q for q in quoted)


# --- real responses -------------------------------------------------------------------------------

CHOICE = "Which is the smallest?\nA. 0\nB. -3\nC. 2\nD. -1"


@pytest.mark.parametrize(
    ("reference", "response", "verdict", "quote", "answer"),
    [
        ("B", "Three are negative.\nSo the answer is B.", True, "So the answer is B.", "B"),
        ("B", "The answer is C.", False, "The answer is C.", "C"),
        ("18", "故答案是18元。", True, "故答案是18元。", "18元"),
        ("12", "So they ate 4 x 3 = 12.", True, "So they ate 4 x 3 = 12.", "12"),
        ("osmosis", "It is osmosis.", True, "It is osmosis.", "It is osmosis"),
        ("osmosis", "It is called erosion.", False, None, None),
        ("osmosis", "I'm sorry, I cannot answer this question.", False, None, None),
    ],
)
def test_the_evidence_of_the_rules_is_the_chain_and_nothing_is_guessed(
    reference: str, response: str, verdict: bool, quote: str | None, answer: str | None
) -> None:
    """Where they decide as the label does; an answer that nothing located has its tag alone."""
    example = Example(
        question=CHOICE if reference == "B" else "What is it?", reference=(reference,),
        response=response, verdict=Verdict.CORRECT if verdict else Verdict.INCORRECT,
        labelled_by="two teachers",
    )  # fmt: skip
    made = labelled(example, {})
    assert made.chain is not None
    assert (made.verdict is Verdict.CORRECT) is verdict
    assert labels_agree(made.labels)
    assert made.chain.key_sentence == quote
    assert (made.chain.answer or "").rstrip(".") == (answer or "")


@pytest.mark.parametrize("chinese", [True, False])
def test_parts_are_sometimes_written_a_line_each(chinese: bool) -> None:
    """The quote is then all of the numbered lines, with the answer in them."""
    parts, kind = "(1) 3; (2) 5", AnswerType.MULTI_PART
    problem = Problem(
        id="x", lang="zh", answer_type=kind, question="?", reference=parts, hard_negatives=("3",)
    )
    made = [ending(Task(random.Random(n), problem, chinese), parts) for n in range(60)]
    lines = [one for one in made if "\n" in one.sentence]
    assert 5 < len(lines) < 40
    assert all(stands_in(one.answer, one.sentence) for one in lines)


# --- labels ---------------------------------------------------------------------------------------

YES, WRONG, NOTHING = Verdict.CORRECT, Verdict.INCORRECT, Verdict.INVALID


@pytest.mark.parametrize(
    ("labels", "agreed"),
    [
        ({}, None),
        ({"rules": YES}, True),
        ({"construction": YES, "rules": YES, "teacher": YES}, True),
        ({"construction": WRONG, "rules": NOTHING}, True),
        ({"construction": YES, "rules": NOTHING}, False),
        ({"people": WRONG, "rules": WRONG, "teacher": YES}, False),
    ],
)
def test_labels_must_agree(labels: dict[str, Verdict], agreed: bool | None) -> None:
    """Labels agree on correct or not correct: incorrect and invalid are both <No>."""
    assert labels_agree(labels) is agreed


def test_answers_to_one_question_are_compared_with_a_correct_one() -> None:
    """The verdict is kept, and the new reference is never part of the answer itself."""
    given = [("Jane Austen", True), ("It was Austen.", True), ("Emily Brontë", False)]
    examples = [
        Example(
            id=f"{n}", question="Who wrote Emma?", reference=("Austen",), response=response,
            verdict=Verdict.CORRECT if right else Verdict.INCORRECT, source="qa",
        )
        for n, (response, right) in enumerate(given)
    ]  # fmt: skip
    made = [*crossed(examples, 0)]
    assert [e.verdict for e in made] == [e.verdict for e in examples]
    assert made[0].reference == ("It was Austen.",)
    assert made[1].reference == ("Jane Austen",)
    assert {e.source for e in made} == {"qa_crossed"}


def test_a_context_stays_with_its_item_and_is_in_its_prompt() -> None:
    """The context is kept in labelled rows."""
    example = Example(
        question="How long does it take?", context="It is 12 km at 3 km/h.", reference=("4 h",),
        response="The answer is 4 hours.", verdict=Verdict.CORRECT, lang="en",
    )  # fmt: skip
    made = labelled(example, {})
    assert texts_of(made.item) == (example.context, *texts_of(made.item)[1:])
    row = training_row(made, {ChainFormat.OUTCOME: 1.0}, PromptSettings(), 0)
    assert row.prompt[0].content == SYSTEM[ChainFormat.OUTCOME, "last"]
    assert "<context>\nIt is 12 km at 3 km/h.\n</context>" in row.prompt[-1].content


def test_where_the_tag_is_first_one_prompt_asks_for_it() -> None:
    """The judge asks for it by the prompt of the chain, whether or not one is known."""
    example = Example(
        question="Who wrote it?", reference=("Austen",), response="A lady of her day.",
        verdict=Verdict.CORRECT, lang="en",
    )  # fmt: skip
    formats = {ChainFormat.CROSS_LINGUAL: 0.9, ChainFormat.OUTCOME: 0.1}
    made = labelled(example, {})
    row = training_row(made, formats, PromptSettings(verdict="first"), 0, {"twins": 3, "no": ""})
    assert row.prompt[0].content == SYSTEM[ChainFormat.CROSS_LINGUAL, "first"]
    assert row.completion[0].content == "<Yes>"
    assert row.meta["twins"] == 3
    assert "no" not in row.meta
