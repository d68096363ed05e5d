"""NeMo Gym takes the first label; a reply without one counts as different."""

from __future__ import annotations


def first_label(reply: str) -> str | None:
    equal, different = reply.find("[[A=B]]"), reply.find("[[A!=B]]")
    return "correct" if equal >= 0 and not 0 <= different < equal else "incorrect"


ORACLES = {"gym_equivalence": (first_label,), "gym_math": (first_label,)}
