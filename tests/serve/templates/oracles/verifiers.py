"""verifiers: a yes anywhere; v1 takes the last label by itself and raises without one."""

from __future__ import annotations

import re


def yes_anywhere(reply: str) -> str | None:
    return "correct" if "yes" in reply.lower() else "incorrect"


def starts_with_yes(reply: str) -> str | None:
    return "correct" if reply.strip().lower().startswith("yes") else "incorrect"


def last_label(reply: str) -> str | None:
    found = re.findall(r"(?<!\w)(YES|NO)(?!\w)", reply.rsplit("</think>", 1)[-1].upper())
    return {"YES": "correct", "NO": "incorrect"}[found[-1]] if found else None


ORACLES = {
    "verifiers_rubric": (yes_anywhere, starts_with_yes),
    "verifiers_rubric_pair": (yes_anywhere, starts_with_yes),
    "verifiers_reference": (last_label,),
}
