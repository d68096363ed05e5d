"""Texts from the cells of a data set: nested fields, answers, options, solution steps."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any, Final

from gradegpt.answers.options import LETTERS, options
from gradegpt.answers.parts import numbered
from gradegpt.answers.spans import sentences
from gradegpt.core.schema import AnswerType
from gradegpt.tables.columns import dig

MAX_STEPS: Final = 12
"""Number of steps after which a solution is cut: responses use no more of it."""

_WRAPPED = re.compile(r"^\$([^$\n]*[\u3400-\u9fff][^$\n]*)\$$", re.MULTILINE)
_NO_PROSE = re.compile(r"<<[^<>\n]*>>|!\[[^\]\n]*\]\([^)\n]*\)|<img\b[^<>]*>")
"""GSM8K's calculator annotations, and pictures."""
_LETTERED = r"\s*[(（]?{}\s*[.．、:：)）]\s*"


def pick(row: dict[str, Any], columns: Sequence[str]) -> Any:
    """The value of the first non-empty column, or none."""
    return next((v for c in columns if not _blank(v := dig(row, c))), None)


def _blank(value: Any) -> bool:
    if isinstance(value, float):
        return math.isnan(value)  # an empty cell in a column of numbers
    if isinstance(value, list):
        return all(_blank(element) for element in value)
    return value is None or value == {} or (isinstance(value, str) and not value.strip())


def text(value: Any) -> str:
    """A cell as text: a list with a line for each element, a whole number without ``.0``."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return "\n".join(filter(None, map(text, value)))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def texts(value: Any) -> tuple[str, ...]:
    """The texts of a list cell or of a single one, without blank ones."""
    cells = value if isinstance(value, list) else [value]
    return tuple(filter(None, map(text, cells)))


def joined(answers: Sequence[str], kind: AnswerType | None) -> str:
    """Several answers, all needed, as one reference in the notation of their type."""
    if len(answers) == 1:
        return answers[0]
    match kind:
        case AnswerType.MULTIPLE_CHOICE:
            return "".join(answers)
        case AnswerType.SET:
            return "{" + ", ".join(answers) + "}"
        case AnswerType.MULTI_PART:
            return numbered(answers)
        case _:
            return "; ".join(answers)


def with_options(question: str, listed: Any) -> str:
    """The question with its options below, one on each line, unless it already lists them."""
    rendered = [f"{letter}. {option}" for letter, option in _options(listed) if option]
    return question if not rendered or options(question) else "\n".join([question, *rendered])


def _options(listed: Any) -> list[tuple[str, str]]:
    """Options with their letters, from texts or from a dict."""
    if isinstance(listed, dict):
        return [(letter, text(option)) for letter, option in listed.items()]
    pairs = zip(LETTERS, listed if isinstance(listed, list) else (), strict=False)
    return [(x, re.sub("^" + _LETTERED.format(x), "", text(option))) for x, option in pairs]


def steps(solution: Any, marker: str = "") -> tuple[str, ...]:
    """A worked solution split into sentences, each on one line; a formula is never split.

    The elements of a list are steps already. The text after ``marker`` is the answer and no step.
    """
    found: list[str] = []
    for part in texts(solution):
        worked = part.rsplit(marker, 1)[0] if marker else part
        # OlympiadBench has whole Chinese paragraphs between dollars, which are no formulas.
        worked = _WRAPPED.sub(r"\1", _NO_PROSE.sub("", worked))
        formulas = "\\" in worked  # without a command, a dollar is money and opens no formula
        begin = 0
        for _, end in sentences(worked):
            if not formulas or _closed(worked[begin:end]):
                found.append(worked[begin:end])
                begin = end
        found.append(worked[begin:])
    lines = (" ".join(step.split()) for step in found)
    return tuple(line for line in lines if re.search(r"\w", line))[:MAX_STEPS]


def _closed(piece: str) -> bool:
    dollars = piece.count("$") - piece.count(r"\$")
    pairs = ((r"\[", r"\]"), (r"\(", r"\)"), (r"\begin{", r"\end{"))
    return dollars % 2 == 0 and all(piece.count(a) <= piece.count(b) for a, b in pairs)
