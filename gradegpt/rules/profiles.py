"""Benchmark profiles: how a benchmark's own scorer decides, for users who need its numbers.

A profile is two-valued like the scorer it stands for: what it cannot match counts as wrong, and no
doubt is left. It shares the readers of the rules, not the programs of the benchmarks, so it
follows what their papers say.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from gradegpt.answers import values
from gradegpt.answers.text import plain
from gradegpt.answers.types import Group, Leaf, Quantity, Region, Value
from gradegpt.rules.compare import Prove, compare
from gradegpt.rules.compare.base import Means
from gradegpt.rules.compare.value import same_value
from gradegpt.rules.extract import boxes, find_answer
from gradegpt.rules.tolerance import EXACT, tolerance
from gradegpt.rules.validity import cut_off, refuses, says_nothing, without_loop
from gradegpt.schema import AnswerType

_CONCLUDED = re.compile(
    r"(?:所以|因此|故|综上)[^\n]{0,12}(?:最终)?答案(?:是|为|[:：])|\bfinal answer is\b",
    re.IGNORECASE,
)
_ONE_VALUE: Final = (AnswerType.NUMBER, AnswerType.EXPRESSION, AnswerType.EQUATION)


class Scored(NamedTuple):
    """``right`` is none for an invalid response; ``answer`` is what was scored."""

    right: bool | None
    reason: str
    answer: str | None


class Question(NamedTuple):
    """What a profile may look at."""

    reference: str
    response: str
    kind: AnswerType
    tolerance: str | None
    """The row's own policy, such as OlympiadBench's error; none for the profile's default."""


Profile = Callable[[Question, Prove], Scored]


def olympiadbench(asked: Question, prove: Prove) -> Scored:
    """Algorithm 1 of OlympiadBench, step by step.

    The answers stand in boxes, else behind the last "the final answer is". The same text; both
    intervals or tuples, which decides; equal as numbers within 1e-8 or the row's own error; both
    equations, whose sides are divided; else expressions, whose difference is zero. Several answers
    match in any order (section 3.4 and Algorithm 1).
    """
    answer = _last_answer(asked.response)
    if answer is None:
        return Scored(False, "no-answer", None)
    wanted, given = _items(asked.reference), _items(answer)
    if len(wanted) != len(given):
        return Scored(False, "another-number-of-answers", answer)
    left = list(given)
    for item in wanted:
        found = next((x for x in left if _algorithm_1(item, x, asked, prove)), None)
        if found is None:
            return Scored(False, "different", answer)
        left.remove(found)
    return Scored(True, "equal", answer)


def _algorithm_1(wanted: str, given: str, asked: Question, prove: Prove) -> bool:
    if plain(wanted) == plain(given):
        return True
    left, right = values.read(wanted, region=True), values.read(given, region=True)
    structured = (Region, Group)
    if isinstance(left, structured) and isinstance(right, structured):
        return same_value(left, right, Means(EXACT, prove)) is True
    if _as_numbers(left, right, asked.tolerance or "olympiadbench"):
        return True
    if ("=" in wanted) == ("=" in given):
        return same_value(left, right, Means(EXACT, prove, names_matter="=" in wanted)) is True
    bodies = [values.read(text.rsplit("=", 1)[-1]) for text in (wanted, given)]
    return same_value(bodies[0], bodies[1], Means(EXACT, prove)) is True


def _as_numbers(left: Value, right: Value, policy: str) -> bool:
    if not isinstance(left, Leaf) or not isinstance(right, Leaf):
        return False
    if left.quantity is None or right.quantity is None:
        return False
    return tolerance(policy).allows(_bare(left.quantity), _bare(right.quantity)) is True


def olympicarena(asked: Question, prove: Prove) -> Scored:
    """OlympicArena, appendix C.5: the last box, matched by the answer type.

    Units do not count; a number may be off by 0.1 in its coefficient at an equal power of ten;
    several quantities keep their order, several answers do not.
    """
    box = next(reversed(boxes(asked.response)), None)
    if box is None:
        return Scored(False, "no-box", None)
    return _matched(asked, box, asked.tolerance or "olympicarena", prove)


def arb(asked: Question, prove: Prove) -> Scored:
    """ARB, section 6: letters by letter, numbers without units within a relative error of 1e-2."""
    found = find_answer(asked.response, asked.kind)
    if found is None:
        return Scored(False, "no-answer", None)
    return _matched(asked, found.answer, asked.tolerance or "arb", prove)


def atlas(asked: Question, prove: Prove) -> Scored:
    """ATLAS, prompt E.2: invalid responses first, then all parts, within a relative 0.1."""
    found = find_answer(asked.response, asked.kind)
    if says_nothing(asked.response) or without_loop(asked.response) is not None:
        return Scored(None, "repetitive-or-empty", None)
    if cut_off(asked.response) or refuses(asked.response):
        return Scored(None, "incomplete-or-refusal", None)
    if found is None:
        return Scored(False, "no-answer", None)
    return _matched(asked, found.answer, asked.tolerance or "atlas", prove)


PROFILES: Final[dict[str, Profile]] = {
    made.__name__: made for made in (olympiadbench, olympicarena, arb, atlas)
}
"""By the name that settings and the command line take."""


def _matched(asked: Question, answer: str, policy: str, prove: Prove) -> Scored:
    if asked.kind not in _ONE_VALUE:
        made = compare(asked.reference, answer, asked.kind, tolerance=policy, prove=prove)
        return Scored(made.same is True, made.reason, answer)
    wanted, given = _unitless(values.read(asked.reference)), _unitless(values.read(answer))
    same = plain(asked.reference) == plain(answer) or same_value(
        wanted, given, Means(tolerance(policy), prove)
    )
    return Scored(same is True, "equal" if same else "different", answer)


def _unitless(value: Value) -> Value:
    if isinstance(value, Leaf) and value.quantity is not None:
        return value._replace(quantity=_bare(value.quantity))
    return value


def _bare(quantity: Quantity) -> Quantity:
    return quantity._replace(unit="")


def _last_answer(response: str) -> str | None:
    """The boxes of the last paragraph that has one, else what the last conclusion announces."""
    found = boxes(response)
    if found:
        tail = response[response.rfind("\n\n", 0, response.rfind("\\boxed")) + 1 :]
        return ", ".join(boxes(tail) or found[-1:])
    ends = [m.end() for m in _CONCLUDED.finditer(response)]
    if not ends:
        return None
    line = response[ends[-1] :].strip().split("\n")[0]
    return line.strip(" .。:：*$") or None


def _items(text: str) -> list[str]:
    """Answers joined by commas, outside brackets, with ± as two."""
    pieces = [piece for piece in values.split_top(text.replace("，", ","), ",;") if piece.strip()]
    return [made for piece in pieces for made in values.both_signs(piece.strip())]
