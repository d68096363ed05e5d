"""Whether a sentence gives a text as its answer, or merely mentions it.

"Written by Shakespeare" gives Shakespeare; "a rival of Shakespeare", "Stratford, where Shakespeare
was born" and "unlike Shakespeare" mention the name and give another answer. The words before it
decide: they repeat the question, or the name is the complement of a verb that gives an answer (is,
called, played by, located in). No other name may precede it, no word near it may negate or doubt
it, and nothing after it may extend it to another name or make another claim.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from gradegpt.answers.spans import last_match
from gradegpt.answers.text import fold, signs
from gradegpt.answers.words import Token, tokens, words

MAX_ANSWER: Final = 120
"""Most words of an answer that is searched for the reference; a longer one makes many claims."""
MAX_REFERENCE: Final = 6
_TABLE: Final = """
filler a an the of in on at to by for and is was are were it its
function be been being this these those there here he she they we his her their him them who whom
function which what when where how do does did has have had so since as with into answer question
function correct right name names named called known title titled final s i you my your our also
function first last word term it's that's there's he's she's 's two three one located set made took
function take takes written wrote released
denial not no never nor neither without cannot wrong incorrect false isn't wasn't aren't weren't
denial don't doesn't didn't can't couldn't won't wouldn't hasn't haven't ain't
revision wait correction scratch oops sorry mistake mistaken mean meant rather instead perhaps maybe
revision probably might guess suppose unknown myth supposedly allegedly popularly reference grader
doubt or except excluding non but either far unlike than although though while whereas yet however
doubt possibly may could would should if unless until till contrary confused rival rivals claim
doubt claims claimed believe believed believes think thinks thought assume told textbook
doubt textbooks opinion predecessor successor formerly former replaced fake pseudo ruled
doubt including included among besides plus alongside
giving is was are were be been being it's that's named called known titled namely as
states located born held place situated based found set died filmed shot founded is was are were
states lies released published introduced established created built happened occurred began
states started ended
made written wrote sung performed played portrayed directed produced composed painted invented
made discovered voiced recorded developed designed founded created built coined released
made published hosted scripted narrated won held owned made led introduced proposed provided
made commissioned starred formulated novel song book play poem film album painting opera hit
made single show series story symphony ballet
title the a an its his her their mr mrs ms dr sir saint st king queen president admiral
preposition of from near after before against between until to with without inside outside over
preposition under about around behind beside beyond through toward towards via like per opposite
join and or together along versus vs
month january february march april may june july august september october november december jan
month feb mar apr jun jul aug sep sept oct nov dec
"""
"""Words by kind. ``filler`` and ``function`` name nothing; ``denial`` and ``revision`` count
anywhere in the text, ``doubt`` in the same sentence; ``giving``, ``states`` (before in, on, at) and
``made`` (before by) introduce an answer."""


def _kind(name: str) -> frozenset[str]:
    lines = (line.split() for line in _TABLE.splitlines())
    return frozenset(word for line in lines if line[:1] == [name] for word in line[1:])


FILLER: Final = _kind("filler")
_FUNCTION: Final = FILLER | _kind("function")
_DENIAL: Final = _kind("denial")
_REVISION: Final = _kind("revision")
_DOUBT: Final = _kind("doubt")
QUALIFYING: Final = _DENIAL | _REVISION | _DOUBT
_GIVING: Final = _kind("giving")
_STATES: Final = _kind("states")
_MADE: Final = _kind("made")
_TITLES: Final = _kind("title")
_MODIFIED_BY: Final = _FUNCTION | _kind("preposition")
_JOINS: Final = _kind("join")
_MONTHS: Final = _kind("month")
_NAMELESS: Final = _FUNCTION | _MONTHS | _TITLES
_NATIONS: Final = ("an", "ish", "ese", "ch")
_VERBS: Final = ("s", "ed", "ly", "ng", "won")
_CURRENCIES: Final = frozenset("$€£¥")
_FEW: Final = 3
"""Most other words in a sentence that is hardly more than the answer, and most in a list's item."""
_ENOUGH: Final = 0.3
"""Required share of the question's words in a sentence that names other things, too."""
_HAN: Final = re.compile("[\u3400-\u9fff]")
_JOINING: Final = re.compile(r"[/&、·•+]")
_QUALIFIED: Final = re.compile(
    r"…|\.\.\.|——|[？?]|[不没非错误或另]|还有|但|可是|更正|等等|其中|应该|[哦噢]"
)
"""Signs and Chinese words after an answer that negate or doubt it or add another."""
_STOP: Final = re.compile(r"[.!?;。！？；\n](?!\w)")
_CONCLUSION = re.compile(
    r"[;；.。]\s*(?:(?:so|thus|hence|therefore)\b|所以|因此|故)", re.IGNORECASE
)
_ENDING: Final = re.compile(r"(?:ing|ed|es|s|d|e)$")
_BEFORE: Final = re.compile(r"(?:[-+*/^_¬~∠△√∂∇∀∃]\s*|[!&]|\\[A-Za-z]+[\s{]*)\Z")
"""A sign directly before a name that makes it another one."""
_TONES: Final = re.compile(r"拼音|注音|读音|声调|\bpinyin\b", re.IGNORECASE)
"""Questions whose answers differ in their tones."""
_END: Final = re.compile(r"[^\w]*\Z")
_AFTER: Final = re.compile(r"[\^_%°]|['!](?!\w)")
"""A sign directly after a number or a letter that makes it another one."""


