"""The metrics of a judge: counts that add up, undefined scores, intervals, pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.metrics import Difference, Interval, JudgeMetrics, JudgePair, compare_judges, graded
from eval.metrics import measured as metrics_of
from gradegpt.core.schema import Example, Judgement, Outcome, Verdict
from gradegpt.judges.statistics import numbered

LETTERS = {
    "c": (Outcome.JUDGED, Verdict.CORRECT),
    "i": (Outcome.JUDGED, Verdict.INCORRECT),
    "v": (Outcome.JUDGED, Verdict.INVALID),
    "-": (Outcome.UNDECIDED, None),
    "?": (Outcome.UNPARSED, None),
    "!": (Outcome.FAILED, None),
}


def examples(labels: str) -> list[Example]:
    return [
        Example(question=f"q{n}", reference="1", response="1", verdict=_verdict(letter))
        for n, letter in enumerate(labels)
    ]


def judgements(said: str) -> list[Judgement]:
    return [
        Judgement(id=str(n), outcome=LETTERS[s][0], verdict=LETTERS[s][1], method="model")
        for n, s in enumerate(said)
    ]


def measure(
    rows: Sequence[Example], said: Sequence[Judgement], bootstrap: int = 200
) -> JudgeMetrics:
    question = numbered(row.question for row in rows)
    return metrics_of(graded(question, [row.verdict for row in rows], said), bootstrap=bootstrap)


def measured(labels: str, said: str, bootstrap: int = 0) -> JudgeMetrics:
    return measure(examples(labels), judgements(said), bootstrap=bootstrap)


def pair_of(
    labels: str, one: str, other: str, bootstrap: int = 2000, same_question: bool = False
) -> JudgePair:
    """The judges a and b; a label that is a blank is unknown."""
    question = numbered("q" if same_question else str(n) for n in range(len(labels)))
    known = [None if letter == " " else _verdict(letter) for letter in labels]
    rows = [graded(question, known, judgements(said)) for said in (one, other)]
    return compare_judges(("a", rows[0]), ("b", rows[1]), bootstrap=bootstrap)


def sure(said: str, confidences: Sequence[float | None]) -> list[Judgement]:
    """Judgements with their confidences."""
    return [
        judgement.model_copy(update={"confidence": confidence})
        for judgement, confidence in zip(judgements(said), confidences, strict=True)
    ]


def _verdict(letter: str) -> Verdict:
    verdict = LETTERS[letter][1]
    assert verdict is not None
    return verdict


@pytest.mark.parametrize(
    ("labels", "said", "undefined"),
    [
        ("", "", {"coverage", "majority", "acc_outcome", "accuracy", "kappa", "f1"}),
        ("ci", "--", {"accuracy", "balanced_accuracy", "kappa", "precision", "recall"}),
        ("cc", "cc", {"balanced_accuracy", "kappa"}),
        ("ci", "ii", {"precision"}),
    ],
    ids=["no rows", "nothing judged", "one class only", "never yes"],
)
def test_what_is_not_defined_is_none_and_never_nan(
    labels: str, said: str, undefined: set[str]
) -> None:
    """A score of 0/0 is None."""
    scores = measured(labels, said).model_dump()
    assert all(scores[name] is None for name in undefined)
    assert not any(isinstance(v, float) and math.isnan(v) for v in scores.values())


rows = st.lists(st.tuples(st.sampled_from("civ"), st.sampled_from("civ-?!")), max_size=40)


@given(rows)
@settings(max_examples=30)
def test_counts_add_up(pairs: list[tuple[str, str]]) -> None:
    """Every row is in exactly one count."""
    m = measured("".join(p[0] for p in pairs), "".join(p[1] for p in pairs))
    assert m.n_items == len(pairs)
    assert m.n_items == m.n_judged + m.n_undecided + m.n_unparsed + m.n_failed


def test_the_bootstrap_is_deterministic_and_holds_the_estimate() -> None:
    """The same rows and seed give the same intervals, which contain the value and stay in range."""
    labels, said = "ccccciiiii" * 4, "cccciiiiic" * 4
    one, again = measured(labels, said, 500), measured(labels, said, 500)
    assert one == again
    assert one.intervals.keys() >= {"coverage", "kappa", "balanced_accuracy_all"}
    interval = one.intervals["accuracy"]
    assert one.accuracy is not None
    assert 0 <= interval.low < one.accuracy < interval.high <= 1


def test_all_right_is_not_certain() -> None:
    """A share of all or none has Wilson's limits, over the questions; one right row says little."""
    one = measured("c", "c", 100).intervals
    assert {*one} == {"coverage", "accuracy"}
    assert one["coverage"] == one["accuracy"]
    assert one["accuracy"].low == pytest.approx(0.207, abs=0.001)
    assert one["accuracy"].high == 1


