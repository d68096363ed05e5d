"""ATLAS: the first fence, single backslashes doubled, and every label must be A."""

from __future__ import annotations

import json
import re


def all_labels(reply: str) -> str | None:
    text = reply.rsplit("</think>", 1)[-1]
    fence = re.search(r"(?s)```json(.*?)```", text)
    if fence is None:
        return "incorrect"
    doubled = re.sub(r'(?<!\\)\\(?![\\/"bfnrtu])', r"\\\\", fence[1].strip())
    try:
        labels = {entry["label"] for entry in json.loads(doubled)["judgements"]}
    except (json.JSONDecodeError, KeyError):
        labels = {"C"}
    if labels == {"A"}:
        return "correct"
    return "invalid" if "C" in labels else "incorrect"


ORACLES = {"atlas": (all_labels,)}
