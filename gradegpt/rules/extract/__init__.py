"""Find the answer in a response or in a worked reference, and the sentence that gives it."""

from __future__ import annotations

import json
import re
from collections import deque
from enum import StrEnum
from typing import Final, NamedTuple

from gradegpt.rules.extract.choice import find_choice, find_sequence
from gradegpt.rules.extract.refine import reads_as, refine
from gradegpt.schema import CHOICE, AnswerType

MAX_SENTENCE: Final = 160
"""Longest key sentence, in characters; a longer one is narrowed to the clause around the answer."""
_SCANNED: Final = 20_000
_STATED: Final = 500
_NEAR_THE_END: Final = 200
_OVERLAP: Final = 80
"""What a response settles on mostly stands near its end, so that is read first."""


class How(StrEnum):
    """What the extraction rests on, strongest first."""

    BOXED = "boxed"
    ANNOUNCED = "announced"
    WHOLE = "whole"
    FINAL = "final-sentence"
    CONCLUDED = "concluded"
    STATED = "stated"
    LAST_NUMBER = "last-number"


COMMITTED: Final = (How.BOXED, How.ANNOUNCED, How.WHOLE, How.FINAL)
"""What a response settles on by its own word; the rest is a guess at what it meant.

``STATED`` is all of a response of a few sentences: what is asked may stand anywhere in it.
"""


class Found(NamedTuple):
    """An answer, the span of its key sentence in the text, and what the extraction rests on.

    ``clause`` is the narrower span from the words that announce the answer to the answer's end.
    """

    answer: str
    start: int
    end: int
    how: How
    clause: tuple[int, int]


_BOX = re.compile(r"\\boxed\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*+)\}")


def boxes(text: str) -> list[str]:
    r"""What stands in each ``\boxed{…}``, in order; braces may nest three deep."""
    return [m[1].strip() for m in _BOX.finditer(text) if m[1].strip()]


_JSON_ANSWER = re.compile(
    r'"(?:final_|correct_)?answers?"\s*:\s*'
    r'(?P<value>"(?:[^"\\]|\\.){0,2000}"|-?\d[\d.eE+-]{0,40}|true|false'
    r'|\[\s*(?:(?:"(?:[^"\\]|\\.){0,500}"|-?\d[\d.eE+-]{0,40})\s*,?\s*){1,60}\])'
)
_PART = re.compile(
    r"(?:^|(?<=[\s;；。.，,*:：]))(?:\*\*)?(?:[Pp]art\s*)?(?:[(（]\s*([1-9]|[一二三四五六七八九]|[a-i]|i{1,3}|iv|v)\s*[)）]|([①-⑨])|第([一二三四五六七八九1-9])[空问])(?:\*\*)?[\s:：]*"
)
_ROMAN: Final = ("i", "ii", "iii", "iv", "v")
_ANSWER_TAG = re.compile(r"<answer>\s*(.+?)\s*</answer>", re.DOTALL | re.IGNORECASE)
_ANNOUNCED = re.compile(
    r"(?:(?=[【#<正最参的答选结故应因所可sfcrbao])(?:【\s*答案\s*】|####|</?answer>|"
    r"(?:正确|最终|参考|最后)?(?:的)?(?:答案|选项|结果)\s*(?:应该|应当|应)?\s*(?:选择|选|是|为|：|:)+|"
    r"(?:故|应|因此|所以|可)\s*(?:本题)?(?:正确)?(?:答案)?(?:应)?\s*选(?:择)?(?:项)?\s*(?:是|为|：|:)*|"
    r"\bSolution:\s*(?:Choice[ _])?|"
    r"\b(?:final |correct |right |best )*(?:answer|option|choice)\b(?:[^\n.:：]{0,40}?)"
    r"(?:\bis\b|\bare\b|:|：|=)\s*(?:option|choice)?)|"
    r"^[^\S\n]*A\s*[:：](?=\s*[-$\d]))"
    r"[\s*_:：]*",
    re.IGNORECASE | re.MULTILINE,
)
_ANNOUNCING: Final = (
    "答案", "选", "结果", "####", "answer", "solution", "option", "choice",
    "a:", "a：", "a :", "a ：",
)  # fmt: skip
"""One of these stands in every announcement."""
_BARE_CHOICE = re.compile(r"选(?:择|项)?\s*[(（\[]?\s*(?=[A-H](?![A-Za-z]))")
_CONCLUDED = re.compile(
    r"(?:综上|因此|所以|故|从而|可得|解得|得到|\b(?:therefore|thus|hence|so|finally)\b)[^\n。]{0,160}?"
    r"(?:等于|就是|是|为|=|≈|\bis\b|\bare\b|\bequals\b)\s*(?=[^\s，,。])",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"-?\$?\d[\d,]*(?:\.\d+)?(?:\s*/\s*\d+)?%?")
