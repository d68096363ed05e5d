"""Candidates: responses written to problems and real responses, with their chains."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_gen.candidates import (
    Candidate,
    formats_of,
    labels_agree,
    rng_for,
    texts_of,
    training_row,
)
from data_gen.generators import parametric
from data_gen.problems import Problem, bank
from data_gen.real import crossed, labelled, unlabelled, without_restated_answer
from data_gen.synthetic import synthetic
from data_gen.writer.attacks import attacks
from data_gen.writer.ending import ending
from data_gen.writer.task import Task
from gradegpt.chains.chain import (
    Chain,
    PromptSettings,
    parse_chain,
    render_chain,
)
from gradegpt.chains.quote import part_runs, quotes_verbatim
from gradegpt.core.schema import AnswerType, ChainFormat, Example, Item, Verdict
from gradegpt.judges.rules import RuleJudge

BANK = [*bank()]
DRAWN = list(parametric(120, seed=3))
BOTH = pytest.mark.parametrize("problems", [BANK, DRAWN], ids=["bank", "parametric"])
ANSWERED = pytest.mark.parametrize("verdict", [Verdict.CORRECT, Verdict.INCORRECT])


def written(
    problems: list[Problem], verdict: Verdict, count: int
) -> Iterator[tuple[Problem, Candidate, Chain]]:
    for problem, index in itertools.product(problems, range(count)):
        made = once(problem, verdict, index)
        if made is not None:
            assert made.chain is not None
            yield problem, made, made.chain


@cache
def once(problem: Problem, verdict: Verdict, index: int) -> Candidate | None:
    """The responses that several tests share."""
    return afresh(problem, verdict, index)


def afresh(problem: Problem, verdict: Verdict, index: int) -> Candidate | None:
    id_ = f"{problem.id}:{index}"
    return synthetic(problem, verdict, id_, rng_for(id_, 0))


# --- written responses ----------------------------------------------------------------------------


@BOTH
@ANSWERED
def test_a_written_response_has_its_verdict_and_its_quote(
    problems: list[Problem], verdict: Verdict
) -> None:
    """The chain agrees with the label, and its key sentence is verbatim in the response."""
    seen = set()
    for problem, made, chain in written(problems, verdict, 4):
        seen.add(problem.id)
        assert chain.verdict is verdict is made.labels["construction"]
        parsed = parse_chain(render_chain(chain, ChainFormat.JUDGE_OF_CHAIN)).chain
        assert parsed is not None
        assert parsed.verdict is verdict
        assert parsed.key_sentence is not None
        assert quotes_verbatim(parsed.key_sentence, made.item.response), made.item.response
        assert chain.answer_type is made.item.answer_type is problem.answer_type
    assert len(seen) >= len(problems) * 0.97


@BOTH
def test_a_response_without_an_answer_is_labelled_invalid(problems: list[Problem]) -> None:
    """The chain of such a response quotes nothing."""
    for _, _, chain in written(problems, Verdict.INVALID, 2):
        assert chain.key_sentence is None
        assert chain.answer is None
        assert parse_chain(render_chain(chain, ChainFormat.CROSS_LINGUAL)).chain == chain


@BOTH
@ANSWERED
def test_the_rules_hardly_ever_contradict_a_written_label(
    problems: list[Problem], verdict: Verdict
) -> None:
    """Where the rules decide, they agree, apart from units that the reference does not have."""
    made = [candidate for _, candidate, _ in written(problems, verdict, 4)]
    assert sum("rules" in c.labels for c in made) > len(made) / 10
    wrong = [c for c in made if not labels_agree(c.labels)]
    assert len(wrong) <= len(made) / 40, [(c.item, c.labels) for c in wrong][:5]


def test_every_pattern_of_the_writer_occurs_with_both_verdicts() -> None:
    """No kind of response predicts the verdict."""
    found = {
        verdict: Counter(c.pattern for _, c, _ in written(BANK, verdict, 8)) for verdict in Verdict
    }
    shared = {"bare", "candidates_then_choice", "answered_then_loops", "answered_after_excuse"}
    attacked = {f"answered_{kind}" for kind in ("instruction", "fake_judgement", "delimiter")}
    assert shared | attacked <= found[Verdict.CORRECT].keys() & found[Verdict.INCORRECT].keys()
    assert {"revised_to_right", "right_answer_wrong_process"} <= found[Verdict.CORRECT].keys()
    assert {
        "numerical_discrepancy", "missing_component", "structural_mismatch", "wrong_option",
        "wrong_option_set", "contradictory_conclusion", "revised_to_wrong", "perception_error",
        "calculation_error", "answer_to_another_question",
    } <= found[Verdict.INCORRECT].keys()  # fmt: skip
    assert {
        "refusal", "cut_off", "loop", "no_commitment", "attack:stub", "attack:quoted_reference",
        "attack:instruction", "attack:fake_judgement", "attack:delimiter",
    } == found[Verdict.INVALID].keys()  # fmt: skip


def test_responses_come_in_the_other_language_too() -> None:
    """There are English responses to Chinese questions, and the reverse."""
    pairs = Counter((c.lang, c.response_lang) for _, c, _ in written(DRAWN, Verdict.CORRECT, 4))
    total = sum(pairs.values())
    assert 0.03 * total < pairs["zh", "en"] < 0.1 * total
    assert 0.03 * total < pairs["en", "zh"] < 0.1 * total


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
    ("reference", "response", "verdict", "agreed"),
    [
        ("B", "Negative numbers are smaller.\nSo the answer is B.", Verdict.CORRECT, True),
        ("B", "The answer is C.", Verdict.INCORRECT, True),
        ("18", "故答案是18元。", Verdict.CORRECT, True),
        ("the water cycle", "It is called the water cycle.", Verdict.CORRECT, True),
        ("the water cycle", "It is called erosion.", Verdict.INCORRECT, True),
        ("B", "I'm sorry, I cannot answer this question.", Verdict.INCORRECT, True),
    ],
)
def test_a_real_label_makes_a_chain(
    reference: str, response: str, verdict: Verdict, agreed: bool
) -> None:
    """The chain quotes the sentence with the answer, or nothing if there is no answer."""
    question = CHOICE if reference == "B" else "What is it?"
    example = Example(
        question=question, reference=(reference,), response=response, verdict=verdict, lang="en",
        labelled_by="two teachers",
    )  # fmt: skip
    made = labelled(example, rng_for("x", 0))
    assert made is not None
    assert made.chain is not None
    assert labels_agree(made.labels) is agreed
    assert made.labels["people"] is verdict
    assert (made.chain.verdict is Verdict.CORRECT) is (verdict is Verdict.CORRECT)
    if made.chain.key_sentence is not None:
        assert quotes_verbatim(made.chain.key_sentence, response)


@pytest.mark.parametrize(
    ("response", "kept"),
    [
        ("4*2 = <<4*2=8>>8 eggs\nShe has 8-3 = <<8-3=5>>5 left.\nA: 5", "<<8-3=5>>5 left."),
        ("He sells 3 of 20.\nSo he keeps $17.\n\n17", "So he keeps $17."),
        ("She has 8-3 = 5 left.\nA: 6", None),
        ("She has 8-3 = 5 left of 8.\nA: 5", None),
        ("She has 8-3 = 5 left.\nHalf of them are 5/2", None),
        ("She has 8-3 = 5 left.\nAnd so it is that they find themselves with 5", None),
        ("So he keeps $17.", None),
    ],
)
def test_a_last_line_that_restates_the_result_is_removed(response: str, kept: str | None) -> None:
    """It is removed where the last step ends in the same result, unless it says more."""
    steps = without_restated_answer(response)
    assert steps == (response.partition(kept)[0] + kept if kept else None)


@pytest.mark.parametrize(
    ("reference", "verdict"), [("5", Verdict.CORRECT), ("6", Verdict.INCORRECT)]
)
def test_steps_without_the_restated_result_are_quoted(reference: str, verdict: Verdict) -> None:
    """The chain quotes the end of the steps, even where the rules would not decide."""
    steps = "4*2 = <<4*2=8>>8 eggs\nShe has 8-3 = <<8-3=5>>5 left."
    example = Example(
        question="How many?", reference=(reference,), response=f"{steps}\nA: 5", verdict=verdict
    )
    made = [labelled(example, rng_for("x", seed)) for seed in range(20)]
    chains = [m.chain for m in made if m.chain and m.item.response == steps]
    assert 0 < len(chains) < len(made)
    for chain in chains:
        assert (chain.key_sentence, chain.answer, chain.verdict) == (
            "She has 8-3 = <<8-3=5>>5 left.", "5", verdict,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("reference", "response", "quote", "answer"),
    [
        ("B A D", "(1) B\n(2) A\n(3) D", "(1) B (2) A (3) D", "B A D"),
        ("B D", "1.【答案】B\n\n2.【答案】C", "1.【答案】B 2.【答案】C", "B C"),
        ("(1) 3; (2) 5", "So:\n(1) x = 3\n(2) y = 5", "(1) x = 3 (2) y = 5", "(1) x = 3 (2) y = 5"),
    ],
)  # fmt: skip
def test_parts_on_lines_of_their_own_are_quoted_together(
    reference: str, response: str, quote: str, answer: str
) -> None:
    """The quote has all lines, since one line would not be the whole answer."""
    verdict = Verdict.INCORRECT if "C" in answer else Verdict.CORRECT
    example = Example(question="", reference=(reference,), response=response, verdict=verdict)
    chain = labelled(example, rng_for("x", 0)).chain
    assert chain is not None
    assert (chain.key_sentence, chain.answer) == (quote, answer)
    assert quotes_verbatim(quote, response)


LONG = "It had been, as all agreed at the time, " + "a very long, long day. "[:-2] * 6 + ","


@pytest.mark.parametrize(
    ("references", "response", "quote", "compared", "answer"),
    [
        (("12",), "So they ate 4 x 3 = 12 of them.", "So they ate 4 x 3 = 12 of them.", "12", "12"),
        (
            ("the frontal lobe",), "It is well known. The frontal lobe does that. Thanks.",
            "The frontal lobe does that.", "the frontal lobe", "The frontal lobe",
        ),
        (
            ("copper (Cu)", "gold (Au)"), "Mostly gold, or so.\nThat is all.",
            "Mostly gold, or so.", "gold (Au)", "Mostly gold",
        ),
        (
            ("it rained",), f"{LONG} that it rained, and how.", "that it rained, and how.",
            "it rained", "it rained",
        ),
    ],
)  # fmt: skip
def test_the_answer_of_a_real_response(
    references: tuple[str, ...], response: str, quote: str, compared: str, answer: str
) -> None:
    """The result of a sum, one sentence or its clauses, and the nearest accepted reference."""
    example = Example(
        question="", reference=references, response=response, verdict=Verdict.CORRECT,
        labelled_by="two teachers",
    )  # fmt: skip
    chain = labelled(example, rng_for("x", 0)).chain
    assert chain is not None
    assert (chain.key_sentence, chain.reference_answer) == (quote, compared)
    assert chain.answer is not None
    assert chain.answer.startswith(answer.rstrip("."))


def test_the_answers_to_several_questions_are_written_as_in_answer_keys() -> None:
    """They are one on each line or in groups of five; the chain writes them as the prompt does."""
    problem = Problem(
        id="x", lang="zh", answer_type=AnswerType.MULTIPLE_CHOICE, question="完成下列各题。",
        reference="C A D C B D C B B A", solution=(), hard_negatives=("C A D C B D C B B B",),
    )  # fmt: skip
    shown = set()
    for seed in range(40):
        made = synthetic(problem, Verdict.CORRECT, "x", rng_for("x", seed))
        assert made is not None
        assert made.chain is not None
        (reference,) = made.item.reference
        assert made.chain.reference_answer == " ".join(reference.split())
        shown.add(reference)
    assert {"CADCB DCBBA", "\n".join("CADCBDCBBA"), "C A D C B D C B B A"} == shown


@pytest.mark.parametrize("chinese", [True, False])
@pytest.mark.parametrize(
    ("reference", "kind"),
    [("B A D", AnswerType.MULTIPLE_CHOICE), ("(1) 3; (2) 5", AnswerType.MULTI_PART)],
)
def test_parts_are_sometimes_written_a_line_each(
    reference: str, kind: AnswerType, chinese: bool
) -> None:
    """The quote is then a run of numbered lines with all parts."""
    problem = Problem(
        id="x",
        lang="zh",
        answer_type=kind,
        question="?",
        reference=reference,
        hard_negatives=("7",),
    )
    seen = 0
    for n in range(60):
        closing = ending(Task(random.Random(n), problem, chinese), reference)
        if "\n" in closing.sentence:
            seen += 1
            runs = part_runs(closing.sentence.split("\n"))
            assert [" ".join(run) for run in runs] == [closing.sentence.replace("\n", " ")]
            if kind is AnswerType.MULTIPLE_CHOICE:
                assert closing.answer == reference
    assert 5 < seen < 40


@pytest.mark.parametrize(
    ("response", "verdict"),
    [("The answer is B.", Verdict.CORRECT), ("The answer is C.", Verdict.INCORRECT), ("Hm.", None)],
)
def test_an_ungraded_answer_is_graded_by_the_rules_or_stays_unlabelled(
    response: str, verdict: Verdict | None
) -> None:
    """Without another label, the candidate has the rules' verdict or no chain."""
    made = unlabelled(
        Item(question=CHOICE, reference=("B",), response=response), "en", "s", rng_for("x", 0)
    )
    assert made is not None
    assert made.verdict is verdict
    assert made.labels == ({} if verdict is None else {"rules": verdict})


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


