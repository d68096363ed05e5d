"""xbench: the first conclusion, up to its next colon; without one the caller asks again."""

from __future__ import annotations

import re

WORDS = {"正确": "correct", "错误": "incorrect"}


def conclusion(reply: str) -> str | None:
    found = re.search(r"结论:*\s*(正确|错误)", reply)
    return WORDS.get(found[0].split(":")[1].strip()) if found else None


def line(reply: str) -> str | None:
    """A copy that takes what follows on the line."""
    found = re.search(r"结论[:：]\s*.*?(正确|错误)", reply)
    return WORDS[found[1]] if found else None


ORACLES = {"xbench": (conclusion, line)}
