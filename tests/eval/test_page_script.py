"""The listing and export of the page: its script, run by Node if it is installed."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from eval import report
from eval.report.page import listed
from tests.eval.pages import HOSTILE, R, W, results

SCRIPT: Final = Path(report.__file__).parent / "items.js"
JUDGES: Final = ["rules", "other, too"]
NODE: Final = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="no Node on this machine")


def value(expression: str, **given: Any) -> Any:
    """The value of an expression over ``items.js`` and ``given``."""
    constants = "".join(f"const {name} = {json.dumps(one)};" for name, one in given.items())
    code = f"{SCRIPT.read_text('utf-8')}\n{constants}\nconsole.log(JSON.stringify({expression}))"
    done = subprocess.run(
        [str(NODE), "-"], input=code, capture_output=True, text=True, check=True, timeout=30
    )
    return json.loads(done.stdout)


def rows() -> list[dict[str, Any]]:
    """Three rows: judges differ on the first, the second judge leaves the last open."""
    return listed(results(labels=[R, W, None]), 3)


def test_a_view_is_in_the_address_and_back() -> None:
    """Signs and blanks are kept; defaults are not written, and unknown settings are ignored."""
    view = {"q": "a&b =1#", "verdict": "correct", "tag": "a: b=c", "page": "3"}
    fragment, back = value(
        "[writeView({...VIEW, ...view}), readView('#' + writeView({...VIEW, ...view}))]", view=view
    )
    assert fragment == "q=a%26b+%3D1%23&verdict=correct&tag=a%3A+b%3Dc&page=3"
    assert {key: back[key] for key in view} == view
    assert value("writeView(readView('#other=1'))") == ""


@pytest.mark.parametrize(
    ("view", "ids"),
    [({}, ["r0", "r1", "r2"]), ({"verdict": "incorrect"}, ["r0"]),
     ({"verdict": "correct", "judge": "other, too"}, ["r1"]), ({"verdict": "undecided"}, ["r2"]),
     ({"agreement": "judges"}, ["r0"]), ({"agreement": "label"}, ["r0", "r1"]),
     ({"agreement": "label", "judge": "rules"}, ["r1"]), ({"agreement": "none"}, ["r2"]),
     ({"label": "none"}, ["r2"]), ({"label": "incorrect"}, ["r1"]), ({"tag": "subject: b"}, ["r1"]),
     ({"q": "R2 it"}, ["r2"]), ({"q": "onerror script"}, ["r0"]), ({"q": "nothing"}, []),
     ({"judge": "nobody", "verdict": "correct"}, [])],
    ids=lambda one: "&".join(f"{k}={v}" for k, v in one.items()) if isinstance(one, dict) else "",
)  # fmt: skip
def test_a_view_lists_what_fits_all_its_filters(view: dict[str, str], ids: list[str]) -> None:
    """With a judge, verdict and label filters apply to that judge; a search needs every word."""
    found = value(
        "chosen(rows, judges, {...VIEW, ...view}).map((row) => row.id)",
        rows=rows(), judges=JUDGES, view=view,
    )  # fmt: skip
    assert found == ids


def test_the_orders() -> None:
    """Rows are ordered by interest, as in the file, or by ascending confidence."""
    made = [
        {"n": n, "id": str(n), "reference": [], "said": [{"confidence": c, "verdict": "correct"}]}
        for n, c in ((3, 0.9), (1, 0.5), (2, 0.1))
    ]
    found = value(
        "['', 'file', 'unsure'].map((sort) => "
        "chosen(rows, ['a'], {...VIEW, sort}).map((row) => row.n))",
        rows=made,
    )
    assert found == [[3, 1, 2], [1, 2, 3], [2, 1, 3]]


def test_a_quote_is_found_whatever_its_blanks() -> None:
    """The last occurrence is marked; a missing quote is not, and no text is lost."""
    cases = {
        "so it is 4": [["So. ", False], ["so  it\nis 4", True], [".", False]],
        "no": [["So. so  it\nis 4.", False]],
    }
    for quote, parts in cases.items():
        found = value(
            "marked(text, [find(quote, text)].filter(Boolean))",
            quote=quote, text="So. so  it\nis 4.",
        )  # fmt: skip
        assert found == parts
    assert value("find('a ‹b', 'a <b, a <b')") == [6, 10]
    assert value("[find('', 'a'), find(undefined, 'a'), find('a', '')]") == [None, None, None]


def test_quotes_of_two_judges_that_overlap_are_one_mark() -> None:
    """Every character occurs once."""
    found = value("marked('abcdefgh', [[3, 6], [1, 4], [6, 7]])")
    assert found == [["a", False], ["bcdefg", True], ["h", False]]


def test_the_exported_csv_is_read_back_cell_for_cell() -> None:
    """Commas, quotes and line breaks stay in their cells; each judge has its columns."""
    one = rows()
    one[1]["response"] = 'a "b",\r\nc'
    text = value("asCSV(rows, judges)", rows=one, judges=JUDGES)
    table = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["response"] for row in table] == [HOSTILE, 'a "b",\r\nc', "It is 2."]
    assert [row["other, too verdict"] for row in table] == ["incorrect", "correct", "undecided"]
    assert [row["label"] for row in table] == ["correct", "incorrect", ""]
    assert [row["subject"] for row in table] == ["a", "b", "c"]


def test_the_exported_lines_hold_the_rows_and_each_judgement() -> None:
    """There is one object per line; fields that only the page needs are left out."""
    text = value("asJSONLines(rows, judges)", rows=rows(), judges=JUDGES)
    first, *rest = [json.loads(line) for line in text.splitlines()]
    assert len(rest) == 2
    assert first["judgements"]["rules"]["reason"] == "number:equal"
    assert first["response"] == HOSTILE
    assert not {"n", "interest", "text", "said"} & set(first)
