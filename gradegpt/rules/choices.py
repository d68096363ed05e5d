"""Find the options that a response chooses: candidates first, then the words around each.

The letters of a text are few, and the last one that words commit to is the choice. So each group of
letters is looked at from the end, and the words beside it decide (``cues.tsv``): words that announce
it, words that call it right, or a line of its own. Several questions are answered by number, by
marks such as 【答案】, or in a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from gradegpt.answers.options import (
    HAN_ORDINALS,
    LETTER,
    LETTERS,
    NONE_RIGHT,
    SAID,
    half_width,
    says_none_right,
    sequence,
)
from gradegpt.answers.spans import last_match
from gradegpt.answers.truth import stated_truth
from gradegpt.rules.cues import cue

_MARKUP: Final = (
    r"(?:</?[a-z]{1,6}>|\\(?:text|mathrm|mathbf|textbf|rm|bf|mathsf|quad)\b\s*"
    r"|选项?|(?i:choices?|options?)|[\s$*_(\[{<\"'“‘`~\\:])*+"
)
"""What may stand between an announcement and the letter; possessive, as backtracking is slow."""
_BETWEEN: Final = (
    rf"(?:\}}|\))?(?:\([^()\n]{{1,20}}\))?[\s$*]*(?:[、,/&和与及](?:\s*and\b)?|\band\b"
    rf"|\.(?=\s[{LETTERS}](?:\.|\s*$)))?[\s$*]*(?:选项|[Oo]ptions?|[Cc]hoices?[\s_]*)?[({{]?"
)
_ARTICLE: Final = r"(?!A\s+(?!and\b|or\b|is\b|was\b|with\b|since\b|because\b|as\b|by\b|for\b|in\b)[a-z])"
_GROUP: Final = re.compile(
    rf"(?<![A-Za-z\\°'’^]){_ARTICLE}{LETTER}(?:{_BETWEEN}{_ARTICLE}{LETTER}(?![a-zK-Z])){{0,9}}+"
    r"(?![A-Za-z'’]|\d)"
)
_REACH: Final = 130
"""Characters before a letter in which an announcement may begin."""
_LEAN: Final = cue("lean", before=r"(?:\b|(?<![A-Za-z]))", after=rf"{_MARKUP}\Z")
_CHOOSE: Final = cue("choose", before=r"(?:\b|(?<![A-Za-z]))", after=rf"(?:-?[Cc]hoice)?{_MARKUP}\Z")
_INSTEAD: Final = cue("instead", after=rf"{_MARKUP}\Z")
_RIGHT: Final = cue("right", before=r"[)}*\]]*")
_BOXED: Final = re.compile(rf"\\f?box(?:ed)?\s*\{{{_MARKUP}\Z")
_SO_IT_IS: Final = re.compile(rf"(?:^|[。.,\n]\s*)故\s*{_MARKUP}\Z")
_NEGATED: Final = re.compile(
    r"不是|并非|不选|排除|不能选|不应选|\bnot\b|n't\b|\bnor\b|\brather than\b|\beliminate|\beither\b",
    re.IGNORECASE,
)
_NOT_CHOSEN: Final = re.compile(
    r"[\s)(*$}]*(?:or\b|and (?:you|it|we|they)\b|或|还是|are (?:in|not)|is (?:in|not|wrong|tempting|clearly not)"
    r"|(?:选?项|说法)?(?:都|均|是)?[不错]|(?:都|均|全)[属是为]|的(?:说法|叙述|表述))"
    r"|[^\n]{0,80}\(\s*(?:in|not )correct|(?:错误|不正确)"
    rf"|[^\n。.,{LETTERS}]{{0,12}},?\s*(?:排除|(?:is|are) (?:ruled out|eliminated|excluded|out\b))"
    rf"(?!\s*[{LETTERS}])"
    rf"|(?:[^,.;。\n]|\.(?=\d)){{0,30}}?\s(?:or|或者?)\s+\(?[{LETTERS}]\)?(?![A-Za-z])"
    rf"|\s*[.、:)][^\n]*\n+\s*\(?[{LETTERS[1:]}]\s*[.、:)]",
    re.IGNORECASE,
)
"""What follows a letter that is left open, called wrong, ruled out, or the first of a list."""
_ALL_ARE: Final = re.compile(r"\s*(?:选?项)?(?:都|均|是|错|不|are\b|is\b)")
"""Words after several letters that say something of all of them."""
_SUPPOSED: Final = re.compile(
    r"(?:^|[.\n。:])[\s*-]*(?:If|Suppose|如果|假如|若)\b[^.\n。]*\Z", re.IGNORECASE
)
_WRONG_ONES: Final = re.compile(
    r"(?:错误|不正确|不对)的?(?:选项|说法|叙述)?[是有]?\s*:?\s*\Z"
    r"|\b(?:wrong|incorrect|false)(?: (?:option|answer|one)s?)?:?\s*\Z",
    re.IGNORECASE,
)
_RIGHT_ONES: Final = re.compile(
    r"(?<!不)正确的?(?:选项|答案|[是有])?\s*:|\b(?:correct|right|true)(?: (?:option|answer|one)s?)?:",
    re.IGNORECASE,
)
"""A list of the wrong options beside one of the right ones."""
_DENIES: Final = re.compile(
    r"\b(?:but|not|no|never|however|although|though|yet|if|unless|n?or|wrong|incorrect|false|except"
    r"|while|whereas|instead|may|might|maybe|perhaps|actually|wait|neither|either|both|rather|were)\b"
    rf"|n['’]t\b|(?-i:{SAID})|但|不|错|除|或|还是|如果|若|然而|却|本来|误|其实|[?？]",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(
    r"[\s*)\]}$]*(?:选?项|吧|了|啦|,?\s*(?:i (?:think|guess|believe)|i['’]d say|to me|for sure))*"
    r"(?:\s*[.!。\n]|\s*\Z|\s*(?:[,:;–—-]|(?<=\))\s|\b(?:because|since|as|due to)\b)"
    r"(?P<rest>(?:[^.!?。\n]|\.(?=\d)){0,160}))",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(
    r"[.。!?;\n]|,\s*(?=(?:and )?(?:so|hence|thus|therefore|but)\b|但|不过|应|肯定|一定|所以|因此)",
    re.IGNORECASE,
)
_FRESH: Final = re.compile(r"[.;!?。]\s+[\s*(\[$]*\Z")
"""The beginning of a last sentence that is nothing but an option."""
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_ALONE: Final = re.compile(
    rf"^[\s#>*_]*+(?:答|[Aa]nswer|选)?[\s:]*+{_MARKUP}(?P<letters>{_GROUP.pattern})[\s$*)}}.:、]*"
    r"(?:$|[.、:)]|(?=(?![后前之以左右上下看似都均全皆各也能会可有]|是错)[\u3400-\u9fff]))",
    re.MULTILINE,
)
_LISTED: Final = re.compile(rf"(?:^|[\n\s])\s*\(?[{LETTERS}]\s*[.、:)]")
_ONE_LETTER: Final = re.compile(rf"[\s*$]*([{LETTERS}])\1*[\s*$.。]*")
_LONE: Final = re.compile(rf"[\s*(\[$]*(?P<letter>{LETTER})[\s*)\]$.]*")
_BOX_RUN: Final = re.compile(rf"(?:\\boxed\{{[{LETTERS}]\}}[$\s]*(?:[,、和]|and)?[$\s]*){{2,}}")
_JUDGED: Final = re.compile(
    rf"(?:^|[\n,;。.]\s*)[(*\s]*(?P<letter>{LETTER})[*)]*\s*(?:选?项|[.:、])?\s*"
    r"(?:的?(?:说法|叙述))?(?:是|\bis)?\s*"
    r"(?P<said>正确|错误|不正确|不对|对|错|[Tt]rue|[Ff]alse|[Rr]ight|[Ww]rong|[Cc]orrect|[Ii]ncorrect)(?![a-z])"
)
"""A statement about one option alone: "A项错误", "C is right"."""
_ALL_SAID: Final = 3
"""Least number of options with a statement about them that determine the chosen one."""


class Choice(NamedTuple):
    """The letters, and the spans of what announces them and of the letters themselves.

    A choice without letters means that according to the text none of the options is right.
    """

    letters: str
    announced: int
    start: int
    end: int
    committed: bool


def find_choice(text: str) -> Choice | None:
    """The last option or options that the text commits to; else one that is alone on a line."""
    text = half_width(text)
    if text.count("boxed{") > 1 and (run := last_match(_BOX_RUN, text)):
        letters = "".join(dict.fromkeys(re.findall(rf"\{{([{LETTERS}])\}}", run[0])))
        return Choice(letters, run.start(), run.start(), run.end(), committed=True)
    none = [*NONE_RIGHT.finditer(text)][-1:] if says_none_right(text) else []
    since = none[0].end() if none else 0
    for match in reversed([*_GROUP.finditer(text, since)]):
        start, end = match.span()
        first = re.search(r"\s*[,;]", match[0])
        if first and _ALL_ARE.match(text, end):
            end = start + first.start()  # 选B，A、C、D都是合数
        if (begin := _announced(text, start, end)) is not None:
            return _choice(text, begin, start, end)
    if none:
        start = none[0].start()
        return Choice("", start, start, since, committed=True)
    return _alone_on_a_line(text)


def _announced(text: str, start: int, end: int) -> int | None:
    """Where the words begin that commit to the letters; None where none do."""
    since = max(0, start - _REACH)
    before = text[since:start]
    if _BOXED.search(before):
        return since + before.rindex("\\")
    said = _CHOOSE.search(before) or _SO_IT_IS.search(before)
    if said is not None and not _ruled_out(text, since + said.start(), start, end):
        return since + said.start()
    right = _RIGHT.match(text, end)
    if right is not None and not (_NEGATED.search(right[0]) or re.search(SAID, right[0])):
        return start
    if said is None and (leant := _LEAN.search(before)) is not None:
        clause, tail = _CLAUSE.split(before)[-1], _TAIL.match(text, end)
        one = end - start == 1 or re.search(r"[^A-J]", text[start:end])
        if one and tail and not (_DENIES.search(tail["rest"] or "") or _DENIES.search(clause)):
            return since + leant.start()
    last = not text[end:].strip(" \n.。*)]}$!")
    return start if last and (_FRESH.search(before) or _INSTEAD.search(before)) else None


def _ruled_out(text: str, announced: int, start: int, end: int) -> bool:
    """Whether the announcement is negated or supposed, or what follows leaves the option open."""
    before = text[max(0, announced - 6) : start]
    return bool(
        _NEGATED.search(before)
        or _NOT_CHOSEN.match(text, end)
        or _SUPPOSED.search(text[max(0, announced - 160) : announced])
        or (_WRONG_ONES.search(text, 0, start) and _RIGHT_ONES.search(text))
    )


def _choice(text: str, begin: int, start: int, end: int) -> Choice:
    named = re.sub(r"\band\b|[Oo]ptions?|[Cc]hoices?", " ", text[start:end])
    return Choice("".join(re.findall(f"[{LETTERS}]", named)), begin, start, end, committed=True)


def _alone_on_a_line(text: str) -> Choice | None:
    """A line that begins with an option, first or last in the text: "B" or "C．政府的…"."""
    said = [(m["letter"], stated_truth(m["said"]), m) for m in _JUDGED.finditer(text)]
    right = [(letter, m) for letter, holds, m in said if holds]
    if len({letter for letter, _, _ in said}) == len(said) >= _ALL_SAID and len(right) == 1:
        span = right[0][1].span("letter")
        return Choice(right[0][0], span[0], *span, committed=False)
    lines = [m for m in re.finditer(r"[^\n]+", text) if not m[0].isspace()]
    alone = [_LONE.fullmatch(line[0]) for line in lines]
    if len(lines) > 1 and all(alone):
        letters = "".join(dict.fromkeys(match["letter"] for match in alone if match))
        return Choice(letters, lines[0].start(), lines[0].start(), lines[-1].end(), committed=True)
    listed = sum(_LISTED.match(line[0]) is not None for line in lines)
    for line in (*lines[:1], *lines[-1:]):
        match = _ALONE.match(line[0])
        if match is None or (len(lines) == 1 and len(_LISTED.findall(line[0])) > 2):
            continue
        start, end = match.span("letters")
        spoken_of = _HAN.match(line[0], match.end()) and re.search(SAID, line[0][match.end() :])
        one_of_a_list = listed > 1 and len(lines) > 1 and not _ONE_LETTER.fullmatch(line[0])
        if spoken_of or one_of_a_list or _ruled_out(line[0], 0, start, end):
            continue
        found = _choice(line[0], 0, start, end)
        whole = not line[0][match.end() :].strip() or line is lines[0] or len(lines) == 1
        at = line.start()
        return Choice(found.letters, at, at + found.start, at + found.end, whole)
    return None


# --- several questions ----------------------------------------------------------------------------

_MARK: Final = re.compile(
    r"(?:第\s*(?P<nth>\d{1,2}|[一二三四五六七八九十])(?P<and>(?:\s*[、,和与]\s*\d{1,2}){0,12})\s*小?题|[Qq]uestion\s*(?P<asked>\d{1,2})\b"
    r"|(?:^|(?<=[\s;,。.|】)>*]))(?:\*\*|\|\s*)?"
    r"(?:(?:第|[Qq]uestions?\s*|[Nn]o\.\s*|小题|【小题)?[(]?(?P<number>\d{1,2}|[一二三四五六七八九十])[)]?"
    r"(?P<more>(?:\s*(?:[、,&和与]|and)\s*\d{1,2}){0,12})"
    rf"(?:\s*(?:小?题|】|\.(?!\d)|[)、:：|])[\s*:：.、]*|\s+(?=[{LETTERS}](?![a-z])))))[\s*:：.、]*"
)
"""The number of a question before its answer: 9. , (2), 第3题, Question 4:, | 5 |, 第1、2题.

