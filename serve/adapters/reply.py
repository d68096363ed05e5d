"""Replies for a caller's parser: the words of each verdict, and the text around them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gradegpt.chain import AGREE, GLOSS, KEY, NO_KEY, REFERENCE
from gradegpt.schema import Judgement, Outcome, Verdict


class Reply(NamedTuple):
    """The reply to a caller.

    ``core`` is the shortest text that its parser reads as the verdict; ``whole`` also has the
    reason, where the parser permits it; ``why`` is the reason alone. ``replied`` is the verdict of
    the text, or ``undecided`` where the caller has its own reply for that.
    """

    core: str
    whole: str | None = None
    why: str = ""
    replied: str = ""


Writer = Callable[[Judgement, Mapping[str, str]], Reply | None]
"""Makes a reply from a judgement and the prompt's fields.

None where the judgement has no verdict and the caller's parser has no reply for that.
"""


@dataclass(frozen=True)
class Words:
    """A fixed word for each verdict, optionally after a reason.

    ``invalid`` defaults to ``incorrect``, for callers with two verdicts; ``undecided`` is the word
    for no verdict, if the caller has one. ``around`` is a template with ``{verdict}`` and
    ``{why}``; a reason that matches ``hostile`` would be misread, and is left out.
    """

    correct: str
    incorrect: str
    invalid: str | None = None
    undecided: str | None = None
    around: str = "{verdict}"
    hostile: str = r"(?!)"

    def __call__(self, judgement: Judgement, fields: Mapping[str, str]) -> Reply | None:
        """The reply for ``judgement``; a word may contain a field: ``{positive}``."""
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
    """A JSON object that ``fill`` makes from the judgement and the prompt's fields."""

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
    r"""``template`` with each ``{name}`` of ``values`` replaced; ``\boxed{A}`` is unchanged."""
    return re.sub(r"\{(\w+)\}", lambda m: values[m[1]] if m[1] in values else m[0], template)


def reason(judgement: Judgement) -> str:
    """The reason in a few lines without a tag, from the chain."""
    if judgement.outcome is not Outcome.JUDGED:
        return f"No verdict: {judgement.reason}." if judgement.reason else ""
    kept = (KEY, NO_KEY, GLOSS, REFERENCE)
    lines = (judgement.chain or "").split("\n")
    shown = [line for line in lines if line.startswith(kept) and AGREE not in line]
    return "\n".join(shown)
