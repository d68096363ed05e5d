"""Find the answer in a response or in a worked reference, and the sentence that gives it.

The order: a box, an announced answer, the whole of a short text, a conclusion, the last line, the
last number. Of a sentence with more values than one, ``bind`` says which is asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from enum import StrEnum
from typing import Final, NamedTuple

from gradegpt.answers import values
from gradegpt.answers.json_list import mended
from gradegpt.answers.options import LETTERS, half_width
from gradegpt.answers.parts import numbered, pieces, run_of_parts
from gradegpt.answers.spans import BREAK, last_match, sentence_around, sentences
from gradegpt.answers.text import CIRCLED, SYSTEM
from gradegpt.answers.types import CHOICE, AnswerType, Leaf
from gradegpt.rules.bind import (
    COPULA,
    WHEN,
    asks_for,
    bound,
    by_label,
    is_contradicted,
    letters_asked,
    mentions,
    reads_as,
    same_size,
)
from gradegpt.rules.choices import find_choice, find_keys
from gradegpt.rules.cues import cue

_NEAR_THE_END: Final = 200
_OVERLAP: Final = 80
"""Characters at the end of a response that are searched first, and their overlap."""
_MARKUP: Final = " \t*_`$：:。，,；;"
_SCANNED: Final = 20_000
_SHORT: Final = 80
"""Most characters of a line, a conclusion or a whole text that is read as an answer."""
_STATED: Final = 800
_SEVERAL: Final = (AnswerType.MULTI_ANSWER, AnswerType.MULTI_PART, AnswerType.SET)
_WORDS: Final = (AnswerType.TRUE_FALSE, AnswerType.TEXT, AnswerType.CODE)
"""Types that are compared by all of their words."""


class How(StrEnum):
    """The evidence for an extracted answer, strongest first."""

    BOXED = "boxed"
    ANNOUNCED = "announced"
    WHOLE = "whole"
    FINAL = "final-sentence"
    CONCLUDED = "concluded"
    STATED = "stated"
    LAST_NUMBER = "last-number"


COMMITTED: Final = (How.BOXED, How.ANNOUNCED, How.WHOLE, How.FINAL)
"""Answers to which the response commits itself; the others are guesses.

``STATED`` is the whole of a short response: the answer may be anywhere in it.
"""


class Found(NamedTuple):
    """An answer, the span of its key sentence in the text, and the evidence for it.

    ``clause`` is the narrower span from the words that announce the answer to the answer's end.
    ``rivals`` are the other values that its sentence, or a short response, names; ``bound`` says
    whether the question binds the answer, or nothing binds one of them.
    """

    answer: str
    start: int
    end: int
    how: How
    clause: tuple[int, int]
    rivals: tuple[str, ...] = ()
    bound: bool = True

    def place(self, text: str) -> tuple[int, int]:
        """The answer's own span; its clause where the answer is put together of several pieces."""
        at = text.rfind(self.answer, *self.clause)
        return self.clause if at < 0 else (at, at + len(self.answer))


class Box(NamedTuple):
    r"""The content of a ``\boxed{…}``, without spaces around it, and its span."""

    content: str
    start: int
    end: int


Extract = Callable[[str], str]
"""The final answer in the text of one part."""
_FENCED: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_ANNOUNCED = cue("announce", after=r"[\s*_:：]*")
_ANNOUNCING: Final = (
    "答案", "答:", "答：", "选", "结果", "####", "answer", "solution", "option", "choice", "a:",
    "a：", "a :", "a ：",
)  # fmt: skip
"""Every announcement has one of these."""
_BARE_CHOICE = re.compile(rf"选(?:择|项)?\s*[(（\[]?\s*(?=[{LETTERS}](?![A-Za-z]))")
_CONCLUSION = cue("conclude", after=r"[\s,，:：]*")
_CONCLUDED = cue(
    "conclude",
    after=r"[^\n。]{0,160}?(?:等于|就是|是|为|=|≈|\b(?:is|are|equals)\b)\s*(?=[^\s，,。])",
)
_REMARK = re.compile(
    r"\n[^\S\n]*(?:[(（][^()（）\n]*(?:[(（][^()（）\n]*[)）][^()（）\n]*)*[)）][\s.。]*"
    r"|[*_]{0,2}(?:[Cc]heck(?:ing)?|[Vv]erif\w+|验算|检验|验证)[*_]{0,2}\s*[:：][^\n]*)\Z"
)
"""A last line in brackets, or one that checks the answer."""
_SUPPOSED = cue("supposed")
_FACTORIAL = re.compile(r"\d|1[0-2]")
"""A number whose factorial may be meant by the mark after it."""
_NEXT = re.compile(r"[*`$]{0,2}[;；][^\S\n]*([^;；。！？!?\n]{1,80})")
_STOP = re.compile(rf"{BREAK}|;|\.(?<!\d\.)(?=<)|【|</?answer>")
"""The end of an answer."""
_BRACE = re.compile(r"\\f?box(?:ed)?\s*\{|(?<!\\)[{}]")
_JSON_ANSWER = re.compile(
    r'"(?:(?:final_|correct_)?answers?|(?:最终)?答案)"\s*+:\s*+'
    r'(?P<value>"(?:[^"\\]|\\.){0,2000}+"|-?\d[\d.eE+-]{0,40}+|true|false'
    r'|\[\s*+(?:(?:"(?:[^"\\]|\\.){0,500}+"|-?\d[\d.eE+-]{0,40}+)\s*+,?\s*+){1,60}+\])'
)
"""Possessive: backtracking in a list without an end would take exponential time."""


