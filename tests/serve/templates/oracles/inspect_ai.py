"""inspect_ai takes the last grade; a letter that is not on the menu, or none, is no score."""

from __future__ import annotations

import re


def last_grade(reply: str) -> str | None:
    found = re.findall(r"(?i)GRADE\s*:\s*([CPI])", reply)
    return {"C": "correct", "P": "partial", "I": "incorrect"}[found[-1].upper()] if found else None


ORACLES = {"inspect_qa": (last_grade,), "inspect_fact": (last_grade,)}
