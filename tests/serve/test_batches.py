"""Files and batches: from an upload to the results, with killed servers and cancellation."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import openai
import pytest
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.testclient import TestClient

from gradegpt.judges import RuleJudge
from serve import batches, files
from serve.app import create_app
from serve.batches.runner import Runner
from serve.batches.store import BatchStore, Done
from serve.errors import handle_errors
from serve.files import OWNER
from serve.metrics import Metrics
from serve.middleware import Gate, Middleware
from serve.settings import ServeSettings

ROOT = Path(__file__).parents[2]
ENDPOINT: Final = "/v1/chat/completions"
OVER = {"completed", "failed", "cancelled", "expired"}


class Model:
    """The endpoint that lines are posted to, controlled by their content."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.under_way = self.most = 0
        self.owners: set[str | None] = set()
        self.open = threading.Event()
        self.open.set()

    async def __call__(self, request: Request) -> JSONResponse:
        content = (await request.json())["messages"][0]["content"]
        self.asked[content] += 1
        self.owners.add(request.scope.get(OWNER))
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            return await self._reply(content)
        finally:
            self.under_way -= 1

    async def _reply(self, content: str) -> JSONResponse:
        await asyncio.sleep(0)
        while not self.open.is_set():
            await asyncio.sleep(0.005)
        match content.split()[0]:
            case "crash":
                raise RuntimeError("the insides")
            case "busy" if self.asked[content] < 3:
                return JSONResponse({"error": {}}, 429, headers={"Retry-After": "0"})
            case "down":
                return JSONResponse({"error": {"code": "engine_error"}}, 502, {"Retry-After": "0"})
            case "bad":
                return JSONResponse({"error": {"code": "invalid_input"}}, 422)
            case _:
                return JSONResponse({"object": "chat.completion", "echo": content})


def app_of(state: Path, model: Model) -> FastAPI:
    """An application with files, batches and that one endpoint."""
    app = FastAPI()
    handle_errors(app)
    limits = {"max_file_bytes": 10**6, "max_batch_lines": 500, "batch_concurrency": 4}
    app.state.settings = ServeSettings(state=state, **limits)
    app.include_router(files.router)
    app.include_router(batches.router)
    app.post(ENDPOINT)(model.__call__)
    app.state.gate = Gate()
    app.add_middleware(Middleware, gate=app.state.gate, metrics=Metrics())

    @app.middleware("http")
    async def _key(request: Request, call_next: Callable[..., Any]) -> Any:
        if OWNER not in request.scope:
            request.scope[OWNER] = request.headers.get("authorization", "").removeprefix("Bearer ")
        return await call_next(request)

    return app


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def client(tmp_path: Path, model: Model) -> Iterator[TestClient]:
    """A client of such an application, with running background work."""
    with TestClient(app_of(tmp_path, model), raise_server_exceptions=False) as client:
        yield client


def line(number: int, content: str = "ok", **change: Any) -> dict[str, Any]:
    body = {"model": "m", "messages": [{"role": "user", "content": content}]}
    return {"custom_id": f"c{number}", "method": "POST", "url": ENDPOINT, "body": body, **change}


