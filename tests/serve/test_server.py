"""A real server: the command line, signals, ports, several processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from gradegpt.app.cli import run as command_line
from gradegpt.core.machine import libc
from serve.__main__ import app

ROOT = Path(__file__).parents[2]
CommandLine = Callable[..., tuple[int, str, str]]


def serve(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "serve", *arguments],
        cwd=ROOT, env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("workers", [0, 1], ids=["here", "in a process"])
def test_a_server_prints_its_url_judges_and_stops_cleanly(workers: int) -> None:
    """After Ctrl-C the exit code is 0, and stderr is empty."""
    process = serve(
        "configs/serve/cascade.yaml", "judge.kind=rules", "port=0", f"workers={workers}"
    )
    with process:
        assert judge_at(ready_url(process), [{"reference": "4", "response": "4"}]) == ["correct"]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "", "")


def ready_url(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    ready = process.stdout.readline()
    assert ready.startswith("ready: http://127.0.0.1:")
    assert "right or wrong get the verdict that the judge withheld" in process.stdout.readline()
    return ready.split()[1]


def judge_at(where: str, items: list[dict[str, str]]) -> list[str]:
    """The verdicts of the server at a URL."""
    body = json.dumps({"items": items}).encode()
    with urllib.request.urlopen(f"{where}/v1/judge", body, timeout=20) as reply:
        return [row["verdict"] for row in json.load(reply)["judgements"]]


def children_of(pid: int) -> list[int]:
    """The server processes; multiprocessing has another one."""
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    commands = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in listed}
    return [child for child, command in commands.items() if b"spawn_main" in command]


@pytest.mark.skipif(libc() is None, reason="another C library than glibc")
@pytest.mark.parametrize("stated", [None, "pymalloc"])
def test_a_server_uses_the_allocator_that_returns_memory(
    monkeypatch: pytest.MonkeyPatch, stated: str | None
) -> None:
    """In the same process, and unless another one is stated; its children use it, too."""
    monkeypatch.delenv("PYTHONMALLOC", raising=False)
    if stated:
        monkeypatch.setenv("PYTHONMALLOC", stated)
    with serve(
        "configs/serve/cascade.yaml", "judge.kind=rules", "port=0", "processes=2"
    ) as process:
        ready_url(process)
        for pid in (process.pid, *children_of(process.pid)):
            used = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            assert f"PYTHONMALLOC={stated or 'malloc'}".encode() in used
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert process.returncode == 0


def test_several_processes_share_a_port_and_a_dead_one_is_replaced() -> None:
    """After SIGKILL of one, later requests are served; SIGTERM ends all; metrics are summed."""
    with serve(
        "configs/serve/cascade.yaml", "judge.kind=rules", "port=0", "processes=2"
    ) as process:
        where = ready_url(process)
        before = children_of(process.pid)
        assert len(before) == 2
        four = [{"reference": "4", "response": "4"}]
        assert [judge_at(where, four) for _ in range(8)] == [["correct"]] * 8
        with urllib.request.urlopen(f"{where}/metrics", timeout=20) as reply:
            assert b'gradegpt_items_total{method="rules",outcome="judged"} 8.0' in reply.read()
        os.kill(before[0], signal.SIGKILL)
        deadline = time.monotonic() + 10
        while set(before) & set(after := children_of(process.pid)) != {before[1]} or len(after) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert judge_at(where, four) == ["correct"]
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert process.returncode == 0
    assert not any(Path(f"/proc/{child}").exists() for child in after)


def test_sigterm_lets_running_requests_finish(tmp_path: Path) -> None:
    """New requests and readiness checks get 503; then the exit code is 0."""
    config = tmp_path / "slow.yaml"
    config.write_text("judge:\n  kind: rules\nport: 0\nhost: 127.0.0.1\n", encoding="utf-8")
    with serve(str(config)) as process:
        where = ready_url(process)
        host, port = where.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as stream:
            stream.sendall(
                b"POST /v1/judge HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n"
                b"Content-Length: %d\r\n\r\n" % (2 * len(LINE)) + LINE
            )
            said = stream.recv(65_536)
            while b"correct" not in said:
                said += stream.recv(65_536)
            process.send_signal(signal.SIGTERM)
            refused = status_of(f"{where}/ready")
            assert (refused, status_of(f"{where}/health")) == (503, 200)
            stream.sendall(LINE)
            while not said.endswith(b"0\r\n\r\n"):
                more = stream.recv(65_536)
                assert more
                said += more
        assert said.count(b'"verdict": "correct"') == 2
        assert process.communicate(timeout=20) == ("", "")
    assert process.returncode == 0


LINE = b'{"reference": "4", "response": "4."}\n '


def status_of(where: str) -> int:
    deadline = time.monotonic() + 5
    while True:
        try:
            with urllib.request.urlopen(where, timeout=5) as reply:
                status = int(reply.status)
        except urllib.error.HTTPError as error:
            status = error.code
            error.close()
        if status != 200 or where.endswith("health") or time.monotonic() > deadline:
            return status
        time.sleep(0.02)


def test_requests_beyond_the_grace_period_are_cut_off() -> None:
    """An endless stream does not prevent the server from stopping; it ends with an error."""
    with serve(
        "configs/serve/cascade.yaml", "judge.kind=rules", "port=0", "grace_s=0.3"
    ) as process:
        where = ready_url(process)
        host, port = where.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as stream:
            stream.sendall(
                b"POST /v1/judge HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n"
                b"Content-Length: 1000\r\n\r\n"
            )
            time.sleep(0.2)
            process.send_signal(signal.SIGTERM)
            said = stream.makefile("rb").read()
            _, err = process.communicate(timeout=10)
    assert (process.returncode, "Traceback" in err) == (0, False)
    assert said.endswith(b"0\r\n\r\n")
    assert b'"code": "not_ready"' in said


def test_a_child_that_is_killed_before_it_is_ready_is_replaced() -> None:
    """The server starts all the same."""
    arguments = ("configs/serve/cascade.yaml", "judge.kind=rules", "port=0", "processes=2")
    with serve(*arguments) as process:
        deadline = time.monotonic() + 60
        while not (first := children_of(process.pid)):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(first[0], signal.SIGKILL)
        assert judge_at(ready_url(process), [{"reference": "4", "response": "4"}]) == ["correct"]
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert process.returncode == 0


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The output and exit code of the command line, where it does not start to serve."""
    monkeypatch.chdir(ROOT)

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            command_line(app, arguments, name="gradegpt serve")
        assert isinstance(ended.value.code, int)
        return ended.value.code, *capsys.readouterr()

    return call


