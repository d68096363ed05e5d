"""Compare names, lists and pairings with a response in the other language, by the dictionary.

A name that the dictionary does not have stays open; so does one that is only mentioned.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from gradegpt.answers.dictionary import (
    HAN,
    Mention,
    alike,
    forms,
    installed,
    kinds,
    mentions,
    places,
    translations,
)
from gradegpt.answers.options import half_width
from gradegpt.answers.text import plain
from gradegpt.rules.compare.base import Shown
from gradegpt.rules.bind import Mention as Named
from gradegpt.rules.stance import alone, clauses, commitment, denies, takes_stance

Span = tuple[int, int]
_MOST: Final = 8
"""Most names of a list."""
_LONGEST: Final = 160
_MARKS: Final = " 《》“”\"'.。*()（）"
_JOINT = re.compile(r"》\s*(?:和|与|、|，)?\s*《|(?:[、,，;；]|→|->)\s*(?:and |和|以及)?")
_AND = re.compile(r"\band\b|和|与|以及")
_BETWEEN = re.compile(
    r"[》《“”\"\s]*(?:[、,，和与及]|以及|还有|\band\b|&)*[》《“”\"\s]*(?:and |the )*"
)
_LETTER = re.compile(r"[A-Z]\d{0,2}\Z")
"""The members of a list of letters: 维生素A、D、E."""
_JOINS = re.compile(r"[、,，和与及&]|\band\b")
_NO_NAMES = re.compile(r"\d{2}|(?<![A-Z])\d|[=+\\^{}|<>()（）;；]")
"""Signs of a reference that is more than names."""
_RESPECTIVELY = re.compile(r"[,，]?\s*\brespectively\b\.?|分别[是为]?", re.IGNORECASE)
_ORDERED = re.compile(
    r"\b(?:order|sequence|rank\w*|sort\w*|arrange\w*|steps?|stages?|phases?)\b"
    r"|\bfrom (?:the )?(?:\w+ )?(?:side|end|top|bottom|left|right)\b"
    r"|\bfrom .{2,40} (?:to|up|down|out|in)\b"
    r"|顺序|次序|依次|先后|步骤|阶段|排序|排列|[从由自].{1,12}[到至而]",
    re.IGNORECASE,
)
"""Questions that ask for an order."""
_PAIRED = re.compile(
    r"(?i:\brespectively\b|\beach\b)|分别|各[自是]?|、"
    r"|[A-Z]\w+(?:, [A-Z]\w+)*,? and (?:the )?[A-Z]\w+"
)
"""Questions after several things at once."""
_CLAUSE = re.compile(r"[,，;；。.!！?？\n]|\bwhile\b|\bwhereas\b|\band\b|而")
_SHORT: Final = 40
_IS: Final = ("is", "was", "are", "were", "called", "named", "是", "为", "叫", "即")
_VERB = re.compile(r"\b(?:is|was|are|were|called|named|in|at|to|by|for|of)\b|[是为叫即在到于]")
_SAID = re.compile(
    r".*(?P<verb>\b(?:is|was|are|were|called|named|in|at|to|by|for|with)\b|[是为叫即在到于成])"
    r"(?:[^是为叫即在到于]{1,12}的)?\s*(?P<name>[《“\"']?[^《》]{1,60}?[》”\"']?)\s*\Z",
    re.DOTALL | re.IGNORECASE,
)
"""The last verb or preposition of a clause, and the name at its end."""
_SENTENCE = re.compile(r"[^。.!！?？;；\n]+")
_OF_IT = re.compile(r"['’]s?\b|的(?!\s*(?:[,，。；;!！]|\Z))|\s+of\b")
"""What follows a name that belongs to another thing: Hannibal's father."""
_BEFORE = re.compile(
    r"(?:\b(?:not|unlike|than|like|with|from"
    r"|(?<!name )(?<!city )of|after|before|against|under|since|until|besides|near"
    r"|his|her|its|their|named after|contain(?:s|ing)|includ(?:es|ing))"
    r"|包括|含有?|不是|并非|而非|不同于|像|跟|与|和|受|除了|向)\s*(?:the )?[《“\"*]*\Z",
    re.IGNORECASE,
)
"""What stands before a name that is only mentioned."""


