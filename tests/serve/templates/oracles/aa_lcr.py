"""OpenCompass looks for INCORRECT first, NeMo-Skills at the beginning, NeMo Gym for the first.

Version 1.1 reads a JSON object, or else the first separate word.
"""

from __future__ import annotations

import json
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


def verdict(reply: str) -> str | None:
    word = json.loads(reply)["verdict"].strip().lower()
    return word if word in ("correct", "incorrect") else None


def first_word(reply: str) -> str | None:
    found = re.search(r"\b(CORRECT|INCORRECT)\b", reply.upper())
    return found[1].lower() if found else None


ORACLES = {
    "aa_lcr": (opencompass, beginning, first_label),
    "aa_lcr_json": (verdict, first_word),
}
