"""The measured confidence of a judge, from labelled rows that it was neither made nor measured on.

A rule says "these options are the same" and is right 99 times in 100; a model's tag has a
probability of 0.98 and is right 8 times in 10. ``gradegpt eval.calibrate`` counts this and writes a
calibration for one judge of a cascade, given the judges before it: for the rules the weights of the
signs of a reading; for every other judge, by kind of answer, the weights of its own log odds and of
those that the earlier judges left. The rules' is in the package, a model's
``calibration.json`` is beside its weights.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Final, NamedTuple

from pydantic import Field

from gradegpt.answers.read import answer_type
from gradegpt.chains.chain import needs_gloss
from gradegpt.core.errors import MissingError
from gradegpt.core.records import read_beside
from gradegpt.core.schema import AnswerType, Item, Judgement, Outcome, Row, Verdict
from gradegpt.rules.reference import asked, reference_answer

CALIBRATION_FILE: Final = "calibration.json"
"""A file in the adapter's folder, or in that of a model without an adapter."""
OTHER: Final = "other"
"""The kinds of answers that have too few labelled rows of their own."""
_WORD: Final = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")
_SHORT: Final = 5
"""The most words of a short reference."""
_SURE: Final = 1 - 1e-6
"""Probabilities are clipped to this before their log odds are taken."""
OUTWEIGHED: Final = "cascade:outweighed"
"""The reason of a verdict that is no judge's own."""
_NO_CHAIN: Final = dict.fromkeys(("chain", "why", "key_sentence", "span", "answer", "answer_type"))
BASE: Final = "base"
"""The log odds of a verdict without its signs."""

Probability = Annotated[float, Field(ge=0, le=1)]


class Weights(Row):
    """The log odds of a right response: a weighted sum of a judge's, the earlier judges' and 1.

    Platt scaling (Platt 1999) with a second predictor. ``most`` is the highest confidence that the
    result had on labelled rows.
    """

    own: float = 1.0
    before: float = 1.0
    bias: float = 0.0
    most: Probability = 1.0

    def odds(self, own: float, before: float) -> float:
        """The log odds that the response is right."""
        return self.own * own + self.before * before + self.bias


class Evidence(NamedTuple):
    """``rows`` labelled rows alike: where from, what was given, and what the judges made of them.

    ``trail`` has the probability that the response is right after each judge that gave a verdict,
    the calibrated one last; None where a judge gave none or was not asked.
    """

    source: str
    kind: str
    right: bool
    trail: tuple[Probability | None, ...]
    rows: int = 1


class Calibration(Row):
    """What one judge's verdicts are worth, after the judges ``after`` which it is asked.

    ``judge`` and ``after`` name what was measured: a version for judges of the package. ``signs``
    has what each sign of a reading (``rules.reading.signs_of``) adds to the log odds that a verdict
    of the rules is right, beside their ``BASE``, and ``seen`` how often each rule gave a verdict
    (``rule_of``); ``weights`` the kinds of answers on which the
    judge knows more than those before it, and it is asked about no other. ``seconds`` is the
    measured time of an item. ``evidence`` has the rows by which an error is promised.
    """

    judge: str
    after: tuple[str, ...] = ()
    asked_below: Probability = 1.0
    """The judge was measured on rows whose earlier confidence is below this."""
    signs: dict[str, float] = Field(default={})
    seen: dict[str, int] = Field(default={})
    weights: dict[str, Weights] = Field(default={})
    seconds: float | None = None
    evidence: tuple[Evidence, ...] = ()

    @cached_property
    def digest(self) -> str:
        """Equal digests mean equal confidences: the evidence is not part of it."""
        deciding = self.model_dump_json(exclude={"evidence", "seconds"})
        return hashlib.sha256(deciding.encode()).hexdigest()[:12]

    def weights_of(self, item: Item) -> Weights | None:
        """The weights of the item's kind, or None where the judge knows nothing more."""
        return self.weights.get(kind_of(item), self.weights.get(OTHER))

    def confidence_of(self, signs: Iterable[str], rule: str) -> float | None:
        """The probability that a verdict with these signs is right; None where none was measured.

        A sign that was not measured adds nothing. A rule that was seen n times may be wrong for a
        reason of its own in half of n + 5 rows, so that a rare one is never sure.
        """
        if not self.signs:
            return None
        odds = self.signs[BASE] + sum(self.signs.get(sign, 0.0) for sign in signs)
        seen = self.seen.get(rule, 0)
        return (seen + 4.5) / (seen + 5) / (1 + math.exp(-odds))


def rule_of(verdict: Verdict, reason: str) -> str:
    """The rule by which a verdict was given: ``correct number:equal``."""
    return f"{verdict.value} {reason}"


