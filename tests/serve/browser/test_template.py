"""The view for a template of one's own judge prompt, in a real browser."""

from __future__ import annotations

import time
from pathlib import Path

from gradegpt.core.settings import load_settings
from serve.templates import TEMPLATES, Template
from serve.templates.trials import tried
from tests.serve.browser.conftest import Open

RESULT = "document.querySelector('#template-result').innerText"


def test_trying_an_example_again_never_shows_nothing(open_page: Open) -> None:
    """Its trial has begun when the button is pressed; the trial goes on."""
    page = open_page(path="/#template")
    page.click("#template-example")
    page.click("#template-try")
    page.until(f"{RESULT}.includes('passed all 10 trials')")
    page.run("document.querySelector('#template-text').value = 'name: x'")
    page.click("#template-try")
    page.until(f"{RESULT}.includes(\"setting 'template' is required\")")


def test_a_template_is_tried_changed_and_downloaded(open_page: Open, tmp_path: Path) -> None:
    """By keyboard and by file; only one that passed all trials is offered for download."""
    page = open_page(path="/#template")
    assert page.run("document.querySelector('#template-text').value").startswith("name: acme")
    page.click("#template-example")
    page.until(f"{RESULT}.includes('passed all 10 trials')")
    marks = "[...document.querySelectorAll('#template-result mark')].map(e => e.textContent)"
    assert page.run(marks)[2] == "22 cm"
    page.downloads_to(tmp_path)
    page.click("#template-result section:last-child > button")
    saved = tmp_path / "acme.yaml"
    deadline = time.monotonic() + 5
    while not saved.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not tried(load_settings(Template, saved), TEMPLATES, "acme.yaml").failed

    short = tmp_path / "short.yaml"
    short.write_text(
        "name: acme\ntemplate: K {reference} R {response}\nreply: {correct: A, incorrect: B}\n"
    )
    page.upload("#template-picker", short)
    page.until(f"{RESULT}.includes('failed 1 of 10 trials')")
    shown = page.run(RESULT)
    assert "add more of its text" in shown
    assert "the prompt has no 'K'" in shown
    assert "Download" not in shown

    page.write("#template-text", "x")
    assert page.text("#template-stale") == "The texts have changed since this trial."
    page.run("document.querySelector('#template-text').value = 'x'.repeat(70_000)")
    page.press("Enter", control=True)
    page.until(f"{RESULT}.includes('template: has 70,000 characters')")
