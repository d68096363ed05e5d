"""simple-evals takes the first "correct: yes" or "no", and "no" where there is none."""

from __future__ import annotations

import re

YES_NO = {"yes": "correct", "no": "incorrect"}


def first_correct(reply: str) -> str:
    found = re.search(r"correct: (yes|no)", reply)
    return YES_NO[found[1]] if found else "incorrect"


def own_line(reply: str) -> str | None:
    """Any case, bold or not, but at the beginning of a line."""
    found = re.search(r"(?im)^\W*correct\W*:\W*(yes|no)\b", reply)
    return YES_NO[found[1].lower()] if found else None


def first_grade(reply: str) -> str | None:
    """The first GRADE, C or I, as evalscope reads it."""
    found = re.search(r"(?i)GRADE\s*:\s*([CPI])", reply)
    return {"C": "correct", "I": "incorrect"}.get(found[1].upper()) if found else None


CORRECT = (first_correct, own_line)
ORACLES = {"hle": CORRECT, "browsecomp_plus": CORRECT, "hle_grade": (first_grade,)}