@given(st.text(max_size=40), st.none() | st.text(alphabet="abc ", min_size=1, max_size=9))
def test_no_chinese_quote_without_a_gloss_is_cross_lingual(quote: str, gloss: str | None) -> None:
    """Without a gloss the other chain formats are available."""
    chain = Chain(
        verdict=WRONG, key_sentence=f"答案{quote}", gloss=gloss, reference_answer="1",
        answer_type=AnswerType.NUMBER, answer="2",
    )  # fmt: skip
    able = formats_of(chain, dict.fromkeys(ChainFormat, 1.0))
    assert (ChainFormat.CROSS_LINGUAL in able) is bool(gloss)
    assert able.keys() >= {*ChainFormat} - {ChainFormat.CROSS_LINGUAL}


@pytest.mark.parametrize("verdict", [Verdict.CORRECT, Verdict.INCORRECT])
@pytest.mark.parametrize(
    ("question", "reference", "response", "quote", "answer"),
    [
        (
            "Who wrote Emma?", "the novelist Jane Austen",
            "Emma is a novel of 1815. Its author is Jane Eyre, I think. It was well received.",
            "Its author is Jane Eyre, I think.", "Its author is Jane Eyre",
        ),
        (
            "What is the capital of Peru?", "Lima", "The capital of Peru is Cusco. It is old.",
            "The capital of Peru is Cusco.", "Cusco",
        ),
        ("左慈字什么？", "元放", "左慈是道士。字元化，庐江人。", "字元化，庐江人。", "字元化"),
    ],
)  # fmt: skip
def test_free_text_quotes_the_nearest_sentence_whatever_the_verdict(
    verdict: Verdict, question: str, reference: str, response: str, quote: str, answer: str
) -> None:
    """It quotes the sentence with most words of the reference and compares a phrase of it."""
    example = Example(
        question=question, reference=(reference,), response=response, verdict=verdict,
        labelled_by="two teachers",
    )  # fmt: skip
    chain = labelled(example, rng_for("x", 0)).chain
    assert chain is not None
    assert (chain.key_sentence, chain.answer, chain.gloss) == (quote, answer, None)


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


def test_a_wrong_answer_with_the_words_of_the_reference_has_its_tag_alone() -> None:
    """No chain states that an answer differs from an equal text."""
    chain = Chain(
        verdict=Verdict.INCORRECT, key_sentence="It is Paris.", reference_answer="Paris",
        answer="Paris",
    )  # fmt: skip
    assert [*formats_of(chain, dict.fromkeys(ChainFormat, 1.0))] == [ChainFormat.OUTCOME]


def test_a_context_stays_with_its_item_and_is_in_its_prompt() -> None:
    """The context is kept in labelled rows."""
    example = Example(
        question="How long does it take?", context="It is 12 km at 3 km/h.", reference=("4 h",),
        response="The answer is 4 hours.", verdict=Verdict.CORRECT, lang="en",
    )  # fmt: skip
    made = labelled(example, rng_for("x", 0))
    assert texts_of(made.item) == (example.context, *texts_of(made.item)[1:])
    row = training_row(made, {ChainFormat.OUTCOME: 1.0}, PromptSettings(), 0)
    assert "<context>\nIt is 12 km at 3 km/h.\n</context>" in row.prompt[-1].content
