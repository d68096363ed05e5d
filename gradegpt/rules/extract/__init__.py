"""Find the answer in a response or in a worked reference, and the sentence that gives it."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers import values
from gradegpt.answers.options import LETTERS
from gradegpt.answers.spans import BREAK, last_match, sentence_around
from gradegpt.answers.text import SYSTEM
from gradegpt.answers.types import Leaf
from gradegpt.core.schema import CHOICE, AnswerType
from gradegpt.rules.extract.choice import find_choice
from gradegpt.rules.extract.found import (
    COMMITTED,
    MARKUP,
    NEAR_THE_END,
    OVERLAP,
    Found,
    How,
    bare,
)
from gradegpt.rules.extract.keys import find_keys, several_keys
from gradegpt.rules.extract.numbers import (
    CHANGED,
    NUMBER,
    SPELLED,
    counted,
    endings,
    has_later_result,
    last_number,
    names_another,
    numbers_around,
    with_unit,
)
from gradegpt.rules.extract.refine import reads_as, refine
from gradegpt.rules.extract.several import boxes, by_part, json_answer, several_boxes

__all__ = [
    "COMMITTED", "Found", "How", "boxes", "counted", "endings", "find_answer", "has_later_result",
    "numbers_around",
]  # fmt: skip

_SEVERAL: Final = (AnswerType.MULTI_ANSWER, AnswerType.MULTI_PART, AnswerType.SET)
_BLANK: Final = re.compile(r"第\s*[一二三四五六七八九\d]\s*[空问题]|[①②③]")
_FENCED: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SAID: Final = (How.FINAL, How.ANNOUNCED, How.WHOLE)
_SCANNED: Final = 20_000
_STATED: Final = 800


_ANSWER_TAG = re.compile(r"<answer>\s*(.+?)\s*</answer>", re.DOTALL | re.IGNORECASE)
_ANNOUNCED = re.compile(
    r"(?:(?=[【#<正最参的答选结故应因所可sfcrbao])(?:【\s*答案\s*】|####|</?answer>|"
    r"(?:正确|最终|参考|最后)?(?:的)?(?:答案|选项|结果)\s*(?:应该|应当|应)?\s*(?:选择|选|是|为|：|:)+|"
    r"(?:故|应|因此|所以|可)\s*(?:本题)?(?:正确)?(?:答案)?(?:应)?\s*选(?:择)?(?:项)?\s*(?:是|为|：|:)*|"
    r"答\s*[:：](?=[^\n]{1,60}\s*\Z)|\bSolution:\s*(?:Choice[ _])?|"
    r"\b(?:final |correct |right |best )*(?:answer|option|choice)\b(?:[^\n.:：]{0,40}?)"
    r"(?:\bis\b|\bare\b|\bbe\b|:|：|=)\s*(?:option|choice)?)|"
    r"^[^\S\n]*A\s*[:：](?=\s*[-$\d]))"
    r"[\s*_:：]*",
    re.IGNORECASE | re.MULTILINE,
)
_ANNOUNCING: Final = (
    "答案", "答:", "答：", "选", "结果", "####", "answer", "solution", "option", "choice",
    "a:", "a：", "a :", "a ：",
)  # fmt: skip
"""Every announcement has one of these."""
_BARE_CHOICE = re.compile(rf"选(?:择|项)?\s*[(（\[]?\s*(?=[{LETTERS}](?![A-Za-z]))")
_CONCLUDED = re.compile(
    r"(?:综上|因此|所以|故|从而|可得|解得|得到|\b(?:therefore|thus|hence|so|finally)\b)[^\n。]{0,160}?"
    r"(?:等于|就是|是|为|=|≈|\bis\b|\bare\b|\bequals\b)\s*(?=[^\s，,。])",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?<![A-Za-z\\])[A-Za-z]_?\{?\d\}?\s*=\s*\Z")
_SUPPOSED = re.compile(r"如果|假如|倘若|\bif\b|\bsuppose\b|\bwere\b", re.IGNORECASE)
"""Words before an announcement, in its sentence, that make it hypothetical."""
_SO_IN_WORDS = re.compile(
    rf"\b(?:so|thus|hence|therefore|makes|gives)\s+{SPELLED.pattern}[\w-]*\s*[;,.]", re.IGNORECASE
)
"""A result in words before another number."""
_CHECK = re.compile(
    r"[.。\n] {0,4}(?:Check(?:ing)?|Verif(?:y|ication)|To check|检验|验证|验算) ?[:：,，]",
    re.IGNORECASE,
)
"""The beginning of a check; the text after it has no answer unless it announces one."""
_LISTING = re.compile(r"\s*\(?A[).].{0,400}?[\s(]B[).]", re.DOTALL)
"""A list of all options after an announcement: "each option: (A) … (B) …"."""
_IN_CHINESE = re.compile(r"[\u3400-\u9fff\d.,()（）]{2,20}")
"""A short answer with a number in Chinese words: 现价160元."""
_NEXT = re.compile(r"[*`$]{0,2}[;；][^\S\n]*([^;；。！？!?\n]{1,80})")
_STOP = re.compile(rf"{BREAK}|;|\.(?<!\d\.)(?=<)|【|</?answer>")
"""The end of an answer."""


def find_answer(text: str, kind: AnswerType | None = None, places: int = 1) -> Found | None:
    """The final answer of the text.

    The last box, else the last announced answer, else the whole of a short text, else a conclusion,
    else the last number. With ``kind``, forms that only this kind has come first (option letters,
    the answers to ``places`` questions or parts), and the answer is narrowed to the part that can
    be read as that kind. Only the last 20,000 characters are read: a final answer is at the end.
    """
    outside_code = find_answer(_FENCED.sub(_blank, text), kind, places) if "```" in text else None
    if outside_code is not None and outside_code.how in (How.BOXED, How.ANNOUNCED):
        return outside_code  # an answer inside code is ignored
    found = _found_in(text, kind, places)
    check = _CHECK.search(text)
    if check is None or (found is not None and found.how in (How.BOXED, How.ANNOUNCED)):
        return found
    return _found_in(text[: check.start() + 1], kind, places)


def _found_in(text: str, kind: AnswerType | None, places: int) -> Found | None:
    offset = max(0, len(text) - _SCANNED)
    tail = text[offset:]
    found = json_answer(tail, kind) if '"answer' in tail or '答案"' in tail else None
    found = found or _of_kind(tail, kind, places)
    if found is None:
        searches = (_boxed, _announced, _whole, _concluded)
        found = next(filter(None, (search(tail) for search in searches)), None)
        if found is not None and found.how is How.ANNOUNCED and kind in _SEVERAL:
            found = _with_what_follows(found, tail)
        if kind is AnswerType.TEXT and (found is None or found.how not in COMMITTED):
            found = _stated(tail) or found
        elif found is None or found.how is How.CONCLUDED:
            found = _last_line(tail, kind) or found or last_number(tail)
        if found is not None and kind is not None and kind not in CHOICE:
            found = _refined(found, kind)
    if found is None or not offset:
        return found
    clause = (found.clause[0] + offset, found.clause[1] + offset)
    return found._replace(start=found.start + offset, end=found.end + offset, clause=clause)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _with_what_follows(found: Found, text: str) -> Found:
    """Extended by further answers after semicolons: "Answer: 11; 12"."""
    end = found.clause[1]
    while (more := _NEXT.match(text, end)) and more[1].strip(MARKUP + "."):
        end = more.end(1)
    answer = text[found.clause[1] - len(found.answer) : end].strip(MARKUP).rstrip(".\\")
    if end == found.clause[1] or found.answer not in answer:
        return found
    clause = (found.clause[0], end)
    return found._replace(answer=answer, clause=clause, end=max(found.end, end))


def _refined(found: Found, kind: AnswerType) -> Found:
    """The answer narrowed to its kind; one of several numbers in a sentence is uncertain."""
    answer = refine(found.answer, kind)
    if kind in _SEVERAL and found.how in _SAID and _one_of(answer, found):
        return found._replace(answer=answer, how=How.CONCLUDED)
    narrowed = kind is AnswerType.NUMBER and answer != found.answer
    narrowed &= found.how is How.FINAL or (
        found.how is How.WHOLE and _SO_IN_WORDS.search(found.answer) is not None
    )
    if narrowed and "=" not in found.answer and _numbers(found.answer) > 1:
        return found._replace(answer=answer, how=How.CONCLUDED)
    if kind is AnswerType.NUMBER and not CHANGED.search(answer) and not reads_as(answer, kind):
        given = {with_unit(answer, m) for m in NUMBER.finditer(answer)}
        # "3 years old", "10 months to save": a number among other words
        if len(given) == 1 and not names_another(answer):
            short = found.how is How.ANNOUNCED and _IN_CHINESE.fullmatch(answer) is not None
            how = found.how if short else How.LAST_NUMBER
            return found._replace(answer=given.pop(), how=how)
    return found._replace(answer=answer)


def _numbers(text: str) -> int:
    return len(NUMBER.findall(text)) + len(SPELLED.findall(text))


def _one_of(answer: str, found: Found) -> bool:
    """Whether only one value was found, by narrowing or in a last line, instead of several."""
    narrowed = answer != found.answer or found.how is How.FINAL
    return narrowed and isinstance(values.read(answer), Leaf)


def _of_kind(text: str, kind: AnswerType | None, places: int) -> Found | None:
    if kind in CHOICE:
        several = find_keys(text, places) if places > 1 else None
        if several is not None:
            span = sentence_around(text, several.start, several.start + 1)
            return Found(several.letters, *span, How.ANNOUNCED, span)
        chosen = _chosen(text)
        if chosen is not None and places <= 1 and several_keys(text):
            return chosen._replace(how=How.CONCLUDED, answer=text.strip()[-80:])
        return chosen
    if kind is AnswerType.MULTI_PART and places > 1:
        return by_part(text, places, _final_answer)
    if kind is AnswerType.MULTI_ANSWER and places > 1 and _BLANK.search(text):
        return by_part(text, places, _final_answer)
    return several_boxes(text) if kind in (AnswerType.MULTI_ANSWER, AnswerType.SET) else None


def _final_answer(piece: str) -> str:
    found = find_answer(piece)
    answer = piece if found is None or found.how is How.LAST_NUMBER else found.answer
    return refine(answer, AnswerType.MULTI_ANSWER)


def _chosen(text: str) -> Found | None:
    found = find_choice(text)
    if found is None:
        return None
    span = sentence_around(text, found.start, found.end)
    answer = found.letters or text[found.start : found.end]
    how = How.ANNOUNCED if found.committed else How.CONCLUDED
    return Found(answer, *span, how, (found.announced, found.end))


def _boxed(text: str) -> Found | None:
    if not (boxed := boxes(text)):
        return None
    last = boxed[-1]
    span = sentence_around(text, last.start, last.end)
    return Found(last.content, *span, How.BOXED, (last.start, last.end))


def _announced(text: str) -> Found | None:
    tag = last_match(_ANSWER_TAG, text) if "</" in text else None
    if tag is not None:
        return _found(text, tag.start(1), tag.end(1), How.ANNOUNCED, tag.start(1))
    near = max(0, len(text) - NEAR_THE_END)
    found = _last_announced(text, near)
    if near and (found is None or found.clause[0] < near + OVERLAP):
        found = _last_announced(text, 0)
    return found


def _last_announced(text: str, begin: int) -> Found | None:
    lowered = text[begin:].lower()
    if not any(word in lowered for word in _ANNOUNCING):
        return None
    matches = [*_ANNOUNCED.finditer(text, begin), *_BARE_CHOICE.finditer(text, begin)]
    for match in sorted(matches, key=lambda m: m.end(), reverse=True):
        stop = _stop(text, match.end())
        if _LISTING.match(text, match.end()):
            continue
        found = _found(text, match.end(), stop, How.ANNOUNCED, match.start())
        if found is not None and not _SUPPOSED.search(text, found.start, match.start()):
            return found
    return None


def _whole(text: str) -> Found | None:
    stripped = text.strip()
    if not stripped or len(stripped) > 80 or "\n" in stripped:
        return None
    start = text.index(stripped)
    span = (start, start + len(stripped))
    answer = bare(stripped).removesuffix("\\").rstrip()
    return Found(answer or stripped, *span, How.WHOLE, span)


def _stated(text: str) -> Found | None:
    stripped = text.strip()
    if not stripped or len(stripped) > _STATED:
        return None
    span = sentence_around(text, text.index(stripped), text.index(stripped) + 1)
    return Found(stripped, *span, How.STATED, span)


def _concluded(text: str) -> Found | None:
    last = last_match(_CONCLUDED, text)
    if last is None:
        return None
    stop = _stop(text, last.end())
    begin = last.end()
    if (system := SYSTEM.search(text, last.start())) and system.start() < begin:
        begin, stop = system.span()
    elif named := _NAMED.search(text, last.start(), last.end()):
        begin = named.start()  # the first of x₁=2, x₂=3
    supposed = _SUPPOSED.search(text, max(0, last.start() - 80), last.end())
    more = supposed or text[stop:].strip(MARKUP + ".!！\n)）")
    how = How.CONCLUDED if more else How.FINAL
    found = _found(text, begin, stop, how, last.start())
    return found if found is None or len(found.answer) <= 80 else None


def _last_line(text: str, kind: AnswerType | None) -> Found | None:
    """The last line, if it is short and can be read as an answer of the kind."""
    line = text.rstrip()[text.rstrip().rfind("\n") + 1 :]
    if kind is None or kind in (*CHOICE, AnswerType.TEXT) or not 0 < len(line.strip()) <= 80:
        return None
    answer = refine(line.strip(), kind)
    if _SUPPOSED.search(line) or not reads_as(answer, kind):
        return None
    start = text.rindex(line)
    span = sentence_around(text, start, start + len(line))
    return Found(answer, *span, How.FINAL, (start, start + len(line)))


def _stop(text: str, start: int) -> int:
    match = _STOP.search(text, start)
    return match.start() if match else len(text)


def _found(text: str, start: int, end: int, how: How, announced: int) -> Found | None:
    answer = bare(text[start:end]).rstrip(".\\")
    if not answer:
        return None
    at = text.find(answer, start)  # a lone $ before its number may stand elsewhere
    clause_end = end if at < 0 else at + len(answer)
    return Found(answer, *sentence_around(text, start, end), how, (announced, clause_end))