NOWHERE = (
    "configs/serve/cascade.yaml", "judge.model=./nowhere", "judge.adapter=null", "port=0",
)  # fmt: skip


def test_a_judge_that_does_not_load_ends_the_server_with_one_line(said: CommandLine) -> None:
    code, out, err = said(*NOWHERE)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: ")
    assert "nowhere" in err


def test_a_judge_that_does_not_load_in_a_process_is_one_line_too() -> None:
    process = serve(*NOWHERE, "processes=2")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (3, "")
    assert err.startswith("error: ")
    assert "nowhere" in err


def test_a_port_in_use_is_found_before_the_model_is_loaded(said: CommandLine) -> None:
    """The given model does not exist, but the error is about the port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = said("configs/serve/cascade.yaml", "judge.model=./nowhere", f"port={port}")
    assert (code, out) == (3, "")
    assert err == (
        f"error: 127.0.0.1:{port}: the port is in use; "
        "choose another with port=..., or port=0 for any free one\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["configs/serve/none.yaml"],
         "configs/serve/none.yaml: no such settings file; the shipped ones are: "
         "cascade, gradegpt-1.5b"),
        (["max_item=1"],
         f"{ROOT}/configs/serve/cascade.yaml: unknown setting 'max_item'; "
         "did you mean 'max_items'?"),
        (["configs/serve/cascade.yaml", "max_item=1"],
         "configs/serve/cascade.yaml: unknown setting 'max_item'; did you mean 'max_items'?"),
        (["configs/serve/cascade.yaml", "port=0", "host=192.0.2.1"],
         "192.0.2.1:0: Cannot assign requested address; "
         "set host and port to an address that you may listen on"),
    ],
    ids=["no-file", "no-recipe", "unknown-setting", "not-our-address"],
)  # fmt: skip
def test_a_wrong_setting_is_one_line_on_stderr(
    said: CommandLine, arguments: list[str], message: str
) -> None:
    code, out, err = said(*arguments)
    assert (out, err) == ("", f"error: {message}\n")
    assert code in (2, 3)


def test_help_teaches(said: CommandLine) -> None:
    code, out, _ = said("--help")
    assert code == 0
    for words in (" as cascade", "POST /v1/judge", "judge.kind=rules", "curl"):
        assert words in out
