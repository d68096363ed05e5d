"""NeMo: the token for correct anywhere, in any case."""

from __future__ import annotations


def token(reply: str) -> str:
    return "correct" if "[correct]" in reply.lower() else "incorrect"


ORACLES = {"nemo_physics": (token,)}
