"""What each stage of judging costs for a row of a file, and how long whole commands take for it.

    python benchmarks/scale_rates.py answers.jsonl judges/mine > rates.yaml

The figures are those that ``benchmarks/scale.yaml`` needs: CPU seconds of one core, the least of
``ROUNDS``, as other work on the machine only adds to them. A whole command on one core takes as
long as its CPU time; for two cores its wall time counts, beside which ``others`` is the share of
the machine that other processes had: measure again where that is more than a few hundredths. For
the model the first ``MODEL_ROWS`` rows are judged, and on Ray ``RAY_FILES`` copies of the file.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from gradegpt.app.run import judge_file
from gradegpt.core.schema import Item, Judgement
from gradegpt.judges.base import Judge
from gradegpt.judges.build import build_judge
from gradegpt.judges.cascade import CascadeJudge, Stage
from gradegpt.judges.parallel import ParallelJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.settings import JudgeSettings
from gradegpt.tables import opened
from gradegpt.tables.inputs import check_input

AT_A_TIME: Final = 1_024
MODEL_ROWS: Final = 400
RAY_FILES: Final = 8
ROUNDS: Final = 3
_RULES: Final = ("--judge", "rules")


@dataclass
class Timed:
    """A judge, the rows that it was asked about, and the CPU seconds that it took."""

    judge_: Judge
    rows: int = 0
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """The judge's own name."""
        return self.judge_.name

    @property
    def fingerprint(self) -> str:
        """The judge's own fingerprint."""
        return self.judge_.fingerprint

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """The judge's judgements, timed."""
        started = time.process_time()
        made = self.judge_.judge(items)
        self.seconds += time.process_time() - started
        self.rows += len(items)
        return made

    @property
    def per_row(self) -> float:
        """Seconds of a row."""
        return self.seconds / max(1, self.rows)


