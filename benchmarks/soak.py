"""Soak test of the server: many clients, SIGTERM, and killed processes, without lost requests.

    python benchmarks/soak.py --connections 500 --seconds 60
    python benchmarks/soak.py --connections 500 --seconds 60 judge.kind=cascade workers=2

Every connection sends one request after another: items of all sizes, single and several, and
pipelines' prompts; a share is malformed, and a share of clients disconnects without waiting. Each
reply must belong to its request: a second reply would be read as that of the next request, and be
wrong. The server runs on a free loopback port. The exit code is 1 if anything was lost, wrong,
without a body or answered twice.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer
from load import Connection, ConnectionLost, Reply, Served, family, megabytes, served

SIZES: Final = (0, 0, 0, 200, 200, 2_000, 20_000, 200_000)
"""Characters before the answer; most responses are short."""
BUSY: Final = frozenset((429, 503))
TURNED_AWAY_S: Final = 0.05
CHILD: Final = b"--multiprocessing-fork"
"""An argument of worker processes."""
SLOW: Final = (
    "judge.kind=cascade", "judge.model=models/gradegpt-nano", "judge.min_confidence=0",
    "grace_s=0.5",
)  # fmt: skip
"""A server whose model needs longer than its grace period."""


class Request(NamedTuple):
    """A request, and the check of its reply."""

    path: str
    body: bytes
    right: Callable[[Reply], bool]
    leaves: bool = False


@dataclass
class Tally:
    """The counts of all requests by their results."""

    answered: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    left: int = 0
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    twice: int = 0
    away: int = 0
    stopping: bool = False
    """After SIGTERM the server may refuse connections, and close idle ones."""

    @property
    def ok(self) -> bool:
        """Whether nothing was lost, wrong or answered twice."""
        return not (self.lost or self.wrong or self.twice)

    def show(self, title: str) -> bool:
        """Print the counts; return whether nothing was lost, wrong or answered twice."""
        statuses = ", ".join(f"{n:,} x {code}" for code, n in sorted(self.answered.items()))
        print(f"\n{title}: {'ok' if self.ok else 'BROKEN'}")
        print(f"  answered      {self.answered.total():,} ({statuses})")
        print(f"  clients left  {self.left:,}, turned away {self.away:,}")
        print(f"  lost {len(self.lost)}, wrong {len(self.wrong)}, twice {self.twice}")
        for one in (*self.lost[:5], *self.wrong[:5]):
            print(f"    {one}")
        if len(self.seconds) > 1:
            cuts = statistics.quantiles(self.seconds, n=100, method="inclusive")
            longest = max(self.seconds)
            print(f"  seconds       p50 {cuts[49]:.3f}, p99 {cuts[98]:.3f}, longest {longest:.3f}")
        return self.ok


def sums(rng: random.Random, name: str) -> tuple[dict[str, str], bool]:
    """An item with a right or wrong addition, of any length, and whether it is right."""
    a, b, right = rng.randrange(1_000), rng.randrange(1_000), rng.random() < 0.5
    words = "Let me add the two numbers with care. " * (rng.choice(SIZES) // 38)
    item = {
        "id": name,
        "question": f"What is {a} + {b}?",
        "reference": str(a + b),
        "response": f"{words}The answer is {a + b + (not right)}.",
    }
    return item, right


def alone(rng: random.Random, name: str) -> Request:
    """One item."""
    item, right = sums(rng, name)

    def is_right(reply: Reply) -> bool:
        return reply.status == 200 and _verdict(reply.json()["judgement"], name, right)

    return Request("/v1/judge", json.dumps(item).encode(), is_right)


def several(rng: random.Random, name: str) -> Request:
    """Up to sixteen items."""
    made = [sums(rng, f"{name}.{n}") for n in range(rng.randint(1, 16))]

    def is_right(reply: Reply) -> bool:
        rows = reply.json().get("judgements", [])
        return len(rows) == len(made) and all(
            _verdict(row, item["id"], right) for row, (item, right) in zip(rows, made, strict=True)
        )

    return Request("/v1/judge", json.dumps({"items": [i for i, _ in made]}).encode(), is_right)


def prompt(rng: random.Random, name: str) -> Request:
    """A pipeline's prompt, whose reply is a letter."""
    item, right = sums(rng, name)
    text = (
        f"Is it right? A: CORRECT B: INCORRECT\n<Original Question Begin>: {item['question']}\n"
        f"<Original Question End>\n<Gold Target Begin>: {item['reference']}\n<Gold Target End>\n"
        f"<Predicted Answer Begin>: {item['response']}\n<Predicted End>\n"
    )
    body = {"model": name, "messages": [{"role": "user", "content": text}], "max_tokens": 1}

    def is_right(reply: Reply) -> bool:
        body = reply.json()
        letter = body["choices"][0]["message"]["content"] if reply.status == 200 else None
        return letter == ("A" if right else "B") and body["model"] == name

    return Request("/v1/chat/completions", json.dumps(body).encode(), is_right)


