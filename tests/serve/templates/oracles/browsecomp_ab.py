"""BrowseComp in two grades: the first A or B; without one the caller asks again."""

from __future__ import annotations

import re


def first(reply: str) -> str | None:
    found = re.search(r"[AB]", reply)
    return {"A": "correct", "B": "incorrect"}[found[0]] if found else None


ORACLES = {"browsecomp_ab": (first,)}