def compare_names(reference: str, response: str, question: str) -> Shown | None:
    """Whether a response gives the names of the reference; None if that is not shown."""
    if len(reference) > _LONGEST or _NO_NAMES.search(reference) or not installed():
        return None
    if plain(reference) in plain(response):
        return None  # in its own language, which is read elsewhere
    if HAN.search(reference):
        response = HAN.sub(" ", response)
    reference = _RESPECTIVELY.sub("", reference).strip(_MARKS)
    wanted = _names(reference)
    if len(wanted) > _MOST:
        return None
    if pairs := _pairs(wanted, question):
        return _paired(pairs, response)
    if len(wanted) == 1:
        return _one(reference, response, question)
    return _several(wanted, response, question)


def _names(text: str) -> list[str]:
    """The names of a list; one name where "and" is a part of it: War and Peace."""
    pieces = _JOINT.split(text)
    if not translations(text):
        pieces[-1:] = _AND.split(pieces[-1])
    names = [name for piece in pieces if (name := piece.strip(_MARKS))]
    lettered = len(names) > 1 and all(map(_LETTER.fullmatch, names[1:]))
    if lettered and (first := _LETTER.search(names[0])) is not None:
        names[0] = first[0]
    return names


def _pairs(wanted: Sequence[str], question: str) -> list[tuple[str, str]]:
    """Each name with that which it belongs to: from the reference, or from the question."""
    held = [_told(piece) for piece in wanted]
    common = set.intersection(*({*names} for names in held)) if len(held) > 1 else set()
    held = [[name for name in names if name not in common] for names in held]
    if len(wanted) > 1 and all(len(names) == 2 for names in held):
        return [(names[0], names[1]) for names in held]
    labels = _run(question, len(wanted)) if len(wanted) > 1 else []
    own = (name.removeprefix(label) or name for label, name in zip(labels, wanted, strict=False))
    return list(zip(labels, own, strict=True)) if labels else []


def _told(text: str) -> list[str]:
    """The names that a piece of a reference has, without words that name nothing."""
    found = mentions(text)
    names = [m for m in found if _is_name(m, text)]
    if len(names) == 1 and found[-1] != names[0] and not HAN.search(text):
        names.append(found[-1])  # Zeus took the sky
    return [text[m.start : m.end] for m in names]


def _is_name(mention: Mention, text: str) -> bool:
    if HAN.search(mention.key):
        return mention.end - mention.start > 1 or _stands_alone(mention, text)
    return mention.capital


def _stands_alone(mention: Mention, text: str) -> bool:
    """Whether a character is between marks: 魏—洛阳."""
    around = text[max(0, mention.start - 1) : mention.start] + text[mention.end : mention.end + 1]
    return not HAN.search(around)


def _run(question: str, size: int) -> list[str]:
    """The names of a list in a question, if it has as many as that."""
    found, run = mentions(question), list[Mention]()
    for mention in found:
        gap = question[run[-1].end : mention.start] if run else ""
        joined = _BETWEEN.fullmatch(gap) and _JOINS.search(gap)
        run = [*run, mention] if joined else [mention]
        after = question[mention.end : mention.end + 1]
        if len(run) == size and not re.match(r"[、,，和]", after):
            return [question[m.start : m.end] for m in run]
    return []


class _Place(NamedTuple):
    start: int
    end: int
    label: bool
    number: int


def _paired(pairs: Sequence[tuple[str, str]], response: str) -> Shown | None:
    """Whether the response gives each thing its name; another thing's name is different."""
    found = [
        _Place(*span, label, number)
        for number, pair in enumerate(pairs)
        for name, label in zip(pair, (True, False), strict=True)
        for span in places(name, response)
    ]
    labels = {(p.start, p.end) for p in found if p.label}
    found = sorted(p for p in found if p.label or (p.start, p.end) not in labels)
    seen = {(p.label, p.number) for p in found}
    if denies(response) or len(seen) < len(pairs):
        return None
    said = _in_turn(found) if len(seen) == 2 * len(pairs) else []
    said = said or _by_clause(found, response)
    if any(len({*side}) < len(said) for side in zip(*said, strict=True)):
        return None
    same = all(label == value for label, value in said)
    named = all((False, number) in seen for number in range(len(pairs)))
    if not said or len(said) < len(pairs) - ((named and len(pairs) > 2) or not same):
        return None
    reason = "text:same-list-by-dictionary" if same else "text:other-list-by-dictionary"
    return Shown(same, reason, found[0].start, found[-1].end)


