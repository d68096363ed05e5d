"""Which of several values that a text names is the one that the question asks for.

"鸡有23只，兔有12只" and "The total cost is $45: shirts $30, hats $15" name more values than the
asked one. A value is bound to the question by its unit, by the words beside it that no other value
has, by a word for a total where one is asked for, or by the conclusion that it stands in. Where
nothing binds, there is no claim, and the item stays open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from gradegpt.answers import values
from gradegpt.answers.amounts import amounts
from gradegpt.answers.chemistry import reaction
from gradegpt.answers.number import spelled
from gradegpt.answers.types import AnswerType, Group, Leaf, Region, Relation
from gradegpt.answers.words import stem
from gradegpt.rules.cues import cue, words

LISTS: Final = (AnswerType.MULTI_ANSWER, AnswerType.MULTI_PART)
_READ: Final = (
    AnswerType.NUMBER, AnswerType.INTERVAL, AnswerType.SET, AnswerType.TUPLE, AnswerType.EQUATION,
    AnswerType.EXPRESSION,
)  # fmt: skip
"""Types as which a formula must be read, to be one of their answers."""
_FUNCTION = r"(?:arc)?(?:sin|cos|tan|cot|sec|csc)|ln|log|exp|sqrt|lim|pi|cm|mm|km|kg|mol"
_SIGNS = r"[-−+*/^=<>≤≥≠±×÷·√π∞∪∩∈_{}()\[\]|,;'′°℃²³¹⁰-₎%:≈&]|\\\\"
_ATOM = (
    r"\$[^$\n]+\$|\\\(.+?\\\)|\\[A-Za-z]+|\\[,;!{} ]|\d+(?:\.\d+)?|(?!->)"
    rf"{_SIGNS}|(?<![A-Za-z])(?:{_FUNCTION})(?![A-Za-z])|(?<=[\d)^*/+-])[a-z]{{2,3}}(?=[\^+*/-])"
    r"|(?<![A-Za-z'])(?![aAI]\s+\w)[A-Za-zα-ω](?![A-Za-z'’])|(?<![A-Za-z])[A-Za-z]'(?=\()"
)
_MATH = re.compile(rf"(?:{_ATOM})(?:[ \t]*(?:{_ATOM}))*")
_BODY = re.compile(r"[\dπ∞√$\\=<>]|^[A-Za-z]$")
"""What a formula has that is no punctuation."""
_LIST_GAP = re.compile(r"\s*(?:[,、;]|和|与|或|及|and|or|,\s*and)?\s*")
_OR_GAP = re.compile(r"\s*(?:[或且]|or|and)\s*")
_RUN = re.compile(r"\s*(?:[~～]|[-–—]{1,2}|to|到|至|[,、]?\s*(?:and|or|和|与|及|或)|[,、])\s*")
"""What joins the numbers of a list or of a range, which is no number."""
_ASIDE = re.compile(r"(?<=[\w°%])\s+\(.*\)\Z")
"""A value in brackets after another: 100 °C (212 °F)."""


_ANNOTATED = re.compile(r"<<[^<>\n]*>>")
"""A calculation in the notes of GSM8K: <<20+5=25>>."""


class Mention(NamedTuple):
    """An answer that a response names, and its place."""

    text: str
    start: int
    end: int


def mentions(text: str, kind: AnswerType, question: str) -> list[Mention]:
    """The answers of a type that a text in ASCII punctuation names, in order."""
    lists, number = kind in LISTS, kind is AnswerType.NUMBER
    text = _ANNOTATED.sub(lambda note: " " * len(note[0]), text) if "<<" in text else text
    currency = number or text.count("$") % 2
    plain = text.replace("$", " ") if currency else text
    found = [*_formulas(plain, kind)]
    if number:
        found = _with_units(text, [m for m in found if not m.text.isalpha()])
    if lists:  # 20 and 30 in "the primes between 20 and 30 are 23 and 29" are of the question
        asked = question.replace(" ", "")
        measured = (m.text.replace(" ", "") for m in found)
        given = [not t.isdigit() and t in asked for t in measured]
        found = [m for m, is_given in zip(found, given, strict=True) if not is_given] or found
    made = _joined(text, found, _LIST_GAP if lists else _RUN if number else None)
    if lists:
        made = [m for m in made if m.text not in question] or made
    if number:
        return made
    if kind is AnswerType.EXPRESSION:
        made = [m if reads_as(m.text, kind) else _result(m) for m in made]
    return [m for m in made if kind not in _READ or reads_as(m.text, kind)]


def _formulas(text: str, kind: AnswerType) -> Iterator[Mention]:
    lists = kind in (*LISTS, AnswerType.SET)
    for match in _MATH.finditer(text):
        cuts = [] if lists else list(_top_level(match[0], kind))
        for start, end in zip([0, *(c + 1 for c in cuts)], [*cuts, len(match[0])], strict=True):
            body = match[0][start:end].lstrip(" \t,;:'≈*").rstrip(" \t,;:*-")
            if not re.search(r"[\d)]['′″]+\Z", body):
                body = body.rstrip("'")
            if body.endswith(")") and body.count(")") > body.count("(") + body.count("["):
                body = body[:-1]
            elif body.count("(") > body.count(")") + body.count("]"):
                body = body[: body.rindex("(")].rstrip() or body.lstrip("( ")
            elif kind is AnswerType.NUMBER and (aside := _ASIDE.search(body)):
                body = body[: aside.start()]
            if _BODY.search(body):
                begin = match.start() + match[0].index(body, start)
                yield Mention(body, begin, begin + len(body))


def _top_level(text: str, kind: AnswerType) -> Iterator[int]:
    """The places of the commas and semicolons outside of brackets and formulas."""
    depth, formula = 0, False
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        formula ^= sign == "$"
        if depth > 0 or formula:
            continue
        joined = r",\d{3}(?!\d)" if kind is AnswerType.NUMBER else r",\d{3}(?!\d)|,\s*[a-z]\s*="
        comma = sign in ",;" and not re.match(joined, text[at:])
        if comma:
            yield at


def _with_units(text: str, found: list[Mention]) -> list[Mention]:
    """Numbers with their units, and those in words, in the order of the text.

    Of ``3 × 5 = 15`` the result counts; a date, a time or 2 dollars and 55 cents is one value.
    """
    made = list(found)
    for amount in amounts(text):
        inside = [m for m in made if m.start < amount.end and amount.start < m.end]
        if any(m.start <= amount.start and amount.end <= m.end for m in inside):
            continue
        if text[max(0, amount.start - 1) : amount.end] in _HALF_OF:
            continue
        start = min([amount.start, *(m.start for m in inside)])
        end = max([amount.end, *(m.end for m in inside)])
        made = [m for m in made if m not in inside] + [Mention(text[start:end], start, end)]
    counting = _COUNTING if found else {"两"}  # beside 一九八九年, 两 in 东西两边 is none
    made = [m for m in made if m.text not in counting] or made
    results = [
        one for one in map(_result, made)
        if not (one.text.isdigit() and text[max(0, one.start - 1) : one.start].isalpha()
                and text[one.start - 1].isascii())  # a footnote, or a name
    ]  # fmt: skip
    # a formula that is not read stands in the way of its numbers; a name or a sign does not
    read = (any(map(str.isdigit, m.text)) or reads_as(m.text, AnswerType.NUMBER) for m in results)
    results = [m for m, is_read in zip(results, read, strict=True) if is_read]
    for n, one in enumerate(results):
        if more := _PART.match(text, one.end):  # an unread whole stands in the way of its part
            results[n] = Mention(text[one.start : more.end()], one.start, more.end())
    return sorted(results, key=lambda m: m.start)


def _result(one: Mention) -> Mention:
    """What a calculation comes to, before it is rounded; the value itself where it is none."""
    exact = one.text.replace("\\approx", "≈").split("≈")
    text = exact[0].rpartition("=")[2] if "=" in exact[0] else exact[-1]
    text = text.strip(" $&*").rstrip("\\") if len(exact) > 1 or "=" in one.text else text
    at = one.start + one.text.rfind(text)
    return Mention(text, at, at + len(text)) if text else one


def _joined(text: str, found: list[Mention], gap: re.Pattern[str] | None) -> list[Mention]:
    """Neighbours that are one answer: a list, an option and its text, ``x<1 or x>3``."""
    made = list[Mention]()
    for one in found:
        if made and _belongs(text, made[-1], one, gap):
            start = made.pop().start
            made.append(Mention(text[start : one.end], start, one.end))
        else:
            made.append(one)
    return made


def _belongs(text: str, last: Mention, one: Mention, gap: re.Pattern[str] | None) -> bool:
    if gap is not None and gap.fullmatch(text, last.end, one.start):
        return True
    unclosed = last.text.count("{") > last.text.count("}")
    ranges = not any({*"<>≤≥"}.isdisjoint(m.text) for m in (last, one))
    return (unclosed or ranges) and _OR_GAP.fullmatch(text, last.end, one.start) is not None


# --- which of them is asked for -------------------------------------------------------------------

_CLAUSE = re.compile(r"[,，;；。！？!?\n]|\.(?!\d)|\b(?:and|but)\b|而且?|但")
_ASKS, _TOTAL, _HOW_MANY = map(cue, ("asks", "total", "asks how many"))
_ANOTHER, _MORE = map(cue, ("another", "difference"))
_WORD = re.compile(r"[A-Za-z]+|[\u3400-\u9fff]")
_EMPTY: Final = frozenset(map(stem, words("empty")))
"""Words and characters that tell no value from another."""
WHEN = cue("asks when")
_YEAR = re.compile(r"\(?\b(?:1\d|20)\d\d\b年?\)?")
_HEADS = cue("heads")
_END = re.compile(r"[,，。！？!?\n;；]|\.(?!\d)")
_CONCLUDES = cue("conclude", before=r"[\s*#>]*(?:and |but )?")
AT: Final = cue("at", after=r"\s*\$?[a-z](?:\s?=\s?)?\Z")
_HALF_OF: Final = ("的一半", "的半")
"""Half of another value."""
_PART = re.compile(
    r"\s*of (?:them|us|these|those|which|π|pi)\b"
    r"|\s?根号\s?[\d一二三四五六七八九]+|(?:\s?out of|(?<=\b1)\s?in) \d+(?=\W*\Z)"
    r"|\s*(?:乘以?|除以|的?\S{0,6}次方|times\b|multiplied|divided)"
    r"|[A-Za-z壹贰叁肆伍陆柒捌玖拾佰仟]|[⁰-⁹²³]|\^",
    re.IGNORECASE,
)
"""What follows a number that only is a part of a value."""
_COUNTING: Final = frozenset("一两二三四五六七八九十")
_CHAIN = re.compile(
    r"[\s,]*(?:=|≈|\\approx|即|也就是|约?合|i\.e\.,?|that is,?|(?:which is )?(?:or|about|约|\())+"
    r"[\s(]*(?:about|约|≈|=)?\s*"
)
_LETTER_IS = re.compile(r"(?<![A-Za-z0-9\\_^)])([A-Za-z])\s*=\s*[$\s]*\Z")
_ASKED_LETTER = re.compile(
    r"(?:[求则]|\b(?:find|what is|(?:value|measure) of|solve for)\b)[\s$]*"
    r"([A-Za-z])(?![A-Za-z_^(\d]|\s*[-+*/×])"
    r"|\b([A-Za-z])\s*=\s*[$\s]*(?:[?？_]|\Z|多少)",
    re.IGNORECASE,
)
_IS = re.compile(r"(?:[是为得=]|\b(?:is|equals)|['’]s)[\s$*]*\Z", re.IGNORECASE)
_SAID = re.compile(r"(?:[是为得]|\b(?:is|are|was|were|equals))[\s$*]*\Z", re.IGNORECASE)
_BEFORE_HOW_MANY = re.compile(r"([\u3400-\u9fff]{2})(?:几|多少)")
COPULA: Final = cue("is", after=r"\s*(?:the )?[\s$*]*\Z")


@lru_cache(maxsize=1024)
def _given(question: str) -> frozenset[object]:
    """The numbers of a question."""
    digits = (_size(m) for m in re.findall(r"\d[\d.,:/]*", question))
    words = (
        spelled(m)
        for m in re.findall(r"\b(?:three|four|five|six|seven|eight|nine|ten)\b", question)
    )
    return frozenset((*digits, *words))


@lru_cache(maxsize=4096)
def _size(text: str) -> object:
    """The number of a value without its unit; the text where it is none."""
    value = values.read(text.strip("$*. "))
    if isinstance(value, Leaf) and value.quantity is not None:
        return value.quantity.value
    return text.strip("$*. ")


@lru_cache(maxsize=1024)
def _asked(question: str) -> str:
    """The last clause of a question that asks."""
    pieces = [p for p in re.split(r"[。；;，,：\n]|[.?？:](?=\s|\Z)", question) if p.strip()]
    return next((p for p in reversed(pieces) if _ASKS.search(p)), pieces[-1] if pieces else "")


def _told(text: str) -> frozenset[str]:
    """What words tell one value from another: stems, or single characters of Chinese."""
    found = (m[0] if len(m[0]) < 2 else m[0].lower() for m in _WORD.finditer(text))
    return frozenset(map(stem, found)) - _EMPTY


def bound(text: str, named: Sequence[Mention], question: str) -> Mention | None:
    """The value that the question asks for among those of a text; None where nothing binds one."""
    live = list(named)
    for rule in (
        _headed, _not_in_subject, _not_aside, _not_restated, _of_the_kind, _not_given, _by_letter,
        _by_unit, _after_its_word, _total, _by_words, _concluding, _by_copula,
    ):  # fmt: skip
        if len({_size(m.text) for m in live}) < 2:
            break
        live = rule(text, live, question, named) or live
    one = len({_size(m.text) for m in live}) == 1
    if one and is_contradicted(text, named, live[-1]):
        return None
    return live[-1] if one else None


def is_contradicted(text: str, named: Sequence[Mention], claim: Mention) -> bool:
    """Whether a value is said again in the same unit with another size: 5/8, that is 6.25 %."""
    size, unit = _size(claim.text), _unit(claim.text)
    again = [_size(m.text) for m in restated(text, named, claim) if _unit(m.text) == unit]
    return isinstance(size, Fraction) and any(
        isinstance(other, Fraction) and abs(size - other) * 50 > abs(size) for other in again
    )


def _headed(
    text: str, live: list[Mention], question: str, named: Sequence[Mention]
) -> list[Mention]:
    """The quantity that a text begins with, before a colon: 12 people: 11 on the field, and one."""
    return [m for m in live if not text[: m.start].strip("* ") and _HEADS.match(text, m.end)]


def _not_in_subject(
    text: str, live: list[Mention], _question: str, _named: Sequence[Mention]
) -> list[Mention]:
    """Without the values of a subject: 4 and 6 in "the area of the 4 by 6 rectangle is 24".

    What the clause says of it is its only value after an "is"; a value that begins it is no part.
    """
    dropped = set[Mention]()
    for said in (m for m in live if _SAID.search(text, 0, m.start) and not _is_aside(text, m)):
        start = max((m.end() for m in _CLAUSE.finditer(text, 0, said.start)), default=0)
        end = next((m.start() for m in _CLAUSE.finditer(text, said.end)), len(text))
        others = [m for m in live if m != said and start <= m.start < end]
        later = any(m.start > said.start or _IS.search(text, 0, m.start) for m in others)
        if not later and all(_WORD.search(text, start, m.start) for m in others):
            dropped |= {*others}
    return [m for m in live if m not in dropped]


def by_label(text: str, named: Sequence[Mention], question: str) -> list[tuple[int, Mention]]:
    """The values with the number of words beside each that the question asks with, best first."""
    live, wanted = list(named), _told(_asked(question))
    for rule in (_not_aside, _not_restated, _of_the_kind, _not_given, _by_letter):
        live = rule(text, live, question, named) or live
    scored = [(len(_told(_label(text, named, m)) & wanted), m) for m in live]
    return sorted(scored, key=lambda one: -one[0])


def asks_for(text: str, named: Sequence[Mention], value: str, question: str) -> bool:
    """Whether the words beside a value are at least half of those that the question asks with."""
    wanted = _told(_asked(question))
    words = (_told(_label(text, named, m)) for m in named if same_size(m.text, value))
    return bool(wanted) and max((len(w & wanted) for w in words), default=0) * 2 >= len(wanted)


def same_size(one: str, other: str) -> bool:
    """Whether two values have the same number, whatever their units."""
    return _size(one) == _size(other)


def _not_aside(
    text: str, live: list[Mention], question: str, _named: Sequence[Mention]
) -> list[Mention]:
    wanted = _told(_asked(question))
    asked = (_told(text[m.end : m.end + 20]) & wanted for m in live)
    return [
        m for m, own in zip(live, asked, strict=True)
        if not _is_aside(text, m) and (own or not _is_bracketed(text, m))
    ]  # fmt: skip


def _not_restated(
    text: str, live: list[Mention], _question: str, _named: Sequence[Mention]
) -> list[Mention]:
    """Without values in another unit that follow their own: 5 m/s, that is 18 km/h."""
    made = live[:1]
    for last, one in pairwise(live):
        units = {_unit(last.text), _unit(one.text)}
        again = len(units - {""}) == 2 and _CHAIN.fullmatch(text, last.end, one.start)
        made += [] if again else [one]
    return made


def restated(text: str, named: Sequence[Mention], claim: Mention) -> list[Mention]:
    """The values that give a claim in another unit: 5 m/s, that is 18 km/h."""
    return [
        one
        for last, one in pairwise(named)
        if last == claim and _CHAIN.fullmatch(text, last.end, one.start)
    ]


def _of_the_kind(
    _text: str, live: list[Mention], question: str, _named: Sequence[Mention]
) -> list[Mention]:
    """Years where a time is asked for, and no years where a number is."""
    if WHEN.search(question):
        return [m for m in live if _YEAR.search(m.text)]
    if not _HOW_MANY.search(_asked(question)):
        return live
    return [m for m in live if not _YEAR.fullmatch(m.text)]


def _not_given(
    _text: str, live: list[Mention], question: str, _named: Sequence[Mention]
) -> list[Mention]:
    given = _given(question)
    new = [m for m in live if not {_size(m.text), _number(m.text)} & given]
    return new or [m for m in live if not m.text.isalpha()]


def _by_unit(
    _text: str, live: list[Mention], question: str, _named: Sequence[Mention]
) -> list[Mention]:
    asked = _asked(question)
    return [m for m in live if (unit := _unit(m.text)) and unit in asked]


def letters_asked(question: str) -> frozenset[str]:
    """The letters whose values a question asks for."""
    return frozenset(one[1] or one[2] for one in _ASKED_LETTER.finditer(_asked(question)))


def _by_letter(
    text: str, live: list[Mention], question: str, _named: Sequence[Mention]
) -> list[Mention]:
    """The values of the letter that is asked for: x = 6 where the question is for x."""
    asked = letters_asked(question) if "=" in text else frozenset[str]()
    before = (_LETTER_IS.search(text, 0, m.start) for m in live) if asked else ()
    return [m for m, name in zip(live, before, strict=False) if name and name[1] in asked]


def _by_words(
    text: str, live: list[Mention], question: str, named: Sequence[Mention]
) -> list[Mention]:
    wanted = _told(_asked(question))
    words = [_told(_label(text, named, m)) for m in live]
    shared = [len(w & wanted) for w in words]
    most = max(shared, default=0)
    best = [(m, w) for m, w, n in zip(live, words, shared, strict=True) if n == most > 0]
    enough = most == len(wanted) or (most > 1 and 2 * most >= len(wanted))
    return [m for m, w in best if enough or 2 * most > len(w)]


def _after_its_word(
    text: str, live: list[Mention], question: str, _named: Sequence[Mention]
) -> list[Mention]:
    """The values after the word that the question has before its interrogative: 还剩5个."""
    asked = _BEFORE_HOW_MANY.search(_asked(question))
    return [m for m in live if asked and text.endswith(asked[1], 0, m.start)]


def _total(
    text: str, live: list[Mention], question: str, named: Sequence[Mention]
) -> list[Mention]:
    total = [m for m in live if _TOTAL.search(_label(text, named, m))]
    asks = _TOTAL.search(_asked(question))
    return total if len(total) == 1 and (asks or total[0] is live[0]) else []


def _concluding(
    text: str, live: list[Mention], _question: str, _named: Sequence[Mention]
) -> list[Mention]:
    """The last value, where its clause concludes and no other value is in it."""
    last = live[-1]
    begin = max((m.end() for m in _END.finditer(text, 0, last.start)), default=0)
    alone = all(m.end <= begin for m in live[:-1])
    return [last] if alone and _CONCLUDES.match(text, begin) else []


def _by_copula(
    text: str, live: list[Mention], _question: str, _named: Sequence[Mention]
) -> list[Mention]:
    """The only value that directly follows "is" or another word that gives one."""
    return [m for m in live if _IS.search(text, 0, m.start)]


def _is_aside(text: str, one: Mention) -> bool:
    """Whether a value says where something has its value, or is a difference, or another's."""
    before = text[max(0, one.start - 14) : one.start]
    return bool(AT.search(before) or _MORE.match(text, one.end) or _ANOTHER.search(before))


