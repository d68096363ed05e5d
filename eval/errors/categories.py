"""The categories of ATLAS, table 6: their shares there, and what they mean here."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Category(StrEnum):
    """What is wrong with an answer.

    The categories and their order are the paper's (ATLAS, table 6), the definitions our own:

    ``numerical``: another number than the reference's, in any form.
    ``mathematical``: another formula, equation, expression or region.
    ``missing``: some of several values, options or sub-answers are missing.
    ``structural``: another kind: words for a value, an equation for a number, more values.
    ``method``: the answer results from a wrong approach or assumption.
    ``contradictory``: the opposite: yes for no, a value where there is none.
    ``unit``: the number with another unit, or without the one that it needs.
    ``reasoning``: the argument that the reference asks for does not hold.
    ``concept``: a principle or term is taken for another.
    ``incomplete``: the answer is right, but lacks details of the reference.
    ``unknown``: none of these can be shown; no category of the paper.
    """

    NUMERICAL = "numerical"
    MATHEMATICAL = "mathematical"
    MISSING = "missing"
    STRUCTURAL = "structural"
    METHOD = "method"
    CONTRADICTORY = "contradictory"
    UNIT = "unit"
    REASONING = "reasoning"
    CONCEPT = "concept"
    INCOMPLETE = "incomplete"
    UNKNOWN = "unknown"


ATLAS: Final = {
    Category.NUMERICAL: 27.0, Category.MATHEMATICAL: 16.5, Category.MISSING: 13.0,
    Category.STRUCTURAL: 11.0, Category.METHOD: 8.5, Category.CONTRADICTORY: 7.0,
    Category.UNIT: 5.0, Category.REASONING: 4.5, Category.CONCEPT: 4.0, Category.INCOMPLETE: 3.5,
}  # fmt: skip
"""Percent of 200 explanations of wrong answers (table 6); they add up to 100."""

MEANING: Final = {
    Category.NUMERICAL: "another number than the reference's",
    Category.MATHEMATICAL: "another formula, equation, expression or interval",
    Category.MISSING: "some of several values, options or sub-answers are not there",
    Category.STRUCTURAL: "another kind of thing, such as words for a value or more values",
    Category.METHOD: "it comes of a wrong approach or assumption",
    Category.CONTRADICTORY: "the opposite of the reference, such as yes for no",
    Category.UNIT: "another unit, or none where one is needed",
    Category.REASONING: "the argument that was asked for does not hold",
    Category.CONCEPT: "a principle or term is taken for another",
    Category.INCOMPLETE: "right as far as it goes, without details of the reference",
    Category.UNKNOWN: "none of these",
}
"""The definition of each category in the model's prompt."""
