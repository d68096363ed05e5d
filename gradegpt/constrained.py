"""Constrained decoding of chains: quotes are verbatim, and every line has a bounded length.

A small model that copies a long sentence may garble the quote, or repeat itself until its tokens
run out, or report the number of the reference as the one that it has just quoted. The constraint
checks each next piece of text before it is written. It never restricts the verdict, nor a text
that does not begin like a chain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from gradegpt.answers.options import LETTERS, sequence
from gradegpt.answers.parts import opening
from gradegpt.boundaries import begins_clause, ends_clause, occurrences
from gradegpt.chain import (
    AGREE,
    GIVES,
    GLOSS,
    KEY,
    NO_KEY,
    REFERENCE,
    defuse,
    parse_prompt,
    type_clause,
)
from gradegpt.quote import MAX_QUOTE, quotable
from gradegpt.quoted import Quoted, has_content, is_option, is_text, names
from gradegpt.schema import CHOICE, AnswerType, Message

VERSION: Final = "18"
"""Increased with every change that can change a chain; part of a constrained engine's name."""

MAX_TEXT: Final = 400
"""Most bytes of a line that is neither a quote nor a comparison."""
GLOSS_BYTES: Final = (60, 4)
"""Most bytes of a gloss: a fixed number, and a number per character of its quote.

No gloss in the training rows has more than 40 bytes plus three per character.
"""
QUOTE_BYTES: Final = 320
"""Most bytes of a quote of more than ``MAX_QUOTE`` characters.

Training rows have shorter quotes, but one that begins early must be able to reach the answer.
"""
MAX_ANSWER: Final = 400
"""Most bytes of a compared answer that is not bounded by a quote."""
REPEATS: Final = 64
"""Repeated windows that a gloss may have more than its quote; then its line must end."""
_WINDOW: Final = 6
_LOOP: Final = 24
_ROUNDS: Final = 4
_KEY, _NO_KEY, _REFERENCE = KEY.encode(), NO_KEY.encode(), REFERENCE.encode()
_GLOSS, _GIVES, _AGREE = GLOSS.encode(), GIVES.encode(), AGREE.encode()
_OPENING: Final = b"The model response gives "
_TYPES: Final = {type_clause(kind).encode(): kind for kind in AnswerType}
_BEGUN: Final = tuple({clause[:n] for clause in _TYPES for n in range(1, len(clause))})
"""The beginnings of the clauses that name a type."""
_ONE_KEY: Final = re.compile(rf"(?:答案|选|[Aa]nswer|\W)*([{LETTERS}])\W*(?:eo[aet]\W*)?")
"""A line with only one option after the number of its question."""
_CHOICES: Final = tuple(clause for clause, kind in _TYPES.items() if kind in CHOICE)
_ANY_CHARACTER: Final = "\U0001d400".encode()
"""A character with the most bytes that a character has."""
_NONE: Final = b"none."
_SEVERAL: Final = re.compile(r"\S[\s,，、;；]\S")
"""A separator inside of a reference, which so is more than a single word or number."""