def jsonl(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def upload(client: TestClient, data: bytes, name: str = "in.jsonl") -> str:
    reply = client.post("/v1/files", data={"purpose": "batch"}, files={"file": (name, data)})
    assert reply.status_code == 200, reply.text
    return str(reply.json()["id"])


def create(client: TestClient, file_id: str, **change: Any) -> dict[str, Any]:
    body = {"input_file_id": file_id, "endpoint": ENDPOINT, "completion_window": "24h", **change}
    reply = client.post("/v1/batches", json=body)
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


def until(
    client: TestClient, batch: dict[str, Any], states: set[str] = OVER, seconds: float = 10
) -> dict[str, Any]:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        batch = dict(client.get(f"/v1/batches/{batch['id']}").json())
        if batch["status"] in states:
            return batch
        time.sleep(0.01)
    raise AssertionError(f"still {batch['status']}")


def wait_for(happened: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def run(client: TestClient, *rows: dict[str, Any]) -> dict[str, Any]:
    """The finished batch of these rows."""
    return until(client, create(client, upload(client, jsonl(*rows))))


def rows_of(client: TestClient, file_id: str | None) -> list[dict[str, Any]]:
    text = client.get(f"/v1/files/{file_id}/content").text
    return [json.loads(row) for row in text.splitlines()]


def test_a_file_is_returned_unchanged(client: TestClient) -> None:
    """It is equal byte for byte and has OpenAI's fields, until it is deleted."""
    data = b'{"a": "\xe4\xb8\xad"}\r\n\x00\n' * 70_000
    about = client.get(f"/v1/files/{upload(client, data[:900_000])}").json()
    assert {**about, "id": "", "created_at": 0} == {
        "id": "", "object": "file", "bytes": 900_000, "created_at": 0, "filename": "in.jsonl",
        "purpose": "batch", "status": "processed",
    }  # fmt: skip
    reply = client.get(f"/v1/files/{about['id']}/content")
    assert reply.content == data[:900_000]
    assert reply.headers["content-disposition"].startswith("attachment")
    deleted = client.delete(f"/v1/files/{about['id']}").json()
    assert deleted == {"id": about["id"], "object": "file", "deleted": True}
    for path in (f"/v1/files/{about['id']}", f"/v1/files/{about['id']}/content"):
        assert client.get(path).status_code == 404
    assert client.delete(f"/v1/files/{about['id']}").status_code == 404


@pytest.mark.parametrize(
    ("name", "shown"),
    [("../../etc/passwd", "passwd"), ("C:\\x\\y.jsonl", "y.jsonl"), ("a\u202eb.jsonl", "ab.jsonl"),
     ("/", "upload.jsonl"), ("n" * 999, "n" * 255)],
    ids=["up", "windows", "control", "no-name", "long"],
)  # fmt: skip
def test_a_name_is_text_and_never_a_path(
    client: TestClient, tmp_path: Path, name: str, shown: str
) -> None:
    file_id = upload(client, b"{}", name)
    assert client.get(f"/v1/files/{file_id}").json()["filename"] == shown
    made = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert made == {f"{file_id}.json", f"{file_id}.bytes"}


@pytest.mark.parametrize(
    "file_id", ["file-x", "..%2F..%2Fx", "%2e%2e", "file-" + "0" * 32, "file-%00"]
)
def test_invalid_ids_are_not_found(client: TestClient, file_id: str) -> None:
    for path in (f"/v1/files/{file_id}", f"/v1/files/{file_id}/content", f"/v1/batches/{file_id}"):
        assert client.get(path).status_code == 404
    assert client.post(f"/v1/batches/{file_id}/cancel").status_code == 404


def test_files_and_batches_are_closed_to_other_users(client: TestClient, tmp_path: Path) -> None:
    """Also in a folder that was open to them before."""
    (tmp_path / "files").mkdir(mode=0o755, exist_ok=True)
    until(client, create(client, upload(client, jsonl(line(1)))))
    paths = [p for p in tmp_path.rglob("*") if p.is_dir() or p.suffix in (".bytes", ".json")]
    modes = {(path.is_dir(), path.stat().st_mode & 0o777) for path in paths}
    assert modes == {(True, 0o700), (False, 0o600)}


def test_a_file_over_the_limit_is_refused_and_leaves_nothing(
    client: TestClient, tmp_path: Path
) -> None:
    """413 for a declared length, for a counted one, and for the file itself."""
    boundary = b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'

    def chunks() -> Iterator[bytes]:
        yield boundary
        for _ in range(40):
            yield b"x" * 100_000

    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    replies = [
        client.post("/v1/files", data={"purpose": "batch"}, files={"file": b"x" * size})
        for size in (10**6 + 1, 4 * 10**6)
    ] + [client.post("/v1/files", content=chunks(), headers=kind)]
    for reply in replies:
        assert reply.status_code == 413
        assert "larger max_file_bytes" in reply.json()["error"]["message"]
    assert list(tmp_path.rglob("*.*")) == []


@pytest.mark.parametrize(
    ("sent", "status", "message"),
    [
        ({"data": {"purpose": "batch"}}, 400, "the body is no form"),
        ({"json": {}}, 400, "the body is no form"),
        ({"content": b"--b\r\nx", "headers": {"Content-Type": "multipart/form-data"}}, 400,
         "the body is no form: Missing boundary"),
        ({"content": b"nonsense", "headers": {"Content-Type": "multipart/form-data; boundary=b"}},
         400, "the body is no form"),
        ({"content": b'--b\r\nContent-Disposition: form-data; name="n"\r\n\r\nv\r\n--b--\r\n',
          "headers": {"Content-Type": "multipart/form-data; boundary=b; charset=undefined"}}, 400,
         "the body is no form: decoding with 'undefined'"),
        ({"data": {"purpose": "batch", "file": "text"}, "files": {"other": b""}}, 422,
         "file: field required, with a file name"),
        ({"files": {"file": b"{}"}}, 422, "purpose: field required"),
        ({"data": {"purpose": "fine-tune"}, "files": {"file": b"{}"}}, 400,
         "purpose: is 'fine-tune'; files are only for batches"),
    ],
    ids=["urlencoded", "json", "no-boundary", "nonsense", "charset", "no-file", "no-purpose",
         "fine-tune"],
)  # fmt: skip
def test_an_error_of_a_form_names_what_is_missing(
    client: TestClient, sent: dict[str, Any], status: int, message: str
) -> None:
    reply = client.post("/v1/files", **sent)
    assert reply.status_code == status
    assert reply.json()["error"]["message"].startswith(message)


def test_files_are_listed_in_pages(client: TestClient) -> None:
    """Newest or oldest first, each once, for any page size."""
    ids = [upload(client, b"{}") for _ in range(5)]
    listed = client.get("/v1/files").json()
    assert [row["id"] for row in listed["data"]] == ids[::-1]
    assert (listed["has_more"], listed["first_id"], listed["last_id"]) == (False, ids[4], ids[0])
    page = client.get("/v1/files", params={"order": "asc", "limit": 2, "after": ids[1]}).json()
    assert ([row["id"] for row in page["data"]], page["has_more"]) == (ids[2:4], True)
    assert client.get("/v1/files", params={"purpose": "batch_output"}).json()["data"] == []
    assert client.get("/v1/files", params={"after": "file-x"}).status_code == 404
    assert client.get("/v1/files", params={"limit": 0}).status_code == 422


def test_a_batch_answers_every_line_once_in_order(client: TestClient, model: Model) -> None:
    """Successful and failed replies are in separate files; counts add up."""
    rows = [line(n, ("ok", "bad", "crash")[n % 3] + f" {n}") for n in range(30)]
    batch = run(client, *rows)
    assert batch["status"] == "completed"
    assert batch["request_counts"] == {"total": 30, "completed": 10, "failed": 20}
    good, bad = (rows_of(client, batch[f"{kind}_file_id"]) for kind in ("output", "error"))
    assert [row["custom_id"] for row in good] == [f"c{n}" for n in range(0, 30, 3)]
    assert [row["custom_id"] for row in bad] == [f"c{n}" for n in range(30) if n % 3]
    assert good[1]["response"]["status_code"] == 200
    assert good[1]["response"]["body"] == {"object": "chat.completion", "echo": "ok 3"}
    assert set(good[1]) == {"id", "custom_id", "response", "error"}
    assert good[1]["error"] is None
    assert [row["response"]["status_code"] for row in bad[:2]] == [422, 500]
    assert "insides" not in json.dumps(bad)
    assert len({row["id"] for row in good + bad}) == 30
    assert set(model.asked.values()) == {1}
    assert model.most <= 4


def test_a_finished_batch_has_openais_fields(client: TestClient) -> None:
    """Results are files of purpose ``batch_output``; times of other states are null."""
    data = jsonl(line(0))
    batch = until(client, create(client, upload(client, data), metadata={"run": "7"}))
    for stage in ("in_progress", "finalizing", "completed"):
        assert batch["created_at"] <= batch[f"{stage}_at"] <= time.time()
    for none in ("failed_at", "cancelled_at", "cancelling_at", "expired_at", "errors",
                 "error_file_id"):  # fmt: skip
        assert batch[none] is None
    assert (batch["object"], batch["endpoint"], batch["metadata"]) == (
        "batch", ENDPOINT, {"run": "7"}
    )  # fmt: skip
    assert batch["expires_at"] - batch["created_at"] == 24 * 3600
    output = client.get(f"/v1/files/{batch['output_file_id']}").json()
    assert output["purpose"] == "batch_output"
    assert output["filename"] == f"{batch['id']}_output.jsonl"
    refused = client.post(
        "/v1/batches",
        json={"input_file_id": output["id"], "endpoint": ENDPOINT, "completion_window": "24h"},
    )
    assert refused.status_code == 400


def test_a_busy_or_failing_engine_is_asked_again(client: TestClient, model: Model) -> None:
    """A full queue is retried without limit; a failing engine is tried three times."""
    batch = run(client, line(0, "busy"), line(1, "down"))
    assert batch["request_counts"] == {"total": 2, "completed": 1, "failed": 1}
    assert model.asked == {"busy": 3, "down": 3}
    [failed] = rows_of(client, batch["error_file_id"])
    assert failed["response"]["status_code"] == 502


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", [(None, "empty_file", None)]),
        (b"\n \n", [(None, "empty_file", None)]),
        (jsonl(line(0)) + b"{\n[]\n\xff\n", [(n, "invalid_json_line", None) for n in (2, 3, 4)]),
        (jsonl(line(0), line(0), line(1), line(0)),
         [(2, "duplicate_custom_id", "custom_id"), (4, "duplicate_custom_id", "custom_id")]),
        (jsonl(line(0, method="GET"), line(1, url="/v1/completions"), line(2)),
         [(1, "invalid_method", "method"), (2, "invalid_url", "url")]),
        (jsonl(line(0, body=None), line(1, body={}), {}, line(2, custom_id=7)),
         [(1, "missing_required_parameter", "body"), (2, "missing_required_parameter", "body"),
          (3, "missing_required_parameter", "custom_id"),
          (4, "missing_required_parameter", "custom_id")]),
        (jsonl(line(0, body={"stream": True})), [(1, "unsupported_value", "body.stream")]),
        (jsonl(*map(line, range(501))), [(None, "too_many_lines", None)]),
    ],
    ids=["empty", "blank", "json", "twice", "elsewhere", "fields", "stream", "many"],
)  # fmt: skip
def test_an_invalid_file_fails_with_its_lines_before_any_request(
    client: TestClient, model: Model, data: bytes, expected: list[tuple[Any, ...]]
) -> None:
    batch = until(client, create(client, upload(client, data)))
    assert batch["status"] == "failed"
    assert batch["failed_at"] is not None
    problems = [(row["line"], row["code"], row["param"]) for row in batch["errors"]["data"]]
    assert problems == expected
    assert all(row["message"] for row in batch["errors"]["data"])
    assert model.asked == {}


