"""Strata: named shares of the rows."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from data_gen.candidates import Candidate
from data_gen.selection import stratified
from data_gen.settings import DataGenSettings, Stratum
from data_gen.sift import key_of
from gradegpt.chains.chain import Chain
from gradegpt.core.schema import Item, Verdict


def row(n: int, source: str, verdict: Verdict, *, ruled: bool = False) -> Candidate:
    """A candidate with its own question, or with one of ten."""
    return Candidate(
        id=f"{source}:{n}",
        item=Item(question="?", reference="a", response="b"),
        chain=Chain(verdict=verdict, quotes=("b",)),
        lang="en",
        response_lang="en",
        source=source,
        origin="real",
        pattern="real",
        group=f"{n % 10}",
        labels={"people": verdict} | ({"rules": verdict} if ruled else {}),
    )


RIGHT, WRONG = Verdict.CORRECT, Verdict.INCORRECT
ROWS = [
    *(row(n, "a", RIGHT if n % 4 else WRONG) for n in range(100)),
    *(row(n, "b", RIGHT if n % 2 else WRONG, ruled=n < 50) for n in range(100)),
]


def selected(strata: tuple[Stratum, ...], rows: int, **given: object) -> list[Candidate]:
    settings = DataGenSettings.model_validate({"name": "x"} | given)
    keys = pd.DataFrame([key_of(candidate, settings) for candidate in ROWS])
    return [ROWS[n] for n in stratified(keys, strata, rows).index]


def test_each_stratum_has_its_share_and_each_source_as_many_right_as_wrong() -> None:
    """A source with mostly correct rows gives as many of them as it has incorrect ones."""
    strata = (Stratum(name="open", share=0.5, open=True), Stratum(name="rest", share=0.25))
    chosen = selected(strata, 80)
    assert len(chosen) == 60
    assert sum("rules" in c.labels for c in chosen) == 20
    counts = Counter((c.source, c.verdict) for c in chosen)
    assert counts["a", RIGHT] == counts["a", WRONG] > 0
    assert counts["b", RIGHT] == counts["b", WRONG] > 0


def test_a_short_stratum_stays_short_and_rows_of_no_stratum_are_left_out() -> None:
    """A stratum is not filled from other sources."""
    chosen = selected((Stratum(name="a", share=1, sources=("a",)),), 150)
    assert Counter(c.verdict for c in chosen) == {RIGHT: 25, WRONG: 25}


def test_every_question_is_used_before_any_is_used_twice() -> None:
    """A few rows have as many different questions."""
    strata = (Stratum(name="wrong", share=1, verdicts=(WRONG,), sources=("b",)),)
    assert len({c.group for c in selected(strata, 5)}) == 5


def test_twins_are_selected_together() -> None:
    """A question of one is drawn with right and wrong answers, and those without both are not."""
    chosen = selected((Stratum(name="b", share=1, sources=("b",)),), 30, twins=("b",))
    assert not chosen  # there the number of a question gives the verdict
    chosen = selected((Stratum(name="a", share=1, sources=("a",)),), 24, twins=("a",))
    verdicts: dict[str, Counter[Verdict]] = {}
    for one in chosen:
        verdicts.setdefault(one.group, Counter())[one.verdict or WRONG] += 1
    assert chosen
    assert all(counts[RIGHT] == counts[WRONG] for counts in verdicts.values())
