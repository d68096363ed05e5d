"""The items of a prompt, by their labels, and which of them is the one to judge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from .labels import (
    Role,
    bare_output,
    of_reference,
    owned_thing,
    owner,
    plain_answer,
    role_of,
    squashed,
)
from .marks import Mark
from .words import LABELLED, PAIR

NEEDED: Final = ("reference", "response")
_AHEAD: Final = 8
"""The labels after a label that say what it is."""
_MOST_GROUPS: Final = 200
_EXAMPLE: Final = re.compile(
    r"^\W*(?:few-?shot )?(?:examples?|demonstrations?|示例|例子|样例|范例|例)(?:\W|\d|"
    r"[一二三四五六七八九十])[^\n]{0,60}$|"
    r"\b(?:following|here (?:are|is)|below (?:are|is)|these|some|few|several|give|"
    r"\d+)\s+(?:\w+\s+){0,4}examples?\b|"
    r"(?:以下|下面|如下|几个|一些)[^\n]{0,10}(?:示例|例子|样例|范例)|^\W*examples?\W*$",
    re.IGNORECASE | re.MULTILINE,
)
_TURN: Final = re.compile(
    r"^\W*(?:now\b|your turn|it'?s your turn|(?:the )?(?:current|actual|real|new)\b|"
    r"here is (?:a|the) new|end of (?:the )?examples?|input data|begin\W*$|"
    r"(?:please )?(?:grade|judge|evaluate|assess|complete|score)\b[^\n]{0,40}\b(?:following|"
    r"below|this)\b|"
    r"现在|轮到你|当前|正式|待评|实际|接下来|请(?:判断|评估|评判|评测|对|"
    r"根据)[^\n]{0,12}(?:以下|下面|如下|下列))",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING_LENGTH: Final = 80
_NEAR: Final = 200
"""Characters before an item in which it may be announced as an example."""
_PLACEHOLDER: Final = re.compile(
    r"\s*(?:\[?\.{3}\]?|…|(?:the|a|an|your|what)\b[^\n]{0,80}"
    r"\b(?:answer|response|question|solution|output|student|model|problem)s?\b[^\n]{0,40}\.?)\s*",
    re.IGNORECASE,
)
BARE: Final = re.compile(
    r"^\W*(?:yes|no|true|false|correct|incorrect|wrong|[01AB]|正确|错误|是|否)\W*$",
    re.IGNORECASE | re.MULTILINE,
)


class FieldsError(Exception):
    """Fields that are missing or not clear; ``found`` has the labels of those that are."""

    def __init__(self, message: str, found: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.found = found or {}


class Group(NamedTuple):
    """The marks of one item, by field, and the index of its first mark."""

    marks: dict[str, Mark]
    start: int

    @property
    def whole(self) -> bool:
        """Whether it has a reference and a response."""
        return all(name in self.marks for name in NEEDED)


def filled(marks: Sequence[Mark], text: str) -> Sequence[Mark]:
    """The marks without one that ends the text, which a reply is to complete."""
    return marks[:-1] if marks and not text[marks[-1].end :].strip() else marks


def groups_of(marks: Sequence[Mark]) -> list[Group]:
    """The items of a text: a label that an item with both fields has already begins the next."""
    groups: list[Group] = []
    current = Group({}, 0)
    named = [mark for mark in marks if mark.role != "other" and not mark.ends]
    sure = {mark.role for mark in named} & set(NEEDED)
    for at, mark in enumerate(named):
        ahead = named[at + 1 : at + 1 + _AHEAD]
        role = _resolved(mark, current, sure)
        if role == "other":
            continue
        if role in current.marks:
            if current.whole and _begins_another(role, mark, current, ahead):
                groups.append(current)
                current = Group({}, mark.start)
                role = _resolved(mark, current, sure)
            elif not _replaces(role, mark, current):
                continue
        if not set(current.marks) - {role}:
            current = Group({}, mark.start)
        current.marks[role] = mark
        if len(groups) > _MOST_GROUPS:
            raise FieldsError("there are too many items")
    groups.append(current)
    if not any(group.whole for group in groups):
        _explain(groups[-1])
    return [group for group in groups if group.whole]


def with_owner(marks: list[Mark]) -> list[Mark]:
    """The marks, with the one behind the reference that only says whose it is as the response's.

    Likewise ``Correct`` between a question and its response. Nobody but the caller can have
    written it: no response begins before it.
    """
    at = next((i for i, mark in enumerate(marks) if mark.role in NEEDED), len(marks))
    if 1 < at < len(marks) and marks[at].role == "response" and of_reference(marks[at - 1].label):
        asked, named, answer = marks[at - 2 : at + 1]
        if asked.role == "question" and asked.form == named.form == answer.form:
            return [*marks[: at - 1], named._replace(role="reference"), *marks[at:]]
    if at + 1 >= len(marks) or marks[at].role != "reference":
        return marks
    reference, mark = marks[at], marks[at + 1]
    question = next((m.label for m in marks[:at] if m.role == "question"), "")
    if mark.role != "other" or mark.form != reference.form or not owner(mark.label, question):
        return marks
    if any(m.role == "response" and m.form == mark.form for m in marks[at + 2 :]):
        return marks
    return [*marks[: at + 1], mark._replace(role="response"), *marks[at + 2 :]]


def with_pairs(marks: list[Mark]) -> list[Mark]:
    """The marks, with two of the same thing as fields: the truth's and the model's.

    ``True emotion`` and ``Predicted emotion``; not where a field has its own label before.
    """
    at = next((i for i, mark in enumerate(marks) if mark.role in NEEDED), len(marks))
    owned = [owned_thing(mark.label) if mark.role == "other" else ("other", "") for mark in marks]
    things = {role: {thing for side, thing in owned[:at] if side == role} for role in NEEDED}
    both = things["reference"] & things["response"]
    return [
        mark._replace(role=side) if thing in both else mark
        for mark, (side, thing) in zip(marks, owned, strict=True)
    ]


ASIDES: Final = (
    "options", "choices", "context", "passage", "hint", "hints", "image", "figure", "table", "code",
    "given", "find", "assumption", "category", "subject", "选项", "背景", "材料",
)  # fmt: skip
"""Labels of what belongs to a question."""


def _resolved(mark: Mark, group: Group, sure: set[Role]) -> Role:
    """The field of a mark; an answer without a name is what the item does not have yet.

    ``sure`` are the fields that have a name of their own anywhere. Where both have one, a response
    may have written it, so an answer that comes first is not clear.
    """
    if mark.role != "either":
        return mark.role
    if group.whole:
        if bare_output(mark.label) and group.marks["reference"].label != mark.label:
            return "other"  # the verdict's
        same = [r for r, m in group.marks.items() if squashed(m.label) == squashed(mark.label)]
        return "reference" if "reference" in same or _response_first(group) else "response"
    if "reference" in group.marks:
        return "response"
    if "response" in group.marks:
        return "reference"
    if len(sure) != 1:
        raise FieldsError("it is not clear which answer is the reference and which the response")
    return "response" if "reference" in sure else "reference"


def _response_first(group: Group) -> bool:
    return group.marks["response"].start < group.marks["reference"].start


def _begins_another(role: str, mark: Mark, group: Group, ahead: Sequence[Mark]) -> bool:
    """Whether a repeated label begins a second item: it is this one's first, and both follow."""
    first = min(group.marks.values(), key=lambda own: own.start)
    if group.marks[role] is not first:
        return False
    roles = {other.role for other in (mark, *ahead)}
    return "either" in roles or all(name in roles for name in NEEDED)


