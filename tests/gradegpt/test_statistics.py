"""Agreement: scores by hand arithmetic and as properties, the interval by its coverage."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, mannwhitneyu

from gradegpt.core.schema import Outcome, Verdict
from gradegpt.judges.statistics import (
    Cells,
    Limits,
    areas,
    clopper_pearson,
    column,
    drawn_weights,
    estimate,
    jeffreys,
    numbered,
    ratio,
    resampled,
    says_yes,
    score,
    table,
    unjudged_as_wrong,
    wilson,
)

LETTERS = {
    "c": (Outcome.JUDGED, Verdict.CORRECT),
    "i": (Outcome.JUDGED, Verdict.INCORRECT),
    "v": (Outcome.JUDGED, Verdict.INVALID),
    "-": (Outcome.UNDECIDED, None),
    "?": (Outcome.UNPARSED, None),
    "!": (Outcome.FAILED, None),
}


def cells_of(labels: str, said: str, questions: Sequence[int] | None = None) -> Cells:
    """Rows written as letters, each with its question."""
    right = [says_yes(LETTERS[letter][1]) for letter in labels]
    results = [column(*LETTERS[letter]) for letter in said]
    return table(right, results, numbered(map(str, questions or range(len(labels)))))


def scored(labels: str, said: str) -> dict[str, float]:
    """Every score over all rows."""
    return {name: float(v) for name, v in score(cells_of(labels, said).sum(axis=0)).items()}


rows = st.lists(st.tuples(st.sampled_from("civ"), st.sampled_from("civ-?!")), max_size=40)


def test_every_score_of_a_small_table_equals_hand_arithmetic() -> None:
    """Labels cccccciiiv: 6 yes, 4 no. Judged 9: tp 4, fn 1, fp 1, tn 3; one row undecided."""
    cells = cells_of("cccccciiiv", "cccci-ciiv").sum(axis=0)
    assert cells.tolist() == [[3, 1, 0, 0, 0], [1, 4, 1, 0, 0]]
    assert {name: float(value) for name, value in score(cells).items()} == {
        "coverage": 9 / 10,
        "majority": 6 / 10,
        "acc_outcome": 70.0,  # 7 right of all 10, in percent
        "accuracy": 7 / 9,
        "recall": 4 / 5,
        "precision": 4 / 5,
        "f1": 8 / 10,
        "balanced_accuracy": pytest.approx((4 / 5 + 3 / 4) / 2),
        # p_o = 7/9; p_e = (5*5 + 4*4) / 81 = 41/81; kappa = (63 - 41) / (81 - 41) = 22/40
        "kappa": pytest.approx(22 / 40),
    }


def test_unjudged_rows_can_be_counted_as_the_wrong_verdict() -> None:
    """In both classes: one of two correct and one of two incorrect rows are right."""
    strict = unjudged_as_wrong(cells_of("ccii", "c-v?", [0, 0, 1, 1]))
    assert strict.tolist() == [[[0] * 5, [1, 1, 0, 0, 0]], [[1, 1, 0, 0, 0], [0] * 5]]
    found = score(strict.sum(axis=0))
    assert (found["accuracy"], found["balanced_accuracy"], found["coverage"]) == (0.5, 0.5, 1.0)


@given(st.tuples(*[st.integers(0, 50)] * 4).filter(any))
def test_kappa_is_that_of_shares(four: tuple[int, int, int, int]) -> None:
    """(p_o - p_e) / (1 - p_e), and NaN where agreement by chance is certain."""
    tn, fp, fn, tp = four
    n = sum(four)
    by_chance = ((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)) / n**2
    kappa = score(np.array([[tn, fp, 0, 0, 0], [fn, tp, 0, 0, 0]]))["kappa"]
    if by_chance == 1:
        assert np.isnan(kappa)
    else:
        assert kappa == pytest.approx(((tp + tn) / n - by_chance) / (1 - by_chance), abs=1e-9)


def test_questions_are_numbered_as_they_first_appear() -> None:
    """Keys get 0, 1, ... in order of appearance."""
    assert numbered(["b", "a", "b", "c"]).tolist() == [0, 1, 0, 2]
    assert cells_of("cic", "ccc", [7, 3, 7]).tolist() == [
        [[0] * 5, [0, 2, 0, 0, 0]],
        [[0, 1, 0, 0, 0], [0] * 5],
    ]


def test_a_missing_verdict_is_an_error() -> None:
    """One verdict is not broadcast to all rows."""
    with pytest.raises(ValueError, match="3 labels, 1 verdicts and 3 groups"):
        table([True, False, True], [True])


# --- draws ----------------------------------------------------------------------------------------


def test_the_first_total_is_of_the_data_and_the_draws_follow_the_seed() -> None:
    """A draw has as many questions as the data; a seed repeats its draws, a generator does not."""
    cells = cells_of("ccii" * 5, "ciic" * 5)
    totals = resampled(cells, 50, 3)
    assert totals.shape == (51, 2, 5)
    assert np.array_equal(totals[0], cells.sum(axis=0))
    assert (totals.sum(axis=(1, 2)) == 20).all()
    assert np.array_equal(totals, resampled(cells, 50, 3))
    rng = np.random.default_rng(3)
    assert np.array_equal(totals, resampled(cells, 50, rng))
    assert not np.array_equal(totals, resampled(cells, 50, rng))


def test_the_weights_of_a_draw_give_its_totals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each draw has all questions; more rows make smaller blocks, and very many fewer draws."""
    weights = np.concatenate([*drawn_weights(20, 50, 3)])
    assert (weights.sum(axis=1) == 20).all()
    kinds = np.array([[[0, 0], [0, 1]], [[1, 0], [0, 0]], [[0, 1], [0, 0]]])
    assert np.array_equal(
        np.tensordot(np.concatenate([*drawn_weights(np.array([9, 1, 1]), 50, 3)]), kinds, axes=1),
        resampled(np.repeat(kinds, [9, 1, 1], axis=0), 50, 3)[1:],
    )
    monkeypatch.setattr("gradegpt.judges.statistics._WEIGHTS_IN_ALL", 20_000)
    assert sum(map(len, drawn_weights(1, 2000, 3, n_rows=1999))) == 200, "the least"
    monkeypatch.undo()
    monkeypatch.setattr("gradegpt.judges.statistics._WEIGHTS_AT_ONCE", 150)
    blocks = [*drawn_weights(20, 50, 3, n_rows=74)]
    assert [len(block) for block in blocks] == [3] * 16 + [2]
    assert np.array_equal(weights, np.concatenate(blocks))


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from([0.1, 0.25, 0.5, 0.9]), st.integers(0, 4)),
        min_size=2, max_size=30,
    ),
    st.lists(st.integers(0, 3), min_size=5, max_size=5),
)  # fmt: skip
def test_the_area_is_the_mann_whitney_statistic_of_the_repeated_rows(
    drawn: list[tuple[bool, float, int]], times: list[int]
) -> None:
    """As if each row were written as often as its question is drawn."""
    right, chance, question = (np.array(column) for column in zip(*drawn, strict=True))
    n = np.array(times)[question]
    yes, no = (np.repeat(chance[of], n[of]) for of in (right, ~right))
    (found,) = areas(right, chance, question, np.array([times]))
    if len(yes) and len(no):
        assert found == mannwhitneyu(yes, no).statistic / (len(yes) * len(no))
    else:
        assert np.isnan(found)


