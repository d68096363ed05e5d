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

from gradegpt.answers.options import HAN_ORDINALS, LETTER, LETTERS, SAID, half_width
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
_REACH: Final = 130
"""Characters before a letter in which an announcement may begin."""
_WORD: Final = r"(?:\b|(?<![A-Za-z]))"
_CHOOSE: Final = cue("choose", before=_WORD, after=rf"(?:-?[Cc]hoice)?{_MARKUP}\Z")
_LEAN: Final = cue("lean", before=_WORD, after=rf"{_MARKUP}\Z")
_RIGHT: Final = cue("right", before=r"[)}*\]]*")
_NONE: Final = cue("none")
_MAY_BE_NONE: Final = re.compile(r"[Nn]o(?:ne)? |选项|没有|答案")
_NOT: Final = cue("negation")
_LEFT_OPEN: Final = cue("open", before=r"[\s)(*$}]*")
_SUPPOSED: Final = re.compile(
    r"(?:(?:^|[.\n。:])[\s*-]*(?:if|suppose|如果|假如|若)[^.\n。]*|\b(?:not|either) )\Z",
    re.IGNORECASE,
)
_RIGHT_ONES: Final = re.compile(r"(?<!不)正确的?(?:选项|答案|[是有])?\s*:")
"""Said of the right options beside a list of the wrong ones."""
DENIES: Final = cue("negation", "except", "hedge", after=rf"|(?-i:{SAID})")
_TAIL: Final = re.compile(
    r"[\s*)\]}$]*(?:选?项|吧|了|啦|,?\s*(?:i (?:think|guess|believe)|i['’]d say|to me|for sure))*"
    r"(?:\s*[.!。\n]|\s*\Z|\s*(?:[,:;–—-]|(?<=\))\s|\b(?:because|since|as|due to)\b)"
    r"(?P<rest>(?:[^.!?。\n]|\.(?=\d)){0,160}))",
    re.IGNORECASE,
)
"""What may follow an option that a sentence only leans to, with the rest of the sentence."""
_CLAUSE: Final = re.compile(
    r"[.。!?;\n]|,\s*(?=(?:and )?(?:so|hence|thus|therefore|but)\b|但|不过|应|肯定|一定|所以|因此)",
    re.IGNORECASE,
)
_FRESH: Final = re.compile(r"[.;!?。]\s+[\s*(\[$]*\Z")
"""The beginning of a last sentence that is nothing but an option."""
_LINE: Final = re.compile(
    rf"[\s#>*_]*+(?:答|[Aa]nswer|选)?[\s:]*+{_MARKUP}(?P<letters>{_GROUP.pattern})[\s$*)}}.:、]*"
    r"(?:(?P<alone>$)|[.、:)]|(?P<words>(?=(?![后前之以左右上下看似都均全皆各也能会可有]|是错)[\u3400-\u9fff])))"
)
_LISTED: Final = re.compile(rf"(?:^|\s)\(?[{LETTERS}]\s*[.、:)]")


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
    """The last statement that none of the options is right; None if a letter ends the text."""
    stated = last_match(_NONE, text) if _MAY_BE_NONE.search(text) else None
    return None if stated and re.search(rf"[;,，.。]\s*\(?[A-J][\s.)。*]*\Z", text) else stated


def find_choice(text: str) -> Choice | None:
    """The last option or options that the text commits to; else one that is alone on a line."""
    text = half_width(text)
    none = says_none_right(text)
    for match in reversed([*_GROUP.finditer(text, none.end() if none else 0)]):
        begin = _announced(text, *match.span())
        if begin is not None:
            return _choice(text, begin, *match.span())
    if none:
        return Choice("", none.start(), *none.span(), committed=True)
    return _on_its_line(text)


def _announced(text: str, start: int, end: int) -> int | None:
    """Where the words begin that commit to the letters; None where none do."""
    since = max(0, start - _REACH)
    before = text[since:start]
    said = _CHOOSE.search(before)
    if said is not None and not _open(text, since + said.start(), end):
        return since + said.start()
    right = _RIGHT.match(text, end)
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


def _open(text: str, announced: int, end: int) -> bool:
    """Whether the announcement is denied or supposed, or what follows leaves the option open."""
    begin = max(0, announced - 160)
    wrong_ones = text.startswith(("错误", "不正确"), announced) and _RIGHT_ONES.search(text)
    supposed = _SUPPOSED.search(text, begin, announced)
    return bool(wrong_ones or supposed or _LEFT_OPEN.match(text, end))


def _choice(text: str, begin: int, start: int, end: int) -> Choice:
    named = re.sub(r"[a-z]{2,}|[OC](?=[a-z])", " ", text[start:end])
    return Choice("".join(re.findall(f"[{LETTERS}]", named)), begin, start, end, committed=True)


