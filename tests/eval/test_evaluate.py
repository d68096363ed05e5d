"""A whole evaluation on a tiny file, with judges that need no weights."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eval.console import WIDTH
from eval.evaluate import evaluate
from eval.judging import read_sources
from eval.metrics import graded, measured
from eval.settings import EvalSettings, RowsSettings
from eval.tables import print_overall, print_report
from gradegpt.chains.chain import YES
from gradegpt.core.errors import EngineError, InputError, OutputError
from gradegpt.core.records import read_objects, read_rows, write_rows
from gradegpt.core.schema import Judgement, Message, Outcome, Verdict
from gradegpt.engines.scripted import Script, ScriptedEngine
from gradegpt.judges.base import Judge
from gradegpt.judges.cascade import CascadeJudge
from gradegpt.judges.model import ModelJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.settings import JudgeSettings
from gradegpt.tables.importers.labelled import Source

ROWS: list[dict[str, Any]] = [
    {"reference": "4", "response": "The answer is 4.", "label": True, "question": "2+2=?"},
    {"reference": "4", "response": "The answer is 5.", "label": False, "question": "2+2=?"},
    {"reference": "Paris", "response": "So <script>alert(1)</script> Paris or Lyon", "label": True,
     "question": "The capital of France?"},
    {"reference": "H2O", "response": "这题很难", "label": "invalid", "question": "水的化学式？",
     "lang": "zh"},
    {"reference": "9", "response": "", "label": None, "question": "What is 3*3?"},
]  # fmt: skip


@pytest.fixture
def settings(tmp_path: Path) -> EvalSettings:
    """Five rows, of which one has no label; rules, and a model judge that ``builder`` scripts."""
    path = tmp_path / "small.jsonl"
    write_rows(path, ({"id": f"r{n}", "lang": "en", **row} for n, row in enumerate(ROWS, 1)))
    values = {
        "name": "small", "out": str(tmp_path / "run"), "sources": [{"path": str(path)}],
        "judges": [
            {"name": "rules", "kind": "rules"}, {"name": "yes", "kind": "model"},
        ],
        "bootstrap": 50,
    }  # fmt: skip
    return EvalSettings.model_validate(values)


def rows_of(source: Source) -> RowsSettings:
    return RowsSettings(name="rows", sources=(source,))


def always_yes(_: Sequence[Message]) -> str | EngineError:
    return YES


def builder(script: Script = always_yes) -> Callable[[JudgeSettings], Judge]:
    """A stand-in for ``build_judge``: model judges follow ``script``."""

    def build(settings: JudgeSettings) -> Judge:
        return RuleJudge() if settings.kind == "rules" else ModelJudge(ScriptedEngine(script))

    return build


def test_a_run_ends_in_judgements_a_report_a_page_and_a_manifest(settings: EvalSettings) -> None:
    """Four of five rows are labelled; "always yes" is right on two of them.

    No judge sees a label; the page escapes its texts.
    """
    report = evaluate(settings, build=builder())
    assert report.n_items == 4
    assert report.labels == {"correct": 2, "incorrect": 1, "invalid": 1}
    yes = report.judges[1]
    assert (yes.overall.acc_outcome, yes.overall.kappa) == (50.0, 0.0)
    assert sum(yes.confusion["invalid"].values()) == yes.confusion["invalid"]["correct"] == 1
    assert list(yes.views["language"]) == ["en", "zh"]
    assert yes.parsed_rate == 1.0
    assert report.judges[0].parsed_rate is None
    assert json.loads((settings.folder / "report.json").read_text("utf-8"))["name"] == "small"
    manifest = json.loads((settings.folder / "manifest.json").read_text("utf-8"))
    assert manifest["rows"] == 4
    assert set(manifest["inputs"]) == {settings.sources[0].path}
    for line in (settings.folder / "items.jsonl").read_text("utf-8").splitlines():
        assert not {"verdict", "labelled_by", "source", "meta"} & set(json.loads(line))
    page = (settings.folder / "report.html").read_text("utf-8")
    assert "\\u003cscript>alert(1)\\u003c/script>" in page
    assert page.count("<script") == 2
    assert "Labels and verdicts" in page


def test_the_rows_that_the_rules_leave_open_alone(settings: EvalSettings) -> None:
    """Rules decide two of the four labelled rows; a sample is drawn from the others."""
    open_rows = settings.model_copy(update={"left_open": True})
    report = evaluate(open_rows, build=builder())
    assert report.n_items == 2
    assert [judgement.outcome for judgement in _judgements(settings, "rules")] == ["undecided"] * 2
    one = open_rows.model_copy(update={"sample": 1, "out": f"{settings.out}-one"})
    evaluate(one, build=builder())
    (kept,) = read_objects(one.folder / "items.jsonl")
    assert kept[1]["id"] in ("r3", "r4")


def _judgements(settings: EvalSettings, judge: str) -> list[Judgement]:
    return list(read_rows(settings.folder / "judgements" / f"{judge}.jsonl", Judgement))


def test_the_same_evaluation_gives_the_same_bytes(settings: EvalSettings, tmp_path: Path) -> None:
    """Report and page depend on rows, judges and settings; a finished judge is not asked again."""

    def refuse(_: Sequence[Message]) -> str:
        raise AssertionError("asked again")

    first = evaluate(settings, build=builder())
    assert evaluate(settings, build=builder(refuse)) == first
    other = settings.model_copy(update={"out": str(tmp_path / "other")})
    evaluate(other, build=builder())
    for name in ("report.json", "report.html"):
        assert (settings.folder / name).read_bytes() == (other.folder / name).read_bytes()


def test_a_stopped_run_resumes_after_its_last_complete_row(
    settings: EvalSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Complete rows are kept, an incomplete line is dropped; the result is the same."""
    monkeypatch.setattr("eval.judging.ROWS_PER_WRITE", 2)
    whole = evaluate(settings, build=builder())
    file = settings.folder / "judgements" / "yes.jsonl"
    unbroken = file.read_bytes()
    file.unlink()
    asked: list[Sequence[Message]] = []

    def stopped_once(prompt: Sequence[Message]) -> str:
        asked.append(prompt)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return YES

    with pytest.raises(KeyboardInterrupt):
        evaluate(settings, build=builder(stopped_once))
    assert not (settings.folder / "manifest.json").exists()
    with file.with_name("yes.jsonl.partial").open("ab") as partial:
        partial.write(b'{"id": "r3", "outc')
    assert evaluate(settings, build=builder(stopped_once)) == whole
    assert len(asked) == 3 + 2
    assert file.read_bytes() == unbroken