def _in_turn(found: Sequence[_Place]) -> list[tuple[int, int]]:
    """The pairs of labels and names that follow one another in turn."""
    if len(found) % 2 or any(
        a.label is b.label for a, b in zip(found[::2], found[1::2], strict=True)
    ):
        return []
    return [
        (a.number, b.number) if a.label else (b.number, a.number)
        for a, b in zip(found[::2], found[1::2], strict=True)
    ]


def _by_clause(found: Sequence[_Place], response: str) -> list[tuple[int, int]]:
    """The pairs of which each clause has one."""
    ends = [m.start() for m in _CLAUSE.finditer(response)] + [len(response)]
    made = []
    for begin, end in pairwise([0, *ends]):
        here = {(p.label, p.number) for p in found if begin <= p.start < end}
        labels, names = ([n for label, n in here if label is side] for side in (True, False))
        if len(labels) == len(names) == 1:
            made.append((labels[0], names[0]))
    return made


def _several(wanted: Sequence[str], response: str, question: str) -> Shown | None:
    """Whether the response lists the names, in the order that is asked for."""
    held = [_named(name, response) for name in wanted]
    if sum(map(bool, held)) < len(wanted):
        return _replaced(wanted, held, response)
    firsts = [spans[0] for spans in held]
    start, end = min(firsts)[0], max(firsts)[1]
    apart = all(a[1] <= b[0] for a, b in pairwise(sorted(firsts)))
    if not apart or denies(response, _begin(response, start), end):
        return None
    order = sorted(range(len(firsts)), key=lambda n: firsts[n])
    shown = Shown(True, "text:same-list-by-dictionary", start, end)
    if (
        _are_ambiguous(wanted, firsts, response)
        or _more(wanted, firsts, response)
        or _PAIRED.search(question)
    ):
        return None
    if order == sorted(order):
        return shown
    if not _ORDERED.search(question):
        return shown
    once = all(len(spans) == 1 for spans in held)
    if order == sorted(order, reverse=True) or not once or _TURNS.search(response):
        return None
    return Shown(False, "text:other-list-by-dictionary", start, end)


def _are_ambiguous(wanted: Sequence[str], spans: Sequence[Span], response: str) -> bool:
    """Whether a name may be two of the list, 青, or no thing of its kind: 水银 among planets."""
    said = [response[slice(*span)] for span in spans]
    kind = frozenset.intersection(*map(kinds, wanted))
    if kind and any(not kind & kinds(one) for one in said):
        return True
    return any(places(n, one) for i, n in enumerate(wanted) for k, one in enumerate(said) if i != k)


def _named(name: str, response: str) -> list[Span]:
    """Where the name is; not inside of a longer one: 几内亚比绍, the red panda."""
    own = forms(name)
    others = [(m.start, m.end) for m in mentions(response) if m.key not in own]
    found = places(name, response)
    return [s for s in found if not any(a <= s[0] and s[1] <= b and (a, b) != s for a, b in others)]


def _begin(response: str, at: int) -> int:
    """The beginning of the clause."""
    return max(m.end() for m in re.finditer(r"\A|[,，:：。;；\n]|\. ", response[:at]))


def _members(response: str) -> list[tuple[int, int]]:
    """The pieces of a response between the marks and words that separate the members of a list."""
    cuts = [(0, 0), *(m.span() for m in _MEMBER.finditer(response)), (len(response),) * 2]
    return [(a, b) for (_, a), (b, _) in pairwise(cuts) if response[a:b].strip()]


_MEMBER = re.compile(
    r"(?:\s*(?:[、,，;；。!！?？:：\n]|\.(?=\s|\Z)|》\s*《|和|以及"
    r"|\b(?:and|plus|then|finally|as well as)\b|还有|外加|跟|与|加上))+\s*"
)
_NEXT = re.compile(r"[》”\"']*(?:\s*(?:[、,，]|和|与|以及|\band\b)\s*)+[^\s]")
"""What joins a further member to the end of a list."""
_TURNS = re.compile(
    r"\b(?:before|after|preced\w+|earlier|later|prior|last but|reverse|from)\b"
    r"|之前|以前|前面|之后|以后|后面|倒序|反过来|晚于|早于",
    re.IGNORECASE,
)
"""Words by which the order of mention may not be the order that is meant."""


