"""The result of a step, its announced answer or last equation, and whether two are the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from gradegpt.answers import algebra, values
from gradegpt.answers.answer import Answer
from gradegpt.answers.formula import Node, variables
from gradegpt.answers.options import half_width
from gradegpt.answers.read import read
from gradegpt.answers.text import fold, tidy
from gradegpt.answers.types import (
    AnswerType,
    Leaf,
    Magnitude,
    Options,
    Quantity,
    Relation,
    Truth,
)
from gradegpt.answers.units import known
from gradegpt.answers.words import Words
from gradegpt.core.schema import Item
from gradegpt.rules.bind import mentions
from gradegpt.rules.claims import How, find_answer
from gradegpt.rules.compare import compare
from gradegpt.rules.reference import answer_kind, asked, reference_answers
from gradegpt.rules.tolerance import DEFAULT

_READ: Final = 2_000
"""Characters at the end of a step that are searched for its result."""
_CALCULATED = re.compile(r"<<[^<>\n]*>>")
"""A calculator's note beside a number, as in GSM8K: 3*4=<<3*4=12>>12."""
_CLAUSE = re.compile(
    r"[，。；！？、：\n∴→⇒]|[,;:!?.](?=\s|\Z)|\$\$|\\\[|\\\]|\\\\|\\(?:therefore|Rightarrow)"
    r"|\b(?:and|so|then|hence|thus|since|because|where)\b",
    re.IGNORECASE,
)
"""Separators of clauses in a step."""
_EQUALS = re.compile(r"(?<![<>≤≥≠!=])=(?!=)|≈|\\approx(?![a-z])")
_TIMES = re.compile(r"(?<=[\d)%])\s*[xX]\s*(?=[\d($.])")
"""The letter x for the sign ×: 18 x 4."""
_SUPPOSED = re.compile(
    r"如果|假[设如若]|[若当设令]|\b(?:if|when|suppose|assum\w+|let|case)\b", re.IGNORECASE
)
"""Words for a case distinction, in which a symbol may have another value than elsewhere."""
_WORDS = re.compile(
    r"[\u3400-\u9fff]+|(?<![A-Za-z\\])(?:[A-Za-z]*[a-z]{3}[a-z]*(?= |\Z)|[A-Za-z][a-z](?= +\S))"
    r"|\b(?:[Hh]e|[Ii]t|[Ww]e)\b"
)
"""Words before the formula at the beginning of an equation."""
_NUMBER = re.compile(r"-?[$€£¥]?\d[\d,]*(?:\.\d+)?(?:\s*/\s*\d+)?")
_NOUN = re.compile(r"\$?(?:\s+[A-Za-z]{2}|\s*[\u3400-\u9fff])")
_NO_START: Final = tuple("+-−*/×÷·^)]}")


class Result(NamedTuple):
    """A step's last equation or announced answer: ``left = right``.

    ``left`` is a symbol or a formula, or empty where there are words; ``answers``: the step gives
    the answer to the question; ``supposed``: the step is conditional.
    """

    left: str
    right: Answer
    answers: bool = False
    supposed: bool = False

    @property
    def _formula(self) -> Node | None:
        """The left side where it is a formula and not a symbol."""
        value = values.read(f"{self.left} = 0") if self.left else None
        return value.left if isinstance(value, Relation) else None

    @property
    def is_named(self) -> bool:
        """Whether the left side is a symbol, such as S or f(2)."""
        return bool(self.left) and self._formula is None

    @property
    def has_unknowns(self) -> bool:
        """Whether this is an equation with unknowns such as 2x + 1 = 7."""
        return self._formula is not None and bool(variables(self._formula))

    @property
    def computed(self) -> Magnitude | None:
        """The value of the left side by itself, where it is arithmetic."""
        return None if self._formula is None else algebra.constant(self._formula)


def solution_results(steps: Sequence[str], item: Item) -> list[Result | None]:
    """The result of each step of a reference solution; none where there is no readable result.

    The last one that equals an accepted answer of the item is marked as the answer.
    """
    found = [result_of(step) for step in steps]
    accepted = [
        read(answer, answer_kind(item, text), asked(item))
        for text in item.accepted
        for answer in reference_answers(text)
    ]
    for n in range(len(steps) - 1, -1, -1):
        final = _answer(steps[n], accepted[0].kind, asked(item)) or found[n]
        if final and _is_accepted(final, accepted, item):
            found[n] = final._replace(answers=True)
            break
    return found


def response_results(steps: Sequence[str], item: Item) -> list[Result | None]:
    """The result of each step of a response; none where there is no readable result.

    The last one is marked as the answer, where it is boxed or announced.
    """
    found = [result_of(step) for step in steps]
    if steps:
        kind = answer_kind(item, item.accepted[0])
        final = _answer(steps[-1], kind, asked(item))
        found[-1] = final._replace(answers=True) if final else found[-1]
    return found


def result_of(step: str) -> Result | None:
    r"""The announced or boxed answer of a step, else its last equation.

    >>> result_of("So the area is S = 3 × 8 / 2 = 12 cm².").right.text
    '12 cm²'
    """
    text = _readable(step)
    found = _announced(text, None, "") or _equation(text)
    return found and found._replace(supposed=bool(_SUPPOSED.search(text)))