class _Said(NamedTuple):
    """What an answer says: its words, and for each whether it is quoted, and named before."""

    words: tuple[Token, ...]
    quoted: list[bool]
    known: list[bool]
    asked: tuple[str, ...]
    stems: frozenset[str]
    """The stems of the question's words that name something."""


def gives(reference: str, answer: str, question: str) -> bool:
    """Whether ``answer``, a sentence or a few, gives the short ``reference`` as its answer."""
    wanted, given = words(reference), words(answer)
    if not 0 < len(wanted) <= MAX_REFERENCE or len(given) > MAX_ANSWER:
        return False
    if not (spans := _places(wanted, given)) or _concludes_otherwise(wanted, answer):
        return False
    said, size = _read(answer, question), len(wanted)
    if all(word in FILLER or len(word) < 2 for word in wanted) or any(
        said.asked[at : at + size] == wanted for at in range(len(said.asked) - size + 1)
    ):
        return False
    date = all(word.isdigit() or word in _MONTHS or word in FILLER for word in wanted)
    return any(
        _has_its_signs(reference, answer, question, said, span)
        and _is_undisputed(said, span)
        and _is_on_the_subject(said, span)
        and _is_introduced(said, span[0], date)
        and not (_has_year(wanted) and _has_year(t.word for t in said.words[span[1] :]))
        and not (span[0] and _swaps_roles(said, span[0]))
        and _is_complete(said, span)
        for span in spans
    )


@lru_cache(maxsize=256)
def _read(answer: str, question: str) -> _Said:
    """Read an answer once for several references.

    A title in quotation marks does not name a rival answer, nor do the other words of a name in
    the question: "Museum" in "the Country Music Hall of Fame and Museum".
    """
    said, asked = tokens(answer), words(question)
    quoted, inside = list[bool](), False
    for token in said:
        inside ^= sum(map(token.gap.count, '"“”「」')) % 2 == 1
        quoted.append(inside)
    stems = frozenset(map(_stem, asked))
    known = [
        quote or token.word in _NAMELESS or token.word.isdigit() or _stem(token.word) in stems
        for token, quote in zip(said, quoted, strict=True)
    ]
    for order in (range(1, len(said)), range(len(said) - 2, -1, -1)):
        for n in order:
            near = n - order.step
            if known[n] or not known[near] or not said[n].capital or said[max(n, near)].gap.strip():
                continue
            named = said[near].capital or said[near].word in ("of", "and", "the")
            known[n] = named and _stem(said[near].word) in stems
    return _Said(
        said, quoted, known, asked, frozenset(_stem(w) for w in asked if w not in _NAMELESS)
    )