_CHANGED = re.compile(
    r"\bnot\b|n't\b|\b(?:less|more|fewer|at least|at most|than|plus|minus|times|over|half|\w*halves"
    r"|or|between|\w*(?:thirds?|quarters?|fourths?|fifths?|tenths?|dozens?|hundreds?|thousands?|illions?))\b"
    r"|\b[b-hj-z]\b|[+*/^=<>≤≥_\\]|不|没|的(?:平方|立方|倍|倒数)|平方|大于|小于|至少|至多|或|半",
    re.IGNORECASE,
)
"""Signs and words beside a number that make another value of it."""
_SPELLED = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|hundred)\b",
    re.IGNORECASE,
)
_CLOSING: Final = 3
"""Signs that may follow the last sentence."""
_TURNED = re.compile(
    r"\bnot\b|n't\b|\b(?:less|fewer|at least|at most|than|or|between \W?\d+)\b"
    r"|不|没|大于|小于|至少|至多|或",
    re.IGNORECASE,
)
"""Words by which a number in a sentence is not its result, unless it stands behind a sign =."""
_DENIED = re.compile(r"\bnot\b|n't\b|不|没", re.IGNORECASE)
_RESULT = re.compile(r"[=≈]\s*(-?\$?\d[\d,]*(?:\.\d+)?%?)")
_STOP = re.compile(
    r"[。！？!?；;\n]|(?<=[^\d])\.(?=\s|$|<)|(?<=\d)\.(?=\s|$)|<eo[aet]>|<STEP\d*>|【|</?answer>"
)
_BREAK = re.compile(r"[。！？!?；;\n]|\.(?=\s)|<eo[aet]>|<STEP\d*>")
_BREAKS: Final = ("。", "！", "？", "!", "?", "；", ";", "\n", ". ", ".\n")
_CLAUSE = re.compile(r"[，,：:]")
_DRESSING: Final = " \t*_`$：:。，,；;"


def find_answer(text: str, kind: AnswerType | None = None, places: int = 1) -> Found | None:
    """The answer that the text settles on.

    The last box, else the last announced answer, else the whole of a short text, else a conclusion,
    else the last number. With ``kind``, first what only this kind has: option letters; the answers
    to ``places`` questions or parts; and the answer is narrowed to what reads as that kind. Only
    the last 20,000 characters are read: what a response settles on stands at its end.
    """
    offset = max(0, len(text) - _SCANNED)
    tail = text[offset:]
    found = _json(tail, kind) if '"answer' in tail else None
    found = found or _of_kind(tail, kind, places)
    if found is None:
        searches = (_boxed, _announced, _whole, _concluded)
        found = next(filter(None, (search(tail) for search in searches)), None)
        if kind is AnswerType.TEXT and (found is None or found.how not in COMMITTED):
            found = _stated(tail) or found
        elif found is None or found.how is How.CONCLUDED:
            found = _last_line(tail, kind) or found or _last_number(tail)
        if found is not None and kind is not None and kind not in CHOICE:
            found = _refined(found, kind)
    if found is None or not offset:
        return found
    clause = (found.clause[0] + offset, found.clause[1] + offset)
    return found._replace(start=found.start + offset, end=found.end + offset, clause=clause)


def _json(text: str, kind: AnswerType | None) -> Found | None:
    """The last ``{"answer": …}`` or ``{"answers": […]}``."""
    match = _last(_JSON_ANSWER, text)
    if match is None:
        return None
    try:
        value = json.loads(match["value"])
    except ValueError:
        return None
    several = [str(v) for v in value] if isinstance(value, list) else [str(value)]
    marks = [f"({n}) " for n in range(1, len(several) + 1)]
    if kind is not AnswerType.MULTI_PART or len(several) < 2:
        marks = [""] * len(several)
    answer = "; ".join(mark + one.strip() for mark, one in zip(marks, several, strict=True))
    span = sentence_around(text, *match.span("value"))
    return Found(answer, *span, How.ANNOUNCED, match.span()) if answer.strip() else None


def _refined(found: Found, kind: AnswerType) -> Found:
    """Narrowed to the kind; of several numbers in a last sentence, there is no telling which."""
    answer = refine(found.answer, kind)
    several = kind is AnswerType.NUMBER and found.how is How.FINAL and answer != found.answer
    numbers = len(_NUMBER.findall(found.answer)) + len(_SPELLED.findall(found.answer))
    if several and "=" not in found.answer and numbers > 1:
        return found._replace(answer=answer, how=How.CONCLUDED)
    if kind is AnswerType.NUMBER and not _CHANGED.search(answer) and not reads_as(answer, kind):
        given = {m[0] for m in _NUMBER.finditer(answer)}
        if len(given) == 1:  # "3 years old", "10 months to save": a number among other words
            return found._replace(answer=given.pop(), how=How.LAST_NUMBER)
    return found._replace(answer=answer)


