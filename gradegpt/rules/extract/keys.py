"""Find the answers to several multiple-choice questions, by number or in a row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gradegpt.answers.options import HAN_ORDINALS, LETTER, LETTERS, half_width, sequence
from gradegpt.answers.spans import last_match
from gradegpt.rules.extract.choice import Choice, find_choice

_MARK: Final = re.compile(
    r"(?:第\s*(?P<nth>\d{1,2}|[一二三四五六七八九十])(?P<and>(?:\s*[、,和与]\s*\d{1,2}){0,12})\s*小?题|[Qq]uestion\s*(?P<asked>\d{1,2})\b"
    r"|(?:^|(?<=[\s;,。.|】)>*]))(?:\*\*|\|\s*)?"
    r"(?:(?:第|[Qq]uestions?\s*|[Nn]o\.\s*|小题|【小题)?[(]?(?P<number>\d{1,2}|[一二三四五六七八九十])[)]?"
    r"(?P<more>(?:\s*(?:[、,&和与]|and)\s*\d{1,2}){0,12})"
    rf"(?:\s*(?:小?题|】|\.(?!\d)|[)、:：|])[\s*:：.、]*|\s+(?=[{LETTERS}](?![a-z])))))[\s*:：.、]*"
)
"""The number of a question before its answer: 9. , (2), 第3题, Question 4:, | 5 |, 第1、2题.

The count of joined numbers is bounded: matching a long list would take quadratic time.
"""
_DIRECT: Final = re.compile(
    r"[\s:：*|]*(?:【答案】|答案(?:是|为|[:：])|[Aa]nswers?[:：]|都?选)?[\s:：*$(]*"
    rf"(?P<letters>{LETTER}(?:\s*(?:[,、和]|and)?\s*{LETTER})*)(?![A-Za-z])"
    r"(?!项)[)*$|]*\s*(?=[;,。.|<\n]|$|[–—-]\s|(?:第|\(|[Qq]uestion)?\s*\d)"
)
MOST_KEYS: Final = 8
_BOXED: Final = re.compile(
    rf"\\boxed\s*\{{[\s$(]*(?:\\text\s*\{{)?(?P<letters>{LETTER}+)(?![A-Za-z])[\s$)}}]*"
)
_KEYED: Final = re.compile(rf"【\s*答案\s*】[\s:：$(*]*(?P<letters>{LETTER}+)(?![A-Za-z])")
_CHOSEN: Final = re.compile(
    rf"(?<!不)(?<!不能)(?<!不应)选择?[\s:：(]*(?P<letters>{LETTER}+)(?![A-Za-z])"
)
_OPEN: Final = re.compile(r"\s*(?:\bor\b|或者?|还是)", re.IGNORECASE)
_ROW: Final = re.compile(
    r"(?:\d{1,2}\s*[-–—~～至到]\s*\d{1,2}\s*题?[\s:：.]*)?"
    rf"(?P<row>{LETTER}(?:[\s;,、]*(?:and\s+)?{LETTER})+)"
)
"""The letters in a row, with or without the range of their questions: 9-11 DAC."""
_BESIDE: Final = re.compile(r"[Aa]nswers?|respectively|\bare\b|\bis\b|[Tt]he\b|[Kk]ey")
"""Words that may occur next to such a row."""


_NUMBERED_JSON: Final = re.compile(r"\s*\{\s*\"\d{1,2}\"\s*:")
_UNQUOTED: Final = str.maketrans('"{}', "   ")


def find_keys(text: str, places: int, first: int = 0) -> Choice | None:
    """The answers to ``places`` questions, by number, by 【答案】, or in one row; else None.

    ``first`` is the number of the first question, if known. The letters are in the order of the
    questions' numbers, one group per question: ``C AD``.
    """
    text = half_width(text)
    if _NUMBERED_JSON.match(text):
        text = text.translate(_UNQUOTED)
    return (
        _by_mark(text, places, _KEYED)
        or by_number(text, places, first)
        or _by_mark(text, places, _BOXED)
        or _in_a_row(text, places)
    )


def several_keys(text: str) -> bool:
    """Whether two or more questions are answered after 【答案】."""
    text = half_width(text)
    if len(_KEYED.findall(text)) < 2:
        return False
    return len({number for mark in _MARK.finditer(text) for number in _numbers(mark)}) > 1


def _by_mark(text: str, places: int, mark: re.Pattern[str]) -> Choice | None:
    run = list(mark.finditer(text))
    if len(run) != places or any(_OPEN.match(text, m.end()) for m in run):
        return None
    letters = _in_order([m["letters"] for m in run])
    return Choice(letters, run[0].start(), run[0].start("letters"), run[-1].end(), committed=True)


def by_number(text: str, places: int, first: int = 0) -> Choice | None:
    """The last answers with ``places`` consecutive numbers, in any order in the text."""
    marks = list(_MARK.finditer(text))
    given: dict[int, tuple[str, int, int]] = {}
    ends = [*(m.start() for m in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):
        letters = _answer(text, mark.end(), end)
        for number in _numbers(mark):
            if letters:
                given[number] = (letters, mark.start(), end)
    numbers = _wanted(sorted(given), places, first)
    if not numbers:
        return None
    found = [given[number] for number in numbers]
    start, end = min(s for _, s, _ in found), max(e for _, _, e in found)
    letters = _in_order([letters for letters, _, _ in found])
    return Choice(letters, start, start, end, committed=True)


def keys_of(text: str) -> str:
    """The options that a worked solution of several questions chooses, one per question.

    Empty if one of its questions has no such answer.
    """
    text = half_width(text)
    asked = {number for mark in _MARK.finditer(text) for number in _numbers(mark)}
    keys = by_number(text, len(asked)) if 1 < len(asked) <= MOST_KEYS else None
    return keys.letters if keys else ""


def _in_order(letters: Sequence[str]) -> str:
    """``C A C``; with the questions' numbers if a question has several letters: ``1. C 2. AD``."""
    if all(len(one) == 1 for one in letters):
        return " ".join(letters)
    return " ".join(f"{n}. {one}" for n, one in enumerate(letters, start=1))


