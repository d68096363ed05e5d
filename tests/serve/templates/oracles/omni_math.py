"""Reports: split at the headings, as in Omni-MATH, or the heading's first match, else a last word.

OpenCompass writes one more heading before the reply, as Omni-Judge's template ends with it.
"""

from __future__ import annotations

import re


def by_headings(reply: str) -> str | None:
    found: dict[str, str] = {}
    for part in reply.split("## ")[1:]:
        title, _, content = part.strip().partition("\n")
        found[title.strip()] = content.strip().split("\n")[0].strip()
    return "correct" if found.get("Equivalence Judgement") == "TRUE" else "incorrect"


def after_omni_judge(reply: str) -> str | None:
    return by_headings("## Student Final Answer\n" + reply.strip())


def first_match(reply: str) -> str | None:
    heading = re.search(r"(?i)##\s*Equivalence\s*Judgement\s*\n\s*(TRUE|FALSE)", reply)
    words = re.findall(r"(?i)\b(TRUE|FALSE)\b", reply)
    word = heading[1] if heading else words[-1] if words else "FALSE"
    return "correct" if word.upper() == "TRUE" else "incorrect"


ORACLES = {
    "omni_math": (by_headings, after_omni_judge, first_match),
    "ugphysics": (by_headings, first_match),
}
