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

    ``refrence`` has 0.94 of the letters of ``reference`` in order, and ``promptid`` 0.86.
    """
    return next(iter(difflib.get_close_matches(word, [*known], n=1, cutoff=0.87)), "")


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