def test_of_many_problems_a_hundred_are_listed(client: TestClient) -> None:
    batch = until(client, create(client, upload(client, b"{\n" * 150)))
    listed = batch["errors"]["data"]
    assert len(listed) == 101
    assert listed[-1]["message"] == "and 50 more lines with problems"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"input_file_id": "file-" + "0" * 32}, 404),
        ({"endpoint": "/v1/embeddings"}, 422),
        ({"completion_window": "1h"}, 422),
        ({"metadata": {"k": 5}}, 422),
        ({"metadata": {str(n): "v" for n in range(17)}}, 422),
        ({"metadata": {"k": "v" * 513}}, 422),
    ],
    ids=["no-file", "endpoint", "window", "metadata", "keys", "value"],
)
def test_an_invalid_request_makes_no_batch(
    client: TestClient, change: dict[str, Any], status: int
) -> None:
    body = {"input_file_id": upload(client, b"{}"), "endpoint": ENDPOINT,
            "completion_window": "24h", **change}  # fmt: skip
    assert client.post("/v1/batches", json=body).status_code == status
    assert client.get("/v1/batches").json()["data"] == []


def test_batches_are_listed_newest_first_in_pages(client: TestClient) -> None:
    file_id = upload(client, jsonl(line(0)))
    ids = [create(client, file_id)["id"] for _ in range(3)][::-1]
    first = client.get("/v1/batches", params={"limit": 2}).json()
    assert ([row["id"] for row in first["data"]], first["has_more"]) == (ids[:2], True)
    rest = client.get("/v1/batches", params={"limit": 2, "after": first["last_id"]}).json()
    assert ([row["id"] for row in rest["data"]], rest["has_more"]) == (ids[2:], False)


