"""Compare names and lists of names with a response in the other language.

A response answers with a run of names, one or several that are joined, where an answer stands:
first or after a verb or preposition, and before a mark. One with another known name of its kind in
the place of one of the reference's is another. What is only mentioned or not known stays open.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from gradegpt.answers.names import Name, installed, names, read
from gradegpt.answers.options import half_width
from gradegpt.answers.text import plain
from gradegpt.rules.bind import Mention
from gradegpt.rules.compare.base import Shown
from gradegpt.rules.cues import cue
from gradegpt.rules.stance import clauses, commitment, denies

NEEDS_NAMES: Final = Shown(None, "text:needs-names", 0, 0)
_MARKS: Final = " 《》“”\"'.。*()（）"
_JOINT = re.compile(r"》\s*(?:和|与)?\s*《|[、,，;；]|→|->")
_AND = re.compile(r"\band\b|和|与|以及")
_JOINS, _BEFORE, _AFTER = cue("joins names"), cue("before a name"), cue("after a name")
_ORDERED, _PAIRED = cue("asks for an order"), cue("asks for pairs")


class _Run(NamedTuple):
    """Joined names, where they begin with and without qualifying words; whether they are right."""

    names: list[Name]
    begins: tuple[int, ...]
    same: bool | None = None

    @property
    def span(self) -> tuple[int, int]:
        return self.names[0].start, self.names[-1].end

    def stands(self, text: str) -> bool:
        """Whether it stands where an answer does."""
        begins_it = self.same and not text[: self.begins[0]].strip()
        said = begins_it and cue("says of a name").match(text, self.span[1])
        before = any(_BEFORE.search(text[max(0, at - 40) : at]) for at in self.begins)
        return before and bool(said or _AFTER.match(text, self.span[1]))


def compare_names(reference: str, response: str, question: str) -> Shown | None:
    """Whether a response in another language gives the names of the reference.

    None if that is not shown; ``NEEDS_NAMES`` if the dictionary is needed and not installed.
    """
    if len(reference) > 160 or plain(reference) in plain(response):
        return None
    if not installed():
        return NEEDS_NAMES
    wanted = [
        read(name)
        for piece in _JOINT.split(reference)
        for text in ([piece] if read(piece.strip(_MARKS)).listed else _AND.split(piece))
        if (name := text.strip(_MARKS))
    ]  # War and Peace is one name
    chosen = _committed(wanted, response, question) if wanted else None
    if chosen is None or chosen.same is None or not chosen.stands(response):
        return None
    if len(wanted) > 1 and (_PAIRED.search(question) or denies(response, *chosen.span)):
        return None
    kind = f"{'same' if chosen.same else 'other'}{'-list' * (len(wanted) > 1)}"
    return Shown(chosen.same, f"text:{kind}-by-dictionary", *chosen.span)


def _committed(wanted: Sequence[Name], response: str, question: str) -> _Run | None:
    """The run of names, those of the reference or others, to which the response commits."""
    said, asked, text = names(response, wanted), names(question, wanted), half_width(response)
    ordered = _ORDERED.search(question) is not None
    spoken = dict[Mention, _Run]()
    for found in _runs(said, response, listed=len(wanted) > 1):
        last, right = found.names[-1], _is_same(wanted, found.names, ordered, said)
        run, named = found._replace(same=right), last.text.lower() in question.lower()
        if len(wanted) == 1 and (named or (not run.same and any(x.is_(last) for x in asked))):
            continue  # what the question names is no answer
        mention = Mention(text[slice(*run.span)], *run.span)
        (clause,) = clauses(text, [mention])
        meant = run.same or (run.same is False and run.stands(response))
        if meant or (last.proper and (clause.denied or clause.aside)):
            spoken[mention] = run

    def same(one: Mention, other: Mention) -> bool:
        return spoken[one].same is spoken[other].same

    chosen = commitment(text, clauses(text, [*spoken]), same)
    return spoken[chosen.mention] if chosen else None


def _runs(said: Sequence[Name], text: str, listed: bool = True) -> list[_Run]:
    """The names of a text in runs; one directly before another qualifies it: Admiral Zheng He.

    Where no list is expected, a comma joins no names of two kinds: "in Lausanne, Switzerland".
    """
    made = list[_Run]()
    for one in said:
        last = made[-1] if made else _Run([one], (len(text),))
        end, gap = last.span[1], text[last.span[1] : one.start] if made else "."
        comma = gap.strip() in (",", "，") and not (listed or last.names[-1].kinds & one.kinds)
        if _JOINS.fullmatch(gap) and not comma:
            made[-1] = last._replace(names=[*last.names, one])
        elif gap.strip(" ") or _AFTER.match(text, end):
            made.append(_Run([one], (one.start,)))
        else:
            begins = (*last.begins, one.start) if len(last.names) == 1 else last.begins
            made[-1] = _Run([*last.names[:-1], one], begins)
    return made


def _is_same(
    wanted: Sequence[Name], run: Sequence[Name], ordered: bool, said: Sequence[Name]
) -> bool | None:
    """Whether a run has the names that are wanted; False with another one in the place of one."""
    kinds = frozenset.intersection(*(one.kinds for one in wanted))
    given = [n for n in run if not kinds or not n.kinds or n.kinds & kinds]
    places = [[i for i, one in enumerate(wanted) if one.is_(name)] for name in given]
    order = [place[0] for place in places if place]
    missing = [one for i, one in enumerate(wanted) if i not in order]
    if len(given) != len(wanted) or len({*order}) < len(order) or any(len(p) > 1 for p in places):
        return None
    if not missing:
        several = kinds and any(one.kinds - kinds for one in wanted)
        if several and not all(name.kinds & kinds for name in given):
            return None  # 水银 is no planet, though it may be Mercury
        return True if order == sorted(order) or not ordered else None
    other = given[places.index([])]
    of_kind = len(wanted) > 1 or (missing[0].kinds & other.kinds and other.proper)
    if len(missing) > 1 or not missing[0].listed or not of_kind:
        return None
    rest = (n for n in said if n in given or (n.kinds & kinds and not missing[0].is_(n)))
    return None if any(map(missing[0].is_like, rest)) else False
