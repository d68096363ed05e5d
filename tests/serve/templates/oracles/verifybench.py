"""VerifyBench takes the last Yes or No, capitalised; without one its script ends in an error."""

from __future__ import annotations

import re


def last_word(reply: str) -> str | None:
    return {"Yes": "correct", "No": "incorrect"}[re.findall(r"Yes|No", reply)[-1]]


ORACLES = {"verifybench": (last_word,)}