def test_a_deleted_input_does_not_stop_its_batch(client: TestClient, model: Model) -> None:
    """The batch has its own copy from its creation."""
    model.open.clear()
    file_id = upload(client, jsonl(*map(line, range(20))))
    batch = create(client, file_id)
    client.delete(f"/v1/files/{file_id}")
    model.open.set()
    assert until(client, batch)["request_counts"]["completed"] == 20


def test_a_cancelled_batch_keeps_its_results(client: TestClient, model: Model) -> None:
    """Running requests finish, the others get errors; every line is in one of the two files."""
    model.open.clear()
    batch = create(client, upload(client, jsonl(*(line(n, f"ok {n}") for n in range(20)))))
    until(client, batch, {"in_progress"})
    wait_for(lambda: model.under_way == 4)
    for _ in range(2):  # a second request changes nothing
        asked = client.post(f"/v1/batches/{batch['id']}/cancel").json()
        assert (asked["status"], asked["cancelling_at"] is None) == ("cancelling", False)
    model.open.set()
    batch = until(client, batch)
    assert batch["status"] == "cancelled"
    assert batch["request_counts"] == {"total": 20, "completed": 4, "failed": 16}
    assert [row["custom_id"] for row in rows_of(client, batch["output_file_id"])] == [
        "c0", "c1", "c2", "c3"
    ]  # fmt: skip
    left = rows_of(client, batch["error_file_id"])
    assert {row["custom_id"] for row in left} == {f"c{n}" for n in range(4, 20)}
    assert {row["error"]["code"] for row in left} == {"batch_cancelled"}
    assert sum(model.asked.values()) == 4
    again = client.post(f"/v1/batches/{batch['id']}/cancel")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "batch_over")


