"""DeepEyes: what follows the last ``Judgement:``, else the whole reply; all but a 1 is wrong."""

from __future__ import annotations

import re


def score(reply: str) -> str:
    text = reply.strip()
    if "Judgement:" in text:
        return "correct" if "1" in text.split("Judgement:")[-1] else "incorrect"
    return "correct" if text == "1" else "incorrect"


def named(reply: str) -> str:
    """A descendant's: a named value, or a bare digit."""
    found = re.search(r"(?i)\bjudge?ment\s*value\b\s*[:=]?\s*([01])\b", reply)
    found = found or re.search(r"^\s*([01])\s*$", reply)
    return "correct" if found and found[1] == "1" else "incorrect"


def report(reply: str) -> str:
    """The words behind the last heading; both of them, or neither, is wrong."""
    text = reply.strip().split("## Equivalence Judgement")[-1].lower()
    return "correct" if "true" in text and "false" not in text else "incorrect"


ORACLES = {"consistency": (score, named), "deepeyes_math": (report,)}