def _is_bracketed(text: str, one: Mention) -> bool:
    """Whether a value stands in brackets that do not begin the text, nor belong to a formula."""
    opened = text.rfind("(", 0, one.start)
    return opened > 0 and text.find(")", opened, one.start) < 0 and text[opened - 1] not in "^_"


def _label(text: str, named: Sequence[Mention], one: Mention) -> str:
    """The words of the clause around a value, up to its neighbours."""
    low = max((m.end for m in named if m.end <= one.start), default=0)
    high = min((m.start for m in named if m.start >= one.end), default=len(text))
    start = max((m.end() for m in _CLAUSE.finditer(text, low, one.start)), default=low)
    stop = _CLAUSE.search(text, one.end, high)
    after = text[one.end : stop.start() if stop else high]
    if stop is None and high < len(text):
        after = " ".join(after.split(" ")[:3])
    return f"{text[start : one.start]} {after} {_unit(one.text)}"


def _number(text: str) -> object:
    """The number at the beginning of a value: of 100°C or $5."""
    match = re.search(r"\d[\d,]*(?:\.\d+)?(?!\s*/)", text)
    return _size(match[0]) if match else None


def _unit(text: str) -> str:
    """The unit or measure word at the end of a value."""
    match = re.search(r"[\d)}\s]([A-Za-z\u3400-\u9fff/²³°℃%]+)\Z", text.strip())
    return match[1] if match else ""


def reads_as(text: str, kind: AnswerType) -> bool:
    """Whether ``text`` as a whole can be read as a value of ``kind``."""
    value = values.read(text, region=kind is AnswerType.INTERVAL)
    match kind:
        case AnswerType.NUMBER:
            return isinstance(value, Leaf) and value.quantity is not None
        case AnswerType.EXPRESSION | AnswerType.EQUATION | AnswerType.INTERVAL if reaction(text):
            return True
        case AnswerType.EXPRESSION:
            one = isinstance(value, Leaf) or "matrix}" in text
            return one and values.is_read(value)
        case AnswerType.EQUATION:
            named = isinstance(value, Leaf) and bool(value.name) and values.is_read(value)
            return named or isinstance(value, Relation)
        case AnswerType.INTERVAL:
            return isinstance(value, Region)
        case AnswerType.TUPLE | AnswerType.SET:
            return isinstance(value, Group | Region) and values.is_read(value)
        case _:
            return values.is_read(value)
