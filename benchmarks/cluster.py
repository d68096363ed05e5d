"""Judging and making rows on Ray against the local commands: speed, memory, kill -9, two nodes.

    python benchmarks/cluster.py                  # a million rows, about 45 minutes on two cores
    python benchmarks/cluster.py --rows 20000     # to see that it works

Short rows that the rules decide are judged by the local command, by Ray on this machine with all
cores and with one, and on a cluster of two Ray nodes with one core each. On both clusters a worker
and the driver are killed five times each, and a node once; every output is compared byte by byte
with that of the run that nobody disturbed. Training rows are made on both clusters with the same
kills, and compared with those of the local command. The exit code is 1 if a bar is missed: Ray
takes at most 15 % longer than the local command, two workers are at least 1.7 times as fast as one,
and the memory of the last quarter of a run is at most 1.15 times that of the second.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, NamedTuple, TypeAlias

import typer
from kills import KILLS, Work, begun, below, kill_drivers, kill_node, kill_workers, two_nodes

OVERHEAD: Final = 0.15
SPEEDUP: Final = 1.7
GROWTH: Final = 1.15
PROBLEMS: Final = 20_000
"""Generated problems; some two rows are made of each."""
MB: Final = 2**20
PAGE: Final = os.sysconf("SC_PAGE_SIZE")
Env: TypeAlias = dict[str, str]


class Run(NamedTuple):
    """The wall-clock time of a command, and the memory of its processes in MB over time."""

    seconds: float
    driver: list[float]
    others: list[float]


def write_rows(path: Path, rows: int) -> None:
    """Sums, fractions, choices and perimeters; a third of the answers are wrong."""
    rng = random.Random(0)
    with path.open("w", encoding="utf-8") as out:
        for number in range(rows):
            a, b, wrong = rng.randint(2, 999), rng.randint(2, 999), rng.randint(0, 2) == 0
            made = (
                (f"What is {a} + {b}?", str(a + b), f"The answer is {a + b + wrong}."),
                (f"What is {a} / {b}?", f"{a}/{b}", f"It is \\boxed{{{a}/{b + wrong}}}."),
                (f"{a}. Which one is right?", "ABCD"[b % 4], f"Answer: {'ABCD'[(b + wrong) % 4]}"),
                (f"长 {a} 厘米，宽 {b} 厘米，周长？", f"{2 * (a + b)}", f"{2 * (a + b + wrong)}。"),
            )  # fmt: skip
            question, reference, response = made[number % 4]
            row = {"id": f"{number}", "question": question, "reference": reference}
            out.write(json.dumps({**row, "response": response}, ensure_ascii=False) + "\n")


def command(source: Path, output: Path, *options: str) -> list[str]:
    """The command line that judges a file by rules."""
    judge = [sys.executable, "-m", "gradegpt", "judge", str(source), "-o", str(output)]
    return [*judge, "--judge", "rules", *options]


def one_core(source: Path, output: Path) -> list[str]:
    """The same on a Ray that is started with one core."""
    code = (
        "import sys; from gradegpt.app import cli\n"
        "from gradegpt.app.cluster.pipeline import connect\n"
        "with connect(None, num_cpus=1): cli.run(cli.app, sys.argv[1:], name='gradegpt')"
    )
    return [sys.executable, "-c", code, *command(source, output, "--on", "ray")[3:]]


def memory(pids: list[int]) -> float:
    """Resident memory in MB, without what is shared."""
    pages = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError):
            _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
            pages += int(resident) - int(shared)
    return pages * PAGE / MB


def finished(arguments: list[str], env: Env | None = None) -> Run:
    """Run a command to its end, and watch its memory."""
    started, driver, others = time.perf_counter(), list[float](), list[float]()
    with begun(arguments, env) as process:
        while process.poll() is None:
            driver.append(memory([process.pid]))
            others.append(memory(below(process.pid)))
            time.sleep(1)
    if process.returncode:
        raise RuntimeError(f"exit code {process.returncode}: {' '.join(arguments)}")
    return Run(time.perf_counter() - started, driver, others)


def same(output: Path, expected: Path) -> bool:
    """Whether two folders hold the same files of rows, byte by byte."""
    names = files(expected)
    if files(output) != names:
        return False
    return all((output / n).read_bytes() == (expected / n).read_bytes() for n in names)


def files(folder: Path) -> list[str]:
    """The names of the files of rows."""
    return sorted(path.name for path in folder.glob("*.jsonl"))


def parts(folder: Path) -> int:
    """The number of parts that are written."""
    return len([*folder.glob("part-*")])


def grown(run: Run) -> float:
    """The most memory in the last quarter of a run, by that in the second."""
    used = [a + b for a, b in zip(run.driver, run.others, strict=True)]
    quarter = max(1, len(used) // 4)
    return max(used[-quarter:]) / max(used[quarter : 2 * quarter])


def show(name: str, run: Run, rows: int) -> None:
    """Print the speed and the memory of a run."""
    at = [len(run.driver) * share // 4 for share in (1, 2, 3)]
    used = ", ".join(f"{run.driver[n]:,.0f} + {run.others[n]:,.0f}" for n in at)
    print(
        f"{name:<28} {run.seconds:8.1f} s  {rows / run.seconds:8,.0f} rows/s  MB: {used}",
        flush=True,
    )


def bar(name: str, value: float, met: bool) -> bool:
    """Print whether a bar is met."""
    print(f"{name:<28} {value:8.2f}   {'met' if met else 'MISSED'}", flush=True)
    return met


def disturbed(
    workers: Work, driver: Work, outputs: Sequence[Path], expected: Path, where: str
) -> bool:
    """Kill workers in one run, and drivers in another; whether both outputs are as expected."""
    met, killed = True, (kill_workers(workers), kill_drivers(driver))
    for what, count, output in zip(("workers", "drivers"), killed, outputs, strict=True):
        unharmed = count == KILLS and same(output, expected)
        met &= bar(f"{what} killed, {where}", count, unharmed)
    return met


def judged(folder: Path, source: Path, expected: Path, env: Env, where: str) -> bool:
    """The kills while rows are judged."""
    outputs = [folder / f"{where}-{what}" for what in ("workers", "drivers")]
    return disturbed(
        *(judging(source, o, expected, env) for o in outputs), outputs, expected, where
    )


def judging(source: Path, output: Path, expected: Path, env: Env) -> Work:
    """Judging; its share is that of the parts that are written."""
    total = parts(expected)
    return Work(command(source, output, "--on", "ray"), env, lambda _: parts(output) / total)


def generated(folder: Path, expected: Path, seconds: float, env: Env, where: str) -> bool:
    """The kills while rows are made; the share is that of the time of the undisturbed run.

    A driver that begins again finds the candidates of those before it, so it is killed earlier.
    """
    outputs = [folder / f"data-{where}-{what}" for what in ("workers", "drivers")]
    works = (
        Work(generating(output, "on=ray"), env, lambda spent, last=last: spent / (last * seconds))
        for output, last in zip(outputs, (1, 0.4), strict=True)
    )
    return disturbed(*works, outputs, expected, f"data, {where}")


def generating(output: Path, *options: str) -> list[str]:
    """The command line that makes training rows of generated problems."""
    made = [f"out={output}", "bank=0", f"parametric={PROBLEMS}", *options]
    return [sys.executable, "-m", "gradegpt", "data", "demo", *made]


def main(
    rows: int = 1_000_000,
    kill_rows: Annotated[
        int | None,
        typer.Option(help="Rows of the runs with kills. [default: a fifth, at least 12 parts]"),
    ] = None,
) -> None:
    """Print the table, and whether each bar is met."""
    folder = Path(tempfile.mkdtemp(prefix="gradegpt-cluster-"))
    try:
        met = [*measured(folder, rows, kill_rows or max(rows // 5, 100_000))]
    finally:
        shutil.rmtree(folder)
    raise typer.Exit(0 if all(met) else 1)


def measured(folder: Path, rows: int, kill_rows: int) -> Iterator[bool]:
    """Whether each bar is met."""
    many, few = folder / "many.jsonl", folder / "few.jsonl"
    write_rows(many, rows)
    write_rows(few, kill_rows)
    local = finished(command(many, folder / "local.jsonl"))
    show("local, all cores", local, rows)
    two = finished(command(many, folder / "two", "--on", "ray"))
    show("Ray, all cores", two, rows)
    one = finished(one_core(many, folder / "one"))
    show("Ray, one core", one, rows)
    yield bar(
        "overhead", two.seconds / local.seconds - 1, two.seconds <= (1 + OVERHEAD) * local.seconds
    )
    yield bar("two workers by one", one.seconds / two.seconds, one.seconds >= SPEEDUP * two.seconds)
    yield bar("memory, end by beginning", grown(two), grown(two) <= GROWTH)
    yield bar("the same from one core", 1, same(folder / "one", folder / "two"))
    made, data = folder / "data", finished(generating(folder / "data"))
    show("rows made, all cores", data, PROBLEMS)
    finished(command(few, folder / "few", "--on", "ray"))
    yield judged(folder, few, folder / "few", {}, "one node")
    yield generated(folder, made, data.seconds, {}, "one node")
    with two_nodes() as cluster:
        env = {"RAY_ADDRESS": cluster.address}
        nodes = finished(command(many, folder / "nodes", "--on", "ray"), env)
        show("Ray, two nodes", nodes, rows)
        yield bar("the same from two nodes", 1, same(folder / "nodes", folder / "two"))
        yield judged(folder, few, folder / "few", env, "two nodes")
        yield generated(folder, made, data.seconds, env, "two nodes")
        killed = kill_node(cluster, judging(few, folder / "node", folder / "few", env))
        yield bar("node killed", killed, killed == 1 and same(folder / "node", folder / "few"))


if __name__ == "__main__":
    typer.run(main)
