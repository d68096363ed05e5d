"""Agreement measured: by hand arithmetic, and as properties."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.metrics import BOOTSTRAPPED, Metrics, compare_judges, measure
from gradegpt.schema import Example, Judgement, Outcome, Verdict

LETTERS = {
    "c": (Outcome.JUDGED, Verdict.CORRECT),
    "i": (Outcome.JUDGED, Verdict.INCORRECT),
    "v": (Outcome.JUDGED, Verdict.INVALID),
    "-": (Outcome.UNDECIDED, None),
    "?": (Outcome.UNPARSED, None),
    "!": (Outcome.FAILED, None),
}


def examples(labels: str, questions: Sequence[int] | None = None) -> list[Example]:
    numbers = questions or range(len(labels))
    return [
        Example(question=f"q{n}", reference="1", response="1", verdict=_verdict(letter))
        for letter, n in zip(labels, numbers, strict=True)
    ]


def judgements(said: str) -> list[Judgement]:
    return [
        Judgement(id=str(n), outcome=LETTERS[s][0], verdict=LETTERS[s][1], method="model")
        for n, s in enumerate(said)
    ]


def measured(labels: str, said: str, bootstrap: int = 0) -> Metrics:
    return measure(examples(labels), judgements(said), bootstrap=bootstrap)


def _verdict(letter: str) -> Verdict:
    verdict = LETTERS[letter][1]
    assert verdict is not None
    return verdict


def test_every_score_of_a_small_table_is_what_a_pencil_gives() -> None:
    """Labels cccccciiiv: 6 yes, 4 no. Judged 9: tp 4, fn 1, fp 1, tn 3; one row undecided."""
    m = measured("cccccciiiv", "cccci-ciiv")
    assert (m.true_positive, m.false_negative, m.false_positive, m.true_negative) == (4, 1, 1, 3)
    assert m.coverage == 9 / 10
    assert m.majority == 6 / 10
    assert m.acc_outcome == 70.0  # 7 right of all 10, in percent
    assert m.accuracy == 7 / 9
    assert m.recall == 4 / 5
    assert m.precision == 4 / 5
    assert m.f1 == 8 / 10
    assert m.balanced_accuracy == pytest.approx((4 / 5 + 3 / 4) / 2)
    # p_o = 7/9; p_e = (5*5 + 4*4) / 81 = 41/81; kappa = (63 - 41) / (81 - 41) = 22/40
    assert m.kappa == pytest.approx(22 / 40)
    # (4*3 - 1*1) / sqrt(5 * 4 * 5 * 4) = 11/20
    assert m.mcc == pytest.approx(11 / 20)


def test_an_invalid_label_and_an_incorrect_verdict_agree_in_the_two_way_reading() -> None:
    """Invalid counts as incorrect, in labels and in verdicts."""
    assert measured("viv", "ivc").true_negative == 2


def test_silence_lowers_acc_outcome_and_not_accuracy() -> None:
    """What was not judged is not right, whatever the reason."""
    m = measured("cccc", "c-?!")
    assert m.accuracy == 1.0
    assert m.acc_outcome == 25.0
    assert (m.n_undecided, m.n_unparsed, m.n_failed) == (1, 1, 1)


@pytest.mark.parametrize(
    ("labels", "said", "undefined"),
    [
        ("", "", {"coverage", "majority", "acc_outcome", "accuracy", "kappa", "mcc", "f1"}),
        ("ci", "--", {"accuracy", "balanced_accuracy", "kappa", "mcc", "precision", "recall"}),
        ("cc", "cc", {"balanced_accuracy", "kappa", "mcc"}),
        ("ci", "ii", {"precision", "mcc"}),
    ],
    ids=["no rows", "nothing judged", "one class only", "never yes"],
)
def test_what_is_not_defined_is_none_and_never_nan(
    labels: str, said: str, undefined: set[str]
) -> None:
    """0/0 has no value, and says so."""
    scores = measured(labels, said).model_dump()
    assert all(scores[name] is None for name in undefined)
    assert not any(isinstance(v, float) and math.isnan(v) for v in scores.values())


def test_a_constant_judge_has_kappa_zero_and_no_correlation() -> None:
    """It agrees exactly as often as chance would; a correlation with a constant is not defined."""
    m = measured("ccci", "cccc")
    assert m.kappa == 0.0
    assert m.mcc is None


rows = st.lists(st.tuples(st.sampled_from("civ"), st.sampled_from("civ-?!")), max_size=40)


@given(rows)
def test_counts_add_up(pairs: list[tuple[str, str]]) -> None:
    """Every row ends in exactly one place."""
    m = measured("".join(p[0] for p in pairs), "".join(p[1] for p in pairs))
    assert m.n_items == len(pairs)
    assert m.n_items == m.n_judged + m.n_undecided + m.n_unparsed + m.n_failed


@given(st.text("civ", min_size=1, max_size=40))
def test_a_judge_that_repeats_the_labels_is_perfect(labels: str) -> None:
    """Agreement with oneself is 1 wherever it is defined."""
    m = measured(labels, labels)
    assert (m.accuracy, m.acc_outcome, m.coverage) == (1.0, 100.0, 1.0)
    assert {m.kappa, m.mcc, m.balanced_accuracy} <= {1.0, None}


@given(st.lists(st.tuples(st.sampled_from("ci"), st.sampled_from("ci-?!")), max_size=40))
def test_swapping_the_classes_keeps_what_treats_them_alike(pairs: list[tuple[str, str]]) -> None:
    """Accuracy, kappa and the correlation do not care which class is positive."""
    swap = str.maketrans("ci", "ic")
    labels, said = "".join(p[0] for p in pairs), "".join(p[1] for p in pairs)
    one, other = measured(labels, said), measured(labels.translate(swap), said.translate(swap))
    for name in ("accuracy", "balanced_accuracy", "kappa", "mcc", "acc_outcome", "majority"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), nan_ok=False)


def test_the_bootstrap_is_deterministic_and_holds_the_estimate() -> None:
    """Same rows, same seed, same intervals; each lies around its value and inside its range."""
    labels, said = "ccccciiiii" * 4, "cccciiiiic" * 4
    one, again = measured(labels, said, 500), measured(labels, said, 500)
    assert one == again
    assert set(one.intervals) == set(BOOTSTRAPPED)
    interval = one.intervals["accuracy"]
    assert one.accuracy is not None
    assert 0 <= interval.low < one.accuracy < interval.high <= 1


def test_answers_to_one_question_are_resampled_together() -> None:
    """Ten copies of each of four rows tell no more than the four: the interval stays as wide."""
    apart = measured("cicc", "ciii", 2000).intervals["accuracy"]
    copies = measure(
        examples("cicc" * 10, [0, 1, 2, 3] * 10), judgements("ciii" * 10), bootstrap=2000
    )
    assert copies.n_questions == 4
    assert copies.intervals["accuracy"] == apart


def test_one_question_alone_has_no_interval() -> None:
    """Resampling one question says nothing."""
    assert measured("c", "c", 100).intervals == {}


def test_two_judges_are_compared_where_both_judged() -> None:
    """Rows 1-5 both judged; they differ on rows 2, 3 and 5, and a is right each time."""
    pair = compare_judges(
        examples("cicccc"), ("a", judgements("ciccc-")), ("b", judgements("cciciv"))
    )
    assert (pair.n_both, pair.n_differ) == (5, 3)
    assert (pair.a_right, pair.b_right) == (3, 0)
    assert pair.agreement == pytest.approx(2 / 5)
    # both yes 2, only a 2, only b 1, both no 0; yes a 4, b 3; no a 1, b 2:
    # kappa = 2 (2*0 - 2*1) / (3*1 + 4*2)
    assert pair.kappa == pytest.approx(-4 / 11)
