"""Answers as a JSON list at the end of a text: ``{"answers": ["3", "5 m"]}`` between ``` marks.

The form that ATLAS asks for (prompts E.1 and E.2). It is read strictly: any other text yields a
named fault, and no answer is searched for elsewhere in it.

>>> json_answers('Thus: {"answers": ["3", "5 m"]}', 2)
('3', '5 m')
>>> json_answers('Thus: {"answers": ["3"]}', 2)
<Fault.WRONG_COUNT: 'wrong-count'>
"""

from __future__ import annotations

import json
import re
from enum import StrEnum
from typing import Any, Final

from gradegpt.answers.parts import combined


class Fault(StrEnum):
    """Why no answers could be read.

    ``no_json``: the text has no JSON. ``json_error``: its JSON is invalid or of another form.
    ``wrong_count``: the number of answers is not that of the sub-questions.
    """

    NO_JSON = "no-json"
    JSON_ERROR = "json-error"
    WRONG_COUNT = "wrong-count"


_FENCE: Final = re.compile(r"```json\b\s*", re.IGNORECASE)
_BEHIND: Final = re.compile(r"\s*(?:```|$)")
_ESCAPE: Final = re.compile(
    r'\\(?:["\\/]|u[0-9a-fA-F]{4}'
    r"|[nrt](?!(?:abla|eq|otin|angle|ho|ight|an|au|ext|heta|ilde|imes|riangle)(?![a-z]))|)"
)
"""A backslash with what it escapes in JSON; alone where it is LaTeX, as in ``\\alpha``."""


def mended(text: str) -> str:
    r"""The text with those backslashes escaped that are invalid in JSON or begin a LaTeX command.

    A JSON parser would read ``\frac`` as a form feed and ``rac``.
    """
    return _ESCAPE.sub(lambda m: m[0] if len(m[0]) > 1 else "\\\\", text)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(
    parse_int=str, parse_float=str, parse_constant=_no_constant
)  # as written: 1.50 has two decimals


def json_object(text: str, key: str) -> dict[str, Any] | list[Any] | Fault:
    r"""The last JSON object or list of a text; its numbers are kept as texts, as written.

    It is taken from a block marked ``json``; without one it begins with ``{"<key>"``, or the whole
    text is a list. LaTeX backslashes are ``mended`` (as in OpenCompass, whose figures ATLAS
    reports).
    """
    start = _start(text, key)
    if start is None:
        return Fault.NO_JSON
    body = mended(text[start:])
    try:
        found, end = _DECODER.raw_decode(body)
    except (ValueError, RecursionError):
        return Fault.JSON_ERROR
    fenced = _FENCE.search(text) is not None
    if (fenced and not _BEHIND.match(body, end)) or not isinstance(found, dict | list):
        return Fault.JSON_ERROR
    return found


def _start(text: str, key: str) -> int | None:
    """Where the last JSON begins; None where there is none."""
    bare = rf'\{{\s*"{re.escape(key)}"\s*:'
    for pattern in (_FENCE, re.compile(bare)):
        if found := list(pattern.finditer(text)):
            return found[-1].end() if pattern is _FENCE else found[-1].start()
    blank = len(text) - len(text.lstrip())
    return blank if text.startswith("[", blank) else None


def json_list(text: str, key: str) -> list[Any] | Fault:
    """The list under ``key`` in the last JSON object of a text, or the list that its JSON is."""
    found = json_object(text, key)
    if isinstance(found, dict):
        found = found.get(key, Fault.JSON_ERROR)
    return found if isinstance(found, list | Fault) else Fault.JSON_ERROR


def json_answers(text: str, places: int | None = None) -> tuple[str, ...] | Fault:
    """The answers to ``places`` sub-questions in order, or to as many as there are.

    An answer that is itself a list becomes one text (``3; 5``), ``null`` becomes the empty text,
    and a list whose only entry is a list becomes that list.
    """
    found = json_list(text, "answers")
    if isinstance(found, Fault):
        return found
    if len(found) == 1 and isinstance(found[0], list) and places != 1:
        found = found[0]
    answers = [_text(value) for value in found]
    if None in answers:
        return Fault.JSON_ERROR
    if not found or places not in (None, len(found)):
        return Fault.WRONG_COUNT
    return tuple(answer for answer in answers if answer is not None)


def _text(value: Any) -> str | None:
    """An answer as a text; None for an object, which the form does not allow."""
    if isinstance(value, list):
        several = [_text(one) for one in value]
        return None if None in several else combined([one for one in several if one])
    if isinstance(value, dict):
        return None
    return "" if value is None else str(value).strip()
