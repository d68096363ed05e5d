"""LongMemEval: a ``yes`` anywhere; a stricter copy reads the first word."""

from __future__ import annotations


def anywhere(reply: str) -> str:
    return "correct" if "yes" in reply.lower() else "incorrect"


def start(reply: str) -> str:
    return "correct" if reply.strip().lower().startswith("yes") else "incorrect"


ORACLES = {"longmemeval": (anywhere, start)}
