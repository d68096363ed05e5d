"""The form of the reply that a prompt asks for, and what its words mean.

A word without a meaning of its own (yes, 1, A) is used only where the prompt says what it stands
for. What is unclear is an error, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gradegpt.schema import Judgement, Verdict

from ...templates.reply import WrittenReply as Reply
from ...templates.reply import placed, reason
from .around import around_of
from .choices import (
    Choice,
    ContractError,
    MeaningError,
    choice_in,
    choice_of_examples,
    choice_of_listed,
    choice_of_values,
)
from .keys import JsonShape, described, is_score, means_right, read_json, schema_shape, shown_values
from .statements import asked, meanings
from .words import PAIRS, Pair


@dataclass(frozen=True)
class Contract:
    """The values for right, wrong and nothing to grade, and the text around them.

    ``around`` holds ``{verdict}``; ``shape`` is the JSON object instead.
    """

    right: Any
    wrong: Any
    nothing: Any = None
    around: str = "{verdict}"
    shape: JsonShape | None = None

    def __call__(self, judgement: Judgement, fields: Mapping[str, str]) -> Reply | None:
        """The reply for a judgement; None without a verdict."""
        if judgement.verdict is None:
            return None
        text = self.text(judgement.verdict, fields.get("reference", ""))
        return Reply(text, why=reason(judgement))

    @property
    def reverses(self) -> bool:
        """Whether a word such as yes or 1 is the one for wrong."""
        return any(str(self.wrong).lower() == p.right for p in PAIRS if not p.plain)

    def agrees(self, other: Contract) -> bool:
        """Whether both have the same words for right and wrong."""
        ours, theirs = ((str(c.right).lower(), str(c.wrong).lower()) for c in (self, other))
        return ours == theirs

    def text(self, verdict: Verdict, answer: str = "") -> str:
        """The reply for a verdict; ``answer`` is the one that a right response has."""
        value = self.value(verdict)
        if self.shape is None:
            return placed(self.around, {"verdict": str(value)})
        return self.shape.text(value, agrees=verdict is Verdict.CORRECT, answer=answer)

    def value(self, verdict: Verdict) -> Any:
        """The word for a verdict; nothing to grade is wrong where it has none."""
        if verdict is Verdict.CORRECT:
            return self.right
        unused = verdict is Verdict.INCORRECT or self.nothing is None
        return self.wrong if unused else self.nothing


_PAIRWISE: Final = re.compile(
    r"\b(response|answer|assistant|output|model|candidate|solution)s?[ _]?[\"'(]?(?:A|"
    r"1)\b[\s\S]{0,4000}?"
    r"\b\1[ _]?[\"'(]?(?:B|2)\b[\s\S]{0,4000}?\b(?:better|prefer|compare|winner|tie|best|stronger)|"
    r"(?:更好|更优|优于|偏好)|\b(?:which|what) (?:response|answer|assistant|one) is (?:better|"
    r"best|preferred)",
)
_SCALE: Final = re.compile(
    r"\b(?:scale|score|rate|rating|grade|points?|marks?)\b[^.\n]{0,60}?\b(?:(?:from|between|of) )?"
    r"[01]\s*(?:-|–|to|and|~|到|至)\s*(?:[2-9]|10|100)\b|(?:打分|评分|分数|"
    r"得分)[^。\n]{0,30}?[01]\s*(?:-|–|~|到|至)\s*(?:[2-9]|10|100)",
    re.IGNORECASE,
)


_POINT_ZERO: Final = re.compile(r"\b([01])\.0(?!\d|\.\d)")


def read_contract(
    text: str, examples: str = "", schema: Mapping[str, Any] | None = None
) -> Contract:
    """The reply that ``text`` asks for; ``examples`` are the caller's solved items.

    Raises:
        ContractError: there is none, or its words or their meanings are not clear.

    """
    if _PAIRWISE.search(text):
        raise ContractError("the prompt compares two responses, but each is judged separately here")
    questions = asked(text)
    if "other" in questions and "right" not in questions:
        raise ContractError("the prompt does not ask whether the response is correct")
    text = _POINT_ZERO.sub(r"\1", text)
    shape = schema_shape(schema) if schema else read_json(text, examples)
    text = f"{text}\n{described(schema)}" if schema else text
    if shape is not None:
        return _json(shape, text)
    if _SCALE.search(text):
        raise ContractError("the prompt asks for a score on a scale, not for right or wrong")
    pair = _pair(text, examples)
    return _worded(pair, text)


def _json(shape: JsonShape, text: str) -> Contract:
    """A JSON object's contract: from the values of its key, else from what the text says of it."""
    if shape.boolean:
        text = f"{text}\nReturn {shape.values}" if shape.values else text
        _key_means_right(shape, text, ("true", "false"))
        return Contract(True, False, shape=shape)
    values = f'Output "{shape.key}": {shape.values}' if shape.values else ""
    pair = choice_of_values(shown_values(shape.key, text)) or choice_of_listed(shape.values)
    pair = pair or choice_in(values) or choice_in(text)
    if pair is None:
        pair = _score(shape, text)
    by_key = shape.means_right or (pair.first == "1" and is_score(shape.key))
    own = meanings(values, (pair.first, pair.second))
    if pair.pair.plain or {"right"} != own[pair.first] or {"wrong"} != own[pair.second]:
        values = f"{text}\n{values}"
    contract = _meant(pair, values, by_key)
    right, wrong, nothing = (
        _typed(v, shape) for v in (contract.right, contract.wrong, contract.nothing)
    )
    return Contract(right, wrong, nothing, shape=shape)


