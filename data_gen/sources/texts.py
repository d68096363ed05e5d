"""From the cells of a data set to texts: paths into a row, answers, options, steps."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any, Final

from gradegpt.answers.options import options
from gradegpt.answers.parts import numbered
from gradegpt.answers.spans import sentences
from gradegpt.answers.text import plain
from gradegpt.schema import AnswerType

MAX_STEPS: Final = 12
"""A solution is cut there: what a response needs of it fits into a dozen sentences."""

_WRAPPED = re.compile(r"^\$([^$\n]*[\u3400-\u9fff][^$\n]*)\$$", re.MULTILINE)
_NO_PROSE = re.compile(r"<<[^<>\n]*>>|!\[[^\]\n]*\]\([^)\n]*\)|<img\b[^<>]*>")
"""GSM8K's calculator notes, and pictures."""
_BOX = re.compile(r"\\f?boxed\s*(?P<open>\{)?|\\fbox\s*(?P<frame>\{)")
_UNBRACED = re.compile(r"[^\s$.,;]+")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_LETTERED = r"\s*[(（]?{}\s*[.．、:：)）]\s*"
_OPTION = re.compile(r"[A-Z]")


def dig(value: Any, path: str) -> Any:
    """What stands at a dotted path, or none.

    A number takes that element of a list; a name is asked of every element. A column whose own name
    has dots is found too.

    >>> dig({"choices": [{"text": "4"}, {"text": "5"}]}, "choices.text")
    ['4', '5']
    >>> dig({"solution": ["first", "second"]}, "solution.0")
    'first'
    """
    if isinstance(value, dict) and path in value:
        return value[path]
    head, _, rest = path.partition(".")
    if isinstance(value, dict):
        return dig(value[head], rest) if rest and head in value else None
    if not isinstance(value, list):
        return None
    if not head.isdecimal():
        found = [dig(element, path) for element in value]
        return [each for each in found if each is not None] or None
    element = value[int(head)] if int(head) < len(value) else None
    return dig(element, rest) if rest else element


def pick(row: dict[str, Any], columns: Sequence[str]) -> Any:
    """The first of the columns that holds something, or none."""
    return next((v for c in columns if not _blank(v := dig(row, c))), None)


def _blank(value: Any) -> bool:
    if isinstance(value, float):
        return math.isnan(value)  # how a table writes an empty cell of a column of numbers
    if isinstance(value, list):
        return all(_blank(element) for element in value)
    return value is None or value == {} or (isinstance(value, str) and not value.strip())


def text(value: Any) -> str:
    """A cell as text: a list line by line, a whole number without ``.0``."""
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
    """A list cell as its elements, any other as one; the blank ones left out."""
    cells = value if isinstance(value, list) else [value]
    return tuple(filter(None, map(text, cells)))


def last_boxed(solution: str) -> str | None:
    r"""What stands in the last ``\boxed``, with the braces inside it; none without one.

    >>> last_boxed(r"so $\boxed{\frac{1}{2}}$.")
    '\\frac{1}{2}'
    """
    for box in reversed(list(_BOX.finditer(solution))):
        if not (box["open"] or box["frame"]):
            bare = _UNBRACED.match(solution, box.end())
            return bare[0] if bare else None
        depth = 1
        for brace in _BRACE.finditer(solution, box.end()):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)  # an escaped brace is no brace
            if not depth:
                return solution[box.end() : brace.start()].strip()
    return None


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


def with_units(answers: Sequence[str], unit: Any) -> tuple[str, ...]:
    """Each answer with its unit, unless it names it already.

    A list of units belongs to the answers one by one. One text with several units (``A,V``) is left
    out: nothing says which part of the answer each belongs to, and a reference may do without.
    """
    units = [text(u) for u in unit] if isinstance(unit, list) else [text(unit)] * len(answers)
    if len(units) != len(answers):
        return tuple(answers)
    pairs = zip(answers, units, strict=True)
    return tuple(a if not _to_add(a, u) else f"{a} {u}" for a, u in pairs)


def _to_add(answer: str, unit: str) -> bool:
    return bool(unit) and not re.search("[,，]", unit) and not plain(answer).endswith(plain(unit))


def with_options(question: str, listed: Any) -> str:
    """The question with its options below it, a line each, unless it lists them itself."""
    rendered = [f"{letter}. {option}" for letter, option in _options(listed) if option]
    return question if not rendered or options(question) else "\n".join([question, *rendered])


def _options(listed: Any) -> list[tuple[str, str]]:
    """Options with their letters: from texts, from a dict, or from records of letter and text."""
    if isinstance(listed, dict):
        columns = [v for v in listed.values() if isinstance(v, list)]
        if len(columns) == 2:  # {"label": [...], "text": [...]}
            return [pair for cells in zip(*columns, strict=False) for pair in [_record(cells)]]
        return [(letter, text(option)) for letter, option in listed.items()]
    found = []
    for place, option in enumerate(listed if isinstance(listed, list) else []):
        inner = option[0] if isinstance(option, list) and len(option) == 1 else option
        if isinstance(inner, dict):
            found.append(_record(list(inner.values())))
        else:
            letter = chr(ord("A") + place)
            found.append((letter, re.sub("^" + _LETTERED.format(letter), "", text(inner))))
    return found


def _record(cells: Sequence[Any]) -> tuple[str, str]:
    """The cell that is a letter, and the last that is not."""
    held = [text(cell) for cell in cells]
    letter = next((cell for cell in held if _OPTION.fullmatch(cell)), "")
    return letter, next((cell for cell in reversed(held) if cell != letter), "")


def steps(solution: Any, marker: str = "") -> tuple[str, ...]:
    """A worked solution in sentences, each in one line; a formula is never cut.

    A list holds its own steps. What follows ``marker`` is the answer and no step.
    """
    found: list[str] = []
    for part in texts(solution):
        worked = part.rsplit(marker, 1)[0] if marker else part
        # OlympiadBench sets whole Chinese paragraphs between dollars: no formula ends there.
        worked = _WRAPPED.sub(r"\1", _NO_PROSE.sub("", worked))
        formulas = "\\" in worked  # without any, a dollar is money and opens nothing
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
