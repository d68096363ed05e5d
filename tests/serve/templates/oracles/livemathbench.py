"""LiveMathBench takes the last box; anything except ``yes`` is wrong."""

from __future__ import annotations

import re


def last_box(reply: str) -> str | None:
    found = re.findall(r"\\boxed{(.+?)}", reply)
    return "correct" if found and found[-1] == "yes" else "incorrect"


ORACLES = {"livemathbench": (last_box,), "livemathbench_cn": (last_box,)}
