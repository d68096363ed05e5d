"""How many responses were no answer, and why (ATLAS, table 4): what stands beside every score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, Self

from pydantic import model_validator

from gradegpt.answers.json_list import Fault
from gradegpt.rules.validity import refuses
from gradegpt.schema import Item, Judgement, Row, Verdict


class NoAnswer(StrEnum):
    """Why a response is no answer; the first that applies.

    ``truncated``: it was cut off for want of tokens (``meta.cut_off``, which ``eval.answer``
    writes), or ends in the middle. ``refusal``: it declines. ``json_error``: the JSON that was
    asked for is missing or broken. ``unparsable``: no answer can be read for any other reason: it
    is empty, a loop, commits to nothing, or has another number of answers than of sub-questions.
    """

    TRUNCATED = "truncated"
    REFUSAL = "refusal"
    JSON_ERROR = "json_error"
    UNPARSABLE = "unparsable"


_BY_REASON: Final = {
    "cut-off": NoAnswer.TRUNCATED,
    "refusal": NoAnswer.REFUSAL,
    Fault.NO_JSON: NoAnswer.JSON_ERROR,
    Fault.JSON_ERROR: NoAnswer.JSON_ERROR,
}
_EITHER: Final = "incomplete-or-refusal"
"""The profile of ATLAS says one thing of both, as its paper does."""


class Rate(Row):
    """So many rows, and their share of all, in [0, 1]."""

    n: int
    share: float


class Rates(Row):
    """The rates of one group of rows. No row counts twice; only ``truncated`` may be right."""

    n_rows: int
    truncated: Rate
    refusal: Rate
    json_error: Rate
    unparsable: Rate

    @model_validator(mode="after")
    def _within_the_rows(self) -> Self:
        if sum(getattr(self, kind.value).n for kind in NoAnswer) > self.n_rows:
            raise ValueError("more rows without an answer than rows")
        return self


def no_answer(item: Item, judgement: Judgement) -> NoAnswer | None:
    """Why a row's response is no answer; none where it is one, or nobody judged it."""
    if item.meta.get("cut_off") is True:
        return NoAnswer.TRUNCATED
    if judgement.verdict is not Verdict.INVALID:
        return None
    last = judgement.reason.rpartition(":")[2]
    if last == _EITHER:
        return NoAnswer.REFUSAL if refuses(item.response) else NoAnswer.TRUNCATED
    return _BY_REASON.get(last, NoAnswer.UNPARSABLE)


def rates(rows: Sequence[tuple[Item, Judgement]]) -> Rates:
    """The rates of some rows, of which there is at least one."""
    found = Counter(no_answer(item, judgement) for item, judgement in rows)
    each = {kind.value: Rate(n=found[kind], share=found[kind] / len(rows)) for kind in NoAnswer}
    return Rates(n_rows=len(rows), **each)
