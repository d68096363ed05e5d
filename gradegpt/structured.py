"""The chain for one prompt as a regular expression, for engines with structured output.

vLLM, in this process or as a server, constrains a text by a regular expression, not by a function
of ours. Every quote, accepted answer and type in this one is what ``gradegpt.constrained`` allows;
a quote begins and ends at a clause. A regular expression cannot relate one line to another, so
that the compared answer occurs in the quote, and that a gloss has no loops, is not stated: the
judge checks what it reads, as for any server.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from gradegpt import constrained
from gradegpt.boundaries import begins_clause, ends_clause
from gradegpt.chain import (
    AGREE,
    GIVES,
    GLOSS,
    KEY,
    NO_KEY,
    REFERENCE,
    SYSTEM,
    defuse,
    parse_prompt,
    type_clause,
)
from gradegpt.constrained import QUOTE_BYTES, ChainConstraint, constraint_for
from gradegpt.quote import MAX_QUOTE, quotable
from gradegpt.quoted import LONGEST
from gradegpt.schema import AnswerType, ChainFormat, Message

VERSION: Final = f"1.{constrained.VERSION}"
"""Part of an engine's name: of this module, and of the constraint that it asks."""

_TAG: Final = "<(?:Yes|No)>"
_TYPES: Final = tuple(map(type_clause, AnswerType))
_SPECIAL: Final = re.compile(r"[\\.^$*+?()\[\]{}|]")
"""Signs with a meaning in every dialect; ``re.escape`` escapes others, which some reject."""
_FREE: Final = "[^\\n]{1,%d}"

Allowed = Callable[[bytes], bool]


def chain_regex(messages: Sequence[Message]) -> str | None:
    """The regular expression of all chains for a GradeGPT prompt; None for other conversations."""
    item, constraint = parse_prompt(messages), constraint_for(messages)
    if item is None or constraint is None:
        return None
    if messages[0].content == SYSTEM[ChainFormat.OUTCOME]:
        return _TAG
    glossed = messages[0].content != SYSTEM[ChainFormat.JUDGE_OF_CHAIN]
    gloss = f"(?:{GLOSS}{_FREE % constrained.MAX_TEXT}\\n)?" if glossed else ""
    compared = REFERENCE + _any(_references(map(defuse, item.accepted), constraint)) + GIVES
    without = f"{_escaped(NO_KEY)}\\n{compared}none"
    quotes = [*dict.fromkeys(_quotes(defuse(item.response), constraint))]
    with_one = f"{KEY}{_any(quotes)}\\n{gloss}{compared}{_FREE % LONGEST}"
    return f"{_any([with_one, without] if quotes else [without])}\\.\\n{AGREE}{_TAG}"


def _quotes(response: str, constraint: ChainConstraint) -> Iterator[str]:
    """The quotes that the constraint allows: one expression for each place where some begin."""

    def allowed(quote: bytes) -> bool:
        return constraint.allows(f"{KEY}".encode() + quote + b"\n")

    lines, runs = quotable(response)
    for line in (*lines, *map(" ".join, runs)):
        for text, ends in _spans(line.strip().encode(), allowed, (MAX_QUOTE, QUOTE_BYTES)):
            yield _growing(text, ends)


def _references(accepted: Iterable[str], constraint: ChainConstraint) -> list[str]:
    """Accepted answers, or clauses of them, each with the types that the constraint allows."""
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for answer in accepted:

        def allowed(part: bytes, clauses: Sequence[str] = _TYPES) -> bool:
            line = REFERENCE.encode() + part
            return any(constraint.allows(line + clause.encode()) for clause in clauses)

        for text, ends in _spans(" ".join(answer.split()).encode(), allowed, (LONGEST,)):
            for part in (text[:end] for end in ends):
                types = tuple(clause for clause in _TYPES if allowed(part, [clause]))
                found.setdefault(types, {})[_escaped(part.decode())] = None
    return [
        _any(parts) + _any([clause.removesuffix(GIVES) for clause in types])
        for types, parts in found.items()
    ]


def _spans(
    line: bytes, allowed: Allowed, longest: Sequence[int]
) -> Iterator[tuple[bytes, list[int]]]:
    """The rest of the line from each clause on, and the lengths of what is allowed of it.

    What is too long for a whole clause may also end after one of the ``longest`` lengths.
    """
    marks = [end for end in range(1, len(line) + 1) if ends_clause(line, end, end)]
    for start in (at for at in range(len(line)) if begins_clause(line, at)):
        text = line[start:]
        cuts = [len(text.decode()[:n].encode()) for n in longest]
        cuts += [len(text[:n].decode(errors="ignore").encode()) for n in longest]
        within = (end - start for end in marks if start < end <= start + 4 * max(longest))
        ends = sorted({*within, *cuts})
        if kept := [end for end in ends if text[end - 1 : end] != b" " and allowed(text[:end])]:
            yield text, kept


def _growing(text: bytes, ends: Sequence[int]) -> str:
    """An expression for the beginnings of a text with the given lengths, each of them once."""
    found = ""
    for start, end in reversed([*pairwise((0, *ends))]):
        found = _escaped(text[start:end].decode()) + (f"(?:{found})?" if found else "")
    return found


def _any(options: Iterable[str]) -> str:
    return f"(?:{'|'.join(options)})"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)