def malformed(rng: random.Random, name: str) -> Request:
    """A request that must be refused with its status."""
    path, body, status = rng.choice(
        [
            ("/v1/judge", b'{"reference": "4", "resp', 400),
            ("/v1/judge", b"[1, 2]", 400),
            ("/v1/judge", json.dumps({"id": name, "response": "4"}).encode(), 422),
            ("/v1/chat/completions", b'{"model": "m", "messages": []}', 422),
            ("/v1/chat/completions",
             b'{"model": "m", "messages": [{"role": "user", "content": "Sing."}]}', 422),
            ("/v1/nothing", b"{}", 404),
        ]
    )  # fmt: skip
    return Request(path, body, lambda reply: reply.status == status and "error" in reply.json())


def for_the_model(client: int) -> Iterator[Request]:
    """Endless requests that only a model can judge, answered or refused as busy."""
    for n in range(10**9):
        item = {
            "id": f"{client}.{n}",
            "question": f"Question {client}.{n}: the sides are 12 and 7. What is the perimeter?",
            "reference": "38",
            "response": "We add 12 and 7, double it, and that makes twice nineteen.",
        }
        yield Request("/v1/judge", json.dumps(item).encode(), lambda reply: reply.status == 200)


def _verdict(row: dict[str, Any], name: str, right: bool) -> bool:
    return row["id"] == name and row["verdict"] == ("correct" if right else "incorrect")


def requests(
    rng: random.Random, client: int, malformed_share: float, leaving_share: float
) -> Iterator[Request]:
    """The endless requests of one client."""
    for n in range(10**9):
        name, lot = f"{client}.{n}", rng.random()
        if lot < malformed_share:
            yield malformed(rng, name)
        else:
            made = rng.choices((alone, several, prompt), (6, 1, 3))[0](rng, name)
            yield made._replace(leaves=lot > 1 - leaving_share)


async def client(port: int, asked: Iterator[Request], until: float, tally: Tally) -> None:
    """Send requests until the time is up, with a new connection for each that was closed."""
    rng = random.Random(port)
    connection: Connection | None = None
    request = next(asked)
    while time.monotonic() < until:
        try:
            connection = connection or await Connection.to(port)
        except OSError as error:
            if not tally.stopping:
                tally.lost.append(f"no connection: {error}")
            tally.away += tally.stopping
            await asyncio.sleep(TURNED_AWAY_S)
            continue
        kept = await _asked_once(connection, request, rng, tally)
        request = next(asked)
        if not kept:
            connection.close()
            connection = None
    if connection is not None:
        tally.twice += bool(await connection.more())
        connection.close()


async def _asked_once(
    connection: Connection, request: Request, rng: random.Random, tally: Tally
) -> bool:
    """Send a request and check its reply; return whether the connection is kept."""
    started, stopping = time.monotonic(), tally.stopping
    try:
        await connection.send(request.path, request.body)
        if request.leaves:
            await asyncio.sleep(rng.random() * 0.05)
            tally.left += 1
            return False
        reply = await connection.receive()
    except ConnectionLost as error:
        # A request that was sent before SIGTERM must be answered.
        if stopping:
            tally.away += 1
        else:
            tally.lost.append(f"{request.path}: {error or 'closed'}")
        return False
    tally.answered[reply.status] += 1
    tally.seconds.append(time.monotonic() - started)
    if not reply.body:
        tally.wrong.append(f"{request.path}: HTTP {reply.status} without a body")
    elif reply.status in BUSY and "error" in reply.json():
        await asyncio.sleep(TURNED_AWAY_S)
    elif not request.right(reply):
        tally.wrong.append(f"{request.path}: HTTP {reply.status} {reply.body[:200]!r}")
    return True


