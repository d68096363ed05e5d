"""A headless Chromium on two pipes: no driver program, no port, the standard library alone.

The browser is controlled by its DevTools protocol: JSON objects, each followed by NUL.
https://chromedevtools.github.io/devtools-protocol
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS: Final = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--remote-debugging-pipe", "--no-default-browser-check", "--disable-extensions",
    "--hide-scrollbars", "--disable-dev-shm-usage", "--disable-features=Translate",
)  # fmt: skip
# The browser reads on descriptor 3 and writes on 4; Popen hands descriptors on under their own
# numbers, and its preexec_fn is not safe beside threads.
_EXEC: Final = (
    "import os, sys; a, b = map(int, sys.argv[1:3]); os.dup2(a, 3); os.dup2(b, 4); "
    "os.execv(sys.argv[3], sys.argv[3:])"
)


class BrowserError(Exception):
    """The page raised an error, the browser refused, or there was a timeout."""


def executable() -> str | None:
    """The installed browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """A browser with an empty profile in ``folder``; pages are opened one by one."""

    def __init__(self, program: str, folder: Path) -> None:
        self.folder = folder
        there, self._out = _high_pipe()
        self._in, back = _high_pipe()
        command = [sys.executable, "-c", _EXEC, str(there), str(back), program, *FLAGS]
        with (folder / "chromium.log").open("wb") as log:
            self._process = subprocess.Popen(
                [*command, f"--user-data-dir={folder / 'profile'}", "about:blank"],
                pass_fds=(there, back), stdout=log, stderr=log,
            )  # fmt: skip
        os.close(there)
        os.close(back)
        self._pending = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)
        os.close(self._out)
        os.close(self._in)

    def call(
        self, method: str, session: str | None = None, *, timeout: float = 30, **params: Any
    ) -> dict[str, Any]:
        """Send a command and wait for its result; events that arrive meanwhile are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        left = memoryview(json.dumps(message).encode() + b"\0")
        while left:
            left = left[os.write(self._out, left) :]
        deadline = time.monotonic() + timeout
        while True:
            reply = self._receive(deadline, method)
            if reply.get("id") == self._number:
                break
            self.events.append(reply)
        if "error" in reply:
            raise BrowserError(f"{method}: {reply['error']}")
        return dict(reply["result"])

    def _receive(self, deadline: float, what: str) -> dict[str, Any]:
        while b"\0" not in self._pending:
            ready, _, _ = select.select([self._in], [], [], max(0, deadline - time.monotonic()))
            chunk = os.read(self._in, 1 << 16) if ready else b""
            if not chunk:
                log = (self.folder / "chromium.log").read_text(errors="replace")[-800:]
                raise BrowserError(
                    f"{what}: {'the browser ended' if ready else 'no answer'}\n{log}"
                )
            self._pending += chunk
        raw, _, self._pending = self._pending.partition(b"\0")
        return dict(json.loads(raw))


def _high_pipe() -> tuple[int, int]:
    """A pipe whose ends are well above 3 and 4, so that neither is overwritten."""
    import fcntl

    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 64) for end in ends]
    for end in ends:
        os.close(end)
    return high[0], high[1]


class Page:
    """A tab that leaves no storage: ``run`` evaluates JavaScript, ``until`` waits for it.

    A browser context for each tab would separate them, too, but takes three times as long.
    """

    def __init__(
        self,
        browser: Browser,
        *,
        language: str = "en-US",
        dark: bool = False,
        size: tuple[int, int] = (1280, 900),
    ) -> None:
        self.browser = browser
        self._target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=self._target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        agent = browser.call("Browser.getVersion")["userAgent"]
        self.call("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=language)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.resize(*size)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A command to this tab."""
        return self.browser.call(method, self._session, **params)

    def resize(self, width: int, height: int) -> None:
        """The size of the window, in CSS pixels; below 500 a phone."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=2 if width < 500 else 1,
            mobile=width < 500,
        )  # fmt: skip

    def open(self, url: str) -> None:
        """Go to ``url`` and wait until its scripts have run."""
        self.call("Page.navigate", url=url)
        self.until(
            f"location.href.startsWith({json.dumps(url)}) && document.readyState=='complete'"
        )
        self.until("document.documentElement.hasAttribute('data-ready')")

    def run(self, script: str) -> Any:
        """The value of an expression, a promise awaited. Raises ``BrowserError`` if it throws."""
        result = self.call(
            "Runtime.evaluate",
            expression=script, returnByValue=True, awaitPromise=True, userGesture=True,
        )  # fmt: skip
        if "exceptionDetails" in result:
            raise BrowserError(f"{script}: {json.dumps(result['exceptionDetails'])[:800]}")
        return result["result"].get("value")

    def until(self, condition: str, timeout: float = 30) -> None:
        """Wait until the expression ``condition`` is true."""
        deadline = time.monotonic() + timeout
        while not self.run(f"Boolean({condition})"):
            if time.monotonic() > deadline:
                raise BrowserError(
                    f"never true: {condition}\n{self.run('document.body.innerText')}"
                )
            time.sleep(0.02)

    def text(self, selector: str) -> str:
        """The visible text of the first matching element."""
        return str(self.run(f"document.querySelector({json.dumps(selector)}).innerText"))

    def click(self, selector: str) -> None:
        """Click with the mouse in the middle of an element."""
        found = json.dumps(selector)
        at = self.run(
            f"(() => {{ const e = document.querySelector({found}); e.scrollIntoView("
            "{block: 'center'}); const r = e.getBoundingClientRect(); "
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent",
                type=kind, x=at[0], y=at[1], button="left", clickCount=1,
            )  # fmt: skip

    def write(self, selector: str, text: str) -> None:
        """Focus a field and type ``text`` into it."""
        self.run(f"document.querySelector({json.dumps(selector)}).focus()")
        self.call("Input.insertText", text=text)

    def press(self, key: str, *, control: bool = False) -> None:
        """Press and release a key by its DOM name."""
        codes = {"Enter": 13, "Escape": 27, "ArrowRight": 39, "ArrowLeft": 37, "Tab": 9}
        for kind in ("rawKeyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind, key=key, code=key, modifiers=2 if control else 0,
                windowsVirtualKeyCode=codes.get(key) or ord(key.upper()),
            )  # fmt: skip
        if key == "Escape":  # closes a dialog, which moves focus and page, a moment later
            self.until("!document.querySelector('dialog[open]')")

    def upload(self, selector: str, path: Path) -> None:
        """Choose a file in a file field."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def downloads_to(self, folder: Path) -> None:
        """Save downloads in ``folder`` without asking."""
        self.browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def complaints(self) -> list[str]:
        """Errors and warnings of the page since it was opened: exceptions, policy, failed loads."""
        self.run("0")
        mine = [e for e in self.browser.events if e.get("sessionId") == self._session]
        thrown = [e["params"] for e in mine if e["method"] == "Runtime.exceptionThrown"]
        logged = [e["params"]["entry"] for e in mine if e["method"] == "Log.entryAdded"]
        return [json.dumps(e) for e in thrown] + [
            f"{e['text']} {e.get('url', '')}" for e in logged if e["level"] in ("error", "warning")
        ]

    def close(self) -> None:
        """Close the tab and forget its storage."""
        origin = self.run("`${location.protocol}//${location.host}`")
        self.call("Storage.clearDataForOrigin", origin=origin, storageTypes="all")
        self.browser.call("Target.closeTarget", targetId=self._target)
