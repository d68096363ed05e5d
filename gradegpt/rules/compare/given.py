"""Whether a sentence gives a text as its answer, or merely mentions it.

"Written by Shakespeare" gives Shakespeare; "a rival of Shakespeare", "Stratford, where Shakespeare
was born" and "unlike Shakespeare" mention the name and give another answer. The words before it
decide: they repeat the question, or the name is the complement of a verb that gives an answer (is,
called, played by, located in). No other name may precede it, no word near it may negate or doubt
it, and nothing after it may extend it to another name or make another claim.

The words are in ``given.tsv``: ``filler`` and ``function`` name nothing; ``denial`` and
``revision`` count anywhere in the text, ``doubt`` in the same sentence; ``giving``, ``states``
(before in, on, at) and ``made`` (before by) introduce an answer.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from gradegpt.answers.text import fold, signs
from gradegpt.answers.words import Token, stem, tokens, words

MAX_ANSWER: Final = 120
"""Most words of an answer that is searched for the reference; a longer one makes many claims."""
MAX_REFERENCE: Final = 6
_KIND: Final = {
    kind: frozenset(listed.split())
    for kind, listed in (
        line.split("\t")
        for line in Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    )
}
FILLER: Final = _KIND["filler"]
QUALIFYING: Final = _KIND["denial"] | _KIND["revision"] | _KIND["doubt"]
_FUNCTION: Final = FILLER | _KIND["function"]
_NAMELESS: Final = _FUNCTION | _KIND["month"] | _KIND["title"]
_CONCLUDING: Final = frozenset(("so", "thus", "hence", "therefore"))
_NATIONS: Final = ("an", "ish", "ese", "ch")
_VERBS: Final = ("s", "ed", "ly", "ng", "won")
_CURRENCIES: Final = frozenset("$€£¥")
_JOINING: Final = frozenset("/&、·•+")
_FEW: Final = 3
"""Most other words in a sentence that is hardly more than the answer, and most in a list's item."""
_ENOUGH: Final = 0.3
"""Required share of the question's words in a sentence that names other things, too."""
_QUALIFIED: Final = re.compile(
    r"…|\.\.\.|——|[？?]|[不没非错误或另]|还有|但|可是|更正|等等|其中|应该|[哦噢]"
)
"""Signs and Chinese words after an answer that negate or doubt it or add another."""
_NAME: Final = re.compile("[\u3400-\u9fff]{2,4}")
_STOP: Final = re.compile(r"[.!?;。！？；\n](?!\w)")
_BEFORE: Final = re.compile(r"(?:[-+*/^_¬~∠△√∂∇∀∃]\s*|[!&]|\\[A-Za-z]+[\s{]*)\Z")
"""A sign directly before a name that makes it another one."""


class _Said(NamedTuple):
    """What an answer says: its words, and for each whether it is quoted, and named before."""

    words: tuple[Token, ...]
    quoted: list[bool]
    known: list[bool]
    asked: tuple[str, ...]


