"""The answers of a type that a running text names, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from gradegpt.answers import values
from gradegpt.answers.options import LETTER, LETTERS, half_width, options
from gradegpt.answers.types import Group
from gradegpt.core.schema import CHOICE, AnswerType
from gradegpt.rules.extract.refine import reads_as

LISTS: Final = (AnswerType.MULTI_ANSWER, AnswerType.MULTI_PART)
_READ: Final = (AnswerType.NUMBER, AnswerType.INTERVAL, AnswerType.SET, AnswerType.TUPLE)
"""Types as which a formula must be read, to be one of their answers."""
_AND = re.compile(r"\band\b|[和与或]")
_BETWEEN = re.compile(rf"{_AND.pattern}|\bor\b|[及、,;]")
_FUNCTION = r"(?:arc)?(?:sin|cos|tan|cot|sec|csc)|ln|log|exp|sqrt|lim|pi|cm|mm|km|kg|mol"
_SIGNS = r"[-−+*/^=<>≤≥≠±×÷·√π∞∪∩∈_{}()\[\]|,;'′°℃²³¹⁰-₎%:]"
_ATOM = (
    r"\$[^$\n]+\$|\\\(.+?\\\)|\\[A-Za-z]+|\\[,;!{} ]|\d+(?:\.\d+)?|(?!->)"
    rf"{_SIGNS}|(?<![A-Za-z])(?:{_FUNCTION})(?![A-Za-z])|(?<=[\d)^*/+-])[a-z]{{2,3}}(?=[\^+*/-])"
    r"|(?<![A-Za-z'])(?![aAI]\s+\w)[A-Za-zα-ω](?![A-Za-z'’])|(?<![A-Za-z])[A-Za-z]'(?=\()"
)
_MATH = re.compile(rf"(?:{_ATOM})(?:[ \t]*(?:{_ATOM}))*")
_NUMERAL = re.compile(r"\W*[\d.,]+\W*")
_BODY = re.compile(r"[\dπ∞√$\\=<>]|^[A-Za-z]$")
"""What a formula has that is no punctuation."""
LIST_GAP = re.compile(r"\s*(?:[,、;]|和|与|或|及|and|or|,\s*and)?\s*")
_OR_GAP = re.compile(r"\s*(?:[或且]|or|and)\s*")
_NTH = re.compile(
    r"(?:第|\b(?:Jan|Febr)uary|\bMarch|\bApril|\bMay|\bJune|\bJuly|\bAugust|\b\w+(?:em|o)ber)\s*\Z"
)
"""Words before a number that counts or dates something."""
_LETTER = rf"(?!A\s+(?!is\b|was\b|and\b|or\b|but\b)[a-z]){LETTER}"
_OPTION = rf"(?:[(]?\d{{1,2}}[).、]?\s*)?[(]?{_LETTER}{LETTER}{{,8}}[)]?(?![A-Za-z'’\d])"
_CHOICES = rf"(?<![A-Za-z°\\]){_OPTION}(?:[\s,;、和与]*(?:and\s+)?{_OPTION})*"
_ONE_CHOICE = rf"(?<![A-Za-z°\\])[(]?{_LETTER}[)]?(?![A-Za-z'’\d])"
_TRUTH = re.compile(
    r"[√×✓✗]|(?<![A-Za-z])(?<!(?:ich|one) is )(?:(?:yes|no)(?=[.,;:!)”\"]|\Z|\s+(?:and|or)\b)"
    r"|true|false|(?:in)?correct(?! \w+ is)|right(?! \w+ is)|wrong|[TF])"
    r"(?=[\s。.,;?!)”\"→\u3400-\u9fff]|\Z)|(?:不?正确|错误?|不?(?<!个)对|不?成立|是|否)"
    r"(?=的?(?:[\s。.,;?!)”\"、]|\Z))",
    re.IGNORECASE,
)


class Mention(NamedTuple):
    """An answer that a response names, and its place."""

    text: str
    start: int
    end: int


def mentions(text: str, kind: AnswerType, question: str) -> list[Mention]:
    """The answers of a type that a text in ASCII punctuation names, in order."""
    if kind in CHOICE:
        return _joined(text, list(_choices(text, kind, question)), re.compile(r"[\s.、:)$]*"))
    if kind is AnswerType.TRUE_FALSE:
        return [Mention(m[0], *m.span()) for m in _TRUTH.finditer(text)]
    lists = kind in LISTS
    found = [one for one in _formulas(text, lists) if not _NTH.search(text[: one.start])]
    if kind is AnswerType.NUMBER:
        asked = (one.text in question and not _NUMERAL.fullmatch(one.text) for one in found)
        found = [
            m for m, given in zip(found, asked, strict=True) if not given and not m.text.isalpha()
        ]
    made = _joined(text, found, LIST_GAP if lists else None)
    if lists:  # 20 and 30 in "the primes between 20 and 30 are 23 and 29" are of the question
        made = [m for m in made if m.text not in question] or made
    return [one for one in made if kind not in _READ or reads_as(one.text, kind)]


def _choices(text: str, kind: AnswerType, question: str) -> Iterator[Mention]:
    texts = {text.strip("$ .,;") for text in options(question).values()}
    there = (t for t in texts if len(t) > 1 and t.casefold() in text.casefold())
    said = (rf"(?<![A-Za-z])(?i:{re.escape(t)})(?![A-Za-z])" for t in there)
    one = _ONE_CHOICE if kind is AnswerType.SINGLE_CHOICE else _CHOICES
    pattern = re.compile("|".join([one, *sorted(said, key=len, reverse=True)]))
    for match in pattern.finditer(text):
        yield Mention(match[0], *match.span())


def _formulas(text: str, lists: bool) -> Iterator[Mention]:
    for match in _MATH.finditer(text):
        cuts = [] if lists else list(_top_level(match[0]))
        for start, end in zip([0, *(c + 1 for c in cuts)], [*cuts, len(match[0])], strict=True):
            body = match[0][start:end].lstrip(" \t,;:'").rstrip(" \t,;:'-")
            if body.endswith(")") and body.count(")") > body.count("(") + body.count("["):
                body = body[:-1]
            if _BODY.search(body):
                begin = match.start() + match[0].index(body, start)
                yield Mention(body, begin, begin + len(body))


def _top_level(text: str) -> Iterator[int]:
    """The places of the commas, semicolons and strokes outside of brackets and formulas."""
    depth, formula = 0, False
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        formula ^= sign == "$"
        if depth > 0 or formula:
            continue
        stroke = sign == "/" and re.match(r"\$/|\)/|./(?:\$|\\\()", text[max(0, at - 1) :])
        comma = sign in ",;" and not re.match(r",\d{3}(?!\d)|,\s*[a-z]\s*=", text[at:])
        if stroke or comma:
            yield at


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
    ranges = all(re.search("[<>≤≥]", m.text) for m in (last, one))
    return (unclosed or ranges) and _OR_GAP.fullmatch(text, last.end, one.start) is not None


def occurrences(text: str, names: Sequence[str]) -> list[Mention]:
    """The places of given names in a text."""
    folded, wanted = text.casefold(), [half_width(n.strip()) for n in names if len(n) > 1]
    # Most names are not there, and a pattern of its own for each row takes longest.
    pattern = "|".join(re.escape(name) for name in wanted if name.casefold() in folded)
    found = re.finditer(pattern, text, re.IGNORECASE) if pattern else ()
    return [Mention(m[0], *m.span()) for m in found]


def size(answer: str, kind: AnswerType) -> int:
    """The number of options or values in an answer."""
    if kind in CHOICE:
        return len(re.findall(f"[{LETTERS}]", answer))
    value = values.read(answer)
    return len(value.items) if isinstance(value, Group) else 1


def twice(answer: str, kind: AnswerType) -> bool:
    """Whether an answer is two in a row: ABD和ABC, "(1) 3 (2) 5 or (1) 4 (2) 5"."""
    answer = re.sub(r"\s*([=<>≤≥])\s*", r"\1", answer)
    marks = re.findall(r"\(\d{1,2}\)|\b\d{1,2}\.(?!\d)", answer)
    if kind in CHOICE or kind is AnswerType.MULTI_PART:
        rows = (between.split(answer) for between in (_BETWEEN, _AND))
        several = any(sum(size(piece, kind) > 1 for piece in row) > 1 for row in rows)
        return len(marks) != len({*marks}) or (kind in CHOICE and several)
    items = [item for item in re.split(r"\s|" + _BETWEEN.pattern, answer) if item]
    return kind in LISTS and len(items) != len({*items})
