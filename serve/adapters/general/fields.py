"""The question, reference and response of a prompt that belongs to no family, by their labels.

A response is untrusted, and it may hold labels. All text before the label of the response is the
caller's, so the reference is either there, or behind the last label that can be its own, where
the text before says that there is one (``owned``). A prompt with two items is read only where the
caller's own text says which of them are examples.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from .before import check_before, check_question
from .items import (
    NEEDED,
    FieldsError,
    Group,
    chosen,
    filled,
    groups_of,
    is_described,
    with_owner,
    with_pairs,
)
from .labels import role_of, weak
from .marks import SAID, WITHIN, Mark, marks_of, marks_within
from .owned import check_owned, closer_of
from .tail import split_tail


class Fields(NamedTuple):
    """The fields of an item and the caller's text around them.

    ``trusted`` says that no response can have written ``after``.
    """

    values: dict[str, str]
    labels: dict[str, str]
    before: str
    examples: str
    after: str
    trusted: bool


def read_fields(text: str, above: str = "") -> Fields:
    """The fields of the item to judge; ``above`` is the caller's text in other messages.

    Raises:
        FieldsError: a field is missing, or it is not clear where it begins or ends.

    """
    objects = _from_json(text)
    if objects is not None:
        return objects
    marks, groups = _items(text)
    at, examples = chosen(groups, text)
    first = groups[examples].start
    check_before(text[:first], marks)
    check_question(groups[at], marks, text)
    check_owned(groups[at], marks, text, above)
    return _cut(text, marks, groups[at], first)


def _items(text: str) -> tuple[Sequence[Mark], list[Group]]:
    """The marks and the items of a text, by labels within lines where none at their starts do."""
    marks = with_owner(with_pairs(marks_of(text)))
    try:
        whole = filled(marks, text)
        return whole, groups_of(whole)
    except FieldsError:
        within = marks_within(text, marks)
        if len(within) == len(marks):
            raise
    return within, groups_of(within)


def _cut(text: str, marks: Sequence[Mark], group: Group, first: int) -> Fields:
    """The values of an item's fields."""
    response = group.marks["response"]
    behind = [m for m in group.marks.values() if m.start > response.start]
    closing = any(m.ends and m.start < response.start for m in marks)
    text, fence = _without_fence(text, group)
    values = {
        name: _trusted(text, mark, marks, group)
        for name, mark in group.marks.items()
        if mark.start < response.start
    }
    labels = {name: _shown(text, mark) for name, mark in group.marks.items()}
    if behind:
        end = min(mark.start for mark in behind)
        raw = text[response.end : end]
        values["response"] = _unclosed(raw, response, closing)
        tail = ""
        for mark in behind:
            name = next(name for name, own in group.marks.items() if own is mark)
            values[name], tail = _trusted_last(text, mark, marks, group)
        trusted = True
    else:
        container = _container(text[: group.start])
        values["response"], tail, trusted = _untrusted(
            text[response.end :], response, container, closing=closing
        )
    trusted = trusted or 0 <= fence <= len(text) - len(tail)
    if response.form == WITHIN and all(value.rstrip().endswith(".") for value in values.values()):
        values = {name: value.rstrip()[:-1] for name, value in values.items()}
    values = _unquoted({name: _unfenced(_unruled(value)) for name, value in values.items()})
    values["reference"] = _without_parentheses(values["reference"])
    for name, mark in group.marks.items():
        if mark.form == SAID or (name == "reference" and _IS.search(mark.label)):
            values[name] = _unquoted({name: values[name].removesuffix(".")})[name]
    if all(_DESCRIPTION.match(values[name]) for name in NEEDED):
        raise FieldsError("the fields begin with a description of what they are")
    before, examples = text[:first], text[first : group.start]
    return Fields(values, labels, before, examples, tail, trusted)


_DESCRIPTION: Final = re.compile(
    r"[\[(（【][^\[\]\n]{0,80}(?:answer|response|solution|答案|回答|解答)[^\[\]\n]{0,80}[\])）】]"
)
_IS: Final = re.compile(r" (?:is|was|are)\Z")
"""How a label ends whose value is the end of a sentence."""


def _without_fence(text: str, group: Group) -> tuple[str, int]:
    """The text without the last closing line of a fence that holds all fields, and its place.

    No response can have written what is behind it; -1 where there is no such line.
    """
    fence = _OPENS.search(text[: group.start])
    at = text.rfind("\n" + fence[1], group.marks["response"].end) if fence else -1
    if fence is None or at < 0:
        return text, -1
    return text[:at] + "\n\n" + text[at + 1 + len(fence[1]) :], at


_OPENS: Final = re.compile(r"(```|\'\'\'|\"\"\")\w*[ \t]*\n?\Z")


def _container(before: str) -> str:
    """The end mark of what holds all fields: ``[END DATA]``."""
    opened = _BEGIN.search(before)
    return f"{opened[1]}{'END' if opened[2].isupper() else 'End'}{opened[3]}" if opened else ""


_BEGIN: Final = re.compile(
    r"([\[<])(BEGIN|Begin|START|Start)((?:[ _]\w+){1,3}[\]>])[ \t]*\n(?:[ \t]*[*=-]{3,}[ \t]*\n)?\Z"
)


