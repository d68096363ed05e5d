"""WebWalkerQA: the judgement of a JSON object, without regard to case; else an error."""

from __future__ import annotations

import json


def judgement(reply: str) -> str | None:
    word = str(json.loads(reply)["judgement"]).strip().lower()
    return word if word in ("correct", "incorrect") else None


ORACLES = {"webwalker": (judgement,)}