def find_answer(
    text: str, kind: AnswerType | None = None, places: int = 1, question: str = ""
) -> Found | None:
    """The final answer of the text.

    The last box, else the last announced answer, else the whole of a short text, else a conclusion,
    else the last number. With ``kind``, forms that only this kind has come first (option letters,
    the answers to ``places`` questions or parts), and the answer is narrowed to the part that can
    be read as that kind. Only the last 20,000 characters are read: a final answer is at the end.
    """
    if "```" in text:
        outside = find_answer(_FENCED.sub(lambda m: " " * len(m[0]), text), kind, places, question)
        if outside is not None and outside.how in (How.BOXED, How.ANNOUNCED):
            return outside  # an answer inside code is ignored
    return _found_in(text, kind, places, question)


def _found_in(text: str, kind: AnswerType | None, places: int, question: str) -> Found | None:
    offset = max(0, len(text) - _SCANNED)
    tail = text[offset:]
    found = _json_answer(tail, kind) if '"answer' in tail or '答案"' in tail else None
    found = found or _of_kind(tail, kind, places)
    if found is None:
        number = kind is AnswerType.NUMBER
        found = (
            last_box(tail) or _announced(tail) or _whole(tail) or _concluded(tail, number=number)
        )
        if kind in CHOICE:
            found = found or _last_sentence(tail)
        else:
            found = _value_in(found, tail, kind, question)
    if found is None or not offset:
        return found
    clause = (found.clause[0] + offset, found.clause[1] + offset)
    return found._replace(start=found.start + offset, end=found.end + offset, clause=clause)


def _value_in(
    found: Found | None, text: str, kind: AnswerType | None, question: str
) -> Found | None:
    """What was found, or else the last line or sentence, narrowed to a value of the kind."""
    if found is not None and found.how is How.ANNOUNCED and kind in _SEVERAL:
        found = _with_what_follows(found, text)
    if kind is AnswerType.TEXT and (found is None or found.how not in COMMITTED):
        found = _stated(text) or found
    elif found is None or found.how is How.CONCLUDED:
        found = _last_line(text, kind, question) or found or _last_sentence(text)
    if found is None or kind is None:
        return found
    found = _refined(found, kind, question)
    sure = found.how in (How.BOXED, How.ANNOUNCED, How.STATED)
    return found if sure else _weighed(found, text, kind, question)


# --- forms of one kind ----------------------------------------------------------------------------


def _of_kind(text: str, kind: AnswerType | None, places: int) -> Found | None:
    if kind in CHOICE:
        several = find_keys(text, places) if places > 1 else None
        if several is not None:
            span = sentence_around(text, several.start, several.start + 1)
            return Found(several.letters, *span, How.ANNOUNCED, span)
        chosen = find_choice(text)
        if chosen is None:
            return None
        span = sentence_around(text, chosen.start, chosen.end)
        answer = chosen.letters or text[chosen.start : chosen.end]
        how = How.ANNOUNCED if chosen.committed else How.CONCLUDED
        return Found(answer, *span, how, (chosen.announced, chosen.end))
    if places > 1 and kind is AnswerType.MULTI_PART:
        return by_part(text, places, _of_one_part)
    return _several_boxes(text) if kind in (AnswerType.MULTI_ANSWER, AnswerType.SET) else None


