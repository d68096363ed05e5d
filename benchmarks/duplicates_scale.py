"""Memory and time of the checks that need all candidates, with the same rows as in one memory.

    python benchmarks/duplicates_scale.py 100000 --check
    python benchmarks/duplicates_scale.py 1000000 2000000
    python benchmarks/duplicates_scale.py 100000 --on ray

Writes short candidates, of which a fifth are exact or near duplicates of an earlier one, anywhere
before them, through the n-gram check against an evaluation file; then finds duplicates and selects
the rows, as ``gradegpt data`` does, among the first of them as often as there are numbers. The
memory is the largest sum of the resident sets of this process and its children, twice a second;
what they share counts in each. With ``--check`` the kept rows are compared with those of a naive
loop over all candidates, which holds exact keys in a set and signatures in a list for each band.
"""

from __future__ import annotations

import random
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import psutil
import typer

from data_gen.balance import choose
from data_gen.candidates import Candidate, texts_of
from data_gen.quality.duplicates import BANDS, MAX_MATCHES, exact_key
from data_gen.settings import DataGenSettings
from data_gen.shards import read_shard, signature_of, write_shard
from data_gen.sift import sift
from data_gen.tasks import connected, finished
from gradegpt.chain import Chain
from gradegpt.records import write_rows
from gradegpt.schema import AnswerType, ChainFormat, Item, Verdict

SHARD: Final = 200
"""Candidates in a shard, as two for each of its seeds."""
COPIES: Final = 0.2
LEAKS: Final = 0.01
"""Shares of the candidates that repeat an earlier one, and an evaluation question."""
LENGTHS: Final = (10, 60)
"""Words of a response."""
WORDS: Final = [
    a + b + c for a in "bcdfghklmnprst" for b in ("a", "e", "io", "ou") for c in ("l", "mi", "nt")
]
LIMIT_GIB: Final = 4.0


def words_of(number: int) -> list[str]:
    """The response of a candidate; one that repeats another has its words, or all but one."""
    rng = random.Random(f"duplicates:{number}")
    if number and rng.random() < COPIES:
        words = words_of(rng.randrange(number))
        if rng.random() < 0.5:  # mostly the last one: a word takes up to five shingles with it
            place = rng.randrange(len(words)) if rng.random() < 0.2 else -1
            words[place] = rng.choice(WORDS)
        return words
    if rng.random() < LEAKS:
        return evaluated(rng.randrange(1_000)).split()
    return rng.choices(WORDS, k=rng.randint(*LENGTHS))


def evaluated(number: int) -> str:
    """A question of the evaluation file."""
    return " ".join(random.Random(f"evaluation:{number}").choices(WORDS, k=30))


def candidate(number: int) -> Candidate:
    """A candidate; fifty questions with two verdicts, so that rows have many to be like."""
    words, rng = words_of(number), random.Random(number)
    response = " ".join(words)
    question = f"What is {sum(map(len, words[:4])) % 50} to {words[1][0]}?"
    verdict = Verdict.CORRECT if len(words[0]) % 2 else Verdict.INCORRECT
    chain = Chain(
        verdict=verdict, key_sentence=response, reference_answer="a", answer=words[0],
        answer_type=rng.choice([AnswerType.TEXT, AnswerType.NUMBER]),
    )  # fmt: skip
    return Candidate(
        id=f"row-{number}", item=Item(question=question, reference="a", response=response),
        chain=chain, lang=rng.choice(["en", "zh"]), response_lang="en", source="drawn",
        origin=rng.choice(["real", "synthetic"]), pattern="drawn", group=question,
        labels={"construction": verdict},
    )  # fmt: skip


def write(path: Path, settings: DataGenSettings, count: int) -> None:
    """Write the shard whose name is the number of its first candidate."""
    first = int(path.stem)
    numbers = range(first, min(first + SHARD, count))
    write_shard((candidate(number) for number in numbers), settings, path)


class Memory:
    """The largest memory of this process and its children while the context is open, in GiB."""

    def __enter__(self) -> Memory:
        self.peak, self._done = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()
        return self

    def _sample(self) -> None:
        me = psutil.Process()
        while not self._done.wait(0.5):
            used = 0
            for process in (me, *me.children(recursive=True)):
                with suppress(psutil.Error):  # it has ended
                    used += process.memory_info().rss
            self.peak = max(self.peak, used / 2**30)

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