def test_a_label_that_is_all_right_is_not_certain_in_balanced_accuracy() -> None:
    """Three of three right has the limit 3 / (3 + z2) = 0.439, and 1 - 0.561 sqrt(2) / 2 = 0.603.

    Of the other label half is right; kappa, of which resampling has no idea either, has no limits.
    """
    perfect = measured("ccciii", "ccciii", 200).intervals
    assert perfect["balanced_accuracy"].low == pytest.approx(0.603, abs=0.001)
    assert perfect["balanced_accuracy"].high == 1
    assert "kappa" not in perfect
    half = measured("ccc" + "i" * 40, "ccc" + "ci" * 20, 200)
    assert half.balanced_accuracy == 0.75
    # the share of 40 has about 0.5 ± 0.15, so 0.75 - sqrt(0.561² + 0.15²) / 2
    assert half.intervals["balanced_accuracy"].low == pytest.approx(0.46, abs=0.02)


def test_the_rows_of_one_question_count_once() -> None:
    """Half of the answers to one question are right: resampling it would never vary that."""
    rows = [row.model_copy(update={"question": "q"}) for row in examples("cccc")]
    interval = measure(rows, judgements("ccii")).intervals["accuracy"]
    assert (interval.low, interval.high) == pytest.approx((0.055, 0.945), abs=0.001)


def test_two_judges_are_compared_where_both_judged() -> None:
    """Rows 1-5 both judged; they differ on rows 2, 3 and 5, and a is right each time."""
    pair = pair_of("cicccc", "ciccc-", "cciciv")
    assert (pair.n_both, pair.n_differ) == (5, 3)
    assert (pair.a_right, pair.b_right) == (3, 0)
    assert pair.agreement == pytest.approx(2 / 5)
    assert (pair.first_only, pair.second_only) == (2, 1)
    # both yes 2, only a 2, only b 1, both no 0; yes a 4, b 3; no a 1, b 2:
    # kappa = 2 (2*0 - 2*1) / (3*1 + 4*2)
    assert pair.kappa == pytest.approx(-4 / 11)
    some = pair_of("ci c c", "ciccc-", "cciciv")
    assert (some.n_differ, some.a_right, some.b_right) == (3, 1, 0), "of the labelled rows"


def test_the_area_is_the_share_of_pairs_in_the_right_order() -> None:
    """Right at .9, .6 and (said wrong at .7) .3, wrong at .2 and .6: 4.5 of 6 pairs, one a tie.

    A score serves where there is no confidence.
    """
    rows = sure("cciic", (0.9, 0.6, 0.7, 0.8, 0.6))
    assert measure(examples("ccciv"), rows).auc == 0.75
    assert measured("ccciv", "cciic").auc is None
    scored = [row.model_copy(update={"confidence": None, "score": row.confidence}) for row in rows]
    assert measure(examples("ccciv"), scored).auc == 0.75
    assert measure(examples("ccccc"), rows).auc is None


def test_a_row_without_a_verdict_is_wrong_in_balanced_accuracy_over_all_rows() -> None:
    """Of four correct rows two are right, of two incorrect rows one; of those judged, 2/3 and 1."""
    m = measured("ccccii", "cci-i?", 200)
    assert m.balanced_accuracy == pytest.approx((2 / 3 + 1) / 2)
    assert m.balanced_accuracy_all == (2 / 4 + 1 / 2) / 2
    interval = m.intervals["balanced_accuracy_all"]
    assert interval.low < 0.5 < interval.high
    assert measured("ccccii", "------").balanced_accuracy_all == 0