def _of_kind(text: str, kind: AnswerType | None, places: int) -> Found | None:
    if kind in CHOICE:
        several = find_sequence(text, places) if places > 1 else None
        if several is not None:
            span = sentence_around(text, several.start, several.start + 1)
            return Found(several.letters, *span, How.ANNOUNCED, span)
        return _chosen(text)
    if kind is AnswerType.MULTI_PART and places > 1:
        return _by_part(text, places)
    return _several_boxes(text) if kind in (AnswerType.MULTI_ANSWER, AnswerType.SET) else None


def _several_boxes(text: str) -> Found | None:
    r"""``\boxed{3} or \boxed{-3}``: the different boxes of the last paragraph, as one answer."""
    start = text.rfind("\n\n", 0, max(0, text.rfind("\\boxed"))) + 1
    last = list(_BOX.finditer(text, start))
    answers = list(dict.fromkeys(m[1].strip() for m in last))
    if len(answers) < 2:
        return None
    span = sentence_around(text, last[0].start(), last[-1].end())
    return Found("; ".join(answers), *span, How.BOXED, (last[0].start(), last[-1].end()))


def _by_part(text: str, places: int) -> Found | None:
    """``(1) … = 3. (2) … = 5.``: the answers of the last run of parts, or of as many boxes."""
    boxes = list(_BOX.finditer(text))[-places:]
    if len(boxes) == places and len(_BOX.findall(text)) == places:
        answers = [m[1] for m in boxes]
        return _joined(text, answers, boxes[-1].start(), boxes[-1].end(), How.BOXED)
    marks = list(_PART.finditer(text))
    for end in range(len(marks), places - 1, -1):
        run = marks[end - places : end]
        if [_number(m) for m in run] == list(range(1, places + 1)):
            ends = [m.start() for m in run[1:]] + [len(text)]
            pieces = [
                text[m.end() : stop].strip(" \n*:：;；,，")
                for m, stop in zip(run, ends, strict=True)
            ]
            answers = [_settled(piece) for piece in pieces]
            return (
                _joined(text, answers, run[0].start(), ends[-1], How.ANNOUNCED)
                if all(answers)
                else None
            )
    return None


def _settled(piece: str) -> str:
    found = find_answer(piece)
    answer = piece if found is None or found.how is How.LAST_NUMBER else found.answer
    return refine(answer, AnswerType.MULTI_ANSWER)


def _joined(text: str, answers: list[str], start: int, end: int, how: How) -> Found:
    answer = "; ".join(f"({n}) {a.strip(_DRESSING)}" for n, a in enumerate(answers, 1))
    span = sentence_around(text, start, start + 1)
    return Found(answer, *span, how, span)


def _number(mark: re.Match[str]) -> int:
    name = next(filter(None, mark.groups())).lower()
    order = ("123456789", "①②③④⑤⑥⑦⑧⑨", "一二三四五六七八九", "abcdefghi")
    if name in _ROMAN:
        return _ROMAN.index(name) + 1
    return next((digits.index(name) + 1 for digits in order if name in digits), 0)


def _chosen(text: str) -> Found | None:
    found = find_choice(text)
    if found is None:
        return None
    span = sentence_around(text, found.start, found.end)
    answer = found.letters or text[found.start : found.end]
    how = How.ANNOUNCED if found.committed else How.CONCLUDED
    return Found(answer, *span, how, (found.announced, found.end))


