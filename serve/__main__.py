"""Serve a judge over HTTP: ``python -m serve configs/serve/nano.yaml port=8001``."""

from __future__ import annotations

import errno
import signal
import socket
from pathlib import Path
from typing import Annotated, Final

import typer
import uvicorn

from gradegpt.cli import run
from gradegpt.errors import GradeGPTError
from gradegpt.judges.build import build_judge
from gradegpt.settings import load_settings
from serve.app import create_app
from serve.settings import ServeSettings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
_BACKLOG: Final = 2048


class AddressError(GradeGPTError, OSError):
    """An address that cannot be listened on."""

    exit_code = 3
    code = "address_error"


@app.command(
    epilog="Ask it: curl localhost:8000/v1/judge -d "
    """'{"question": "2+2=?", "reference": "4", "response": "The answer is 4."}'"""
)
def serve(
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG.YAML", help="Such as configs/serve/nano.yaml.")
    ],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY=VALUE",
            help="Settings to change: host, port, served_model_name, max_items, max_body_bytes, "
            "max_response_characters, and those of the judge: judge.kind=rules, judge.model=..., "
            "judge.base_url=...",
        ),
    ] = None,
) -> None:
    """Serve a judge over HTTP until Ctrl-C or SIGTERM.

    POST /v1/judge takes an item (question, reference, response) or {"items": [...]}. POST
    /v1/chat/completions speaks the OpenAI form: set an OpenAI client's base_url to the URL that
    the ready line prints, with /v1. GET /health tells whether the judge is loaded.
    """
    settings = load_settings(ServeSettings, config, overrides or ())
    with listen(settings.host, settings.port) as listener:  # first: loading a model takes long
        judge = build_judge(settings.judge)
        server = uvicorn.Server(uvicorn.Config(create_app(judge, settings), log_level="warning"))
        for number in (signal.SIGINT, signal.SIGTERM):
            # Uvicorn sets the same handler, and raises the signal again once it has stopped for it.
            signal.signal(number, server.handle_exit)
        _start(listener, settings.host, settings.port)
        typer.echo(f"ready: {url(settings.host, listener.getsockname()[1])} (Ctrl-C stops it)")
        server.run([listener])


def url(host: str, port: int) -> str:
    """Where a browser or client finds the server."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def listen(host: str, port: int) -> socket.socket:
    """A bound socket, not yet listening. Raises ``AddressError`` with what to do."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family)
    except OSError as error:
        raise AddressError(f"{host}:{port}: {error.strerror}; set host to an address") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise _explained(error, host, port) from error
    return listener


def _start(listener: socket.socket, host: str, port: int) -> None:
    try:
        listener.listen(_BACKLOG)
    except OSError as error:  # another server took the port while our model was loading
        raise _explained(error, host, port) from error


def _explained(error: OSError, host: str, port: int) -> AddressError:
    if error.errno == errno.EADDRINUSE:
        what = "the port is in use; choose another with port=..., or port=0 for any free one"
    else:
        what = f"{error.strerror}; set host and port to what this machine lets you use"
    return AddressError(f"{host}:{port}: {what}")


if __name__ == "__main__":
    run(app, name="python -m serve")
