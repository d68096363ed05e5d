"""A real server: the command line, signals, ports."""

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


RULES = ("configs/serve/cascade.yaml", "judge.kind=rules", "port=0")


def test_a_server_prints_its_url_judges_and_stops_cleanly(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its judge in a process; after Ctrl-C the exit code is 0, and stderr is empty.

    It uses the allocator that returns memory.
    """
    monkeypatch.delenv("PYTHONMALLOC", raising=False)
    with serve(*RULES, "workers=1") as process:
        where = ready_url(process)
        body = json.dumps({"reference": "4", "response": "4"}).encode()
        with urllib.request.urlopen(f"{where}/v1/judge", body, timeout=20) as reply:
            assert json.load(reply)["judgement"]["verdict"] == "correct"
        if libc() is not None:
            environment = Path(f"/proc/{process.pid}/environ").read_bytes()
            assert b"PYTHONMALLOC=malloc\0" in environment
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "", "")


def ready_url(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    ready = process.stdout.readline()
    assert ready.startswith("ready: http://127.0.0.1:")
    assert "right or wrong get the verdict that the judge withheld" in process.stdout.readline()
    return ready.split()[1]


POST = (
    b"POST /v1/judge HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n"
    b"Content-Length: %d\r\n\r\n"
)
LINE = b'{"reference": "4", "response": "4."}\n '


def test_sigterm_lets_running_requests_finish_and_ends_an_endless_one() -> None:
    """New requests and readiness checks get 503; at the end of the grace period the exit code is 0.

    A stream that is not over by then ends with an error.
    """
    with serve(*RULES, "grace_s=2") as process:
        where = ready_url(process)
        address = ("127.0.0.1", int(where.rpartition(":")[2]))
        with socket.create_connection(address) as stream, socket.create_connection(address) as late:
            late.sendall(POST % 1000)
            stream.sendall(POST % (2 * len(LINE)) + LINE)
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
            cut_off = late.makefile("rb").read()
        _, err = process.communicate(timeout=20)
    assert said.count(b'"verdict": "correct"') == 2
    assert (process.returncode, "Traceback" in err) == (0, False)
    assert cut_off.endswith(b"0\r\n\r\n")
    assert b'"code": "not_ready"' in cut_off


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
         "max_item=1: unknown setting 'max_item'; did you mean 'max_items'?"),
        (["rules"], "rules: is a kind of judge and no settings file; to serve it: "
         "gradegpt serve judge.kind=rules"),
        (["configs/serve/cascade.yaml", "port=abc", "max_items=9999"],
         "port=abc: port: expected a whole number, got 'abc'"),
        (["configs/serve/cascade.yaml", "port=0", "host=192.0.2.1"],
         "192.0.2.1:0: Cannot assign requested address; "
         "set host and port to an address that you may listen on"),
    ],
    ids=["no-file", "no-recipe", "a-kind", "unknown-setting", "not-our-address"],
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