def test_judgements_of_other_rows_are_replaced_only_on_request(settings: EvalSettings) -> None:
    """A changed setting does not discard hours of judging."""
    evaluate(settings, build=builder())
    fewer = settings.model_copy(update={"sample": 2})
    with pytest.raises(OutputError, match=r"rules\.jsonl: made from other rows .*add --overwrite"):
        evaluate(fewer, build=builder())
    assert evaluate(fewer, build=builder(), overwrite=True).n_items == 2


def test_rows_that_failed_are_said_and_judged_again_by_the_next_run(
    settings: EvalSettings, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only these; the others are reused."""
    asked = list[str]()

    def fails_once(prompt: Sequence[Message]) -> str:
        asked.append(prompt[-1].content)
        if "capital of France" in prompt[-1].content and len(asked) < 10:
            raise ValueError("a bug")
        return YES

    report = evaluate(settings, build=builder(fails_once))
    assert report.judges[1].overall.n_failed == 1
    told = capsys.readouterr().err
    assert "yes: 1 row failed, id r3: judge:error: ValueError: a bug (in fails_once, line" in told
    before = len(asked)
    asked += [""] * 10
    assert evaluate(settings, build=builder(fails_once)).judges[1].overall.n_failed == 0
    assert len(asked) - 10 - before == 1


def test_an_edited_judgement_file_is_not_trusted(settings: EvalSettings) -> None:
    """A missing row is an error and not a shifted comparison."""
    evaluate(settings, build=builder())
    file = settings.folder / "judgements" / "yes.jsonl"
    lines = file.read_text("utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[1:]), "utf-8")
    with pytest.raises(OutputError, match="3 judgements for 4 rows"):
        evaluate(settings, build=builder())


def test_failures_and_unreadable_texts_are_counted_apart(settings: EvalSettings) -> None:
    """The parsed rate leaves out failed requests, and an unparsed text has no verdict."""
    replies: Iterator[str | EngineError] = iter(
        [YES, "Yes, it is right.", EngineError("HTTP 500"), YES]
    )
    judge = evaluate(settings, build=builder(lambda _: next(replies))).judges[1]
    assert (judge.overall.n_judged, judge.overall.n_unparsed, judge.overall.n_failed) == (2, 1, 1)
    assert judge.parsed_rate == 2 / 3


def test_tables_fit_their_width(settings: EvalSettings, capsys: pytest.CaptureFixture[str]) -> None:
    """Every line that is printed to a file has at most 100 columns, and names stay readable."""
    source = settings.sources[0].model_copy(update={"name": "a_source_with_a_very_long_name"})
    report = evaluate(settings.model_copy(update={"sources": (source,)}), build=builder())
    capsys.readouterr()
    print_report(report)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= WIDTH
    for words in (
        "overall", "by language", "by answer type", "pairs of judges",
        f"  rules, yes: {report.pairs[0].in_words}",
    ):  # fmt: skip
        assert words in out
    assert report.pairs[0].difference is not None


def test_accuracy_stands_beside_coverage_and_bounds_have_their_own_column(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of ten rows eight are decided, six rightly: 75 % of these, and 60 to 80 % of all."""
    labels = [Verdict.CORRECT, Verdict.INCORRECT] * 5
    said: list[Verdict | None] = [*labels[:6], *labels[7:9], None, None]
    judged = [
        Judgement(
            id="", outcome=Outcome.JUDGED if v else Outcome.UNDECIDED, verdict=v, method="rules",
            reason="x",
        )
        for v in said
    ]  # fmt: skip
    found = measured(graded(np.arange(10), labels, judged))
    print_overall({"rules": found, "even": found.model_copy(update={"even": 0.92, "bias": -0.05})})
    out = capsys.readouterr().out
    assert re.search(r"rows +decided +right of these \[95 %\] +bounds ", out)
    assert re.search(r"rules +10 +80.0 +75.0 \[41, 93\] +60.0 to 80.0 ", out)
    assert "those without a verdict all wrong, and all right" in out
    shares = "of those it decides: accepts 75.0 % of the right, rejects"
    kappa = r"κ 0\.50 \[-?\d\.\d\d, 1\.00\] by resampling"
    assert re.search(rf"rules, {shares} 75\.0 % of the wrong;\n  {kappa}\n", out)
    equal = 'with a least probability of 0.92 for "correct", both shares would be equal'
    assert re.search(rf"even, {shares} 80\.0 % of the wrong;\n  {kappa};\n  {equal}\n", out)
    assert max(map(len, out.splitlines())) <= WIDTH


def test_the_name_of_a_judge_is_not_broken(capsys: pytest.CaptureFixture[str]) -> None:
    """The headings of the numbers are, where a line is too short for all."""
    labels = [Verdict.CORRECT, Verdict.INCORRECT] * 50
    said = [Judgement(id="", outcome="judged", verdict=v, method="x", reason="") for v in labels]
    said[0] = Judgement(id="", outcome="undecided", method="x", reason="")
    found = measured(graded(np.arange(100), labels, said))
    names = ("rules", "cascade-untrained", "cascade-untrained-before")
    print_overall(dict.fromkeys(names, found))
    lines = capsys.readouterr().out.splitlines()
    assert all(any(f" {name} " in line for line in lines) for name in names)
    assert max(map(len, lines[:8])) <= WIDTH


def test_a_source_without_labels_is_an_error(tmp_path: Path) -> None:
    """An empty evaluation is a mistake in the settings, not a result."""
    path = tmp_path / "open.jsonl"
    row = {"question": "q", "reference": "1", "response": "1", "label": None}
    path.write_text(json.dumps(row), "utf-8")
    with pytest.raises(InputError, match=r"open\.jsonl: no labelled row"):
        read_sources(rows_of(Source(path=str(path))))


def test_a_cascade_of_judges_that_have_judged_calls_no_engine(settings: EvalSettings) -> None:
    """It reuses their judgements under its own fingerprint; without them it asks the model."""
    asked = 0

    def count(_: Sequence[Message]) -> str | EngineError:
        nonlocal asked
        asked += 1
        return YES

    def build(one: JudgeSettings) -> Judge:
        if one.kind == "cascade":
            return CascadeJudge([RuleJudge(), builder(count)(one)])
        return builder(count)(one)

    cascade = JudgeSettings.of(name="both", kind="cascade")
    report = evaluate(
        settings.model_copy(update={"judges": (*settings.judges, cascade)}), build=build
    )
    assert asked == 4
    said = {
        name: {
            j["id"]: j for _, j in read_objects(settings.folder / "judgements" / f"{name}.jsonl")
        }
        for name in ("rules", "yes", "both")
    }
    for row, judgement in said["both"].items():
        of = "rules" if said["rules"][row]["outcome"] == "judged" else "yes"
        assert judgement == said[of][row]
    assert [judge.name for judge in report.judges] == ["rules", "yes", "both"]
    alone = settings.model_copy(
        update={"judges": (cascade,), "out": str(settings.folder / "alone")}
    )
    evaluate(alone, build=build)
    assert asked > 4


def test_answers_without_labels_score_the_model(tmp_path: Path) -> None:
    """Two samples of two questions: by the rules one question is right twice and one once."""
    rows: list[dict[str, Any]] = [
        {"id": "a#0", "question": "2+2=?", "reference": "4", "response": "It is 4.",
         "tags": {"of": "sums"}},
        {"id": "a#1", "question": "2+2=?", "reference": "4", "response": "The answer is 4."},
        {"id": "b#0", "question": "2+3=?", "reference": "5", "response": "The answer is 5."},
        {"id": "b#1", "question": "2+3=?", "reference": "5", "response": "The answer is <b>6</b>."},
    ]  # fmt: skip
    path = tmp_path / "answers.jsonl"
    write_rows(path, rows)
    values = {
        "name": "bench", "out": str(tmp_path / "run"), "answers": [str(path)],
        "judges": [{"name": "rules", "kind": "rules"}, {"name": "yes", "kind": "model"}],
    }  # fmt: skip
    report = evaluate(EvalSettings.model_validate(values), build=builder())
    assert report.scores["rules"].overall.accuracy is not None
    assert report.scores["rules"].overall.accuracy.value == 0.75
    (of_two,) = report.scores["rules"].overall.samples
    assert (of_two.pass_at_k.value, of_two.mg_pass.value) == (1.0, 0.5)
    assert report.scores["yes"].tags["of"]["sums"].n_rows == 1
    (pair,) = report.pairs
    assert (pair.n_differ, pair.a_right) == (1, None)
    page = (tmp_path / "run" / "report.html").read_text()
    assert "\\u003cb>6" in page
    assert "<b>6" not in page
    assert "There are no labels" in page
    assert "Several answers to a question" in page
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert (manifest["rows"], list(manifest["inputs"])) == (4, [str(path)])


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ({}, "give either 'sources'"),
        ({"sources": [{"path": "a"}], "answers": ["b"]}, "give either 'sources'"),
        ({"answers": ["b"], "sample": 3}, "need labelled"),
    ],
)
def test_rows_have_labels_or_have_none(rows: dict[str, Any], match: str) -> None:
    """Both at once would need two reports."""
    with pytest.raises(ValueError, match=match):
        EvalSettings.model_validate({"name": "x", "judges": [{"kind": "rules"}], **rows})
