"""Option letters, the options that a question lists, and answer keys of several questions."""

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
HAN_ORDINALS: Final = "一二三四五六七八九十"
ORDINALS: Final = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
)  # fmt: skip
_STEMS: Final = "甲乙丙丁戊"
_ANY_LABEL: Final = f"ABCDEFGHIJKLMNO{_STEMS}"
_MOST: Final = 400
"""Most characters of an answer that names options, or of several answers."""


_WIDE = re.compile(r"[\uff01-\uff5e\u3000]")


def half_width(text: str) -> str:
    """Full-width signs as ASCII; the length is unchanged."""
    if not text.isascii():
        for wide in {*_WIDE.findall(text)}:
            text = text.replace(wide, " " if wide == "\u3000" else chr(ord(wide) - 0xFEE0))
    return text


# --- the options of a question --------------------------------------------------------------------

_LABEL = re.compile(
    r"(?:^|[\s(（]|(?<=[)）。？?：:])(?=[A甲]))"
    rf"([A-O](?=\s*[:：])|[A-O{_STEMS}](?=\s*[.．、)）]))\s*[.．、:：)）]",
    re.MULTILINE,
)


@lru_cache(maxsize=1024)
def options(question: str) -> dict[str, str]:
    """Letter -> option text, if the question lists at least two options; else empty."""
    parts = _LABEL.split(question)
    texts = (text.partition("\n")[0].strip() for text in parts[2::2])
    found = dict(zip(parts[1::2], texts, strict=True))
    if {*"甲乙丙"} <= {*found} and "A" not in found:  # 甲 and 乙 alone may be two texts
        return {LETTERS[n]: found[stem] for n, stem in enumerate(_STEMS) if stem in found}
    listed = {label: text for label, text in found.items() if label not in _STEMS}
    return listed if len(listed) > 1 and "A" in listed else {}


def only_lists(text: str, question: str) -> bool:
    """Whether a text repeats the options of a question, the first one first, and adds nothing."""
    if not _LABEL.match(text.strip()):
        return False
    said, listed = (
        [(letter, plain(option).strip(",;")) for letter, option in sorted(options(one).items())]
        for one in (text, question)
    )
    return bool(said) and said == listed


# --- the options of an answer ---------------------------------------------------------------------

_ONE = rf"[(\[{{]?[A-O{_STEMS}][)\]}}]?"
_NAMED = re.compile(
    r"(?i:【?答案】?(?:是|为)?|都?选[项择]?|options?|choice|answer)?[\s_:]*"
    rf"(?P<letters>{_ONE}(?:(?:[\s,;、和及与&/]*(?:and\s+)?|\.\s+(?=[A-J]\Z)){_ONE})*)(?![A-Za-z'’])(?:选?项)?"
    r"(?:\s*(?:[都均全]?是?(?:正确|对)的?)?|\s*(?:[.:、)]|\s-{1,2}\s)(.*)|\s*,([^A-J]*)|\s+([^a-z\s=].*))",
    re.DOTALL,
)
_SMALL_LIST = re.compile(r"[(\[]?[a-j][)\]]?(?:(?:\s*,\s*|(?:\s*,)?\s+and\s+)[(\[]?[a-j][)\]]?)*")
_OPEN = re.compile(
    r"(?:^|[(,;或+/|>]\s*|\bor\s+)[(]?[A-J][)]?\s*(?:[.、:)=]|\Z)|\s[(]?[A-J][)]?\s*[.、:)=]"
    r"|^[\s,]*(?:and\s+)?(?:or\b|或|possibly|maybe|perhaps|可能|也许|[+/|]|→|是|但|不|错"
    r"|[^,.。]{0,12}(?:排除|错误|不正确|都|wrong|incorrect|false))",
    re.IGNORECASE,
)
"""Another letter after those named, or words by which they are open or rejected."""
_PLACE = re.compile(
    rf"(?:(?i:it(?:'s| is)|i (?:choose|pick)) )?(?:第([{HAN_ORDINALS}])(?:个选项|项)"
    rf"|(?i:the) ({'|'.join(ORDINALS)}) (?:option|choice))"
)