def _of_one_part(piece: str) -> str:
    found = find_answer(piece)
    answer = piece if found is None or found.how is How.LAST_NUMBER else found.answer
    text = half_width(answer)
    claim = bound(text, mentions(text, AnswerType.NUMBER, ""), "")
    if claim and COPULA.search(text, 0, claim.start) and reads_as(claim.text, AnswerType.NUMBER):
        return claim.text
    several = refine(answer, AnswerType.MULTI_ANSWER)
    said = mentions(text, AnswerType.NUMBER, "") if several == answer else []
    return (
        said[0].text
        if len(said) == 1 and not reads_as(answer, AnswerType.MULTI_ANSWER)
        else several
    )


def boxes(text: str) -> list[Box]:
    r"""Each ``\boxed{…}`` that has a content and an end, in the order of their ends."""
    made, opened = [], list[re.Match[str]]()
    for brace in _BRACE.finditer(text) if "box" in text else ():
        if brace[0] != "}":
            opened.append(brace)
        elif opened and (begin := opened.pop())[0] != "{":
            content = text[begin.end() : brace.start()].strip()
            made.append(Box(content, begin.start(), brace.end()))
    return [box for box in made if box.content]


def _json_answer(text: str, kind: AnswerType | None) -> Found | None:
    """The last ``{"answer": …}`` or ``{"answers": […]}``."""
    match = last_match(_JSON_ANSWER, text)
    if match is None:
        return None
    try:
        value = json.loads(mended(match["value"]))
    except ValueError:
        return None
    several = [str(v).strip() for v in (value if isinstance(value, list) else [value])]
    parts = kind is AnswerType.MULTI_PART and len(several) > 1
    answer = numbered(several) if parts else "; ".join(several)
    span = sentence_around(text, *match.span("value"))
    return Found(answer, *span, How.ANNOUNCED, match.span()) if answer.strip() else None


def _several_boxes(text: str) -> Found | None:
    r"""The distinct boxes of the last paragraph as one answer: ``\boxed{3} or \boxed{-3}``."""
    start = text.rfind("\n\n", 0, max(0, text.rfind("\\boxed"))) + 1
    last = [box for box in boxes(text) if box.start >= start]
    answers = list(dict.fromkeys(box.content for box in last))
    if len(answers) < 2:
        return None
    span = sentence_around(text, last[0].start, last[-1].end)
    return Found("; ".join(answers), *span, How.BOXED, (last[0].start, last[-1].end))


def by_part(text: str, places: int, extract: Extract) -> Found | None:
    """The answers of the last run of parts, ``(1) … = 3. (2) … = 5.``, or of as many boxes."""
    boxed = boxes(text)
    if len(boxed) == places:
        answers, start, how = [box.content for box in boxed], boxed[-1].start, How.BOXED
        last = start
    else:
        run = run_of_parts(text, places)
        answers = [extract(p.strip(" \n*:：;；,，")) for p in pieces(text, run)] if run else []
        if not answers or not all(answers):
            return None
        start, last, how = run[0].start, run[-1].start, How.ANNOUNCED
    span = sentence_around(text, start, start + 1)
    clause = (start, sentence_around(text, last, last + 1)[1])
    return Found(numbered(a.strip(_MARKUP) for a in answers), *span, how, clause)


# --- the order of evidence ------------------------------------------------------------------------


def last_box(text: str) -> Found | None:
    r"""The last ``\boxed{}`` that is not empty."""
    if not (boxed := boxes(text)):
        return None
    last = boxed[-1]
    span = sentence_around(text, last.start, last.end)
    return Found(last.content, *span, How.BOXED, (last.start, last.end))


def _announced(text: str) -> Found | None:
    near = max(0, len(text) - _NEAR_THE_END)
    found = _last_announced(text, near)
    if near and (found is None or found.clause[0] < near + _OVERLAP):
        found = _last_announced(text, 0)
    return found


def _last_announced(text: str, begin: int) -> Found | None:
    lowered = text[begin:].lower()
    if not any(word in lowered for word in _ANNOUNCING):
        return None
    matches = [*_ANNOUNCED.finditer(text, begin), *_BARE_CHOICE.finditer(text, begin)]
    for match in sorted(matches, key=lambda m: m.end(), reverse=True):
        found = _found(text, match.end(), _stop(text, match.end()), How.ANNOUNCED, match.start())
        if found is not None and not _SUPPOSED.search(text, found.start, match.start()):
            return found
    return None


