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
from collections.abc import Iterable
from typing import Final

from gradegpt.answers.spans import last_match
from gradegpt.answers.text import plain
from gradegpt.answers.words import Token, tokens, words


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MAX_ANSWER: Final = 120
"""Most words of an answer that is searched for the reference; a longer one makes many claims."""
MAX_REFERENCE: Final = 6

FILLER: Final = frozenset({
    "a", "an", "the", "of", "in", "on", "at", "to", "by", "for", "and", "is", "was", "are", "were",
    "it", "its",
})  # fmt: skip
_FUNCTION: Final = FILLER | _words("""
    be been being this these those there here he she they we his her their him them who whom
    which what when where how do does did has have had so since as with into answer question
    correct right name names named called known title titled final s i you my your our also
    first last word term it's that's there's he's she's 's two three one located set made took
    take takes written wrote released
""")
"""Words that name nothing, and whose repetition shows no relation to the question."""
_DENIAL: Final = _words("""
    not no never nor neither without cannot wrong incorrect false isn't wasn't aren't weren't
    don't doesn't didn't can't couldn't won't wouldn't hasn't haven't ain't
""")
_REVISION: Final = _words("""
    wait correction scratch oops sorry mistake mistaken mean meant rather instead perhaps maybe
    probably might guess suppose unknown myth supposedly allegedly popularly reference grader
""")
"""Words that, like negations, revise or doubt an answer anywhere in the text."""
_DOUBT: Final = _words("""
    or except excluding non but either far unlike than although though while whereas yet however
    possibly may could would should if unless until till contrary confused rival rivals claim
    claims claimed believe believed believes think thinks thought assume told textbook
    textbooks opinion predecessor successor formerly former
    replaced fake pseudo ruled including included among besides plus alongside
""")
"""Words that may negate or leave open an answer in the same sentence."""
QUALIFYING: Final = _DENIAL | _REVISION | _DOUBT
_GIVING: Final = _words("""
    is was are were be been being it's that's named called known titled namely as
""")
_PLACE: Final = _words("""
    in on at
""")
_STATES: Final = _words("""
    located born held place situated based found set died filmed shot founded is was are were
    lies released published introduced established created built happened occurred began
    started ended
""")
_MADE: Final = _words("""
    written wrote sung performed played portrayed directed produced composed painted invented
    discovered voiced recorded developed designed founded created built coined released
    published hosted scripted narrated won held owned made led introduced proposed provided
    commissioned starred formulated novel song book play poem film album painting opera hit
    single show series story symphony ballet
""")
"""Words before "by" and the name of the person who did or made something."""
_TITLES: Final = _words("""
    the a an its his her their mr mrs ms dr sir saint st king queen president admiral
""")
_PREPOSITIONS: Final = _words("""
    of from near after before against between until to with without inside outside over under
    about around behind beside beyond through toward towards via like per opposite
""")
_NATIONS: Final = ("an", "ish", "ese", "ch")
_VERBS: Final = ("s", "ed", "ly", "ng", "won")
_JOINS: Final = _words("""
    and or together along versus vs
""")
_MONTHS: Final = _words("""
    january february march april may june july august september october november december jan
    feb mar apr jun jul aug sep sept oct nov dec
""")
_HAN: Final = re.compile("[\u3400-\u9fff]")
SIGNS: Final = re.compile(r"(?<![A-Za-zα-ω])-|-(?![A-Za-z])|[+=<>≤≥*/^\\\[\]{}|_%½]|\d[.,:]\d")
"""Signs that are not part of words; a reference with one must occur verbatim."""
_CURRENCIES: Final = frozenset("$€£¥￥")
_FEW: Final = 3
"""Most other words in a sentence that is hardly more than the answer."""
_ENOUGH: Final = 0.3
"""Required share of the question's words in a sentence that names other things, too."""
_ITEM: Final = 3
"""Most words of one item of a list."""
_JOINING: Final = re.compile(r"[/&、·•+]")
_QUALIFIED: Final = re.compile(
    r"…|\.\.\.|——|[？?]|[不没非错误或另]|还有|但|可是|更正|等等|其中|应该|[哦噢]"
)
"""Signs and Chinese words after an answer that negate or doubt it or add another."""
_NAMELESS: Final = _FUNCTION | _MONTHS | _TITLES
_STOP: Final = re.compile(r"[.!?;。！？；\n](?!\w)")
_CONCLUSION = re.compile(
    r"[;；.。]\s*(?:(?:so|thus|hence|therefore)\b|所以|因此|故)", re.IGNORECASE
)
_ENDING: Final = re.compile(r"(?:ing|ed|es|s|d|e)$")


