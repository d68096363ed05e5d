"""Chinese SimpleQA: the first letter, or not attempted; BrowseComp-ZH: the first of two."""

from __future__ import annotations

import re

VERDICTS = {"A": "correct", "B": "incorrect", "C": "invalid"}


def first(reply: str) -> str:
    found = re.search(r"(A|B|C)", reply)
    return VERDICTS[found[0]] if found else "invalid"


def of_two(reply: str) -> str | None:
    """Without a letter the caller asks again."""
    found = re.search(r"[AB]", reply)
    return VERDICTS[found[0]] if found else None


ORACLES = {"simpleqa_zh": (first,), "browsecomp_zh": (of_two,)}
