"""xVerify reads the bare word; its annotation scripts read a JSON object."""

from __future__ import annotations

import json


def word(reply: str) -> str | None:
    said = reply.strip().lower()
    return said if said in ("correct", "incorrect") else None


def annotation(reply: str) -> str | None:
    return word(json.loads(reply)["judgement"])


ORACLES = {
    "xverify": (word,),
    "xverify_no_question": (word,),
    "xverify_annotation": (annotation,),
    "xverify_annotation2": (annotation,),
}
