"""The quotable parts of a response: a line, or the short lines of the parts of an answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from gradegpt.answers.parts import opening
from gradegpt.chains.chain import defuse
from gradegpt.chains.fit import ANNOUNCES, ELISION

MAX_QUOTE: Final = 160
"""Most characters of a quote, as in the training rows."""


def quotes_verbatim(key_sentence: str, response: str) -> bool:
    """Whether the quote occurs in a line of the response, or in a run of parts joined to a line."""
    quote = _on_one_line(key_sentence)
    lines = defuse(response).split("\n")
    whole = [*map(_on_one_line, lines), *map(" ".join, part_runs(lines))]
    return bool(quote) and any(quote in line for line in whole)


def where_quoted(key_sentence: str, response: str) -> tuple[int, int] | None:
    """Where the quote is in the response, ``[start, end)``; None if it is not there verbatim."""
    if not quotes_verbatim(key_sentence, response):
        return None
    words = r"\s+".join(map(re.escape, key_sentence.split()))
    found = re.search(words, defuse(response))
    return found.span() if found else None


def quotable(response: str) -> tuple[list[str], list[list[str]]]:
    """The lines and the runs of parts that may be quoted.

    No run contains an elision; lines that only announce are excluded unless there are no others.
    """
    passages = [passage.split("\n") for passage in response.split(ELISION)]
    kept = [[li for li in lines if li.strip() and not ANNOUNCES.search(li)] for lines in passages]
    lines = [*chain.from_iterable(kept)] or [*chain.from_iterable(passages)]
    return lines, [run for passage in kept for run in part_runs(passage)]


def part_runs(lines: Iterable[str]) -> list[list[str]]:
    """Runs of two or more numbered lines, stripped, that fit into one quote.

    Each first part begins a run.
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
