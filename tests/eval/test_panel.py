"""A panel of an evaluation's judges: agreement, differences, whom to leave out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from eval.evaluate import evaluate
from eval.panel import print_panel
from eval.settings import EvalSettings
from gradegpt.core.records import write_rows
from gradegpt.core.schema import Item, Judgement, Outcome, Verdict
from gradegpt.judges.base import Judge
from gradegpt.judges.settings import JudgeSettings


class Says:
    """Wrong on every ``wrong``-th row only; the first letter of the response is the truth."""

    def __init__(self, name: str, wrong: int) -> None:
        self.name = self.fingerprint = name
        self._wrong = wrong

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        judgements = []
        for item in items:
            right = item.response.startswith("r") is bool(int(item.id) % self._wrong)
            verdict = Verdict.CORRECT if right else Verdict.INCORRECT
            judgements.append(
                Judgement(id=item.id, outcome=Outcome.JUDGED, verdict=verdict, method="says")
            )
        return judgements


WRONG = {"three": 3, "four": 4, "two": 2}


def build(one: JudgeSettings) -> Judge:
    return Says(str(one.name), WRONG[str(one.name)])


def settings_of(folder: Path, **changes: object) -> EvalSettings:
    """An evaluation of three judges on 60 rows: wrong on every 3rd, 4th and 2nd."""
    rows = (
        {"id": str(n), "question": f"{n}?", "reference": "x", "response": "ry"[n % 5 % 2],
         "label": not n % 5 % 2}
        for n in range(60)
    )  # fmt: skip
    write_rows(folder / "rows.jsonl", rows)
    values = {
        "name": "small", "out": str(folder / "run"), "bootstrap": 0, "panel": "majority",
        "sources": [{"path": str(folder / "rows.jsonl"),
                     "fields": {"lang": "", "labelled_by": "", "answer_type": ""}}],
        "judges": [{"name": name, "kind": "model"} for name in WRONG],
    }  # fmt: skip
    return EvalSettings.model_validate(values | changes)


def test_a_panel_is_counted_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of twelve rows in a cycle the judges are wrong on 4, 3 and 6; two of them on rows 0, 4, 6, 8.

    Together wrong on 4 of 12. Without the second judge a row on which the others differ is left
    open; those on which both are right are 1, 5, 7 and 11: 4 of 12.
    """
    report = evaluate(settings_of(tmp_path), build=build)
    found = report.panel
    assert found is not None
    assert report.judges[0].overall.acc_outcome == pytest.approx(100 * 8 / 12)
    assert found.panel.acc_outcome == pytest.approx(100 * 8 / 12)
    assert found.without["four"].acc_outcome == pytest.approx(100 * 4 / 12)
    pair = report.pairs[0]
    assert (pair.a, pair.b, pair.n_both) == ("three", "four", 60)
    assert (pair.n_differ, pair.a_right, pair.b_right) == (25, 10, 15)
    print_panel(found)
    assert "without four" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sources": [], "answers": ["a.jsonl"]}, "need labelled 'sources'"),
        ({"judges": [{"kind": "rules"}]}, "needs at least two judges"),
    ],
)
def test_a_panel_needs_labels_and_judges(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        settings_of(tmp_path, **changes)
