"""Find the answer in a response or in a worked reference, and the sentence that gives it."""

from __future__ import annotations

import re
from collections import deque
from enum import StrEnum
from typing import Final, NamedTuple

from gradegpt.rules.extract.choice import find_choice, find_sequence

MAX_SENTENCE: Final = 160
"""Longest key sentence, in characters; a longer one is narrowed to the clause around the answer."""
_SCANNED: Final = 20_000


class How(StrEnum):
    """What the extraction rests on, strongest first."""

    BOXED = "boxed"
    ANNOUNCED = "announced"
    WHOLE = "whole"
    CONCLUDED = "concluded"
    LAST_NUMBER = "last-number"


class Found(NamedTuple):
    """An answer, the span of its key sentence in the text, and what the extraction rests on.

    ``clause`` is the narrower span from the words that announce the answer to the answer's end.
    """

    answer: str
    start: int
    end: int
    how: How
    clause: tuple[int, int]


_ANSWER_TAG = re.compile(r"<answer>\s*(.+?)\s*</answer>", re.DOTALL | re.IGNORECASE)
_ANNOUNCED = re.compile(
    r"(?:【\s*答案\s*】|####|</?answer>|"
    r"(?:正确|最终|参考|最后)?(?:的)?(?:答案|选项|结果)\s*(?:应该|应当|应)?\s*(?:选择|选|是|为|：|:)+|"
    r"(?:故|应|因此|所以|可)\s*(?:本题)?(?:正确)?(?:答案)?(?:应)?\s*选(?:择)?(?:项)?\s*(?:是|为|：|:)*|"
    r"\bSolution:\s*(?:Choice[ _])?|"
    r"\b(?:final |correct |right |best )*(?:answer|option|choice)\b(?:[^\n.:：]{0,40}?)"
    r"(?:\bis\b|\bare\b|:|：|=)\s*(?:option|choice)?|"
    r"^[^\S\n]*A\s*[:：](?=\s*[-$\d]))"
    r"[\s*_:：]*",
    re.IGNORECASE | re.MULTILINE,
)
_BARE_CHOICE = re.compile(r"选(?:择|项)?\s*[(（\[]?\s*(?=[A-H](?![A-Za-z]))")
_CONCLUDED = re.compile(
    r"(?:综上|因此|所以|故|从而|可得|解得|得到|\b(?:therefore|thus|hence|so|finally)\b)[^\n。]{0,160}?"
    r"(?:等于|就是|是|为|=|≈|\bis\b|\bare\b|\bequals\b)\s*(?=[^\s，,。])",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"-?\$?\d[\d,]*(?:\.\d+)?(?:\s*/\s*\d+)?%?")
_STOP = re.compile(
    r"[。！？!?；;\n]|(?<=[^\d])\.(?=\s|$|<)|(?<=\d)\.(?=\s|$)|<eo[aet]>|<STEP\d*>|【|</?answer>"
)
_BREAK = re.compile(r"[。！？!?；;\n]|\.(?=\s)|<eo[aet]>|<STEP\d*>")
_CLAUSE = re.compile(r"[，,：:]")
_DRESSING: Final = " \t*_`$：:。，,；;"


def find_answer(text: str, *, choice: bool = False, places: int = 1) -> Found | None:
    """The answer that the text settles on.

    The last box, else the last announced answer, else the whole of a short text, else a conclusion,
    else the last number; with ``choice``, before all of them the option letters, and of
    several questions where ``places`` is more than one. Only the last 20,000 characters are read:
    what a response settles on stands at its end.
    """
    offset = max(0, len(text) - _SCANNED)
    tail = text[offset:]
    if choice and places > 1 and (several := find_sequence(tail, places)) is not None:
        span = (several.start + offset, several.end + offset)
        return Found(several.letters, *span, How.ANNOUNCED, (several.announced + offset, span[1]))
    searches = (_boxed, _announced, _whole, _concluded, _last_number)
    for search in (_chosen, *searches) if choice else searches:
        found = search(tail)
        if found is not None:
            clause = (found.clause[0] + offset, found.clause[1] + offset)
            return found._replace(start=found.start + offset, end=found.end + offset, clause=clause)
    return None


