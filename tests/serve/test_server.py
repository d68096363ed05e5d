"""A real server: the official client, the command line, signals, ports, the shipped settings."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import openai
import pytest
import uvicorn
from openai.types.chat import ChatCompletionMessageParam

from gradegpt.chain import PromptSettings, build_prompt
from gradegpt.judges import RuleJudge
from gradegpt.schema import Item
from gradegpt.settings import load_settings
from serve.__main__ import listen, url
from serve.app import create_app
from serve.settings import ServeSettings

ROOT = Path(__file__).parents[2]
CONFIGS = sorted((ROOT / "configs" / "serve").glob("*.yaml"))


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    """A rule judge behind uvicorn on a free loopback port."""
    listener = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(create_app(RuleJudge()), log_level="warning"))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    deadline = time.monotonic() + 10
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    yield url(*listener.getsockname()) + "/v1"
    server.should_exit = True
    thread.join(10)


@pytest.fixture
def client(base_url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=base_url, api_key="none", max_retries=0) as client:
        yield client


def messages() -> list[ChatCompletionMessageParam]:
    item = Item(question="2+2=?", reference=("4",), response="The answer is 4.")
    prompt = build_prompt(item, PromptSettings())
    return cast(list[ChatCompletionMessageParam], [message.model_dump() for message in prompt])


def test_the_official_client_gets_a_chain(client: openai.OpenAI) -> None:
    """As any scoring pipeline asks, and reads the answer."""
    assert [model.id for model in client.models.list()] == ["gradegpt-nano"]
    reply = client.chat.completions.create(
        model="gradegpt-nano",
        messages=messages(),
        temperature=0,
    )
    assert (reply.choices[0].message.content or "").endswith("The answers agree: <Yes>")
    assert reply.usage is not None
    assert reply.model_extra is not None
    assert reply.model_extra["gradegpt"]["verdict"] == "correct"


def test_the_official_client_streams(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(model="gradegpt-nano", messages=messages())
    with client.chat.completions.create(
        model="gradegpt-nano",
        messages=messages(),
        stream=True,
    ) as stream:
        text = "".join(c.choices[0].delta.content or "" for c in stream if c.choices)
    assert text == whole.choices[0].message.content


def test_the_official_client_raises_our_errors_as_its_own(client: openai.OpenAI) -> None:
    with pytest.raises(openai.UnprocessableEntityError, match="no GradeGPT prompt") as caught:
        client.chat.completions.create(
            model="gradegpt-nano", messages=[{"role": "user", "content": "hello"}]
        )
    assert (caught.value.code, caught.value.param) == ("invalid_input", "messages")
    with pytest.raises(openai.NotFoundError, match="'gpt-4' is not served"):
        client.chat.completions.create(model="gpt-4", messages=messages())


def serve(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "serve", *arguments],
        cwd=ROOT, env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_says_where_it_is_judges_and_stops_cleanly(number: signal.Signals) -> None:
    """One ready line with the URL; exit code 0 and a silent stderr after a signal."""
    process = serve("configs/serve/nano.yaml", "judge.kind=rules", "port=0")
    with process:
        assert process.stdout is not None
        ready = process.stdout.readline()
        assert ready.startswith("ready: http://127.0.0.1:")
        body = json.dumps({"reference": "4", "response": "4"}).encode()
        request = urllib.request.Request(f"{ready.split()[1]}/v1/judge", body)
        with urllib.request.urlopen(request, timeout=10) as reply:
            assert json.load(reply)["judgement"]["verdict"] == "correct"
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "", "")


def test_a_port_in_use_is_found_before_the_model_is_loaded() -> None:
    """The model that is named here does not exist, and the complaint is about the port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = serve("configs/serve/nano.yaml", "judge.model=./nowhere", f"port={port}")
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (3, "")
    assert err == (
        f"error: 127.0.0.1:{port}: the port is in use; "
        "choose another with port=..., or port=0 for any free one\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["configs/serve/none.yaml"],
         "configs/serve/none.yaml: no such settings file; the shipped ones are under configs/"),
        (["configs/serve/nano.yaml", "max_item=1"],
         "configs/serve/nano.yaml: unknown setting 'max_item'; did you mean 'max_items'?"),
        (["configs/serve/nano.yaml", "port=0", "host=192.0.2.1"],
         "192.0.2.1:0: Cannot assign requested address; "
         "set host and port to what this machine lets you use"),
    ],
    ids=["no-file", "unknown-setting", "not-our-address"],
)  # fmt: skip
def test_a_wrong_setting_is_one_line_on_stderr(arguments: list[str], message: str) -> None:
    process = serve(*arguments)
    out, err = process.communicate(timeout=20)
    assert (out, err) == ("", f"error: {message}\n")
    assert process.returncode in (2, 3)


def test_help_teaches() -> None:
    process = serve("--help")
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    for words in ("configs/serve/nano.yaml", "POST /v1/judge", "judge.kind=rules", "curl"):
        assert words in out


def test_there_are_settings_to_start_from() -> None:
    assert {path.name for path in CONFIGS} >= {"nano.yaml", "demo.yaml"}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_every_shipped_setting_loads_and_names_its_command(path: Path) -> None:
    load_settings(ServeSettings, path)
    name = path.relative_to(ROOT)
    assert path.read_text(encoding="utf-8").startswith(f"# python -m serve {name}\n")
