"""How long 1 million to 10 billion answers take, by a simulation of the stages of judging.

    python benchmarks/scale.py            prints the tables of docs/scale.md
    python benchmarks/scale.py --write    writes them into docs/scale.md

The simulation is a network of queues. Rows are in parts; a part passes the stages in order, each of
which keeps a core or a GPU for as long as its rows take; only the rows that a stage leaves open
cost time in the next. A limited number of parts is under way (back-pressure). Costs are read from
``benchmarks/scale.yaml``; what is measured there is measured by ``benchmarks/scale_rates.py``.
"""

from __future__ import annotations

import heapq
import sys
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

ROOT: Final = Path(__file__).parents[1]
FIGURES: Final = ROOT / "benchmarks" / "scale.yaml"
PAGE: Final = ROOT / "docs" / "scale.md"
COUNTS: Final = {"1 million": 10**6, "100 million": 10**8, "10 billion": 10**10}
SIMULATED: Final = 12_000
"""Most parts that are simulated; more of them take as much longer."""
UNITS: Final = {"core": "CPUs", "gpu": "GPUs"}
IDLE: Final = 0.05
"""Above this share of the machine for other processes a wall time is no measurement."""
UNDER_WAY: Final = 2
"""Parts under way for each core and GPU."""


class Stage(NamedTuple):
    """What one stage costs: seconds of a ``resource`` for each row of a part that reaches it.

    A part is judged in ``pieces`` at a time.
    """

    name: str
    seconds: float
    resource: str = "core"
    pieces: int = 1


class Run(NamedTuple):
    """A simulated run: its length, and the share of the time that each resource was busy."""

    seconds: float
    busy: Mapping[str, float]


def simulate(
    parts: Sequence[int], stages: Sequence[Stage], has: Mapping[str, int], under_way: int
) -> tuple[list[float], Counter[str]]:
    """When each part was done, and the seconds that each resource worked.

    Args:
        parts: The rows of each part.
        stages: The stages in order.
        has: How many of each resource there are.
        under_way: Most parts that are in any stage at a time.

    """
    waiting: list[deque[int]] = [deque() for _ in stages]
    left: Counter[tuple[int, int]] = Counter()
    free, worked, done, now = dict(has), Counter[str](), list[float](), 0.0
    working: list[tuple[float, int, int]] = []
    admitted = 0
    while len(done) < len(parts):
        while admitted < len(parts) and admitted - len(done) < under_way:
            waiting[0].extend([admitted] * stages[0].pieces)
            admitted += 1
        # Later stages first: what is begun is finished before more is begun.
        for at, stage in reversed([*enumerate(stages)]):
            while waiting[at] and free[stage.resource]:
                part = waiting[at].popleft()
                seconds = stage.seconds * parts[part] / stage.pieces
                free[stage.resource] -= 1
                worked[stage.resource] += seconds
                heapq.heappush(working, (now + seconds, at, part))
        now, at, part = heapq.heappop(working)
        free[stages[at].resource] += 1
        left[at, part] += 1
        if left[at, part] == stages[at].pieces:
            if at + 1 < len(stages):
                waiting[at + 1].extend([part] * stages[at + 1].pieces)
            else:
                done.append(now)
    return done, worked


def run(rows: int, part_rows: int, stages: Sequence[Stage], has: Mapping[str, int]) -> Run:
    """Judge many rows on a cluster; beyond ``SIMULATED`` parts at their rate."""
    parts, rest = divmod(rows, part_rows)
    sizes = [part_rows] * min(parts, SIMULATED) + [rest] * (rest > 0 and parts < SIMULATED)
    done, worked = simulate(sizes, stages, has, UNDER_WAY * sum(has.values()))
    busy = {name: worked[name] / (n * done[-1]) for name, n in has.items()}
    return Run(done[-1] * rows / sum(sizes), busy)


def judging(figures: Mapping[str, Any], model: str | None) -> list[Stage]:
    """The stages of a cascade on a cluster, with Ray's share on all that runs on cores."""
    costs, more = figures["measured"]["handling"], 1 + figures["ray"]["overhead"]
    rates = figures["rates"]
    pipeline = [Stage("read and judge", more * (costs["file"] / 2 + rates["rules"]))]
    if model is not None:
        found = figures["models"][model]
        on_cores = more if found["resource"] == "core" else 1
        seconds = on_cores * found["seconds"] * rates["left_open"]
        pipeline.append(Stage("model", seconds, found["resource"]))
    return [*pipeline, Stage("write", more * costs["file"] / 2)]


