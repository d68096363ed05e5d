"""RL-Verifier-Pitfalls: the text after the last ``boxed``, to its closing brace."""

from __future__ import annotations


def last_box(reply: str) -> str | None:
    inside = reply.rpartition("boxed{")[2].partition("}")[0]
    return "correct" if inside.strip() == "1" else "incorrect"


ORACLES = {"pitfalls_genrm": (last_box,), "pitfalls_genrm_pair": (last_box,)}
