"""The grammar of the chain for one prompt, the same text for every engine.

It is a Lark grammar as llguidance reads it, with one terminal, so that it is a regular expression:
a verbatim quote, its gloss if it is Chinese, an accepted answer beside an answer of the quote, and
either tag. ``gradegpt.engines.constraint`` holds local engines to it; vLLM and other servers take
the text as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gradegpt.answers.options import LETTERS
from gradegpt.answers.spans import JOINTS, clause_ends, sentences
from gradegpt.chains.chain import (
    AGREE,
    GIVES,
    GLOSS,
    KEY,
    NO,
    NO_KEY,
    REFERENCE,
    SYSTEM,
    YES,
    defuse,
    needs_gloss,
    parse_prompt,
    type_clause,
)
from gradegpt.chains.fit import ELISION
from gradegpt.chains.quote import MAX_QUOTE, quotable
from gradegpt.core.schema import CHOICE, AnswerType, ChainFormat, Message

VERSION: Final = "19"
"""Increased with every change that can change a chain; part of a constrained engine's name."""

LONGEST: Final = 120
"""Most characters of a reference in a comparison, as in the training rows."""
MAX_GLOSS: Final = 320
"""Most characters of a gloss; of a short quote's, forty and three for each of its characters."""
_STEP: Final = 40
_FULL_STOPS: Final = "。．.；;，,、"
"""Marks at the end of a quote that may be left out."""
_TAG: Final = f'TAG: "{YES}" | "{NO}"'
_MARKS: Final = rf"\s{JOINTS}。．！？."
_ANSWER: Final = rf"ANSWER: /[^{_MARKS}]([^\n]*[^{_MARKS}])?/"
"""An answer neither begins nor ends with a mark."""
_ENGLISH: Final = r"\u{a1}-\u{4ff}\u{2010}-\u{24ff}"
"""Letters and signs of an English text with formulas, besides those of ASCII."""
_CHUNK: Final = re.compile(r"\\?[^\W\d_\u3400-\u9fff]+|\d+(?:[.,]\d+)*|\s+|.", re.DOTALL)
"""The parts between which an answer may begin or end: words, numbers, signs, Chinese characters."""
_OPTION: Final = re.compile(rf"(?!\W*II)\W*[{LETTERS}](?:\W*[{LETTERS}])*\W*")
_LETTER: Final = re.compile(rf"(?<![A-Za-z])[{LETTERS}](?![A-Za-z])")
_WORD: Final = re.compile(r"[^\W_]+")


def chain_grammar(messages: Sequence[Message]) -> str | None:
    """The grammar of all chains for a GradeGPT prompt; None for other conversations."""
    item = parse_prompt(messages)
    if item is None:
        return None
    if messages[0].content == SYSTEM[ChainFormat.OUTCOME]:
        return f"start: TAG\n{_TAG}"
    glossed = messages[0].content != SYSTEM[ChainFormat.JUDGE_OF_CHAIN]
    rules = dict(_quote_rules(defuse(item.response), glossed=glossed))
    quoted = [name for name in rules if name.startswith("QUOTE")]
    rules |= _reference_rules(item.accepted)
    named = [name for name in rules if name.startswith("NAMED")]
    none = f'{_text(NO_KEY)} "\\n" {_text(REFERENCE)} REFERENCE {_text(GIVES)} "none"'
    found = f"{_text(KEY)} {_any(quoted)} | {none}" if quoted else none
    lines = [
        "start: CHAIN",
        f'CHAIN: ({found}) ".\\n" {_text(AGREE)} TAG',
        f"REFERENCE: {' | '.join(named)}",
        *(f"{name}: {rule}" for name, rule in rules.items()),
        _ANSWER,
        _TAG,
    ]
    return "\n".join(lines)


def stands_in(answer: str, quote: str) -> bool:
    """Whether every word and number of the answer is in the quote, as the grammar demands it."""
    text = "".join(quote.casefold().split())
    words = _WORD.findall(answer.casefold())
    letters = _OPTION.fullmatch(answer) is not None
    return all(word in text for word in ("".join(words) if letters else words))


def _quote_rules(response: str, *, glossed: bool) -> Iterator[tuple[str, str]]:
    """A rule for each quote with the rest of its comparison, and one for each length of a gloss."""
    lines, runs = quotable(response)
    found = (piece for line in (*lines, *map(" ".join, runs)) for piece in _pieces(line))
    for number, quote in enumerate(dict.fromkeys(found)):
        gloss = ""
        if glossed and needs_gloss(quote):
            most = min(MAX_GLOSS, -(-(40 + 3 * len(quote)) // _STEP) * _STEP)
            gloss = f"GLOSS{most}"
            yield gloss, rf'{_text(GLOSS)} /[!-~{_ENGLISH}][ -~{_ENGLISH}]{{0,{most}}}/ "\n"'
        body = quote.rstrip(_FULL_STOPS) or quote
        letters = _LETTER.findall(quote)
        joined = [_text(joint.join(letters)) for joint in (" ", ", ", "")] if letters[1:] else []
        tail = f"{_text(quote[len(body) :])}?" if body != quote else ""
        head = f'{_text(body)} {tail} "\\n" {gloss} {_text(REFERENCE)} REFERENCE {_text(GIVES)}'
        yield f"PART{number}", _parts_of(body)
        yield f"QUOTE{number}", f"{head} {_any([f'(PART{number} & ANSWER)', *joined])}"


def _reference_rules(accepted: Iterable[str]) -> Iterator[tuple[str, str]]:
    """A rule for each accepted answer: any part of it, as a solution contains the answer."""
    for number, text in enumerate(" ".join(defuse(answer).split()) for answer in accepted):
        types = CHOICE if _OPTION.fullmatch(text) else AnswerType
        named = [f"(REF{number} & ANSWER)"] if _WORD.search(text) else [_text(text[:LONGEST])]
        if len(text) > LONGEST:
            shorter = rf"/[^\n]{{1,{LONGEST}}}/"
            named = [f"({name} & {shorter})" for name in named]
            named.append(_text(text[: LONGEST - 1] + ELISION))
        clauses = [_text(type_clause(kind).removesuffix(GIVES)) for kind in types]
        yield f"REF{number}", _parts_of(text)
        yield f"NAMED{number}", f"{_any(named)} {_any(clauses)}"


def _parts_of(text: str) -> str:
    return f"%regex {json.dumps({'substring_chunks': _CHUNK.findall(text)})}"


def _pieces(line: str) -> Iterator[str]:
    """The line, its sentences and their last clauses, each as long as a quote may be."""
    line = line.strip()
    if len(line) <= MAX_QUOTE and _WORD.search(line):
        yield line
    for start, end in sentences(line):
        for at in (start, *clause_ends(line, start, end - 1)):
            piece = _cut(line[at:end].strip())
            if _WORD.search(piece):
                yield piece


def _cut(text: str) -> str:
    """The text up to the last clause, or else the last word, that ends within a quote's length."""
    if len(text) <= MAX_QUOTE:
        return text
    words = (m.end() for m in _CHUNK.finditer(text[:MAX_QUOTE]))
    ends = clause_ends(text, 0, MAX_QUOTE) or [*words][:-1]
    return text[: max(ends, default=MAX_QUOTE)].strip()


def _text(text: str) -> str:
    return json.dumps(text)  # all escaped: Lark has no raw control characters


def _any(options: Iterable[str]) -> str:
    return f"({' | '.join(options)})"