def test_an_expired_batch_reports_it_and_keeps_its_results(
    client: TestClient, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.open.clear()
    batch = create(client, upload(client, jsonl(*(line(n) for n in range(6)))))
    wait_for(lambda: model.under_way == 4)
    monkeypatch.setattr("serve.batches.store.WINDOW_S", -2)
    model.open.set()
    batch = until(client, batch)
    assert (batch["status"], batch["request_counts"]["completed"]) == ("expired", 4)
    assert [row["error"]["code"] for row in rows_of(client, batch["error_file_id"])] == [
        "batch_expired"
    ] * 2


def test_keys_separate_files_and_batches_and_lines_need_none(
    client: TestClient, model: Model
) -> None:
    """One owner's ids are unknown to another; a line is sent on behalf of the batch's owner."""
    client.headers["Authorization"] = "Bearer ann"
    batch = run(client, line(0))
    assert model.owners == {"ann"}
    client.headers["Authorization"] = "Bearer bob"
    for path in (f"/v1/files/{batch['input_file_id']}", f"/v1/batches/{batch['id']}",
                 f"/v1/files/{batch['output_file_id']}/content"):  # fmt: skip
        assert client.get(path).status_code == 404
    assert client.get("/v1/files").json()["data"] == client.get("/v1/batches").json()["data"] == []
    refused = client.post(
        "/v1/batches",
        json={"input_file_id": batch["input_file_id"], "endpoint": ENDPOINT,
              "completion_window": "24h"},
    )  # fmt: skip
    assert refused.status_code == 404


def test_a_stopped_server_leaves_its_batches_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every line is answered once; answered lines are counted and not sent again."""
    monkeypatch.setattr("serve.batches.runner._PROGRESS_S", -1.0)
    first = Model()
    with TestClient(app_of(tmp_path, first)) as client:
        rows = [line(n, f"ok {n}") for n in range(40)]
        first.open.clear()
        batch = create(client, upload(client, jsonl(*rows)))
        until(client, batch, {"in_progress"})
        first.open.set()
        store = BatchStore(tmp_path)
        wait_for(lambda: len(store.done(batch["id"])) >= 12)
        first.open.clear()
        counts = client.get(f"/v1/batches/{batch['id']}").json()["request_counts"]
        assert (counts["total"], counts["completed"] >= 11) == (40, True)
    done = len(store.done(batch["id"]))
    assert 12 <= done < 40
    with (tmp_path / "batches" / batch["id"] / "done").open("ab") as torn:
        torn.write(b'39 1 {"id": "torn')
    second = Model()
    with TestClient(app_of(tmp_path, second)) as client:
        batch = until(client, batch)
        assert batch["request_counts"] == {"total": 40, "completed": 40, "failed": 0}
        got = [row["custom_id"] for row in rows_of(client, batch["output_file_id"])]
    assert got == [f"c{n}" for n in range(40)]
    assert sum(second.asked.values()) == 40 - done


def test_a_killed_servers_batch_is_finished_by_another(
    tmp_path: Path, prompt: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is locked until SIGKILL, then resumed; answered lines are not sent again."""
    monkeypatch.setattr("serve.batches.runner.SWEEP_S", 0.05)
    rows = [line(n, body={"model": "m", "messages": prompt}) for n in range(400)]
    store, settings = BatchStore(tmp_path), ServeSettings(state=tmp_path)
    arguments = ["configs/serve/cascade.yaml", "judge.kind=rules", "port=0", f"state={tmp_path}"]
    with (
        subprocess.Popen(
            [sys.executable, "-m", "serve", *arguments], cwd=ROOT, text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"}, stdout=subprocess.PIPE,
        ) as process,
        TestClient(create_app(RuleJudge(), settings)) as client,
        ExitStack() as stack,
    ):  # fmt: skip
        stack.callback(process.kill)  # before Popen waits for it, also if a line below fails
        assert process.stdout is not None
        url = process.stdout.readline().split()[1]
        with openai.OpenAI(base_url=f"{url}/v1", api_key="none") as sdk:
            file = sdk.files.create(file=jsonl(*rows), purpose="batch")
            batch = sdk.batches.create(
                input_file_id=file.id, endpoint=ENDPOINT, completion_window="24h"
            )
        wait_for(lambda: len(_done(store, batch.id)) >= 40)
        with store.lock(batch.id) as free:
            assert not free
        process.kill()
        process.wait()
        done = [json.loads(row) for row in store.replies(batch.id, _done(store, batch.id))]
        over = until(client, {"id": batch.id})
        output = rows_of(client, over["output_file_id"])
    assert over["request_counts"] == {"total": 400, "completed": 400, "failed": 0}
    assert [row["custom_id"] for row in output] == [f"c{n}" for n in range(400)]
    assert 40 <= len(done) < 400
    asked = {row["custom_id"]: row["response"]["request_id"] for row in output}
    assert [asked[row["custom_id"]] for row in done] == [
        row["response"]["request_id"] for row in done
    ]


def _done(store: BatchStore, batch_id: str) -> list[Done]:
    try:
        return store.done(batch_id)
    except FileNotFoundError:
        return []


def test_two_servers_never_work_on_one_batch(tmp_path: Path) -> None:
    """The lock belongs to the batch, for any server."""
    models = [Model(), Model()]

    async def both() -> None:
        apps = [app_of(tmp_path, model) for model in models]
        runners = [Runner(app, app.state.settings) for app in apps]
        source = tmp_path / "in.jsonl"
        source.write_bytes(jsonl(*(line(n, f"ok {n}") for n in range(50))))
        batch = runners[0].store.create(
            source, owner="", endpoint=ENDPOINT, input_file_id="file-x", metadata=None
        )
        for runner in runners * 2:
            runner.start(batch.id)
        while runners[0].store.get(batch.id, "").status != "completed":
            for runner in runners:
                runner.start(batch.id)
            await asyncio.sleep(0.005)
        for runner in runners:
            await runner.stop()

    asyncio.run(both())
    assert set((models[0].asked + models[1].asked).values()) == {1}
    assert {sum(model.asked.values()) for model in models} == {0, 50}


def test_the_official_client_runs_a_batch_over_http(
    tmp_path: Path, prompt: list[dict[str, str]]
) -> None:
    """Upload, create, poll, download, list and delete, as a pipeline does; results are complete."""
    app = create_app(RuleJudge(), ServeSettings(state=tmp_path))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    try:
        with openai.OpenAI(base_url=url, api_key="none", max_retries=3) as sdk:
            rows = [line(n, body={"model": "m", "messages": prompt}) for n in range(5)]
            rows[2] = line(2, body={"model": "m", "messages": []})
            file = sdk.files.create(file=("in.jsonl", jsonl(*rows)), purpose="batch")
            batch = sdk.batches.create(
                input_file_id=file.id, endpoint=ENDPOINT, completion_window="24h",
                metadata={"name": "nightly"},
            )  # fmt: skip
            wait_for(lambda: sdk.batches.retrieve(batch.id).status in OVER)
            batch = sdk.batches.retrieve(batch.id)
            counts = batch.request_counts
            assert counts is not None
            assert (counts.total, counts.completed, counts.failed) == (5, 4, 1)
            output = sdk.files.content(batch.output_file_id or "").text.splitlines()
            errors = sdk.files.content(batch.error_file_id or "").text.splitlines()
            replies = [json.loads(row) for row in output]
            assert [row["custom_id"] for row in replies] == ["c0", "c1", "c3", "c4"]
            assert replies[0]["response"]["body"]["gradegpt"]["verdict"] == "correct"
            assert json.loads(errors[0])["response"]["status_code"] == 422
            assert [row.id for row in sdk.batches.list(limit=1)] == [batch.id]
            assert {row.id for row in sdk.files.list()} >= {file.id, batch.output_file_id}
            assert sdk.files.delete(file.id).deleted
            with pytest.raises(openai.NotFoundError):
                sdk.files.retrieve(file.id)
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