class ChainConstraint:
    """The constraint on the chain for one prompt.

    Args:
        response: The response as the prompt shows it. If it has as many numbered lines with one
            option each as the reference has options, all of these are quoted and compared.
        references: The accepted answers as the prompt shows them. If the quote has the words of
            some of them, one of these is compared, and a text answer is exactly these words.

    """

    def __init__(self, response: str, references: Sequence[str]) -> None:
        lines, runs = quotable(response)
        count = max((len(sequence(r)) for r in references), default=0)
        keyed = {" ".join(run).encode(): _keyed(run) for run in runs}
        self._keyed = {run: keys for run, keys in keyed.items() if keys and len(keys) == count}
        self._response = "\n".join([*map(str.strip, lines), *map(" ".join, runs)]).encode()
        self._references = [" ".join(r.split()).encode() for r in references]
        several = any(_SEVERAL.search(r.strip()) for r in references)
        self._begun_runs = _begun(runs) if several else frozenset()
        self._written = b""
        self._first = b""
        self._quoted = Quoted(b"")
        self._repeats = REPEATS
        self._wanted, self._named = b"", list[bytes]()

    def allows(self, piece: bytes) -> bool:
        """Whether the constraint allows ``piece`` next."""
        head, newline, rest = piece.partition(b"\n")
        line = self._written.rpartition(b"\n")[2] + head
        if b"\n" in rest or (newline and not line.strip()):
            return False
        if b"\n" + _REFERENCE in self._written.rpartition(b"\n")[0]:
            return not newline and (line.startswith(_AGREE) or _AGREE.startswith(line))
        if b"\n" not in self._written and line.startswith(_OPENING):
            if line.startswith(_KEY):
                return self._quotes(line[len(_KEY) :], whole=bool(newline))
            heads = (_NO_KEY, _KEY) if has_content(self._response) else (_NO_KEY,)
            return line == _NO_KEY if newline else any(_begins(line, head) for head in heads)
        if line.startswith(_REFERENCE):
            return self._compares(line[len(_REFERENCE) :], whole=bool(newline))
        if self._first.startswith(_OPENING):
            return self._glosses(line, whole=bool(newline))
        return bool(newline) or (len(line) <= MAX_TEXT and not _loops(line))

    def may_end(self) -> bool:
        """Whether the text may end here; a chain may not end before its verdict tag."""
        line = self._written.rpartition(b"\n")[2]
        chain = self._written.startswith(_OPENING)
        return not chain or line.removeprefix(_AGREE) not in (b"", line)

    def write(self, piece: bytes) -> None:
        """Record that ``piece`` was written."""
        self._written += piece
        if not self._first and b"\n" in self._written:
            self._first = self._written.partition(b"\n")[0]
            if self._first.startswith(_KEY):
                self._quoted = Quoted(self._first.removeprefix(_KEY))
                self._repeats = REPEATS + _repeated(self._quoted.squeezed)
                named = [r for r in self._references if self._quoted.naming(r)]
                self._references = named or self._references

    def _glosses(self, line: bytes, *, whole: bool) -> bool:
        """Whether a line after the quote is its only gloss, or begins the comparison."""
        glossed = self._first == _NO_KEY or self._written.count(b"\n") > 1
        if glossed or not line.startswith(_GLOSS):
            heads = (_REFERENCE,) if glossed else (_GLOSS, _REFERENCE)
            return not whole and any(_begins(line, head) for head in heads)
        gloss = line.removeprefix(_GLOSS)
        if whole:
            return bool(gloss.strip())
        least, each = GLOSS_BYTES
        most = min(MAX_TEXT, least + each * len(self._quoted.squeezed.decode(errors="ignore")))
        return len(gloss) <= most and not _loops(gloss) and _repeated(gloss) <= self._repeats

    def _quotes(self, quote: bytes, *, whole: bool) -> bool:
        text, quote = self._response, quote.rstrip() if whole else quote
        if self._keyed:
            return any(quote == run or (not whole and run.startswith(quote)) for run in self._keyed)
        begun = [at for at in occurrences(quote, text) if begins_clause(text, at)]
        if not whole:
            wrong = _too_long(quote) or quote[:1].isspace()
            return not wrong and any(has_content(text[at:].partition(b"\n")[0]) for at in begun)
        if not has_content(quote) or not is_text(quote) or quote in self._begun_runs:
            return False
        full = _too_long(quote + _ANY_CHARACTER)
        return full or any(ends_clause(text, at, at + len(quote)) for at in begun)

    def _compares(self, text: bytes, *, whole: bool) -> bool:
        """Whether it fits ``<reference answer> is a <type>; the model response gives <answer>``."""
        for clause, kind in _TYPES.items():
            wanted, found, given = text.partition(clause)
            if found:
                named = clause in _types_of(wanted) and self._names(wanted, whole=True)
                once = named and _GIVES not in given
                return once and self._gives(given, wanted, kind, whole=whole)
        return not whole and (self._names(text) or self._begins_a_type(text))

    def _begins_a_type(self, text: bytes) -> bool:
        for words in filter(text.endswith, _BEGUN):
            wanted = text.removesuffix(words)
            fits = any(clause.startswith(words) for clause in _types_of(wanted))
            if fits and self._names(wanted, whole=True):
                return True
        return False

    def _names(self, answer: bytes, *, whole: bool = False) -> bool:
        """Whether the text is an accepted answer, or a span of one."""
        complete = not whole or is_text(answer)
        return complete and any(names(answer, r, whole=whole) for r in self._references)

    def _gives(self, given: bytes, wanted: bytes, kind: AnswerType, *, whole: bool) -> bool:
        """Whether the answer occurs in the quote, and the line ends with a full stop."""
        if self._first == _NO_KEY:
            return given == _NONE if whole else _begins(given, _NONE)
        if not self._quoted.squeezed:
            return whole or (len(given) <= MAX_ANSWER and not _loops(given))
        if keys := self._keyed.get(self._first.removeprefix(_KEY)):
            listed = " ".join(keys).encode() + b"."
            return given == listed if whole else _begins(given, listed)
        if kind is AnswerType.TEXT and (named := self._naming(wanted)):
            return given in named if whole else any(_begins(given, name) for name in named)
        number = kind is AnswerType.NUMBER and b"=" not in wanted
        answer = given.removesuffix(b".")
        ended = answer != given and is_text(answer)
        if ended and self._quoted.holds(answer, whole=True, number=number):
            return True
        return not whole and (not given or self._quoted.holds(given, whole=False, number=number))

    def _naming(self, wanted: bytes) -> list[bytes]:
        """The words of the reference as they occur in the quote, each with a full stop."""
        if wanted != self._wanted:
            self._wanted, self._named = wanted, self._quoted.naming(wanted)
        return [name + b"." for name in self._named]


