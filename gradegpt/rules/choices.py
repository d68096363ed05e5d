"""Find the options that a response chooses: candidates first, then the words around each.

The letters of a text are few, and the last ones that words commit to are the choice. So each group
of letters is looked at from the end, and the words beside it decide (``cues.tsv``): words that
announce it, words that call it right, or a line of its own. Several questions are answered by
number, by marks such as 【答案】, or in a row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from gradegpt.answers.options import HAN_ORDINALS, LETTER, LETTERS, SAID, half_width, letters
from gradegpt.answers.spans import last_match
from gradegpt.rules.cues import cue

_MARKUP: Final = (
    r"(?:</?[a-z]{1,6}>|\\(?:text|mathrm|mathbf|textbf|rm|bf|mathsf|quad)\b\s*"
    r"|选项?|(?i:choices?|options?)|[\s$*_(\[{<\"'“‘`~\\:])*+"
)
"""What may stand between an announcement and the letter; possessive, as backtracking is slow."""
_BETWEEN: Final = (
    rf"[)}}]?(?:\([^()\n]{{1,20}}\))?[\s$*]*(?:[、,/&和与及](?:\s*and\b)?|\band\b"
    rf"|\.(?=\s[{LETTERS}](?:\.|\s*$)))?[\s$*]*(?:选项|[Oo]ptions?|[Cc]hoices?[\s_]*|\\boxed)?[({{]?"
)
_ARTICLE: Final = r"(?!A\s+(?!(?:and|or|is|was|with|since|because|as|by|for|in)\b)[a-z])"
_GROUP: Final = re.compile(
    rf"(?<![A-Za-z\\°'’^]){_ARTICLE}{LETTER}(?:{_BETWEEN}{_ARTICLE}{LETTER}(?![a-zK-Z])){{0,9}}+"
    r"(?![A-Za-z'’]|\d)"
)
_MARKS: Final = " .*()[]$:;,。"
_REACH: Final = 90
"""Characters before a letter in which an announcement may begin."""
_WORD: Final = r"(?:\b|(?<![A-Za-z]))"
_CHOOSE: Final = cue("choose", before=_WORD, after=rf"{_MARKUP}\Z")
_LEAN: Final = cue("lean", before=_WORD, after=rf"{_MARKUP}\Z")
_DENIED: Final = cue("unsaid", after=r"\Z")
_RIGHT, _NOT = cue("right", before=r"[)}*\]]*"), cue("negation")
_SAID_RIGHT: Final = re.compile(rf"{LETTER}\s*(?:选?项)?是?正确(?!答案|选项)")
_LEFT_OPEN, _NONE = cue("open", before=r"[\s)(*$}]*"), cue("none")
DENIES: Final = cue("negation", "except", "hedge", after=rf"|(?-i:{SAID})")
_TAIL: Final = re.compile(
    r"[\s*)\]}$]*(?:选?项|吧|了|啦)*\s*(?:[.!。]|(?<=\n)|\Z"
    r"|(?:[,:;–—-]|\b(?:because|since|as|due to)\b)(?P<rest>(?:[^.!?。\n]|\.(?=\d)){0,160}))",
    re.IGNORECASE,
)
"""What may follow an option that a sentence only leans to, with the rest of the sentence."""
_CLAUSE: Final = re.compile(
    r"[.。!?;\n]|,\s*(?=(?:and )?(?:so|hence|thus|therefore|but)\b|但|不过|应|肯定|一定|所以|因此)",
    re.IGNORECASE,
)
_FRESH: Final = re.compile(r"(?:[.!?。]|(?<![A-J]);)\s+[\s*(\[$]*\Z")
"""The beginning of a last sentence that is nothing but an option."""


class Choice(NamedTuple):
    """The letters, and the spans of what announces them and of the letters themselves.

    A choice without letters means that according to the text none of the options is right.
    """

    letters: str
    announced: int
    start: int
    end: int
    committed: bool


def says_none_right(text: str) -> re.Match[str] | None:
    """The last statement that none of the options is right."""
    return last_match(_NONE, text)


def find_choice(text: str) -> Choice | None:
    """The last option or options that the text commits to; else one that is alone on a line."""
    text = half_width(text)
    none = says_none_right(text)
    for match in reversed([*_GROUP.finditer(text, none.end() if none else 0)]):
        begin = _announced(text, *match.span())
        if begin is not None:
            shown = re.sub(r"[a-z]{2,}|[OC](?=[a-z])", " ", match[0])
            named = "".join(sign for sign in shown if sign in LETTERS)
            return Choice(named, begin, *match.span(), committed=True)
    if none:
        return Choice("", none.start(), *none.span(), committed=True)
    return _on_its_line(text)


def _announced(text: str, start: int, end: int) -> int | None:
    """Where the words begin that commit to the letters; None where none do."""
    since = max(0, start - _REACH)
    before = text[since:start]
    said = _CHOOSE.search(before)
    if said is not None:
        begin = since + said.start()
        if not (_LEFT_OPEN.match(text, end) or _DENIED.search(text, max(0, begin - 160), begin)):
            return begin
    right = _RIGHT.match(text, end) if len(_SAID_RIGHT.findall(text)) < 2 else None
    if right is not None and not (_NOT.search(right[0]) or re.search(SAID, right[0])):
        return start
    if said is None and (leant := _LEAN.search(before)) is not None:
        since_clause = max((m.end() for m in _CLAUSE.finditer(before)), default=0)
        clause, tail = before[since_clause : leant.start()], _TAIL.match(text, end)
        one = end - start == 1 or not text[start:end].isalpha()  # AB may be a segment
        if one and tail and not DENIES.search(f"{clause}\n{tail['rest'] or ''}"):
            return since + leant.start()
    last = not text[end:].strip(" \n.。*)]}$!")
    return start if last and _FRESH.search(before) else None


def _on_its_line(text: str) -> Choice | None:
    """The first or last line, if it begins with an option as no other line does."""
    lines = [*re.finditer(r"\S[^\n]*", text)]
    named = [letters(line[0]) or frozenset[str]() for line in lines]
    alone = [
        {*line[0].strip(_MARKS).upper()} == one for line, one in zip(lines, named, strict=True)
    ]
    if len(lines) > 1 and all(alone):
        start, together = lines[0].start(), sorted(frozenset.union(*named))
        return Choice("".join(together), start, start, lines[-1].end(), committed=True)
    for at in (0, -1) if lines else ():
        begun = {one for one, bare in zip(named, alone, strict=True) if bare >= alone[at]}
        if named[at] and begun <= {named[at], frozenset()}:
            start, end = lines[at].span()
            group = _GROUP.search(text, start, end)
            end = group.end() if group else end
            return Choice("".join(sorted(named[at])), start, start, end, alone[at] or at == 0)
    return None


# --- several questions ----------------------------------------------------------------------------

_NUMBER: Final = rf"(?:\d{{1,2}}|[{HAN_ORDINALS}])"
_MARK: Final = re.compile(
    r"(?:(?P<named>第|[Qq]uestions?|[Nn]o\.|小题)\s*|(?:^|(?<=[\s;,。.|】)>*]))(?:\*\*|\|\s*|【小题)?)[(]?"
    rf"(?P<numbers>{_NUMBER}(?:\s*(?:[、,&和与]|and)\s*\d{{1,2}}){{0,12}})[)]?"
    r"(?:\s*(?:小?题|】|\.(?!\d)|[)、:|])"
    rf"|(?(named)\b|\s+(?=[{LETTERS}](?![a-z]))))[\s*:.、]*"
)
"""The number of a question before its answer: 9. , (2), 第3题, Question 4:, | 5 |, 第1、2题.

