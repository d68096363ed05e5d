"""What of a response a chain may quote: a line, or the short lines that give an answer's parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from gradegpt.answers.parts import opening
from gradegpt.chain import defuse
from gradegpt.fit import ANNOUNCES, ELISION

MAX_QUOTE: Final = 160
"""Characters of a quote, as in the rows that judges are trained on."""


def quotes_verbatim(key_sentence: str, response: str) -> bool:
    """Whether the quote stands in a line of the response, or in a run of parts on one line."""
    quote = _on_one_line(key_sentence)
    lines = defuse(response).split("\n")
    whole = [*map(_on_one_line, lines), *map(" ".join, part_runs(lines))]
    return bool(quote) and any(quote in line for line in whole)


def quotable(response: str) -> tuple[list[str], list[list[str]]]:
    """The lines that a quote may be of, and the runs of parts that it may be of together.

    Not over an elision, and no announcement if others are.
    """
    stretches = [stretch.split("\n") for stretch in response.split(ELISION)]
    kept = [[li for li in lines if li.strip() and not ANNOUNCES.search(li)] for lines in stretches]
    lines = [*chain.from_iterable(kept)] or [*chain.from_iterable(stretches)]
    return lines, [run for stretch in kept for run in part_runs(stretch)]


def part_runs(lines: Iterable[str]) -> list[list[str]]:
    """Runs of two and more numbered lines, stripped, of which a quote can hold the whole.

    A first part begins a run.
    """
    runs: list[list[str]] = [[]]
    for line in filter(str.strip, lines):
        part = opening(line)
        if part is None or part.number == 1:
            runs.append([])
        if part is not None:
            runs[-1].append(_on_one_line(line))
    return [run for run in runs if len(run) > 1 and _fits(run)]


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _fits(run: Sequence[str]) -> bool:
    return len(" ".join(run)) <= MAX_QUOTE
