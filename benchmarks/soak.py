"""Soak test of the server: many clients, SIGTERM, and a killed worker, without lost requests.

    python benchmarks/soak.py --connections 500 --seconds 60
    python benchmarks/soak.py --connections 500 --seconds 60 judge.kind=cascade workers=2

Every connection sends one request after another: items of all sizes, single and several, and
pipelines' prompts; a share is malformed, and a share of clients disconnects without waiting. Each
reply must belong to its request: a second reply would be read as that of the next request, and be
wrong. The server runs on a free loopback port. The exit code is 1 if anything was lost, wrong or
answered twice.
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
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer
from load import Connection, ConnectionLost, Reply, Served, served

SIZES: Final = (0, 0, 0, 200, 200, 2_000, 20_000, 200_000)
"""Characters before the answer; most responses are short."""
BUSY: Final = frozenset((429, 503))
TURNED_AWAY_S: Final = 0.05


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

    def show(self, title: str) -> None:
        """Print the counts."""
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
             b'{"model": "m", "messages": [{"role": "user", "content": "hello"}]}', 422),
            ("/v1/nothing", b"{}", 404),
        ]
    )  # fmt: skip
    return Request(path, body, lambda reply: reply.status == status and "error" in reply.json())


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
    while time.monotonic() < until:
        try:
            connection = connection or await Connection.to(port)
        except OSError as error:
            if not tally.stopping:
                tally.lost.append(f"no connection: {error}")
            tally.away += tally.stopping
            await asyncio.sleep(TURNED_AWAY_S)
            continue
        if not await _asked_once(connection, next(asked), rng, tally):
            connection.close()
            connection = None
    if connection is not None:
        tally.twice += bool(await connection.more())
        connection.close()


async def _asked_once(
    connection: Connection, request: Request, rng: random.Random, tally: Tally
) -> bool:
    """Send a request and check its reply; return whether the connection can be used again."""
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
    if reply.status in BUSY:
        await asyncio.sleep(TURNED_AWAY_S)
    elif not request.right(reply):
        tally.wrong.append(f"{request.path}: HTTP {reply.status} {reply.body[:200]!r}")
    return True


async def crowd(
    port: int, size: int, seconds: float, shares: tuple[float, float], *more: Any
) -> Tally:
    """Run ``size`` clients for ``seconds``, and the tasks ``more`` at the same time."""
    tally, until = Tally(), time.monotonic() + seconds
    clients = [
        client(port, requests(random.Random(n), n, *shares), until, tally) for n in range(size)
    ]
    await asyncio.gather(*clients, *(other(tally, until) for other in more))
    return tally


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


async def worker_killed(server: Served, killed: list[int], _: Tally, until: float) -> None:
    """Send SIGKILL to one of the workers after half of the time."""
    await asyncio.sleep((until - time.monotonic()) / 2)
    for pid in family(server.process.pid)[1:]:
        with suppress(OSError):
            if b"serve.worker" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
                return


def main(
    settings: Annotated[list[str] | None, typer.Argument(help="KEY=VALUE for the server.")] = None,
    connections: int = 500,
    seconds: float = 60,
    malformed: float = 0.05,
    leaving: float = 0.05,
) -> None:
    """Run the clients alone, with SIGTERM after half of the time, and with a killed worker."""
    given, shares = ["judge.kind=rules", *(settings or [])], (malformed, leaving)
    seen: list[float] = []
    with served(given) as server:
        watch = partial(watched, server.process.pid, seen)
        all_along = asyncio.run(crowd(server.port, connections, seconds, shares, watch))
    all_along.show(f"{connections} connections for {seconds:g} s")
    rate = all_along.answered.total() / seconds
    print(f"  a second      {rate:,.0f}")
    half = len(seen) // 2
    early, late = max(seen[: half or 1]), max(seen[half:])
    print(f"  megabytes     {seen[0]:.0f} at first, most {early:.0f} then {late:.0f}")

    with served(given) as server:
        stop = partial(terminated, server)
        drained = asyncio.run(crowd(server.port, connections, min(seconds, 10), shares, stop))
        code = server.process.wait(60)
    drained.show("SIGTERM in the middle")
    print(f"  exit code     {code}")

    killed: list[int] = []
    with served([*given, "workers=2"]) as server:
        kill = partial(worker_killed, server, killed)
        survived = asyncio.run(crowd(server.port, connections, min(seconds, 20), shares, kill))
    survived.show(f"SIGKILL of worker {killed[0] if killed else 'none'}")
    failed = sum(n for code, n in survived.answered.items() if code in (500, 502, 504))
    print(f"  failed        {failed}")
    if not (all_along.ok and drained.ok and code == 0 and survived.ok and killed and not failed):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
