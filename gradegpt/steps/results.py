"""What a step comes to, and whether two steps come to the same: shown, refuted, or left open."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from gradegpt.answers import values
from gradegpt.answers.answer import Answer
from gradegpt.answers.formula import variables
from gradegpt.answers.read import read
from gradegpt.answers.text import fold, tidy
from gradegpt.answers.types import AnswerType, Leaf, Options, Relation, Truth
from gradegpt.answers.words import Words
from gradegpt.rules.compare import compare
from gradegpt.rules.extract import How, find_answer
from gradegpt.rules.extract.numbers import CHANGED, NUMBER, with_unit
from gradegpt.rules.reference import answer_kind
from gradegpt.rules.tolerance import DEFAULT
from gradegpt.schema import Item

_READ: Final = 2_000
"""Characters at the end of a step in which its result is looked for."""
_CALCULATED = re.compile(r"<<[^<>\n]*>>")
"""A calculator's note beside a number, as in GSM8K: 3*4=<<3*4=12>>12."""
_CLAUSE = re.compile(
    r"[，。；！？、：\n∴→⇒]|[,;:!?.](?=\s|\Z)|\$\$|\\\[|\\\]|\\\\|\\(?:therefore|Rightarrow)"
    r"|\b(?:and|so|then|hence|thus|since|because|where)\b",
    re.IGNORECASE,
)
"""What stands between two clauses of a step."""
_EQUALS = re.compile(
    r"(?<![<>≤≥≠!=])=(?!=)|≈|\\approx(?![a-z])|等于|[是为]|\b(?:is|are|equals)\b", re.IGNORECASE
)
_OR = re.compile(r"或|±|\\pm|\bor\b", re.IGNORECASE)
"""Several values, of which a step gives each."""
_SUPPOSED = re.compile(
    r"如果|假[设如若]|[若当设令]|\b(?:if|when|suppose|assum\w+|let|for|case|try)\b", re.IGNORECASE
)
"""Words of a case, in which a symbol may have another value than elsewhere."""
_WORDS = re.compile(
    r"[\u3400-\u9fff]+|(?<![A-Za-z\\])(?:[A-Za-z]*[a-z]{3}[a-z]*(?= |\Z)|[A-Za-z][a-z](?= +\S))"
)
"""Words before the formula that an equation begins with."""
_NUMERIC = re.compile(r"[\s$({\\*]*[-−]?\s*(?:\\[dt]?frac|\\sqrt|[\d√π.])")
"""How a value begins that a word such as ``is`` announces."""
_NO_START: Final = tuple("+-−*/×÷·^)]}")


class Result(NamedTuple):
    """A step's last equation or announced answer: ``left = right``.

    ``left`` is the symbol or the formula there, or nothing where words stand there; ``answers``:
    the step gives the answer to the question; ``supposed``: it is of a case.
    """

    left: str
    right: Answer
    answers: bool = False
    supposed: bool = False

    @property
    def relation(self) -> Relation | None:
        """``left = 0``, where the left side is a formula and no symbol."""
        value = values.read(f"{self.left} = 0") if self.left else None
        return value if isinstance(value, Relation) else None


def solution_results(steps: Sequence[str], item: Item) -> list[Result | None]:
    """What each step of a reference solution comes to; none where nothing can be read.

    The last one that is an accepted answer of the item answers the question.
    """
    found = [result_of(step) for step in steps]
    accepted = [read(text, answer_kind(item, text), item.question) for text in item.accepted]
    for n in range(len(steps) - 1, -1, -1):
        told = _answer(steps[n], accepted[0].kind, item.question) or found[n]
        if told and _is_accepted(told, accepted, item):
            found[n] = told._replace(answers=True)
            break
    return found


def response_results(steps: Sequence[str], item: Item) -> list[Result | None]:
    """What each step of a response comes to; none where nothing can be read.

    The last one answers the question, where it is boxed or announced.
    """
    found = [result_of(step) for step in steps]
    if steps:
        kind = answer_kind(item, item.accepted[0])
        told = _answer(steps[-1], kind, item.question)
        found[-1] = told._replace(answers=True) if told else found[-1]
    return found


def result_of(step: str) -> Result | None:
    r"""The announced or boxed answer of a step, else its last equation, in signs or in words.

    >>> result_of("So the area is S = 3 × 8 / 2 = 12 cm².").right.said
    '12 cm²'
    """
    text = _readable(step)
    found = _announced(text, None, "") or _equation(text)
    return found and found._replace(supposed=bool(_SUPPOSED.search(text)))


def _readable(step: str) -> str:
    return _CALCULATED.sub("", tidy(step))[-_READ:]


def _answer(step: str, kind: AnswerType, question: str) -> Result | None:
    return _announced(_readable(step), kind, question)


def _is_accepted(told: Result, accepted: Sequence[Answer], item: Item) -> bool:
    tolerance = item.tolerance or DEFAULT
    said = told.right.said
    return any(
        compare(
            answer, read(said, answer.kind, item.question), question=item.question,
            tolerance=tolerance,
        ).same
        for answer in accepted
    )  # fmt: skip


