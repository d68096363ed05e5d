"""A real browser in front of a real server on the loopback."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI

from gradegpt.judges.rules import RuleJudge
from serve.__main__ import listen, url
from serve.app import create_app
from tests.serve.browser.chromium import Browser, Page, executable

Open = Callable[..., Page]


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = executable()
    if program is None:
        pytest.skip("no Chromium on this machine: the page is not tried in a browser")
    with Browser(program, tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """The address of ``app`` behind uvicorn, in a thread."""
    with listen("127.0.0.1", 0) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        deadline = time.monotonic() + 10
        while not server.started and time.monotonic() < deadline:
            time.sleep(0.01)
        try:
            yield url(*listener.getsockname())
        finally:
            server.should_exit = True
            thread.join(10)


@pytest.fixture(scope="session")
def rules_url() -> Iterator[str]:
    """A server with the rule judge."""
    with served(create_app(RuleJudge())) as address:
        yield address


@pytest.fixture
def open_page(browser: Browser, rules_url: str) -> Iterator[Open]:
    """Opens the page of the rule judge, or of another app, in a new tab.

    At the end of the test, an exception or a policy violation in a tab fails it.
    """
    with ExitStack() as stack:
        pages = []

        def open_it(app: FastAPI | None = None, *, path: str = "/", **kind: object) -> Page:
            base = stack.enter_context(served(app)) if app else rules_url
            page = Page(browser, **kind)  # type: ignore[arg-type]
            stack.callback(page.close)
            page.open(base + path)
            pages.append(page)
            return page

        yield open_it
        complaints = [text for page in pages for text in page.complaints()]
        expected = ("401 (", "413 (", "422 (", "429 (", "500 (", "503 (")
        assert [text for text in complaints if not any(e in text for e in expected)] == []


@pytest.fixture
def rows_file(tmp_path: Path) -> Path:
    """Seven lines: different rows, a blank line, and two invalid lines."""
    path = tmp_path / "answers.jsonl"
    path.write_text(
        '{"id": "right", "question": "2+2=?", "reference": "4", "response": "The answer is 4.",'
        ' "label": true}\n'
        '{"id": "wrong", "question": "3+3=?", "reference": "6", "response": "The answer is 7.",'
        ' "label": "correct"}\n'
        "\n"
        '{"id": "broken", "reference": "6", "resp\n'
        '{"question": "5+5=?", "reference": ["10", "ten"], "response": "The answer is 10."}\n'
        '{"id": "open", "reference": "Because the Sun is low.", "response": "It is cold.",'
        ' "label": false}\n'
        '{"id": "blank", "reference": " ", "response": "The answer is 6."}\n'
        '{"id": "refused", "question": "7+7=?", "reference": "14",'
        ' "response": "I\'m sorry, I cannot answer this question.", "label": "invalid"}\n',
        encoding="utf-8",
    )
    return path