def in_process(file: Path, first: Path, model: str) -> Any:
    """``measured`` in a process of its own, as each has to load what the rules need."""
    program = [sys.executable, __file__, str(file), str(first), model]
    ran = subprocess.run(program, capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


def measured(file: Path, first: Path, model: str) -> dict[str, Any]:
    """What a row costs in this process: besides judging, and in each stage."""
    costs, rules = handling(file)
    found = {"handling": costs, "stages": stages(file, first, model)}
    found["stages"]["rules"]["seconds"] = rules
    return found


def stages(file: Path, first: Path, model: str) -> dict[str, Any]:
    """The cost of a row in each stage, and the share of the rows that reach it; on one core."""
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    settings = JudgeSettings.of(kind="cascade", model=model, min_confidence=0)
    cascade = build_judge(settings)
    assert isinstance(cascade, CascadeJudge)
    timed = [Timed(stage.judge) for stage in cascade.stages]
    both = [Stage(t, s.calibration) for s, t in zip(cascade.stages, timed, strict=True)]
    rows = judged_alone(file, CascadeJudge(both[:-1], cascade.policy))
    shares = [t.rows / rows for t in timed]
    timed[-1].judge_.judge([])  # loads it
    judged_alone(first, CascadeJudge(both, cascade.policy))
    shares[-1] = timed[-1].rows / MODEL_ROWS
    return {
        t.name: {"seconds": t.per_row, "share": share}
        for t, share in zip(timed, shares, strict=True)
    }


def judged_alone(file: Path, judge: Judge) -> int:
    """Judge the file in this process; return its rows."""
    with tempfile.TemporaryDirectory() as folder, opened(str(file)) as table:
        checked = check_input(table)
        judge_file(checked, Path(folder, "out.jsonl"), judge, rows_per_write=AT_A_TIME)
        return checked.rows


def handling(file: Path) -> tuple[dict[str, float], float]:
    """The cost of a row besides judging, and that of the rules, which load much when first needed.

    ``file`` is reading and writing it, ``pass`` what this process does to have it judged by
    another, and ``receive`` what that one does besides judging.
    """
    judge, started = Timed(RuleJudge()), time.process_time()
    rows = judged_alone(file, judge)
    alone = time.process_time() - started - judge.seconds
    parallel = Timed(ParallelJudge(RuleJudge(), 2))
    judged_alone(file, parallel)
    found = {"file": alone / rows, "pass": parallel.per_row, "receive": receiving(file)}
    return found, judge.per_row


def receiving(file: Path) -> float:
    """The cost of a row in ``gradegpt.judges.worker`` besides its judgement."""
    with opened(str(file)) as table:
        items = [item for _, item in itertools.islice(check_input(table).items(), AT_A_TIME)]
    made = RuleJudge().judge(items)
    line = json.dumps([item.model_dump(mode="json") for item in items])
    started = time.process_time()
    for row in json.loads(line):
        Item.model_validate(row)
    json.dumps([judgement.model_dump(mode="json") for judgement in made])
    return (time.process_time() - started) / len(items)


def command(file: Path, cores: int, *arguments: str) -> dict[str, float]:
    """The wall and CPU seconds of a command on some cores, and the CPU seconds of others."""
    with tempfile.TemporaryDirectory() as folder:
        program = [
            "taskset", "-c", ",".join(map(str, range(cores))), sys.executable, "-m", "gradegpt",
            "judge", str(file), "-o", f"{folder}/out.jsonl", *arguments,
        ]  # fmt: skip
        busy, started = _busy(), time.perf_counter()
        process = subprocess.Popen(program, stdout=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        wall, cpu = time.perf_counter() - started, usage.ru_utime + usage.ru_stime
        return {
            "wall": round(wall, 2), "cpu": round(cpu, 2),
            "others": round(max(0.0, _busy() - busy - cpu) / wall / (os.cpu_count() or 1), 3),
        }  # fmt: skip


def on_ray(files: str, cores: int) -> dict[str, float]:
    """The wall seconds of judging by rules on a Ray that is started for it."""
    with tempfile.TemporaryDirectory() as folder:
        program = [
            "taskset", "-c", ",".join(map(str, range(cores))), sys.executable, "-m", "gradegpt",
            "judge", files, "-o", f"{folder}/out", *_RULES, "--on", "ray",
        ]  # fmt: skip
        started = time.perf_counter()
        subprocess.run(program, stdout=subprocess.DEVNULL, check=True)
        return {"wall": round(time.perf_counter() - started, 2)}


def _busy() -> float:
    """The CPU seconds of all processes since the machine started."""
    user, nice, system, *_ = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")


def least(measure: Callable[[], Any]) -> Any:
    """The least of each figure over the rounds; of a command, its round of the least wall time."""
    return _least([measure() for _ in range(ROUNDS)])


def _least(found: Sequence[Any]) -> Any:
    if isinstance(found[0], dict):
        if "wall" in found[0]:
            return min(found, key=lambda one: one["wall"])
        return {name: _least([one[name] for one in found]) for name in found[0]}
    return float(f"{min(found):.4g}")


def main(file: Path, model: str) -> None:
    """Print the figures as YAML."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(file, folder))
        one, first = copy.with_name("one.jsonl"), copy.with_name("first.jsonl")
        lines = copy.read_text(encoding="utf-8").splitlines(keepends=True)
        one.write_text(lines[0], encoding="utf-8")
        first.write_text("".join(lines[:MODEL_ROWS]), encoding="utf-8")
        copies = copy.with_name("copies")
        copies.mkdir()
        for number in range(RAY_FILES):
            shutil.copy(copy, copies / f"{number}.jsonl")
        commands = {
            "start, rules": lambda: command(one, 1, *_RULES),
            "rules, 1 core": lambda: command(copy, 1, *_RULES),
            "rules, 2 cores": lambda: command(copy, 2, *_RULES),
            "start, Ray": lambda: on_ray(str(one), 2),
            "rules, Ray": lambda: on_ray(f"{copies}/*.jsonl", 2),
        }
        found = least(
            lambda: {
                **in_process(copy, first, model),
                "commands": {name: run() for name, run in commands.items()},
            }
        )
        sizes = {
            "rows": len(lines), "bytes": copy.stat().st_size, "ray_files": RAY_FILES
        }  # fmt: skip
        print(yaml.safe_dump({**sizes, **found}, sort_keys=False))


if __name__ == "__main__":
    if len(sys.argv) > 3:
        print(json.dumps(measured(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])))
    else:
        main(Path(sys.argv[1]), sys.argv[2])