def _announced(text: str, kind: AnswerType | None, question: str) -> Result | None:
    found = find_answer(text, kind)
    if found is None or found.how not in (How.BOXED, How.ANNOUNCED):
        return None
    equation = _equation(found.answer)
    left, said = (equation.left, equation.right.said) if equation else ("", found.answer)
    return Result(left, read(said, kind, question))


def _equation(text: str) -> Result | None:
    """The last clause with a sign of equality, or a word for it, and a value behind it."""
    behind = ""
    for clause in reversed(_CLAUSE.split(text)):
        signs = list(_EQUALS.finditer(clause))
        if not signs:
            behind = clause.strip(" $*") or behind
            continue
        if NUMBER.fullmatch(behind):
            return None  # x = 2, 3
        if _OR.search(clause):
            start = clause[: signs[0].start()]
            value = _value(_formula(start) + clause[signs[0].start() :])
            return None if value is None else Result("", value)
        in_words = signs[-1][0][0] not in "=≈\\"
        value = _value(clause[signs[-1].end() :], in_words)
        if value is not None:
            sides = _EQUALS.split(clause)
            return Result(_formula(sides[0]) or _formula(sides[-2]), value)
        behind = ""
    return None


def _value(right: str, numeric: bool = False) -> Answer | None:
    """What stands behind a sign, or the number there with words behind it."""
    right = right.strip(" $*")
    if not right or (numeric and not _NUMERIC.match(right)):
        return None
    answer = read(right)
    if not isinstance(answer.value, Options | Truth | Words) and values.is_read(answer.value):
        return answer
    number = NUMBER.match(right)
    counted = number and re.match(r"\$?\s*[A-Za-z\u3400-\u9fff]", right[number.end() :])
    return read(with_unit(right, number)) if counted and not CHANGED.search(right) else None


def _formula(side: str) -> str:
    """The symbol or formula that a side ends in: S of "the area S"."""
    words = list(_WORDS.finditer(side))
    left = side[words[-1].end() if words else 0 :].strip(" $:：")
    balanced = all(left.count(a) == left.count(b) for a, b in ("()", "{}", "[]"))
    cut = bool(words) and left.startswith(_NO_START)
    return left if balanced and not cut and not NUMBER.fullmatch(left) else ""


def same_result(wanted: Result, given: Result, item: Item) -> bool | None:
    """Whether a response's step comes to what the reference's does; none where neither is shown.

    Equal are equal values, and equations in unknowns that say the same; not those of two symbols,
    and not what its own equation refutes. Different are only two numbers, options or truths that
    are of the same symbol or the same formula, or that both answer the question. A response's
    answer is compared with that of the reference alone.
    """
    if given.answers and not wanted.answers:
        return None
    if _unknowns(wanted) or _unknowns(given):
        return _same_equation(wanted, given)
    alike = same_left(wanted, given)
    if not alike and _symbol(wanted) and _symbol(given):
        return None
    tolerance = item.tolerance or DEFAULT
    same = compare(wanted.right, given.right, question=item.question, tolerance=tolerance).same
    if same:
        return None if _refutes_itself(given) else True
    one_case = alike and not wanted.supposed and not given.supposed
    answers = wanted.answers and given.answers
    return False if same is False and (one_case or answers) and _comparable(wanted, given) else None


def same_left(wanted: Result, given: Result) -> bool:
    """Whether two steps give the value of one thing: S and S, 12 + 7 and 7 + 12."""
    if not wanted.left or not given.left:
        return False
    if _solid(wanted.left) == _solid(given.left):
        return True
    if wanted.relation is None or given.relation is None:
        return False
    return compare(read(wanted.left), read(given.left)).same is True


def _unknowns(result: Result) -> bool:
    relation = result.relation
    return relation is not None and bool(variables(relation.left))


def _symbol(result: Result) -> bool:
    return bool(result.left) and result.relation is None


def _solid(text: str) -> str:
    return "".join(fold(text).split())


def _same_equation(wanted: Result, given: Result) -> bool | None:
    if not wanted.left or not given.left:
        return None
    one, other = (
        read(f"{result.left} = {result.right.said}", AnswerType.EQUATION)
        for result in (wanted, given)
    )
    return compare(one, other).same or None


def _refutes_itself(result: Result) -> bool:
    """Whether an equation of numbers is false: 12 + 8 = 19."""
    return result.relation is not None and compare(read(result.left), result.right).same is False


def _comparable(wanted: Result, given: Result) -> bool:
    """Whether both are numbers, or both options or truths: a formula may have any value."""
    one, other = wanted.right.value, given.right.value
    if isinstance(one, Leaf) and isinstance(other, Leaf):
        return _is_number(one) and _is_number(other)
    return type(one) is type(other) and isinstance(one, Options | Truth)


def _is_number(leaf: Leaf) -> bool:
    unknowns = leaf.formula is not None and variables(leaf.formula)
    return leaf.quantity is not None and (bool(leaf.quantity.unit) or not unknowns)
