"""OpenCompass looks for INCORRECT first, NeMo-Skills at the beginning, NeMo Gym for the first."""

from __future__ import annotations

import re


def opencompass(reply: str) -> str | None:
    for word in ("incorrect", "correct"):
        if re.search(rf"(?i)\b{word}\b", reply):
            return word
    return None


def beginning(reply: str) -> str:
    return "correct" if reply.strip().upper().startswith("CORRECT") else "incorrect"


def first_label(reply: str) -> str:
    equal, other = reply.find("CORRECT"), reply.find("INCORRECT")
    return "correct" if equal >= 0 and (other < 0 or equal < other) else "incorrect"


ORACLES = {"aa_lcr": (opencompass, beginning, first_label)}
