"""The view for labelling a sheet, in a real browser."""

from __future__ import annotations

import csv
import json
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.estimate.__main__ import app as estimate
from gradegpt.app.run import check_input, judge_file
from gradegpt.judges.rules import RuleJudge
from tests.serve.browser.chromium import Page
from tests.serve.browser.conftest import Open

HEADING = "document.querySelector('#label-heading').innerText"
COLUMNS = ("id", "question", "reference", "response", "label")


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """Eight judgements by the rules, half of them correct."""
    rows = [
        {"id": f"r{n}", "question": f'Is "{n}", $n$?', "reference": "4",
         "response": f"First,\nthe answer is {4 + n % 2}."} for n in range(8)
    ]  # fmt: skip
    source = tmp_path / "answers.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    judge_file(check_input(source), tmp_path / "judged.jsonl", RuleJudge())
    return tmp_path / "judged.jsonl"


@pytest.fixture
def sheet(judged: Path) -> Path:
    """A sheet of four items as the command draws it."""
    path = judged.with_name("labels.csv")
    run = CliRunner().invoke(estimate, [str(judged), "--pick", "4", "-o", str(path)])
    assert run.exit_code == 0, run.output
    return path


def load(page: Page, path: Path) -> None:
    page.run("location.hash = 'label'")
    page.until("!document.querySelector('#label').hidden")
    page.upload("#label-picker", path)
    page.until("!document.querySelector('#label-work').hidden")


def keys(page: Page, pressed: str) -> None:
    for key in pressed.split():
        page.press(key)


def saved(page: Page, folder: Path, name: str) -> str:
    """The text of the downloaded sheet."""
    page.downloads_to(folder)
    page.click("#label-download")
    deadline = time.monotonic() + 5
    while not (folder / name).exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    return (folder / name).read_bytes().decode("utf-8")


def test_a_sheet_is_labelled_by_keyboard_and_the_command_reads_it(
    open_page: Open, sheet: Path, judged: Path, tmp_path: Path
) -> None:
    """The download differs from the sheet in the column of labels alone, in every byte."""
    page = open_page()
    load(page, sheet)
    assert page.run(HEADING) == "Item 1 of 4"
    assert page.run("document.activeElement.id") == "label-heading"
    page.until("document.querySelector('#label-texts math')")
    keys(page, "1 x i C")
    assert page.text("#label-end-heading") == "All 4 items are labelled"
    command = "gradegpt eval.estimate judged.jsonl labels.labelled.csv"
    assert page.text("#label-next code") == command
    made = saved(page, tmp_path, "labels.labelled.csv")
    expected = sheet.read_text(encoding="utf-8")
    for label in ("correct", "incorrect", "invalid", "correct"):
        expected = expected.replace('.",\n', f'.",{label}\n', 1)
    assert made == expected
    run = CliRunner().invoke(estimate, [str(judged), str(tmp_path / "labels.labelled.csv")])
    assert run.exit_code == 0, run.output
    assert "stratified" in run.output


def test_a_reload_loses_nothing(open_page: Open, sheet: Path) -> None:
    """Neither with the kept sheet nor with the file, which is recognised by its content."""
    page = open_page()
    load(page, sheet)
    keys(page, "1 2")
    page.open(page.run("location.href.replace('#label', '?again#label')"))
    assert page.text("#label-continue") == "Continue labels.csv: 2 of 4 labelled"
    page.click("#label-continue")
    assert page.run(HEADING) == "Item 3 of 4"
    page.press("ArrowLeft")
    assert page.run("document.querySelector('#label-incorrect').ariaPressed") == "true"
    page.click("#label-other")
    renamed = sheet.rename(sheet.with_name("other.csv"))
    load(page, renamed)
    assert page.text("#label-count") == "2 of 4 labelled"


def test_labels_are_changed_undone_and_skipped(open_page: Open, sheet: Path) -> None:
    """Items that were skipped are named at the end, and no key works where it is switched off."""
    page = open_page()
    load(page, sheet)
    keys(page, "1 s 2 u u")
    assert page.run(HEADING) == "Item 1 of 4"
    assert page.text("#label-count") == "0 of 4 labelled"
    keys(page, "c ArrowLeft 3 ArrowRight s s")
    assert page.text("#label-end-heading") == "1 of 4 items are labelled"
    assert "without a label: 3" in page.text("#label-result")
    page.click("#label-result .link")
    assert page.run(HEADING) == "Item 2 of 4"
    page.click("#label-keys")
    keys(page, "c c")
    assert page.run(HEADING) == "Item 2 of 4"
    page.click("#label-correct")
    assert page.run(HEADING) == "Item 3 of 4"


def test_the_judgement_is_never_shown_and_other_fields_are_kept(
    open_page: Open, tmp_path: Path
) -> None:
    """In a sheet of JSON Lines, of which some rows are labelled already."""
    row = {
        "id": "a", "reference": ["4", "four"], "response": "It is 4.", "verdict": "incorrect",
        "confidence": 0.93, "reason": "number:different", "label": True,
    }  # fmt: skip
    path = tmp_path / "labels.jsonl"
    other = {**row, "id": "b", "response": "It is 5.", "label": None}
    path.write_text(f"{json.dumps(row)}\n{json.dumps(other)}\n", encoding="utf-8")
    page = open_page()
    load(page, path)
    assert page.run(HEADING) == "Item 2 of 2"
    shown = page.text("#label-item")
    assert "4 / four" in shown
    for secret in ("ncorrect", "93", "number"):
        assert secret not in shown
    page.press("2")
    lines = saved(page, tmp_path, "labels.labelled.jsonl").splitlines()
    assert [json.loads(line) for line in lines] == [row, {**other, "label": "incorrect"}]


NO_SHEETS = (
    (
        "a.csv",
        b"reference,response,label\n4,4,perhaps\n",
        "a.csv holds no row that can be judged.\na.csv:2: the label 'perhaps'",
    ),
    ("a.jsonl", b'{"re', "a.jsonl:1: not a JSON object"),
)


def test_a_file_that_is_no_sheet_is_refused_with_the_reason(
    open_page: Open, tmp_path: Path
) -> None:
    page = open_page()
    for name, content, complaint in NO_SHEETS:
        (tmp_path / name).write_bytes(content)
        page.upload("#label-picker", tmp_path / name)
        shown = "document.querySelector('#label-trouble').textContent"
        page.until(f"{shown}.startsWith({json.dumps(complaint)})", timeout=2)


def test_a_phone_has_large_buttons_and_no_sideways_scrolling(
    open_page: Open, tmp_path: Path
) -> None:
    """At least 44 pixels (WCAG 2.2, 2.5.5), on an item with a long word and a wide formula."""
    path = tmp_path / "labels.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        wide = "$$" + "+".join(["x^2"] * 60) + "$$"
        csv.writer(file).writerows([COLUMNS, ("1", "q" * 300, "4", f"{'x' * 400} {wide}", "")])
    page = open_page(language="zh-CN", size=(360, 740))
    load(page, path)
    page.until("document.querySelector('#label-texts math')")
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    heights = "[...document.querySelectorAll('#label-buttons button')].map(e => e.offsetHeight)"
    assert min(page.run(heights)) >= 44
