"""What a caller's parser reads: the words for each verdict, and the words around them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gradegpt.chain import AGREE, GLOSS, KEY, NO_KEY, REFERENCE
from gradegpt.schema import Judgement, Outcome, Verdict


class Reply(NamedTuple):
    """What is said to a caller.

    ``core`` is the least that its parser reads as the verdict; ``whole`` says why as well, where
    the parser survives that; ``why`` is the reason in words.
    """

    core: str
    whole: str | None = None
    why: str = ""


Writer = Callable[[Judgement, Mapping[str, str]], Reply | None]
"""Turns a judgement and the prompt's fields into a reply.

None where the caller has no word for it: nothing was decided, and all that it knows are verdicts.
"""


@dataclass(frozen=True)
class Words:
    """Fixed words, a verdict each, perhaps after a reason.

    ``invalid`` is ``incorrect`` where the caller knows two verdicts only; ``undecided`` is what it
    reads as no verdict, if there is such a thing. ``around`` places ``{verdict}`` and ``{why}``; a
    reason that matches ``hostile`` would be misread, and is left out.
    """

    correct: str
    incorrect: str
    invalid: str | None = None
    undecided: str | None = None
    around: str = "{verdict}"
    hostile: str = r"(?!)"

    def __call__(self, judgement: Judgement, fields: Mapping[str, str]) -> Reply | None:
        """The words for ``judgement``; a word may hold a field: ``{positive}``."""
        word = self.word(judgement)
        if word is None:
            return None
        core = placed(word, fields)
        why = reason(judgement)
        whole = None
        if why and "{why}" in self.around and not re.search(self.hostile, why):
            whole = placed(self.around, {"why": why, "verdict": core})
        return Reply(core, whole, why)

    def word(self, judgement: Judgement) -> str | None:
        """The word for this judgement, if there is one."""
        match judgement.verdict:
            case Verdict.CORRECT:
                return self.correct
            case Verdict.INCORRECT:
                return self.incorrect
            case Verdict.INVALID:
                return self.incorrect if self.invalid is None else self.invalid
            case None:
                return self.undecided


@dataclass(frozen=True)
class Json:
    """A JSON object: ``fill`` makes it from the judgement, the words and the prompt's fields."""

    fill: Callable[[Judgement, Mapping[str, str]], dict[str, Any] | None]
    around: str = "{json}"

    def __call__(self, judgement: Judgement, fields: Mapping[str, str]) -> Reply | None:
        """The object as text."""
        value = self.fill(judgement, fields)
        if value is None:
            return None
        text = json.dumps(value, ensure_ascii=False)
        return Reply(placed(self.around, {"json": text}), why=reason(judgement))


def placed(template: str, values: Mapping[str, str]) -> str:
    r"""``template`` with each ``{name}`` of ``values`` replaced; ``\boxed{A}`` stays."""
    return re.sub(r"\{(\w+)\}", lambda m: values[m[1]] if m[1] in values else m[0], template)


def reason(judgement: Judgement) -> str:
    """Why, in a few sentences and without a tag: the chain, or what the rules compared."""
    if judgement.outcome is not Outcome.JUDGED:
        return f"No verdict: {judgement.reason}." if judgement.reason else ""
    kept = (KEY, NO_KEY, GLOSS, REFERENCE)
    lines = (judgement.chain or "").split("\n")
    said = [line for line in lines if line.startswith(kept) and AGREE not in line]
    return "\n".join(said)
