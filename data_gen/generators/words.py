"""Texts of the problems: questions, steps and tables of facts, read from ``words/*.txt``.

A section ``[name]`` holds lines ``zh? question``, ``zh> step`` (and ``en?``, ``en>``) and rows of
columns separated by tabs. ``<a>`` is replaced by the value ``a``, ``<a:+d>`` by its signed form;
`` || `` separates alternatives of a step.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from gradegpt.errors import InputError

from .notation import polynomial, tex

FOLDER: Final = Path(__file__).parent / "words"
_GAP: Final = re.compile(r"<(\w+)(?::([^<>]+))?>")
_NAMES: Final = (
    ("小明", "小红", "李华", "王芳", "张伟", "刘洋", "小刚", "陈静", "赵敏", "周杰"),
    ("Tom", "Anna", "Maria", "Ben", "Sara", "Leo", "Nina", "Omar", "Grace", "Ivan"),
)
THINGS: Final = (
    ("苹果", "apples"), ("橘子", "oranges"), ("气球", "balloons"), ("杯子", "cups"),
    ("面包", "bread rolls"), ("包子", "dumplings"), ("鸡蛋", "eggs"), ("盒子", "boxes"),
    ("球", "balls"), ("桃子", "peaches"), ("信封", "envelopes"), ("玩具", "toys"),
)  # fmt: skip

Pair = tuple[str, str]
"""A text in Chinese and in English."""


class Section(NamedTuple):
    """The texts of one kind of problem: questions and steps by language, rows of a table."""

    asks: dict[str, list[str]]
    steps: dict[str, list[str]]
    rows: list[tuple[str, ...]]


class Statement(NamedTuple):
    """A question with its solution steps, its random generator and its language."""

    question: str
    steps: list[str]
    rng: random.Random
    zh: bool


def render(name: str, rng: random.Random, zh: bool, /, **values: object) -> Statement:
    """The statement of the section ``name`` in one of its phrasings, filled with ``values``.

    Of a pair of texts (Chinese, English) the one in the language is used. Another tuple holds the
    coefficients of a polynomial in x; lists are joined with commas; numbers are written as LaTeX.
    """
    words, lang = section(name), "zh" if zh else "en"
    drawn = {"who": rng.choice(_NAMES[not zh]), "thing": rng.choice(THINGS)}
    fields = {name: _as_text(value, zh) for name, value in (drawn | values).items()}
    steps = [fill(rng.choice(step.split(" || ")), fields) for step in words.steps[lang]]
    return Statement(fill(rng.choice(words.asks[lang]), fields), steps, rng, zh)


def _as_text(value: object, zh: bool) -> object:
    match value:
        case (str(), str()):
            return value[not zh]
        case tuple():
            return polynomial(value)
        case list():
            return ", ".join(map(str, value))
        case Decimal() | Fraction():
            return tex(value)
        case _:
            return value


def fill(template: str, fields: dict[str, object]) -> str:
    r"""``template`` with its fields filled; ``\n`` in it is a line break.

    Raises:
        InputError: a field has no value.

    """

    def value(gap: re.Match[str]) -> str:
        if gap[1] not in fields:
            raise InputError(f"{FOLDER.name}: {template!r}: no value for <{gap[1]}>; pass one")
        return format(fields[gap[1]], gap[2] or "")

    return _GAP.sub(value, template)


@cache
def section(name: str) -> Section:
    """The section ``name`` from any of the files.

    Raises:
        InputError: no file has this section.

    """
    found = _sections()
    if name not in found:
        raise InputError(f"{FOLDER}: no section [{name}]; add one, or correct the name")
    return found[name]


@cache
def _sections() -> dict[str, Section]:
    made: dict[str, Section] = {}
    for path in sorted(FOLDER.glob("*.txt")):
        _read(path.name, path.read_text(encoding="utf-8").splitlines(), made)
    return made


def _read(name: str, lines: Iterable[str], made: dict[str, Section]) -> None:
    current: Section | None = None
    for number, line in enumerate(lines, start=1):
        if not line or line.startswith("# "):
            continue
        if line.startswith("["):
            current = made.setdefault(
                line.strip("[]"), Section({"zh": [], "en": []}, {"zh": [], "en": []}, [])
            )
        elif current is None:
            raise InputError(f"{name}:{number}: a line before any [section]; add one above it")
        elif line[:4] in ("zh? ", "en? "):
            current.asks[line[:2]].append(line[4:])
        elif line[:4] in ("zh> ", "en> "):
            current.steps[line[:2]].append(line[4:])
        elif "\t" in line:
            current.rows.append(tuple(line.split("\t")))
        else:
            raise InputError(
                f"{name}:{number}: neither a question, a step nor a row; "
                "begin it with 'zh? ', 'zh> ', 'en? ' or 'en> ', or separate columns by tabs"
            )
