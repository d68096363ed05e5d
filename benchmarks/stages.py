"""Time of items that rules decide, on an idle server and beside a full queue of the model.

    python benchmarks/stages.py
    python benchmarks/stages.py workers=1 judge.model=judges/demo

One client sends an item that rules decide, again and again, first alone; then while other clients
keep the model's queue full, some of whom leave before their answer. Both are one run on the same
server. The exit code is 1 if the 99th percentile beside the model is more than three times that of
the idle server.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Final

import typer
from load import Connection, ConnectionLost, served

MOST: Final = 3.0
QUEUE: Final = 2_048
ITEMS: Final = 256
AGAIN_S: Final = 5.0
"""Seconds until a client that was refused or left sends again; the server says at least as many."""
FILLED_S: Final = 120.0
"""Seconds in which the queue has to fill: otherwise the judge asks no model."""
EASY: Final = {"question": "What is 17 + 25?", "reference": "42", "response": "The answer is 42."}


def hard(number: int) -> dict[str, str]:
    """An item that only a model can judge."""
    return {
        "id": str(number),
        "question": f"Question {number}: the sides are 12 and 7. What is the perimeter?",
        "reference": "38",
        "response": "We add 12 and 7, double it, and that makes twice nineteen.",
    }


async def timed(port: int, requests: int) -> list[float]:
    """The seconds of each request with an item that rules decide, one after another."""
    connection, seconds = await Connection.to(port), list[float]()
    for _ in range(requests):
        started = time.perf_counter()
        reply = await connection.post("/v1/judge", json.dumps(EASY).encode())
        seconds.append(time.perf_counter() - started)
        if reply.status != 200 or reply.json()["judgement"]["verdict"] != "correct":
            raise RuntimeError(f"HTTP {reply.status}: {reply.body!r}")
    connection.close()
    return seconds


async def warmed(port: int) -> None:
    """Let the server load its model, and judge some items."""
    connection = await Connection.to(port)
    await connection.post("/v1/judge", json.dumps(hard(0)).encode())
    connection.close()
    await timed(port, 50)


async def filling(port: int, number: int) -> None:
    """Send many items for the model, again when refused or answered; every third client leaves."""
    body = json.dumps({"items": [hard(number * ITEMS + n) for n in range(ITEMS)]}).encode()
    while True:
        connection = await Connection.to(port)
        with suppress(ConnectionLost, TimeoutError):
            async with asyncio.timeout(2 if number % 3 == 0 else None):
                await connection.post("/v1/judge", body)
        connection.close()
        await asyncio.sleep(AGAIN_S)


def waiting(port: int) -> float:
    """The number of items that wait for the model, by the server's metrics."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as reply:
        rows = reply.read().decode().splitlines()
    return sum(
        float(row.split()[-1])
        for row in rows
        if row.startswith('gradegpt_queue_items{stage="full"')
    )


async def beside_the_model(port: int, requests: int) -> tuple[list[float], float]:
    """The seconds of each request while the queue is full, and the items that waited at the end."""
    clients = [asyncio.create_task(filling(port, n)) for n in range(QUEUE // ITEMS + 3)]
    async with asyncio.timeout(FILLED_S):
        while await asyncio.to_thread(waiting, port) < QUEUE * 0.7:
            await asyncio.sleep(0.2)
    seconds = await timed(port, requests)
    queue = await asyncio.to_thread(waiting, port)
    for client in clients:
        client.cancel()
    await asyncio.gather(*clients, return_exceptions=True)
    return seconds, queue


def show(name: str, seconds: Sequence[float]) -> float:
    """Print the percentiles in milliseconds; return the 99th."""
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    print(f"{name:<24} p50 {cuts[49] * 1e3:7.1f} ms, p99 {cuts[98] * 1e3:7.1f} ms, "
          f"longest {max(seconds) * 1e3:7.1f} ms")  # fmt: skip
    return cuts[98]


def main(
    settings: Annotated[list[str] | None, typer.Argument(help="KEY=VALUE for the server.")] = None,
    requests: int = 500,
) -> None:
    """Print the times of both, and the ratio of their 99th percentiles."""
    given = [
        f"max_queue={QUEUE}", "deadline_s=600", "grace_s=1",
        "judge.model=models/gradegpt-nano", "judge.min_confidence=0",
    ]  # fmt: skip
    with served([*given, *(settings or [])]) as server:
        asyncio.run(warmed(server.port))
        idle = show("idle", asyncio.run(timed(server.port, requests)))
        seconds, queue = asyncio.run(beside_the_model(server.port, requests))
        full = show(f"{queue:,.0f} items waiting", seconds)
    print(f"{'ratio of p99':<24} {full / idle:.2f}, at most {MOST:g}")
    if full > MOST * idle:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
