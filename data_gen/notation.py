"""Other notations of an answer, and wrong answers: tables of rewritings.

Every result is compared with the answer by the rules: a notation has to be the same to them, and a
wrong answer different. Both are rewritten in the same ways, so that no notation tells them apart.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from typing import Final

from gradegpt.answers import read
from gradegpt.answers.options import LETTERS, options
from gradegpt.answers.truth import truth
from gradegpt.answers.words import TRENDS, UNCHANGED, any_of
from gradegpt.chains.chain import needs_gloss
from gradegpt.core.schema import AnswerType
from gradegpt.rules.compare import compare

Rewritings = tuple[tuple[str, str], ...]
"""Patterns and their replacements."""
_SIGNED: Final = r"(?<=[\w)}\]²³]) ?"
_OPERAND: Final = r" ?(?=[\w(\\√])"
_FORMULA: Final = r"(?!\{|.*\d [A-Za-z]|.*(?<![\\A-Za-z])[A-Za-z]{2,})"
"""No set, unit or word follows."""
_MATHS: Final[Rewritings] = (
    (rf"^({_FORMULA}[^$\u3400-\u9fff（）；，、;]*[\d)}}\]²³a-z])$", r"$\1$"),
    (r"^\$([^$]+)\$$", r"\1"),
    (r"^\{([^{}\\]*)\}$", r"$\\{\1\\}$"),
    (r"\\d?frac\{(\d+)\}\{(\d+)\}", r"\1/\2"),
    (r"(?<![\w.)}^/])(\d+)/(\d+)(?![\w./])", r"\\frac{\1}{\2}"),
    (r"\^2(?!\d)", "²"), (r"\^3(?!\d)", "³"), ("²", "^2"), ("³", "^3"),
    (r"√(\d+)", r"\\sqrt{\1}"), (r"\\sqrt\{(\d+)\}", r"√\1"), (r"\\pi(?![a-z])", "π"),
    (r"([,;]) ", r"\1"), (r"([,;])(?! )", r"\1 "), ("，", ","), ("；", "; "),
    (rf"{_SIGNED}([-+=<>≤≥]){_OPERAND}", r" \1 "), (r" ([-+=<>≤≥]) ", r"\1"),
    ("≤", r"\\le "), ("≥", r"\\ge "), (r"\\leq? ?(?![a-z])", "≤"), (r"\\geq? ?(?![a-z])", "≥"),
    (r"\\infty", "∞"), ("∞", r"\\infty"), (r"\\cup", "∪"), ("∪", r"\\cup "),
    (r"^\\\{(.*)\\\}$", r"{\1}"), ("（", "("), ("）", ") "),
    (" or ", "或"), (" ?或 ?", " or "), (" and ", "和"), (" ?和 ?", " and "),
)  # fmt: skip
_CHOICE: Final[Rewritings] = (
    *((r"^\(?([A-J])\)?$", form) for form in (r"\1", r"(\1)", r"选项\1", r"\1项", r"option \1")),
    *((r"(?<=[A-J])[、, ]*(?=[A-J])", joint) for joint in ("", "、", ", ", ",", " ")),
)
_NUMBER: Final[Rewritings] = (
    (r"^(-?\d+)$", r"\1.0"), (r"^(-?\d+\.\d+)$", r"\g<1>0"), (r"^(\d+)(\d{3})$", r"\1,\2"),
    (r"^([-\d./]+) ?([A-Za-zΩ°]+)$", r"\1 \2"), (r"^([-\d./]+) ([A-Za-zΩ°]+)$", r"\1\2"),
)  # fmt: skip
_TRUTHS: Final = (
    ("正确", "错误"), ("对", "错"), ("√", "×"), ("是", "否"), ("True", "False"), ("true", "false"),
    ("Yes", "No"), ("correct", "incorrect"), ("T", "F"),
)  # fmt: skip
_WORDED: Final = {
    AnswerType.SINGLE_CHOICE: _CHOICE, AnswerType.MULTIPLE_CHOICE: _CHOICE,
    AnswerType.NUMBER: (*_MATHS, *_NUMBER), AnswerType.TRUE_FALSE: (), AnswerType.TEXT: (),
    AnswerType.CODE: (),
}  # fmt: skip
_SIGNS: Final[Rewritings] = (
    (rf"{_SIGNED}\+{_OPERAND}", "-"), (rf"{_SIGNED}-{_OPERAND}", "+"), (r"(?<![\w)}])-(?=\d)", ""),
    (r"\\sin", r"\\cos"), (r"\\cos", r"\\sin"), (r"\\ln", r"\\lg"),
)  # fmt: skip
_ENDS: Final[Rewritings] = (
    (r"\((?=[-\d\\])", "["), (r"\[", "("), (r"(?<=\d)\)", "]"), (r"\]", ")"), ("<", "≤"),
    ("≤", "<"), (">", "≥"), ("≥", ">"),
)  # fmt: skip
_TURNED: Final[Rewritings] = ((r"([^(,;]+)(, ?)([^),;]+)(?=\))", r"\3\2\1"),)
_WRONG: Final[dict[AnswerType, Rewritings]] = {
    AnswerType.INTERVAL: (*_ENDS, *_SIGNS),
    AnswerType.TUPLE: (*_TURNED, *_SIGNS),
    AnswerType.TEXT: (
        (r"(?<![不就还只但可于])是(?![否不])", "不是"),
        ("不是", "是"),
        (r"(?<![不可功])能(?![力量源否])", "不能"),
    ),
}
"""Changes that make another answer of the type, one place at a time; ``_SIGNS`` for the others."""
_SEVERAL: Final = (AnswerType.SET, AnswerType.MULTI_ANSWER)
_JOINT: Final = re.compile(r"(\s*[,;、，；]\s*|\s*[或和]\s*| or | and )")
_NUMERAL: Final = re.compile(r"(?<![\w.,{^])\d+(?:\.\d+)?(?![\d.])|(?<=\{)\d+(?=\})")
_PART_MARK: Final = re.compile(r"[(（]\s*\d\s*[)）]")
_ODD: Final = re.compile(
    r"(?<![\d.,])[01](?=[a-zA-Z(√\\])|(?<!\d)-0(?![\d.])|/[01](?!\d)|\{[01]\}|\^[01](?!\d)"
    r"|[-+] ?0(?![\d.])"
)
_FRACTION: Final = re.compile(r"(\d+)(?:/|\}\{)(\d+)")


def same_forms(
    rng: random.Random, answer: str, kind: AnswerType, *, question: str = "", chinese: bool
) -> Iterator[str]:
    """Other notations of exactly this answer, lazily in a random order."""
    made = {answer}
    for pattern, replacement in _WORDED.get(kind, _MATHS):
        made |= {re.sub(pattern, replacement, form).strip() for form in made}
    if kind is AnswerType.TRUE_FALSE and (holds := truth(answer)) is not None:
        made |= {pair[not holds] for pair in _TRUTHS}
    suits = sorted(f for f in made - {answer} if needs_gloss(f) <= (chinese or needs_gloss(answer)))
    for form in rng.sample(suits, len(suits)):
        said, reversely = _is_same(answer, form, kind, question)
        if said is True and reversely is not False:
            yield form


def wrong_forms(
    rng: random.Random, answer: str, kind: AnswerType, *, question: str = ""
) -> Iterator[str]:
    """Answers of the type in the same notation that differ, lazily in a random order."""
    made = sorted({text for text in _others(rng, answer, kind, question) if text != answer})
    for text in rng.sample(made, len(made)):
        said, reversely = _is_same(answer, text, kind, question)
        proved = said is False or (kind is AnswerType.TEXT and not said)
        if proved and not reversely and _oddities(text) <= _oddities(answer):
            yield text


def _others(rng: random.Random, answer: str, kind: AnswerType, question: str) -> Iterator[str]:
    match kind:
        case AnswerType.TRUE_FALSE:
            yield from (two for pair in _TRUTHS for one, two in (pair, pair[::-1]) if one == answer)
        case AnswerType.SINGLE_CHOICE | AnswerType.MULTIPLE_CHOICE:
            yield from _other_options(answer, question)
        case AnswerType.CODE:
            return
        case _:
            yield from _numerals(rng, answer)
            yield from _one_less(answer) if kind in _SEVERAL else ()
            for pattern, replacement in _WRONG.get(kind, _SIGNS):
                for found in re.finditer(pattern, answer):
                    changed = found.expand(replacement)
                    yield answer[: found.start()] + changed + answer[found.end() :]
            if kind is AnswerType.TEXT and (trend := _TREND.search(answer)):
                for other in _OPPOSITES[trend[0].lower()]:
                    yield answer[: trend.start()] + other + answer[trend.end() :]


def _other_options(answer: str, question: str) -> Iterator[str]:
    """Another letter in the place of each letter; of several, one less."""
    every = sorted(options(question)) or list("ABCD")
    for place in re.finditer(rf"[{LETTERS}]", answer):
        new = [letter for letter in every if letter not in answer]
        yield from (answer[: place.start()] + x + answer[place.end() :] for x in new)
    if re.fullmatch(rf"[{LETTERS}]{{2,}}", answer):
        yield from (answer.replace(letter, "") for letter in answer)
    else:
        yield from _one_less(answer)


def _one_less(answer: str) -> Iterator[str]:
    """The answer without one of its elements."""
    inner = answer.strip("${}\\")
    if not inner:
        return
    left, _, right = answer.partition(inner)
    parts = _JOINT.split(inner)
    for n in range(0, len(parts) if len(parts) > 1 else 0, 2):
        kept = [*parts[:n], *parts[n + 2 :]] if n + 1 < len(parts) else parts[: n - 1]
        yield left + "".join(kept) + right


def _numerals(rng: random.Random, text: str) -> Iterator[str]:
    """The text with one numeral changed: by a few, to its double or to ten times as much."""
    marks = [mark.span() for mark in _PART_MARK.finditer(text)]
    for place in _NUMERAL.finditer(text):
        if len(marks) > 1 and any(start < place.start() < end for start, end in marks):
            continue
        whole, dot, places = place[0].partition(".")
        value, digits = int(whole + places), len(places)
        for other in {value + 1, value - 1, value * 2, value + rng.randint(2, 12), value * 10}:
            moved = str(max(other, 0)).rjust(digits + 1, "0")
            shown = f"{moved[:-digits]}.{moved[-digits:]}" if dot else moved
            yield text[: place.start()] + shown + text[place.end() :]


def _oddities(text: str) -> set[str]:
    """What an answer in its usual form does not have, such as ``1x``, ``+0`` and 6/4."""
    unreduced = (math.gcd(int(a), int(b)) > 1 for a, b in _FRACTION.findall(text))
    return {*_ODD.findall(text)} | ({"6/4"} if any(unreduced) else set())


def _opposites() -> Iterator[tuple[str, list[str]]]:
    for one, other, *between in TRENDS:
        for mine, theirs in ((one, other), (other, one)):
            yield from ((w, [theirs.partition("/")[0], *between]) for w in mine.split("/"))
    for same, moved in UNCHANGED:
        yield from ((word, moved.split("/")) for word in same.split("/"))


_OPPOSITES: Final = {word.lower(): others for word, others in _opposites()}
_TREND: Final = any_of(_OPPOSITES)


def _is_same(answer: str, other: str, kind: AnswerType, question: str) -> list[bool | None]:
    """What the rules say of the two, and of the reverse."""
    pair = [read(text, kind, question) for text in (answer, other)]
    both = (pair, pair[::-1])
    return [compare(*two, question=question, tolerance="exact").same for two in both]
