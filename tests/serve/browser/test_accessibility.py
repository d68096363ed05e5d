"""Every view by the rules of axe-core, in both colour schemes, on a desktop and a phone."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.serve.browser.chromium import Page
from tests.serve.browser.conftest import Open

CHECK = """axe.run(document, {resultTypes: ['violations']}).then(({violations}) => violations
  .flatMap(({id, nodes}) => nodes.map((node) => `${id}: ${node.html.slice(0, 120)}`)))"""
SHEET = "id,question,reference,response,label\n1,What is $x$?,\\frac12,So $x=\\frac12$.,\n"


def axe_script() -> str:
    """The text of axe-core; the test is skipped without it."""
    package = find_spec("axe_core_python")
    if package is None or package.origin is None:
        pytest.skip("axe-core-python is not installed")
    return Path(package.origin).with_name("axe.min.js").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("dark", "size"), [(False, (1280, 860)), (True, (390, 800))])
def test_no_view_breaks_a_rule(
    open_page: Open, tmp_path: Path, rows_file: Path, dark: bool, size: tuple[int, int]
) -> None:
    """Labels, headings, roles and contrast, before and after judging."""
    axe = axe_script()
    (tmp_path / "labels.csv").write_text(SHEET, encoding="utf-8")
    page = open_page(dark=dark, size=size)
    page.run(f"{axe}; true")
    found = {}
    for name, step in STEPS.items():
        step(page, tmp_path, rows_file)
        found[name] = page.run(CHECK)
    assert {name: broken for name, broken in found.items() if broken} == {}


def _empty(page: Page, folder: Path, rows: Path) -> None:
    page.until("document.querySelector('.legend')")


def _judged(page: Page, folder: Path, rows: Path) -> None:
    page.write("#question", "What is $x$?")
    page.write("#reference", r"\frac12")
    page.write("#response", r"So $x=\frac12$.")
    page.press("Enter", control=True)
    page.until("document.querySelector('#result math')")
    page.run("document.querySelectorAll('details').forEach(e => e.open = true)")


def _file(page: Page, folder: Path, rows: Path) -> None:
    page.run("document.querySelectorAll('details').forEach(e => e.open = false)")
    page.run("location.hash = 'file'")
    page.until("!document.querySelector('#file').hidden")


def _asks(page: Page, folder: Path, rows: Path) -> None:
    (folder / "list.csv").write_text("name,Q1\nAnn,4\n", encoding="utf-8")
    page.upload("#picker", folder / "list.csv")
    page.until("document.activeElement.id === 'asked-0'")


def _table(page: Page, folder: Path, rows: Path) -> None:
    answers = "".join(f"{pupil},{q},4,{q}\n" for pupil in ("Ann", "Bob") for q in (4, 5))
    (folder / "class.csv").write_text(f"name,question,reference,response\n{answers}", "utf-8")
    page.upload("#picker", folder / "class.csv")
    page.until("!document.querySelector('#loaded').hidden")
    page.click("#start")
    page.until("!document.querySelector('#download').hidden")


def _row(page: Page, folder: Path, rows: Path) -> None:
    page.click("tr[data-row='1'] .open")
    page.until("document.querySelector('dialog').open")


def _label(page: Page, folder: Path, rows: Path) -> None:
    page.press("Escape")
    page.run("location.hash = 'label'")
    page.until("!document.querySelector('#label').hidden")


def _item(page: Page, folder: Path, rows: Path) -> None:
    page.upload("#label-picker", folder / "labels.csv")
    page.until("document.querySelector('#label-texts math')")


def _end(page: Page, folder: Path, rows: Path) -> None:
    page.press("c")
    page.until("!document.querySelector('#label-end').hidden")


STEPS = {
    "one answer": _empty, "a judgement": _judged, "a file": _file, "a class list": _asks,
    "its table": _table, "a row": _row, "label": _label, "an item": _item, "the end": _end,
}  # fmt: skip
