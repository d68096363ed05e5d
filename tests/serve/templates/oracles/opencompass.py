"""OpenCompass takes the first letter of its menu, capitals only, at any position."""

from __future__ import annotations

import re


def two_letters(reply: str) -> str | None:
    found = re.search(r"A|B", reply)
    return {"A": "correct", "B": "incorrect"}[found[0]] if found else None


def cascade(reply: str) -> str | None:
    text = reply.strip().upper()
    return "correct" if text == "A" or text.startswith("CORRECT") else "incorrect"


def three_letters(reply: str) -> str | None:
    found = re.search(r"A|B|C", reply)
    return {"A": "correct", "B": "incorrect", "C": "invalid"}[found[0]] if found else None


ORACLES = {"opencompass": (two_letters, cascade), "opencompass_abc": (three_letters,)}
