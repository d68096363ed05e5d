"""Errors of validation in plain words: for rows, requests, settings and options alike."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import ValidationError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_WORDS: Final = {
    "missing": "field required",
    "extra_forbidden": "unknown field",
    "string_type": "expected text",
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "expected a whole number"),
    **dict.fromkeys(("float_parsing", "float_type"), "expected a number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "expected true or false"),
    **dict.fromkeys(("list_type", "tuple_type"), "expected a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "expected an object"),
}
_CHOICES: Final = re.compile(r"(?:should be|is not one of) ('.*')\.?")


class Mistake(NamedTuple):
    """A value that is not valid: its place, pydantic's name of the error, what, and the value."""

    place: tuple[int | str, ...]
    kind: str
    what: str
    value: Any


def mistakes(error: ValidationError) -> list[Mistake]:
    """Every mistake, except those of a field whose parts have mistakes: they only follow."""
    details = error.errors(include_url=False)
    above = {detail["loc"][:n] for detail in details for n in range(len(detail["loc"]))}
    return [
        Mistake(detail["loc"], detail["type"], _what(detail), detail["input"])
        for detail in details
        if detail["loc"] not in above
    ]


def complaints(error: ValidationError) -> list[str]:
    """``field: error`` for each mistake."""
    return [
        f"{'.'.join(map(str, found.place))}: {found.what}" if found.place else found.what
        for found in mistakes(error)
    ]


def explain(error: ValidationError) -> str:
    """All mistakes in one line."""
    return "; ".join(complaints(error))


def suggest(word: str, known: Sequence[str], cutoff: float = 0.5) -> str:
    """``; did you mean 'max_steps'?`` or, without a close match, an empty string."""
    near = difflib.get_close_matches(word, known, n=1, cutoff=cutoff)
    return f"; did you mean {near[0]!r}?" if near else ""


def misspelt(word: str, known: Iterable[str]) -> str:
    """The known word that was meant; empty for another word, such as ``prompt_id`` for ``prompt``.

    One letter in five may be missing, wrong, too many, or exchanged with its neighbour.
    """
    most = max(len(word) // 5, 1) if len(word) > 2 else 0
    near = {other: n for other in known if (n := _edits(word, other, most)) <= most}
    return min(near, key=near.__getitem__, default="")


def _edits(one: str, other: str, most: int) -> int:
    """The edits between two words (optimal string alignment), or more than ``most``."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before, row = list[int](), list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            row.append(min(row[-1] + 1, before[j] + 1, before[j - 1] + (a != b)))
            if i > 1 and j > 1 and (a, one[i - 2]) == (other[j - 2], b):
                row[-1] = min(row[-1], last[j - 2] + 1)
    return row[-1]


def _what(detail: ErrorDetails) -> str:
    if detail["type"] in _WORDS:
        return _WORDS[detail["type"]]
    if detail["type"] == "too_short":
        least = detail["ctx"]["min_length"]
        return "expected at least one entry" if least == 1 else f"expected at least {least} entries"
    message = detail["msg"].removeprefix("Value error, ").removeprefix("Input ")
    message = message[0].lower() + message[1:] if detail["loc"] else message
    choices = _CHOICES.fullmatch(message.removeprefix(f"{detail['input']!r} "))
    if choices is None:
        return message
    near = misspelt(str(detail["input"]), re.findall(r"'([^']*)'", choices[1]))
    return message.rstrip(".") + (f"; did you mean {near!r}?" if near else "")
