"""Find the option letters that a response finally chooses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from gradegpt.answers.options import LETTER, LETTERS, NONE_RIGHT, SAID, half_width, says_none_right
from gradegpt.answers.spans import last_match
from gradegpt.answers.truth import stated_truth
from gradegpt.rules.extract.found import NEAR_THE_END, OVERLAP
from gradegpt.rules.extract.statement import statements

_MARKUP = (
    r"(?:</?[a-z]{1,6}>|\\(?:text|mathrm|mathbf|textbf|rm|bf|mathsf|quad)\b\s*"
    r"|选项?|[Cc]hoices?|[Oo]ptions?|CHOICE|OPTION|[\s$*_(\[{<\"'“‘`~\\:])*+"
)
"""Text between an announcement and the letter; possessive, since backtracking would be slow."""
_BETWEEN = (
    rf"(?:\}}|\))?(?:\([^()\n]{{1,20}}\))?[\s$*]*(?:[、,，;；/&和与及](?:\s*and\b)?|\band\b|\.(?=\s[{LETTERS}](?:\.|\s*$)))?[\s$*]*"
    r"(?:选项|[Oo]ptions?|[Cc]hoices?[\s_]*)?[({]?"
)
_LETTERS = (
    rf"(?P<letters>{LETTER}(?:{_BETWEEN}(?!A\s+(?!and\b|or\b)[a-z]){LETTER}(?![a-zK-Z])){{0,9}}+)"
    r"(?![A-Za-z'’]|\d)"
)
_ASKED = (
    r"(?:正确|错误|不正确|合理|恰当|符合|准确|一致|适合|可能|最|必定)[^\n。;；,，:：]{0,24}?"
    r"(?:的是|的为|的选项是|的一项是|为"
    r"|的?(?:叙述|说法|选项|一项|判断|组合|推断|答案)[^\n。;；,，:：]{0,10}?(?:是|为|应为|应是|:|：))"
    r"\s*[:：]?"
)
"""Announcements such as 错误的叙述是 or 符合题意的选项为."""
_ZH_CUE = (
    r"(?:【\s*(?:参考)?答案\s*】"
    r"|(?:参考|最终|正确|最佳|最后)?(?:的)?(?:答案|选项|选择|结论|解答)"
    r"(?:应该?|应当|就|只能|只有)?\s*(?:选择?|是|为|有|:|：)+"
    r"|(?:故|应|因此|所以|则|可|本题|只能|只|答|即|综上)[\s,，]*(?:本题)?(?:正确)?(?:答案)?"
    r"(?:应该?)?\s*选择?(?:项)?\s*(?:是|为|:|：)*"
    rf"|{_ASKED}|(?:组合|结果|推断|判断)(?:应)?(?:是|为)|故\s*(?=[{LETTERS}]\s*[。.]?\s*$))"
)
_EN_CUE = (
    r"(?:\b(?:[Aa]nswer|ANSWER|[Ss]olution|SOLUTION|[Cc]onclusion)\b(?:[^\n.:。]{0,60}?)"
    r"(?:\bis\b|\bare\b|\bwould be\b|\bmust be\b|\bshould be\b|:|=|：)"
    r"|\b(?:correct|best|right|closest|final|only|nearest)\s+(?:[a-z]+\s+){0,2}?"
    r"(?:[Oo]ption|[Cc]hoice|answer)s?\b(?:[^\n.:。]{0,40}?)(?:\bis\b|\bare\b|:|=)"
    r"|\b(?:[Oo]ption|[Cc]hoice|one) that [^\n.。]{0,120}?\bis\b(?: likely| probably)?"
    r"|\b(?:select|choose|pick|go with|selected?|chosen|choosing)\b|\bcorresponds to\b)"
)
_LIKELY = r"\s*(?:most likely|likely|probably|definitely)?"
_CUED_ZH = re.compile(
    rf"(?=[【参最正佳的答选结解故应因所则可本只即综错不合恰符准一适必组推判]){_ZH_CUE}{_LIKELY}{_MARKUP}{_LETTERS}"
)
_CUED_EN = re.compile(rf"\b(?=[AaSsCcOobrfnpg]){_EN_CUE}{_LIKELY}{_MARKUP}{_LETTERS}")
_HAN = re.compile(r"[\u3400-\u9fff]")
_JUDGED_ZH = re.compile(
    rf"(?<![A-Za-z]){_LETTERS}\s*[)}}]?\s*(?:选项|项)?\s*(?:[^\s。,，;；.]{{0,4}})?(?:是|为)?"
    r"(?:正确答案|正确选项|最佳答案|本题答案|符合题意)"
)
_JUDGED_EN = re.compile(
    rf"[OoCc](?:ption|hoice)[\s_]*\(?(?P<letters>[{LETTERS}])\)?(?![A-Za-z])[^\n.]{{0,60}}?"
    r"\bis (?:the )?"
    r"(?:(?:most )?(?:correct|best|right|accurate|likely))(?: (?:answer|choice|option))?"
)
_ENDING = re.compile(
    r"(?:\b(?:[Ss]o|[Hh]ence|[Tt]hus|[Tt]herefore|leaving|(?:correct|right|best) one is"
    rf"|[Nn]ot {LETTER},? but)\b,?|不是{LETTER}[,，]?(?:而)?是|只剩下?)"
    rf"\s*(?:it(?:'s| is)|the|that is|选)?\s*{_MARKUP}{_LETTERS}"
    r"(?P<end>[\s.。*)}}$!]*\Z)"
)
"""Words in the last sentence that introduce an option and nothing else."""
_ITEM = re.compile(
    rf"(?:^|[\n,，;；。.]\s*)[(*\s]*(?P<letter>{LETTER})[*)）]*\s*(?:选?项|[.:：、])?\s*"
    r"(?:的?(?:说法|叙述))?(?:是|\bis)?\s*"
    r"(?P<said>正确|错误|不正确|不对|对|错|[Tt]rue|[Ff]alse|[Rr]ight|[Ww]rong|[Cc]orrect|[Ii]ncorrect)(?![a-z])"
)
"""A statement about one option alone: "A项错误", "C is right"."""
_BOXED = re.compile(rf"\\(?:boxed|fbox)\s*\{{{_MARKUP}{_LETTERS}")
_ALONE = re.compile(
    rf"^[\s#>*_]*+(?:答|[Aa]nswer|选)?[\s:：]*+{_MARKUP}{_LETTERS}[\s$*)}}.。．:：、]*"
    r"(?:$|[.．、:：)）]|(?=(?![后前之以左右上下看似都均全皆各也能会可有]|是错)[\u3400-\u9fff]))",
    re.MULTILINE,
)
_NEGATED = re.compile(
    r"(?:不是|并非|不选|排除|不能选|不应选|\bnot\b|n't\b|\bnor\b|\brather than\b|\beliminate)",
    re.IGNORECASE,
)
_LEFT_OPEN = re.compile(
    r"[\s)(（*$}]*(?:or\b|或|还是|are (?:in|not)|is (?:in|not|wrong|tempting|clearly not)"
    r"|(?:选?项|说法)?(?:都|均|是)?[不错]|(?:都|均|全)[属是为]|的(?:说法|叙述|表述))"
)
_OR_ANOTHER = re.compile(
    rf"(?:[^,.;，。；\n]|\.(?=\d)){{0,30}}?\s(?:or|或者?)\s+\(?[{LETTERS}]\)?(?![A-Za-z])"
)
"""The text of an option, and another option: "(B) 4.29 or C"."""
_ELIMINATED = re.compile(
    rf"[^\n。.,，{LETTERS}]{{0,12}}[,，]?\s*"
    rf"(?:排除|(?:is|are) (?:ruled out|eliminated|excluded|out\b))(?!\s*[{LETTERS}])"
)
_JUDGED_WRONG = re.compile(r"[^\n]{0,80}\(\s*(?:in|not )correct|(?:错误|不正确)", re.IGNORECASE)
_ECHO = re.compile(rf"\s*[.．、:：)）][^\n]*\n+\s*[(（]?[{LETTERS[1:]}]\s*[.．、:：)）]")
"""A list of options that continues, each on a line of its own."""
_WRONG_ONES = re.compile(
    r"(?:错误|不正确|不对)的?(?:选项|说法|叙述)?[是有]?\s*[:：]?\s*\Z"
    r"|\b(?:wrong|incorrect|false)(?: (?:option|answer|one)s?)?:?\s*\Z",
    re.IGNORECASE,
)
_RIGHT_ONES = re.compile(
    r"(?<!不)正确的?(?:选项|答案|[是有])?\s*[:：]"
    r"|\b(?:correct|right|true)(?: (?:option|answer|one)s?)?:",
    re.IGNORECASE,
)
"""A list of the wrong options beside one of the right ones."""
_SUPPOSED = re.compile(r"(?:^|[.\n。:])[\s*-]*(?:If|Suppose|如果|假如|若)\b[^.\n。]*$")
"""The beginning of a hypothetical sentence."""
_LISTED = re.compile(rf"(?:^|[\n\s])\s*[(（]?[{LETTERS}]\s*[.．、:：)）]")


_ANY = re.compile(SAID)
_BOX_RUN = re.compile(rf"(?:\\boxed\{{[{LETTERS}]\}}[$\s]*(?:[,、和]|and)?[$\s]*){{2,}}")
_BOXED_LETTER = re.compile(rf"\{{([{LETTERS}])\}}")
_CLAUSE_END = re.compile(r"\s*[,，;；]")
_GOES_ON = re.compile(r"\s*(?:选?项)?(?:都|均|是|错|不|are\b|is\b)")
_LONE = re.compile(rf"[\s*(\[$]*(?P<letter>{LETTER})[\s*)\]$.]*")
_ONE_LETTER = re.compile(rf"[\s*$]*([{LETTERS}])\1*[\s*$.。]*")
"""A line with one option, once or repeated: "DDDDD"."""
_ALL_SAID: Final = 3
"""Least number of options with a statement about them that determine the chosen one."""


class Choice(NamedTuple):
    """The letters, and the spans of what announces them and of the letters themselves."""

    letters: str
    announced: int
    start: int
    end: int
    committed: bool


def find_choice(text: str) -> Choice | None:
    """The last option or options that the text commits to; else one that is alone on a line.

    A choice without letters means that according to the text none of the options is right.
    """
    if text.count("boxed{") > 1 and (row := _boxes_in_a_row(half_width(text))):
        return row
    near = max(0, len(text) - NEAR_THE_END)
    best = max(_committed(half_width(text[near:])), key=lambda c: c.start, default=None)
    if near and (best is None or best.announced < OVERLAP):
        text = half_width(text)
        best = max(_committed(text), key=lambda c: c.start, default=None)
        return best or _alone_on_a_line(text)
    return _moved(best, near) if best else _alone_on_a_line(half_width(text))


def _moved(choice: Choice, by: int) -> Choice:
    return choice._replace(
        announced=choice.announced + by, start=choice.start + by, end=choice.end + by
    )


def _committed(text: str) -> Iterator[Choice]:
    for pattern in (_BOXED, _CUED_EN, *([_CUED_ZH] if _HAN.search(text) else [])):
        for match in pattern.finditer(text):
            if not _ruled_out(text, match):
                yield _choice(match)
    for match in _ENDING.finditer(text, max(0, len(text) - NEAR_THE_END)):
        yield _choice(match)
    for begin, start, end in statements(text):
        yield Choice(text[start:end], begin, start, end, committed=True)
    for match in NONE_RIGHT.finditer(text) if says_none_right(text) else ():
        yield Choice("", match.start(), match.start(), match.end(), True)
    judged = [_JUDGED_ZH] if "答案" in text or "正确" in text or "符合" in text else []
    for pattern in (*judged, _JUDGED_EN):
        for match in pattern.finditer(text):
            if not (_NEGATED.search(match[0]) or "不符合" in match[0]):
                yield _choice(match)


def _ruled_out(text: str, match: re.Match[str]) -> bool:
    """Whether the cue is negated, or the choice left open: "A or B", "选 A 或 B"."""
    before = text[max(0, match.start() - 6) : match.start("letters")]
    rest = text[match.end("letters") :]
    return bool(
        _NEGATED.search(before)
        or _LEFT_OPEN.match(rest[:12])
        or _JUDGED_WRONG.match(rest)
        or _ELIMINATED.match(rest)
        or _OR_ANOTHER.match(rest)
        or _ECHO.match(rest)
        or _SUPPOSED.search(text[max(0, match.start() - 160) : match.start()])
        or "either" in before.lower()
        or (_WRONG_ONES.search(text, 0, match.start("letters")) and _RIGHT_ONES.search(text))
    )


def _choice(match: re.Match[str]) -> Choice:
    start, end = match.span("letters")
    first = _CLAUSE_END.search(match["letters"])
    if first is not None and _GOES_ON.match(match.string, end):
        end = start + first.start()  # 选B，A、C、D都是合数
    return Choice(_named(match.string[start:end]), match.start(), start, end, committed=True)


def _named(letters: str) -> str:
    without = re.sub(r"\band\b|[Oo]ptions?|[Cc]hoices?", " ", letters)
    return "".join(re.findall(f"[{LETTERS}]", without))


def _boxes_in_a_row(text: str) -> Choice | None:
    r"""``\boxed{A} \boxed{B}``: adjacent boxes choose several options."""
    run = last_match(_BOX_RUN, text)
    if run is None:
        return None
    letters = "".join(dict.fromkeys(_BOXED_LETTER.findall(run[0])))
    return Choice(letters, run.start(), run.start(), run.end(), committed=True)


def _one_a_line(lines: list[re.Match[str]]) -> Choice | None:
    """Lines that hold nothing but an option each: several are chosen."""
    alone = [_LONE.fullmatch(line[0]) for line in lines]
    if len(lines) < 2 or not all(alone):
        return None
    letters = "".join(dict.fromkeys(match["letter"] for match in alone if match))
    return Choice(letters, lines[0].start(), lines[0].start(), lines[-1].end(), committed=True)


def _said_of_each(text: str) -> Choice | None:
    """The only option that is called right, if all others are called wrong."""
    said = [(m["letter"], bool(stated_truth(m["said"])), m) for m in _ITEM.finditer(text)]
    if len({letter for letter, _, _ in said}) < _ALL_SAID or len(said) != len({x[0] for x in said}):
        return None
    right = [(letter, m) for letter, holds, m in said if holds]
    if len(right) != 1:
        return None
    letter, match = right[0]
    return Choice(letter, match.start("letter"), *match.span("letter"), committed=False)


def _alone_on_a_line(text: str) -> Choice | None:
    """A line that begins with an option, first or last in the text: "B" or "C．政府的…"."""
    stripped = text.strip()
    if not stripped:
        return None
    if one := _said_of_each(text):
        return one
    lines = [m for m in re.finditer(r"[^\n]+", text) if m[0].strip()]
    if several := _one_a_line(lines):
        return several
    listed = [line for line in lines if _LISTED.match(line[0])]
    for line in (lines[0], lines[-1]):
        match = _ALONE.match(line[0])
        echoed = len(lines) == 1 and len(_LISTED.findall(line[0])) > 2
        spoken_of = match and _HAN.match(line[0], match.end()) and _ANY.search(line[0], match.end())
        if match is not None and not (echoed or spoken_of or _ruled_out(line[0], match)):
            found = _choice(match)
            start, end = line.start() + found.start, line.start() + found.end
            if len(listed) > 1 and len(lines) > 1 and not _ONE_LETTER.fullmatch(line[0]):
                continue  # the options are listed, and this line is one of the list
            whole = not line[0][match.end() :].strip() or line is lines[0]
            return Choice(found.letters, line.start(), start, end, whole or len(lines) == 1)
    return None