def test_several_judges_share_their_draws() -> None:
    """Their differences are paired: equal judges never differ."""
    one, other = cells_of("ccii" * 5, "ciic" * 5), cells_of("ccii" * 5, "ccii" * 5)
    drawn = score(resampled(np.stack([one, other, one], axis=1), 50, 3))["accuracy"]
    assert np.array_equal(drawn[:, 0], drawn[:, 2])
    assert not np.array_equal(drawn[:, 0], drawn[:, 1])


def test_answers_to_one_question_are_resampled_together() -> None:
    """Ten copies of each of four rows add no information: the interval stays as wide."""
    apart = resampled(cells_of("cicc", "ciii"), 2000, 0)
    copies = resampled(cells_of("cicc" * 10, "ciii" * 10, [0, 1, 2, 3] * 10), 2000, 0)
    one, other = (estimate(score(totals)["accuracy"]) for totals in (apart, copies))
    assert one == other


def test_an_estimate_is_the_value_and_the_percentiles_of_its_draws() -> None:
    """Of the draws 0 to 200 and one undefined: 5 and 195; without a defined draw NaN."""
    values = np.array([0.5, *range(201), np.nan])
    assert estimate(values) == (0.5, 5.0, 195.0)
    value, low, high = estimate(np.array([0.5, np.nan]))
    assert value == 0.5
    assert np.isnan([low, high]).all()


