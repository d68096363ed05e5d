"""SimpleQA: the first letter of three, the first character, the whole reply; evalscope's JSON."""

from __future__ import annotations

import json
import re

VERDICTS = {"A": "correct", "B": "incorrect", "C": "invalid"}


def first(reply: str) -> str:
    """What holds no letter was not attempted."""
    found = re.search(r"A|B|C", reply)
    return VERDICTS[found[0]] if found else "invalid"


def beginning(reply: str) -> str | None:
    return VERDICTS.get(reply.strip()[:1])


def lighteval(reply: str) -> str | None:
    return VERDICTS.get(reply)


def contract(reply: str) -> str | None:
    value = json.loads(reply)
    return VERDICTS.get(value["verdict"]) if isinstance(value["reasoning"], str) else None


ORACLES = {
    "simpleqa": (first, beginning, lighteval),
    "simpleqa_ab": (first, beginning),
    "simpleqa_json": (contract,),
}
