"""The page of judged rows: its numbers, its list and its safety."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import pytest

from eval import report
from eval.report.numbers import numbers
from eval.report.page import interest, listed, render_page
from eval.report.plots import from_zero, up_to_one
from gradegpt.core.schema import Verdict
from gradegpt.judges.neighbours import BY_HAND
from tests.eval.pages import HOSTILE, N, R, W, judged, results

FILES = Path(report.__file__).parent


class Document(HTMLParser):
    """The elements of a page in order, each with its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def values(self, attribute: str) -> list[str]:
        return [a[attribute] or "" for _, a in self.elements if attribute in a]


def page(*arguments: Any, most: int = 100, **more: Any) -> str:
    return render_page(results(*arguments, **more), most=most)


def data(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return dict(json.loads(found[1]))


SENTENCE: Final = re.compile(r"(?:[A-Za-z’]+\W+){4}")


@pytest.mark.parametrize("labels", [(R, W, N), (R, W, None), ()])
@pytest.mark.parametrize("method", ["test", BY_HAND])
def test_every_sentence_is_translated(labels: Sequence[Verdict | None], method: str) -> None:
    """A text of the page is a key of its Chinese words, or fits a pattern among these."""
    made = results(labels=labels)
    judges = {
        name: [one.model_copy(update={"method": method}) for one in judged]
        for name, judged in made.judges.items()
    }
    text = render_page(made._replace(judges=judges), most=2, rest="rest.jsonl")
    keys = [re.escape(key).replace(r"\*", ".*?") for key in data(text)["zh"]]
    body = re.sub(r"(?s)<(script|noscript|style|code|kbd|h1|title)\b.*?</\1>", "<>", text)
    said = [" ".join(unescape(one).split()) for one in re.split(r"<[^>]*>", body)]
    missing = [s for s in said if SENTENCE.search(s) and not re.fullmatch("|".join(keys), s)]
    assert missing == []


# --- numbers ---


def test_without_labels_the_score_is_the_share_judged_correct() -> None:
    """The first judge finds all three rows correct, the second one of the two that it judged."""
    found = numbers(results())
    assert [group.score for group in found.overall.values()] == [1.0, 0.5]
    assert found.overall["other, too"].said["undecided"] == 1
    assert found.overall["rules"].metrics is None
    assert found.confusion == {}


def test_with_labels_the_score_is_the_accuracy_over_labelled_rows() -> None:
    """Two of three rows have a label; the first judge is right on one of these."""
    found = numbers(results(labels=[R, N, None]))
    group = found.overall["rules"]
    assert (group.n_rows, group.n_labelled, group.score) == (3, 2, 0.5)
    assert group.metrics is not None
    assert group.metrics.acc_outcome == 50.0
    assert found.confusion["rules"]["invalid"]["correct"] == 1
    assert "incorrect" not in found.confusion["rules"]


def test_a_tag_is_a_table_where_it_has_several_values() -> None:
    """All rows have one language and one answer type, and three subjects."""
    found = numbers(results(6))
    assert list(found.several) == ["subject"]
    several = found.several["subject"].items()
    assert {value: groups["rules"].n_rows for value, groups in several} == {"a": 2, "b": 2, "c": 2}


def test_a_value_with_open_rows_has_its_bounds() -> None:
    """The second judge leaves one of two rows of subject c open: 50 to 100, and no score."""
    found = numbers(results(6))
    group = found.several["subject"]["c"]["other, too"]
    assert (group.score, group.quoted, group.span) == (1.0, None, group.bounds)
    assert '<td data-value="0.5">50.0 – 100.0</td>' in page(6)


def test_a_value_without_a_labelled_row_has_no_score() -> None:
    """It is a dash on the page, and no row counts as correct."""
    group = numbers(results(labels=[R, None, None])).tags["subject"]["b"]["rules"]
    assert (group.score, group.interval, group.metrics) == (None, None, None)


def test_confidence_is_measured_on_labelled_rows_alone() -> None:
    """Two of three rows have a label, and the first judge is right on one of these."""
    found = numbers(results(labels=[R, W, None]))
    rules = found.calibration["rules"]["all"]
    assert rules is not None
    assert (rules.n_rows, rules.accuracy.value) == (2, 0.5)
    assert list(found.calibration["rules"]) == ["all", "test"]
    risk = found.risk["rules"]
    assert risk is not None
    assert risk.operating is not None
    assert (risk.n_rows, risk.operating.coverage, risk.operating.risk.value) == (2, 1.0, 0.5)
    assert numbers(results()).calibration == numbers(results()).risk == {}


def test_a_judge_without_confidences_is_not_calibrated() -> None:
    """The page says so, and shows no diagram or curve made of its scores."""
    rows = [judged(f"r{n}", R).model_copy(update={"score": 0.5 + n / 10}) for n in range(3)]
    one = results(labels=[R, W, R], second=False)._replace(judges={"rules": rows})
    text = render_page(one, most=3)
    assert text.count("not calibrated</td>") == 1
    assert 'aria-label="Accuracy by confidence' not in text
    assert 'class="curve"' not in text


def test_withheld_verdicts_continue_the_curve() -> None:
    """The judge decides two of three rows, with one error, and withholds the third verdict."""
    rows = [judged("r0", R, confidence=0.9), judged("r1", R, confidence=0.8)]
    rows.append(judged("r2", None, confidence=0.6).model_copy(update={"withheld": R}))
    one = results(labels=[R, W, R], second=False)._replace(judges={"rules": rows})
    text = render_page(one, most=3)
    assert "continues through 1 verdict that it withheld" in text
    assert "decided 66.7 %, 50.0 % of these wrong" in text
    assert text.count('class="band"') == 3


def test_scores_that_chance_has_too_and_the_better_judge_are_shown() -> None:
    """AUC and balanced accuracy of all rows with their intervals, and the difference of a pair.

    The first judge calls all rows correct, with 0.9 for both wrong ones and three of six right
    ones: three ties of two pairs each, of 12. The second is right on one of the wrong rows too.
    """
    one = results(8, labels=[R, W, R, R, R, R, R, W])
    rows = [
        judged(item.id, R, confidence=0.9 if n % 3 else 0.6) for n, item in enumerate(one.items)
    ]
    other = [judged(item.id, W if n == 1 else R) for n, item in enumerate(one.items)]
    both = one._replace(judges={"rules": rows, "other": other}, bootstrap=500)
    text = render_page(both, most=8)
    assert re.search(r'>0\.25 <span class="range">0\.\d\d – 0\.\d\d</span></td>', text)
    assert text.count('>50.0 <span class="range">') == 1
    assert ">other better by 25.0 points (95 % 0.0 to 50.0: may be chance)</td>" in text


def test_axes_hold_their_values() -> None:
    """An axis starts or ends close to the data, and what is outside is drawn at its end."""
    assert up_to_one(0.83).ticks == [0.8, 0.85, 0.9, 0.95, 1.0]
    assert up_to_one(0.2).low == 0
    assert from_zero(0.07).ticks[-1] == 0.1
    axis = from_zero(0.1)
    assert (axis.at(0.5), axis.y(0.0), axis.y(0.1)) == (100.0, 216.0, 16.0)


# --- the list ---


@pytest.mark.parametrize(
    ("label", "verdicts", "labelled", "place"),
    [
        (R, [W], True, 0),
        (None, [R, W], False, 0),
        (W, [N, W], True, 3),
        (None, [W, None], False, 1),
        (W, [None, W], True, 2),
        (None, [None, None], False, 2),
        (None, [R, R], False, 3),
    ],
    ids=["label", "judges", "two-way", "wrong", "open", "nothing", "agree"],
)
def test_differences_come_first(
    label: Verdict | None, verdicts: Sequence[Verdict | None], labelled: bool, place: int
) -> None:
    """Then, without labels, incorrect rows; then rows without a verdict."""
    assert interest(label, verdicts, labelled=labelled) == place


def test_a_row_has_all_its_fields() -> None:
    """Only empty fields are left out; a confidence of zero is not empty."""
    first = listed(results(), 1)[0]
    assert (first["n"], first["id"], first["interest"], first["response"]) == (1, "r0", 0, HOSTILE)
    assert first["tags"] == {"language": ["en"], "answer type": ["number"], "subject": ["a"]}
    assert first["said"][0] == {
        "verdict": "correct", "confidence": 0.9, "method": "test", "reason": "number:equal",
        "words": "Number: the answers are equal.",
        "quote": "So it is  4.", "answer": "4", "chain": "The answers agree: <Yes>",
    }  # fmt: skip
    assert "label" not in first
    why = judged("r0", R, confidence=0.0).model_copy(update={"why": "both are 4"})
    zero = results(1, second=False)._replace(judges={"rules": [why]})
    said = listed(zero, 1)[0]["said"][0]
    assert (said["confidence"], said["words"]) == (0, "both are 4")


def test_a_long_response_keeps_the_end_and_is_said_to_be_cut() -> None:
    """The size of a row is limited, and the page says that it was cut."""
    one = results(1, second=False)
    long = one.items[0].model_copy(update={"response": "Well. " * 20_000 + "So it is 4."})
    (row,) = listed(one._replace(items=[long]), 1)
    assert len(row["response"]) < 12_000
    assert row["response"].endswith("So it is 4.")
    assert row["cut"] is True
    assert "In 1 item long texts are shortened" in render_page(one._replace(items=[long]), most=1)


def test_a_page_holds_the_first_rows_by_interest_and_says_so() -> None:
    """Ten of 400 rows are listed, first that on which judges differ; numbers are of all."""
    text = page(400, most=10)
    found = data(text)
    assert [row["id"] for row in found["rows"]][:2] == ["r0", "r399"]
    assert len(found["rows"]) == 10
    assert "This page lists 10 of 400 items" in text
    assert "400 responses to" in text
    assert 'role="note">This page lists' not in page(10)


# --- what it never does ---


def test_every_text_stays_text() -> None:
    """A response with a closing script tag, or with an image, is in the data unchanged."""
    text = page(labels=[R, W, None])
    document = Document(text)
    assert [tag for tag, _ in document.elements].count("script") == 2
    assert "img" not in {tag for tag, _ in document.elements}
    assert HOSTILE in [row["response"] for row in data(text)["rows"]]
    assert "<!--" not in text
    assert "<title>a &lt;b&gt; · GradeGPT report</title>" in text


def test_a_hostile_tag_and_judge_stay_text() -> None:
    """They occur in tables, in options and in addresses."""
    bad = '"><img src=x onerror=alert(1)>&verdict=correct'
    one = results()
    rows = [
        item.model_copy(update={"tags": {bad: f"{bad}{k}"}}) for k, item in enumerate(one.items)
    ]
    spoilt = one._replace(
        items=rows,
        judges={bad: one.judges["rules"]},
        tags=[{bad: (f"{bad}{k}",)} for k in range(3)],
    )
    document = Document(render_page(spoilt, most=10))
    assert "img" not in {tag for tag, _ in document.elements}
    assert not any(name.startswith("on") for _, a in document.elements for name in a)


@pytest.mark.parametrize("labels", [(), (R, W, N)], ids=["unlabelled", "labelled"])
def test_nothing_is_loaded(labels: Sequence[Verdict]) -> None:
    """There is no address, source or style of another file; links stay on the page."""
    text = page(labels=labels)
    document = Document(text)
    assert "http:" not in text
    assert "https:" not in text
    assert document.values("src") == []
    assert all(link.startswith("#") for link in document.values("href"))
    assert not {"link", "iframe", "object", "embed"} & {tag for tag, _ in document.elements}
    assert not re.search(r"@import|url\(|\bfetch\(|XMLHttpRequest|import\(", text)


def test_the_policy_of_the_page_allows_its_own_script_and_style_alone() -> None:
    """They are allowed by their hashes, so injected markup could not run."""
    text = page()
    document = Document(text)
    (policy,) = [a["content"] or "" for _, a in document.elements if "http-equiv" in a]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert document.values("style") == []
    for tag in ("script", "style"):
        body = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert len(body) == 1
        digest = base64.b64encode(hashlib.sha256(body[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_no_text_becomes_markup_in_the_script() -> None:
    """Texts are only ever set as text."""
    code = "".join((FILES / name).read_text("utf-8") for name in ("items.js", "page.js"))
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function", code
    )


def test_every_label_has_its_field_and_every_plot_a_name() -> None:
    """The page can be read without seeing it."""
    document = Document(page(labels=[R, W, None]))
    ids = document.values("id")
    assert len(ids) == len(set(ids))
    assert set(document.values("aria-labelledby")) <= set(ids)
    plots = [a for tag, a in document.elements if tag == "svg"]
    assert plots
    assert all(a.get("role") == "img" and a.get("aria-label") for a in plots)
    assert all("scope" in a for tag, a in document.elements if tag == "th")