def _types_of(wanted: bytes) -> Iterable[bytes]:
    """The clauses that may name the type of an accepted answer; option letters are a choice."""
    return _CHOICES if is_option(wanted) else _TYPES


def _keyed(run: Sequence[str]) -> str:
    """The options of the lines, one per line; empty if a line has none, or more than one."""
    marked = [(line, opening(line)) for line in run]
    given = [mark and _ONE_KEY.fullmatch(line, mark.end) for line, mark in marked]
    return "".join(key[1] for key in given if key) if all(given) else ""


def _begun(runs: Sequence[Sequence[str]]) -> frozenset[bytes]:
    """The first parts of answers with several parts; a quote must not end after these."""
    return frozenset(" ".join(run[:n]).encode() for run in runs for n in range(1, len(run)))


def _begins(line: bytes, whole: bytes) -> bool:
    """Whether ``whole`` begins with ``line``."""
    return whole.startswith(line)


def _too_long(quote: bytes) -> bool:
    return len(quote) > QUOTE_BYTES and len(quote.decode(errors="ignore")) > MAX_QUOTE


class TokenConstraint:
    """A constraint on tokens.

    Args:
        constraint: The constraint of one prompt.
        token_bytes: The bytes of each token.
        ends: The tokens that end a chain.

    """

    def __init__(
        self, constraint: ChainConstraint, token_bytes: Sequence[bytes], ends: Sequence[int]
    ) -> None:
        self._constraint, self._bytes, self._ends = constraint, token_bytes, ends

    def allows(self, token: int) -> bool:
        """Whether the constraint allows ``token`` next."""
        if token >= len(self._bytes):
            return False  # an embedding row without a token
        if token in self._ends:
            return self._constraint.may_end()
        return self._constraint.allows(self._bytes[token])

    def write(self, token: int) -> None:
        """Record that ``token`` was written."""
        if token < len(self._bytes):
            self._constraint.write(self._bytes[token])


def constraint_for(messages: Sequence[Message]) -> ChainConstraint | None:
    """The constraint for a GradeGPT prompt; None for any other conversation."""
    item = parse_prompt(messages)
    if item is None:
        return None
    return ChainConstraint(defuse(item.response), [defuse(r) for r in item.accepted])


def _repeated(text: bytes) -> int:
    """The number of windows of ``_WINDOW`` bytes that have occurred before in the text."""
    windows = [text[at : at + _WINDOW] for at in range(len(text) - _WINDOW + 1)]
    return len(windows) - len(set(windows))


def _loops(line: bytes) -> bool:
    """Whether ``line`` ends in four repeats of the same bytes, at least twenty-four bytes."""
    end = len(line)
    for period in range(1, end // _ROUNDS + 1):
        length = max(_LOOP, _ROUNDS * period)
        if length <= end and line[end - length : end - period] == line[end - length + period :]:
            return True
    return False
