"""The page in a real browser, from a file; skipped without a browser."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eval.report.page import render_page
from tests.eval.pages import HOSTILE, R, W, results
from tests.serve.browser.chromium import Browser, Page, executable
from tests.serve.browser.test_accessibility import CHECK, axe_script

IDS = "[...document.querySelectorAll('.item .id')].map((one) => one.textContent)"
OPENED = "document.querySelector('.item[open] .id')?.textContent"
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = executable()
    if program is None:
        pytest.skip("no Chromium on this machine: the page is not tried in a browser")
    with Browser(program, tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens a page of ``n`` rows at a fragment; an error on the page fails the test."""
    tabs = []

    def open_it(n: int = 3, fragment: str = "", *, width: int = 1280, **kind: Any) -> Page:
        path = tmp_path / "report.html"
        labels = [R, W, *[None] * (n - 2)]
        path.write_text(render_page(results(n, labels=labels), most=n), "utf-8")
        tabs.append(Page(browser, size=(width, 900), **kind))
        tabs[-1].open(f"{path.as_uri()}{fragment}")
        return tabs[-1]

    yield open_it
    complaints = [text for tab in tabs for text in tab.complaints()]
    for tab in tabs:
        tab.close()
    assert complaints == []


def press(page: Page, key: str) -> None:
    event = f"new KeyboardEvent('keydown', {{key: {json.dumps(key)}, bubbles: true}})"
    page.run(f"document.activeElement.dispatchEvent({event})")


def test_the_address_is_the_view(open_page: Open) -> None:
    """Opened at a fragment the page shows that view; a filter is written into the address."""
    page = open_page(fragment="#agreement=label&judge=rules")
    assert page.run(IDS) == ["r1"]
    assert page.run("filters.agreement.value") == "label"
    page.click("button[type=reset]")
    assert page.run(IDS) == ["r0", "r1", "r2"]
    page.write("input[name=q]", "it r2")
    page.until("location.hash == '#q=it+r2'")
    assert page.run(IDS) == ["r2"]
    assert page.text("#shown") == "1 of 3 items"


def test_a_number_opens_its_items(open_page: Open) -> None:
    """A cell of the table of labels is a link to a view."""
    page = open_page()
    page.click(".confusion td.wrong a")
    page.until(f"{IDS}.join() == 'r1'")
    assert "label=incorrect" in page.run("location.hash")


def test_the_quote_is_marked_and_hostile_text_is_shown(open_page: Open) -> None:
    """Nothing in the response is run or loaded; the chain is shown on demand."""
    page = open_page(fragment="#item=1")
    assert page.run("document.querySelector('.item[open] mark').textContent") == "So it is 4."
    shown = "document.querySelector('mark').parentElement.textContent"
    assert page.run(shown) == HOSTILE
    assert page.run("document.images.length + document.scripts.length") == 2
    assert page.run("[...document.querySelectorAll('.judgements details')].length") == 1


def test_keys_step_through_the_items(open_page: Open) -> None:
    """J and k open the next and the previous item, across pages; / focuses the search."""
    page = open_page(120)
    opened = []
    for key in "jjk":
        press(page, key)
        opened.append(page.run(OPENED))
    assert opened[0] == opened[2] != opened[1]
    press(page, "/")
    assert page.run("document.activeElement.name") == "q"
    press(page, "j")
    assert page.run(OPENED) == opened[0]
    page.run("document.activeElement.blur()")
    for _ in range(50):
        press(page, "j")
    assert page.text("#pages span") == "page 2 of 3"
    assert page.run("document.querySelectorAll('.item').length") == 50
    assert page.run("document.querySelectorAll('.item[open]').length") == 1


def test_a_table_sorts_by_its_columns(open_page: Open) -> None:
    """It sorts in descending order first, then ascending, and the header shows it."""
    page = open_page(9)
    score = "[...document.querySelectorAll('.tag tbody tr')].map((tr) => tr.cells[3].dataset.value)"
    for order in ("descending", "ascending"):
        page.click(".tag th:nth-child(4) button")
        known = [float(one) for one in page.run(score) if one]
        assert known == sorted(known, reverse=order == "descending")
        assert page.run("document.querySelector('.tag [aria-sort]').ariaSort") == order