async def crowd(
    port: int, clients: Sequence[Iterator[Request]], seconds: float, *more: Any
) -> Tally:
    """Run clients for ``seconds``, and the tasks ``more`` at the same time."""
    tally, until = Tally(), time.monotonic() + seconds
    running = [client(port, asked, until, tally) for asked in clients]
    await asyncio.gather(*running, *(other(tally, until) for other in more))
    return tally


async def watched(pid: int, seen: list[float], _: Tally, until: float) -> None:
    """Record the memory twice per second."""
    while time.monotonic() < until:
        seen.append(megabytes(pid))
        await asyncio.sleep(0.5)


async def terminated(server: Served, tally: Tally, until: float) -> None:
    """Send SIGTERM after half of the time."""
    await asyncio.sleep((until - time.monotonic()) / 2)
    tally.stopping = True
    server.process.send_signal(signal.SIGTERM)


async def killed(server: Served, pids: list[int], tally: Tally, until: float) -> None:
    """Send SIGKILL to a child, in the middle of each third."""
    third = (until - time.monotonic()) / 3
    await asyncio.sleep(third / 2)
    for _ in range(3):
        if (pid := _child(server)) is not None:
            os.kill(pid, signal.SIGKILL)
            pids.append(pid)
        await asyncio.sleep(third)


def _child(server: Served) -> int | None:
    for pid in family(server.process.pid)[1:]:
        with suppress(OSError):
            if CHILD in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                return pid
    return None


def main(
    settings: Annotated[list[str] | None, typer.Argument(help="KEY=VALUE for the server.")] = None,
    connections: int = 500,
    seconds: float = 60,
    malformed: float = 0.05,
    leaving: float = 0.05,
) -> None:
    """Run the clients alone, with SIGTERM, and with killed workers."""
    given = ["judge.kind=rules", *(settings or [])]
    found: list[bool] = []

    def clients() -> list[Iterator[Request]]:
        return [requests(random.Random(n), n, malformed, leaving) for n in range(connections)]

    seen: list[float] = []
    with served(given) as server:
        watch = partial(watched, server.process.pid, seen)
        tally = asyncio.run(crowd(server.port, clients(), seconds, watch))
    found.append(tally.show(f"{connections} connections for {seconds:g} s"))
    print(f"  a second      {tally.answered.total() / seconds:,.0f}")
    half = len(seen) // 2
    early, late = max(seen[: half or 1]), max(seen[half:])
    print(f"  megabytes     {seen[0]:.0f} at first, most {early:.0f} then {late:.0f}")

    for title, more, asked in (
        ("SIGTERM in the middle", given, clients()),
        ("SIGTERM, grace period exceeded", [*SLOW, *(settings or [])],
         [for_the_model(n) for n in range(connections)]),
    ):  # fmt: skip
        with served(more) as server:
            stop = partial(terminated, server)
            tally = asyncio.run(crowd(server.port, asked, min(seconds, 20), stop))
            code = server.process.wait(60)
        found.append(tally.show(title) and code == 0)
        print(f"  exit code     {code}")

    pids: list[int] = []
    with served([*given, "workers=2"]) as server:
        kill = partial(killed, server, pids)
        tally = asyncio.run(crowd(server.port, clients(), min(seconds, 20), kill))
    failed = sum(n for code, n in tally.answered.items() if code in (500, 502, 504))
    found.append(tally.show(f"workers=2, SIGKILL of one, {len(pids)} times") and bool(pids))
    found.append(not failed)
    print(f"  failed        {failed}")
    if not all(found):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
