"""The stance of a response to an answer: affirmed, denied, doubted, attributed or taken back.

The words are in ``cues.tsv``. They are looked for in the clause of an answer, directly after it and
at the beginning of later sentences; words that are not known there leave a response open.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from gradegpt.answers.spans import sentence_start
from gradegpt.answers.truth import truth
from gradegpt.rules.bind import Mention
from gradegpt.rules.claims import Found, How
from gradegpt.rules.cues import cue

_REACH: Final = 80
_SOON: Final = 12
"""Characters before and after an answer that are searched."""
_NEGATION, _HEDGE, _EARLIER, _OTHERS = map(cue, ("negation", "hedge", "earlier", "others"))
_SEVERAL: Final = cue("several")
_REVISES: Final = cue("talk", "negation", "others", "now", "earlier", "refers")
_EXCEPTS: Final = cue("negation", "except")
_DISOWNED: Final = cue(
    "denied", before="(?:", after=r"\s*[$\\({\"“'‘*]*(?:boxed\s*\{)?\Z)|(?:"
    + cue("attributed").pattern + r")\Z",
)  # fmt: skip
"""Words that end before an answer and deny it, or give it to somebody else or an earlier time."""
_AFTER: Final = cue("retracted", before=r"[^\w]{0,8}")
EITHER = re.compile(
    r"(?:\s*\\?%|[\s$]*(?!or\b)[A-Za-z\u3400-\u9fff]+){0,2}?[\s$]*"
    r"(?:或者?(?!更?[多少])|\bor\b(?! (?:so|more|less|fewer|about|in)\b))"
)
"""An alternative directly after an answer."""
_UNDECIDED: Final = cue("quoted", "hearsay", "left open")
_LATER: Final = cue("later", before=r"(?:^|[\n.。!！?？;；:：…”\"])[\s\W]{0,8}?")
PERSON = cue("writer")
_CONTRASTED: Final = re.compile(r"[;,]\s*(?:but|yet)\s+[A-Z][\w']*(?:\s[A-Z][\w']*)*\.?\s*\Z")
"""Another name at the end: "Verdi comes to mind, but Puccini"."""
_SAID_RIGHT: Final = cue("said right", before=r"[\s)）*.]{0,3}")
_DENIED_WHOLE: Final = cue("denies what follows", before=r"\W*")
_JOINT = re.compile(
    r"[,;:!?。、…”\"\n]|(?<!\d)\.|\.(?!\d)|\b(?:and|but|so|which|yet|whereas)\b|但|而|可是"
)
"""The boundaries of clauses."""
Same = Callable[[Mention, Mention], bool]


class Clause(NamedTuple):
    """A mention with its clause, whether the clause denies it, and whether it puts it aside."""

    mention: Mention
    start: int
    end: int
    denied: bool
    aside: bool


def revises(text: str) -> bool:
    """Whether a text has a word of those by which one answer gives way to another."""
    return _REVISES.search(text) is not None


def denies(text: str, start: int = 0, end: int = sys.maxsize) -> bool:
    """Whether a part of a text denies or excepts something."""
    return _EXCEPTS.search(text, start, end) is not None


def clauses(text: str, found: Sequence[Mention]) -> list[Clause]:
    """Each mention of a text in ASCII punctuation with the clause around it."""
    made = list[Clause]()
    for i, one in enumerate(found):
        low = found[i - 1].end if i else 0
        high = found[i + 1].start if i + 1 < len(found) else len(text)
        start = max((m.end() for m in _JOINT.finditer(text, low, one.start)), default=low)
        stop = _JOINT.search(text, one.end, high)
        end = stop.start() if stop else high
        words = f"{text[start : one.start]} \0 {text[one.end : end]}"
        # Whether the words give the answer to somebody else, or to an earlier time.
        others = _OTHERS.search(words) and not PERSON.search(words)
        aside = bool(others or _EARLIER.search(words))
        made.append(Clause(one, start, end, bool(_NEGATION.search(words)), aside))
    return made


def commitment(text: str, named: Sequence[Clause], same: Same) -> Clause | None:
    """The mention to which a text commits; None if it is not shown to.

    The last one that is neither denied nor put aside counts, where no other one is left.
    """
    out = [one.mention for one in named if one.denied]
    live = [one for one in named if not any(same(one.mention, m) for m in out)]
    live = [one for one in live if not one.aside]
    if not live or _SEVERAL.search(text) or takes_back(text, live[-1].mention.end):
        return None
    last = live[-1]
    if any(not same(one.mention, last.mention) for one in live):
        return None
    words = f"{text[last.start : last.mention.start]}\0{text[last.mention.end : last.end + 1]}"
    soon = text[last.end :]
    if all(same(one.mention, last.mention) for one in named):
        soon = soon[:_SOON]
    return None if _HEDGE.search(words) or _HEDGE.search(soon) or _NEGATION.search(soon) else last


def disowned(text: str, found: Found) -> bool:
    """Whether the words around the answer, or a later sentence, deny or retract it."""
    start, (at, end) = found.clause[0], found.place(text)
    before = text[max(sentence_start(text, at), at - _REACH) : at]
    if _DISOWNED.search(before) or _AFTER.match(text[end : end + _REACH]):
        return True
    if _UNDECIDED.search(text, max(min(found.start, start), start - _REACH), max(found.end, end)):
        return True
    word, after = truth(found.answer) is not None, end  # 不对 alone takes nothing back
    if found.how in (How.STATED, How.WHOLE):
        if _CONTRASTED.search(text):
            return True
        end = start
    since = after if word else max(start, end - 1)
    if takes_back(text, since) or (not word and takes_back(found.answer)):
        return True
    return _DENIED_WHOLE.match(found.answer) is not None


def said_right(text: str, found: Found) -> bool:
    """Whether the words after an option call it right: "C is correct", C正确."""
    return bool(len(found.answer) == 1 and _SAID_RIGHT.match(text, found.clause[1]))


def leaves_undecided(text: str, start: int = 0, end: int = sys.maxsize) -> bool:
    """Whether a part of a text leaves the choice between answers open."""
    return _UNDECIDED.search(text, start, end) is not None


def takes_back(text: str, since: int = 0) -> bool:
    """Whether a sentence from ``since`` on retracts the text before it."""
    return _LATER.search(text, since) is not None
