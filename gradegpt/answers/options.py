"""Option letters, option texts in a question, and answer keys of several questions."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from gradegpt.answers.text import fold, plain

LETTERS: Final = "ABCDEFGHIJ"
"""The possible letters of options."""
LETTER: Final = r"(?:[A-HJ]|I(?!['’]|\s+[a-z]|\s*=))"
"""An option letter in a sentence; "I" there is mostly a pronoun, and "I =" a current."""
_LETTERS = re.compile(
    r"(?:选项|选择|选|option|choice|answer)?[\s_]*[(（\[]?(?P<letters>[A-J](?:[\s,、，和与及&/]*(?:and\s+)?[A-J])*)"
    r"(?![A-Za-z])[)）\]]?(?P<rest>[\s.:：、。,，项)]*.*)",
    re.DOTALL | re.IGNORECASE,
)
_SMALL_LIST = re.compile(
    r"[(\[]?[a-j][)\]]?(?:(?:\s*,\s*|\s+and\s+|\s*,\s*and\s+)[(\[]?[a-j][)\]]?)+"
)
ROMAN_PARTS = re.compile(r"\(?I\)?[\s.:、].+\(?II\)?[\s.:、]", re.DOTALL)
_ANOTHER = re.compile(
    r"[\s.:,;+/&|)\](\[]*(?:或者?|还是|or\b|and\b|和|与)?[\s(\[]*[A-J](?![a-z'’])(?! [a-z])"
)
_OR_ANOTHER = re.compile(r"(?<![A-Za-z])(?:or|或者?)\s*\(?[A-J]\)?[\s.。]*\Z")
_HEDGED = re.compile(
    r"\s*[,，]?\s*(?:and\s+)?(?:or\b|或|possibly|maybe|perhaps|可能|也许|->|→"
    r"|(?:的?(?:选?项|说法|叙述|表述|描述)[^,，。]{0,10})?(?:错误|不正确|不对|错)(?!的)"
    r"|是错的|看(?:起来|上去|似)|(?:但|可是|不过|然而)[^,，。]{0,12}不"
    r"|的?(?:选?项|说法|叙述|表述|描述)(?:都|均|全)?(?:没有问题|没错|正确|对)[,，]"
    r"|(?:is|are) (?:wrong|incorrect|false)|[^,，。]{0,12}[,，]?\s*(?:可以)?排除)",
    re.IGNORECASE,
)
"""Words after letters by which other options may be meant, or these are rejected."""
_NAMES_AN_UNKNOWN = re.compile(
    r"\s*[=＝]|\s*[:：].*?[,;，；]\s*(?:and\s+)?[B-J]\s*[:：=]|[后前之以左右上下同组队点车]",
    re.DOTALL,
)
"""Text after a letter that names an unknown, not an option: "A = HCl", "A: x, B: y"."""
_LETTERED = re.compile(r"\(?(?P<letter>[A-J])\s*[).:,]\s*(?P<text>.+)", re.DOTALL)
_MAX_OPTION: Final = 400
_OPTION_LINE = re.compile(
    r"(?:^|[\s(（]|(?<=[)）。？?：:])(?=A))(?P<letter>[A-J])\s*[.．、:：)）]\s*(?P<text>.*?)(?=(?:[\s(（]+[A-J]\s*[.．、:：)）])|\n|$)",
    re.DOTALL,
)
_HALF_WIDTH: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
"""Full-width signs to ASCII, one for one, so that offsets remain valid."""

_COMMON: Final = tuple(zip("，：（）；．！？\u3000", ",:();.!? ", strict=True))
_WIDE = re.compile(r"[\uff01-\uff5e\u3000]")
_SMALL = re.compile(r"\([a-j]\)")
_LOWER = re.compile(r"(?<=\bis )\([a-j]\)|(?<=: )\([a-j]\)|^\([a-j]\)")
_MAX_SEQUENCE: Final = 500
_SPACED = re.compile(r"[A-J](?:[\s;,、]+[A-J])+")
_NUMBERED = re.compile(r"(?:\s*[(]?\d{1,2}[).、:]\s*[A-J]{1,5}(?![A-Za-z])[;,.。]?)+\s*")
_LONG_ROW = re.compile(r"[A-J]{5}(?:\s+[A-J]{2,5})*")
_SHORT_ROW = re.compile(r"[A-J]{2,6}")
_RANGE = re.compile(
    r"(?:第|小题|\b[Qq]uestions?\s*|回答|完成)\s*(?P<first>\d{1,2})\s*(?:[-–—~～至到]|to\b|through\b)\s*(?P<last>\d{1,2})"
)
_QUESTION = re.compile(r"(?:^|(?<=[\s。？?）)]))[(（]?(\d{1,2})[)）.．、](?!\d)")
_MOST_QUESTIONS: Final = 30
_SEQUENCE_STARTS: Final = frozenset(f"{LETTERS}(0123456789")


@lru_cache(maxsize=256)
def half_width(text: str) -> str:
    """Full-width signs as ASCII, and "answer is (b)" in capitals; the length is unchanged."""
    if not text.isascii():
        for wide, narrow in _COMMON:  # most of them are these few; a table costs more
            text = text.replace(wide, narrow)
        text = text.translate(_HALF_WIDTH) if _WIDE.search(text) else text
    return _LOWER.sub(lambda m: m[0].upper(), text) if _SMALL.search(text) else text


def letters(answer: str, listed: dict[str, str] | None = None) -> frozenset[str] | None:
    """The option letters that an answer names.

    Read are ``A``, ``(B)``, ``A、C``, ``AC``, ``A and C``, ``B. text`` and ``Choice_B``, and any
    letter before its own text in ``listed``: ``(E) a + b``.
    """
    text = fold(answer[:_MAX_OPTION]).strip(" .*:\n")
    lettered = _LETTERED.fullmatch(text)
    if lettered and plain(lettered["text"]) == plain((listed or {}).get(lettered["letter"], "")):
        return frozenset(lettered["letter"])
    if ROMAN_PARTS.match(text):
        return None
    if _SMALL_LIST.fullmatch(text):
        text = text.upper()
    match = _LETTERS.match(text)
    if match is None or (match["letters"][0].islower() and len(text) > 1):
        return None
    rest = match["rest"]
    if _NAMES_AN_UNKNOWN.match(rest) or _HEDGED.match(rest):
        return None
    if rest and rest[0] not in " .:、,)项\n" and not "\u3400" <= rest[0] <= "\u9fff":
        return None
    if _ANOTHER.match(rest) or _OR_ANOTHER.search(rest):
        return None  # "A或B", "B + D": it is open whether both are meant
    if rest.strip() and rest[0] == " " and rest.strip()[0].islower():
        return None  # "A number of ..." is a sentence, not an option
    # The word is removed first: in "B and C" its own letters would name options A and D.
    named = match["letters"].upper().replace("AND", " ")
    chosen = frozenset(char for char in named if char in LETTERS)
    word = len(chosen) > 1 and chosen & {"I", "J"} and not chosen <= {*(listed or ())}
    return None if word and text.isalpha() else chosen  # "AI" is a word


@lru_cache(maxsize=1024)
def options(question: str) -> dict[str, str]:
    """Letter -> option text, if the question lists at least two options; else empty."""
    found = {m["letter"]: m["text"].strip() for m in _OPTION_LINE.finditer(question)}
    return found if len(found) > 1 and "A" in found else {}


@lru_cache(maxsize=8192)
def sequence(text: str, question: str = "") -> tuple[str, ...]:
    """The answers to several questions in one text: ``C A C``, ``CADCB DCBBA``, ``7. C 8. AD``.

    ``DAC`` is such a text if the question mentions as many questions. Empty for any other text.
    """
    if len(text) > _MAX_SEQUENCE:
        return ()
    text = half_width(text).strip()
    if text[:1] not in _SEQUENCE_STARTS:
        return ()
    if _SPACED.fullmatch(text) or _LONG_ROW.fullmatch(text):
        return tuple(re.findall(r"[A-J]", text))
    if _NUMBERED.fullmatch(text):
        return tuple(re.findall(r"[A-J]+", text))
    if _SHORT_ROW.fullmatch(text):
        return tuple(text) if asked_questions(question)[1] == len(text) else ()
    return ()


def in_order(text: str) -> tuple[str, ...]:
    """The options of several questions, ``B A D``; empty for what may be a set of options."""
    named = sequence(text)
    return () if is_set(named) else named


@lru_cache(maxsize=1024)
def asked_questions(question: str) -> tuple[int, int]:
    """The number of the first of several questions and their count; 0 and 0 if not stated.

    They are stated as a range (``第9～11题``, ``questions 9 to 11``) or are numbered in the text.
    """
    if span := _RANGE.search(question):
        first, last = int(span["first"]), int(span["last"])
        if 0 < last - first < _MOST_QUESTIONS:
            return first, last - first + 1
    numbers = [int(m[1]) for m in _QUESTION.finditer(question)]
    run = [n for at, n in enumerate(numbers) if n == numbers[0] + at]
    return (run[0], len(run)) if len(run) > 1 else (0, 0)


def as_context(text: str, question: str) -> str:
    """A context in the form in which it may precede its question.

    The options of other questions are removed if the question lists its own, and so are the
    numbers of other questions: earlier sub-questions are not part of this one.
    """
    if options(question) and options(text):
        text = _OPTION_LINE.sub(" ", text)
    return _QUESTION.sub(" ", _RANGE.sub(" ", text))


def is_numbered(text: str) -> bool:
    """Whether the options follow the numbers of their questions: ``1. C 2. A``."""
    return _NUMBERED.fullmatch(half_width(text).strip()) is not None


def is_set(letters: tuple[str, ...]) -> bool:
    """Whether the letters may be one set: no letter twice, in alphabetical order."""
    return list(letters) == sorted({*letters})


# --- by position, by text, by exception -----------------------------------------------------------

HAN_ORDINALS: Final = "一二三四五六七八九十"
ORDINALS: Final = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
)  # fmt: skip
_PLACE = re.compile(
    rf"第([{HAN_ORDINALS}])(?:个选项|项)|the ({'|'.join(ORDINALS)}) (?:option|choice)"
)
_IT_IS = re.compile(r"\A(?:it(?:'s| is)|i (?:choose|pick)) ", re.IGNORECASE)
_EXCEPT = re.compile(
    r"除了?([A-J])(?:项|选项)?(?:以|之)?外,?(?:都|均|全)(?:对|正确)|all except ([A-J])"
)
_EACH = re.compile(r"(?:\([A-J]\)[\s,]*){2,}")
_JOINT = re.compile(r"[,;](?:and)?|and|和")
_STATEMENTS = re.compile(r"\(\d\)(?:[\s,和]*(?:and\s*)?\(\d\))*")


@lru_cache(maxsize=8192)
def chosen(answer: str, question: str = "") -> frozenset[str] | None:
    """The options that an answer chooses: by letter, as ``letters`` reads them, or otherwise.

    By position (``the third option``), by exception (``all except C``), by the texts that the
    question lists; if it lists none, the statements (1) and (3), as "1" and "3".
    """
    listed = options(question)
    text = fold(answer[:_MAX_OPTION]).strip(" .*\n")
    if _EACH.fullmatch(text):
        return frozenset(re.findall(r"[A-J]", text))
    if place := _PLACE.fullmatch(_IT_IS.sub("", text)):
        n = HAN_ORDINALS.index(place[1]) if place[1] else ORDINALS.index(place[2])
        return frozenset(LETTERS[n])
    if (rest := _EXCEPT.fullmatch(text)) and (rest[1] or rest[2]) in listed:
        return frozenset(listed) - {rest[1] or rest[2]}
    if not listed and _STATEMENTS.fullmatch(text):
        return frozenset(re.findall(r"\d", text))
    return letters(answer.removeprefix("options "), listed) or (
        _by_texts(text, listed) if listed else None
    )


def _by_texts(text: str, listed: dict[str, str]) -> frozenset[str] | None:
    """The options whose texts make up the answer; None if two of the texts are equal."""
    known = {plain(option).strip(".;,"): letter for letter, option in listed.items()}
    if len(known) < len(listed) or "" in known:
        return None
    rest, named = plain(text), set[str]()
    while option := max(filter(rest.startswith, known), key=len, default=""):
        named.add(known[option])
        joint = _JOINT.match(rest, len(option))
        if joint is None:
            return frozenset(named) if rest == option else None
        rest = rest[joint.end() :]
    return None
