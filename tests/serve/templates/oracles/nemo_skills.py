"""NeMo-Skills: what is behind the first label in newer versions, behind the last in old ones."""

from __future__ import annotations

import re


def first_label(reply: str) -> str:
    label = re.search(r"(?i)\*{0,2}Judgement\*{0,2}\s*:", reply)
    said = reply[label.end() :].strip().lstrip("*").strip().lower() if label else ""
    return "correct" if said.startswith("yes") else "incorrect"


def ends_so(reply: str) -> str:
    _, label, said = reply.rpartition("Judgement:")
    return "correct" if label and said.strip().lower() == "yes" else "incorrect"


BY_VERSION = (first_label, ends_so)
ORACLES = {"nemo_math": BY_VERSION, "nemo_speechlm": BY_VERSION, "hle_nemo": BY_VERSION}
