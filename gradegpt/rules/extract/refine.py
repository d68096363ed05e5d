"""Narrow a sentence with an answer to the part that can be read as its type."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers import values
from gradegpt.answers.chemistry import reaction
from gradegpt.answers.types import Group, Leaf, Region, Relation
from gradegpt.core.schema import AnswerType
from gradegpt.rules.extract.numbers import names_another

_CONCLUSION = re.compile(
    r"(?:∴|综上(?:所述)?|因此|所以|从而|于是|可得|解得|得到|得出|化简得|整理得|即|故|则|得|答"
    r"|\b(?:therefore|thus|hence|so|finally|gives?|get|obtain|yields?)\b|\bi\.e\.)[\s,，:：]*",
    re.IGNORECASE,
)
_COPULA = re.compile(
    r"(?:应?填(?:写|入)?|等于|应为|就是|约为|大约|大概|有|共有?|为|是|了|需要?|花费?|剩下?|[:：]|≈|\\approx|="
    r"|\b(?:is|are|was|were|equals?|equal to|be|has|have|of|covers?|costs?|needs?|makes?|at|by|to"
    r"|about|approximately|only|exactly|total)\b)\s*",
    re.IGNORECASE,
)
_FORMULA = re.compile(r"\$\$?(.+?)\$\$?|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_DENIED = re.compile(
    r"不是|并非|不等于|才是|≠|\bnot\b|n't\b|\bnever\b|\bor\b.*\?|可能|\bmay\b|\bmight\b",
    re.IGNORECASE,
)
"""Words after which a value is not, or not certainly, the answer."""
_QUANTIFIED = re.compile(
    r"(?:[,，\s]|\\quad|\\text\s*\{)+\bfor (?:all|any|every|each)\b.*\Z",
    re.DOTALL | re.IGNORECASE,
)
"""For which values a formula holds."""
_TRAILING = re.compile(
    r"\s+(?:left|in total|altogether|in all|each|more|total|remaining|per \w+|now|away|long"
    r"|(?:years? )?old)[\s.!]*$",
    re.IGNORECASE,
)


_WORDS: Final = (AnswerType.TRUE_FALSE, AnswerType.TEXT, AnswerType.CODE)
"""Types that are compared by all of their words."""
_SEVERAL: Final = (AnswerType.MULTI_ANSWER, AnswerType.MULTI_PART)
_ORDINAL = re.compile(r"\b(?:first|second|third)\b|第[一二三]个?", re.IGNORECASE)
"""Words with which several values may be in another order than the question asks for."""
_SHARE_OF = re.compile(
    r"(?:\b(?:half|thirds?|quarters?|\w*ths?|times|percent)|\d|%) of \Z", re.IGNORECASE
)
"""Words before a value of which the answer is a part: five sixths of π."""
_COUNTED = re.compile(r"[一总]?共|\b(?:in all|in total|altogether)\b", re.IGNORECASE)
"""Words with the number of the values: 一共六个."""
_REASON = re.compile(r"\s*(?:since|because|as)\b|\s*(?:因为|由于)", re.IGNORECASE)
_ROOTS: Final = (
    AnswerType.EQUATION, AnswerType.MULTI_ANSWER, AnswerType.SET, AnswerType.INTERVAL,
)  # fmt: skip
_STEP = re.compile(r"[,，;；]")
_ROOT = re.compile(
    r"[^A-Za-z0-9=<>≤≥()+*/^\\{}−-]*([A-Za-z])(?:_?\{?\d\}?|_\{?[a-z]\}?)?\s*[=<>≤≥]"
)
_LETTER = re.compile(r"[A-Za-z]")
_LIST_MARK = re.compile(r"^\s*(?:[-*•]\s+)?")
_PIECE = re.compile(r"[\n;；]|[,，、](?!\d{3}(?!\d))|\band\b|和|以及")


def refine(answer: str, kind: AnswerType) -> str:
    """The part of ``answer`` that can be read as ``kind``; ``answer`` itself if there is none.

    The steps before the roots of an equation are left out. Candidates in order: the whole, without
    "for all x"; the text after the last word of conclusion; the texts after each copula from there
    on, the longest first; the last formula.
    """
    if kind in _ROOTS:
        answer = _roots(answer)
    if kind in _WORDS or (reads_as(answer, kind) and not _steps(answer, kind)):
        return answer
    if _DENIED.search(answer) or (kind is AnswerType.NUMBER and names_another(answer)):
        return answer
    if kind in _SEVERAL and (several := _each(answer)):
        return several
    held = _QUANTIFIED.sub("", answer)
    for candidate in (*([held] if held != answer else []), *_candidates(answer)):
        if reads_as(candidate, kind):
            return candidate.strip(" \n*`").rstrip(".。 *`")
    return answer


def _steps(answer: str, kind: AnswerType) -> bool:
    """Whether several answers follow a word of conclusion, and steps precede it."""
    return kind in _SEVERAL and any(m.start() for m in _CONCLUSION.finditer(answer))


def _each(answer: str) -> str:
    """``Mass: 3 kg, volume: 2 m^3`` as ``3 kg; 2 m^3``; empty unless each piece has a value."""
    if "=" in answer and len(_CONCLUSION.findall(answer)):
        return ""
    if _ORDINAL.search(answer):
        return ""
    pieces = [piece for piece in _PIECE.split(answer) if re.search(r"\w", piece)]
    if not 1 < len(pieces) <= values.MAX_ITEMS or any(map(_REASON.match, pieces)):
        return ""
    made = list[str]()
    for piece in pieces:
        number = refine(_LIST_MARK.sub("", piece).strip(" .。*"), AnswerType.NUMBER)
        if not reads_as(number, AnswerType.NUMBER):
            return ""
        made.append(number)
    if _COUNTED.search(pieces[-1]):
        *made, number = made
        read = values.read(number)
        if not isinstance(read, Leaf) or not read.quantity or read.quantity.value != len(made):
            return ""
    return "; ".join(made)


def _roots(answer: str) -> str:
    """The end of "3x=15，x=5" and of "(x-2)(x-3)=0，x=2或x=3"; the whole where none is shown."""
    starts = [0, *(m.end() for m in _STEP.finditer(answer))]
    matches = [_ROOT.match(answer, start) for start in starts]
    first = next((n for n, match in enumerate(matches) if match), None)
    if first is None or not all(matches[first:]):
        return answer
    names = {match[1] for match in matches if match}
    steps = answer[: starts[first]]
    begin = next(match.start(1) for match in matches if match)
    return answer[begin:] if {*_LETTER.findall(steps)} <= names else answer


def _candidates(answer: str) -> list[str]:
    start = max((m.end() for m in _CONCLUSION.finditer(answer)), default=0)
    ends = (m.end() for m in _COPULA.finditer(answer, start))
    tails = [start, *(end for end in ends if not _SHARE_OF.search(answer, 0, end))]
    made = [answer[at:] for at in tails if at]
    made += [_TRAILING.sub("", tail) for tail in made if _TRAILING.search(tail)]
    formulas = [next(filter(None, m.groups()), "") for m in _FORMULA.finditer(answer)]
    return [*made, *formulas[-1:]]


def reads_as(text: str, kind: AnswerType) -> bool:
    """Whether ``text`` as a whole can be read as a value of ``kind``."""
    value = values.read(text, region=kind is AnswerType.INTERVAL)
    match kind:
        case AnswerType.NUMBER:
            return isinstance(value, Leaf) and value.quantity is not None
        case AnswerType.EXPRESSION | AnswerType.EQUATION | AnswerType.INTERVAL if reaction(text):
            return True
        case AnswerType.EXPRESSION:
            one = isinstance(value, Leaf) or "matrix}" in text
            return one and values.is_read(value)
        case AnswerType.EQUATION:
            named = isinstance(value, Leaf) and bool(value.name) and values.is_read(value)
            return named or isinstance(value, Relation)
        case AnswerType.INTERVAL:
            return isinstance(value, Region)
        case AnswerType.TUPLE | AnswerType.SET:
            return isinstance(value, Group | Region) and values.is_read(value)
        case _:
            return values.is_read(value)
