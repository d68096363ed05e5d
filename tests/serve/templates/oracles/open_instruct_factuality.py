"""open-instruct mends the JSON, which breaks most LaTeX in it, and then looks for digits."""

from __future__ import annotations

import json
import re


def score(reply: str) -> str:
    text = reply.strip().removeprefix("```json").removesuffix("```").replace("\n", "\\n")
    text = re.sub(r'\\(?!["\\/bfnrtu])', r"\\\\", text)
    try:
        value = json.loads(text).get("SCORE", 0.0)
    except json.JSONDecodeError:
        found = re.search(r'"SCORE"\s*:\s*"?([0-9]+(?:\.[0-9]+)?)"?', text)
        value = found[1] if found else 0.0
    try:
        return "correct" if float(value) == 1 else "incorrect"
    except ValueError:
        return "incorrect"


ORACLES = {"open_instruct_factuality": (score,)}
