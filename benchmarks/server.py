"""Compare the server with its own engine called directly.

    python benchmarks/server.py models/gradegpt-nano eval/data/handmade.jsonl --clients 32

On the same rows in one run: the engine, with ``--clients`` items per call, and the server, with as
many clients, each of which sends its next request after a reply. Then both with verdict tags only
(chain format ``outcome``). They run in turns, and the median over the rounds is printed.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer
from load import Connection, served

from gradegpt.core.records import read_objects
from gradegpt.core.schema import ChainFormat, Item, Judgement
from gradegpt.judges.build import build_judge
from gradegpt.judges.settings import JudgeSettings

FIELDS: Final = ("id", "context", "question", "reference", "response", "answer_type", "tolerance")
MAX_NEW_TOKENS: Final = 384


def items_of(path: Path, rows: int) -> list[Item]:
    """The first ``rows`` rows of a file of items or examples, repeated if it is shorter."""
    found = [
        Item.model_validate({name: row[name] for name in FIELDS if row.get(name) is not None})
        for _, row in read_objects(path)
    ]
    return [found[n % len(found)].model_copy(update={"id": str(n)}) for n in range(rows)]


class Took(NamedTuple):
    """The seconds for all rows, and the generated tokens."""

    seconds: float
    tokens: int


async def ask(port: int, items: Sequence[Item], clients: int) -> tuple[float, list[Judgement]]:
    """The seconds for ``clients`` to judge all items, one per request, and the judgements."""
    bodies = [item.model_dump_json(exclude_none=True, exclude={"meta"}).encode() for item in items]
    left: Iterator[int] = iter(range(len(items)))
    made: dict[int, Judgement] = {}
    connections = [await Connection.to(port) for _ in range(clients)]

    async def client(connection: Connection) -> None:
        for n in left:
            reply = await connection.post("/v1/judge", bodies[n])
            if reply.status != 200:
                raise RuntimeError(f"HTTP {reply.status}: {reply.body.decode()}")
            made[n] = Judgement.model_validate(json.loads(reply.body)["judgement"])
        connection.close()

    started = time.perf_counter()
    await asyncio.gather(*(client(connection) for connection in connections))
    return time.perf_counter() - started, [made[n] for n in range(len(items))]


def direct(judge: Any, items: Sequence[Item], size: int) -> tuple[float, list[Judgement]]:
    """The seconds of the judge for all items, ``size`` per call, and the judgements."""
    started, made = time.perf_counter(), []
    for at in range(0, len(items), size):
        made += judge.judge(items[at : at + size])
    return time.perf_counter() - started, made


def taking_turns(
    ways: dict[str, Callable[[], tuple[float, list[Judgement]]]], rounds: int
) -> tuple[dict[str, float], dict[str, list[Judgement]]]:
    """The median seconds of each way, after a warm-up round, and its judgements."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    judged: dict[str, list[Judgement]] = {}
    for turn in range(rounds + 1):
        for name, way in ways.items():
            took, judged[name] = way()
            seconds[name] += [took] if turn else []
    return {name: statistics.median(times) for name, times in seconds.items()}, judged


def compare(
    model: str, items: Sequence[Item], clients: int, rounds: int, chain_format: str | None
) -> tuple[Took, Took]:
    """The seconds of the engine and the server; print how many verdicts are the same."""
    format_ = ChainFormat(chain_format) if chain_format else None
    settings = JudgeSettings.of(
        kind="model", model=model, batch_size=clients, chain_format=format_,
        max_new_tokens=MAX_NEW_TOKENS,
    )  # fmt: skip
    judge = build_judge(settings)
    overrides = [
        "judge.kind=model", f"judge.model={Path(model).resolve()}", f"judge.batch_size={clients}",
        f"judge.max_new_tokens={MAX_NEW_TOKENS}", f"max_batch={clients}",
        *([f"judge.chain_format={chain_format}"] if chain_format else []),
    ]  # fmt: skip
    with ExitStack() as stack:
        port = stack.enter_context(served(overrides)).port
        seconds, judged = taking_turns(
            {
                "engine": lambda: direct(judge, items, clients),
                "server": lambda: asyncio.run(ask(port, items, clients)),
            },
            rounds,
        )
    pairs = zip(judged["engine"], judged["server"], strict=True)
    same = sum(a.verdict is b.verdict for a, b in pairs)
    print(f"{chain_format or 'chains'}: same verdict on {same} of {len(items)} rows")
    engine, server = (
        Took(seconds[way], sum(one.completion_tokens for one in judged[way]))
        for way in ("engine", "server")
    )
    return engine, server


def main(
    model: Annotated[str, typer.Argument(help="The folder of a model.")],
    rows_file: Annotated[Path, typer.Argument(help="JSON Lines of items or examples.")],
    rows: int = 256,
    clients: int = 32,
    rounds: int = 3,
) -> None:
    """Print the rows per second of every way, and their ratios."""
    items = items_of(rows_file, rows)
    engine, server = compare(model, items, clients, rounds, None)
    engine_tag, server_tag = compare(model, items, clients, rounds, "outcome")
    print(f"\n{rows} rows, {clients} clients, median of {rounds} rounds")
    print(f"{'way':<42}{'seconds':>9}{'rows/s':>9}{'tokens/row':>12}")
    for name, took in {
        f"engine, {clients} at a time, chains": engine,
        "server, chains": server,
        f"engine, {clients} at a time, verdicts alone": engine_tag,
        "server, verdicts alone": server_tag,
    }.items():
        each = f"{rows / took.seconds:>9.1f}{took.tokens / rows:>12.1f}"
        print(f"{name:<42}{took.seconds:>9.2f}{each}")
    ratio = {
        "verdicts over chains, both by the server": server.seconds / server_tag.seconds,
        "server over its engine, chains": engine.seconds / server.seconds,
        "server over its engine, verdicts": engine_tag.seconds / server_tag.seconds,
    }
    print()
    for name, times in ratio.items():
        print(f"{name:<42}{times:>9.2f} times as many rows a second")


if __name__ == "__main__":
    typer.run(main)
