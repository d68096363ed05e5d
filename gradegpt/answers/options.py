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
SAID: Final = r"(?<![A-Za-z])(?:[B-HJ]|(?-i:A)(?!\s*[a-z]))(?![A-Za-z])"
"""Any option letter in a sentence, where "A" may be an article, and "I" mostly is a pronoun."""
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
_AFTER_A_LETTER = re.compile(r"\Z|\s+(?![a-z])|[.:、,)项\n\u3400-\u9fff]")
"""What may follow a letter; "A number of …" is a sentence, not an option."""
_OR_ANOTHER = re.compile(r"(?<![A-Za-z])(?:or|或者?)\s*\(?[A-J]\)?[\s.。]*\Z")
_HEDGED = re.compile(
    r"\s*[,，]?\s*(?:and\s+)?(?:or\b|或|possibly|maybe|perhaps|可能|也许|->|→"
    r"|(?:的?(?:选?项|说法|叙述|表述|描述)[^,，。]{0,10})?(?:错误|不正确|不对|错)(?!的)"
    r"|是错的|看(?:起来|上去|似)|(?:但|可是|不过|然而)[^,，。]{0,12}不"
    r"|的?(?:选?项|说法|叙述|表述|描述)(?:都|均|全)?(?:没有问题|没错|正确|对)[,，]"
    r"|(?:is|are) (?:wrong|incorrect|false)|.*,.*(?:都|均|全)(?:不|没|错)"
    r"|[^,，。]{0,12}[,，]?\s*(?:可以)?排除)",
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
_LABEL = re.compile(r"(?:\A|[\s(])[A-J]\s*[.:)]")
_FEW_LABELS: Final = 2
"""Most labels in an answer; with more it lists the options."""
STEMS: Final = "甲乙丙丁戊"
_MARK = rf"(?:[A-O]\s*[.．、:：)）]|[{STEMS}]\s*[.．、)）])"
_OPTION_LINE = re.compile(
    rf"(?:^|[\s(（]|(?<=[)）。？?：:])(?=[A甲]))(?=(?P<letter>[A-O{STEMS}])){_MARK}\s*(?P<text>.*?)"
    rf"(?=(?:[\s(（]+{_MARK})|\n|$)",
    re.DOTALL,
)
_FURTHER = re.compile(
    rf"(?:选项?|option|choice|答案是?)?\s*\(?(?P<label>[K-O{STEMS}])\)?项?(?:[.:)].*)?",
    re.DOTALL | re.IGNORECASE,
)
"""An answer with a label beyond the usual letters: K, (乙)."""
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
    if (further := _FURTHER.fullmatch(text)) and listed:
        label = further["label"].upper()
        same = [letter for letter, option in listed.items() if plain(option) == label]
        return frozenset((same or [_letter(label)])[:1]) & {*listed} or None
    if ROMAN_PARTS.match(text):
        return None
    if _SMALL_LIST.fullmatch(text):
        text = text.upper()
    match = _LETTERS.match(text)
    if match is None or len(_LABEL.findall(text)) > _FEW_LABELS:
        return None
    if len(text) > 1 and re.search("[a-j]", match["letters"].replace("and", "")):
        return None  # Abc
    rest = match["rest"]
    if _NAMES_AN_UNKNOWN.match(rest) or _HEDGED.match(rest):
        return None
    if not _AFTER_A_LETTER.match(rest) or _ANOTHER.match(rest) or _OR_ANOTHER.search(rest):
        return None  # "A或B", "B + D": it is open whether both are meant
    # The word is removed first: in "B and C" its own letters would name options A and D.
    named = match["letters"].upper().replace("AND", " ")
    chosen = frozenset(char for char in named if char in LETTERS)
    word = len(chosen) > 1 and chosen & {"I", "J"} and not chosen <= {*(listed or ())}
    return None if word and text.isalpha() else chosen  # "AI" is a word


@lru_cache(maxsize=1024)
def options(question: str) -> dict[str, str]:
    """Letter -> option text, if the question lists at least two options; else empty."""
    found = {m["letter"]: m["text"].strip() for m in _OPTION_LINE.finditer(question)}
    stems = {_letter(label): text for label, text in found.items() if label in STEMS}
    found = {label: text for label, text in found.items() if label not in STEMS}
    if len(found) > 1 and "A" in found:
        return found
    return stems if {*"ABC"} <= {*stems} else {}  # 甲 and 乙 alone may be two texts


def only_lists(text: str, question: str) -> bool:
    """Whether a text repeats the options of a question, the first one first, and adds nothing."""
    listed, said = options(question), options(text)
    same = {letter: plain(option).strip(",;") for letter, option in said.items()}
    return (
        bool(said)
        and bool(_LABEL.match(fold(text).strip()))
        and same == {letter: plain(option).strip(",;") for letter, option in listed.items()}
    )


def _letter(label: str) -> str:
    """The letter of an option that is labelled 乙."""
    return LETTERS[STEMS.index(label)] if label in STEMS else label


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


NONE_RIGHT: Final = re.compile(
    r"\bnone of (?:the|these|them)\b(?! (?:other|rest|remaining))[^\n.]{0,100}"
    r"\b(?:correct|match|valid|right|above|choices|options|given|provided)"
    r"|\bno (?:correct|valid|right) (?:choice|option|answer)"
    rf"|(?:所有|四个|以上|各个?|全部)选项(?:[{LETTERS}、,，和与及]*)(?:都|均|全)(?:不|是?错)"
    r"|没有(?:一个)?(?:正确|符合[^\n。]{0,6})的?(?:选项|答案)|答案[^\n。]{0,4}[:：]?\s*无(?=\s|<|$|。)",
    re.IGNORECASE,
)
"""Statements that none of the options is right."""
_MAY_BE_NONE = re.compile(r"[Nn]o(?:ne)? |选项[^\n]{0,12}[不错]|没有|答案[^\n。]{0,8}无")
_LETTER_AT_END = re.compile(rf"[;；,，.。]\s*\(?[{LETTERS}][\s.)。*]*\Z")
_NONE_OPTION = re.compile(
    r"\bnone of (?:the (?:above|other|options|choices)|these|them)\b|\A\W*(?:none|neither)\W*\Z"
    r"|(?:以上|上述)\S{0,4}(?:不|错)|都不|没有(?:正确|符合)",
    re.IGNORECASE,
)
"""The text of an option that no other is right."""


def says_none_right(text: str) -> bool:
    """Whether a text states that none of the options is right, and names none at its end."""
    stated = _MAY_BE_NONE.search(text) and NONE_RIGHT.search(text)
    return bool(stated) and not _LETTER_AT_END.search(text)


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
        _by_texts(text, listed) or _as_none(text, listed) if listed else None
    )


def _as_none(text: str, listed: dict[str, str]) -> frozenset[str] | None:
    """The option that no other is right, if the answer says so."""
    same = [letter for letter, option in listed.items() if _NONE_OPTION.search(option)]
    stated = says_none_right(text) and not re.search(r"\bbut\b|但", text)
    return frozenset(same) if len(same) == 1 and stated else None


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
