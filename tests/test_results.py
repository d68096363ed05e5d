"""The pages of figures and experiments: rendered from summaries, complete, in their form."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gradegpt.core.errors import InputError, MissingError
from gradegpt.judges.rules import VERSION
from scripts.results import ROOT, Summary, collected, experiments, pages, summaries, table

EXPERIMENTS = ROOT / "docs/experiments"
PAGES = dict(experiments(EXPERIMENTS))
MOST_LINES = 50
"""The most lines of a page: half a page of text and a table."""
DIALECT = re.compile(
    r"\b(told|stretch(es)?|undress(es|ed)?|goes round|go round|believes?|believed|stands?|stood)\b"
)
MADE = summaries(ROOT)


@pytest.fixture
def summary() -> Summary:
    """Two rows of one judge, one of them without an area."""
    return Summary(
        title="Rows", order=1, date="2026-01-01", command="gradegpt eval x.yaml", recorded=True,
        first="file", names={"a": "file a"},
        columns={"right": "{j[accuracy]:.1%}", "AUC": "{j[auc]}"},
        rows={
            "a": {"j": {"accuracy": 0.9, "auc": 0.8}},
            "b": {"j": {"accuracy": 0.5, "auc": None}},
        },
    )  # fmt: skip


def metrics(tp: int, fp: int, fn: int, tn: int, undecided: int = 0) -> dict[str, Any]:
    """A group of a report with these counts; only what counts give and an interval."""
    judged = tp + fp + fn + tn
    return {
        "n_items": judged + undecided, "n_judged": judged, "true_positive": tp,
        "false_positive": fp, "false_negative": fn, "true_negative": tn,
        "coverage": judged / (judged + undecided), "accuracy": (tp + tn) / judged,
        "balanced_accuracy": 0.75, "auc": 0.8,
        "intervals": {"balanced_accuracy": {"low": 0.5, "high": 1.0}},
    }  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of an evaluation with three sources, of which a summary has one as a row."""
    sources = {"a": metrics(3, 1, 1, 3), "x": metrics(1, 1, 0, 2), "y": metrics(2, 0, 1, 2, 1)}
    judge = {"name": "j", "views": {"source": sources}, "overall": metrics(6, 2, 2, 7, 1)}
    report = {"judges": [judge]}
    manifest = {
        "judges": {"j": {"fingerprint": "judge-7"}},
        "inputs": {"../data/a.jsonl": "0123456789abcdef0123"},
        "packages": {"numpy": "2.4"},
    }
    (tmp_path / "report.json").write_text(json.dumps(report), encoding="utf-8")
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (tmp_path / "items.jsonl").write_text("{}\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", ["docs/RESULTS.md", "README.md", "docs/experiments/README.md"])
def test_a_page_of_figures_is_rendered_from_the_summaries(name: str) -> None:
    """RESULTS.md, README's tables and the index are never edited by hand."""
    made = pages()[ROOT / name]
    assert (ROOT / name).read_text(encoding="utf-8") == made, "python -m scripts.results render"


def test_readme_shows_tables_of_figures() -> None:
    """Exactly those that the summaries mark for it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"<!-- table: (\S+) -->", text) == [n for n, s in MADE.items() if s.readme]


def test_the_speed_in_the_readme_is_that_of_the_rules_as_they_are() -> None:
    """A new version of the rules is measured again."""
    rate = MADE["rules-speed"].rows[f"rules {VERSION}"]["rate"]
    assert f"{rate:,} a second" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", MADE)
def test_a_summary_has_its_command_and_date(name: str) -> None:
    """A collected summary also has its rows' digest and its versions."""
    one = MADE[name]
    assert one.command
    assert re.fullmatch(r"2\d{3}-\d\d-\d\d", one.date)
    assert one.recorded or {"items", "packages"} <= one.signature.keys()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_an_experiment_has_its_form(path: Path) -> None:
    """Number, date, status, question and decision, in few lines and plain words.

    A page that supersedes it exists and is later.
    """
    text, head = path.read_text(encoding="utf-8"), PAGES[path]
    assert path.name.startswith(f"{head[1]}-")
    assert re.fullmatch(r"2\d{3}-\d\d-\d\d", head[3])
    assert re.fullmatch(r"adopted|rejected|superseded by \d{3}", head[4])
    assert "**Question.**" in text
    assert "**Decision.**" in text
    assert text.count("\n") <= MOST_LINES
    assert not DIALECT.search(text)
    by = re.fullmatch(r"superseded by (\d{3})", head[4])
    assert by is None or by[1] in {other[1] for other in PAGES.values() if other[1] > head[1]}


def test_experiments_are_numbered_in_order_of_time() -> None:
    """There is one page per number, no gap, and dates do not decrease."""
    heads = list(PAGES.values())
    assert [head[1] for head in heads] == [f"{n:03}" for n in range(1, len(heads) + 1)]
    assert [head[3] for head in heads] == sorted(head[3] for head in heads)