def letters(answer: str, listed: dict[str, str] | None = None) -> frozenset[str] | None:
    """The option letters that an answer names.

    Read are ``A``, ``(B)``, ``A、C``, ``AC``, ``A and C``, ``B. text`` and ``Choice_B``, and any
    letter before its own text in ``listed``: ``(E) a + b``.
    """
    text, listed = fold(answer[:_MOST]).strip(" .*:\n"), listed or {}
    label, own = text.lstrip("([")[:1], text.lstrip("([")[1:].lstrip(" )].:、,-–—")
    if label in listed and plain(listed[label]) in (plain(own), plain(own.strip("()"))):
        return frozenset(label)
    text = text.upper().replace("AND", " ") if _SMALL_LIST.fullmatch(text) else text
    match = _NAMED.fullmatch(text)
    if match is None or "II" in text:  # (I) 3; (II) 5
        return None
    found = [sign for sign in match["letters"] if sign in _ANY_LABEL]
    named = frozenset(LETTERS[_STEMS.index(one)] if one in _STEMS else one for one in found)
    rare = not {*found} <= {*LETTERS}  # K and 乙 are labels only where they are listed
    word = len(named) > 1 and named & {"I", "J"} and text.isalpha()  # "AI"
    if (rare or word) and not named <= {*listed}:
        return None
    return None if any(rest and _OPEN.search(rest) for rest in match.groups()[1:]) else named


def chosen(answer: str, question: str = "") -> frozenset[str] | None:
    """The options that an answer chooses: by letter, as ``letters`` reads them, or otherwise.

    By position (``the third option``), or by the text that the question lists.
    """
    listed, text = options(question), fold(answer[:_MOST]).strip(" .*\n")
    if place := _PLACE.fullmatch(text):
        return frozenset(
            LETTERS[(HAN_ORDINALS if place[1] else ORDINALS).index(place[1] or place[2])]
        )
    same = [letter for letter, option in listed.items() if plain(option) == plain(text)]
    return frozenset(same) if len(same) == 1 and text not in listed else letters(answer, listed)


# --- several questions ----------------------------------------------------------------------------

_KEYS = re.compile(
    r"(?P<spaced>[A-J](?:[\s;,、]+[A-J])+)|[A-J]{5}(?:\s+[A-J]{2,5})*|(?P<row>[A-J]{2,6})"
    r"|(?P<numbered>(?:\s*[(]?\d{1,2}[).、:]\s*[A-J]{1,5}(?![A-Za-z])[;,.。]?)+\s*)"
)
_QUESTION = re.compile(r"(?:^|(?<=[\s。？?）)]))[(（]?(\d{1,2})[)）.．、](?!\d)")


def sequence(text: str, question: str = "") -> tuple[str, ...]:
    """The answers to several questions in one text: ``C A C``, ``CADCB DCBBA``, ``7. C 8. AD``.

    ``DAC`` is such a text if the question mentions as many questions. Empty for any other text.
    """
    text = half_width(text).strip() if len(text) <= _MOST else ""
    keys = _KEYS.fullmatch(text)
    if keys is None or (keys["row"] and asked_questions(question) != len(text)):
        return ()
    return tuple(re.findall("[A-J]+" if keys["numbered"] else "[A-J]", text))


def is_set(letters: tuple[str, ...]) -> bool:
    """Whether the letters may be one set: no letter twice, in alphabetical order."""
    return list(letters) == sorted({*letters})


def in_order(text: str) -> tuple[str, ...]:
    """The options of several questions, ``B A D``; empty for what may be a set of options."""
    return () if is_set(named := sequence(text)) else named


@lru_cache(maxsize=1024)
def asked_questions(question: str) -> int:
    """How many questions are numbered in a text; 0 for one."""
    numbers = [int(mark[1]) for mark in _QUESTION.finditer(question)]
    run = sum(n == numbers[0] + at for at, n in enumerate(numbers))
    return run if run > 1 else 0


def as_context(text: str, question: str) -> str:
    """A context without the options of other questions, and the numbers of other questions.

    The options remain where the question lists none: they are its own.
    """
    if options(question):
        text = "\n".join(line for line in text.split("\n") if not _LABEL.match(line))
    return _QUESTION.sub(" ", text)
