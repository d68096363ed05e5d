"""Changed pairs: a pair that the rules judge correct must not be correct after a change.

    python benchmarks/changed_references.py ROWS.jsonl [MORE.jsonl=SEPARATOR ...] [--list OUT.jsonl]

A separator splits the accepted answers in a file's references, as in aliases.jsonl=/

Every row that the rules judge correct is judged again: against references that its response does
not give (another digit, unit, letter, bracket, name, ...), and with responses that do not commit to
its reference (denied, hedged, revised, quoted); ``changes.py`` makes both. In a file without
responses each reference is also the response. Exits with 1 if a changed pair is still correct.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import NamedTuple

from changes import ANSWERS, accepted, changed, held, is_name, is_short, turned

from gradegpt.core.schema import Item, Judgement, Verdict
from gradegpt.judges.parallel import ParallelJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.tables.importers.labelled import Source, read_items

_CHUNK = 4_000


class Pair(NamedTuple):
    """A changed item, the kind of change, and the file of the item."""

    kind: str
    item: Item
    file: str


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line per kind of change, and the first pairs that are still correct."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE[=SEPARATOR]")
    parser.add_argument("--pairs", type=int, default=100_000, help="the most pairs, 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--list", type=Path, help="where to write the pairs that are still correct")
    parser.add_argument("--write", type=Path, help="where to write the items of all pairs")
    options = parser.parse_args(argv)
    judge = ParallelJudge(RuleJudge(), options.processes)
    made = [pair for named in options.files for pair in pairs(named, judge, options.seed)]
    drawn = thinned(made, options.pairs or len(made), random.Random(options.seed))
    if options.write:
        items = (pair.item.model_dump_json(exclude_none=True) for pair in drawn)
        options.write.write_text("".join(f"{item}\n" for item in items), encoding="utf-8")
    counts = {pair.kind: Counter[str]() for pair in made}
    left = []
    for at in range(0, len(drawn), _CHUNK):
        chunk = drawn[at : at + _CHUNK]
        for pair, judgement in zip(chunk, judge.judge([p.item for p in chunk]), strict=True):
            counts[pair.kind][judgement.verdict or judgement.outcome] += 1
            if judgement.verdict is Verdict.CORRECT:
                left.append(json.dumps(_as_row(pair, judgement), ensure_ascii=False))
        if sys.stderr.isatty():
            print(f"\r{at + len(chunk):,} of {len(drawn):,}", end="", file=sys.stderr)
    columns = (*Verdict, "undecided")
    print(f"{'change':<28}{'pairs':>9}", *(f"{name:>10}" for name in columns))
    for kind, found in [*counts.items(), ("all", sum(counts.values(), Counter[str]()))]:
        print(f"{kind:<28}{found.total():>9,}", *(f"{found[name]:>10,}" for name in columns))
    if options.list:
        options.list.write_text("".join(f"{line}\n" for line in left), encoding="utf-8")
    print(*left[:20], sep="\n")
    return int(bool(left))


def pairs(named: str, judge: ParallelJudge, seed: int) -> Iterator[Pair]:
    """All changed pairs of the rows of a file that the rules judge correct."""
    path, _, separator = named.partition("=")
    source = Source(path=path, reference_separator=separator)
    own = source.model_copy(update={"fields": {"response": "reference"}})
    items = [i for i, _ in read_items(source)] or [i for i, _ in read_items(own)]
    judged = zip(items, judge.judge(items), strict=True)
    yield from changed_pairs(
        [i for i, j in judged if j.verdict is Verdict.CORRECT], source.label, seed
    )


def changed_pairs(items: Sequence[Item], file: str, seed: int) -> Iterator[Pair]:
    """The changed pairs of items that are correct."""
    rows = [item for item in items if is_short(item.reference[0])]
    names = [row.reference for row in rows if is_name(row.reference[0].strip())]
    for row in rows:
        rng = random.Random(hashlib.sha256(f"{seed}:{row.id}".encode()).digest())
        made = {c: None for c in changed(row, names, rng) if not accepted(c[1], row.reference)}
        for kind, reference in made:
            yield Pair(kind, row.model_copy(update={"reference": (reference,)}), file)
        others = [text for kind, text in made if kind in ANSWERS and not held(text, row)]
        for kind, response in turned(row, others, rng):
            yield Pair(kind, row.model_copy(update={"response": response}), file)


def thinned(made: Sequence[Pair], most: int, rng: random.Random) -> list[Pair]:
    """At most ``most`` pairs, drawn from each kind in turn, so that rare kinds are kept."""
    kinds: dict[str, list[Pair]] = {}
    for pair in rng.sample(made, len(made)):
        kinds.setdefault(pair.kind, []).append(pair)
    in_turns = chain.from_iterable(zip_longest(*kinds.values()))
    return list(islice((pair for pair in in_turns if pair), most))


def _as_row(pair: Pair, judgement: Judgement) -> dict[str, str]:
    return {
        "file": pair.file,
        "id": pair.item.id,
        "change": pair.kind,
        "reference": " / ".join(pair.item.reference)[:200],
        "response": pair.item.response[-200:],
        "answer": judgement.answer or "",
        "reason": judgement.reason,
    }


if __name__ == "__main__":
    sys.exit(main())
