"""Answers as a JSON list at the end of a text: ``{"answers": ["3", "5 m"]}`` between ``` marks.

The form that ATLAS asks for (prompts E.1 and E.2). It is read strictly: any other text yields a
named fault, and no answer is searched for elsewhere in it.

>>> json_answers('Thus: {"answers": ["3", "5 m"]}', 2)
('3', '5 m')
>>> json_answers('Thus: {"answers": ["3"]}', 2)
<Fault.WRONG_COUNT: 'wrong-count'>
"""

from __future__ import annotations

import ast
import json
import re
from contextlib import suppress
from enum import StrEnum
from typing import Any, Final

from gradegpt.answers.parts import combined


class Fault(StrEnum):
    """Why no answers could be read: no JSON, invalid JSON or another form, or another number."""

    NO_JSON = "no-json"
    JSON_ERROR = "json-error"
    WRONG_COUNT = "wrong-count"


_FENCE: Final = re.compile(r"```json\b\s*", re.IGNORECASE)
_ESCAPE: Final = re.compile(
    r'\\(?:["\\/]|u[0-9a-fA-F]{4}'
    r"|[nrt](?!(?:abla|eq|otin|angle|ho|ight|an|au|ext|heta|ilde|imes|riangle)(?![a-z]))|)"
)
"""A backslash with what it escapes in JSON; alone where it is LaTeX, as in ``\\alpha``."""
_DECODER: Final = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=int)
"""Numbers remain as written: 1.50 has two decimals. ``int`` rejects NaN, which is not JSON."""


def mended(text: str) -> str:
    r"""The text with those backslashes escaped that are invalid in JSON or begin a LaTeX command.

    A JSON parser would read ``\frac`` as a form feed and ``rac``.
    """
    return _ESCAPE.sub(lambda m: m[0] if len(m[0]) > 1 else "\\\\", text)


def json_object(text: str, key: str) -> dict[str, Any] | list[Any] | Fault:
    r"""The last JSON object or list of a text; its numbers are kept as texts, as written.

    It is taken from a block marked ``json``; without one it begins with ``{"<key>"``, or the whole
    text is a list. LaTeX backslashes are ``mended`` (as in OpenCompass, whose figures ATLAS
    reports).
    """
    fences = [fence.end() for fence in _FENCE.finditer(text)]
    bare = re.finditer(rf'\{{\s*"{re.escape(key)}"\s*:|\A\s*\[', text)
    starts = fences or [match.start() for match in bare]
    if not starts:
        return Fault.NO_JSON
    body = mended(text[starts[-1] :].lstrip())
    try:
        found, end = _DECODER.raw_decode(body)
    except (ValueError, RecursionError):
        return Fault.JSON_ERROR
    rest = body[end:].strip()
    closed = not (fences and rest) or rest.startswith("```")
    return found if closed and isinstance(found, dict | list) else Fault.JSON_ERROR


def json_answers(text: str, places: int | None = None) -> tuple[str, ...] | Fault:
    """The answers to ``places`` sub-questions in order, or to as many as there are.

    An answer that is itself a list becomes one text (``3; 5``), ``null`` becomes the empty text,
    and a list whose only entry is a list becomes that list.
    """
    read = json_object(text, "answers")
    found = read.get("answers") if isinstance(read, dict) else read
    if not isinstance(found, list):
        return found if isinstance(found, Fault) else Fault.JSON_ERROR
    if len(found) == 1 and isinstance(found[0], list) and places != 1:
        found = found[0]
    try:
        answers = tuple(map(_text, found))
    except TypeError:
        return Fault.JSON_ERROR
    return answers if answers and places in (None, len(answers)) else Fault.WRONG_COUNT


def _text(value: object) -> str:
    """An answer as a text; an object is none in this form."""
    if isinstance(value, dict):
        raise TypeError("an answer is an object")
    if isinstance(value, list):
        return combined([one for one in map(_text, value) if one])
    return "" if value is None else str(value).strip()


def listed(text: str, *, numbers: bool = False) -> tuple[str, ...]:
    """The answers in a JSON or Python list; empty for any other text.

    Without ``numbers`` one entry must be a text: on its own, ``[1, 2]`` may be an interval.
    """
    found: object = None
    if text.lstrip().startswith("["):
        literal = mended(text.strip()).replace(r"\\'", r"\'")  # LaTeX is no escape, but \' is one
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            found = ast.literal_eval(literal)
    if not isinstance(found, list) or not (numbers or any(isinstance(x, str) for x in found)):
        return ()
    parts = tuple(map(str, found))
    return parts if all(part.strip() for part in parts) else ()