def _score(shape: JsonShape, text: str) -> Choice:
    said = meanings(text, ("1", "0"))
    if said["1"] == {"right"} or (
        shape.means_right and re.search(r"\[0,\s*1\]|0\s*(?:-|to)\s*1", text)
    ):
        return Choice(Pair("1", "0", plain=False), "1", "0", None)
    raise MeaningError(
        f"the prompt does not say which values of the key {shape.key!r} are right and wrong"
    )


def _typed(value: Any, shape: JsonShape) -> Any:
    number = isinstance(value, str) and value in ("0", "1") and not shape.quoted
    return int(value) if number else value


def _key_means_right(shape: JsonShape, text: str, values: tuple[str, str]) -> None:
    """Check that true is right: the key says so, or the text, and nothing says the opposite."""
    said = meanings(text, values)
    if "wrong" in said[values[0]] or "right" in said[values[1]]:
        raise ContractError(f"it is not clear what {values[0]} means for the key {shape.key!r}")
    explicit = "right" in said[values[0]] or meanings(text, [shape.key])[shape.key] == {"right"}
    questions = asked(text) - {"other"}
    named = is_score(shape.key) and re.search(r"\bcorrectness\b|正确性", text)
    if not (
        explicit
        or named
        or (shape.means_right and questions != {"wrong"})
        or questions == {"right"}
    ):
        raise ContractError(f"the prompt does not say what the key {shape.key!r} means")


def _pair(text: str, examples: str) -> Choice:
    words = choice_in(text)
    if words is None:
        words = choice_of_examples(text, examples)
    if words is None:
        raise ContractError("the prompt names no two words for right and wrong")
    return words


def _worded(words: Choice, text: str) -> Contract:
    """The contract of two words: in a tag, a box, brackets, behind a label, or bare."""
    around, name = around_of(words, text)
    by_key = means_right(name) or (words.first == "1" and is_score(name))
    return replace(_meant(words, text, by_key), around=around)


def _meant(words: Choice, text: str, by_key: bool) -> Contract:
    """The contract with its polarity: by the words themselves, by conditions, by the question.

    ``by_key`` says that the name of the key or the label means right.

    Raises:
        ContractError: the text says nothing, or contradicts itself or the words.

    """
    first, second = words.first, words.second
    if words.pair.plain:
        return Contract(first, second, words.third)
    values = [first, second, *_letters(first)]
    said = meanings(text, values)
    rights = [v for v in values if "right" in said[v]]
    wrongs = [v for v in values if "wrong" in said[v]]
    if set(rights) & set(wrongs) or len(rights) > 1 or len(wrongs) > 1:
        raise ContractError(f"what {first} and {second} mean is said in two ways")
    questions = asked(text) - {"other"}
    answers = len(first) > 1 or first in "是YyTt"  # they answer a question, letters and digits none
    if rights and wrongs:
        if answers and questions == {"wrong" if rights[0] == first else "right"}:
            raise ContractError(f"what {first} and {second} mean is said in two ways")
        nothing = next((v for v in values if said[v] == {"nothing"}), None)
        return Contract(rights[0], wrongs[0], nothing)
    if answers or (first == "1" and not _CODE.search(text)):
        positive = questions == {"right"} or (by_key and questions <= {"right"})
        if positive and wrongs in ([], [second]) and rights in ([], [first]):
            return Contract(first, second, words.third)
        if questions == {"wrong"} and not rights and not by_key:
            return Contract(second, first, words.third)
    raise MeaningError(f"the prompt does not say which of {first} and {second} is right")


_CODE: Final = re.compile(r"\b(?:exit|error|return|status) (?:code|status)\b", re.IGNORECASE)
"""A number that is 0 for what is right."""


def _letters(first: str) -> tuple[str, ...]:
    return ("C", "D") if first == "A" else ()