The count of joined numbers is bounded: matching a long list would take quadratic time.
"""
_DIRECT: Final = re.compile(
    r"[\s:：*|]*(?:【答案】|答案(?:是|为|[:：])|[Aa]nswers?[:：]|都?选)?[\s:：*$(]*"
    rf"(?P<letters>{LETTER}(?:\s*(?:[,、和]|and)?\s*{LETTER})*)(?![A-Za-z])"
    r"(?!项)[)*$|]*\s*(?=[;,。.|<\n]|$|[–—-]\s|(?:第|\(|[Qq]uestion)?\s*\d)"
)
MOST_KEYS: Final = 8
_EACH: Final = (
    re.compile(rf"【\s*答案\s*】[\s:：$(*]*(?P<letters>{LETTER}+)(?![A-Za-z])"),
    re.compile(rf"\\boxed\s*\{{[\s$(]*(?:\\text\s*\{{)?(?P<letters>{LETTER}+)(?![A-Za-z])[\s$)}}]*"),
)
"""Marks of which each question has one."""
_CHOSEN: Final = re.compile(
    rf"(?<!不)(?<!不能)(?<!不应)选择?[\s:：(]*(?P<letters>{LETTER}+)(?![A-Za-z])"
)
_OPEN: Final = re.compile(r"\s*(?:\bor\b|或者?|还是)", re.IGNORECASE)
_ROW: Final = re.compile(
    r"(?:\d{1,2}\s*[-–—~～至到]\s*\d{1,2}\s*题?[\s:：.]*)?"
    rf"(?P<row>{LETTER}(?:[\s;,、]*(?:and\s+)?{LETTER})+)"
)
"""The letters in a row, with or without the range of their questions: 9-11 DAC."""
_BESIDE: Final = re.compile(r"[Aa]nswers?|respectively|\bare\b|\bis\b|[Tt]he\b|[Kk]ey")
"""Words that may occur next to such a row."""
_NUMBERED_JSON: Final = re.compile(r"\s*\{\s*\"\d{1,2}\"\s*:")


def find_keys(text: str, places: int) -> Choice | None:
    """The answers to ``places`` questions, by number, by 【答案】, or in one row; else None.

    The letters are in the order of the questions' numbers, one group per question: ``C AD``.
    """
    text = half_width(text)
    if _NUMBERED_JSON.match(text):
        text = text.translate(str.maketrans('"{}', "   "))
    marked, boxed = _EACH
    return (
        _by_mark(text, places, marked)
        or _by_number(text, places)
        or _by_mark(text, places, boxed)
        or _in_a_row(text, places)
    )


def several_keys(text: str) -> bool:
    """Whether two or more questions are answered after 【答案】."""
    text = half_width(text)
    several = text.count("答案") > 1 and len(_EACH[0].findall(text)) > 1
    return several and len({n for mark in _MARK.finditer(text) for n in _numbers(mark)}) > 1


def keys_of(text: str) -> str:
    """The options that a worked solution of several questions chooses, one per question.

    Empty if one of its questions has no such answer.
    """
    text = half_width(text)
    asked = {number for mark in _MARK.finditer(text) for number in _numbers(mark)}
    keys = _by_number(text, len(asked)) if 1 < len(asked) <= MOST_KEYS else None
    return keys.letters if keys else ""


def _by_mark(text: str, places: int, mark: re.Pattern[str]) -> Choice | None:
    run = list(mark.finditer(text))
    if len(run) != places or any(_OPEN.match(text, m.end()) for m in run):
        return None
    letters = _in_order([m["letters"] for m in run])
    return Choice(letters, run[0].start(), run[0].start("letters"), run[-1].end(), committed=True)


def _by_number(text: str, places: int) -> Choice | None:
    """The last answers with ``places`` consecutive numbers, in any order in the text."""
    marks = list(_MARK.finditer(text))
    given: dict[int, tuple[str, int, int]] = {}
    ends = [*(m.start() for m in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):
        if letters := _answer(text[mark.end() : end]):
            given |= {number: (letters, mark.start(), end) for number in _numbers(mark)}
    for first in sorted(given, reverse=True):
        run = range(first, first + places)
        if {*run} <= {*given} and not {first - 1, first + places} & {*given}:
            found = [given[number] for number in run]
            start, end = min(s for _, s, _ in found), max(e for _, _, e in found)
            letters = _in_order([letters for letters, _, _ in found])
            return Choice(letters, start, start, end, committed=True)
    return None


def _in_order(letters: Sequence[str]) -> str:
    """``C A C``; with the questions' numbers if a question has several letters: ``1. C 2. AD``."""
    if all(len(one) == 1 for one in letters):
        return " ".join(letters)
    return " ".join(f"{n}. {one}" for n, one in enumerate(letters, start=1))


