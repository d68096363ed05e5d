"""Extract a reference per sub-question from solutions: ``gradegpt eval.protocol parts``.

Experts write solutions; to judge sub-answers separately, each needs its own reference (ATLAS,
section 3, refines its experts' answers by a model, stage 4). A model names the answers; an answer
that the solution does not contain is rejected and reported as a finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Final

from gradegpt.answers.json_list import Fault, json_answers
from gradegpt.answers.options import half_width, options
from gradegpt.answers.parts import marks, numbered, run_of_parts
from gradegpt.answers.read import read
from gradegpt.answers.text import fold
from gradegpt.answers.types import CHOICE, AnswerType
from gradegpt.chains.chain import defuse, needs_gloss
from gradegpt.chains.fit import Budget, fit_middle, fit_response
from gradegpt.chains.prompts import prompt_text
from gradegpt.core.schema import Item, Message
from gradegpt.rules.bind import mentions
from gradegpt.rules.claims import boxes
from gradegpt.rules.compare import compare
from gradegpt.rules.reference import asked
from gradegpt.tables.inputs import USUAL, Reading

from .asking import Protocol, Reply, conversation, read_asked
from .figures import Finding, ProtocolSummary

_NONE: Final = "…"
"""The reference of a row that has none."""
_FORMULA: Final = re.compile(r"\$\$?(.+?)\$\$?|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_SIDES: Final = re.compile(r"=|≈|\\approx|\\Rightarrow|\n")
_NO_VALUE: Final = (AnswerType.TEXT, AnswerType.CODE, AnswerType.TRUE_FALSE, *CHOICE)
"""Types of answers that a text must contain verbatim."""
_LONGEST: Final = 200
_MOST: Final = 400
"""The most spans of a text that an answer is compared with, the last ones first."""


class Rejection(StrEnum):
    """Why a reply is not accepted; the value is the text of tables and files."""

    NO_JSON = "no JSON in the reply"
    JSON_ERROR = "a JSON error in the reply"
    NO_ANSWER = "an empty list, or an empty answer"
    COUNT = "not as many answers as the question has parts"
    NOT_THERE = "an answer that the solution does not give"
    OTHER_REFERENCE = "another answer than the reference that was there"


def parts_protocol(path: Path, out: Path, reading: Reading = USUAL) -> Protocol[Item]:
    """The items of solutions with their parts, and a reference that joins the parts' answers.

    A row that is not accepted is a finding. A response is ignored.

    Raises:
        InputError: question or solution is missing, or an id is repeated; with ``file:line``.

    """
    none = {"reference": _NONE}
    asked = read_asked(path, "question", "solution", reading=reading, defaults=none)

    def read(n: int, reply: Reply) -> Item | Finding:
        item = asked[n].item
        parts, problem, detail = checked(item, reply.reply)
        if problem is None and (other := _other(item, parts)):
            problem, detail = Rejection.OTHER_REFERENCE, other
        if problem is not None:
            return Finding(id=item.id, where=asked[n].where, fault=problem, detail=detail)
        return item.model_copy(update={"parts": parts, "reference": (_joined(parts),)})

    def summary(rows: Mapping[int, Item]) -> ProtocolSummary:
        parts = sum(len(item.parts) for item in rows.values())
        return ProtocolSummary(counts={"solutions accepted": len(rows), "their parts": parts})

    return Protocol(
        source=path, out=out, version="parts-2", max_new_tokens=1024,
        prompts=[parts_prompt(one.item) for one in asked], read=read, summary=summary,
    )  # fmt: skip


def parts_prompt(item: Item) -> tuple[Message, ...]:
    """The conversation that asks for the answers in a solution, in the question's language."""
    budget = Budget()
    question = defuse(fit_middle(asked(item), budget.question))
    solution = defuse(fit_response(item.solution, budget.response))
    user = f"<question>\n{question}\n</question>\n<reference>\n{solution}\n</reference>"
    return conversation(prompt_text("parts", chinese=needs_gloss(item.question)), user)


def checked(item: Item, reply: str) -> tuple[tuple[str, ...], Rejection | None, str]:
    """The answers that a reply names, with the problem and its detail if one is not accepted."""
    parts = json_answers(reply)
    if parts is Fault.WRONG_COUNT or (not isinstance(parts, Fault) and not all(parts)):
        return (), Rejection.NO_ANSWER, ""
    if isinstance(parts, Fault):
        return (), Rejection.NO_JSON if parts is Fault.NO_JSON else Rejection.JSON_ERROR, ""
    marked = 0 if options(item.question) else marked_parts(item.question)
    if marked > 1 and marked != len(parts):
        return parts, Rejection.COUNT, f"{len(parts)} for {marked}"
    missing = [f"({n}) {part}" for n, part in enumerate(parts, 1) if not gives(item.solution, part)]
    return parts, Rejection.NOT_THERE if missing else None, "; ".join(missing)


def marked_parts(text: str) -> int:
    """The number of parts that are marked from (1) on; 0 without marks."""
    return next((n for n in range(len(marks(text)), 1, -1) if run_of_parts(text, n)), 0)


def gives(text: str, answer: str) -> bool:
    r"""Whether ``text`` contains ``answer``, or a number or formula of exactly its value.

    >>> gives("So $x = \\frac{1}{2}$ and v is 15 m/s.", "0.5")
    True
    >>> gives("So $x = \\frac{1}{2}$ and v is 15 m/s.", "5 m/s")
    False
    """
    if _verbatim(answer).search(fold(text)):
        return True
    wanted = read(answer)
    if wanted.kind in _NO_VALUE:
        return False
    given = (read(span, wanted.kind) for span in islice(_spans(text), _MOST))
    return any(compare(wanted, one, tolerance="exact").same for one in given)


def _verbatim(answer: str) -> re.Pattern[str]:
    """A pattern of the answer with any blanks, not preceded or followed by more of its word."""
    bare = "".join(fold(answer).split()).strip(".,;:")
    body = r"\s*".join(map(re.escape, bare))
    before = r"(?<![\d.])(?<!\d,)" if bare[:1].isdigit() else r"(?<![A-Za-z])"
    behind = r"(?![\d%]|[.,]\d)" if bare[-1:].isdigit() else r"(?![A-Za-z])"
    word = bare.isalpha() and len(bare) > 2
    return re.compile(
        f"{before}{body}{behind}" if bare else r"(?!)", re.IGNORECASE if word else re.NOFLAG
    )


def _spans(text: str) -> Iterator[str]:
    """Formulas, their sides between equals signs, and numbers with units, from the end."""
    found = [match[match.lastindex or 0] for match in _FORMULA.finditer(text)]
    found += [box.content for box in boxes(text)]
    found += [side for formula in found for side in _SIDES.split(formula)]
    found += [one.text for one in mentions(half_width(text), AnswerType.NUMBER, "")]
    short = [span.strip() for span in reversed(found) if len(span) <= _LONGEST]
    return iter(dict.fromkeys(filter(None, short)))


def _joined(parts: Sequence[str]) -> str:
    return numbered(parts) if len(parts) > 1 else parts[0]


def _other(item: Item, parts: Sequence[str]) -> str:
    """The joined parts, where the rules show that they differ from every accepted reference."""
    joined = _joined(parts)
    if item.reference == (_NONE,):
        return ""
    each = (compare(read(one), read(joined, read(one).kind)).same for one in item.accepted)
    return joined if all(same is False for same in each) else ""