def _concludes_otherwise(wanted: tuple[str, ...], answer: str) -> bool:
    """Whether the last conclusion, "so the Atlantic", does not have the words of the reference."""
    last = last_match(_CONCLUSION, answer)
    return last is not None and not _places(wanted, words(answer[last.end() :]))


def _places(wanted: tuple[str, ...], said: tuple[str, ...]) -> list[tuple[int, int]]:
    """The spans in which the words follow one another, with or without initials between them."""
    made = list[tuple[int, int]]()
    for start in (n for n, word in enumerate(said) if word == wanted[0]):
        end = start
        for word in wanted:
            while end > start and end < len(said) and len(said[end]) == 1 != len(word):
                end += 1
            if end == len(said) or said[end] != word:
                break
            end += 1
        else:
            made.append((start, end))
    return made


def _has_its_signs(
    reference: str, answer: str, question: str, said: _Said, span: tuple[int, int]
) -> bool:
    """Whether the name has the signs of the reference, and no other: AB ∥ CD, f', $5, 5 %."""
    start, end = span
    wanted, name = tokens(reference), said.words[start:end]
    inner = ["".join(t.gap + t.word for t in part)[len(part[0].gap) :] for part in (wanted, name)]
    if end - start == len(said.words):
        inner = [reference, answer]
    if re.search("[,，]", inner[0]):
        inner = [re.sub("[→<]", ",", text) for text in inner]
    if signs(inner[0]) != signs(inner[1]):
        return False
    currencies = {name[0].gap.rstrip()[-1:], reference.strip()[:1]}
    if len(currencies) == 2 and currencies <= _CURRENCIES:
        return False
    if _TONES.search(question) and _accents(reference) != _accents(answer):
        return False  # piào is not piāo
    before, mine = (_BEFORE.search(part[0].gap) for part in (name, wanted))
    if (before and before[0].strip()) != (mine and mine[0].strip()):
        return False
    if len(name[-1].word) > 2 and not name[-1].word.isdigit():
        return True
    rest = said.words[end].gap if end < len(said.words) else _END.findall(fold(answer))[0]
    after, due = _AFTER.match(rest), _AFTER.match(_END.findall(fold(reference))[0])
    return after is None or (due is not None and due[0] == after[0])


def _accents(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.combining(c))


def _is_undisputed(said: _Said, span: tuple[int, int]) -> bool:
    """Whether nothing negates the answer or leaves it open."""
    begin, stop = _sentence(said.words, span)
    for n, (token, quoted) in enumerate(zip(said.words, said.quoted, strict=True)):
        if span[0] <= n < span[1] or quoted:
            continue
        word, near = token.word, begin <= n < stop
        if word in _DENIAL or (n < span[0] and _QUALIFIED.search(word)):
            return False
        if (word in _REVISION or (near and word in _DOUBT)) and word not in said.asked:
            return False
    return True


def _is_on_the_subject(said: _Said, span: tuple[int, int]) -> bool:
    """Whether the sentence is about what was asked, not about another thing that it names."""
    begin, stop = _sentence(said.words, span)
    rest = [n for n in range(begin, stop) if not span[0] <= n < span[1]]
    if len(rest) <= _FEW:
        return True
    stems = {_stem(said.words[n].word) for n in rest}
    share = len(said.stems & stems) / len(said.stems) if said.stems else 1.0
    named = any(said.words[n].capital and not said.known[n] for n in rest if n > span[0])
    if named and share < _ENOUGH:
        return False
    return share > 0 or stop - begin == len(said.words)


def _sentence(said: tuple[Token, ...], span: tuple[int, int]) -> tuple[int, int]:
    """The first word of the sentence around the span, and the first after it."""
    stops = [n for n in range(1, len(said)) if _STOP.search(said[n].gap) and said[n - 1].word[1:]]
    begin = max((n for n in stops if n <= span[0]), default=0)
    return begin, min((n for n in stops if n >= span[1]), default=len(said))


