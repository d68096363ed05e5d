"""Whether two installations of GradeGPT give the same judgements.

    python benchmarks/same.py OLD/bin/python NEW/bin/python FILE.jsonl ... [--keep DIR]

OLD and NEW are the interpreters of two environments, each with a wheel (or a checkout) of GradeGPT.
Both judge the items of the files (rows with ``reference``, ``response`` and optional fields of an
item; other fields are left out) with the rules and the default cascade. Every
judgement that differs in a field is written to ``DIR/differences.jsonl``; a line a file and judge
says how many differ, by field. The judgements of an installation are kept in DIR by the digest of
its code, so a second comparison judges only what changed. Exits with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

FIELDS = ("outcome", "verdict", "reason", "answer", "span", "confidence")
JUDGES = ("rules", "cascade")
_DIGEST = """
import hashlib, pathlib, gradegpt
root = pathlib.Path(gradegpt.__file__).parent
parts = [p for p in sorted(root.rglob("*")) if p.suffix in (".py", ".json", ".yaml", ".txt")]
print(hashlib.sha256(b"".join(p.read_bytes() for p in parts)).hexdigest()[:16])
"""
_WORKER = """
import json, sys
from gradegpt import AnswerType, Item, judge_many
path, judge, fields = sys.argv[1:4]
names = set(Item.model_fields)
types = {t.value for t in AnswerType}
def items():
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        row = {k: v for k, v in json.loads(line).items() if k in names and v is not None}
        if row.get("answer_type") not in types:
            row.pop("answer_type", None)
        if not str(row.get("reference") or "").strip() or row.get("response") is None:
            continue
        yield Item.model_validate({**row, "id": f"{number}"})
batch = list(items())
for start in range(0, len(batch), 64):
    for judged in judge_many(batch[start:start + 64], judge=judge):
        data = judged.model_dump(mode="json")
        print(json.dumps([data["id"], *(data[f] for f in fields.split(","))]), flush=False)
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Print the number of differences of each file and judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--judges", nargs="+", default=JUDGES, choices=JUDGES)
    parser.add_argument("--keep", type=Path, default=Path("data/same"), metavar="DIR")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(argv)
    options.keep.mkdir(parents=True, exist_ok=True)
    digests = [_run(python, _DIGEST).strip() for python in (options.old, options.new)]
    jobs = [(file, judge) for file in options.files for judge in options.judges]
    pairs = zip((options.old, options.new), digests, strict=True)
    sides = [(python, options.keep / digest) for python, digest in pairs]
    total = 0
    with (
        ThreadPoolExecutor(options.processes) as pool,
        (options.keep / "differences.jsonl").open("w", encoding="utf-8") as found,
    ):
        made = [[pool.submit(_judged, *side, *job) for side in sides] for job in jobs]
        for (file, judge), (old, new) in zip(jobs, made, strict=True):
            compared = list(_differences(old.result(), new.result()))
            different = [fields for fields in compared if len(fields) > 1]
            for fields in different:
                line = {"file": file.name, "judge": judge} | fields
                found.write(json.dumps(line, ensure_ascii=False) + "\n")
            total += len(different)
            differing = Counter(name for fields in different for name in fields.keys() - {"row"})
            by_field = ", ".join(f"{name} {count}" for name, count in differing.items()) or "same"
            print(f"{file.name:40} {judge:8} {len(compared):8,} rows: {by_field}", flush=True)
    print(f"{total:,} differences; {options.keep / 'differences.jsonl'}")
    return int(total > 0)


def _judged(python: Path, folder: Path, file: Path, judge: str) -> Path:
    """The file of an installation's judgements, which is made if it is not there."""
    content = hashlib.sha256(file.read_bytes()).hexdigest()[:8]
    kept = folder / f"{file.stem}-{content}.{judge}.jsonl"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = _run(python, _WORKER, str(file.resolve()), judge, ",".join(FIELDS))
        kept.with_suffix(".part").write_text(made, encoding="utf-8")
        kept.with_suffix(".part").rename(kept)
    return kept


def _run(python: Path, code: str, *arguments: str) -> str:
    """What a program prints in an environment, outside any checkout."""
    command = [str(python.absolute()), "-P", "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False)
    if done.returncode:
        sys.exit(f"{python}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def _differences(old: Path, new: Path) -> Iterator[dict[str, Any]]:
    """For each row, the fields that differ as ``[old, new]``, and the row's number."""
    with old.open(encoding="utf-8") as olds, new.open(encoding="utf-8") as news:
        for one, other in zip(olds, news, strict=True):
            a, b = json.loads(one), json.loads(other)
            named = zip(FIELDS, a[1:], b[1:], strict=True)
            yield {"row": a[0]} | {name: [x, y] for name, x, y in named if x != y}


if __name__ == "__main__":
    sys.exit(main())
