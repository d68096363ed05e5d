"""The rates of responses without an answer, by reason (ATLAS, table 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, Self

from pydantic import model_validator

from gradegpt.answers.json_list import Fault
from gradegpt.core.schema import Item, Judgement, Row, Verdict
from gradegpt.rules.validity import refuses


class NoAnswer(StrEnum):
    """Why a response has no answer; the first reason that applies.

    ``truncated``: it was cut off at the token limit (``meta.cut_off``, which ``eval.answer``
    writes), or ends in the middle. ``refusal``: it declines. ``json_error``: the requested JSON is
    missing or broken. ``unparsable``: no answer can be read for any other reason: it is empty,
    repeats itself, commits to no answer, or has a wrong number of sub-answers.
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
"""The reason for both in the profile of ATLAS, as its paper does not distinguish them."""


class Rate(Row):
    """A number of rows, and their share of all rows, in [0, 1]."""

    n: int
    share: float


class Rates(Row):
    """The rates of a group of rows. No row counts twice; only ``truncated`` rows may be right."""

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
    """Why a row's response has no answer; None where it has one, or was not judged."""
    if item.meta.get("cut_off") is True:
        return NoAnswer.TRUNCATED
    if judgement.verdict is not Verdict.INVALID:
        return None
    last = judgement.reason.rpartition(":")[2]
    if last == _EITHER:
        return NoAnswer.REFUSAL if refuses(item.response) else NoAnswer.TRUNCATED
    return _BY_REASON.get(last, NoAnswer.UNPARSABLE)


def rates(rows: Sequence[tuple[Item, Judgement]]) -> Rates:
    """The rates of at least one row."""
    found = Counter(no_answer(item, judgement) for item, judgement in rows)
    each = {kind.value: Rate(n=found[kind], share=found[kind] / len(rows)) for kind in NoAnswer}
    return Rates(n_rows=len(rows), **each)
