"""lmms-eval: a 1 anywhere, or a yes at the start, by the words that the prompt named."""

from __future__ import annotations


def any_one(reply: str) -> str | None:
    return "correct" if "1" in reply else "incorrect"


def starts_with_yes(reply: str) -> str | None:
    return "correct" if reply.strip().lower().startswith("yes") else "incorrect"


ORACLES = {"lmms_binary": (any_one,), "lmms_correctness": (starts_with_yes,)}