def _whole(text: str) -> Found | None:
    stripped = text.strip()
    if not stripped or len(stripped) > _SHORT or "\n" in stripped:
        return None
    start = text.index(stripped)
    span = (start, start + len(stripped))
    answer = _bare(stripped).removesuffix("\\").rstrip()
    return Found(answer or stripped, *span, How.WHOLE, span)


def _stated(text: str) -> Found | None:
    stripped = text.strip()
    if not stripped or len(stripped) > _STATED:
        return None
    span = sentence_around(text, text.index(stripped), text.index(stripped) + 1)
    return Found(stripped, *span, How.STATED, span)


def _concluded(text: str, *, number: bool = False) -> Found | None:
    last = last_match(_CONCLUDED, text)
    if last is None:
        return None
    stop, begin = _stop(text, last.end()), last.end()
    cue_ends = _CONCLUSION.match(text, last.start())
    if number and cue_ends:
        begin = cue_ends.end()
    elif (system := SYSTEM.search(text, last.start())) and system.start() < begin:
        begin, stop = system.span()
    supposed = _SUPPOSED.search(text, max(0, last.start() - 80), last.end())
    more = supposed or text[stop:].strip(_MARKUP + ".!！\n)）")
    how = How.CONCLUDED if more else How.FINAL
    found = _found(text, begin, stop, how, last.start())
    return found if found is None or len(found.answer) <= (2 if number else 1) * _SHORT else None


def _last_line(text: str, kind: AnswerType | None, question: str) -> Found | None:
    """The last line, if it is short and can be read as an answer of the kind."""
    text = _REMARK.sub("", text).rstrip()
    line = text[text.rfind("\n") + 1 :]
    if kind is None or kind is AnswerType.TEXT or not 0 < len(line.strip()) <= _SHORT:
        return None
    answer = line.strip()
    if _SUPPOSED.search(line) or not reads_as(refine(answer, kind, question), kind):
        return None
    start = text.rindex(line)
    span = sentence_around(text, start, start + len(line))
    return Found(answer, *span, How.FINAL, (start, start + len(line)))


def _stop(text: str, start: int) -> int:
    match = _STOP.search(text, start)
    return match.start() if match else len(text)


def _bare(text: str) -> str:
    """A text without the marks around it; a lone $ before a number is a currency."""
    made = text.strip(_MARKUP)
    money = text.count("$") == 1 and made[:1].isdigit() and f"${made}" in text
    return f"${made}" if money else made


def _found(text: str, start: int, end: int, how: How, announced: int) -> Found | None:
    answer = _bare(text[start:end]).rstrip(".\\")
    if not answer:
        return None
    if text[end - 1 : end] == "!" or text[end : end + 1] == "!":
        answer += "!" if _FACTORIAL.fullmatch(answer) else ""
    at = text.find(answer, start)  # a lone $ before its number may stand elsewhere
    clause_end = end if at < 0 else at + len(answer)
    return Found(answer, *sentence_around(text, start, end), how, (announced, clause_end))


def _with_what_follows(found: Found, text: str) -> Found:
    """Extended by further answers after semicolons: "Answer: 11; 12"."""
    end = found.clause[1]
    while (more := _NEXT.match(text, end)) and more[1].strip(_MARKUP + "."):
        end = more.end(1)
    answer = text[found.clause[1] - len(found.answer) : end].strip(_MARKUP).rstrip(".\\")
    if end == found.clause[1] or found.answer.strip(_MARKUP) not in answer:
        return found
    return found._replace(answer=answer, clause=(found.clause[0], end), end=max(found.end, end))


# --- a sentence narrowed to its value -------------------------------------------------------------

_DENIED, _ORDINAL = map(cue, ("uncertain", "ranks"))
_OF, _OF_IT = map(cue, ("of another", "of it"))
_CIRCLED = re.compile(rf"[{CIRCLED}](?:\s*(?:[,，、;；和与及]|以及)?\s*[{CIRCLED}])*")
_CHANGED, _CHANGES = cue("changed", after=r"[\s$]*\Z"), cue("changes", before=r"[\s$]*")
_NAMED_SET = re.compile(r"([^\s,，;；{}=]+)\s*=\s*(\\?\{[^{}=]*\})")
_QUANTIFIED = re.compile(
    r"(?:[,，\s]|\\quad|\\text\s*\{)+\bfor (?:all|any|every|each)\b.*\Z",
    re.DOTALL | re.IGNORECASE,
)
"""For which values a formula holds."""
_REASON = cue("reason", before=r"\s*")
_ROOTS: Final = (
    AnswerType.EQUATION, AnswerType.MULTI_ANSWER, AnswerType.SET, AnswerType.INTERVAL,
)  # fmt: skip
_ROOT = re.compile(
    r"[^A-Za-z0-9=<>≤≥()+*/^\\{}−-]*([A-Za-z])(?:_?\{?\d\}?|_\{?[a-z]\}?)?\s*[=<>≤≥]"
)
_PIECE = re.compile(r"[\n;；]|[,，、](?!\d{3}(?!\d))|\band\b|和|以及")
_YEAR_OF = re.compile(r"\b(?:1\d|20)\d\d\b")
_GIVES = cue("is", after=r"[\s$*]*")
_REMAINDER = re.compile(r"\d\s*(?:\.{3,}|…+|余)\s*\d")
"""A quotient with its remainder, which is no sentence."""
_SIGN = re.compile(r"[\d=+*/^\\√π]")


