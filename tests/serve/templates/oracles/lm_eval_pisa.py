"""lm-evaluation-harness: the one token is 1, or the answer is wrong."""

from __future__ import annotations


def one(reply: str) -> str | None:
    return "correct" if reply.strip() == "1" else "incorrect"


ORACLES = {"lm_eval_pisa": (one,)}
