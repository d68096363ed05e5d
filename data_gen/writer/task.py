"""The task of writing a response: its problem, its language, and right and wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gradegpt.answers.options import letters
from gradegpt.chains.chain import needs_gloss
from gradegpt.core.schema import CHOICE, AnswerType, Verdict

from ..gloss import render_gloss
from ..phrases import Phrases, phrases
from ..problems import Problem
from ..variants import negative_forms, same_forms

_OTHER_FORM = 0.55
_OWN_FORM = 0.35
_SEVERAL = (AnswerType.MULTI_PART, AnswerType.MULTI_ANSWER, AnswerType.SET)


class Written(NamedTuple):
    """A written response with its annotations.

    ``key_sentence`` is in the response, with blanks for line breaks; none means no answer is given.
    ``gloss`` is its English if it has Chinese characters and the templates cover it. ``pattern``
    names the kind of response.
    """

    response: str
    key_sentence: str | None
    gloss: str | None
    answer: str | None
    verdict: Verdict
    pattern: str


class Task(NamedTuple):
    """One response to write. ``chinese`` is the response's language, not the question's."""

    rng: random.Random
    problem: Problem
    chinese: bool

    @property
    def words(self) -> Phrases:
        """The phrases of the response's language."""
        return phrases(self.chinese)

    @property
    def same_language(self) -> bool:
        """Whether the response is in the question's language, so that it may reuse its words."""
        return self.chinese == (self.problem.lang == "zh")

    def right(self) -> str:
        """The reference answer in a random form."""
        own = [f for f in self.problem.also_correct if "\n" not in f]
        if own and self.rng.random() < _OWN_FORM:
            return self.rng.choice(own)
        return self.in_some_form(self.problem.reference)

    def wrong(self) -> str | None:
        """A wrong answer in a random form; none where none is known."""
        value = self.hard_negative()
        return None if value is None else self.in_some_form(value)

    def hard_negative(self) -> str | None:
        """A hard negative in its own form; none where none is known."""
        problem = self.problem
        own = [w for w in problem.hard_negatives if "\n" not in w]
        if own and self.rng.random() < 0.5:
            return self.rng.choice(own)
        made = self._forms(negative_forms, problem.reference)
        drawn = (m for m in made if "\n" not in m and m not in problem.also_correct)
        return next(drawn, None) or (self.rng.choice(own) if own else None)

    def in_some_form(self, value: str) -> str:
        """The value or an equivalent form; the same for right and wrong values."""
        if self.rng.random() >= _OTHER_FORM:
            return value
        return next(self._forms(same_forms, value), value)

    def _forms(self, made: Callable[..., Iterator[str]], value: str) -> Iterator[str]:
        kind, question = self.problem.answer_type, self.problem.question
        return made(self.rng, value, kind, question=question, chinese=self.chinese)

    def written(
        self, response: str, sentence: str, answer: str, *, right: bool, pattern: str
    ) -> Written:
        """A response with an answer, annotated with its key sentence."""
        sentence = " ".join(sentence.split("\n")).strip()
        gloss = render_gloss(sentence) if needs_gloss(sentence) else None
        verdict = Verdict.CORRECT if right else Verdict.INCORRECT
        return Written(response.strip("\n"), sentence, gloss, answer, verdict, pattern)


def unanswered(response: str, pattern: str) -> Written:
    """A response without an answer."""
    return Written(response, None, None, None, Verdict.INVALID, pattern)


def error_kind(problem: Problem, wrong: str) -> str:
    """The kind of error of a hard negative, in the terms of ATLAS, table 6."""
    kind, reference = problem.answer_type, problem.reference
    if kind in CHOICE:
        return "wrong_option" if len(letters(reference) or "") < 2 else "wrong_option_set"
    digits, other = (sorted(c for c in text if c.isdigit()) for text in (reference, wrong))
    if kind in _SEVERAL and len(other) < len(digits):
        return "missing_component"
    if digits and digits == other:
        return "structural_mismatch" if kind is not AnswerType.NUMBER else "unit_or_sign_error"
    return "numerical_discrepancy" if digits else "other_answer"
