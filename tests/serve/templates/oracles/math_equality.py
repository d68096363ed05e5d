"""simple-evals compares the whole reply, OpenCompass takes the first bracket, evalscope JSON."""

from __future__ import annotations

import json
import re


def whole(reply: str) -> str:
    return "correct" if reply.lower().strip() == "yes" else "incorrect"


def first_bracket(reply: str) -> str | None:
    """None leaves the sample out."""
    found = re.findall(r"(?i)\[(incorrect|correct|yes|no)\]", reply)
    if not found:
        return None
    return "correct" if found[0].lower() in ("yes", "correct") else "incorrect"


def contract(reply: str) -> str | None:
    """No object, or another verdict, is a parse error: the sample is excluded."""
    try:
        value = json.loads(reply)
    except json.JSONDecodeError:
        return None
    return {"Yes": "correct", "No": "incorrect"}.get(value["verdict"])


ORACLES = {
    "math_equality": (whole,),
    "math_equality_asked": (whole,),
    "math_equality_brackets": (first_bracket,),
    "math_equality_json": (contract,),
}
