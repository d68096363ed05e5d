"""The caller's text before an item: it must have no label that is not known.

Where the labels of the reference and of the response are both unknown, labels that the response
holds would be taken for those of the item. So the first label that is known is the caller's only
where every line before it that could be a label heads instructions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from .headings import heads
from .items import ASIDES, NEEDED, FieldsError, Group
from .labels import is_order, role_of, squashed
from .marks import KEY, Mark
from .tail import instructs

_UNKNOWN: Final = "before the item there is a label that is not known"
_WIDE: Final = 50
"""Characters from which a line is text, and may be continued on the next."""
_ENDED: Final = re.compile(r"[^\w\s|=$%]\Z")
_LISTED: Final = re.compile(r"[-+*•·#>]|\d{1,2}(?:[.)、]|\s?[=:])\s|[\[{}\]\"(<]|[A-J][.)、]\s")
_FRAMED: Final = re.compile(r"(?P<mark>[*_~|%$@+-])[ \t]*\w[^\n]{0,40}(?P=mark)")
_ADDRESSES: Final = re.compile(r"you\b|your\b|你|请", re.IGNORECASE)
_JOINING: Final = re.compile(r"or|and|或者?|和|then|else|otherwise", re.IGNORECASE)
_TO_A_JUDGE: Final = re.compile(
    r"\b(?:you|your|must|should|shall|include|examples?|instance|e\.g|whether|if|when|either|only|lines?|words?|letters?|"
    r"please|let|consider|rules?|criteria|guidelines?|formats?|json|steps?|instructions?|"
    r"questions? and|for)\b|[请应须需]|如果|示例|例子|格式|规则|步骤|要求|标准[:：]|注意|"
    r"以下(?:情况|标准)",
    re.IGNORECASE,
)
"""What a sentence to a judge has, and the label of an item has not."""
_FIELD: Final = re.compile(
    r"question|problem|answer|response|prediction|reference|ground|gold|solution|"
    r"问题|题目|答案|回答"
)
_PLACEHOLDER: Final = re.compile(
    r"\s*[\"']?\s*(?:[<\[{(.…#]|//|$|(?:str|bool|int|float|string|boolean|number)\b)"
)


def check_before(text: str, marks: Sequence[Mark]) -> None:
    """Refuse an unknown label in ``text``, which ends where the item begins.

    Raises:
        FieldsError: there is one.

    """
    own = [mark for mark in marks if mark.end <= len(text)]
    for mark in own:
        if mark.form == KEY:
            named = role_of(mark.label) in ("question", "reference", "response")
            if named and not _PLACEHOLDER.match(text, mark.end):
                raise FieldsError(_UNKNOWN)
        elif mark.role == "other" and not mark.ends and not _is_known(mark.label):
            raise FieldsError(_UNKNOWN)
    labelled = {text.count("\n", 0, at) for mark in own for at in (mark.start, mark.end)}
    wrapped = False
    for number, line in enumerate(map(str.strip, text.split("\n"))):
        under_heading = wrapped or number - 1 in labelled
        if number not in labelled and not under_heading and not _is_text(line):
            raise FieldsError(_UNKNOWN)
        wrapped = len(line) >= _WIDE and _ENDED.search(line) is None


def check_question(group: Group, marks: Sequence[Mark], text: str) -> None:
    """Refuse an unknown label between the question's and the first of the answers'.

    ``Task`` is a label of a question, or of the instructions.
    """
    first = min(group.marks[name].start for name in NEEDED)
    question = group.marks.get("question")
    if question is None:
        return
    if question.weak and question.form not in "<[" and question.end < first:
        check_before(text[question.end : first], ())
    for mark in marks:
        between = mark.role == "other" and not mark.ends and question.start < mark.start < first
        if between and not _is_known(mark.label):
            raise FieldsError("between the fields there is a label that is not known")


def _is_text(line: str) -> bool:
    """Whether a line is a sentence, an entry of a list, or a heading of instructions."""
    if line.rstrip("*_ ").endswith((":", "：")):
        several = len(set(_FIELD.findall(line.lower()))) > 1  # the fields of an item, announced
        return several or bool(_TO_A_JUDGE.search(line)) or is_order(line) or instructs(line)
    if _FRAMED.fullmatch(line):
        return heads(line)
    plain = len(line) >= _WIDE or _ENDED.search(line) or _LISTED.match(line)
    plain = plain or _JOINING.fullmatch(line) or _ADDRESSES.match(line)
    return not line or bool(plain) or heads(line) or is_order(line) or instructs(line)


def _is_known(label: str) -> bool:
    """Whether a label is one of instructions, or of what belongs to a question."""
    main = label.split("(")[0].split("（")[0]
    named = heads(main) or is_order(main) or (len(label) == 1 and label.isascii())
    return named or squashed(label) in ASIDES or _TO_A_JUDGE.search(label) is not None