def _on_its_line(text: str) -> Choice | None:
    """A line that begins with an option, first or last in the text: "B" or "C．政府的…"."""
    lines = [line for line in re.finditer(r"[^\n]+", text) if not line[0].isspace()]
    listed = sum(len(_LISTED.findall(line[0])) for line in lines)
    alone = {
        m["letters"]: line
        for line in lines
        if (m := _LINE.match(line[0])) and m["alone"] is not None
    }
    if 1 < len(alone) == len(lines):
        return Choice(
            "".join(alone), lines[0].start(), lines[0].start(), lines[-1].end(), committed=True
        )
    for line in (*lines[:1], *lines[-1:]):
        match = _LINE.match(line[0])
        if match is None or len(alone) > 1 or (listed > 1 and match["alone"] is None):
            continue
        start, end = match.span("letters")
        others = match["words"] is not None and re.search(SAID, line[0][match.end() :])
        if others or _LEFT_OPEN.match(line[0], end):
            continue
        found = _choice(line[0], 0, start, end)
        whole = not line[0][match.end() :].strip() or line is lines[0] or len(lines) == 1
        at = line.start()
        return Choice(found.letters, at, at + start, at + end, whole)
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
_DIRECT: Final = re.compile(
    r"[\s:*|]*(?:【答案】|答案(?:是|为|:)|[Aa]nswers?:|都?选)?[\s:*$(]*"
    rf"(?P<letters>{LETTER}(?:\s*(?:[,、和]|and)?\s*{LETTER})*)(?![A-Za-z])"
    r"[)*$|]*\s*(?=[;,。.|<\n]|$|[–—-]\s|(?:第|\(|[Qq]uestion)?\s*\d)"
)
_EACH: Final = re.compile(rf"【\s*答案\s*】[\s:$(*]*(?P<letters>{LETTER}+)(?![A-Za-z])")
_BESIDE_A_ROW: Final = re.compile(
    r"\d{1,2}\s*[-–—~至到]\s*\d{1,2}\s*题?|\b(?:the|answers?|key|respectively|are|is|and)\b|答案|[是为\s;,、:.*$]",
    re.IGNORECASE,
)
_JSON: Final = str.maketrans('"{}', "   ")


def find_keys(text: str, places: int) -> Choice | None:
    """The answers to ``places`` questions, by 【答案】, by number, or in one row; else None.

    The letters are in the order of the questions' numbers, one group per question: ``C AD``.
    """
    text = half_width(text)
    if text.lstrip().startswith("{"):
        text = text.translate(_JSON)
    return _by_mark(text, places) or _by_number(text, places) or _in_a_row(text, places)


def _by_mark(text: str, places: int) -> Choice | None:
    run = list(_EACH.finditer(text))
    if len(run) != places:
        return None
    return _keys([mark["letters"] for mark in run], run[0].start(), run[-1].end())


def _by_number(text: str, places: int) -> Choice | None:
    """The last answers with ``places`` consecutive numbers, in any order in the text."""
    marks = list(_MARK.finditer(text))
    given: dict[int, tuple[str, int, int]] = {}
    ends = [*(m.start() for m in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):
        if letters := _answer(text[mark.end() : end]):
            for name in re.findall(_NUMBER, mark["numbers"]):
                number = int(name) if name.isdecimal() else HAN_ORDINALS.index(name) + 1
                given[number] = (letters, mark.start(), end)
    for first in sorted(given, reverse=True):
        run = range(first, first + places)
        if {*run} <= {*given} and not {first - 1, first + places} & {*given}:
            letters, starts, found_ends = zip(*(given[number] for number in run), strict=True)
            return _keys(letters, min(starts), max(found_ends))
    return None


def _answer(piece: str) -> str:
    """The option or options that the text finally chooses for one question."""
    if direct := _DIRECT.match(piece):
        left_open = _LEFT_OPEN.match(piece, direct.end("letters"))
        return "" if left_open else re.sub("[^A-J]", "", direct["letters"])
    found = find_choice(piece)
    return found.letters if found is not None and found.committed else ""


def _in_a_row(text: str, places: int) -> Choice | None:
    """The last line that is a row of as many letters, with or without the range of its questions."""
    for line in (*reversed([*re.finditer(r"[^\n]+", text)]), *re.finditer(r"(?s).+", text)):
        row = _BESIDE_A_ROW.sub("", line[0])
        if len(row) == places and {*row} <= {*LETTERS}:
            return _keys(row, *line.span())
    return None


def _keys(letters: Sequence[str], start: int, end: int) -> Choice:
    """``C A C``; with the questions' numbers if a question has several letters: ``1. C 2. AD``."""
    one_each = all(len(one) == 1 for one in letters)
    shown = letters if one_each else (f"{n}. {one}" for n, one in enumerate(letters, start=1))
    return Choice(" ".join(shown), start, start, end, committed=True)
