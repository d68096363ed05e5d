"""Queue, deadline, keys, draining, and clients that disconnect."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from gradegpt.core.errors import SettingsError
from gradegpt.core.settings import build_settings
from serve.app import build_app, create_app
from serve.middleware import Middleware
from serve.service import Service
from serve.settings import ServeSettings
from tests.serve.schedulers import Gated, until

ClientFor = Callable[..., TestClient]


def client_of(app: FastAPI) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://judge")


def test_a_full_queue_is_429_with_retry_after(item: dict[str, Any]) -> None:
    """It is the time until there is room for this request: that of one item of three seconds."""
    judge = Gated()
    app = create_app(judge, ServeSettings(max_items=2, max_queue=2))

    async def ask() -> None:
        async with client_of(app) as client:
            running = asyncio.create_task(client.post("/v1/judge", json=item))
            await asyncio.to_thread(judge.entered.wait, 5)
            waiting = asyncio.create_task(client.post("/v1/judge", json={"items": [item] * 2}))
            await until(lambda: app.state.service.scheduler.waiting["full"] == 2)
            app.state.service.scheduler._full._pace_s = 3.0
            full = await client.post("/v1/judge", json=item)
            assert (full.status_code, full.json()["error"]["code"]) == (429, "queue_full")
            said = "2 items wait, at most 2 may; the 1 of this request would exceed that; try again"
            assert said in full.json()["error"]["message"]
            assert full.headers["Retry-After"] == "3"
            judge.gate.set()
            replies = await asyncio.gather(running, waiting)
            assert [reply.status_code for reply in replies] == [200, 200]

    asyncio.run(ask())
    app.state.service.scheduler.close()


def test_a_deadline_is_504(client_for: ClientFor, item: dict[str, Any]) -> None:
    judge = Gated()
    reply = client_for(judge, deadline_s=0.05).post("/v1/judge", json=item)
    assert (reply.status_code, reply.json()["error"]["code"]) == (504, "deadline_exceeded")
    judge.gate.set()


def scope_of(body: bytes, content_type: bytes = b"application/json") -> dict[str, Any]:
    return {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "method": "POST",
        "http_version": "1.1", "scheme": "http", "path": "/v1/judge", "raw_path": b"/v1/judge",
        "query_string": b"", "root_path": "", "client": ("c", 0), "server": ("s", 0),
        "headers": [(b"content-type", content_type), (b"content-length", b"%d" % len(body))],
    }  # fmt: skip


def test_a_body_that_does_not_arrive_is_408() -> None:
    """A client that sends half a body and sleeps does not hold memory forever."""
    app = create_app(Gated(), ServeSettings(deadline_s=0.05))
    parts = iter([{"type": "http.request", "body": b'{"reference"', "more_body": True}])
    said: list[Any] = []

    async def receive() -> dict[str, Any]:
        if (part := next(parts, None)) is not None:
            return part
        await asyncio.sleep(60)
        raise AssertionError

    async def send(message: Any) -> None:
        said.append(message)

    asyncio.run(app(scope_of(b"x" * 100), receive, send))
    app.state.service.scheduler.close()
    assert (said[0]["status"], (b"connection", b"close") in said[0]["headers"]) == (408, True)
    assert app.state.service.gate.held == 0


@pytest.mark.parametrize("lines", [False, True], ids=["whole", "stream"])
def test_all_bodies_together_have_a_limit(
    item: dict[str, Any], lines: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above it a request is refused as busy, and a stream waits."""
    judge = Gated()
    monkeypatch.setattr("serve.settings._BODIES", 1)
    app = create_app(judge, ServeSettings(max_body_bytes=len(json.dumps(item)) + 50))
    kind = {"Content-Type": "application/x-ndjson" if lines else "application/json"}

    async def ask() -> None:
        async with client_of(app) as client:
            body = json.dumps(item)
            running = asyncio.create_task(client.post("/v1/judge", content=body))
            await asyncio.to_thread(judge.entered.wait, 5)
            second = asyncio.create_task(client.post("/v1/judge", content=body, headers=kind))
            await asyncio.wait([second], timeout=0.1)
            assert second.done() is not lines
            assert app.state.service.scheduler.waiting["full"] == 0
            judge.gate.set()
            assert (await running).status_code == 200
            reply = await second
            assert (reply.status_code, "queue_full" in reply.text) == (
                (200, False) if lines else (429, True)
            )

    asyncio.run(ask())
    app.state.service.scheduler.close()
    assert app.state.service.gate.held == 0


