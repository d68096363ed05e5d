"""Answer Matching: the last tag, the first, or the later of the last 0 and the last 1."""

from __future__ import annotations

import re


def _tags(reply: str) -> list[str]:
    return [text.strip() for text in re.findall(r"(?s)<answer>(.*?)</answer>", reply)]


def last_tag(reply: str) -> str | None:
    found = _tags(reply)
    return "correct" if found and found[-1] == "1" else "incorrect"


def first_tag(reply: str) -> str | None:
    found = _tags(reply)
    return "correct" if found and found[0] == "1" else "incorrect"


def last_digit(reply: str) -> str | None:
    return "correct" if reply.rfind("1") > reply.rfind("0") else "incorrect"


ORACLES = {
    "answer_matching": (last_tag, first_tag, last_digit),
    "answer_matching_digit": (last_digit,),
}
