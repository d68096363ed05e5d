"""The log line of a request, and its request id."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

ClientFor = Callable[..., TestClient]


def rows(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_request_is_a_line_without_content(
    client_for: ClientFor, item: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """If it was asked for."""
    client_for().post("/v1/judge", json=item)
    assert capsys.readouterr().err == ""
    client = client_for(log="requests")
    client.post("/v1/judge", json={"items": [item, {**item, "response": "SECRET?"}]})
    [row] = rows(capsys)
    assert row["ms"] > 0
    assert row["time"].endswith("+00:00")
    logged = {name: row[name] for name in ("method", "path", "status", "items", "key", "family")}
    assert logged == {
        "method": "POST", "path": "/v1/judge", "status": 200, "items": 2, "key": "", "family": "",
    }  # fmt: skip
    assert sum(row["outcomes"].values()) == 2
    assert "SECRET" not in json.dumps(row)


def test_the_family_of_a_prompt_is_logged(
    client_for: ClientFor, prompt: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    body = {"model": "any", "messages": prompt}
    client_for(log="requests").post("/v1/chat/completions", json=body)
    [row] = rows(capsys)
    assert (row["family"], row["items"], row["outcomes"]) == ("gradegpt", 1, {"judged": 1})


def test_refusals_and_streams_are_logged_and_their_errors_counted(
    client_for: ClientFor, item: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Errors of replies, of refusals before a handler, and of lines in a stream."""
    client = client_for(log="requests")
    client.post("/v1/judge", content=b"{")
    body = "\n".join([json.dumps(item)] * 3 + ["{}", "[]"])
    client.post("/v1/judge", content=body, headers={"Content-Type": "application/x-ndjson"})
    client.get("/v1/nothing")
    client.app.state.service.gate.draining = True  # type: ignore[attr-defined]
    client.post("/v1/judge", json=item)
    assert [(row["status"], row["items"], row["errors"]) for row in rows(capsys)] == [
        (400, 0, {"malformed_json": 1}), (200, 3, {"invalid_input": 2}),
        (404, 0, {"not_found": 1}), (503, 0, {"not_ready": 1}),
    ]  # fmt: skip
    text = client.app.state.service.metrics.render().decode()  # type: ignore[attr-defined]
    assert 'gradegpt_errors_total{code="invalid_input"} 2.0' in text


def test_a_path_writes_no_line_and_no_command_of_its_own(
    client_for: ClientFor, capsys: pytest.CaptureFixture[str]
) -> None:
    """Control characters and line separators are escaped; Chinese stays readable."""
    client_for(log="requests").get("/a%0A%1B%C2%9B%E2%80%A8%E2%80%AE答")
    written = capsys.readouterr().err
    assert [c for c in written if not c.isprintable()] == ["\n"]
    assert "答" in written
    assert json.loads(written)["path"] == "/a\n\x1b\x9b\u2028\u202e答"


@pytest.mark.parametrize(
    ("given", "kept"), [("run-7:42", True), ("a\tb", False), ("x" * 200, False)]
)
def test_a_request_keeps_a_valid_id(client_for: ClientFor, given: str, kept: bool) -> None:
    """An invalid id is replaced, as it must not break a line of the log."""
    name = client_for().get("/health", headers={"X-Request-Id": given}).headers["X-Request-Id"]
    assert (name == given) is kept
    assert name
