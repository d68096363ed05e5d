"""The types of the project: items, examples, judgements.

Every row type is frozen and rejects unknown fields, so that a misspelt column is an error.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from typing_extensions import override

from gradegpt.answers.parts import alternatives, combined
from gradegpt.answers.types import CHOICE as CHOICE
from gradegpt.answers.types import AnswerType as AnswerType
from gradegpt.core.reasons import in_words

TOLERANCE: Final = (
    r"^(exact|auto|olympicarena|arb|atlas|olympiadbench"
    r"|(relative|olympiadbench):\d*\.?\d+([eE]-?\d+)?)$"
)
"""The named policies for numbers; ``gradegpt.rules.tolerance`` defines them."""


def _named_policy(value: str) -> str:
    if not re.match(TOLERANCE, value):
        raise ValueError(
            f"{value!r} is no policy for numbers; use exact, auto, olympicarena, arb, atlas, "
            "olympiadbench, olympiadbench:0.01 or relative:0.01"
        )
    return value


Tolerance = Annotated[
    str, AfterValidator(_named_policy), Field(json_schema_extra={"pattern": TOLERANCE})
]
"""The name of a policy, with its number."""


class Verdict(StrEnum):
    """The verdict on a response. ``invalid``: no gradable answer (refusal, cut off, loop)."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    INVALID = "invalid"


class Outcome(StrEnum):
    """How judging ended. Only ``judged`` has a verdict; there is no default verdict."""

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


class TestCase(Row):
    """The input of a program and its expected output."""

    __test__ = False  # not a test class for pytest

    input: str = ""
    output: str


class Item(Row):
    """A response to judge, with its question and reference.

    ``reference`` holds one accepted answer or several; a single string is one. ``needs`` says
    whether a correct response gives ``any`` or ``all`` of them. Without it, several references are
    alternatives, and one reference is needed as a whole: both roots of ``x=3 or x=-3``, every
    option of ``ACD``, every part of ``(1) 5; (2) 7``. ``tolerance`` is a named policy for numbers:
    one of ``exact``, ``auto``, ``olympiadbench[:X]``, ``olympicarena``, ``arb``, ``atlas`` and
    ``relative:X``; none means ``auto``. ``tests`` are the test cases of a program,
    ``[{"input": "1 2", "output": "3"}]``. ``tags`` are topics of the question,
    ``{"subject": "physics", "points": ["optics", "waves"]}``: scores are reported by tag, and no
    judge sees them. ``context`` is text before the question, such as earlier parts of the problem;
    it counts as part of the question. ``solution`` is a reference solution, ``steps`` its steps,
    ``parts`` the reference of each sub-question in order, ``points`` the points of a full answer.
    """

    id: str = ""
    question: str = ""
    reference: Annotated[tuple[str, ...], BeforeValidator(_as_tuple), Field(min_length=1)]
    response: str
    context: str | None = None
    answer_type: AnswerType | None = None
    tolerance: Tolerance | None = None
    needs: Literal["all", "any"] | None = None
    solution: str = ""
    steps: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    points: Annotated[float, Field(gt=0)] | None = None
    tests: tuple[TestCase, ...] = ()
    tags: dict[str, str | tuple[str, ...]] = {}
    meta: dict[str, Any] = {}

    @property
    def accepted(self) -> tuple[str, ...]:
        """The alternative answers by ``needs``, any of which suffices."""
        if self.needs == "all" and len(self.reference) > 1:
            return (combined(self.reference),)
        if self.needs == "any" and len(self.reference) == 1:
            return alternatives(self.reference[0])
        return self.reference

    @model_validator(mode="after")
    def _reference_has_content(self) -> Item:
        if not all(r.strip() for r in self.reference):
            nothing = "there is nothing to grade against"
            raise ValueError(f"reference: an accepted answer is empty; {nothing}")
        return self