def plan(figures: Mapping[str, Any]) -> Iterator[list[str]]:
    """The lines of the table of times and costs."""
    part = figures["part_rows"]
    for one in figures["plans"]:
        stages = judging(figures, one["model"])
        for fleet in one["fleets"]:
            machines = [(figures["machines"][kind], n) for kind, n in fleet.items()]
            cores, gpus = (sum(m[what] * n for m, n in machines) for what in ("cores", "gpus"))
            has = {"core": cores, **({"gpu": gpus} if gpus else {})}
            price = sum(machine["price"] * n for machine, n in machines)
            runs = [run(rows, part, stages, has) for rows in COUNTS.values()]
            fitted = ", ".join(
                f"{UNITS[name]} {share:.0%}" for name, share in runs[-1].busy.items()
            )
            lost = sum(stage.seconds for stage in stages) * part
            times = [f"{duration(r.seconds)}, {dollars(r.seconds / 3600 * price)}" for r in runs]
            equipped = f"{gpus} GPUs, {cores:,} vCPUs" if gpus else f"{cores:,} vCPUs"
            yield [one["name"], equipped, *times, fitted, duration(lost)]


def points(figures: Mapping[str, Any]) -> Iterator[tuple[str, float, float]]:
    """What was measured as a whole: its name, measured and simulated seconds."""
    measured = figures["measured"]
    costs, commands = measured["handling"], measured["commands"]
    rules, rows = measured["stages"]["rules"]["seconds"], measured["rows"]
    start = commands["start, rules"]["cpu"]

    def one(name: str, batches: Sequence[int], line: Sequence[Stage], cores: int) -> float:
        begun = commands[name]["cpu"]
        return begun + simulate(batches, line, {"core": cores}, cores)[0][-1]

    at_a_time = 1_024
    batches = [at_a_time] * (rows // at_a_time) + [rows % at_a_time]
    alone = [Stage("file", costs["file"]), Stage("rules", rules)]
    yield "rules, 1 core", commands["rules, 1 core"]["cpu"], one("start, rules", batches, alone, 1)
    # The processes take a batch of rows in eighths, and one batch is read or written meanwhile.
    both = [alone[0], Stage("rules", rules + costs["pass"] + costs["receive"], pieces=8)]
    two, more = commands["rules, 2 cores"], 2 * start  # its processes start, too
    found = one("start, rules", batches, both, 1) + more
    yield "rules, two processes, CPU time", two["cpu"], found
    if two["others"] <= IDLE:
        found = one("start, rules", batches, both, 2) + start
        yield "rules, two processes on 2 cores", two["wall"], found
    # Each file is a part. The input is read once more, for its columns, before it is judged.
    line = [Stage("look", costs["file"] / 2), Stage("file and rules", costs["file"] + rules)]
    found = simulate([rows] * measured["ray_files"], line, {"core": 2}, 4)[0][-1]
    name = f"rules, {measured['ray_files']} files on Ray, 2 cores"
    yield name, commands["rules, Ray"]["wall"], commands["start, Ray"]["wall"] + found


def duration(seconds: float) -> str:
    """A time in its usual unit, with two digits."""
    for unit, size in (("days", 86_400.0), ("h", 3_600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.{0 if seconds >= 10 * size else 1}f} {unit}"
    return f"{seconds:.{0 if seconds >= 10 else 1}f} s"


def dollars(amount: float) -> str:
    """A price, with two digits where it is small."""
    return f"${amount:,.0f}" if amount >= 10 else f"${amount:.2f}"


def table(head: Sequence[str], lines: Iterator[list[str]]) -> str:
    """A table in Markdown."""
    rows = [list(head), ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def tables(figures: Mapping[str, Any]) -> dict[str, str]:
    """The tables of the document by their names."""
    compared = (
        [name, f"{was:.1f} s", f"{found:.1f} s", f"{found / was - 1:+.0%}"]
        for name, was, found in points(figures)
    )
    head = ("judges", "hardware", *COUNTS, "utilisation", "work lost at most")
    return {
        "plan": table(head, plan(figures)),
        "points": table(("configuration", "measured", "simulated", "difference"), compared),
    }


def written(page: str, made: Mapping[str, str]) -> str:
    """The page with the tables in their places."""
    for name, text in made.items():
        before, _, rest = page.partition(f"<!-- table: {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        page = f"{before}<!-- table: {name} -->\n\n{text}\n\n{end}{after}"
    return page


def main() -> None:
    """Print the tables, or write them into the document."""
    made = tables(yaml.safe_load(FIGURES.read_text(encoding="utf-8")))
    if "--write" in sys.argv[1:]:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")
    print("\n\n".join(made.values()))


if __name__ == "__main__":
    main()
