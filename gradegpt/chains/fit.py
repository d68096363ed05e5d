"""Fit long texts into a budget by keeping the parts that can hold the answer, never by a blind cut.

Budgets are in estimated tokens, by a rule that needs no tokenizer: a CJK character counts 1, a
digit or a sign 0.7, a letter 0.3, a space 0.1. Rare characters and emoji take several tokens each:
where a judge's own tokenizer is available and counts more than twice the estimate, its count is
used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from gradegpt.answers.options import LETTERS
from gradegpt.core.settings import Settings

ELISION: Final = "…"
Span = tuple[int, int]
"""The start and the end of a passage of a text."""
_MARKED = re.compile(
    r"答案|故选|应选|正确选项|综上|因此|所以|结论|\\boxed|####|(?i:\banswer\b|\btherefore\b|\bthus\b|\bsolution:|\bhence\b)"
)
ANNOUNCES: Final = re.compile(
    r"(?:[:：]|\b(?:is|are|equals)|(?:答案|结果|选项)(?:是|为))[*_\s]*$"
    rf"|^\W*【(?![{LETTERS}\s,，、]*】)[^】]*】\W*$"
)
"""A sentence that ends so, or a heading, announces the text below it; 【A】 is itself an answer."""
_WORD: Final = re.compile(r"\w")
_BEGINNING: Final = 24.0
"""Tokens up to which the first line is kept, as it may be an answer before its explanation."""
_SENTENCE_END = re.compile(
    r"(?<=[。！？；\n])|(?<=[.!?;]\s)(?<!^[A-Za-z0-9]\.\s)(?<!^\d\d\.\s)", re.MULTILINE
)
"""Not after "A. " or "12. " at the beginning of a line, which belong to the following text."""
_CLAUSE_END: Final = re.compile(r"[，、；：。,;:\s]")
_TAIL_CHARACTERS: Final = 20_000
_MARKED_SEGMENTS: Final = 24
_CLAUSE: Final = 40.0
"""Tokens of the last announcement that are kept where there is no room for its sentence."""
_NEAR: Final = 24
"""Characters between two marks of one announcement: "所以，最后的答案是"."""
_HEAD: Final = 0.4
"""The share of a question's budget that its beginning takes."""

VERSION: Final = "2"
"""Increased with every change that can change a prompt; part of a model judge's fingerprint."""

Counter = Callable[[str], int]
"""The number of tokens of a text by a judge's own tokenizer."""
_ORDINARY: Final = 2.0
"""Ratio of counted to estimated tokens up to which the estimate is used. For a small
vocabulary (4,096) it is 1.0 to 1.7 for nine in ten real responses, and judges are trained on
prompts fitted by the estimate; for a rare character it is three."""
_ROUNDS: Final = 6
_RESPONSE: Final = 600
"""Tokens of a response that examples before it do not take."""
_MOST: Final = 20.0
"""The largest such ratio: a token per byte, and two bytes that are estimated at 0.1 tokens."""


class Budget(Settings):
    """The most estimated tokens of each part of an item in the prompt.

    ``reference`` is for one accepted answer; all of them together take at most four times as much.
    """

    question: int = 1_000
    reference: int = 600
    response: int = 4_000

    def beside(self, tokens: float) -> Budget:
        """The budget in a prompt with ``tokens`` of examples, for which a long response is cut.

        It keeps ``_RESPONSE`` tokens, or all of a smaller budget.
        """
        least = min(self.response, _RESPONSE)
        return self.model_copy(update={"response": max(least, self.response - round(tokens))})


def estimate_tokens(text: str) -> float:
    """Estimated length of ``text`` in tokens of a bilingual tokenizer."""
    narrow = [char for char in text if char < "\u0100"]
    letters, spaces = sum(map(str.isalpha, narrow)), sum(map(str.isspace, narrow))
    signs = len(narrow) - letters - spaces
    return len(text) - len(narrow) + 0.3 * letters + 0.1 * spaces + 0.7 * signs


def cost(text: str, count: Counter | None = None) -> float:
    """The estimate, or the tokenizer's count where that is more than twice as high."""
    estimated = estimate_tokens(text)
    counted = count(text) if count else 0
    return counted if counted > _ORDINARY * estimated else estimated


def fit_middle(text: str, budget: int, count: Counter | None = None) -> str:
    """Keep the beginning and the end, as a question and its options are at the end of its text."""
    return _fitted(_middle, text, budget, count)


def fit_response(text: str, budget: int, count: Counter | None = None) -> str:
    """Keep the end, the sentences that announce an answer, and then the text before the end.

    Announcing sentences are taken from last to first, each with the line that it announces, then a
    short first line, which may be the answer itself. Elided passages become ``…``. The kept text is
    verbatim and in order, so a quote from it is a quote from ``text``.

    Where there is no room for the last announcing sentence, its clause from the mark on is kept;
    of a last sentence that is too long, its end.
    """
    return _fitted(_answering, text, budget, count)


def _fitted(fit: Callable[[str, float], str], text: str, budget: int, count: Counter | None) -> str:
    """Fitted by the estimate; where the count is far higher, by the estimate scaled to it.

    Only a text that was fitted by the estimate is counted, which is short however long ``text`` is.
    """
    fitted = fit(text, budget)
    if count is None or (tokens := count(fitted)) <= _ORDINARY * estimate_tokens(fitted):
        return fitted
    room = float(budget)
    for _ in range(_ROUNDS):
        if tokens <= budget:
            return fitted
        room *= 0.95 * budget / tokens
        fitted = fit(text, room)
        tokens = count(fitted)
    return fitted if tokens <= budget else fit(text, budget / _MOST)


