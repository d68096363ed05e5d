"""Fuzz the rule judge with hostile pairs: no crash, no pair over the time limit, constant memory.

    python benchmarks/fuzz_rules.py ROWS.jsonl [MORE.jsonl ...] [--pairs 200000] [--seed 1]

Half of the pairs are real rows, cut, spliced, repeated and mixed with odd characters; the others
are LaTeX from a small grammar with nesting, power towers and repetition. Exits with 1 if a pair
raised an error or exceeded the limit, or if memory grew by more than 64 MiB in the second half.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from gradegpt.core.schema import AnswerType, Item
from gradegpt.judges.rules import RuleJudge
from gradegpt.tables.importers.labelled import Source, read_examples

BOUND_S = 5.0
"""The limit of a pair's wall time: the workers' two seconds, with a margin for a busy machine."""
_GROWTH_MB = 64
_ODD = ["\x00", "\u202e", "\u200b", "\ufeff", "\ud800", "\\", "{", "}", "$", "^", "_", "\\frac",
        "\\boxed{", "<", ">", "答案", "故选", "####", "．", "１", "²", "∞", "±", "\r", "\x1b[2J",
        "9^{9^{9^9}}", "<Yes>", "e+999", "1/0", "%", "，", "(" * 50, "]" * 50,
        "_" * 500, '"answers": [1', "1" * 60, " " * 500, "<br ", "# #"]  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Judge the pairs and print the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    rows = [e for path in options.files for e in read_examples(Source(path=str(path)))]
    texts = [t for e in rows for t in (e.response, e.reference[0])]
    judge, rng = RuleJudge(), random.Random(options.seed)
    outcomes: Counter[str] = Counter()
    slowest, raised, late, halfway = (0.0, ""), 0, 0, 0
    start = time.perf_counter()
    for n in range(options.pairs):
        item = hostile(rng, texts, rows)
        began = time.perf_counter()
        try:
            judgement = judge.judge([item])[0]
            outcomes[judgement.verdict or judgement.outcome] += 1
        except Exception as error:  # noqa: BLE001  a fuzzer reports any error
            raised += 1
            print(f"pair {n}: {type(error).__name__}: {error}\n  {item!r:.400}")
        took = time.perf_counter() - began
        late += took > BOUND_S
        slowest = max(slowest, (took, f"{item!r:.200}"))
        if n == options.pairs // 2:
            halfway = _peak_mb()
        if sys.stderr.isatty() and n % 1000 == 0:
            print(f"\r{n:,} of {options.pairs:,}", end="", file=sys.stderr)
    grown = _peak_mb() - halfway
    seconds = time.perf_counter() - start
    print(
        f"{options.pairs:,} pairs in {seconds:.0f} s: {raised} raised, {late} past {BOUND_S} s, "
        f"slowest {slowest[0]:.2f} s, peak memory {_peak_mb()} MiB, {grown} MiB of it in the "
        f"second half\n{dict(outcomes)}\nslowest: {slowest[1]}"
    )
    return int(bool(raised or late or grown > _GROWTH_MB))


def hostile(rng: random.Random, texts: Sequence[str], rows: Sequence[Item]) -> Item:
    """One hostile item."""
    row = rng.choice(rows)
    make = _mutated if rng.random() < 0.5 else _grown
    response, reference = make(rng, texts, row.response), row.reference[0]
    if rng.random() < 0.5:
        reference = make(rng, texts, reference)[:5_000]
    kind = rng.choice([None, None, *AnswerType])
    question = row.question if rng.random() < 0.7 else _mutated(rng, texts, row.question)
    return Item(
        question=question,
        reference=(reference if reference.strip() else "0",),
        response=response,
        answer_type=kind,
    )


def _mutated(rng: random.Random, texts: Sequence[str], text: str) -> str:
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(text))
        match rng.randrange(6):
            case 0:
                text = text[:at]
            case 1:
                text = text[:at] + rng.choice(_ODD) * rng.choice([1, 1, 3, 40]) + text[at:]
            case 2:
                other = rng.choice(texts)
                text = text[:at] + other[rng.randint(0, len(other)) :]
            case 3:
                text = text[at:] + text[:at]
            case 4:
                size = rng.choice([1, 5, 30])
                text = text[:at] + text[at : at + size] * rng.choice([2, 30, 300]) + text[at:]
            case _:
                text = "".join(rng.sample(text, len(text))) if len(text) < 300 else text
    return text[:1_000_000]


def _grown(rng: random.Random, _texts: Sequence[str], _text: str) -> str:
    formula = _formula(rng, rng.choice([2, 4, 8]))
    match rng.randrange(8):
        case 0:
            return "\\boxed{" * rng.choice([1, 100, 10_000]) + formula
        case 1:
            return f"\\boxed{{{formula}}} " * rng.choice([1, 30, 1000])
        case 2:
            return "\\frac{1}{" * rng.choice([5, 60, 3000]) + "1" + "}" * rng.choice([5, 60, 3000])
        case 3:
            return "^".join(str(rng.randint(2, 99)) for _ in range(rng.choice([3, 9, 400])))
        case 4:
            return str(rng.randrange(10)) * rng.choice([30, 500, 5_000, 100_000])
        case 5:
            return ",".join(_formula(rng, 1) for _ in range(rng.choice([3, 61, 2000])))
        case _:
            return f"The answer is ${formula}$."


def _formula(rng: random.Random, depth: int) -> str:
    if depth <= 0 or rng.random() < 0.15:
        leaves = ["x", "y", "n", "\\pi", "2", "0", "-1", "10^{9}", "3.5", "99999!", "k", "i", "e"]
        return rng.choice(leaves)
    a, b = _formula(rng, depth - 1), _formula(rng, depth - 1)
    shapes = [
        f"\\frac{{{a}}}{{{b}}}", f"{a}^{{{b}}}", f"\\sqrt{{{a}}}", f"({a}+{b})", f"{a}-{b}",
        f"\\left({a}\\right)", f"\\sum_{{k=1}}^{{{a}}} {b}", f"\\int_0^{{{a}}} {b} dx",
        f"\\begin{{pmatrix}}{a}&{b}\\\\{b}&{a}\\end{{pmatrix}}", f"[{a},{b})", f"\\{{{a},{b}\\}}",
        f"{a}={b}", f"{a}<x\\le {b}", f"\\binom{{{a}}}{{{b}}}", f"{a}!", f"\\sin {a}",
    ]  # fmt: skip
    return rng.choice(shapes)


def _peak_mb() -> int:
    scale = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // scale


if __name__ == "__main__":
    sys.exit(main())