def _replaces(role: str, mark: Mark, group: Group) -> bool:
    """Whether a repeated label counts instead of the first one.

    Of several questions before an answer the last counts, unless only instructions have its label;
    of several references behind the response the last.
    """
    if role == "question":
        return not (set(NEEDED) & set(group.marks)) and not mark.weak
    if role == "reference" and "response" in group.marks:
        own = [group.marks[name] for name in NEEDED]
        if mark.role == role and all(m.form == own[0].form and plain_answer(m.label) for m in own):
            raise FieldsError(
                "it is not clear which answer is the reference and which the response"
            )
        return _response_first(group)
    if role == "reference":
        raise FieldsError("there are two labels of a reference answer before the response")
    return False


def _explain(group: Group) -> None:
    found = {name: mark.label for name, mark in group.marks.items()}
    missing = [name for name in NEEDED if name not in found]
    names = {"reference": "a reference answer", "response": "the response to judge"}
    raise FieldsError("no label of " + " or of ".join(names[name] for name in missing), found)


def chosen(groups: Sequence[Group], text: str) -> tuple[int, int]:
    """The indices of the item to judge, and of the first example, which may be the same.

    Items before these only describe what the fields will be.
    """
    first = next(
        (
            at
            for at, group in enumerate(groups[:-1])
            if not is_described(group.marks["reference"], text)
        ),
        len(groups) - 1,
    )
    at = first
    before = text[max(0, groups[first].start - _NEAR) : groups[first].start]
    example = _last(_EXAMPLE, before)
    if at < len(groups) - 1 and _last(_TURN, before) <= example >= 0:
        heading = before[example:].lstrip().split("\n")[0]
        numbered = len(heading) < _HEADING_LENGTH and any(c.isdigit() for c in heading)
        at = _after_examples(groups, at, text, numbered=numbered)
    _one_item(groups, at, text)
    return at, first


def _after_examples(groups: Sequence[Group], first: int, text: str, *, numbered: bool) -> int:
    """The first item behind the examples that begin with ``first``."""
    for at in range(first + 1, len(groups)):
        between = text[groups[at - 1].start : groups[at].start]
        turn, example = _last(_TURN, between), _last(_EXAMPLE, between)
        if turn > example or (numbered and example < 0):
            return at
    if _response_first(groups[-1]):
        return len(groups) - 1
    raise FieldsError("there are examples, and no line says which item is the one to judge")


def _one_item(groups: Sequence[Group], at: int, text: str) -> None:
    """Refuse a second item that may be the one to judge: it comes behind a verdict."""
    if at == len(groups) - 1:
        return
    if _response_first(groups[at]):
        raise FieldsError("behind the response there are two labels of a reference answer")
    between = text[groups[at].start : groups[at + 1].start]
    if LABELLED.search(between) or BARE.search(between) or PAIR.search(between):
        raise FieldsError("there are two items, and no line says which of them is the one to judge")


def is_described(mark: Mark, text: str) -> bool:
    """Whether a mark only describes its field: ``Reference: the correct answer``."""
    line_end = text.find("\n", mark.end)
    value = text[mark.end : line_end if line_end >= 0 else len(text)]
    if not value.strip():
        following = text[mark.end : mark.end + 200].strip().split("\n")
        value = following[0]
    value = value.strip()[:200]
    if re.fullmatch(rf"{re.escape(squashed(mark.label))}(?:goes)?(?:here)?", squashed(value)):
        return True  # "AI answer: AI answer here"
    inner = value[1:-1] if value[:1] + value[-1:] in ("[]", "{}", "<>", "()") else ""
    return (
        role_of(inner.strip("{}")) != "other" or _PLACEHOLDER.fullmatch(inner or value) is not None
    )


def _last(pattern: re.Pattern[str], text: str) -> int:
    return max((match.start() for match in pattern.finditer(text)), default=-1)
