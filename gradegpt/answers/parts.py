"""Several answers in one text: parts with marks (``(1)``, ``①``, ``第一空``) and alternatives.

>>> [mark.number for mark in marks("(1) 3; (2) 5")]
[1, 2]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from gradegpt.answers.options import HAN_ORDINALS, LETTERS, ORDINALS
from gradegpt.answers.text import CIRCLED

_NAMES: Final = {
    "letter": "abcdefghi",
    "roman": ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"),  # (i) is not part 9
    "circled": CIRCLED,
    "han": HAN_ORDINALS,
    "ordinal": ORDINALS,
    "digits": tuple(map(str, range(1, 100))),
}
_NUMBERS: Final = {
    name: (n, kind) for kind, names in _NAMES.items() for n, name in enumerate(names, start=1)
}
_NAME: Final = rf"\d{{1,2}}|[ivxIVX]{{1,4}}|[a-i]|[{HAN_ORDINALS}]"
_BRACKETED: Final = rf"[(（]\s*({_NAME})\s*[)）]|([{CIRCLED}])"
_MARK: Final = (
    rf"(?:[Pp]art\s*)?(?:{_BRACKETED})|第\s*({_NAME})\s*[空题问]|(\d{{1,2}}|[a-h])\s*[)）]"
    r"|(first|second|third)\s*[:：]|[Pp]art\s+(\d|[ivx]{1,4}|[a-hA-H])(?![^\W_])"
)
_ANYWHERE: Final = re.compile(_BRACKETED)
_WITHIN: Final = re.compile(rf"(?:^|(?<=[\s;；。.，,*:：]))(?:{_MARK})")
_OPENING: Final = re.compile(
    rf"^\s*(?:[-*] )?[*_]*(?:{_MARK}|(\d{{1,2}}|[a-h])\s*[.．、:：](?!\d))", re.MULTILINE
)
_ALTERNATIVES: Final = re.compile(r"\s*(?:[;；\n]|\bor\b|或者?)\s*")


class Mark(NamedTuple):
    """The mark of a part: its number, the kind of its numeral, and its span."""

    number: int
    kind: str
    start: int
    end: int


def marks(text: str, *, anywhere: bool = False) -> list[Mark]:
    """The marks after a space or a sign; with ``anywhere`` all marks that are in brackets."""
    if anywhere:
        return _read(_ANYWHERE, text)
    return [mark for mark in _read(_WITHIN, text) if not _closes(text, mark)]


def opening(line: str) -> Mark | None:
    """The mark at the beginning of the line, where ``1.``, ``2、`` and ``a:`` are marks, too."""
    return next(iter(_read(_OPENING, line)), None)


def unspaced_marks(text: str) -> list[Mark]:
    """Marks without spaces before them, if they count up from one: （1）20（2）25."""
    found = [
        m
        for m in marks(text, anywhere=True)
        if not re.match(r"[A-Za-z][(（]", text[max(0, m.start - 1) :])
    ]
    return found if [m.number for m in found] == [*range(1, len(found) + 1)] else []


def _read(pattern: re.Pattern[str], text: str) -> list[Mark]:
    named = ((m[m.lastindex or 0].lower(), m.span()) for m in pattern.finditer(text))
    return [Mark(*_NUMBERS[name], *span) for name, span in named if name in _NUMBERS]


def _closes(text: str, mark: Mark) -> bool:
    """Whether its bracket closes an earlier one: the 1 of "(x - 1)" is not a mark."""
    before = text[text.rfind("\n", 0, mark.start) + 1 : mark.start]
    opens = sum(before.count(sign) for sign in "(（") - sum(before.count(sign) for sign in ")）")
    return opens > 0 and not {*"(（"} & {*text[mark.start : mark.end]}


def run_of_parts(text: str, places: int) -> list[Mark]:
    """The last marks of one kind that number ``places`` parts, in order if there are such."""
    found, runs = marks(text) or _read(_OPENING, text), list[list[Mark]]()
    for kind in _NAMES:
        alike = [mark for mark in found if mark.kind == kind]
        runs += [alike[at : at + places] for at in range(len(alike) - places + 1)]
    numbers = [*range(1, places + 1)]
    counted = [([m.number for m in run] == numbers, run[-1].end, run) for run in runs]
    counted = [one for one in counted if sorted(m.number for m in one[2]) == numbers]
    return max(counted, key=lambda one: one[:2], default=(False, 0, []))[2]


def pieces(text: str, run: Sequence[Mark]) -> list[str]:
    """The text between each mark and the next, in the order of the marks' numbers."""
    ends = [*(mark.start for mark in run[1:]), len(text)]
    said = {mark.number: text[mark.end : end] for mark, end in zip(run, ends, strict=True)}
    return [said[number] for number in sorted(said)]


def numbered(answers: Iterable[str]) -> str:
    """The answers as the parts of one answer: ``(1) 3; (2) 5``."""
    return "; ".join(f"({n}) {answer}" for n, answer in enumerate(answers, start=1))


def combined(answers: Sequence[str]) -> str:
    """Several answers, all of which are required, as one: ``ACD`` for options, else ``3; 5``."""
    stripped = [answer.strip() for answer in answers]
    options = all(len(answer) == 1 and answer in LETTERS for answer in stripped)
    return ("" if options else "; ").join(stripped)


def alternatives(answer: str) -> tuple[str, ...]:
    """The answers in one text any of which suffices: ``3; 5``, ``3 or 5``, ``3或5``."""
    found = (piece.strip() for piece in _ALTERNATIVES.split(answer))
    return tuple(filter(None, found)) or (answer,)