def gives(reference: str, answer: str, question: str) -> bool:
    """Whether ``answer``, a sentence or a few, gives the short ``reference`` as its answer."""
    wanted, given = words(reference), words(answer)
    if not 0 < len(wanted) <= MAX_REFERENCE or len(given) > MAX_ANSWER:
        return False
    if not (spans := _places(wanted, given)) or concludes_otherwise(wanted, answer):
        return False
    if all(word in FILLER or len(word) < 2 for word in wanted):
        return False
    if SIGNS.search(reference) and plain(reference) not in plain(answer):
        return False
    asked = frozenset(words(question))
    if _in_a_row(wanted, words(question)):
        return False
    said = tokens(answer)
    quoted = _quoted(said)
    known = _known(said, quoted, asked)
    return any(
        _is_undisputed(said, quoted, (start, end), asked)
        and _on_the_subject(said, known, (start, end), question)
        and _introduces(said[:start], known[:start], said[start], date=_is_date(wanted))
        and not (_has_year(wanted) and _has_year(t.word for t in said[end:]))
        and said[start].gap.rstrip("$ ")[-1:] not in ("-", "−", "+", "*", "/", "^", "_")
        and not _other_currency(reference, said[start].gap)
        and not (start and _roles_swapped(said[:start], question))
        and _is_complete(said[:end], said[end:], known[end:], alone=not start)
        for start, end in spans
    )


def concludes_otherwise(wanted: tuple[str, ...], answer: str) -> bool:
    """Whether the last conclusion, "so the Atlantic", does not have the words of the reference."""
    last = last_match(_CONCLUSION, answer)
    return last is not None and not _places(wanted, words(answer[last.end() :]))


def _is_undisputed(
    said: tuple[Token, ...], quoted: list[bool], span: tuple[int, int], asked: frozenset[str]
) -> bool:
    """Whether nothing negates the answer or leaves it open."""
    start, end = span
    begin, stop = _sentence(said, span)
    for n, token in enumerate(said):
        if start <= n < end or quoted[n]:
            continue
        if token.word in _DENIAL or (n < start and _QUALIFIED.search(token.word)):
            return False
        if token.word in _REVISION and token.word not in asked:
            return False
        if begin <= n < stop and token.word in _DOUBT and token.word not in asked:
            return False
    return True


def _on_the_subject(
    said: tuple[Token, ...], known: list[bool], span: tuple[int, int], question: str
) -> bool:
    """Whether the sentence is about what was asked, not about another thing that it names."""
    begin, stop = _sentence(said, span)
    rest = [n for n in range(begin, stop) if not span[0] <= n < span[1]]
    named = any(said[n].capital and not known[n] for n in rest if n > span[0])
    stems = {_stem(said[n].word) for n in rest}
    wanted = {_stem(word) for word in words(question) if word not in _NAMELESS}
    share = len(wanted & stems) / len(wanted) if wanted else 1.0
    if named and len(rest) > _FEW and share < _ENOUGH:
        return False
    return share > 0 or len(rest) <= _FEW or stop - begin == len(said)


def _sentence(said: tuple[Token, ...], span: tuple[int, int]) -> tuple[int, int]:
    """The first word of the sentence around the span, and the first after it."""
    stops = [n for n in range(1, len(said)) if _STOP.search(said[n].gap) and said[n - 1].word[1:]]
    begin = max((n for n in stops if n <= span[0]), default=0)
    return begin, min((n for n in stops if n >= span[1]), default=len(said))


def _roles_swapped(before: tuple[Token, ...], question: str) -> bool:
    """Whether the verb precedes the name, but precedes the subject in the question."""
    asked = words(question)
    subjects = {_stem(token.word) for token in before[:-1]} - {_stem(w) for w in _NAMELESS}
    verb = _stem(before[-1].word)
    follows = [b for a, b in itertools.pairwise(asked) if _stem(a) == verb]
    return before[-1].word not in _NAMELESS and any(_stem(word) in subjects for word in follows)


def _places(wanted: tuple[str, ...], said: tuple[str, ...]) -> list[tuple[int, int]]:
    """The spans in which the words follow one another, with or without initials between them."""
    made = list[tuple[int, int]]()
    if wanted[0] not in said:
        return made
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


def _quoted(said: tuple[Token, ...]) -> list[bool]:
    """For each word whether it is in quotation marks, as a title is."""
    made, inside = [], False
    for token in said:
        inside ^= sum(map(token.gap.count, '"“”「」')) % 2 == 1
        made.append(inside)
    return made