def _more(wanted: Sequence[str], found: Sequence[tuple[int, int]], response: str) -> bool:
    """Whether a list has another known name between its members."""
    start, end = min(found)[0], max(found)[1]
    follows = _NEXT.match(response, end)
    end = follows.end() if follows else end
    return any(
        start <= a < end and (known := _whole(response[a:b])) is not None
        and not any(a <= s < b for s, _ in found)
        and not any(alike(name, known) for name in wanted)
        for a, b in _members(response)
    )  # fmt: skip


def _whole(member: str) -> Mention | None:
    """The known name that a member of a list is."""
    name = _AROUND.sub("", _LEAD.sub("", member))
    return next((m for m in mentions(name) if m.end - m.start == len(name)), None)


_LEAD = re.compile(r".*(?:[:：是为有]|\bare\b|\bis\b|\binclude\b)", re.DOTALL)
_AROUND = re.compile(
    r"\A(?:[\s《“\"*]|\b(?:also|lastly|the|an?|some)\b)+|[\s》”\"*.]+\Z", re.IGNORECASE
)
"""What stands around a member of a list."""


def _replaced(
    wanted: Sequence[str], held: Sequence[list[tuple[int, int]]], response: str
) -> Shown | None:
    """Different where all but one are listed and another known name has the place of that one."""
    missing = [name for name, spans in zip(wanted, held, strict=True) if not spans]
    found = [spans[0] for spans in held if spans]
    if len(missing) != 1 or not _known(missing[0]) or len({*found}) < len(found) or not found:
        return None
    members, size = _members(response), len(wanted)
    free = set[tuple[int, int]]()
    for at in range(len(members) - size + 1):
        window = members[at : at + size]
        empty = [(a, b) for a, b in window if not any(a <= s < b for s, _ in found)]
        if len(empty) == 1 and _is_other(missing[0], response[slice(*empty[0])]):
            free.add(empty[0])
    known = [_whole(response[a:b]) for a, b in members]
    if len(free) != 1 or any(m and alike(missing[0], m) for m in known):
        return None
    at, end = free.pop()
    start = min(at, min(found)[0])
    return Shown(False, "text:other-list-by-dictionary", start, max(end, max(found)[1]))


def _known(name: str) -> bool:
    return bool(forms(name) or _LETTER.fullmatch(name))


def _is_other(name: str, member: str) -> bool:
    """Whether a member of a list is a known name, or a letter, that is not this name."""
    if _LETTER.fullmatch(name):
        return bool(_LETTER.fullmatch(member)) and member != name
    known = _whole(member)
    return known is not None and not alike(name, known)


def _one(reference: str, response: str, question: str) -> Shown | None:
    """Whether a name of the reference, or another known name in its place, is asserted."""
    found, rivals = places(reference, response), _rivals(reference, response, question)
    span = _committed(found, rivals, response)
    if span is None:
        return None
    if span not in found:
        like = (m for m in mentions(response) if (m.start, m.end) not in found)
        known = forms(reference) and not any(alike(reference, m) for m in like)
        return Shown(False, "text:other-by-dictionary", *span) if known else None
    start, end = span
    asked = question.lower()
    named = (reference.lower(), response[start:end].lower())
    if places(reference, question) or any(name in asked for name in named):
        return None
    before = response[max(0, start - 24) : start]
    if _OF_IT.match(response, end) or _BEFORE.search(before) or _DESCRIBES.search(before):
        return None
    return (
        None
        if _goes_on(reference, end, response, question)
        else Shown(True, "text:same-by-dictionary", start, end)
    )


def _committed(found: Sequence[Span], rivals: Sequence[Mention], response: str) -> Span | None:
    """The place of the name to which a response commits."""
    text = half_width(response)
    answers = [(m.start, m.end) for m in rivals if _answers(m, response)]
    if not takes_stance(text):
        said = [*(found or answers)]
        return said[-1] if said and not (found and answers) else None
    aside = [(m.start, m.end) for m in rivals if _is_name(m, response) and _set_aside(m, text)]
    spans = sorted({*found, *answers, *aside})
    named = clauses(text, [Named(text[a:b], a, b) for a, b in spans])

    def same(one: Named, other: Named) -> bool:
        return ((one.start, one.end) in found) is ((other.start, other.end) in found)

    last = commitment(text, named, same)
    return (last.mention.start, last.mention.end) if last and alone(text, last) else None


def _set_aside(mention: Mention, text: str) -> bool:
    """Whether the clause of a name denies it, or gives it to somebody else."""
    (clause,) = clauses(text, [Named(mention.key, mention.start, mention.end)])
    return clause.denied or clause.aside