def chance_of_right(judgement: Judgement | None, *, raw: bool = False) -> float | None:
    """The probability that the response is right, by a judgement or by a withheld verdict.

    ``raw`` takes the method's own score. None where there is none.
    """
    if judgement is None:
        return None
    verdict = judgement.verdict or judgement.withheld
    known = judgement.score if raw else judgement.confidence
    if verdict is None or known is None:
        return None
    return known if verdict is Verdict.CORRECT else 1 - known


def log_odds(probability: float | None) -> float:
    """The log odds of a probability, clipped; 0 for None, where nothing is known."""
    if probability is None:
        return 0.0
    clipped = min(max(probability, 1 - _SURE), _SURE)
    return math.log(clipped / (1 - clipped))


def combined(before: Judgement, own: Judgement, weights: Weights) -> Judgement:
    """A judge's judgement with the confidence that the weights give it after the earlier judges.

    Where the sum has the earlier verdict alone, that judgement is kept; where it has neither's,
    there is no chain, as it would contradict the verdict. An answer that cannot be graded stays so
    where it is not called right. A verdict that a judge withholds counts;
    the likelier one stays withheld where this judge gives none. A judge without a score adds
    nothing, and a failure stays a failure.
    """
    score = chance_of_right(own, raw=True)
    if score is None:
        silent = own.verdict is None and own.outcome is not Outcome.FAILED
        kept = before.verdict is not None or own.outcome is Outcome.UNDECIDED
        return _with_cost(before, own) if silent and kept else own
    odds = weights.odds(log_odds(score), log_odds(chance_of_right(before)))
    likelier = Verdict.CORRECT if odds > 0 else Verdict.INCORRECT
    given = (before, own) if before.verdict is Verdict.INVALID else (own, before)
    made = next((j for j in given if _says(j) is (odds > 0)), None)
    if made is None:
        changes = {**_NO_CHAIN, "reason": OUTWEIGHED}
        changes["withheld" if own.verdict is None else "verdict"] = likelier
        made = own.model_copy(update=changes)
    elif made.verdict is None and own.verdict is not None:  # the earlier judge withheld it
        shown = {"outcome": Outcome.JUDGED, "verdict": likelier, "withheld": None}
        made = made.model_copy(update=shown)
    confidence = 1 / (1 + math.exp(-abs(odds)))
    read = {n: getattr(made, n) or getattr(before, n) for n in ("answer", "answer_type")}
    changes = {"confidence": confidence, **read}
    return _with_cost(made.model_copy(update=changes), own)


def _says(judgement: Judgement) -> bool | None:
    """Whether the judgement calls the response right; None without a verdict."""
    verdict = judgement.verdict or judgement.withheld
    return None if verdict is None else verdict is Verdict.CORRECT


def _with_cost(judgement: Judgement, own: Judgement) -> Judgement:
    cost = {name: getattr(own, name) for name in ("prompt_tokens", "completion_tokens")}
    return judgement.model_copy(update=cost)


def kind_of(item: Item) -> str:
    """The answer type and the language, ``number en``: the stated type, else the likely one.

    Free text with references of a few words, such as names, is ``short text``; a free-text response
    in one language to a reference in the other is ``text across``.
    """
    kind = type_of(item)
    reference = any(map(needs_gloss, item.reference))
    response = needs_gloss(item.response)
    language = "zh" if reference or response else "en"
    if kind is not AnswerType.TEXT:
        return f"{kind.words} {language}"
    short = "short " if max(map(_length, item.reference)) <= _SHORT else ""
    return f"{short}{kind.words} {'across' if reference is not response else language}"


def _length(text: str) -> float:
    """The words of a text; two Chinese characters count as one."""
    return sum(0.5 if word >= "\u3400" else 1.0 for word in _WORD.findall(text))


def type_of(item: Item) -> AnswerType:
    """The stated answer type, else the likely one of the reference."""
    return item.answer_type or answer_type(reference_answer(item.reference[0]), asked(item))


def calibration_beside(folder: str | None) -> Calibration | None:
    """The calibration stored with the weights in ``folder``, if any."""
    return read_beside(folder, CALIBRATION_FILE, Calibration)


def read_calibration(path: Path) -> Calibration:
    """The calibration in a file.

    Raises:
        MissingError: there is no such file.
        InputError: it is not a calibration.

    """
    found = read_beside(str(path.parent), path.name, Calibration)
    if found is None:
        raise MissingError(f"{path}: no such calibration; write it: gradegpt eval.calibrate")
    return found


@cache
def packaged(name: str) -> Calibration | None:
    """The calibration of a judge of this package, ``rules``, if it has one."""
    return read_beside(str(Path(__file__).parent), f"{name}.calibration.json", Calibration)