def test_the_listed_items_are_downloaded(open_page: Open, tmp_path: Path) -> None:
    """The items of the view are downloaded, in both formats."""
    page = open_page(fragment="#verdict=incorrect")
    page.downloads_to(tmp_path)
    for kind in ("csv", "jsonl"):
        page.click(f"#{kind}")
    deadline = time.monotonic() + 10
    while len(found := [p for p in tmp_path.iterdir() if p.suffix in (".csv", ".jsonl")]) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    for path in found:
        text = path.read_text("utf-8-sig")
        assert "r0" in text
        assert "r1" not in text


@pytest.mark.parametrize("width", [1280, 1920])
def test_question_expected_and_given_stand_side_by_side(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    """Also with four judges: each has room, the verdicts are narrow, and the heads are above.

    No table is cut, that of scores and that of pairs included.
    """
    one = results(9, labels=[R, W] * 4 + [R])
    four = {f"untrained-{name}-{n}": rows for n in (1, 2) for name, rows in one.judges.items()}
    (tmp_path / "report.html").write_text(render_page(one._replace(judges=four), most=9), "utf-8")
    page = Page(browser, size=(width, 900))
    page.open((tmp_path / "report.html").as_uri())
    box = "document.querySelector('.item {}').getBoundingClientRect()"
    of = [
        page.run(f"[{b}.left, {b}.width]")
        for b in map(box.format, (".title", ".expected", ".given", ".verdicts"))
    ]
    spans = "[...document.querySelectorAll('.heads span')]"
    heads = page.run(f"{spans}.map((one) => one.getBoundingClientRect().left)")
    assert [left for left, _ in of[:3]] == pytest.approx(heads, abs=1)
    assert min(size for _, size in of[:3]) > 150
    assert of[3][1] < 160
    scrolled = (
        "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth)"
    )
    assert page.run(f"{scrolled}.map((e) => e.getAttribute('aria-label'))") == []
    assert (
        page.run("document.querySelectorAll('.item')[0].querySelectorAll('.verdicts .word').length")
        == 5
    )
    page.close()


def test_the_page_fits_a_phone(open_page: Open) -> None:
    """Nothing is wider than the screen; tables scroll separately."""
    page = open_page(fragment="#item=1", width=390, dark=True)
    assert page.run("document.documentElement.scrollWidth") == 390
    links = "[...document.querySelectorAll('header nav a')]"
    assert page.run(f"new Set({links}.map((a) => a.offsetTop)).size") == 1


@pytest.mark.slow
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_the_page_breaks_no_rule_of_accessibility(open_page: Open, width: int, dark: bool) -> None:
    page = open_page(fragment="#item=2", width=width, dark=dark)
    page.run(f"{axe_script()}; true")
    assert page.run(CHECK) == []


def test_the_page_is_in_the_browsers_language(open_page: Open) -> None:
    """Every word of its own, in what was written and what its script makes; the data stay."""
    page = open_page(60, "#item=2", language="zh-CN")
    assert page.run("document.documentElement.lang") == "zh-CN"
    assert page.text("#shown") == "60 条中的 60 条"
    assert "数值：两个答案相等。" in page.text(".item[open]")
    assert page.run("filters.verdict.options[1].value") == "correct"
    assert page.text("#scores-title") == "评判者的正确率"
    assert " % " in page.text("#scores .card .soft")
    assert "找到的答案" in page.text(".heads")
    page.run("document.querySelectorAll('.judge, .id, h1, kbd').forEach((one) => one.remove())")
    words = set(re.findall(r"[A-Za-z]{3,}", page.text("body")))
    data = {"subject", "test", "The", "answers", "agree", "Yes", "too", "other"}
    names = {"GradeGPT", "AUC", "Acc", "outcome", "Wilson",
             "CSV", "JSON", "Lines"}  # fmt: skip
    assert words - data - names == set()