def _known(said: tuple[Token, ...], quoted: list[bool], asked: frozenset[str]) -> list[bool]:
    """For each word whether it names nothing but what the question names.

    A title in quotation marks does not name a rival answer, nor do the other words of a name in
    the question: "Museum" in "the Country Music Hall of Fame and Museum".
    """
    stems = {_stem(word) for word in asked}
    made = [
        quote or token.word in _NAMELESS or token.word.isdigit() or _stem(token.word) in stems
        for token, quote in zip(said, quoted, strict=True)
    ]
    for order in (range(1, len(said)), range(len(said) - 2, -1, -1)):
        for n in order:
            near = n - 1 if order.step > 0 else n + 1
            joined = not (said[n].gap if order.step > 0 else said[near].gap).strip()
            named = said[near].capital or said[near].word in ("of", "and", "the")
            made[n] |= (
                said[n].capital
                and joined
                and named
                and made[near]
                and _stem(said[near].word) in stems
            )
    return made


def _stem(word: str) -> str:
    word = word.removesuffix("'s").removesuffix("’s")
    return _ENDING.sub("", word) if len(word) > 3 else word


def _introduces(before: tuple[Token, ...], known: list[bool], name: Token, *, date: bool) -> bool:
    """Whether the words before the name introduce it: they repeat the question, or are a verb."""
    if any(not k and _HAN.search(t.word) for t, k in zip(before, known, strict=True)):
        return False
    if all(known):
        return True
    at = len(before) - 1
    while at >= 0 and _describes(before[at], before[at + 1 :]):
        at -= 1
    if at < 0:
        return name.capital
    rivals = [t.capital and not k for t, k in zip(before[1 : at + 1], known[1:], strict=False)]
    if ":" in name.gap and sum(rivals) <= 1:
        return True
    if any(rivals) and not date:
        return False  # another thing is named, or identified with the answer
    return _governs(before[at].word, before[at - 1].word, known=known[at - 1], date=date)


def _governs(last: str, verb: str, *, known: bool, date: bool) -> bool:
    """Whether the word before a name makes it the maker, the name or the place."""
    match last:
        case "by":
            return verb in _MADE or known
        case "as":
            return verb in _MADE | _GIVING
        case _:
            return last in _GIVING or (last in _PLACE and (date or verb in _STATES))


def _describes(token: Token, after: tuple[Token, ...]) -> bool:
    """Whether the token is an article, a title, a nationality or another modifier of a name."""
    if after and after[0].gap.strip(" \"“”‘’'\n\xa0"):
        return False
    if _HAN.search(token.word):
        return False
    if token.capital:
        return token.word in _TITLES or token.word.endswith(_NATIONS)
    return token.word in _TITLES or token.word not in _FUNCTION | _PREPOSITIONS


def _is_complete(
    before: tuple[Token, ...], after: tuple[Token, ...], known: list[bool], *, alone: bool
) -> bool:
    """Whether the following words neither extend the name nor add another or a new claim."""
    if not after:
        return True
    first, own = after[0], known[0] and after[0].word not in _TITLES
    verbal = len(after) > 1 and not after[1].capital and after[1].word.endswith(_VERBS)
    if first.word == "and" and verbal:
        return True
    if first.word in _JOINS or first.gap == "-" or _JOINING.search(first.gap):
        return False
    if not first.gap.strip() and not own:
        verb = first.word.endswith(_VERBS) or first.word in _STATES
        if first.capital or not (verb and before[-1].capital):
            return False
    if _is_list(after):
        return False
    if alone and first.gap.strip() == "," and all(token.capital for token in after):
        return False  # London, Ontario
    if any(_QUALIFIED.search(token.word) for token in after):
        return False
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
        joined = token.word in ("and", "or") and commas > 0
        if joined or commas > 2:
            return True
        if not commas or size > _ITEM or token.word in _FUNCTION or token.word.endswith("ed"):
            return False
    return commas > 1


def _other_currency(reference: str, gap: str) -> bool:
    """Whether the number has another currency sign than that of the reference."""
    wanted, given = reference.strip()[:1], gap.strip()[-1:]
    return wanted != given and {wanted, given} <= _CURRENCIES


def _has_year(found: Iterable[str]) -> bool:
    return any(word.isdigit() and len(word) == 4 for word in found)


def _is_date(wanted: tuple[str, ...]) -> bool:
    return all(word.isdigit() or word in _MONTHS or word in FILLER for word in wanted)


def _in_a_row(wanted: tuple[str, ...], said: tuple[str, ...]) -> bool:
    size = len(wanted)
    return any(said[at : at + size] == wanted for at in range(len(said) - size + 1))