def _boxed(text: str) -> Found | None:
    start = max(text.rfind("\\boxed{"), text.rfind("\\fbox{"))
    if start < 0:
        return None
    inner = text.index("{", start) + 1
    depth = 1
    for end in range(inner, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            answer = text[inner:end].strip()
            span = sentence_around(text, start, end + 1)
            return Found(answer, *span, How.BOXED, (start, end + 1)) if answer else None
    return None


def _announced(text: str) -> Found | None:
    tag = _last(_ANSWER_TAG, text)
    if tag is not None:
        return _found(text, tag.start(1), tag.end(1), How.ANNOUNCED, tag.start(1))
    near = max(0, len(text) - _NEAR_THE_END)
    found = _last_announced(text, near)
    if near and (found is None or found.clause[0] < near + _OVERLAP):
        lowered = text.lower()
        if any(word in lowered for word in _ANNOUNCING):
            found = _last_announced(text, 0)
    return found


def _last_announced(text: str, begin: int) -> Found | None:
    matches = [*_ANNOUNCED.finditer(text, begin), *_BARE_CHOICE.finditer(text, begin)]
    for match in sorted(matches, key=lambda m: m.end(), reverse=True):
        stop = _stop(text, match.end())
        found = _found(text, match.end(), stop, How.ANNOUNCED, match.start())
        if found is not None:
            return found
    return None


def _whole(text: str) -> Found | None:
    stripped = text.strip()
    if not stripped or len(stripped) > 80 or "\n" in stripped:
        return None
    start = text.index(stripped)
    span = (start, start + len(stripped))
    return Found(stripped.strip(_DRESSING) or stripped, *span, How.WHOLE, span)


def _stated(text: str) -> Found | None:
    stripped = text.strip()
    if not stripped or len(stripped) > _STATED:
        return None
    span = sentence_around(text, text.index(stripped), text.index(stripped) + 1)
    return Found(stripped, *span, How.STATED, span)


def _concluded(text: str) -> Found | None:
    last = _last(_CONCLUDED, text)
    if last is None:
        return None
    stop = _stop(text, last.end())
    how = How.CONCLUDED if text[stop:].strip(_DRESSING + ".!！\n)）") else How.FINAL
    found = _found(text, last.end(), stop, how, last.start())
    return found if found is None or len(found.answer) <= 80 else None


def _last_line(text: str, kind: AnswerType | None) -> Found | None:
    """The last line, where it is short and reads as an answer of the kind."""
    line = text.rstrip()[text.rstrip().rfind("\n") + 1 :]
    if kind is None or kind in (*CHOICE, AnswerType.TEXT) or not 0 < len(line.strip()) <= 80:
        return None
    answer = refine(line.strip(), kind)
    if not reads_as(answer, kind):
        return None
    start = text.rindex(line)
    span = sentence_around(text, start, start + len(line))
    return Found(answer, *span, How.FINAL, (start, start + len(line)))


def endings(text: str) -> list[Found]:
    """Numbers that a text ends in: its last one, and the last result of the last sentence."""
    last = _last_number(text)
    if last is None or len(text.rstrip()) - last.end > _CLOSING:
        return []
    made = [] if _TURNED.search(text, last.start, last.end) else [last]
    result = _last(_RESULT, text[last.start : last.end])
    if result is None or _DENIED.search(text, last.start, last.start + result.start()):
        return made
    span = (last.start + result.start(1), last.start + result.end(1))
    return (
        made
        if made and span[1] == last.clause[1]
        else [*made, last._replace(answer=result[1], clause=span)]
    )


def _last_number(text: str) -> Found | None:
    last = _last(_NUMBER, text)
    if last is None:
        return None
    return Found(last[0], *sentence_around(text, *last.span()), How.LAST_NUMBER, last.span())


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = deque(pattern.finditer(text), maxlen=1)
    return found[0] if found else None


def _stop(text: str, start: int) -> int:
    match = _STOP.search(text, start)
    return match.start() if match else len(text)


def _found(text: str, start: int, end: int, how: How, announced: int) -> Found | None:
    answer = text[start:end].strip(_DRESSING).rstrip(".\\")
    if not answer:
        return None
    clause_end = text.index(answer, start) + len(answer)
    return Found(answer, *sentence_around(text, start, end), how, (announced, clause_end))


def _after_last_break(text: str, begin: int, end: int) -> int:
    after = begin
    for sign in _BREAKS:
        at = text.rfind(sign, begin, end)
        after = after if at < 0 else max(after, at + len(sign))
    if text.find("<", after, end) < 0:
        return after
    return max((m.end() for m in _BREAK.finditer(text, after, end)), default=after)


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The span of the sentence with ``text[start:end]``: one line, at most 160 characters."""
    left = _after_last_break(text, max(0, start - 400), start)
    stop = _BREAK.search(text, max(start, end - 1))
    right = stop.end() if stop and stop[0] in "。！？!?" else stop.start() if stop else len(text)
    if right - left > MAX_SENTENCE:
        left = max((m.end() for m in _CLAUSE.finditer(text, left, start)), default=left)
    if right - left > MAX_SENTENCE:
        left, right = max(left, start - 40), min(right, max(end, start - 40 + MAX_SENTENCE))
    piece = text[left : min(right, left + MAX_SENTENCE)]
    lead = len(piece) - len(piece.lstrip())
    newline = piece.find("\n", lead)
    piece = piece if newline < 0 else piece[:newline]
    return left + lead, left + len(piece.rstrip())
