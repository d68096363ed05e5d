"""GradeGPT's reader: the last tag."""

from __future__ import annotations

import re


def last_tag(reply: str) -> str | None:
    found = re.findall(r"<(Yes|No)>", reply)
    return {"Yes": "correct", "No": "incorrect"}[found[-1]] if found else None


ORACLES = {"gradegpt": (last_tag,), "cmmath": (last_tag,)}