def _goes_on(reference: str, end: int, response: str, question: str) -> bool:
    """Whether a later sentence or clause names something else that may be of the kind."""
    asked, own = {m.key for m in mentions(question)}, kinds(reference)
    rest = _CLAUSE.search(response, end)
    later = [*mentions(response), *_unknown(response)] if rest else []
    return rest is not None and any(
        m.start >= rest.end()
        and _is_name(m, response)
        and not alike(reference, m)
        and (_answers(m, response) if m.capital else _COMMITS.search(response[: m.start]))
        for m in later
        if m.key not in asked
        and not (own and (k := kinds(response[m.start : m.end])) and not own & k)
    )


def _unknown(response: str) -> list[Mention]:
    """Runs of words with capitals."""
    return [Mention(*m.span(), m[0], True) for m in _CAPITALS.finditer(response)]


_CAPITALS = re.compile(r"(?:[A-Z][\w'’-]+ )+[A-Z][\w'’-]+")


def _rivals(reference: str, response: str, question: str) -> list[Mention]:
    """Other names of the reference's kind that the response does not just deny."""
    own, asked = kinds(reference), {m.key for m in mentions(question)}
    names = [
        m for m in mentions(response)
        if _is_name(m, response) or len(m.key) > 3 or "element" in own
    ]  # fmt: skip
    return [
        m for m in names
        if own & kinds(response[m.start : m.end]) and not alike(reference, m)
        and m.key not in asked and not places(response[m.start : m.end], question)
    ]  # fmt: skip


_LEADS = re.compile(
    r"(?:\A|[:：])[\s*《“\"]*(?:(?:it|that|this|he|she)(?:['’]s| is| was) |答案[是为]?|应?该?是)?"
    r"(?:(?:at|in|by|on|from) )?(?:the )?(?:[A-Z][a-z]+ (?=[A-Z]))?[*《“\"]*\Z",
    re.IGNORECASE,
)
"""What stands before an answer at the beginning of a response."""
_TO = re.compile(
    r"(?:\b(?:is|was|are|were|called|named|as|by|to|at|in|inside|the|of|with|for|say|write|meant)"
    r"|[是为叫数由在于自归])\s*"
    r"(?:the )?[*《“\"]*\Z",
    re.IGNORECASE,
)
_COMMITS = re.compile(
    r"(?:应该?是|还是叫?|结论是|答案[是为]|剩下的?就?是|我会[写选]|归)[《“\"*]*\Z"
)
"""What stands before the name to which a Chinese response comes after others."""
_ENDS = re.compile(
    r"[*》”\"'’]*\s*(?:[,，.。;；!！—]|\Z|的[。，,]|who\b|that\b|which\b|写|所|画|发|提)"
)


def _answers(mention: Mention, response: str) -> bool:
    """Whether a name stands where an answer does: first, or after a verb at the end of a clause."""
    before = response[max(0, mention.start - 40) : mention.start]
    lead = _LEADS.search(before) if mention.start <= _SHORT else None
    said = lead or _TO.search(before)
    return bool(said and _ENDS.match(response, mention.end))


class Slot(NamedTuple):
    """The end of a clause after a verb or preposition; ``identifies``: after "is", in the end."""

    text: str
    identifies: bool


_RELATIVE = re.compile(r"\s*(?:which|where|whose)\b(?! (?:is|was|are|were)\b)", re.IGNORECASE)
"""A clause that describes the name before it."""
_DESCRIBES = re.compile(rf",{_RELATIVE.pattern}[^,.;]*\Z", re.IGNORECASE)


def asserted(answer: str) -> list[Slot]:
    """What the clauses of an answer end in, or the whole of a short one; not where they deny it."""
    if len(answer) <= _SHORT and not _VERB.search(answer):
        return [Slot(answer.strip(_MARKS), identifies=True)]
    clauses = [c for s in _SENTENCE.findall(answer) for c in re.split("[,，]", s) if c.strip()]
    made = []
    for number, clause in enumerate(clauses, start=1):
        said = None if denies(clause) or _RELATIVE.match(clause) else _SAID.search(clause)
        if said is not None:
            identifies = said["verb"].lower() in _IS and number == len(clauses)
            made.append(Slot(said["name"].strip(_MARKS), identifies))
    return made
