"""promptfoo: the category of the JSON object in the reply, one of five letters."""

from __future__ import annotations

import json

CATEGORIES = {"C": "correct", "D": "incorrect"}


def category(reply: str) -> str | None:
    value = json.loads(reply[reply.index("{") : reply.rindex("}") + 1])
    return CATEGORIES.get(value["category"].strip().upper())


ORACLES = {"promptfoo_factuality": (category,)}