def _fits(text: str, budget: float) -> bool:
    """Whether the estimate is within the budget; a character is estimated at 0.1 to 1 tokens."""
    length = len(text)
    return length <= budget or (length <= 10 * budget and estimate_tokens(text) <= budget)


def _middle(text: str, budget: float) -> str:
    if _fits(text, budget):
        return text
    head = _prefix(text, budget * _HEAD)
    return f"{head}{ELISION}{_suffix(text[len(head) :], budget - estimate_tokens(head))}"


def _answering(text: str, budget: float) -> str:
    if _fits(text, budget):
        return text
    spans = _spans(text)
    fitted = _join(text, _chosen(text, spans, budget), spans)
    clause = _clause(text, spans, min(_CLAUSE, budget * 2 / 3))
    announcement = text[slice(*clause)]
    if _without_blanks(announcement) in _without_blanks(fitted):
        return fitted
    left = budget - estimate_tokens(announcement) - 1
    rest = _chosen(text, spans, left)
    left -= sum(estimate_tokens(text[start:stop]) + 1 for start, stop in rest)
    before = _CLAUSE_END.split(_suffix(text[: clause[0]], max(0.0, left)), maxsplit=1)[-1]
    return _join(text, sorted([*rest, (clause[0] - len(before), clause[1])]), spans)


def _chosen(text: str, spans: list[Span], budget: float) -> list[Span]:
    """The spans that fit into the budget, or the end of the last one where that is longer."""
    segments = [text[start:end] for start, end in spans]
    kept: set[int] = set()
    left = budget
    marked = [i for i, s in enumerate(segments) if _MARKED.search(s)][-_MARKED_SEGMENTS:]
    announced = [j for i in reversed(marked) for j in (i, *_announced(segments, i))]
    last = range(len(segments) - 1, max(len(segments) - 4, -1), -1)
    order = [*last, *announced, *_opening(segments)]
    for index in [*order, *range(len(segments) - 1, -1, -1)]:
        if index in kept:
            continue
        price = estimate_tokens(segments[index]) + 1
        if price <= left:
            kept.add(index)
            left -= price
        elif not kept:
            end = spans[index][1]
            return [(end - len(_suffix(segments[index], left)), end)]
        elif index not in order:
            break
    return [spans[index] for index in sorted(kept)]


def _clause(text: str, spans: list[Span], most: float) -> Span:
    """The last sentence with a mark and the text that it announces, from the mark on if long."""
    segments = [text[start:end] for start, end in spans]
    index = max((i for i, s in enumerate(segments) if _MARKED.search(s)), default=None)
    if index is None:
        return 0, 0
    start, stop = spans[index][0], spans[[index, *_announced(segments, index)][-1]][1]
    if estimate_tokens(text[start:stop]) <= most:
        return start, stop
    marks = [mark.start() for mark in _MARKED.finditer(segments[index])]
    start += next(mark for mark in marks if mark >= marks[-1] - _NEAR)
    return start, start + len(_prefix(text[start:stop], most))


def _announced(segments: list[str], index: int) -> range:
    """The line below a marked sentence that ends in a colon or is a heading."""
    if not ANNOUNCES.search(segments[index]):
        return range(0)
    for end in range(index + 1, len(segments)):
        if segments[end].endswith("\n") and _WORD.search(segments[end]):
            return range(index + 1, end + 1)
    return range(index + 1, len(segments))


def _opening(segments: list[str]) -> range:
    """The first line, where it is short."""
    end = next((i for i, s in enumerate(segments, 1) if s.endswith("\n")), 0)
    short = sum(map(estimate_tokens, segments[:end])) <= _BEGINNING
    return range(end if short else 0)


def _spans(text: str) -> list[Span]:
    """The spans to choose from: windows around the last 8 marks, and the tail's sentences."""
    cut = max(0, len(text) - _TAIL_CHARACTERS)
    spans: list[Span] = []
    limit = len(text)  # a window may reach into the tail: no announcement is cut in two there
    marks = [mark for mark in _MARKED.finditer(text, 0, cut + 16) if mark.start() < cut]
    for mark in reversed(marks[-8:]):
        if mark.end() <= limit:  # else it is in the next mark's window: nothing is kept twice
            start = max(0, mark.start() - 40)
            spans.insert(0, (start, min(mark.end() + 160, limit)))
            limit = start
    position = max(cut, *(stop for _, stop in spans[-1:]), 0)
    for sentence in _SENTENCE_END.split(text[position:]):
        if sentence.strip():
            spans.append((position, position + len(sentence)))
        position += len(sentence)
    return spans


def _join(text: str, chosen: list[Span], spans: list[Span]) -> str:
    """``chosen`` in order, with ``…`` for omitted text, and a line break between sentences."""
    begins = {start for start, _ in spans}
    parts: list[str] = []
    end = 0
    for start, stop in chosen:
        gap = text[end:start]
        if gap.strip():
            parts.append(f"{ELISION}\n" if start in begins else ELISION)
        elif "\n" in gap and parts and not parts[-1].endswith("\n"):
            parts.append("\n")
        parts.append(text[max(start, end) : stop])
        end = max(end, stop)
    return "".join(parts)


def _without_blanks(text: str) -> str:
    return "".join(text.split())


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