def _swaps_roles(said: _Said, start: int) -> bool:
    """Whether the verb precedes the name, but precedes the subject in the question."""
    last = said.words[start - 1].word
    if last in _NAMELESS:
        return False
    subjects = {_stem(t.word) for t in said.words[: start - 1]} - {_stem(w) for w in _NAMELESS}
    pairs = itertools.pairwise(map(_stem, said.asked))
    return any(verb == _stem(last) and name in subjects for verb, name in pairs)


def _stem(word: str) -> str:
    word = word.removesuffix("'s").removesuffix("’s")
    return _ENDING.sub("", word) if len(word) > 3 else word


def _is_introduced(said: _Said, start: int, date: bool) -> bool:
    """Whether the words before the name introduce it: they repeat the question, or are a verb."""
    before, known, name = said.words[:start], said.known[:start], said.words[start]
    if any(not k and _HAN.search(t.word) for t, k in zip(before, known, strict=True)):
        return False
    if all(known):
        return True
    at = start - 1
    while at >= 0 and _describes(said.words[at], before[at + 1 : at + 2]):
        at -= 1
    if at < 0:
        return name.capital
    rivals = [t.capital and not k for t, k in zip(before[1 : at + 1], known[1:], strict=False)]
    if ":" in name.gap and sum(rivals) <= 1:
        return True
    if any(rivals) and not date:
        return False  # another thing is named, or identified with the answer
    last, verb = before[at].word, before[at - 1].word
    match last:
        case "by":
            return verb in _MADE or known[at - 1]
        case "as":
            return verb in _MADE | _GIVING
        case "in" | "on" | "at":
            return date or verb in _STATES
        case _:
            return last in _GIVING


def _describes(token: Token, after: tuple[Token, ...]) -> bool:
    """Whether the token is an article, a title, a nationality or another modifier of a name."""
    if (after and after[0].gap.strip(" \"“”‘’'\n\xa0")) or _HAN.search(token.word):
        return False
    if token.capital:
        return token.word in _TITLES or token.word.endswith(_NATIONS)
    return token.word in _TITLES or token.word not in _MODIFIED_BY


def _is_complete(said: _Said, span: tuple[int, int]) -> bool:
    """Whether the following words neither extend the name nor add another or a new claim."""
    start, end = span
    after, known = said.words[end:], said.known[end:]
    if not after:
        return True
    first, gap = after[0], after[0].gap
    verbal = len(after) > 1 and not after[1].capital and after[1].word.endswith(_VERBS)
    if first.word == "and" and verbal:
        return True
    if first.word in _JOINS or gap == "-" or _JOINING.search(gap):
        return False
    if not gap.strip() and not (known[0] and first.word not in _TITLES):
        verb = first.word.endswith(_VERBS) or first.word in _STATES
        if first.capital or not (verb and said.words[end - 1].capital):
            return False
    if _is_list(after) or any(_QUALIFIED.search(token.word) for token in after):
        return False
    if not start and gap.strip() == "," and all(token.capital for token in after):
        return False  # London, Ontario
    return not any(
        token.capital and not is_known and giving.word in _GIVING
        for giving, token, is_known in zip(after, after[1:], known[1:], strict=False)
    )


def _is_list(after: tuple[Token, ...]) -> bool:
    """Whether more items follow: ", Saturn, Uranus" or ", nitrogen and argon"."""
    commas = size = 0
    for token in after:
        if "," in token.gap or ";" in token.gap:
            commas, size = commas + 1, 0
        size += 1
        if (token.word in ("and", "or") and commas > 0) or commas > 2:
            return True
        if not commas or size > _FEW or token.word in _FUNCTION or token.word.endswith("ed"):
            return False
    return commas > 1


def _has_year(found: Iterable[str]) -> bool:
    return any(word.isdigit() and len(word) == 4 for word in found)