def _numbers(mark: re.Match[str]) -> Iterator[int]:
    name = mark["number"] or mark["nth"] or mark["asked"]
    yield int(name) if name.isdigit() else HAN_ORDINALS.index(name) + 1
    yield from map(int, re.findall(r"\d+", mark["more"] or mark["and"] or ""))


def _answer(piece: str) -> str:
    """The option or options that the text finally chooses for one question."""
    direct = _DIRECT.match(piece)
    if direct is not None and _OPEN.match(piece, direct.end("letters")):
        return ""
    if said := direct or last_match(_CHOSEN, piece):
        return "".join(re.findall(f"[{LETTERS}]", said["letters"].replace("and", "")))
    found = find_choice(piece)
    return found.letters if found is not None and found.committed else ""


def _in_a_row(text: str, places: int) -> Choice | None:
    for line in reversed(list(re.finditer(r"[^\n]+", text))):
        row = _ROW.search(line[0])
        letters = re.findall(LETTER, row["row"]) if row else []
        if row is None or len(letters) != places:
            continue
        rest = _BESIDE.sub("", line[0].replace(row[0], "", 1))
        if not re.search(r"[A-Za-z]{2,}|[或不非说写]|也许|可能", rest):
            span = (line.start() + row.start(), line.start() + row.end())
            return Choice(" ".join(letters), line.start(), *span, committed=True)
    whole = sequence(text)
    one_each = len(whole) == places
    return Choice(" ".join(whole), 0, 0, len(text), committed=True) if one_each else None
