"""The rule judge against math-verify on labelled rows: speed as a ratio, agreement as kappa.

    python benchmarks/rules_vs_math_verify.py ROWS.jsonl [MORE.jsonl=SEPARATOR ...] [--set-aside F]

A separator splits the accepted answers in a file's references, as in aliases.jsonl=/

Each runs in its own process, in turns file by file, so that other work on the machine affects both
equally; imports are loaded before the clock starts. Rows have question, reference, response and
label (true, false; null is left out). Rows that the rules leave open count as "not correct" here,
as math-verify's parse failures do. Needs: pip install math-verify
"""

from __future__ import annotations

import argparse
import re
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from gradegpt.answers.options import LETTERS
from gradegpt.core.schema import Example, Verdict
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.statistics import score, table
from gradegpt.tables.importers.labelled import Source, read_examples

_WARM_UP = [
    Example(reference=(reference,), response=f"\\boxed{{{answer}}}", verdict=Verdict.CORRECT)
    for reference, answer in (
        ("1 m", "100 cm"),
        ("1 mile", "5280 feet"),
        (r"\binom{n}{3} - n", r"\binom{n}{3}"),
        (r"\int_0^1 2x\,dx", r"\sum_{k=1}^{1} k"),
    )
]
"""Pairs for which both load all their modules: units, a grammar, computer algebra."""


class Run(NamedTuple):
    """Whether each row was judged correct, and the seconds of each."""

    calls: list[bool]
    seconds: list[float]


def main(argv: Sequence[str] | None = None) -> None:
    """Print a line per file and the two ratios over all files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE[=SEPARATOR]")
    parser.add_argument("--limit", type=int, default=0, help="rows of each file, 0 for all")
    parser.add_argument("--set-aside", help="rows to leave out: lines of 'id | why'")
    options = parser.parse_args(argv)
    total = {name: Run([], []) for name in _GRADERS}
    processes = {name: ProcessPoolExecutor(1, get_context("spawn")) for name in _GRADERS}
    for name, process in processes.items():
        process.submit(run, name, _WARM_UP).result()
    print(f"{'file':28} {'rows':>6}  kappa: rules  math-verify")
    for named in options.files:
        file, _, separator = named.partition("=")
        source = Source(path=file, reference_separator=separator, set_aside=options.set_aside)
        examples = list(read_examples(source))[: options.limit or None]
        truths = [e.verdict is Verdict.CORRECT for e in examples]
        kappas = []
        for name, process in processes.items():
            made = process.submit(run, name, examples).result()
            kappas.append(score(table(truths, made.calls).sum(axis=0))["kappa"])
            total[name].calls.extend(made.calls)
            total[name].seconds.extend(made.seconds)
        print(f"{Path(file).stem:28} {len(examples):6}  {kappas[0]:12.3f} {kappas[1]:12.3f}")
    mean = {name: statistics.fmean(made.seconds) for name, made in total.items()}
    worst = {name: statistics.quantiles(made.seconds, n=100)[98] for name, made in total.items()}
    for name in _GRADERS:
        print(
            f"{name:12} {1 / mean[name]:10,.0f} judgements/s, "
            f"99th percentile {worst[name] * 1e3:.2f} ms"
        )
    print(f"ratio: {mean['math-verify'] / mean['rules']:.1f} in judgements per second, "
          f"{worst['math-verify'] / worst['rules']:.1f} at the 99th percentile")  # fmt: skip


def run(name: str, examples: Sequence[Example]) -> Run:
    """Grade the rows one by one and measure each."""
    grade, made = _GRADERS[name], Run([], [])
    for example in examples:
        start = time.perf_counter()
        call = grade(example)
        made.seconds.append(time.perf_counter() - start)
        made.calls.append(call)
    return made


def _rules(example: Example) -> bool:
    return RuleJudge().judge([example])[0].verdict is Verdict.CORRECT


def _math_verify(example: Example) -> bool:
    """Grade with math-verify as its guide recommends: letters as strings, formulas in dollars."""
    from math_verify import (
        ExprExtractionConfig,
        LatexExtractionConfig,
        StringExtractionConfig,
        parse,
        verify,
    )

    values = (LatexExtractionConfig(), ExprExtractionConfig())
    letters = StringExtractionConfig(strings=tuple(LETTERS), lowercase=False)
    a_letter = re.fullmatch(f"[{LETTERS}]", example.reference[0].strip())
    how = (letters, *values) if a_letter else values
    answer = parse(example.response, how)
    golds = (r if "$" in r or "\\" not in r else f"${r}$" for r in example.reference)
    return any(verify(parse(gold, how), answer) for gold in golds)


_GRADERS = {"rules": _rules, "math-verify": _math_verify}

if __name__ == "__main__":
    main()