def gives(reference: str, answer: str, question: str) -> bool:
    """Whether ``answer``, a sentence or a few, gives the short ``reference`` as its answer."""
    wanted, given = words(reference), words(answer)
    if not 0 < len(wanted) <= MAX_REFERENCE or len(given) > MAX_ANSWER:
        return False
    spans = _places(wanted, given)
    if not spans or all(word in FILLER or len(word) < 2 for word in wanted):
        return False
    said = _read(answer, question)
    if _places(wanted, said.asked):
        return False
    year = any(len(word) == 4 and word.isdigit() for word in wanted)
    dated = all(w.isdigit() or w in _KIND["month"] or w in FILLER for w in wanted)
    return any(
        _has_its_signs(reference, answer, said, *span)
        and _is_undisputed(said, *span)
        and not _swaps_roles(said, span[0])
        and _is_introduced(said, span[0], dated)
        and _is_complete(said, *span, year)
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
    stems = {*map(stem, asked)}
    known = [
        quote or token.word in _NAMELESS or token.word.isdigit() or stem(token.word) in stems
        for token, quote in zip(said, quoted, strict=True)
    ]
    for order in (range(1, len(said)), range(len(said) - 2, -1, -1)):
        for n in order:
            near = n - order.step
            if known[n] or not known[near] or not said[n].capital or said[max(n, near)].gap.strip():
                continue
            named = said[near].capital or said[near].word in ("of", "and", "the")
            known[n] = named and stem(said[near].word) in stems
    return _Said(said, quoted, known, asked)


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


def _has_its_signs(reference: str, answer: str, said: _Said, start: int, end: int) -> bool:
    """Whether the name has the signs of the reference, and no other: AB ∥ CD, f', $5, 5 %."""
    wanted, name = tokens(reference), said.words[start:end]
    whole = end - start == len(said.words)
    inner = (
        [reference, answer]
        if whole
        else ["".join(t.gap + t.word for t in part)[len(part[0].gap) :] for part in (wanted, name)]
    )
    if "," in fold(inner[0]):  # a row: HCl, NaOH or HCl → NaOH
        inner = [text.translate({ord(sign): "," for sign in "→<"}) for text in inner]
    if signs(inner[0]) != signs(inner[1]):
        return False
    tone, tones = _accents(reference), _accents(answer)
    if tone and tones and tone not in tones:
        return False  # piào is not piāo
    money = {name[0].gap.rstrip()[-1:], reference.strip()[:1]}
    if len(money) == 2 and money <= _CURRENCIES:
        return False
    before, mine = (_BEFORE.search(part[0].gap) for part in (name, wanted))
    if (before and before[0].strip()) != (mine and mine[0].strip()):
        return False
    last = name[-1].word
    if len(last) > 2 and not last.isdigit():
        return True
    gap = said.words[end].gap if end < len(said.words) else _tail(answer)
    after = _sign_after(gap)
    return not after or after == _sign_after(_tail(reference))


def _tail(text: str) -> str:
    """What stands after the last word of a text."""
    folded = fold(text)
    return folded[max((n for n, char in enumerate(folded, 1) if char.isalnum()), default=0) :]


def _sign_after(gap: str) -> str:
    """A sign directly after a number or a letter that makes it another one: x^, 5%, f', n!."""
    apart = gap[:1] in ("'", "!") and gap[1:2].isalnum()
    return gap[:1] if gap[:1] in tuple("^_%°'!") and not apart else ""


def _accents(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.combining(c))


def _is_undisputed(said: _Said, start: int, end: int) -> bool:
    """Whether nothing negates the answer, doubts it, concludes otherwise or is about another thing.

    Of other words in its sentence, some repeat the question; more, if one is another name.
    """
    stops = [
        n
        for n in range(1, len(said.words))
        if _STOP.search(said.words[n].gap) and said.words[n - 1].word[1:]
    ]
    begin = max((n for n in stops if n <= start), default=0)
    stop = min((n for n in stops if n >= end), default=len(said.words))
    for n, (token, quoted) in enumerate(zip(said.words, said.quoted, strict=True)):
        if start <= n < end or quoted:
            continue
        word, near = token.word, begin <= n < stop
        if word in _KIND["denial"] or (n < start and _QUALIFIED.search(word)):
            return False
        if n > end and word in _CONCLUDING and {*token.gap} & {*".;；。"}:
            return False
        doubted = word in _KIND["revision"] or (near and word in _KIND["doubt"])
        if doubted and word not in said.asked:
            return False
    rest = [n for n in range(begin, stop) if not start <= n < end]
    if len(rest) <= _FEW:
        return True
    asked = {stem(word) for word in said.asked if word not in _NAMELESS}
    share = len(asked & {stem(said.words[n].word) for n in rest}) / len(asked) if asked else 1.0
    another = any(said.words[n].capital and not said.known[n] for n in rest if n > start)
    if another and share < _ENOUGH:
        return False
    return share > 0 or stop - begin == len(said.words)


def _is_introduced(said: _Said, start: int, dated: bool) -> bool:
    """Whether the words before the name introduce it: they repeat the question, or are a verb."""
    before, known, name = said.words[:start], said.known[:start], said.words[start]
    if any(not k and "\u3400" <= t.word <= "\u9fff" for t, k in zip(before, known, strict=True)):
        return False
    if all(known):
        return True
    at = start - 1
    while at >= 0 and _describes(said.words[at], said.words[at + 1].gap if at + 1 < start else ""):
        at -= 1
    if at < 0:
        return name.capital
    rivals = [t.capital and not k for t, k in zip(before[1 : at + 1], known[1:], strict=False)]
    if ":" in name.gap and sum(rivals) <= 1:
        return True
    if any(rivals) and not dated:
        return False  # another thing is named, or identified with the answer
    last, verb = before[at].word, before[at - 1].word
    match last:
        case "by":
            return verb in _KIND["made"] or known[at - 1]
        case "as":
            return verb in _KIND["made"] | _KIND["giving"]
        case "in" | "on" | "at":
            return dated or verb in _KIND["states"]
        case _:
            return last in _KIND["giving"]


def _swaps_roles(said: _Said, start: int) -> bool:
    """Whether "X beat NAME" answers who beat X: the verb is before the subject in the question."""
    *before, last = said.words[:start] or (Token("is", False, ""),)
    if last.word in _NAMELESS:
        return False
    subjects = {stem(t.word) for t in before if t.word not in _NAMELESS}
    pairs = pairwise(map(stem, said.asked))
    return any(verb == stem(last.word) and name in subjects for verb, name in pairs)


def _describes(token: Token, gap: str) -> bool:
    """Whether the token is an article, a title, a nationality or another modifier of a name."""
    if gap.strip(" \"“”‘’'\n\xa0"):
        return False
    if token.word in _KIND["title"]:
        return True
    if token.capital:
        return token.word.endswith(_NATIONS)
    return token.word not in _FUNCTION | _KIND["preposition"]


def _is_complete(said: _Said, start: int, end: int, year: bool) -> bool:
    """Whether the following words neither extend the name nor add another or a new claim."""
    after, known = said.words[end:], said.known[end:]
    if not after:
        return True
    items = sum("," in token.gap for token in said.words[start + 1 : end])
    if items > 1 and after[0].gap.strip() == ",":
        return False  # an item more
    if year and any(len(token.word) == 4 and token.word.isdigit() for token in after):
        return False
    first, gap = after[0], after[0].gap
    second = after[1] if len(after) > 1 else first
    if first.word == "and" and second.word.endswith(_VERBS) and not second.capital:
        return True
    if first.word in _KIND["join"] or gap == "-" or _JOINING & {*gap}:
        return False
    if not gap.strip() and (not known[0] or first.word in _KIND["title"]):
        verb = first.word.endswith(_VERBS) or first.word in _KIND["states"]
        if first.capital or not (verb and said.words[end - 1].capital):
            return False
    if _is_list(after) or any(_QUALIFIED.search(token.word) for token in after):
        return False
    if (
        not start
        and gap.strip() == ","
        and all(t.capital or _NAME.fullmatch(t.word) for t in after)
    ):
        return False  # London, Ontario; 鲁迅、老舍
    return not any(
        token.capital and not is_known and giving.word in _KIND["giving"]
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
