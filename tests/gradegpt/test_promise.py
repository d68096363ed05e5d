"""A promised error: thresholds from labelled rows, and what is missing where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gradegpt.core.errors import SettingsError
from gradegpt.core.schema import Item, Judgement, Outcome, Verdict
from gradegpt.judges.build import build_judge
from gradegpt.judges.calibration import Calibration, Evidence
from gradegpt.judges.promise import CERTAINTY, Promise, evidence_for, given_from, lowest_threshold
from gradegpt.judges.settings import JudgeSettings


def rows(
    confidence: float, right: int, wrong: int, kind: str = "number en", source: str = "a"
) -> list[Evidence]:
    return [
        Evidence(source, kind, True, (confidence,), right),
        Evidence(source, kind, False, (confidence,), wrong),
    ]


def test_the_fewest_rows_that_can_show_an_error() -> None:
    """Without a wrong row ln(0.05) / ln(0.98) = 149 rows show 2 %; 148 do not."""
    fewest = math.ceil(math.log(1 - CERTAINTY) / math.log(0.98))
    assert fewest == 149
    assert lowest_threshold(rows(0.99, fewest, 0), 0.02) is not None
    assert lowest_threshold(rows(0.99, fewest - 1, 0), 0.02) is None


def test_the_threshold_is_above_the_rows_that_err() -> None:
    """Right at 0.95, wrong in a third of the rows at 0.8: the threshold is between them."""
    labelled = [*rows(0.95, 500, 1), *rows(0.8, 200, 100)]
    found = lowest_threshold(labelled, 0.05)
    assert found is not None
    assert 0.8 < found <= 0.95
    assert lowest_threshold(labelled, 0.3) == pytest.approx(min(0.8, 0.5437), abs=1e-3)


def test_a_cascade_gives_what_the_first_sure_judge_says() -> None:
    """Below the threshold a row goes on."""
    trails = [
        Evidence("a", "k", True, (0.9, 0.2), 3),
        Evidence("a", "k", True, (None, 0.95), 2),
        Evidence("b", "k", True, (0.05, None), 1),
        Evidence("b", "k", False, (None, None), 4),
    ]
    assert given_from(trails, 0.85) == (6, 1, {"a": (0, 5), "b": (1, 1)})
    assert given_from(trails, 0.95)[:2] == (3, 1)


def test_a_source_that_shows_a_larger_error_stops_it() -> None:
    """The others together would hide it; one wrong of one row says little, three of four much."""
    for right, right_b, wrong_b in ((5000, 40, 10), (500, 1, 3)):
        many = rows(0.95, right, right // 250)
        found = lowest_threshold([*many, *rows(0.9, right_b, wrong_b, source="b")], 0.05)
        assert (found or 0) > 0.9
    one = lowest_threshold([*many, *rows(0.9, 0, 1, source="b")], 0.05)
    assert one == pytest.approx(lowest_threshold(many, 0.05))


def test_rare_kinds_rest_on_a_broader_group() -> None:
    """The type in both languages, else all but free text, which is never mixed with the rest."""
    labelled = [
        *rows(0.9, 400, 0),
        *rows(0.9, 3, 0, "number zh"),
        *rows(0.9, 2, 0, "set en"),
        *rows(0.9, 5, 0, "text en"),
        *rows(0.9, 400, 100, "single choice en"),
    ]

    def kinds(kind: str) -> set[str]:
        return {row.kind for row in evidence_for(kind, labelled, 0.05)}

    assert kinds("number en") == {"number en"}
    assert kinds("number zh") == {"number en", "number zh"}
    assert kinds("set en") == {"number en", "number zh", "set en", "single choice en"}
    assert kinds("text en") == {"text en"}


def test_the_promise_is_kept_as_often_as_it_says() -> None:
    """Over 200 drawn calibrations the true error exceeds the bound in at most 5 % and a margin."""
    rng = np.random.default_rng(0)
    levels = np.array([0.99, 0.95, 0.9, 0.8, 0.7])
    broken = 0
    for _ in range(200):
        drawn = rng.multinomial(400, [0.4, 0.2, 0.2, 0.1, 0.1])
        right = rng.binomial(drawn, levels)
        labelled = [
            row
            for p, a, n in zip(levels, right, drawn, strict=True)
            for row in rows(float(p), int(a), int(n - a))
        ]
        found = lowest_threshold(labelled, 0.05)
        if found is not None:
            kept = levels >= found
            shares = np.array([0.4, 0.2, 0.2, 0.1, 0.1])[kept]
            broken += (shares * (1 - levels[kept])).sum() / shares.sum() > 0.05
    assert broken <= 18


def judgement(verdict: Verdict, confidence: float | None) -> Judgement:
    return Judgement(
        id="i", outcome=Outcome.JUDGED, verdict=verdict, confidence=confidence, method="m"
    )


def test_kinds_have_thresholds_or_a_reason() -> None:
    """One that errs too often, one with too few labels, a promised one, one promised in part."""
    evidence = (
        *rows(0.98, 400, 0),
        *rows(0.95, 500, 1, "interval en"),
        *rows(0.8, 200, 100, "interval en"),
        *rows(0.8, 100, 60, "text en"),
        *rows(0.97, 110, 0, "short text zh"),
    )
    promise = Promise(Calibration(judge="m", evidence=evidence), 0.02)
    assert set(promise.thresholds) == {"number en", "interval en"}
    assert promise.missing == [
        "short text zh: all verdicts (110 labelled rows are too few)",
        "text en: all verdicts (60 of the 160 surest labelled verdicts are wrong)",
        "number en: verdicts below the confidence 0.5437 (no lower one is tested)",
        "interval en: verdicts below the confidence 0.8221 "
        "(with them, more than 2 % of those given may be wrong)",
    ]
    number = Item(reference=("4",), response="It is 4.")
    assert promise.settles(number, judgement(Verdict.CORRECT, 0.98))
    assert not promise.settles(number, judgement(Verdict.CORRECT, 0.4))
    assert not promise.settles(number, judgement(Verdict.CORRECT, None))
    other = Item(reference=("{1}",), response="{1}", answer_type="set")
    assert not promise.settles(other, judgement(Verdict.CORRECT, 1.0))


def test_nothing_is_promised_without_labels() -> None:
    """The error says what to run, or how many labels are missing."""
    with pytest.raises(SettingsError, match=r"gradegpt eval\.calibrate"):
        Promise(None, 0.02)
    few = Calibration(judge="m", evidence=tuple(rows(0.98, 50, 0)))
    with pytest.raises(
        SettingsError, match=r"gradegpt eval\.calibrate\n  number en: 50 labelled rows are too few"
    ):
        Promise(few, 0.02)


def test_the_rules_promise_by_themselves() -> None:
    """The package's calibration suffices; what is promised is given, the rest is withheld."""
    judges = [JudgeSettings.of(kind="rules")]
    judge = build_judge(JudgeSettings.of(judges=judges, max_error=0.05))
    right = Item(question="2+2=?", reference=("4",), response="The answer is 4.")
    assert judge.judge([right])[0].verdict is Verdict.CORRECT
    strict = build_judge(JudgeSettings.of(judges=judges, max_error=0.02))
    assert strict.fingerprint != judge.fingerprint