class Example(Item):
    """An item whose verdict is known. ``labelled_by`` says how: by hand, construction or a rule."""

    verdict: Verdict
    labelled_by: str = ""
    lang: str = ""
    source: str = ""


class Judgement(Row):
    """The complete result for one item.

    ``confidence`` is the measured probability that the verdict is right, in [0, 1]; None where
    nobody calibrated the judge. ``score`` is the method's own probability of its verdict before
    calibration, such as a model's probability of its tag. ``span`` is where ``key_sentence`` is in
    the response, ``[start, end)`` in characters; several quotes have a line each. ``why`` is the
    judge's own reason, a clause; ``reason`` is a code. A judge that abstains because its verdict is
    too uncertain is ``undecided``, and ``withheld`` is that verdict. ``tolerance`` is the policy by
    which rules compared numbers.
    """

    id: str
    outcome: Outcome
    verdict: Verdict | None = None
    withheld: Verdict | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    score: Annotated[float, Field(ge=0, le=1)] | None = None
    method: str
    reason: str = ""
    why: str | None = None
    key_sentence: str | None = None
    span: tuple[int, int] | None = None
    answer: str | None = None
    answer_type: AnswerType | None = None
    chain: str | None = None
    tolerance: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @model_validator(mode="after")
    def _verdict_iff_judged(self) -> Judgement:
        if (self.outcome is Outcome.JUDGED) != (self.verdict is not None):
            both = f"outcome {self.outcome.value!r} with verdict {self.verdict!r}"
            raise ValueError(f"{both}; a verdict requires 'judged', and 'judged' a verdict")
        if self.withheld is not None and self.outcome is not Outcome.UNDECIDED:
            raise ValueError(f"withheld: requires outcome 'undecided', not {self.outcome.value!r}")
        return self

    def __bool__(self) -> bool:
        """Raise an error: a judgement without a verdict is neither true nor false."""
        raise TypeError("a Judgement is neither true nor false; use .correct (True, False or None)")

    @property
    def correct(self) -> bool | None:
        """Whether the response is correct; None without a verdict."""
        return None if self.verdict is None else self.verdict is Verdict.CORRECT

    @property
    def sureness(self) -> float | None:
        """The confidence in three digits, rounded down: no verdict is certain."""
        return None if self.confidence is None else int(1000 * self.confidence) / 1000

    def in_words(self, *, chinese: bool = False) -> str:
        """The judge's own reason for its verdict, or else the code of the reason in words."""
        return (self.verdict and self.why) or in_words(self.reason, self.tolerance, chinese=chinese)

    @override
    def __str__(self) -> str:
        """The judgement for people: the chain, then the fields. Control characters are escaped."""
        verdict = self.verdict or f"none ({self.outcome})"
        confidence = "not measured" if self.sureness is None else f"{self.sureness:.3f}"
        words = self.in_words()
        chain = self.chain or ""
        if self.outcome is Outcome.UNDECIDED:  # its tag would look like a verdict
            chain = "\n".join(line for line in chain.split("\n") if not line.endswith(">"))
        lines = [chain, ""] if chain else []
        lines += [
            f"verdict     {verdict}",
            *([f"withheld    {self.withheld}"] if self.withheld else []),
            f"confidence  {confidence}",
            f"method      {self.method}",
            f"reason      {self.reason}",
            *([f"in words    {words}"] if words else []),
            *([f"tolerance   {self.tolerance}"] if self.tolerance else []),
        ]
        # A response is untrusted: its escape sequences must not reach the terminal.
        text = "\n".join(lines)
        return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


class Message(Row):
    """One chat message, in the form of OpenAI-compatible APIs."""

    role: str
    content: str


class TrainingRow(Row):
    """A conversational prompt/completion row, TRL's format; ``meta`` has the label's origin."""

    prompt: tuple[Message, ...]
    completion: tuple[Message, ...]
    meta: dict[str, Any] = {}
