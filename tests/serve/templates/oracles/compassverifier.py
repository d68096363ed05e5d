"""CompassVerifier's own reader, OpenCompass's, VLMEvalKit's and that of verifiers."""

from __future__ import annotations

import re

VERDICTS = {"A": "correct", "B": "incorrect", "C": "invalid"}


def own(reply: str) -> str | None:
    """The last box, else the bare letter, else the last capital behind the judgment's label."""
    boxed = re.findall(r"boxed\{([A-C])\}", reply)
    if boxed:
        return VERDICTS[boxed[-1]]
    letters = re.findall(r"[A-C]", reply.rpartition("Final Judgment:")[2])
    return VERDICTS[letters[-1]] if letters else None


def academic(reply: str) -> str:
    """The first A or B; anything else counts as not attempted."""
    found = re.search(r"A|B", reply)
    return VERDICTS[found[0]] if found else "invalid"


def vlmevalkit(reply: str) -> str:
    """Two-valued, after the first reader."""
    return "correct" if own(reply) == "correct" else "incorrect"


def hybrid(reply: str) -> str:
    """The text is right that is A, or whose last box holds A alone."""
    last = reply.rpartition("\\boxed{")
    said = last[2].partition("}")[0] if last[1] else reply
    return "correct" if said.strip() == "A" else "incorrect"


ORACLES = {
    "compassverifier": (own, academic, vlmevalkit),
    "compassverifier_candidate_first": (own, academic, vlmevalkit),
    "compassverifier_cot": (own, vlmevalkit, hybrid),
}