def _trusted(text: str, mark: Mark, marks: Sequence[Mark], group: Group) -> str:
    """A field before the response: it ends at the next mark of its kind, or of any field."""
    own = set(group.marks.values())
    end = next((m.start for m in marks if m.start >= mark.end and _bounds(m, mark, own)), len(text))
    value = text[mark.end : end]
    if mark.role != "question":
        value = split_tail(value).value
    return _unclosed(value, mark, closing=False)


def _bounds(other: Mark, mark: Mark, own: set[Mark]) -> bool:
    if other in own or other.ends:
        return True
    if mark.role != "question" and other.role == "other" and other.form == mark.form == ":":
        raise FieldsError("between the fields there is a label that is not known")
    return other.role == "other" and other.form in ("#", "=", mark.form)


def _trusted_last(text: str, mark: Mark, marks: Sequence[Mark], group: Group) -> tuple[str, str]:
    """A field behind the response, and the caller's text after it."""
    own = set(group.marks.values())
    behind = [m for m in marks if m.start >= mark.end and not (m.role == "other" and m.form == ":")]
    end = next((m.start for m in behind if _bounds(m, mark, own)), len(text))
    split = split_tail(text[mark.end : end])
    if not split.clear:
        raise FieldsError("it is not clear where the reference answer ends")
    return _unclosed(split.value, mark, closing=False), split.tail + "\n" + text[end:]


def _untrusted(text: str, mark: Mark, container: str, *, closing: bool) -> tuple[str, str, bool]:
    """The response at the end of a prompt, the text after it, and whether that is the caller's."""
    if container:
        text, found, after = text.rpartition(container)
        if found:
            closer = closer_of(text, mark)
            return text[: closer.start() if closer else None], after, True
        raise FieldsError(f"{container} is missing")
    closer = closer_of(text, mark)
    if closer is not None:
        return text[: closer.start()], text[closer.end() :], True
    if closing and mark.form in "<[":
        raise FieldsError("the response has no closing tag, which the other fields have")
    split = split_tail(text, sentences=mark.form == WITHIN)
    fenced = _FENCED.match(split.value)
    if not split.clear and not fenced:
        raise FieldsError("it is not clear where the response ends and the instructions go on")
    return split.value, split.tail, fenced is not None


_FENCED: Final = re.compile(
    r"\s*(?P<fence>```|\"\"\"|''')\w*[ \t]*\n(?P<value>.*)\n[ \t]*(?P=fence)\s*\Z", re.DOTALL
)


def _unfenced(value: str) -> str:
    fenced = _FENCED.match(value)
    return fenced["value"].strip() if fenced else value.strip()


_RULE: Final = re.compile(
    r"[ \t]*(?:[-=*_~#]{2,}|[\[<|(=*#-]+\s*(?:end|结束)\s*[\]>|)=*#-]+)", re.IGNORECASE
)
"""A line at the end of a field that only separates it from the next."""


def _unruled(value: str) -> str:
    head, newline, line = value.rstrip().rpartition("\n")
    return (head if newline and _RULE.fullmatch(line) else value).rstrip(" \t\n|")


def _unclosed(value: str, mark: Mark, closing: bool) -> str:
    closer = closer_of(value, mark)
    return value[: closer.start()] if closer else value


def _unquoted(values: dict[str, str]) -> dict[str, str]:
    """Without the quotes, where every field has them."""
    for first, last in (*((q, q) for q in ('"""', "'''", "```", '"', "'", "`")), ("“", "”")):
        size = len(first)
        if all(
            len(v) >= 2 * size and v.startswith(first) and v.endswith(last) for v in values.values()
        ):
            return {name: value[size:-size].strip() for name, value in values.items()}
    return values


def _without_parentheses(reference: str) -> str:
    """The reference without the parentheses around it as a whole, if it is one value."""
    inner = reference[1:-1]
    whole = reference[:1] + reference[-1:] == "()"
    return inner if whole and not re.search(r"[(),，;；]", inner) else reference


def _shown(text: str, mark: Mark) -> str:
    return text[mark.start : mark.end].strip().lstrip("-+• \t")


def _check_own(before: str) -> None:
    """Refuse an object behind a label of a field: a response may have written it."""
    marks = [mark for mark in marks_of(before) if not is_described(mark, before)]
    check_before(before, marks)
    if any(mark.role in NEEDED or mark.role == "either" for mark in marks):
        raise FieldsError("a response may have written the object")


_MOST_OBJECTS: Final = 8


def _from_json(text: str) -> Fields | None:
    """The fields of a JSON object in the text, whose response cannot leave its string."""
    decoder, at = json.JSONDecoder(strict=False), -1
    for _ in range(_MOST_OBJECTS):
        at = text.find("{", at + 1)
        if at < 0:
            return None
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        fields = _named(value) if isinstance(value, dict) else {}
        if all(name in fields for name in NEEDED):
            _check_own(text[:at])
            values = {name: str(value[key]) for name, key in fields.items()}
            return Fields(values, fields, text[:at], "", text[end:], trusted=True)
    return None


def _named(value: dict[str, object]) -> dict[str, str]:
    """The keys of the fields, by field; nothing where two keys name one."""
    roles = [(role_of(key), key) for key in value if isinstance(value[key], str | int | float)]
    has = {role for role, _ in roles}
    other = "response" if "reference" in has else "reference"
    named = [(other if role == "either" else role, key) for role, key in roles if role != "other"]
    if sum(role == "question" for role, _ in named) > 1:  # "task" beside "question"
        named = [(role, key) for role, key in named if role != "question" or not weak(key)]
    fields = dict(named)
    return fields if len(fields) == len(named) else {}