def _chosen(text: str) -> Found | None:
    found = find_choice(text)
    if found is None:
        return None
    span = sentence_around(text, found.start, found.end)
    answer = found.letters or text[found.start : found.end]
    how = How.ANNOUNCED if found.committed else How.CONCLUDED
    return Found(answer, *span, how, (found.announced, found.end))


def _boxed(text: str) -> Found | None:
    start = max(text.rfind("\\boxed{"), text.rfind("\\fbox{"))
    if start < 0:
        return None
    inner = text.index("{", start) + 1
    depth = 1
    for end in range(inner, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            answer = text[inner:end].strip()
            span = sentence_around(text, start, end + 1)
            return Found(answer, *span, How.BOXED, (start, end + 1)) if answer else None
    return None


def _announced(text: str) -> Found | None:
    tag = _last(_ANSWER_TAG, text)
    if tag is not None:
        return _found(text, tag.start(1), tag.end(1), How.ANNOUNCED, tag.start(1))
    matches = [*_ANNOUNCED.finditer(text), *_BARE_CHOICE.finditer(text)]
    for match in sorted(matches, key=lambda m: m.end(), reverse=True):
        stop = _stop(text, match.end())
        found = _found(text, match.end(), stop, How.ANNOUNCED, match.start())
        if found is not None:
            return found
    return None


def _whole(text: str) -> Found | None:
    stripped = text.strip()
    if not stripped or len(stripped) > 80 or "\n" in stripped:
        return None
    start = text.index(stripped)
    span = (start, start + len(stripped))
    return Found(stripped.strip(_DRESSING) or stripped, *span, How.WHOLE, span)


def _concluded(text: str) -> Found | None:
    last = _last(_CONCLUDED, text)
    if last is None:
        return None
    found = _found(text, last.end(), _stop(text, last.end()), How.CONCLUDED, last.start())
    return found if found is None or len(found.answer) <= 80 else None


def _last_number(text: str) -> Found | None:
    last = _last(_NUMBER, text)
    if last is None:
        return None
    return Found(last[0], *sentence_around(text, *last.span()), How.LAST_NUMBER, last.span())


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = deque(pattern.finditer(text), maxlen=1)
    return found[0] if found else None


def _stop(text: str, start: int) -> int:
    match = _STOP.search(text, start)
    return match.start() if match else len(text)


def _found(text: str, start: int, end: int, how: How, announced: int) -> Found | None:
    answer = text[start:end].strip(_DRESSING).rstrip(".\\")
    if not answer:
        return None
    clause_end = text.index(answer, start) + len(answer)
    return Found(answer, *sentence_around(text, start, end), how, (announced, clause_end))


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The span of the sentence with ``text[start:end]``: one line, at most 160 characters."""
    left = max(
        (m.end() for m in _BREAK.finditer(text, max(0, start - 400), start)),
        default=max(0, start - 400),
    )
    stop = _BREAK.search(text, max(start, end - 1))
    right = stop.end() if stop and stop[0] in "。！？!?" else stop.start() if stop else len(text)
    if right - left > MAX_SENTENCE:
        left = max((m.end() for m in _CLAUSE.finditer(text, left, start)), default=left)
    if right - left > MAX_SENTENCE:
        left, right = max(left, start - 40), min(right, max(end, start - 40 + MAX_SENTENCE))
    piece = text[left : min(right, left + MAX_SENTENCE)]
    lead = len(piece) - len(piece.lstrip())
    newline = piece.find("\n", lead)
    piece = piece if newline < 0 else piece[:newline]
    return left + lead, left + len(piece.rstrip())
