"""Fit long texts into a budget by keeping the parts that can hold the answer, never by a blind cut.

Budgets are in estimated tokens, by a rule that needs no tokenizer, so that the same item gives the
same prompt whatever model reads it: a CJK character counts 1, a digit or a sign 0.7, a letter 0.3,
a space 0.1.
"""

from __future__ import annotations

import re
from typing import Final

from gradegpt.settings import Settings

ELISION: Final = "…"
_MARKED = re.compile(
    r"答案|故选|应选|正确选项|综上|因此|所以|结论|\\boxed|####|(?i:\banswer\b|\btherefore\b|\bthus\b|\bsolution:|\bhence\b)"
)
ANNOUNCES: Final = re.compile(
    r"(?:[:：]|\b(?:is|are|equals)|(?:答案|结果|选项)(?:是|为))[*_\s]*$"
    r"|^\W*【(?![A-H\s,，、]*】)[^】]*】\W*$"
)
"""A sentence that ends so, or is a heading, announces what stands below it; 【A】 is an answer."""
_WORD: Final = re.compile(r"\w")
_BEGINNING: Final = 24.0
"""An answer before its explanation: the first line, if it is at most so long."""
_SENTENCE_END = re.compile(
    r"(?<=[。！？；\n])|(?<=[.!?;]\s)(?<!^[A-Za-z0-9]\.\s)(?<!^\d\d\.\s)", re.MULTILINE
)
"""Not after "A. " or "12. " that begins a line: neither is of use without the other."""
_TAIL_CHARACTERS: Final = 20_000
_MARKED_SEGMENTS: Final = 24


class Budget(Settings):
    """How much of each part of an item the prompt may take, in estimated tokens.

    ``reference`` is for one accepted answer; all of them take at most four times as much.
    """

    question: int = 1_000
    reference: int = 600
    response: int = 4_000


def estimate_tokens(text: str) -> float:
    """Estimated length of ``text`` in tokens of a bilingual tokenizer."""
    ascii_count = letters = spaces = 0
    for char in text:
        if char < "\u0100":
            ascii_count += 1
            if char.isalpha():
                letters += 1
            elif char.isspace():
                spaces += 1
    return (
        len(text)
        - ascii_count
        + 0.3 * letters
        + 0.1 * spaces
        + 0.7 * (ascii_count - letters - spaces)
    )


def fit_middle(text: str, budget: int, head_share: float = 0.4) -> str:
    """Keep the beginning and the end: a question asks at its end and lists its options there."""
    if len(text) <= budget or estimate_tokens(text) <= budget:
        return text
    head = _prefix(text, budget * head_share)
    return f"{head}{ELISION}{_suffix(text[len(head) :], budget - estimate_tokens(head))}"


def fit_response(text: str, budget: int) -> str:
    """Keep the end, the sentences that announce an answer, and what stands before the end.

    The sentences come from last to first, each with the line that it announces, and after them a
    short first line, which may be the answer itself. Elided stretches become ``…``. What is kept is
    verbatim and in order, so a quote from it is a quote from ``text``.
    """
    if len(text) <= budget or estimate_tokens(text) <= budget:
        return text
    spans = _spans(text)
    segments = [text[start:end] for start, end in spans]
    kept: set[int] = set()
    left = float(budget)
    marked = [i for i, s in enumerate(segments) if _MARKED.search(s)][-_MARKED_SEGMENTS:]
    told = [j for i in reversed(marked) for j in (i, *_announced(segments, i))]
    order = [*range(len(segments) - 1, max(len(segments) - 4, -1), -1), *told, *_opening(segments)]
    for index in [*order, *range(len(segments) - 1, -1, -1)]:
        if index in kept:
            continue
        cost = estimate_tokens(segments[index]) + 1
        if cost > left:
            if kept and index not in order:
                break
            if not kept:
                return ELISION + _suffix(segments[index], left)
            continue
        kept.add(index)
        left -= cost
    return _join(text, [spans[index] for index in sorted(kept)])


def _announced(segments: list[str], index: int) -> range:
    """The line below a marked sentence that ends in a colon or is a heading."""
    if not ANNOUNCES.search(segments[index]):
        return range(0)
    end = index + 1
    while end < len(segments) and not (
        segments[end].endswith("\n") and _WORD.search(segments[end])
    ):
        end += 1
    return range(index + 1, min(end + 1, len(segments)))


def _opening(segments: list[str]) -> range:
    """The first line, where it is short."""
    end = next((i for i, s in enumerate(segments, 1) if s.endswith("\n")), 0)
    short = sum(map(estimate_tokens, segments[:end])) <= _BEGINNING
    return range(end if short else 0)


def _spans(text: str) -> list[tuple[int, int]]:
    """What may be kept: the tail's sentences and, before it, the windows of the last 8 marks."""
    cut = position = max(0, len(text) - _TAIL_CHARACTERS)
    spans: list[tuple[int, int]] = []
    limit = cut
    for mark in reversed([*_MARKED.finditer(text, 0, cut)][-8:]):
        if mark.end() <= limit:  # else it stands in the lead of the next one: nothing is kept twice
            start = max(0, mark.start() - 40)
            spans.insert(0, (start, min(mark.end() + 160, limit)))
            limit = start
    for sentence in _SENTENCE_END.split(text[cut:]):
        if sentence.strip():
            spans.append((position, position + len(sentence)))
        position += len(sentence)
    return spans


def _join(text: str, spans: list[tuple[int, int]]) -> str:
    parts: list[str] = []
    end = 0
    for start, stop in spans:
        gap = text[end:start]
        if gap.strip():
            parts.append(f"{ELISION}\n")
        elif "\n" in gap and parts and not parts[-1].endswith("\n"):
            parts.append("\n")
        parts.append(text[start:stop])
        end = stop
    return "".join(parts)


def _prefix(text: str, budget: float) -> str:
    text = text[: int(budget * 10) + 1]
    while text and estimate_tokens(text) > budget:
        text = text[: int(len(text) * 0.9)]
    return text


def _suffix(text: str, budget: float) -> str:
    text = text[-int(budget * 10) - 1 :]
    while text and estimate_tokens(text) > budget:
        text = text[len(text) - int(len(text) * 0.9) :]
    return text
