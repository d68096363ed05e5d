"""Compare names, lists and pairs of names with a response in the other language.

A response answers with a run of names, one or several that are joined, where an answer stands:
first or after a verb or preposition, and before a mark. A run of the reference's names is the same;
one with another known name of the same kind in the place of one is another. What is only mentioned,
or is not known, stays open.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from gradegpt.answers.names import HAN, Name, installed, names, read
from gradegpt.answers.options import half_width
from gradegpt.answers.text import plain
from gradegpt.rules.compare.base import Shown
from gradegpt.rules.extract.mentions import Mention
from gradegpt.rules.stance import alone, clauses, commitment, denies, takes_stance

NEEDS_NAMES: Final = Shown(None, "text:needs-names", 0, 0)
_MOST: Final = 8
"""Names of a list at most."""
_LONGEST: Final = 160
_MARKS: Final = " 《》“”\"'.。*()（）"
_NO_NAMES = re.compile(r"\d{2}|(?<![A-Z])\d|[=+\\^{}|<>()（）]")
"""Signs of a reference that is more than names."""
_RESPECTIVELY = re.compile(r"[,，]?\s*\brespectively\b\.?|分别[是为]?", re.IGNORECASE)
_JOINT = re.compile(r"》\s*(?:和|与|、|，)?\s*《|(?:[、,，;；]|→|->)\s*(?:and |和|以及)?")
_AND = re.compile(r"\band\b|和|与|以及")
_OF = re.compile(r"\s*(?:——?|–|:|：)\s*")
"""What joins a thing and its name."""
_JOINS = re.compile(
    r"[\s》”\"*]*(?:[、,，;；和与及&]|》\s*《|以及|还有|外加|\b(?:and|then|plus|as well as)\b)"
    r"(?:[\s《“\"*]|[、,，和与]|以及|\b(?:and|then|finally|lastly|also|the|an?|some)\b)*"
)
"""What joins the names of a run."""
_BEFORE = re.compile(
    r"(?:\A|[:：\n]|\b(?:is|was|are|were|be|been|called|named|by|to|at|in|inside|on|for|with|say"
    r"|write|meant|(?:it|that|this|s?he)['’]s)\s|[是为叫由在于自归成得选]了?(?:[^，。；是在]{1,9}的)?)"
    r"\s*(?:the |an? |first )?[*《“\"]*\Z",
    re.IGNORECASE,
)
"""What stands before an answer."""
_AFTER = re.compile(
    r"[*》”\"'’]*\s*(?:[上里中内]|境内|公司|(?:举[行办]|召开|开发|发[明现]|建[造立]|[创写]作?|提出|执导|设计|画|所写)的?"
    r"|的(?:作品|著作|歌)?(?=[。，,]))?(?:[,，.。;；!！—\n]|\Z|who\b|that\b|since\b)"
)
"""What follows an answer."""
_VERB = re.compile(r"\s(?:is|was|are|were|wrote|painted|composed|invented|discovered|won)\b|[是才]")
"""What follows it at the beginning of a response."""
_OF_ANOTHER = re.compile(
    r"\b(?:Old|New|(?:North|South|East|West)(?:ern)?|Upper|Lower|Inner|Outer|Later|Former|Little"
    r"|Second|Third|Neo|Non|Anti|Pre|Post)\Z"
)
"""Words before a name that make it another one: the Old Summer Palace."""
_ORDERED = re.compile(
    r"\b(?:order|sequence|rank\w*|sort\w*|arrange\w*|steps?|stages?|phases?|first|last|from)\b"
    r"|[顺次]序|依次|先后|步骤|阶段|排[序列]|[从由自].{1,12}[到至而]",
    re.IGNORECASE,
)
"""Questions that may ask for an order."""
_PAIRED = re.compile(r"\brespectively\b|\beach\b|分别|各[自是]?", re.IGNORECASE)
"""Questions after several things at once."""
_CLAUSE = re.compile(r"[,，;；。.!！?？\n]|\b(?:while|whereas|and)\b|而")


class _Run(NamedTuple):
    """Joined names, the place where they begin, and whether they are those of the reference."""

    names: list[Name]
    begins: tuple[int, ...]
    """The first name with and without the words before it that qualify it: Admiral Zheng He."""
    same: bool | None = None

    @property
    def span(self) -> tuple[int, int]:
        return self.names[0].start, self.names[-1].end

    def stands(self, text: str) -> bool:
        """Whether it stands where an answer does."""
        before = [text[max(0, at - 40) : at] for at in self.begins]
        after = _AFTER.match(text, self.span[1])
        if not after and self.same and not before[0].strip():
            after = _VERB.match(text, self.span[1])
        return after is not None and any(map(_BEFORE.search, before))


def compare_names(reference: str, response: str, question: str) -> Shown | None:
    """Whether a response in another language gives the names of the reference.

    None if that is not shown; ``NEEDS_NAMES`` if the dictionary is needed and not installed.
    """
    if len(reference) > _LONGEST or _NO_NAMES.search(reference):
        return None
    if plain(reference) in plain(response):
        return None  # in its own language, which is read elsewhere
    if not installed():
        return NEEDS_NAMES
    if HAN.search(reference):
        response = HAN.sub(" ", response)
    pieces = _pieces(_RESPECTIVELY.sub("", reference).strip(_MARKS))
    if not 0 < len(pieces) <= _MOST:
        return None
    if pairs := _pairs(pieces, question):
        return _paired(pairs, response)
    if len(pieces) > 1 and _PAIRED.search(question):
        return None
    wanted = [read(piece) for piece in pieces]
    chosen = _committed(wanted, response, question)
    if chosen is None or chosen.same is None or not chosen.stands(response):
        return None
    if len(pieces) > 1 and denies(response, *chosen.span):
        return None
    verdict = f"{'same' if chosen.same else 'other'}{'-list' * (len(pieces) > 1)}"
    return Shown(chosen.same, f"text:{verdict}-by-dictionary", *chosen.span)


def _pieces(reference: str) -> list[str]:
    """The names of a list; one name where "and" is a part of it: War and Peace."""
    made = _JOINT.split(reference)
    if not read(reference).is_listed:
        made[-1:] = _AND.split(made[-1])
    return [name for piece in made if (name := piece.strip(_MARKS))]


def _committed(wanted: Sequence[Name], response: str, question: str) -> _Run | None:
    """The run of names, those of the reference or others, to which the response commits."""
    said, text = names(response, wanted), half_width(response)
    ordered = _ORDERED.search(question) is not None
    found = _runs(said, response, listed=len(wanted) > 1)
    runs = [r._replace(same=_is_same(wanted, r, ordered, said)) for r in found]
    if len(wanted) == 1:
        asked = names(question, wanted)
        if any(wanted[0].is_(one) for one in asked):
            return None
        runs = [
            r for r in runs
            if r.names[-1].text.lower() not in question.lower()
            and (r.same or not any(one.is_(r.names[-1]) for one in asked))
        ]  # fmt: skip
    if not takes_stance(text):
        runs = [r for r in runs if r.same or (r.same is False and r.stands(response))]
        return runs[-1] if len({r.same for r in runs}) == 1 else None

    def of(run: _Run) -> Mention:
        return Mention(text[slice(*run.span)], *run.span)

    def is_aside(run: _Run) -> bool:
        (clause,) = clauses(text, [of(run)])
        return run.names[-1].is_proper and (clause.denied or clause.aside)

    def counts(run: _Run) -> bool:
        return bool(run.same or (run.same is False and run.stands(response)) or is_aside(run))

    meant = {of(r): r for r in runs if counts(r)}
    last = commitment(
        text, clauses(text, [*meant]), lambda one, other: meant[one].same is meant[other].same
    )
    return meant[last.mention] if last and alone(text, last) else None


def _runs(said: Sequence[Name], text: str, listed: bool = True) -> list[_Run]:
    """The names of a text in runs; a name directly before another one qualifies it.

    Where no list is expected, a comma joins two names of one kind: "in Lausanne, Switzerland".
    """
    made = list[_Run]()
    for one in said:
        last = made[-1] if made else _Run([one], ())
        end = last.span[1]
        comma = not listed and text[end : one.start].strip() in (",", "，")
        apart = comma and not last.names[-1].kinds & one.kinds
        if made and not apart and _JOINS.fullmatch(text, end, one.start):
            made[-1] = last._replace(names=[*last.names, one])
        elif (
            made
            and not text[end : one.start].strip(" ")
            and not _AFTER.match(text, end)
            and not _OF_ANOTHER.search(text, 0, end)
        ):
            begins = (*last.begins, one.start) if len(last.names) == 1 else last.begins
            made[-1] = _Run([*last.names[:-1], one], begins)
        else:
            made.append(_Run([one], (one.start,)))
    return made


def _is_same(wanted: Sequence[Name], run: _Run, ordered: bool, said: Sequence[Name]) -> bool | None:
    """Whether a run has the names that are wanted; False with another one in the place of one."""
    kinds = frozenset.intersection(*(one.kinds for one in wanted))
    given = [n for n in run.names if not kinds or not n.kinds or n.kinds & kinds]
    places = [[i for i, one in enumerate(wanted) if one.is_(name)] for name in given]
    order = [place[0] for place in places if len(place) == 1]
    missing = [one for i, one in enumerate(wanted) if i not in order]
    if len(given) != len(wanted) or len({*order}) < len(order) or any(len(p) > 1 for p in places):
        return None
    if not missing:
        if kinds and any(
            wanted[i].kinds - kinds and not name.kinds & kinds
            for i, name in zip(order, given, strict=True)
        ):
            return None  # 水银 among planets
        return True if order == sorted(order) or not ordered else None
    other = next(name for name, place in zip(given, places, strict=True) if not place)
    of_kind = len(wanted) > 1 or (missing[0].kinds & other.kinds and other.is_proper)
    if len(missing) > 1 or not missing[0].is_listed or not of_kind:
        return None
    rest = (n for n in said if n in given or (n.kinds & kinds and not missing[0].is_(n)))
    return None if any(map(missing[0].is_like, rest)) else False


def _pairs(pieces: Sequence[str], question: str) -> list[tuple[Name, Name]]:
    """Each name with that which it belongs to: from the reference, or from the question."""
    held = [_OF.split(piece) for piece in pieces]
    if len(held) > 1 and all(len(pair) == 2 for pair in held):
        return [(read(one), read(other)) for one, other in held]
    for run in _runs(names(question), question) if len(pieces) > 1 else ():
        if len(run.names) == len(pieces):
            return list(zip(run.names, map(read, pieces), strict=True))
    return []


def _paired(pairs: Sequence[tuple[Name, Name]], response: str) -> Shown | None:
    """Whether each clause of the response gives a thing its name; another's name is different."""
    if denies(response):
        return None
    found = names(response, [name for pair in pairs for name in pair])
    ends = [0, *(m.start() for m in _CLAUSE.finditer(response)), len(response)]
    said = list[tuple[int, int]]()
    for begin, end in pairwise(ends):
        here = [name for name in found if begin <= name.start < end]
        labels = {i for name in here for i, (label, _) in enumerate(pairs) if label.is_(name)}
        values = {i for name in here for i, (_, value) in enumerate(pairs) if value.is_(name)}
        if len(labels) == len(values) == 1:
            said.append((labels.pop(), values.pop()))
    same = all(label == value for label, value in said)
    if len(said) < len(pairs) or any(len({*side}) < len(said) for side in zip(*said, strict=True)):
        return None
    reason = f"text:{'same' if same else 'other'}-list-by-dictionary"
    return Shown(same, reason, found[0].start, found[-1].end)
