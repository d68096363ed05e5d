"""Speculative drafts of chains: half of a chain is fixed words or copied from the prompt.

An engine that keeps the model's state can verify a draft of many tokens in one pass and accepts
those that the model would have written (speculative decoding, Leviathan et al. 2023, arXiv
2211.17192, with greedy choices). A wrong draft costs time and does not change the output.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Final

from gradegpt.answers.spans import sentence_end
from gradegpt.chain import (
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
from gradegpt.schema import AnswerType, ChainFormat, Message

_CLAUSES: Final = tuple(type_clause(kind) for kind in AnswerType)
_TRAILING: Final = " 。.!！$*"
_COMMON_START: Final = "The model response gives "
"""The common beginning of chains with and without a quote."""


class ChainDraft:
    """Drafts of the chain for one prompt.

    Args:
        response: The response as the prompt shows it.
        references: The accepted answers as the prompt shows them.
        glosses: Whether a Chinese quote is glossed in English.

    """

    def __init__(self, response: str, references: Sequence[str], *, glosses: bool) -> None:
        self._response = response
        self._reference = " ".join(references[0].split()) if references else ""
        self._glosses = glosses

    def after(self, written: str) -> str:
        """A draft of the text after ``written``, the chain so far; empty if there is none."""
        *before, line = written.split("\n")
        if not before:
            return self._key(line)
        if any(past.startswith(REFERENCE) for past in before):
            return _rest(AGREE + self._tag(before[-1]), line)
        quote = before[0].removeprefix(KEY) if before[0].startswith(KEY) else ""
        if len(before) == 1 and self._start(quote) == GLOSS and not line.startswith(REFERENCE):
            return _rest(GLOSS, line)
        return self._comparison(line, quote)

    def _key(self, line: str) -> str:
        if NO_KEY.startswith(line) and not _COMMON_START.startswith(line):
            return f"{_rest(NO_KEY, line)}\n{self._start('')}"
        if not line.startswith(KEY):
            return _rest(KEY, line)
        quote = line.removeprefix(KEY)
        at = self._response.rfind(quote) + len(quote) if quote else -1
        if at < len(quote) or not quote:
            return ""
        rest = self._response[at : sentence_end(self._response, at)]
        return f"{rest}\n{self._start(quote)}"

    def _start(self, quote: str) -> str:
        """The beginning of the line after the quote."""
        if self._glosses and quote and needs_gloss(quote):
            return GLOSS
        return f"{REFERENCE}{self._reference} is a"

    def _comparison(self, line: str, quote: str) -> str:
        head = f"{REFERENCE}{self._reference}"
        if not line.startswith(head):
            return _rest(f"{head} is a", line)
        tail = line.removeprefix(head)
        for clause in _CLAUSES:
            if tail.startswith(clause):
                return self._answer(tail.removeprefix(clause), quote)
        fitting = [clause for clause in _CLAUSES if clause.startswith(tail)]
        draft = _rest(_common_prefix(fitting), tail) if fitting else ""
        return draft + self._answer("", quote) if draft.endswith(GIVES) else draft

    def _answer(self, given: str, quote: str) -> str:
        if not quote:
            return _rest(f"none.\n{AGREE}{NO}", given)
        if self._reference in quote and self._reference.startswith(given):
            return f"{_rest(self._reference, given)}.\n{AGREE}{YES}"
        at = quote.rfind(given)
        if not given or at < 0:
            return ""
        return f"{quote[at + len(given) :].rstrip(_TRAILING)}.\n{AGREE}{NO}"

    def _tag(self, comparison: str) -> str:
        given = comparison.rpartition(GIVES)[2].removesuffix(".")
        return YES if given == self._reference else NO


def draft_for(messages: Sequence[Message]) -> ChainDraft | None:
    """The draft for a GradeGPT prompt that asks for a chain; None for any other conversation."""
    item = parse_prompt(messages)
    if item is None or any(SYSTEM[ChainFormat.OUTCOME] in m.content for m in messages):
        return None
    glosses = any(SYSTEM[ChainFormat.CROSS_LINGUAL] in m.content for m in messages)
    references = [defuse(reference) for reference in item.accepted]
    return ChainDraft(defuse(item.response), references, glosses=glosses)


def _common_prefix(texts: Iterable[str]) -> str:
    """The longest common prefix."""
    columns = itertools.takewhile(lambda c: len({*c}) == 1, zip(*texts, strict=False))
    return "".join(column[0] for column in columns)


def _rest(whole: str, begun: str) -> str:
    """The rest of ``whole`` after ``begun``; empty if it does not begin so."""
    return whole.removeprefix(begun) if whole.startswith(begun) else ""
