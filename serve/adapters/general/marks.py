"""Labels, headings and tags at the beginnings of lines: where fields may begin."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from .labels import Role, known, owner, role_of, weak

_LINE: Final = re.compile(
    r"^[ \t]*+(?:(?:[-+•>]|\*(?=\s)|\(?\d{1,2}[.)、）]|[一二三四五六七八九十]、)[ \t]*+)?"
    r"(?P<open>(?:[#=*_\[【〖《「『<{|/\"'`~-]++[ \t]*+)*+)"
    r"(?P<label>[^\W\d_][^\n:：\]】〗》」』><}|\"`*#=~]{0,60}+)"
    r"(?P<close>[\]】〗》」』>}|]++[\"'`*=]*+|"
    r"[\"'`*#=~-]*+)[ \t]*+(?P<colon>[:：]?)(?P<after>\**+)",
    re.MULTILINE,
)
_ENDING: Final = re.compile(
    r"\A(?:(?:the )?end (?:of )?(?:the )?)|\b(?:ends?|_end)\s*\Z|(?:结束|完毕)\Z", re.IGNORECASE
)
_UNDERLINE: Final = re.compile(r"[ \t]*\n[ \t]*(?:={3,}|-{3,})[ \t]*$", re.MULTILINE)
_MOST_WORDS: Final = 7
_FIELDS: Final = ("question", "reference", "response")
_CAPITAL: Final = re.compile(r"[A-Z\u4e00-\u9fff]")
_WITHIN: Final = re.compile(
    r"(?<=[^\n:：][ \t])(?P<label>[A-Z][\w'’-]*+(?:[ \t][\w'’-]++){0,3}|[a-z_]++)"
    r"[ \t]?[:：](?=[ \t])"
)
"""A label in the middle of a line: words from a capital on, or one word."""
_SAID: Final = re.compile(
    r"(?:^|(?<=[.!?]))[ \t]*+(?P<label>[^\W\d_][\w '’-]{2,60}? (?:is|was|are)|"
    r"[\u4e00-\u9fff]{2,12}?[是为])[ \t]*+(?:(?=[\"'“‘「])|\n)",
    re.MULTILINE,
)
"""A sentence whose value is in quotes, or on the next line: ``The expected answer is '4'``."""
SAID: Final = "'"
KEY: Final = '"'
"""The form of a key of JSON, which is the label of no field."""
_QUOTES: Final = ("'", '"', "`")
WITHIN: Final = ","
"""The form of such a label."""


class Mark(NamedTuple):
    """A label: its role, its text as written, its form (``#``, ``[``, ``<``, ``:``) and its span.

    ``ends`` marks the end of a field, as ``</response>`` and ``[End Response]`` do.
    """

    role: Role
    label: str
    form: str
    start: int
    end: int
    ends: bool = False

    @property
    def weak(self) -> bool:
        """Whether instructions to a judge have this label, too."""
        return weak(self.label)


def marks_of(text: str) -> list[Mark]:
    """The marks of ``text`` in their order; of two around one value only the inner."""
    found = [mark for match in _LINE.finditer(text) if (mark := _mark(match, text))]
    said = _said(text)
    marks: list[Mark] = []
    for mark in sorted([*found, *said], key=lambda mark: mark.start) if said else found:
        before = marks[-1] if marks else None
        if (
            before
            and not before.ends
            and before.role in _FIELDS
            and not text[before.end : mark.start].strip()
        ):
            if mark.role == before.role and not mark.ends:
                marks[-1] = mark._replace(start=before.start)
                continue
            if mark.role == "either" and before.role == "reference" and mark.form == "<":
                continue
        marks.append(mark)
    return marks


def marks_within(text: str, marks: list[Mark]) -> list[Mark]:
    """The marks with labels in the middle of a line, up to the response and the reference."""
    within: list[Mark] = []
    missing: set[Role] = {"reference", "response"}
    first = {mark.role: mark.start for mark in reversed(marks)}
    for match in _WITHIN.finditer(text):
        mark = _within(match)
        if mark is not None:
            within.append(mark)
            missing.discard(mark.role)
        if all(first.get(role, match.end()) < match.start() for role in missing):
            break
    ends = {mark.end for mark in within}
    return sorted([*(m for m in marks if m.end not in ends), *within], key=lambda mark: mark.start)


def _within(match: re.Match[str]) -> Mark | None:
    """The longest end of a run of words that names a field in words that are all known."""
    words = [(m[0], m.start()) for m in re.finditer(r"\S+", match["label"])]
    for _, start in words:
        label = match["label"][start:]
        if role_of(label) in _FIELDS and known(label) and (label[0].isupper() or not start):
            at = match.start("label") + start
            return Mark(role_of(label), label, WITHIN, at, match.end())
    return None


def _said(text: str) -> list[Mark]:
    """The sentences that name fields, where they name both: else they are a response's own."""
    said = [
        Mark(role_of(match["label"]), match["label"], SAID, match.start(), match.end())
        for match in _SAID.finditer(text)
    ]
    roles = {mark.role for mark in said}
    return said if {"reference", "response"} <= roles else []


def _mark(match: re.Match[str], text: str) -> Mark | None:
    label = match["label"].rstrip(" \t-")
    opening, closed = match["open"], match["close"] or "-" * match["label"].endswith("--")
    form, end = _form(opening), match.end()
    if match["colon"] and opening[-1:] in _QUOTES and closed[:1] == opening[-1:]:
        return Mark("other", label, KEY, match.start(), end)
    if form == ":" and not match["colon"] and not _may_head(match, text):
        return None
    ends = form in "[<=*#" and ("/" in opening or _ENDING.search(label) is not None)
    role = role_of(_ENDING.sub("", label) if ends else label)
    if form == ":" and role != "other" and (underline := _UNDERLINE.match(text, end)):
        form, end = "#", underline.end()
    elif form == ":" and not match["colon"]:
        if (role == "other" and not owner(label)) or not _is_heading(match, text):
            return None
        form = ":" if match["close"] == "=" else "#"
    elif not match["colon"] and not _alone(match, text, form, bool(closed)):
        return None
    if role == "other" and (len(label.split()) > _MOST_WORDS or not _is_label(match, form)):
        return None
    return Mark(role, label, form, match.start(), end, ends)


def _may_head(match: re.Match[str], text: str) -> bool:
    """Whether a line without a colon may be a heading, by its length and its end."""
    label = match["label"]
    ended = (
        text[match.end() : match.end() + 1] in ("", "\n", "\r") and label[-1] not in ".?!。？！,"
    )
    return match["close"] == "=" or (ended and len(label.split()) <= _MOST_WORDS)


def _is_heading(match: re.Match[str], text: str) -> bool:
    """Whether a label without decoration is a heading: its line is in capitals or set off.

    Also ``reference = ``, as a line of settings.
    """
    if match["close"] == "=":
        return not match["open"] and text[match.end() - 1] == " "
    line, end = text[match.start() : match.end()], match.end()
    if match["open"] or match["close"] or text[end : end + 1] not in ("", "\n", "\r"):
        return False
    before, after = text[max(0, match.start() - 2) : match.start()], text[end + 1 : end + 2]
    set_off = before in ("", "\n\n") and after.strip() != "" and _CAPITAL.match(line) is not None
    return known(line) and (line.isupper() or (set_off and role_of(line) != "either"))


def _form(opening: str) -> str:
    for form in "#=[【《〖「『<*":
        if form in opening:
            return "[" if form in "【《〖「『" else form
    return "=" if opening.startswith("--") else ":"


def _alone(match: re.Match[str], text: str, form: str, closed: bool) -> bool:
    """Whether the decoration makes a mark without a colon."""
    if form in "[<":
        return closed
    rest = text[match.end() : match.end() + 1]
    return rest in ("", "\n", "\r") and (form == "#" or closed)


def _is_label(match: re.Match[str], form: str) -> bool:
    return (
        form != ":"
        or match["close"] == "="
        or _CAPITAL.match(match["label"]) is not None
        or owner(match["label"])
    )
