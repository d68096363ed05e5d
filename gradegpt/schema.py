"""The words of the project as types: items, examples, judgements.

Every row type is frozen and rejects unknown fields, so that a misspelt column is an error and not
silence.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


class AnswerType(StrEnum):
    """The 13 answer types of OlympicArena (appendix A.2)."""

    SINGLE_CHOICE = "single_choice"
    MULTIPLE_CHOICE = "multiple_choice"
    TRUE_FALSE = "true_false"
    NUMBER = "number"
    SET = "set"
    INTERVAL = "interval"
    EXPRESSION = "expression"
    EQUATION = "equation"
    TUPLE = "tuple"
    MULTI_PART = "multi_part"
    MULTI_ANSWER = "multi_answer"
    CODE = "code"
    TEXT = "text"

    @property
    def words(self) -> str:
        """The type as it stands in a sentence: ``single choice``, ``number``."""
        return self.value.replace("_", " ")


TOLERANCE: Final = (
    r"^(exact|auto|olympicarena|arb|atlas|olympiadbench"
    r"|(relative|olympiadbench):\d*\.?\d+([eE]-?\d+)?)$"
)
"""The named policies for numbers; ``gradegpt.rules.tolerance`` says what each allows."""
CHOICE: Final = (AnswerType.SINGLE_CHOICE, AnswerType.MULTIPLE_CHOICE)
"""The types that option letters answer."""


class Verdict(StrEnum):
    """What is said of a response. ``invalid``: no gradable answer (refusal, cut off, loop)."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    INVALID = "invalid"


class Outcome(StrEnum):
    """How the judging ended. Only ``judged`` carries a verdict; there is no default verdict."""

    JUDGED = "judged"
    UNDECIDED = "undecided"
    UNPARSED = "unparsed"
    FAILED = "failed"


class ChainFormat(StrEnum):
    """The three instruction formats of the paper's ablation (CMMaTH, table 8)."""

    OUTCOME = "outcome"
    JUDGE_OF_CHAIN = "judge_of_chain"
    CROSS_LINGUAL = "cross_lingual"


class Row(BaseModel):
    """Base of every row type: frozen, unknown fields rejected."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _as_tuple(value: object) -> object:
    if not isinstance(value, str | list | tuple):
        raise ValueError('expected text or a list of texts; write a number in quotes, "42"')
    return (value,) if isinstance(value, str) else value


class Item(Row):
    """What is to be judged.

    ``reference`` holds one accepted answer or several (any of them suffices); a single string is
    taken as one. ``tolerance`` is a named policy for numbers: one of
    ``exact``, ``auto``, ``olympiadbench[:X]``, ``olympicarena``, ``arb``, ``atlas`` and
    ``relative:X``; none means ``auto``.
    """

    id: str = ""
    question: str = ""
    reference: Annotated[tuple[str, ...], BeforeValidator(_as_tuple), Field(min_length=1)]
    response: str
    context: str | None = None
    answer_type: AnswerType | None = None
    tolerance: Annotated[str, Field(pattern=TOLERANCE)] | None = None
    meta: dict[str, Any] = {}

    @model_validator(mode="after")
    def _reference_has_content(self) -> Item:
        if not all(r.strip() for r in self.reference):
            raise ValueError(
                "reference: an accepted answer is empty; there is nothing to grade against"
            )
        return self


class Example(Item):
    """An item whose verdict is known. ``labelled_by`` says how: by hand, construction or a rule."""

    verdict: Verdict
    labelled_by: str = ""
    lang: str = ""
    source: str = ""


class Judgement(Row):
    """The whole result for one item.

    ``confidence`` is a probability in [0, 1], where the method has one.
    """

    id: str
    outcome: Outcome
    verdict: Verdict | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    method: str
    reason: str = ""
    key_sentence: str | None = None
    answer: str | None = None
    answer_type: AnswerType | None = None
    chain: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @model_validator(mode="after")
    def _verdict_iff_judged(self) -> Judgement:
        if (self.outcome is Outcome.JUDGED) != (self.verdict is not None):
            raise ValueError(
                f"outcome {self.outcome.value!r} with verdict {self.verdict!r}: "
                "only 'judged' carries one"
            )
        return self


class Message(Row):
    """One chat message, as every OpenAI-compatible API writes it."""

    role: str
    content: str


class TrainingRow(Row):
    """A conversational prompt/completion row, TRL's format, with what its label rests on."""

    prompt: tuple[Message, ...]
    completion: tuple[Message, ...]
    meta: dict[str, Any] = {}
