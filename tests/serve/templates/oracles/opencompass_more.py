"""chem_exam: a phrase in bold, or the last number in a box; SciReasoner: the word and no other."""

from __future__ import annotations

import re


def phrase(reply: str) -> str | None:
    return "correct" if "**Correct Answer**" in reply else "incorrect"


def last_share(reply: str) -> str | None:
    found = re.findall(r"(?:<NUMBER>\s*|\\boxed\{)\s*(-?\d*\.?\d+)\s*(?:</NUMBER>|\})", reply)
    return "correct" if found and float(found[-1]) == 1 else "incorrect"


def word(reply: str) -> str | None:
    return "correct" if reply.strip().upper() == "TRUE" else "incorrect"


ORACLES = {"chem_exam": (phrase,), "chem_exam_share": (last_share,), "scireasoner": (word,)}
