"""VLMEvalKit: a digit and nothing else after five tries, or a word anywhere in the reply."""

from __future__ import annotations


def digit_alone(reply: str) -> str | None:
    """No digit: wrong in VLMEvalKit, asked again for ever in lmms-eval."""
    return "correct" if reply.strip() == "1" else "incorrect"


def true_anywhere(reply: str) -> str | None:
    return "correct" if "true" in reply.lower() else "incorrect"


def yes_anywhere(reply: str) -> str | None:
    return "correct" if "yes" in reply.lower() else "incorrect"


ORACLES = {
    "mathverse_score": (digit_alone,),
    "mme_reasoning_score": (digit_alone,),
    "babyvision": (true_anywhere,),
    "chartmuseum": (yes_anywhere,),
}