def _refined(found: Found, kind: AnswerType, question: str) -> Found:
    """The answer narrowed to its kind; without a claim, the values that the sentence names."""
    answer, rivals, is_bound = _narrowed(found.answer, kind, question)
    if kind in _SEVERAL:
        narrowed = answer != found.answer or found.how is How.FINAL
        one = narrowed and isinstance(values.read(answer), Leaf)
        return found._replace(answer=answer, how=How.CONCLUDED if one else found.how)
    year = answer != found.answer and _YEAR_OF.fullmatch(answer) and WHEN.search(question)
    how = How.CONCLUDED if year and found.how is not How.BOXED else found.how
    return found._replace(answer=answer, how=how, rivals=rivals, bound=is_bound)


_WEIGHED: Final = 600
_MOST: Final = 12
"""Most characters and values of a response whose values are weighed against one another."""


def _weighed(found: Found, text: str, kind: AnswerType, question: str) -> Found:
    """Another value of a short response, if the words beside it are those of the question."""
    if kind in (*_SEVERAL, *_WORDS) or not question or len(text) > _WEIGHED:
        return found
    ascii_ = half_width(text)
    named = mentions(ascii_, kind, question)
    if not 1 < len(named) <= _MOST:
        return found
    if _CONCLUSION.match(text, found.clause[0]) or asks_for(ascii_, named, found.answer, question):
        return found
    scored = by_label(ascii_, named, question)
    own = max((n for n, m in scored if same_size(m.text, found.answer)), default=0)
    best = [m for n, m in scored if n == scored[0][0] > own]
    rivals = tuple(m.text for m in named if not same_size(m.text, found.answer))
    if not best or (found.rivals and found.bound):
        return found._replace(rivals=found.rivals or rivals)
    one, alone = best[-1], len({m.text for m in best}) == 1
    if alone and own == 0 and scored[0][0] > 1 and not is_contradicted(ascii_, named, one):
        span = sentence_around(text, one.start, one.end)
        rivals = (found.answer, *rivals)
        return Found(text[one.start : one.end], *span, How.FINAL, (one.start, one.end), rivals)
    return found._replace(rivals=(found.answer, *rivals), bound=False)


def refine(answer: str, kind: AnswerType, question: str = "") -> str:
    """The part of ``answer`` that can be read as ``kind``; ``answer`` itself if there is none."""
    return _narrowed(answer, kind, question)[0]


def _narrowed(answer: str, kind: AnswerType, question: str) -> tuple[str, tuple[str, ...], bool]:
    """The part that can be read as the kind; the values that are named, if nothing binds one.

    The steps before the roots of an equation are left out, and "for all x" after a formula.
    """
    if kind is AnswerType.SET and len(named := dict(_NAMED_SET.findall(answer))) > 1:
        asked = sorted((name for name in named if name in question), key=len)
        return (named[asked[-1]], (), True) if asked else (answer, tuple(named.values()), False)
    if kind in _ROOTS:
        answer = _roots(answer)
    steps = kind in _SEVERAL and any(m.start() for m in _CONCLUSION.finditer(answer))
    unread = kind in _WORDS or _DENIED.search(answer) or _REMAINDER.search(answer)
    if unread or (reads_as(answer, kind) and not steps):
        return answer, (), True
    if kind is AnswerType.SET and len(runs := _CIRCLED.findall(answer)) == 1:
        return runs[0], (), True
    if kind in (AnswerType.MULTI_ANSWER, AnswerType.MULTI_PART) and (several := _each(answer)):
        return several, (), True
    after = max((m.end() for m in _CONCLUSION.finditer(answer)), default=0)
    lettered = kind is AnswerType.NUMBER and "=" in answer[after:] and letters_asked(question)
    for candidate in (_QUANTIFIED.sub("", answer), answer if lettered else answer[after:]):
        if candidate != answer and reads_as(candidate, kind):
            return candidate.strip(" \n*`").rstrip(".。 *`"), (), True
    if kind is AnswerType.NUMBER and names_another(answer):
        return answer, (), True
    return _claimed(answer, kind, question, after)