def _numbers(mark: re.Match[str]) -> list[int]:
    name = mark["number"] or mark["nth"] or mark["asked"]
    first = int(name) if name.isdigit() else HAN_ORDINALS.index(name) + 1
    return [first, *map(int, re.findall(r"\d+", mark["more"] or mark["and"] or ""))]


def _wanted(numbers: Sequence[int], places: int, first: int) -> Sequence[int]:
    """The last run of ``places`` consecutive numbers, or the run from ``first``."""
    starts = [first] if first else list(reversed(numbers))
    for start in starts:
        run = range(start, start + places)
        longer = not first and (start - 1 in numbers or start + places in numbers)
        if not longer and all(number in numbers for number in run):
            return run
    return ()


def _answer(text: str, start: int, end: int) -> str:
    """The option or options that the text finally chooses for one question."""
    piece = text[start:end]
    direct = _DIRECT.match(piece)
    if direct is not None:
        return "" if _OPEN.match(piece, direct.end("letters")) else _bare(direct["letters"])
    chosen = last_match(_CHOSEN, piece)
    if chosen is not None:
        return _bare(chosen["letters"])
    found = find_choice(piece)
    return found.letters if found is not None and found.committed else ""


def _in_a_row(text: str, places: int) -> Choice | None:
    for line in reversed(list(re.finditer(r"[^\n]+", text))):
        row = _ROW.search(line[0])
        letters = re.findall(LETTER, row["row"]) if row else []
        if row is None or len(letters) != places:
            continue
        rest = _BESIDE.sub("", line[0].replace(row[0], "", 1))
        if not re.search(r"[A-Za-z]{2,}|[或不非说写]|也许|可能", rest):
            span = (line.start() + row.start(), line.start() + row.end())
            return Choice(" ".join(letters), line.start(), *span, committed=True)
    whole = sequence(text)
    one_each = len(whole) == places
    return Choice(" ".join(whole), 0, 0, len(text), committed=True) if one_each else None


def _bare(letters: str) -> str:
    return "".join(re.findall(f"[{LETTERS}]", letters.replace("and", "")))