def test_the_difference_is_over_all_rows_and_b_minus_a() -> None:
    """Right of labels ccccii: a 3 of 4 and 1 of 2, b, which leaves two open, 2 of 4 and 2 of 2."""
    pair = pair_of("ccccii", "ccciic", "cc--ii")
    assert pair.difference is not None
    assert pair.difference.value == pytest.approx((2 / 4 + 2 / 2) / 2 - (3 / 4 + 1 / 2) / 2)
    ends = pair.difference.interval
    assert ends.low < 0 < ends.high
    assert pair.in_words == (
        f"b better by 12.5 points (95 % {100 * ends.low:.1f} to {100 * ends.high:.1f}: "
        "may be chance)"
    )


letters = st.lists(
    st.tuples(st.sampled_from("ci"), st.sampled_from("ci-"), st.sampled_from("ci-?")),
    min_size=2, max_size=20,
)  # fmt: skip


@given(letters)
@settings(max_examples=30)
def test_a_difference_is_that_of_two_measures_and_swaps_its_sign(
    drawn: list[tuple[str, str, str]],
) -> None:
    """A judge does not differ from itself, at either end of its interval."""
    labels, one, other = ("".join(column) for column in zip(*drawn, strict=True))
    there, back = (pair_of(labels, *both, bootstrap=40) for both in ((one, other), (other, one)))
    itself = pair_of(labels, one, one, bootstrap=40).difference
    if len({*labels}) < 2:
        assert there.difference is itself is None
        return
    assert itself is not None
    assert (itself.value, itself.interval.low, itself.interval.high) == (0, 0, 0)
    if there.difference is None or back.difference is None:
        assert there.difference is back.difference is None
        return
    alone = [measured(labels, said).balanced_accuracy_all for said in (one, other)]
    assert None not in alone
    assert there.difference.value == pytest.approx((alone[1] or 0) - (alone[0] or 0))
    ends = there.difference.interval, back.difference.interval
    assert there.difference.value == -back.difference.value
    assert (ends[0].low, ends[0].high) == pytest.approx((-ends[1].high, -ends[1].low))


def test_a_difference_that_is_not_defined_is_none() -> None:
    """Without labels, for one question, for one label, and where it is the same in every draw."""
    for pair in (
        pair_of("    ", "cici", "ccii"), pair_of("cici", "cici", "ccii", same_question=True),
        pair_of("cccc", "cici", "ccii"), pair_of("cici", "cici", "cccc"),
    ):  # fmt: skip
        assert pair.difference is None
        assert pair.in_words == "–"
    assert pair_of("ccii", "cici", "cici").in_words == "no difference on these 4 questions"


@pytest.mark.parametrize(
    ("value", "low", "high", "words"),
    [
        (0.123, 0.041, 0.202, "b better by 12.3 points (95 % 4.1 to 20.2)"),
        (-0.123, -0.202, -0.041, "a better by 12.3 points (95 % 4.1 to 20.2)"),
        (-0.01, -0.02, 0.0, "a better by 1.0 points (95 % 0.0 to 2.0: may be chance)"),
        (0.0001, -0.012, 0.03, "no difference (95 % -1.2 to 3.0)"),
        (0.0, 0.0, 0.0, "no difference on these 6 questions"),
    ],
)
def test_a_difference_is_said_in_words(value: float, low: float, high: float, words: str) -> None:
    """The better judge comes first, and an interval that holds 0 is said to."""
    pair = pair_of("", "", "")
    found = Difference(value=value, interval=Interval(low=low, high=high), n_questions=6)
    assert pair.model_copy(update={"difference": found}).in_words == words


def test_the_bias_is_what_a_threshold_would_remove() -> None:
    """A judge that says No too easily: all wrong ones rejected, half of the right accepted."""
    rows, chances = examples("cccciiii"), (0.9, 0.8, 0.4, 0.3, 0.2, 0.2, 0.1, 0.35)
    judged = sure("cciiiiii", [max(p, 1 - p) for p in chances])
    found = measure(rows, judged, bootstrap=0)
    assert found.bias == -0.5
    assert found.even is not None
    assert 0.3 < found.even <= 0.4
    accepted, rejected = (sum(p >= found.even for p in half) for half in (chances[:4], chances[4:]))
    assert accepted == 4 - rejected
    assert measure(rows[:4], judged[:4], bootstrap=0).even is None