LINKED = [*EXPERIMENTS.glob("*.md"), ROOT / "docs/RESULTS.md", ROOT / "docs/ARCHITECTURE.md"]


@pytest.mark.parametrize("path", LINKED, ids=lambda path: path.stem)
def test_the_links_of_a_page_exist(path: Path) -> None:
    """Every relative link of a page is a file or a folder of the project."""
    links = re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_an_undefined_figure_is_a_dash(summary: Summary) -> None:
    """Rows have the names of the summary."""
    assert table(summary, summary.columns, "x").splitlines()[2:] == [
        "| file a | 90.0% | 0.8 |",
        "| b | 50.0% | – |",
    ]


def test_a_column_without_any_figure_is_an_error(summary: Summary) -> None:
    """Otherwise a misspelt figure would be a column of dashes."""
    with pytest.raises(InputError, match="'F1': no row has such a figure"):
        table(summary, {"F1": "{j[f1]:.3f}"}, "x")


def test_figures_are_collected_from_a_report(summary: Summary, run: Path) -> None:
    """By source; ``all`` is the run, ``rest`` the sum of other sources; recorded ones are kept."""
    before = summary.model_copy(
        update={"rows": {"a": {"j": {}, "bar": 0.9}, "rest": {}, "all": {}}}
    )
    made = collected(run, before)
    assert (made.rows["a"]["j"]["low"], made.rows["a"]["bar"]) == (0.5, 0.9)
    rest = made.rows["rest"]["j"]
    counts = [rest[k] for k in ("n_items", "n_judged", "true_positive", "true_negative")]
    assert counts == [10, 9, 3, 4]
    assert rest["balanced_accuracy"] == round((3 / 4 + 4 / 5) / 2, 6)
    assert made.rows["all"]["j"]["n_items"] == 18
    assert not made.recorded
    assert made.signature["j"] == "judge-7"
    assert made.signature["a.jsonl"] == "0123456789abcdef"


def test_rows_never_seen_stand_beside_those_of_their_set(summary: Summary, run: Path) -> None:
    """As figures of another judge, each part with its own total."""
    report = json.loads((run / "report.json").read_text(encoding="utf-8"))
    sources = report["judges"][0]["views"]["source"]
    sources["a.unseen"] = sources.pop("x")
    (run / "report.json").write_text(json.dumps(report), encoding="utf-8")
    made = collected(run, summary.model_copy(update={"rows": {"a": {}, "all": {}}})).rows
    sizes = {row: {judge: of["n_items"] for judge, of in made[row].items()} for row in made}
    assert sizes == {"a": {"j": 8, "unseen j": 4}, "all": {"j": 14, "unseen j": 4}}


def test_a_further_run_is_added_to_the_first(summary: Summary, run: Path) -> None:
    """With its prefix, if it judged the same rows."""
    first = collected(run, summary.model_copy(update={"rows": {"a": {}}}))
    both = collected(run, first, "small-")
    assert both.rows["a"].keys() == {"j", "small-j"}
    assert {"j", "small-j"} <= both.signature.keys()
    (run / "items.jsonl").write_text("{}\n{}\n", encoding="utf-8")
    with pytest.raises(InputError, match="judged other rows"):
        collected(run, first, "small-")


def test_a_run_that_has_not_ended_is_an_error(summary: Summary, tmp_path: Path) -> None:
    """It has no manifest yet."""
    with pytest.raises(MissingError, match=r"manifest\.json: no such file"):
        collected(tmp_path, summary)


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", r"bad\.json: is not JSON"), ('{"titel": "Rows"}', r"bad\.json: .*titel")],
)
def test_a_summary_that_cannot_be_read_is_an_error(text: str, message: str, tmp_path: Path) -> None:
    """With its file, and the field if one is wrong."""
    (tmp_path / "docs/results").mkdir(parents=True)
    (tmp_path / "docs/results/bad.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        summaries(tmp_path)


def test_a_block_without_a_summary_is_an_error(tmp_path: Path) -> None:
    """The message lists the tables."""
    (tmp_path / "docs/experiments").mkdir(parents=True)
    (tmp_path / "README.md").write_text("<!-- table: rael -->\n<!-- end -->\n", encoding="utf-8")
    with pytest.raises(InputError, match="no table 'rael'; there are: index"):
        pages(tmp_path)


def test_an_experiment_without_a_status_is_an_error(tmp_path: Path) -> None:
    """Otherwise it would be missing from the index."""
    (tmp_path / "001-x.md").write_text("# 001 · X\n\nDate: 2026-01-01\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"001-x\.md: begin with"):
        list(experiments(tmp_path))
