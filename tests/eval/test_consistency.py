"""Changes that change nothing that matters, and the verdicts before and after them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.__main__ import app
from eval.consistency import change_of, judged_again
from eval.variations import VARIATIONS
from gradegpt.core.errors import GradeGPTError
from gradegpt.core.records import write_rows
from gradegpt.core.schema import AnswerType, Item, Judgement, Outcome, Verdict
from gradegpt.judges.rules import RuleJudge
from gradegpt.tables.importers.labelled import Source, read_examples

YES, NO = Verdict.CORRECT, Verdict.INCORRECT


def item(response: str, reference: str = "5", question: str = "?", **fields: object) -> Item:
    return Item(id="1", question=question, reference=(reference,), response=response, **fields)  # type: ignore[arg-type]


def changed(name: str, response: str, reference: str = "5", **fields: object) -> str | None:
    after = VARIATIONS[name](item(response, reference, **fields))
    return None if after is None else after.response


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("blanks", "a\nb", "\n\na  \nb \n"),
        ("opening", "It is 5.", "Sure, let us look at this question.\n\nIt is 5."),
        ("opening", "答案是5", "好的，我们来看这道题。\n\n答案是5"),
        ("thanks", "It is 5.", "It is 5.\n\nI hope this helps. Thank you!"),
        ("thanks", "so we get \\[x", None),
        ("bold", "First.\nIt is 5.", "First.\n**It is 5.**"),
        ("bold", "It is **5**.", "It is 5."),
        ("bold", "2**3", None),
        ("full_width", "选B，x=1,200.5", "选Ｂ，x＝１,２００．５"),
        ("full_width", "$5$", None),
        ("full_width", "I think so", None),
        ("half_width", "（１２，３４）：Ａ", "(12，34):A"),
        ("latex_delimiters", "$$x$$ and $y$", "\\[x\\] and \\(y\\)"),
        ("latex_delimiters", "\\(x\\), \\[y\\]", "$x$, $$y$$"),
        ("latex_delimiters", "it costs $5 and $6", None),
        ("number_format", "It is 1,200,000.", "It is 1200000."),
        ("number_format", "It is 1200000.", "It is 1,200,000."),
        ("number_format", "x_{12345}, 0.123456, 1234", None),
        ("other_language", "Working\nThe answer is 5.", "Working\n答案是5。"),
        ("other_language", "所以答案是$x^2$", "So the answer is $x^2$"),
        ("other_language", "The answer is five.", None),
        ("other_language", "答案是五", None),
    ],
)
def test_a_change_is_made_or_does_not_apply(name: str, before: str, after: str | None) -> None:
    """By hand, a row for each decision."""
    assert changed(name, before) == after


def test_number_formats_change_where_a_number_is_asked_alone() -> None:
    """In a list of options or of numbers a comma may separate answers."""
    assert changed("number_format", "12345", "blue", answer_type=AnswerType.TEXT) is None


@pytest.mark.parametrize("name", VARIATIONS)
def test_the_rules_repeat_their_verdicts_on_the_hand_labelled_answers(name: str) -> None:
    """No change turns a verdict of the rules over."""
    items = list(read_examples(Source(path="eval/data/handmade.jsonl", fields=None)))
    pairs = [(i, c) for i in items[::3] if (c := VARIATIONS[name](i)) is not None]
    before, after = (
        (RuleJudge().judge(side) for side in zip(*pairs, strict=True)) if pairs else ((), ())
    )
    assert change_of("rules", name, before, after).flipped == 0


def judged(*verdicts: Verdict | None) -> list[Judgement]:
    return [
        Judgement(
            id="x", outcome=Outcome.JUDGED if v else Outcome.UNDECIDED, verdict=v, method="m",
        )
        for v in verdicts
    ]  # fmt: skip


def test_the_kinds_of_pairs_add_up() -> None:
    """Invalid counts as incorrect; a share has Wilson's limits, and none without items."""
    before = judged(YES, NO, YES, None, None, NO)
    after = judged(YES, Verdict.INVALID, NO, None, YES, None)
    found = change_of("j", "c", before, after)
    assert (found.n, found.same, found.flipped, found.now_open, found.now_decided) == (
        6,
        3,
        1,
        1,
        1,
    )
    assert found.share == 0.5
    assert found.low < 0.5 < found.high
    assert change_of("j", "c", (), ()).share is None


class Moody:
    """Accepts what is thanked for, and nothing else."""

    name = "moody"
    fingerprint = "moody"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        return [
            j.model_copy(update={"id": i.id})
            for i in items for j in judged(YES if "Thank" in i.response else NO)
        ]  # fmt: skip


def test_flips_are_found(tmp_path: Path) -> None:
    """Two items flip when the response thanks; a second run reuses the judgements."""
    items = [item("5").model_copy(update={"id": str(n)}) for n in range(2)]
    before, names = Moody().judge(items), ["again", "thanks"]
    for _ in range(2):
        changes, flips = judged_again(
            "moody", Moody(), items, before, names, tmp_path, overwrite=False
        )
        assert [(c.name, c.flipped, c.same) for c in changes] == [("again", 0, 2), ("thanks", 2, 0)]
    assert [flip.id for flip in flips] == ["0", "1"]
    with pytest.raises(GradeGPTError, match="--overwrite"):
        judged_again("moody", Moody(), items[:1], before[:1], ["again"], tmp_path, overwrite=False)


def test_an_evaluation_prints_and_writes_every_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With rules on one file without labels; a change that is none is refused."""
    monkeypatch.chdir(tmp_path)
    write_rows("a.jsonl", [{"id": "a", "reference": "5", "response": "The answer is 5."}])
    words = ["a.jsonl", "--judge", "rules"]
    ended = CliRunner().invoke(app, [*words, "changes=[again, other_language]"])
    assert ended.exit_code == 0, ended.output
    assert "other_language" in ended.output
    assert "0 verdicts flipped: runs/a/flips.jsonl" in ended.output
    changes = json.loads(Path("runs/a/report.json").read_text("utf-8"))["changes"]
    assert [(c["judge"], c["name"], c["same"]) for c in changes] == [
        ("rules", "again", 1), ("rules", "other_language", 1)
    ]  # fmt: skip
    assert Path("runs/a/changes/rules/again.jsonl").is_file()
    ended = CliRunner().invoke(app, [*words, "changes=[colour]"])
    assert "colour: use one of all, again" in str(ended.exception)
