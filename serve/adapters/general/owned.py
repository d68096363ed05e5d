"""Whether the labels of an item are the caller's, or a response may have written them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from .headings import heads
from .items import ASIDES, BARE, NEEDED, FieldsError, Group
from .labels import mentions_answer, role_of, squashed
from .marks import Mark
from .tail import instructs
from .words import LABELLED, REFERENCE

_INLINE: Final = re.compile(
    r"(?<=[\w.,;?!)|}])[ \t]+(?:reference(?: answer)?|ground[- ]truth(?: answer)?|"
    r"gold(?:en)? answer|"
    r"(?:correct|expected|right) answer|prediction|(?:student|model)(?: answer)|response)"
    r"[ \t]*:[ \t]",
    re.IGNORECASE,
)


def check_owned(group: Group, marks: Sequence[Mark], text: str, above: str) -> None:
    """Refuse an item some of whose labels a response may have written.

    What comes before the label of the response is the caller's. A label behind it is the caller's
    where it also comes behind the closing tag of the response. Otherwise the text before must
    speak of a reference (``above`` is more of that text), and must have no line that could be a
    reference without a label: else the response could supply the label that a prompt lacks.
    """
    response = group.marks["response"]
    first = min(group.marks[name].start for name in NEEDED)
    if _INLINE.search(text, 0, first):
        raise FieldsError("there are labels in the middle of a line")
    begin = min(mark.start for mark in group.marks.values())
    if any(
        m.role == "other" and begin < m.start < first and mentions_answer(m.label) for m in marks
    ):
        raise FieldsError("between the fields there is a label that is not known")
    behind = [mark for mark in group.marks.values() if mark.start > response.start]
    if not behind:
        return
    if _closes(group, text):
        closer = closer_of(text[response.end :], response)
        if closer is None or response.end + closer.start() > min(m.start for m in behind):
            raise FieldsError("a label may be inside the response")
        return
    before = text[: response.start]
    spoken = REFERENCE.search(_NO_REFERENCE.sub(" ", f"{above}\n{before}".replace("_", " ")))
    if spoken is None or group.marks["reference"] not in behind:
        raise FieldsError("a response may have written the label behind it")
    if "question" in group.marks and group.marks["question"] in behind:
        raise FieldsError("a response may have written the label of the question")
    _check_labelled(group, marks, text)


_NO_REFERENCE: Final = re.compile(
    r"\b(?:without|no|not given)\b[^.\n]{0,20}|(?:没有|无|不提供)[^。\n]{0,8}", re.IGNORECASE
)


def _closes(group: Group, text: str) -> bool:
    """Whether the caller closes the response: its label says so, or an earlier field is closed."""
    response = group.marks["response"]
    if response.form not in "<[*=":
        return False
    earlier = [m for m in group.marks.values() if m.end <= response.start]
    return _BEGINS.search(response.label) is not None or any(
        m.form == response.form and closer_of(text[m.end : response.start], m) for m in earlier
    )


_BEGINS: Final = re.compile(r"\b(?:begin|start)|开始", re.IGNORECASE)


def _check_labelled(group: Group, marks: Sequence[Mark], text: str) -> None:
    """Refuse a label that is not known, or a line without a label, that may be a reference."""
    response = group.marks["response"]
    first = min(mark.start for mark in group.marks.values())
    start = text.rfind("\n\n", 0, len(text[:first].rstrip())) + 1
    for mark in marks:
        unknown = mark.role == "other" and not mark.ends and start <= mark.start < response.start
        if unknown and len(mark.label) > 1 and squashed(mark.label) not in ASIDES:
            value = text[mark.end : following(mark, marks, text)]
            if BARE.fullmatch(value.strip()):  # the verdict of an example
                continue
            if heads(mark.label) and all(map(_is_complete, _WRAPPED.sub(" ", value).split("\n"))):
                continue
            if value.strip() and (mark.form != ":" or value[0] != "\n"):
                raise FieldsError("between the fields there is a label that is not known")
    question = group.marks.get("question")
    asked = text[question.end : response.start].strip() if question else ""
    head, _, rest = asked.partition("\n")
    above = [line for line in _WRAPPED.sub(" ", text[start:first]).split("\n") if not _labels(line)]
    for line in [*above, *rest.split("\n")]:
        if not _is_complete(line):
            raise FieldsError("before the response there is a line without a label")
    if _KEY_AFTER.search(head) or _KEY.search(asked):
        raise FieldsError("the question may hold a reference without a label")


def _labels(line: str) -> bool:
    """Whether a line above an item, as in an example, has the label of a field or a verdict."""
    labelled = re.match(r"\W*([^:：\n]{1,60})[:：]", line)
    return labelled is not None and (
        role_of(labelled[1]) != "other" or LABELLED.match(line) is not None
    )


def _is_complete(line: str) -> bool:
    return _COMPLETE.fullmatch(line.strip()) is not None or instructs(line)


def following(mark: Mark, marks: Sequence[Mark], text: str) -> int:
    """Where the next mark begins."""
    return next((other.start for other in marks if other.start >= mark.end), len(text))


_WRAPPED: Final = re.compile(r"\n[ \t]*(?=[a-z])")
_COMPLETE: Final = re.compile(
    r"\W*|[^\w\s].*|\(?[A-J][.):、．）].*|\d+[.)、].*|.*[^\w\s]", re.DOTALL
)
"""A line that is a sentence, an option, a formula, a heading or a rule."""
_KEY_AFTER: Final = re.compile(r"[?？][ \t]*[\w]+(?:[ \t]+\w+){0,4}\Z")
_KEY: Final = re.compile(
    r"\b(?:the |answer )?key\b|\banswer (?:is|=)|答案(?:是|为)|参考答案|标准答案", re.IGNORECASE
)


def closer_of(text: str, mark: Mark) -> re.Match[str] | None:
    """The last closing tag of a mark's own name."""
    if mark.form not in "<[*=":
        return None
    name = re.escape(
        re.sub(r"(?i)\b(?:the )?(?:begin|start)(?: of)?(?: the)?\b|开始", "", mark.label).strip()
    )
    pattern = (
        rf"(?i)</\s*{name}\s*>|[\[【<=*|]+\s*(?:/|the end of |end of |"
        rf"end[_ ])(?:the )?{name}[^\n\]】>]{{0,12}}[\]】>=*|]+|"
        rf"[\[【<]\s*{name}\s*(?:end|ends|结束)\s*[\]】>]"
    )
    last = None
    for last in re.finditer(pattern, text):  # noqa: B007  the last one is wanted
        pass
    return last
