"""Reason codes in words: every code of the library, in English and Chinese, in ``reasons.json``.

There ``*`` is any text and ``{1}``, ``{2}`` what it was; ``<type>`` is an answer type; ``<labels>``
are the verdicts on sub-questions; ``{rest}`` are the words of the code behind a prefix. The first
entry that fits is used.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Final

from gradegpt.answers.types import AnswerType

SOURCE: Final = Path(__file__).with_name("reasons.json")
_LABELS: Final = {
    "A": ("correct", "正确"), "B": ("incorrect", "错误"), "C": ("invalid", "无效"),
    "?": ("undecided", "未决"),
}  # fmt: skip
_NO_LABEL: Final = ("", "")
_WILD: Final = {
    "*": "(.*)", "<type>": f"(?P<type>{'|'.join(AnswerType)})",
    "<labels>": "(?P<labels>[ABC?](?:,[ABC?])*)",
}  # fmt: skip


def in_words(reason: str, tolerance: str | None = None, *, chinese: bool = False) -> str:
    """A judgement's reason code as a sentence, English or Chinese; empty where it has none.

    >>> in_words("number:equal-within-tolerance", "relative:0.01")
    'Number: the answers are equal within the tolerance (relative:0.01).'
    """
    for pattern, said in _entries():
        if found := pattern.fullmatch(reason.strip()):
            named = found.groupdict("")
            free = [text for text in found.groups("") if text not in named.values()] + ["", ""]
            labels = named.get("labels", "").split(",")
            kind = AnswerType(named["type"]) if named.get("type") else None
            type_ = (kind.in_chinese if chinese else kind.words.capitalize()) if kind else ""
            return said[chinese].format(
                *("", *free), tolerance=tolerance or "auto",
                type=type_,
                labels=", ".join(_LABELS.get(label, _NO_LABEL)[chinese] for label in labels),
                rest=in_words(free[0], tolerance, chinese=chinese) if "{rest}" in said[0] else "",
            ).strip()  # fmt: skip
    return ""


@cache
def _entries() -> list[tuple[re.Pattern[str], list[str]]]:
    table: dict[str, list[str]] = json.loads(SOURCE.read_text(encoding="utf-8"))
    return [(re.compile(_expression(code), re.DOTALL), said) for code, said in table.items()]


def _expression(code: str) -> str:
    parts = re.split(r"(\*|<type>|<labels>)", code)
    return "".join(_WILD.get(part, re.escape(part)) for part in parts)
