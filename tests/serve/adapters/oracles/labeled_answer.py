"""The labeled answer: the whole reply is one of two words; else the caller asks again."""

from __future__ import annotations


def whole(reply: str) -> str | None:
    word = reply.strip().rstrip(".").lower()
    return word if word in ("correct", "incorrect") else None


ORACLES = {"labeled_answer": (whole,), "labeled_answer_last": (whole,)}