@pytest.mark.parametrize("lines", [False, True], ids=["whole", "stream"])
def test_a_client_that_disconnects_withdraws_waiting_items(
    item: dict[str, Any], lines: bool
) -> None:
    """The current batch is finished; the other items are never judged."""
    judge = Gated()
    app = create_app(judge, ServeSettings(max_batch=2))
    rows = [item] * 5
    body = "\n".join(map(json.dumps, rows)) if lines else json.dumps({"items": rows})
    kind = b"application/x-ndjson" if lines else b"application/json"

    async def ask() -> None:
        left, parts = asyncio.Event(), iter([body.encode()])

        async def receive() -> dict[str, Any]:
            if (part := next(parts, None)) is not None:
                return {"type": "http.request", "body": part, "more_body": False}
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            pass

        asked = asyncio.create_task(app(scope_of(body.encode(), kind), receive, send))
        await asyncio.to_thread(judge.entered.wait, 5)
        await until(lambda: app.state.service.scheduler.waiting["full"] >= 3)
        left.set()
        await asyncio.wait_for(asked, 5)
        assert app.state.service.scheduler.waiting["full"] == 0
        judge.gate.set()

    asyncio.run(ask())
    app.state.service.scheduler.close()
    assert sum(map(len, judge.batches)) <= 2
    assert app.state.service.gate.running == 0


@pytest.mark.parametrize("lines", [False, True], ids=["whole", "stream"])
def test_a_request_that_exceeds_the_grace_period_is_answered(
    item: dict[str, Any], lines: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """With 503 and an error as body, or, in a stream, with that as its last line."""
    judge = Gated()
    app = create_app(judge, ServeSettings())
    kind = {"Content-Type": "application/x-ndjson" if lines else "application/json"}

    async def ask() -> None:
        async with client_of(app) as client:
            post = client.post("/v1/judge", content=json.dumps(item), headers=kind)
            asked = asyncio.create_task(post)
            await asyncio.to_thread(judge.entered.wait, 5)
            app.state.service.gate.stop()
            reply = await asyncio.wait_for(asked, 5)
            assert reply.status_code == (200 if lines else 503)
            assert json.loads(reply.text)["error"]["code"] == "not_ready"
            judge.gate.set()

    asyncio.run(ask())
    app.state.service.scheduler.close()
    assert app.state.service.gate.running == 0
    assert capsys.readouterr().err == ""


def test_a_client_that_does_not_read_its_reply_is_given_up() -> None:
    """A large reply is written in pieces, so the server notices; nothing of it is kept."""
    service, said, held = Service.of(ServeSettings(deadline_s=0.05)), list[Any](), list[int]()
    gate = service.gate

    async def replies(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x" * 300_000})

    async def receive() -> dict[str, Any]:
        raise AssertionError

    async def send(message: Any) -> None:
        held.append(gate.held)
        if len(said) == 3:
            await asyncio.sleep(60)
        said.append(message)

    middleware = Middleware(replies, service)
    asyncio.run(middleware(scope_of(b""), receive, send))
    assert [len(message.get("body", b"")) for message in said] == [0, 65_536, 65_536]
    assert held == [0, 300_000, 300_000, 300_000]
    assert (gate.held, gate.running) == (0, 0)


def test_a_stopping_server_refuses_new_requests(
    client_for: ClientFor, item: dict[str, Any]
) -> None:
    client = client_for()
    client.app.state.service.gate.draining = True  # type: ignore[attr-defined]
    refused, ready = client.post("/v1/judge", json=item), client.get("/ready")
    for reply in (refused, ready):
        assert (reply.status_code, reply.json()["error"]["code"]) == (503, "not_ready")
        assert int(reply.headers["Retry-After"]) >= 1
    assert client.get("/health").status_code == 200


def test_a_server_that_loads_is_alive_and_not_ready(item: dict[str, Any]) -> None:
    client = TestClient(build_app(ServeSettings()))
    assert client.get("/health").status_code == 200
    assert client.get("/ready").status_code == 503
    for headers in ({}, {"Content-Type": "application/x-ndjson"}):
        reply = client.post("/v1/judge", content=json.dumps(item), headers=headers)
        assert (reply.status_code, reply.json()["error"]["code"]) == (503, "not_ready")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_items": "9000"}, "max_items: 9000 exceeds max_queue=8192"),
        ({"lanes": "2"}, "lanes: a transformers model judges one batch at a time"),
    ],
    ids=["queue", "lanes"],
)
def test_settings_that_contradict_each_other_are_refused(
    settings: dict[str, str], message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        build_settings(ServeSettings, settings, "x.yaml")


def test_an_unknown_adapter_is_refused_with_a_suggestion() -> None:
    with pytest.raises(SettingsError, match="did you mean 'gradegpt'"):
        build_app(ServeSettings(adapters=("gradgpt",)))


def test_a_key_is_required_where_there_are_keys(
    client_for: ClientFor, item: dict[str, Any]
) -> None:
    """Health, readiness and the page need none; the error says how to send a key."""
    keys = ["gg-alice", "gg-钥匙"]
    client = client_for(api_keys=keys)
    for path in ("/health", "/ready", "/", "/openapi.json"):
        assert client.get(path).status_code == 200
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "alice"}):
        reply = client.post("/v1/judge", json=item, headers=headers)
        assert (reply.status_code, reply.json()["error"]["code"]) == (401, "invalid_api_key")
        assert reply.headers["WWW-Authenticate"] == "Bearer"
        assert "Authorization: Bearer KEY" in reply.json()["error"]["message"]
    assert client.get("/metrics").status_code == 401
    for key in keys:
        good = {"Authorization": f"Bearer {key}".encode()}
        assert client.post("/v1/judge", json=item, headers=good).status_code == 200
