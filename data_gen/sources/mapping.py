"""Mappings from the columns of a data set to the fields of a problem."""

from __future__ import annotations

import hashlib
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from gradegpt.answers.read import answer_type
from gradegpt.core.errors import InputError, MissingError
from gradegpt.core.mistakes import suggest
from gradegpt.core.records import validate
from gradegpt.core.schema import TOLERANCE, AnswerType
from gradegpt.core.settings import Settings, load_settings
from gradegpt.rules.extract.several import boxes

from ..problems import Problem
from .texts import (
    joined,
    pick,
    steps,
    text,
    texts,
    with_options,
)

BOXED: Final = "\\boxed"
READY: Final = Path(__file__).parent / "mappings"
_HAN = re.compile(r"[\u3400-\u9fff]")
_LANGUAGES: Final = {"zh": "zh", "cn": "zh", "ch": "zh", "中文": "zh", "en": "en", "英文": "en"}
"""By the first two characters of a language's name."""
_PLACEHOLDER = re.compile(
    r"(?=\S)(?:证明题?|解答题)?[\s,，:：]*(?:答案)?(?:略|无|详?见解析|如图所?示?|见图)?[\s.。]*"
    r"|(?:N/?A|none|null|omitted|see (?:the )?(?:solution|proof|figure))\.?",
    re.IGNORECASE,
)


def _names(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Column = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_names)]
"""A column, or several of which the first non-empty one is used; dots select nested fields."""


class Mapping(Settings):
    r"""The columns of a data set; a field without a column is empty.

    ``question``: ``context`` is put before it, and ``options`` below it: a column with a list or a
    dict, or a column for each option.
    ``reference``: with ``marker``, the text after its last occurrence; with the marker ``\boxed``,
    the content of the last box. ``several`` says what a list of answers means: all are needed,
    either ``joined`` in the notation of their type or as numbered ``parts``.
    ``error``: one number, the permitted difference (``olympiadbench:X``).
    ``answer_types`` maps the data set's names of types; ``*`` matches any text, and ``infer`` takes
    the type from the reference. ``multiple`` is true where several answers are needed.
    ``lang``: ``zh``, ``en``, ``detect``, or the column that holds the language.
    ``solution``: the worked solution, one text or a list of steps.
    """

    context: Column = ()
    question: Column
    options: Column = ()
    reference: Column
    marker: str = ""
    several: Literal["joined", "parts"] = "joined"
    error: Column = ()
    solution: Column = ()
    answer_type: Column = ()
    answer_types: dict[str, AnswerType | Literal["infer"]] = Field(default={})
    multiple: Column = ()
    lang: str = "detect"


def load_mapping(name: str) -> Mapping:
    """A ready mapping by its name, or the mapping in the YAML file at a path.

    Raises:
        MissingError: there is no ready mapping of this name and no such file.
        SettingsError: the file is not a mapping.

    """
    if name.endswith((".yaml", ".yml")):
        return load_settings(Mapping, name)
    ready = sorted(path.stem for path in READY.glob("*.yaml"))
    if name not in ready:
        raise MissingError(
            f"mapping {name!r}: no ready mapping has this name{suggest(name, ready)}; the ready "
            f"ones are {', '.join(ready)}; or give a path that ends in .yaml, or the columns"
        )
    return load_settings(Mapping, READY / f"{name}.yaml")


def map_row(row: dict[str, Any], mapping: Mapping, where: str, source: str) -> Problem | str:
    """The row as a problem of ``source``, or the reason why there is none.

    The reasons are ``no_question``, ``no_reference`` (no such column, an empty cell, or no box or
    marker in it), ``placeholder`` (such as "omitted" or "see the figure") and ``other_language``.

    Raises:
        InputError: the mapping has no entry for the answer type; the message starts with ``where``.

    """
    question = text(pick(row, mapping.question))
    if not question:
        return "no_question"
    asked = "\n".join(filter(None, (text(pick(row, mapping.context)), question)))
    listed = {name: pick(row, (name,)) for name in mapping.options}
    asked = with_options(asked, listed if len(listed) > 1 else pick(row, mapping.options))
    cells = _problem(row, mapping, asked, where)
    if isinstance(cells, str):
        return cells
    # A row is identified by its question, which stays when rows or files move.
    digest = hashlib.sha256(asked.encode()).hexdigest()[:12]
    return validate(Problem, {"id": f"{source}-{digest}", **cells}, where)


def _problem(
    row: dict[str, Any], mapping: Mapping, question: str, where: str
) -> dict[str, Any] | str:
    lang = _language(row, mapping, question)
    stated = _stated_type(row, mapping, where)
    reference = _reference(row, mapping, stated)
    if not reference:
        return "no_reference"
    if _PLACEHOLDER.fullmatch(reference):
        return "placeholder"
    if lang is None:
        return "other_language"
    return {
        "lang": lang,
        "question": question,
        "reference": reference,
        "answer_type": stated or answer_type(reference, question),
        "tolerance": _tolerance(row, mapping),
        "solution": steps(pick(row, mapping.solution), mapping.marker),
    }


def _reference(row: dict[str, Any], mapping: Mapping, kind: AnswerType | None) -> str:
    cells = texts(pick(row, mapping.reference))
    answers = [*filter(None, (_stated(cell, mapping.marker) for cell in cells))]
    parts = mapping.several == "parts"
    return joined(answers, AnswerType.MULTI_PART if parts else kind) if answers else ""


def _stated(answer: str, marker: str) -> str:
    """The answer itself; empty where its box or marker is missing."""
    if marker == BOXED:
        return next((box.content for box in reversed(boxes(answer))), "")
    if marker:
        answer = answer.rpartition(marker)[2] if marker in answer else ""
    return answer.strip()


def _stated_type(row: dict[str, Any], mapping: Mapping, where: str) -> AnswerType | None:
    """The answer type that the row states; none where it is inferred from the reference."""
    word = text(pick(row, mapping.answer_type))
    known: dict[str, AnswerType | Literal["infer"]] = {kind.value: kind for kind in AnswerType}
    known = known | mapping.answer_types if word else {}
    kind = known.get(word) or next((k for p, k in known.items() if fnmatchcase(word, p)), None)
    if word and kind is None:
        raise InputError(
            f"{where}: answer type {word!r} is not in the mapping; "
            "add it to 'answer_types', or '*: infer' for all others"
        )
    stated = None if kind == "infer" else kind
    several = text(pick(row, mapping.multiple)).casefold() in ("true", "1", "yes")
    return AnswerType.MULTI_ANSWER if several and stated is not AnswerType.TEXT else stated


def _tolerance(row: dict[str, Any], mapping: Mapping) -> str | None:
    """The row's error as a tolerance policy; a list of errors, one for each answer, is ignored."""
    error = text(pick(row, mapping.error)).replace("+", "")
    policy = f"olympiadbench:{error}"
    return policy if re.search(TOLERANCE, policy) and error else None


def _language(row: dict[str, Any], mapping: Mapping, question: str) -> str | None:
    """``zh`` or ``en``; none where the row states another. If unstated, the script decides."""
    if mapping.lang in ("zh", "en"):
        return mapping.lang
    word = text(pick(row, (mapping.lang,))) if mapping.lang != "detect" else ""
    if word:
        return _LANGUAGES.get(word.casefold()[:2])
    return "zh" if _HAN.search(question) else "en"
