"""Compare names and lists of names in two languages, by the dictionary.

A name that the dictionary does not have stays open; so does one that is only mentioned.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from gradegpt.answers.dictionary import HAN, installed, translations
from gradegpt.answers.text import plain
from gradegpt.rules.compare.base import Comparison
from gradegpt.rules.stance import takes_back

_MOST: Final = 8
"""Most names of a list."""
_LONGEST: Final = 120
_JOINT = re.compile(r"》\s*《|[、,，]\s*(?:and |和|以及)?")
_AND = re.compile(r"\band\b|和|与|以及")
_SENTENCE = re.compile(r"[^。.!！?？;；\n]+")
_LEAD = re.compile(r".*(?:[:：]|是|为|有|\bare\b|\bis\b|\binclude\b)", re.DOTALL)
_ORDERED = re.compile(
    r"\b(?:respectively|order|sequence|rank\w*|sort\w*|arrange\w*)\b|\bfrom .{2,30} to\b"
    r"|排序|排列|分别|依次|顺序|从.{1,12}到",
    re.IGNORECASE,
)
_SHORT: Final = 40
_IS: Final = ("is", "was", "are", "were", "called", "named", "是", "为", "叫", "即")
_VERB = re.compile(r"\b(?:is|was|are|were|called|named|in|at|to|by|for|of)\b|[是为叫即在到于]")
_SAID = re.compile(
    r".*(?P<verb>\b(?:is|was|are|were|called|named|in|at|to|by|for|with)\b|[是为叫即在到于成])"
    r"(?:[^是为叫即在到于]{1,12}的)?\s*(?P<name>[《“\"']?[^《》]{1,60}?[》”\"']?)\s*\Z",
    re.DOTALL | re.IGNORECASE,
)
"""The last verb or preposition of a clause, and the name at its end."""
_DENIES = re.compile(
    r"\b(?:not|never|neither|nor|or)\b|n['’]t\b|[不没未]|并非|而非|或", re.IGNORECASE
)
_WORD = re.compile(r"[\u3400-\u9fff]|(?!(?:the|and|for)\b)[a-z]{3,}")
_MARKS: Final = " 《》“”\"'.。"


def compare_across(reference: str, answer: str, question: str) -> Comparison | None:
    """Whether an answer in the other language gives the reference; None if that is not shown."""
    if bool(HAN.search(reference)) is bool(HAN.search(answer)) or len(reference) > _LONGEST:
        return None
    if not installed():
        return None
    wanted = _names(reference)
    if len(wanted) == 1:
        return _one(reference, answer, question)
    return _several(wanted, answer, question) if len(wanted) <= _MOST else None


def _names(text: str) -> list[str]:
    """The names of a list; one name where "and" is a part of it: War and Peace."""
    pieces = _JOINT.split(text)
    if not translations(text):
        pieces[-1:] = _AND.split(pieces[-1])
    return [name for piece in pieces if (name := piece.strip(_MARKS))]


def _one(reference: str, answer: str, question: str) -> Comparison | None:
    """Whether a name of the reference, or another known name in its place, is asserted."""
    names = {plain(name) for name in translations(reference)}
    if not names:
        return None
    said = [slot for slot in asserted(answer) if translations(slot.text)]
    if not said or takes_back(answer):
        return None
    last = said[-1]
    if plain(last.text) in names and plain(last.text) not in plain(question):
        return Comparison(True, "text:same-by-dictionary")
    if any(name in plain(answer) for name in names):
        return None
    english = last.text if HAN.search(reference) else reference
    known = last.identifies and english[:1].isupper() and not _alike(reference, last.text)
    return Comparison(False, "text:other-by-dictionary") if known else None


def _alike(one: str, other: str) -> bool:
    """Whether two names, in whichever language, share a word or a character in a translation."""
    left, right = (
        {word[:3] for name in (n, *translations(n)) for word in _WORD.findall(name.lower())}
        for n in (one, other)
    )
    return bool(left & right)


class Slot(NamedTuple):
    """The end of a clause after a verb or preposition; ``identifies``: after "is", in the end."""

    text: str
    identifies: bool


def asserted(answer: str) -> list[Slot]:
    """What the clauses of an answer end in, or the whole of a short one; not where they deny it."""
    if len(answer) <= _SHORT and not _VERB.search(answer):
        return [Slot(answer.strip(_MARKS), identifies=True)]
    clauses = [c for s in _SENTENCE.findall(answer) for c in re.split("[,，]", s) if c.strip()]
    made = []
    for number, clause in enumerate(clauses, start=1):
        said = None if _DENIES.search(clause) else _SAID.search(clause)
        if said is not None:
            identifies = said["verb"].lower() in _IS and number == len(clauses)
            made.append(Slot(said["name"].strip(_MARKS), identifies))
    return made


def _several(wanted: Sequence[str], answer: str, question: str) -> Comparison | None:
    sentences = _SENTENCE.findall(answer)
    given = _names(_LEAD.sub("", sentences[-1])) if sentences else []
    if len(given) != len(wanted):
        return None
    meant = [{plain(name) for name in translations(one)} for one in wanted]
    if not all(meant):
        return None
    if _ORDERED.search(question):
        same = all(plain(one) in names for one, names in zip(given, meant, strict=True))
        return Comparison(True, "text:same-list-by-dictionary") if same else None
    left = [plain(one) for one in given]
    for names in meant:
        if found := next((one for one in left if one in names), None):
            left.remove(found)
    if not left:
        return Comparison(True, "text:same-list-by-dictionary")
    here = {plain(one) for one in given}
    open_ = [one for one, names in zip(wanted, meant, strict=True) if not names & here]
    known = all(translations(one) for one in left)
    known = known and not any(_alike(one, other) for one in open_ for other in left)
    return Comparison(False, "text:other-list-by-dictionary") if known else None
