"""Memory of the server before, during and after clients that do not read their replies.

    python benchmarks/slow_readers.py --readers 500 judge.kind=rules

Half of the clients ask for a large reply, half send a stream; none of them reads for ``--seconds``,
then all leave. Printed is the resident memory of the server and its workers before them (after
``--warm`` ordinary clients have used the server), the most during the time, and after. The exit
code is 1 if it stays more than a fifth above what it was before.
"""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Annotated, Final

import typer
from load import Connection, megabytes, served

MOST: Final = 1.2
ITEMS: Final = 256
SETTLED_S: Final = 180
"""The most seconds until the server has read what the clients sent before they left."""
QUIET_S: Final = 5


def item(number: int, characters: int) -> dict[str, str]:
    """An item with a key sentence of a length, which its judgement repeats."""
    words = "so " * (characters // 3)
    return {"id": str(number), "reference": "4", "response": f"The answer is {words}4."}


async def reader(port: int, *, stream: bool, characters: int, seconds: float) -> None:
    """Send a large request, read nothing, and leave."""
    items = [item(n, characters) for n in range(ITEMS)]
    lines = "\n".join(map(json.dumps, items))
    body = (lines if stream else json.dumps({"items": items})).encode()
    kind = "application/x-ndjson" if stream else "application/json"
    connection = await Connection.to(port)
    until = time.monotonic() + seconds
    try:
        async with asyncio.timeout(seconds):
            await connection.send("/v1/judge", body, kind)
    except TimeoutError:
        pass
    await asyncio.sleep(until - time.monotonic())
    connection.close()


async def ordinary(port: int, characters: int) -> None:
    """Send one large request and read the reply."""
    connection = await Connection.to(port)
    body = json.dumps({"items": [item(n, characters) for n in range(ITEMS)]}).encode()
    await connection.post("/v1/judge", body)
    connection.close()


async def crowd(port: int, readers: int, characters: int, seconds: float) -> None:
    """All slow readers at once."""
    await asyncio.gather(
        *(
            reader(port, stream=n % 2 == 1, characters=characters, seconds=seconds)
            for n in range(readers)
        )
    )


def settled(pid: int) -> None:
    """Wait until the server does nothing any more."""
    until, used = time.monotonic() + SETTLED_S, -1.0
    while time.monotonic() < until:
        behind = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        now = (int(behind[11]) + int(behind[12])) / 100
        if now - used < 0.1:
            return
        used = now
        time.sleep(QUIET_S)


def main(
    settings: Annotated[list[str] | None, typer.Argument(help="KEY=VALUE for the server.")] = None,
    readers: int = 500,
    characters: int = 500,
    seconds: float = 30,
    warm: int = 8,
) -> None:
    """Print the memory before, at most and after the slow readers."""
    with served(settings or ["judge.kind=rules"]) as server:
        pid = server.process.pid

        async def run() -> tuple[float, float]:
            await asyncio.gather(*(ordinary(server.port, characters) for _ in range(warm)))
            await asyncio.sleep(2)
            before = most = megabytes(pid)
            reading = asyncio.create_task(crowd(server.port, readers, characters, seconds))
            while not reading.done():
                most = max(most, megabytes(pid))
                await asyncio.sleep(0.5)
            await reading
            return before, most

        before, most = asyncio.run(run())
        settled(pid)
        after = megabytes(pid)
    print(
        f"{readers} slow readers for {seconds:g} s: {before:.0f} MB before, most {most:.0f} MB, "
        f"{after:.0f} MB after ({after / before:.2f} of before)"
    )
    if after > MOST * before:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