def _readable(step: str) -> str:
    return _TIMES.sub(" × ", _CALCULATED.sub("", tidy(step))[-_READ:])


def _answer(step: str, kind: AnswerType, question: str) -> Result | None:
    return _announced(_readable(step), kind, question)


def _is_accepted(final: Result, accepted: Sequence[Answer], item: Item) -> bool:
    tolerance = item.tolerance or DEFAULT
    said = final.right.text
    return any(
        compare(
            answer, read(said, answer.kind, asked(item)), question=asked(item),
            tolerance=tolerance,
        ).same
        for answer in accepted
    )  # fmt: skip


def _announced(text: str, kind: AnswerType | None, question: str) -> Result | None:
    found = find_answer(text, kind)
    if found is None or found.how not in (How.BOXED, How.ANNOUNCED):
        return None
    equation = _equation(found.answer)
    left, said = (equation.left, equation.right.text) if equation else ("", found.answer)
    return Result(left, read(said, kind, question))


def _equation(text: str) -> Result | None:
    """The last clause with an equals sign and a value after it."""
    behind = ""
    for clause in reversed(_CLAUSE.split(text)):
        first, *others = _EQUALS.split(clause)
        if others and _NUMBER.fullmatch(behind):
            return None  # x = 2, 3
        if others and (value := _value(others[-1])) is not None:
            left = _formula(first) or (_formula(others[-2]) if len(others) > 1 else "")
            return Result(left, value)
        behind = "" if others else clause.strip(" $*") or behind
    return None


def _value(right: str) -> Answer | None:
    """The value after a sign; for a count of things the number: 12 of "12 pens a week"."""
    right = right.strip(" $*")
    answer = read(right)
    quantity = answer.value.quantity if isinstance(answer.value, Leaf) else None
    measured = quantity is not None and known(quantity.unit)
    if not measured and (number := _NUMBER.match(right)) and _NOUN.match(right, number.end()):
        said = mentions(half_width(right), AnswerType.NUMBER, "")
        if len(said) == 1 and not said[0].start:
            return read(said[0].text)
    return answer if right and _is_value(answer) else None


def _is_value(answer: Answer) -> bool:
    value = answer.value
    return not isinstance(value, Options | Truth | Words) and values.is_read(value)


def _formula(side: str) -> str:
    """The symbol or formula at the end of a side: S of "the area S"."""
    words = list(_WORDS.finditer(side))
    left = side[words[-1].end() if words else 0 :].strip(" $:：")
    balanced = all(left.count(a) == left.count(b) for a, b in ("()", "{}", "[]"))
    cut = bool(words) and left.startswith(_NO_START)
    return left if balanced and not cut and not _NUMBER.fullmatch(left) else ""


def same_result(wanted: Result, given: Result, item: Item) -> bool | None:
    """Whether a response's step has the result of the reference's; None where it is undecided.

    Results are the same if their values are equal; not if they are equations in unknowns or of two
    symbols, or the response's own equation is false. They are different only
    if both are numbers, options or truth values of the same symbol or formula, or both answer the
    question. A response's answer is compared only with the answer of the reference.
    """
    if given.answers and not wanted.answers:
        return None
    if wanted.has_unknowns or given.has_unknowns:
        return None
    same_left = _same_left(wanted, given)
    if not same_left and wanted.is_named and given.is_named:
        return None
    tolerance = item.tolerance or DEFAULT
    same = compare(wanted.right, given.right, question=asked(item), tolerance=tolerance).same
    if same:
        return None if _refutes_itself(given) else True
    one_case = same_left and not wanted.supposed and not given.supposed
    answers = wanted.answers and given.answers
    return False if same is False and (one_case or answers) and _comparable(wanted, given) else None


def _same_left(wanted: Result, given: Result) -> bool:
    """Whether two steps give the value of the same quantity: S and S, 12 + 7 and 7 + 12."""
    one, other = wanted.computed, given.computed
    if one is not None and other is not None:
        return algebra.close(one, other)
    return bool(wanted.left) and _without_blanks(wanted.left) == _without_blanks(given.left)


def _without_blanks(text: str) -> str:
    return "".join(fold(text).split())


def _refutes_itself(result: Result) -> bool:
    """Whether an equation of numbers is false: 12 + 8 = 19."""
    if result.computed is None:
        return False
    computed = Answer(AnswerType.NUMBER, Leaf(result.left, quantity=Quantity(result.computed)))
    return compare(computed, result.right).same is False


def _comparable(wanted: Result, given: Result) -> bool:
    """Whether both are numbers, or both options or truth values; a formula may have any value."""
    one, other = wanted.right.value, given.right.value
    if isinstance(one, Leaf) and isinstance(other, Leaf):
        return _is_number(one) and _is_number(other)
    return type(one) is type(other) and isinstance(one, Options | Truth)


def _is_number(leaf: Leaf) -> bool:
    unknowns = leaf.formula is not None and variables(leaf.formula)
    return leaf.quantity is not None and (bool(leaf.quantity.unit) or not unknowns)