@pytest.mark.parametrize("n_questions", [8, 200])
def test_the_interval_of_a_share_has_its_nominal_coverage(n_questions: int) -> None:
    """500 sets of questions with 1 to 9 answers, right on 70 % of them, questions easy or hard.

    By question the 95 % interval covers the true value about 95 times of 100; by row, as if the
    answers were independent, it is too narrow.
    """
    rng = np.random.default_rng(0)
    held = {"by question": 0, "by row": 0}
    for _ in range(500):
        rows = rng.integers(1, 10, size=n_questions)
        right = rng.binomial(rows, rng.beta(0.7, 0.3, size=n_questions))
        found = ratio(np.stack([right, rows], axis=1))
        assert found is not None
        held["by question"] += found.interval.low <= 0.7 <= found.interval.high
        low, high = wilson(right.sum(), rows.sum())
        held["by row"] += bool(low <= 0.7 <= high)
    assert 0.92 <= held["by question"] / 500 <= 0.98
    assert held["by row"] / 500 < 0.8


def test_the_interval_of_the_area_has_its_nominal_coverage() -> None:
    """200 sets of 40 questions with 3 answers, whose scores share a part of their question.

    Right answers score 1 higher, with standard deviation 1: the area is Phi(1 / sqrt(2)) = 0.760.
    """
    rng, question = np.random.default_rng(0), np.arange(120) // 3
    held = 0
    for _ in range(200):
        right = rng.random(120) < 0.5
        shared = rng.normal(scale=0.5**0.5, size=40)[question]
        scores = right + shared + rng.normal(scale=0.5**0.5, size=120)
        (weights,) = drawn_weights(40, 200, rng)
        drawn = areas(right, scores, question, weights)
        low, high = np.percentile(drawn, (2.5, 97.5))
        held += low <= 0.760 <= high
    assert 0.9 <= held / 200 <= 0.99


@pytest.mark.parametrize(("k", "n"), [(0, 7), (3, 7), (7, 7), (1, 60), (59, 60), (450, 500)])
def test_wilson_and_clopper_pearson_are_scipys(k: int, n: int) -> None:
    """Both limits, at two levels, are those of scipy's binomial test."""
    for level in (0.95, 0.8):
        result = binomtest(k, n)
        for ours, method in ((wilson, "wilson"), (clopper_pearson, "exact")):
            theirs = result.proportion_ci(level, method=method)
            assert ours(k, n, level) == pytest.approx((theirs.low, theirs.high))


@pytest.mark.parametrize(
    ("limits", "least"), [(wilson, 0.82), (jeffreys, 0.88), (clopper_pearson, 0.95)]
)
def test_coverage(limits: Callable[[object, object], Limits], least: float) -> None:
    """Over all rates each covers 95 % on average, Clopper-Pearson's always at least that."""
    n = 50
    low, high = limits(np.arange(n + 1), n)
    rates = np.linspace(0.005, 0.995, 199)
    cover = np.array([
        binom.pmf(np.arange(n + 1), n, p)[(low <= p) & (p <= high)].sum() for p in rates
    ])  # fmt: skip
    assert cover.mean() >= 0.945
    assert cover.min() >= least


@pytest.mark.parametrize("limits", [wilson, jeffreys, clopper_pearson])
def test_edges(limits: Callable[[object, object], Limits]) -> None:
    """Nothing counted is unknown; one row is not certain; arrays keep their shape; symmetry."""
    assert [float(x) for x in limits(0, 0)] == [0, 1]
    low, high = limits(1, 1)
    assert 0 < low < 0.5
    assert high == 1
    low, high = limits([[0, 2], [5, 10]], 10)
    assert low.shape == high.shape == (2, 2)
    assert low[0, 1] == pytest.approx(1 - limits(8, 10)[1])


def test_more_successes_than_rows_are_refused() -> None:
    """So are fewer than none."""
    for k in (-1, 4):
        with pytest.raises(ValueError, match="from 0 to n"):
            wilson(k, 3)