def _claimed(
    answer: str, kind: AnswerType, question: str, after: int
) -> tuple[str, tuple[str, ...], bool]:
    text = half_width(answer)
    said = mentions(text, kind, question)
    if kind is not AnswerType.NUMBER:
        said = [one for one in said if COPULA.search(text, 0, one.start)]
        said = [one for one in said if kind is not AnswerType.EXPRESSION or _SIGN.search(one.text)]
        for gives in _GIVES.finditer(answer, after) if not said else ():
            tail = answer[gives.end() :].rstrip(".。 *`")
            if _SIGN.search(tail) and reads_as(tail, kind):
                return tail, (), True
    claim = bound(text, said, question)
    if claim is None:
        return answer, tuple(dict.fromkeys(m.text for m in said)), not said
    around = (_CHANGED.search(text[: claim.start]), _CHANGES.match(text, claim.end))
    if any(word and word[0].strip() not in question for word in around):
        return answer, (), True
    if not reads_as(claim.text, kind):
        year = _YEAR_OF.search(claim.text) if WHEN.search(question) else None
        return (year[0] if year else answer), (), True
    rivals = tuple(m.text for m in said if not same_size(m.text, claim.text))
    return answer[claim.start : claim.end].rstrip(".。 *`"), rivals, True


def _each(answer: str) -> str:
    """``Mass: 3 kg, volume: 2 m^3`` as ``3 kg; 2 m^3``; empty unless each piece has a value."""
    if ("=" in answer and _CONCLUSION.search(answer)) or _ORDINAL.search(answer):
        return ""
    found = [piece for piece in _PIECE.split(answer) if any(map(str.isalnum, piece))]
    if not 1 < len(found) <= values.MAX_ITEMS or any(map(_REASON.match, found)):
        return ""
    made = list[str]()
    for piece in found:
        text = half_width(piece.strip(" .。*"))
        said = [] if reads_as(text, AnswerType.NUMBER) else mentions(text, AnswerType.NUMBER, "")
        if len(said) == 1 and (not said[0].start or COPULA.search(text, 0, said[0].start)):
            text = said[0].text
        if not reads_as(text, AnswerType.NUMBER):
            return ""
        made.append(text)
    return "; ".join(made)


def _roots(answer: str) -> str:
    """The end of "3x=15，x=5" and of "(x-2)(x-3)=0，x=2或x=3"; the whole where none is shown."""
    starts = [0, *(at for at, sign in enumerate(answer, 1) if sign in ",，;；")]
    matches = [_ROOT.match(answer, start) for start in starts]
    first = next((n for n, match in enumerate(matches) if match), None)
    if first is None or not all(matches[first:]):
        return answer
    names = {match[1] for match in matches if match}
    begin = next(match.start(1) for match in matches if match)
    steps = {sign for sign in answer[: starts[first]] if sign.isascii() and sign.isalpha()}
    return answer[begin:] if steps <= names else answer


# --- the last number ------------------------------------------------------------------------------

_NUMBER = re.compile(r"(?<![\d^_])(?<!\^\{)\d[\d,]*(?:\.\d+)?(?:\s*/\s*\d+)?%?")


def _last_sentence(text: str) -> Found | None:
    """The last sentence, of which a number may be the result."""
    near = max(0, len(text) - 2 * _NEAR_THE_END)
    spans = sentences(text[near:])
    if not spans or not _NUMBER.search(text, near):
        return None
    start, end = spans[-1][0] + near, spans[-1][1] + near
    answer = _bare(text[start:end]).rstrip(".")
    how = How.STATED if names_another(answer) else How.LAST_NUMBER
    return Found(answer or text[start:end], *sentence_around(text, start, end), how, (start, end))


def names_another(text: str) -> bool:
    """Whether the last number of a text describes another: half of 7, a number whose half is 7."""
    last = last_match(_NUMBER, text)
    if last is None:
        return False
    before = text[max(0, last.start() - 60) : last.start()]
    return bool(_OF.search(before) or _OF_IT.match(text, last.end()))
