"""The labeled answer: the whole reply is one of two words; else the caller asks again."""

from __future__ import annotations

import json


def whole(reply: str) -> str | None:
    word = reply.strip().rstrip(".").lower()
    return word if word in ("correct", "incorrect") else None


def fenced(reply: str) -> str | None:
    """The first fence behind the last opening of one."""
    value = json.loads(reply.split("```json")[-1].split("```")[0].strip())
    return whole(str(value["judgement"]))


ORACLES = {
    "labeled_answer": (whole,),
    "labeled_answer_last": (whole,),
    "labeled_answer_json": (fenced,),
}