def in_one_memory(paths: list[Path], threshold: float) -> Iterator[int]:
    """The numbers of the kept candidates, by a loop over all of them."""
    seen: set[bytes] = set()
    kept: defaultdict[tuple[str, int, bytes], list[int]] = defaultdict(list)
    signatures: dict[int, np.ndarray] = {}
    candidates = (c for path in paths for c in read_shard(path, Counter()))
    for number, row in enumerate(candidates):
        key, own = exact_key("\0".join(texts_of(row.item))), signature_of(row)
        if key in seen:
            continue
        seen.add(key)
        name = f"{row.verdict}|{row.group}"
        bands = [(name, n, band.tobytes()) for n, band in enumerate(own.reshape(BANDS, -1))]
        matches = {other for band in bands for other in kept[band]}
        if any((signatures[other] == own).mean() >= threshold for other in matches):
            continue
        yield number
        if len(matches) < MAX_MATCHES:
            signatures[number] = own
            for band in bands:
                kept[band].append(number)


def measured(paths: list[Path], settings: DataGenSettings, folder: Path) -> tuple[Any, int]:
    """Sift and select; print seconds and memory. Return the kept rows, and how many there were."""
    started = time.perf_counter()
    with Memory() as memory:
        sifted = sift(paths, settings, folder, lambda *_: None)
        agreed = sifted.agreed()
        chosen = choose(agreed, settings.balance)
    seconds, read = time.perf_counter() - started, len(sifted.fates)
    exact, near = (sifted.counts[f"left_out:{kind}_duplicate"] for kind in ("exact", "near"))
    print(
        f"{read:,} candidates: {exact:,} exact and {near:,} near duplicates, {len(agreed):,} kept, "
        f"{len(chosen):,} selected; {seconds:.0f} s, {read / seconds:,.0f} a second, "
        f"{memory.peak:.2f} GiB",
        flush=True,
    )
    if memory.peak > LIMIT_GIB:
        raise SystemExit(f"more than {LIMIT_GIB} GiB")
    return agreed["row"].to_numpy(), read


def main(
    counts: Annotated[list[int], typer.Argument(help="Numbers of candidates.")],
    check: Annotated[bool, typer.Option(help="Compare with a loop in one memory.")] = False,
    workers: Annotated[int, typer.Option(help="Processes; 0 is one per core.")] = 0,
    on: Annotated[str, typer.Option(help="ray, or a cluster's address.")] = "",
) -> None:
    """Print a line per number; exit with 1 if rows differ or memory is above the limit."""
    most = max(counts)
    with tempfile.TemporaryDirectory() as name, connected(on):
        folder = Path(name)
        write_rows(folder / "test.jsonl", [{"question": evaluated(n)} for n in range(1_000)])
        settings = DataGenSettings.model_validate(
            {"name": "scale", "out": name, "workers": workers, "on": on}
            | {"formats": {ChainFormat.OUTCOME: 1}, "avoid": [str(folder / "test.jsonl")]}
        )
        paths = [folder / f"{first:09d}.jsonl" for first in range(0, most, SHARD)]
        started = time.perf_counter()
        with Memory() as memory:
            for _ in finished(partial(write, settings=settings, count=most), paths, settings):
                pass
        seconds = time.perf_counter() - started
        print(f"{most:,} candidates: n-grams, {seconds:.0f} s, {memory.peak:.2f} GiB", flush=True)
        results = [
            measured(paths[: -(-count // SHARD)], settings, folder / "sifted") for count in counts
        ]
        # What is kept of the first candidates does not depend on later ones.
        kept = in_one_memory(paths, settings.quality.near_duplicate) if check else ()
        expected = np.fromiter(kept, dtype=np.int64)
        for rows, size in results if check else ():
            same = np.array_equal(rows, expected[expected < size])
            print(f"{size:,}: {'the same rows as' if same else 'OTHER ROWS than'} in one memory")
            if not same:
                sys.exit(1)


if __name__ == "__main__":
    typer.run(main)
