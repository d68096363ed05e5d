"""Judging on Ray against the local command: speed, workers, memory, kill -9, two nodes.

    python benchmarks/cluster.py                  # a million rows, about 45 minutes on two cores
    python benchmarks/cluster.py --rows 20000     # to see that it works

Short rows that the rules decide are judged by the local command, by Ray on this machine with all
cores and with one, and on a cluster of two Ray nodes with one core each. On both clusters a worker
and the driver are killed five times each, and a node once; every output is compared byte by byte
with that of the run that nobody disturbed. The exit code is 1 if a bar is missed: Ray takes at most
15 % longer than the local command, two workers are at least 1.7 times as fast as one, and the
memory of the last quarter of a run is at most 1.15 times that of the second.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer

OVERHEAD: Final = 0.15
SPEEDUP: Final = 1.7
GROWTH: Final = 1.15
KILLS: Final = 5
WORKER: Final = b"ray::Map"
MB: Final = 2**20
PAGE: Final = os.sysconf("SC_PAGE_SIZE")


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
        "import sys; from gradegpt import cli; from gradegpt.cluster.session import connect\n"
        "with connect(None, num_cpus=1): cli.run(cli.app, sys.argv[1:], name='gradegpt')"
    )
    return [sys.executable, "-c", code, *command(source, output, "--on", "ray")[3:]]


def processes() -> dict[int, int]:
    """All processes with the one that started them."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            found[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    return found


def below(pid: int) -> list[int]:
    """The processes that one process started, and those that they started."""
    parents, found = processes(), [pid]
    for one in found:  # grows in the loop
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def memory(pids: list[int]) -> float:
    """Resident memory in MB, without what is shared."""
    pages = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError):
            _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
            pages += int(resident) - int(shared)
    return pages * PAGE / MB


def finished(arguments: list[str], env: dict[str, str] | None = None) -> Run:
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


def begun(arguments: list[str], env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start a command."""
    return subprocess.Popen(arguments, env={**os.environ, **(env or {})}, stdout=subprocess.DEVNULL)


def workers() -> list[int]:
    """The processes of Ray below this one that judge."""
    found = []
    for pid in below(os.getpid()):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(WORKER):
                found.append(pid)
    return found


def same(output: Path, expected: Path) -> bool:
    """Whether two folders hold the same parts, byte by byte."""
    names = sorted(path.name for path in expected.glob("part-*"))
    if sorted(path.name for path in output.glob("part-*")) != names:
        return False
    return all((output / n).read_bytes() == (expected / n).read_bytes() for n in names)


def parts(folder: Path) -> int:
    """The number of parts that are written."""
    return len([*folder.glob("part-*")])


def kill_workers(arguments: list[str], output: Path, total: int, env: dict[str, str]) -> int:
    """Kill a worker, five times in one run; the number of kills."""
    killed, rng = 0, random.Random(0)
    with begun(arguments, env) as process:
        while process.poll() is None:
            busy = workers()
            if killed < KILLS and busy and parts(output) >= killed * total // (KILLS + 1):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(busy[rng.randrange(len(busy))], signal.SIGKILL)
                    killed += 1
            time.sleep(0.5)
    return killed if not process.returncode else -1


def kill_drivers(arguments: list[str], output: Path, total: int, env: dict[str, str]) -> int:
    """Kill the driver in five runs, and let the sixth end; the number of kills."""
    killed = 0
    for attempt in range(KILLS + 1):
        with begun(arguments, env) as process:
            while process.poll() is None:
                wanted = (attempt + 1) * total // (KILLS + 1)
                if attempt < KILLS and parts(output) >= min(wanted, total - 1):
                    process.kill()
                    process.wait()
                    killed += 1
                time.sleep(0.1)
    return killed if not process.returncode else -1


@contextlib.contextmanager
def two_nodes() -> Iterator[Any]:
    """A cluster of two Ray nodes with a core each."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    cluster.add_node(num_cpus=1)
    try:
        yield cluster
    finally:
        cluster.shutdown()


def kill_node(cluster: Any, arguments: list[str], output: Path, env: dict[str, str]) -> int:
    """Kill a node in the middle of a run, and add another one."""
    with begun(arguments, env) as process:
        while process.poll() is None and not parts(output):
            time.sleep(0.2)
        cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
        cluster.add_node(num_cpus=1)
    return 1 if not process.returncode else -1


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


def disturbed(folder: Path, source: Path, expected: Path, env: dict[str, str], where: str) -> bool:
    """Kill workers and drivers; whether the outputs are the undisturbed one."""
    total, met = parts(expected), True
    for what, kill in (("workers", kill_workers), ("drivers", kill_drivers)):
        output = folder / f"{where}-{what}"
        killed = kill(command(source, output, "--on", "ray"), output, total, env)
        met &= bar(f"{what} killed, {where}", killed, killed == KILLS and same(output, expected))
    return met


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
    local = finished(command(many, folder / "local.parquet"))
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
    finished(command(few, folder / "few", "--on", "ray"))
    yield disturbed(folder, few, folder / "few", {}, "one node")
    with two_nodes() as cluster:
        env = {"RAY_ADDRESS": cluster.address}
        nodes = finished(command(many, folder / "nodes", "--on", "ray"), env)
        show("Ray, two nodes", nodes, rows)
        yield bar("the same from two nodes", 1, same(folder / "nodes", folder / "two"))
        yield disturbed(folder, few, folder / "few", env, "two nodes")
        output = folder / "node"
        killed = kill_node(cluster, command(few, output, "--on", "ray"), output, env)
        yield bar("node killed", killed, killed == 1 and same(output, folder / "few"))


if __name__ == "__main__":
    typer.run(main)
