"""Serve a judge over HTTP: ``gradegpt serve configs/serve/cascade.yaml port=8001``."""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.core.errors import GradeGPTError, SettingsError
from gradegpt.core.settings import build_settings, load_settings
from gradegpt.judges.settings import KINDS
from gradegpt.reward import KEY_VARIABLE

from .settings import ServeSettings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
_BACKLOG: Final = 2048


class AddressError(GradeGPTError, OSError):
    """The server cannot listen on its address."""

    exit_code = 3
    code = "address_error"


@app.command(
    epilog="To judge an item: curl localhost:8000/v1/judge -d "
    """'{"question": "2+2=?", "reference": "4", "response": "The answer is 4."}'"""
)
def serve(
    config: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIG.YAML|JUDGE",
            help="A settings file, the name of a shipped settings file, such as cascade, or "
            "the folder of a judge that gradegpt finetune made; without one, the rules judge.",
        ),
    ] = Path("cascade"),
    overrides: Annotated[
        list[str] | None,
        options.changes(
            "For the judge: judge.kind=rules, judge.model=..., judge.base_url=..., "
            "judge.cache=FILE. For access: host, port. "
            "For several processes: workers=2 (restarted after a crash). For limits: max_items, "
            "max_body_bytes, max_queue, max_batch, deadline_s, grace_s. For "
            "prompts: templates=[FILE], refused=FILE, undecided=refuse. "
            "For logs: log=requests. docs/guides/serve.md describes each."
        ),
    ] = None,
    api_key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY",
            envvar=KEY_VARIABLE,
            help="A key that requests must send, in the header Authorization: Bearer KEY; may be "
            "repeated. A command line is visible to others on this machine, a variable is not.",
        ),
    ] = None,
) -> None:
    """Serve a judge over HTTP, with OpenAI-compatible APIs, until Ctrl-C or SIGTERM.

    To use it in a scoring pipeline, set the base URL of the pipeline's judge to the URL that the
    server prints when it is ready, followed by /v1. POST /v1/chat/completions, /v1/completions and
    /v1/responses recognise the prompt templates of many pipelines (GET /v1/adapters lists them) and
    reply in the form that each pipeline parses.

    POST /v1/judge takes one item (question, reference, response), {"items": [...]}, or JSON Lines
    (Content-Type: application/x-ndjson). GET / is a page to try the server in a browser. GET /ready
    reports whether requests are accepted, GET /metrics has counters, and GET /openapi.json
    describes all routes.

    On SIGTERM the server finishes running requests, refuses new ones, and exits with code 0.
    """
    # Worker processes import this module, and need no server.
    from .process import run as run_server
    from .process import use_system_allocator

    if "=" in str(config):  # a change of a setting, and no file
        config, overrides = Path("cascade"), [str(config), *(overrides or ())]
    settings = settings_of(config, overrides or ())
    if __name__ == "__main__":  # not where another program calls this function
        use_system_allocator()
    logging.basicConfig(format="%(levelname)s: %(name)s: %(message)s", level=logging.WARNING)
    with listen(settings.host, settings.port) as listener:  # first: loading a model takes long
        where = url(settings.host, listener.getsockname()[1])
        raise typer.Exit(run_server(settings, api_key or (), listener, where))


def settings_of(config: Path, overrides: Sequence[str]) -> ServeSettings:
    """The settings of a file, or of a server for the judge in a folder."""
    if (name := str(config)) in KINDS and name != "cascade" and not config.exists():
        how = f"to serve it: gradegpt serve judge.kind={name}"
        raise SettingsError(f"{name}: is a kind of judge and no settings file; {how}")
    if not config.is_dir():
        return load_settings(ServeSettings, config, overrides)
    named = {"judge": {"model": str(config)}, "served_model_name": config.resolve().name}
    return build_settings(ServeSettings, named, str(config), overrides)


def url(host: str, port: int) -> str:
    """The URL of the server."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; requests are accepted before the judge is loaded.

    Raises:
        AddressError: the server cannot listen on the address.

    """
    listener: socket.socket | None = None
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # With the protocol: asyncio sends small replies at once (TCP_NODELAY) only where it is set.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        if listener is not None:
            listener.close()
        what = f"{error.strerror}; set host and port to an address that you may listen on"
        if error.errno == errno.EADDRINUSE:
            what = "the port is in use; choose another with port=..., or port=0 for any free one"
        raise AddressError(f"{host}:{port}: {what}") from error
    return listener


if __name__ == "__main__":
    run(app, name="gradegpt serve")