The count of joined numbers is bounded: matching a long list would take quadratic time.
"""
_BESIDE_A_ROW: Final = re.compile(
    r"\d{1,2}\s*[-–—~至到]\s*\d{1,2}\s*题?|\b(?:the|answers?|key|respectively|are|is|and)\b|答案|[是为\s;,、:.*$]",
    re.IGNORECASE,
)
_EACH: Final = re.compile(r"【\s*答案\s*】([^\n<【]*)")
_JSON: Final = str.maketrans('"{}', "   ")


def find_keys(text: str, places: int) -> Choice | None:
    """The answers to ``places`` questions, by 【答案】, by number, or in one row; else None.

    The letters are in the order of the questions' numbers, one group per question: ``C AD``.
    """
    text = half_width(text)
    if text.lstrip().startswith("{"):
        text = text.translate(_JSON)
    numbers = [*_MARK.finditer(text)]
    ends = [*(mark.start() for mark in numbers[1:]), len(text)]
    pieces = [
        (re.findall(_NUMBER, mark["numbers"]), mark.start(), text[mark.end() : end])
        for mark, end in zip(numbers, ends, strict=False)
    ]
    each = [([str(n)], m.start(), m[1]) for n, m in enumerate(_EACH.finditer(text), start=1)]
    found = _by_number(each, places) if len(each) == places else None
    return found or _by_number(pieces, places) or _in_a_row(text, places)


def _by_number(pieces: Sequence[tuple[list[str], int, str]], places: int) -> Choice | None:
    """The last answers with ``places`` consecutive numbers, in any order in the text."""
    given: dict[int, tuple[str, int]] = {}
    for names, start, piece in pieces:
        found = find_choice(piece.strip(_MARKS + "|\n"))
        chosen = found.letters if found and found.committed else ""
        for name in names if chosen else ():
            number = int(name) if name.isdecimal() else HAN_ORDINALS.index(name) + 1
            given[number] = (chosen, start)
    for first in sorted(given, reverse=True):
        run = range(first, first + places)
        if {*run} <= {*given} and not {first - 1, first + places} & {*given}:
            letters, starts = zip(*(given[number] for number in run), strict=True)
            return _keys(letters, min(starts))
    return None


def _in_a_row(text: str, places: int) -> Choice | None:
    """The last line that is a row of as many letters, and beside it at most their numbers."""
    for line in (*reversed([*re.finditer(r"[^\n]+", text)]), *re.finditer(r"(?s).+", text)):
        row = _BESIDE_A_ROW.sub("", line[0])
        if len(row) == places and {*row} <= {*LETTERS}:
            return _keys(row, line.start())
    return None


def _keys(letters: Sequence[str], start: int) -> Choice:
    """``C A C``; with the questions' numbers if a question has several letters: ``1. C 2. AD``."""
    one_each = all(len(one) == 1 for one in letters)
    shown = letters if one_each else (f"{n}. {one}" for n, one in enumerate(letters, start=1))
    return Choice(" ".join(shown), start, start, start + 1, committed=True)
