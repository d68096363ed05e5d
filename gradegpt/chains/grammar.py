"""The grammar of the chain for one prompt, the same text for every engine.

It is a Lark grammar as llguidance reads it, with one terminal, so that it is a regular expression:
verbatim quotes, a gloss of each Chinese one, an accepted answer beside an answer in words of the
response, a reason, and either tag. ``gradegpt.engines.constraint`` holds local engines to it; vLLM
and other servers take the text as it is. That the answer is in its quote is no regular language:
the judge checks it (``stands_in``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final

from gradegpt.answers.options import LETTERS
from gradegpt.answers.spans import JOINTS
from gradegpt.chains.chain import (
    AGREE,
    ALSO,
    GIVES,
    GLOSS,
    KEY,
    MAX_WHY,
    NO,
    NO_KEY,
    REFERENCE,
    SYSTEM,
    WHY,
    YES,
    defuse,
    on_one_line,
    parse_prompt,
    type_clause,
)
from gradegpt.chains.fit import ELISION
from gradegpt.chains.quote import MAX_QUOTE, MAX_QUOTES
from gradegpt.core.errors import needs
from gradegpt.core.schema import CHOICE, AnswerType, ChainFormat, Message

VERSION: Final = "20"
"""Increased with every change that can change a chain; part of a constrained engine's name."""

LONGEST: Final = 120
"""Most characters of a reference in a comparison, as in the training rows."""
MAX_GLOSS: Final = 640
"""Most characters of a gloss."""
_TAG: Final = f'TAG: "{YES}" | "{NO}"'
EDGES: Final = f" {JOINTS}。．！？."
"""The marks with which an answer neither begins nor ends."""
_ANSWER: Final = rf"ANSWER: /[^\s{EDGES}]([^\n]{{0,{MAX_QUOTE - 2}}}[^\s{EDGES}])?/"
_HAN: Final = r"\u{3400}-\u{9fff}"
_ENGLISH: Final = r"\u{a1}-\u{4ff}\u{2010}-\u{24ff}"
"""Letters and signs of an English text with formulas, besides those of ASCII."""
_CHUNK: Final = re.compile(r"\\?[^\W\d_\u3400-\u9fff]+|\d+(?:[.,]\d+)*|\s+|.", re.DOTALL)
"""The parts between which a quote or an answer may begin or end: words, numbers, signs, Chinese
characters."""
_FAR: Final = 24
"""A longer word or number has such boundaries inside: far from one, llguidance gives up."""
_OPTION: Final = re.compile(rf"(?!\W*II)\W*[{LETTERS}](?:\W*[{LETTERS}])*\W*")
_LETTER: Final = re.compile(rf"(?<![A-Za-z])[{LETTERS}](?![A-Za-z])")
_WORD: Final = re.compile(r"[^\W_]+")


def chain_grammar(messages: Sequence[Message]) -> str | None:
    """The grammar of all chains for a GradeGPT prompt; None for other conversations."""
    item = parse_prompt(messages)
    if item is None:
        return None
    forms = (form for form, text in SYSTEM.items() if text == messages[0].content)
    chain_format, place = next(forms, (ChainFormat.CROSS_LINGUAL, "last"))
    if chain_format is ChainFormat.OUTCOME:
        return f"start: TAG\n{_TAG}"
    rules = dict(_reference_rules(item.accepted))
    names = [name for name in rules if name.startswith("NAMED")]
    compared = f"{_text(REFERENCE)} ({' | '.join(names)}) {_text(GIVES)}"
    none = f'{_text(NO_KEY)} "\\n" {compared} "none"'
    quoted = dict(_quote_rules(item.response, glossed=chain_format is ChainFormat.CROSS_LINGUAL))
    found = f"{_text(KEY)} SAID ({_text(ALSO)} SAID){{0,{MAX_QUOTES - 1}}} {compared} GIVEN"
    why = rf'(".\n" {_text(WHY)} /[^<\s][^<\n]{{0,{MAX_WHY - 1}}}/)?'
    if place == "first":
        right = f'"{YES}\\n" {found} | ' if quoted else ""
        chain = f'({right}"{NO}\\n" ({f"{found} | " if quoted else ""}{none})) {why} "."'
    else:
        chain = f'({f"{found} | " if quoted else ""}{none}) {why} ".\\n" {_text(AGREE)} TAG'
    named = [f"{name}: {rule}" for name, rule in (rules | quoted).items()]
    return "\n".join(["start: CHAIN", f"CHAIN: {chain}", *named, _ANSWER, _TAG])


def accepts(grammar: str, text: str) -> bool:
    """Whether the text is one of a grammar's.

    Raises:
        MissingError: llguidance is not installed.

    """
    with needs("checking chains", "gradegpt[data]"):
        from llguidance import LLMatcher
    held, tokens = LLMatcher(_bytes(), LLMatcher.grammar_from_lark(grammar)), [*text.encode()]
    return bool(held.try_consume_tokens(tokens) == len(tokens) and held.is_accepting())


@cache
def _bytes() -> Any:
    """A tokenizer whose tokens are bytes."""
    from llguidance import LLTokenizer

    return LLTokenizer("byte")


def stands_in(answer: str, quote: str) -> bool:
    """Whether every word and number of the answer is in the quote."""
    text = "".join(quote.casefold().split())
    words = _WORD.findall(answer.casefold())
    letters = _OPTION.fullmatch(answer) is not None
    return all(word in text for word in ("".join(words) if letters else words))


def _quote_rules(response: str, *, glossed: bool) -> Iterator[tuple[str, str]]:
    """The rules of a quote with its gloss, and of an answer; none for a response without words."""
    passages = [on_one_line(passage) for passage in response.split(ELISION)]
    said = [passage for passage in passages if _WORD.search(passage)]
    if not said:
        return
    yield from ((f"TEXT{number}", _parts_of(text)) for number, text in enumerate(said))
    texts = _any(f"TEXT{number}" for number in range(len(said)))
    yield "QUOTE", rf"({texts} & /(\S|\S.{{0,{MAX_QUOTE - 2}}}\S)/)"
    if glossed:
        gloss = rf"/[!-~{_ENGLISH}][ -~{_ENGLISH}]{{0,{MAX_GLOSS}}}/"
        chinese = rf'(QUOTE & /(?s:.*[{_HAN}].*)/) "\n" {_text(GLOSS)} {gloss} "\n"'
        yield "SAID", rf'({chinese} | (QUOTE & /[^{_HAN}]*/) "\n")'
    else:
        yield "SAID", r'QUOTE "\n"'
    letters = "".join(dict.fromkeys(_LETTER.findall(" ".join(said))))
    joined = [rf"/[{letters}]([, ]{{0,2}}[{letters}]){{1,40}}/"] if letters[1:] else []
    yield "PART", f"({texts} & ANSWER)"
    yield "GIVEN", _any([f'PART ("; " PART){{0,{MAX_QUOTES - 1}}}', *joined])


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
    chunks = _CHUNK.findall(text)
    near = [chunk[at : at + _FAR] for chunk in chunks for at in range(0, len(chunk), _FAR)]
    return f"%regex {json.dumps({'substring_chunks': near})}"


def _text(text: str) -> str:
    return json.dumps(text)  # all escaped: Lark has no raw control characters


def _any(options: Iterable[str]) -> str:
    return f"({' | '.join(options)})"
