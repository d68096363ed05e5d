"""A server process and a fast client, shared by the server's benchmarks.

The client supports only the part of HTTP/1.1 that our server uses. A complete client needs as much
time per request as the server, on the same cores.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradegpt.core.errors import GradeGPTError

ROOT: Final = Path(__file__).resolve().parents[1]
_HOST: Final = "127.0.0.1"


class Reply(NamedTuple):
    """An HTTP reply."""

    status: int
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class ConnectionLost(Exception):  # noqa: N818  a state of the server, handled by the caller
    """The server closed the connection before it answered."""


class Connection:
    """A connection that is kept open for several requests."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def to(cls, port: int) -> Connection:
        """Connect. Raises ``OSError``."""
        return cls(*await asyncio.open_connection(_HOST, port, limit=2**24))

    async def send(self, path: str, body: bytes, kind: str = "application/json") -> None:
        """Send a request. Raises ``ConnectionLost``."""
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {_HOST}\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        try:
            self._writer.write(head.encode() + body)
            await self._writer.drain()
        except OSError as error:
            raise ConnectionLost(str(error)) from error

    async def receive(self) -> Reply:
        """Read the reply. Raises ``ConnectionLost``."""
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            body = await self._reader.readexactly(int(length[1]) if length else 0)
        except (OSError, asyncio.IncompleteReadError) as error:
            raise ConnectionLost(str(error)) from error
        return Reply(int(head.split(b" ", 2)[1]), body)

    async def post(self, path: str, body: bytes) -> Reply:
        """Send a request and read its reply. Raises ``ConnectionLost``."""
        await self.send(path, body)
        return await self.receive()

    async def more(self, seconds: float = 0.05) -> bytes:
        """Bytes that arrive without a request, such as a second reply."""
        try:
            async with asyncio.timeout(seconds):
                return await self._reader.read(2**16)
        except (TimeoutError, OSError):
            return b""

    def close(self) -> None:
        """Close the connection at once, whatever was not sent or read."""
        self._writer.transport.abort()


class Served(NamedTuple):
    """A running server."""

    process: subprocess.Popen[str]
    port: int


@contextmanager
def served(settings: Sequence[str]) -> Iterator[Served]:
    """A server in its own process on a free port, with ``KEY=VALUE`` settings.

    Raises:
        GradeGPTError: it does not start; its error is on stderr.

    """
    command = [sys.executable, "-m", "serve", "configs/serve/cascade.yaml", "port=0", *settings]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        ready = re.search(r"http://[^ ]*:(\d+)", process.stdout.readline())
        if ready is None:
            raise GradeGPTError(f"{' '.join(command)}: does not start; see above")
        yield Served(process, int(ready[1]))
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def family(pid: int) -> list[int]:
    """A process and all its descendants."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            behind = stat.read_text().rpartition(")")[2].split()
            parents.setdefault(int(behind[1]), []).append(int(stat.parent.name))
    found = [pid]
    for one in found:
        found += parents.get(one, [])
    return found


def megabytes(pid: int) -> float:
    """The resident memory of a process and its children."""
    total = 0
    for one in family(pid):
        with suppress(OSError):
            status = Path(f"/proc/{one}/status").read_text()
            rows = [row for row in status.splitlines() if row.startswith("VmRSS:")]
            total += sum(int(row.split()[1]) for row in rows)
    return total / 1024
