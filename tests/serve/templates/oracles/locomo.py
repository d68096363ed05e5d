"""LoCoMo: the label of a JSON object; what is none is wrong."""

from __future__ import annotations

import json


def label(reply: str) -> str:
    try:
        value = json.loads(reply)
    except json.JSONDecodeError:
        return "incorrect"
    return "correct" if value["label"] == "CORRECT" else "incorrect"


ORACLES = {"locomo": (label,)}
