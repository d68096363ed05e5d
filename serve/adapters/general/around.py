"""The text around the word of a reply: a tag, a box, a label."""

from __future__ import annotations

import re
from typing import Final

from .choices import Choice
from .words import LABELLED, VERDICT_LABEL, word


def around_of(words: Choice, text: str) -> tuple[str, str]:
    """The text around the word, with ``{verdict}`` for it, and the name of its tag or label."""
    opening, closing = words.wrapped
    if not opening and _BOX.search(text):
        opening, closing = "\\boxed{", "}"
    around = f"{opening}{{verdict}}{closing}"
    if tag := _tag(words, text):
        return f"<{tag}>{{verdict}}</{tag}>", tag
    label = _label(words, text)
    return f"{label}{around}", label


_TAG: Final = re.compile(
    r"<(judg(?:e)?ment|verdict|decision|answer|grade|result|correct|label|score|evaluation|output|"
    r"final_\w+|判断|结论|结果)>([^<\n]{0,80})</\1>", re.IGNORECASE,
)  # fmt: skip


_BOX: Final = re.compile(
    r"\b(?:verdict|judg(?:e)?ment|decision|grade|score|0|1)\b[^.\n]{0,40}\\boxed\{\W*\}|"
    r"(?:判断|结论|结果|评分|[01])[^。\n]{0,20}\\boxed\{\W*\}",
    re.IGNORECASE,
)
"""A box for the verdict."""
_ANY_TAG: Final = re.compile(r"<(\w{1,30})>([^<\n]{0,80})</\1>")


def _tag(words: Choice, text: str) -> str:
    """The tag of a reply: one that holds a value, or that has the name of a verdict."""
    if (named := _named_tag(text)) and not _ANY_TAG.search(text):
        return named
    holds = (m[1] for m in _ANY_TAG.finditer(text) if re.search(word(words.first), m[2]))
    return next(holds, "") or next((m[1] for m in _TAG.finditer(text)), "")


_NAMED_TAG: Final = re.compile(
    r"\b(?:in|inside|within|between|using|with) (?:the )?[`\"']?<(\w{1,30})>[`\"']?"
    r"(?:\s*(?:and )?</\1>)?[`\"']? tags?\b",
    re.IGNORECASE,
)
_THOUGHTS: Final = re.compile(r"think|reason|analy|expla|ration|scratch|thought", re.IGNORECASE)


def _named_tag(text: str) -> str:
    """The last tag that the prompt asks for by its name alone: ``in <answer> tags``."""
    names = [m[1] for m in _NAMED_TAG.finditer(text) if not _THOUGHTS.search(m[1])]
    return names[-1] if names else ""


_PLACEHOLDER: Final = re.compile(
    rf"\s*(?:\{{+|<|\[|【)(?:your |the |final )*(?:{VERDICT_LABEL.pattern})(?:\}}+|>|\]|】)\s*$",
    re.IGNORECASE,
)
"""What stands for the verdict in a format: ``Verdict: <your verdict>``."""


def _label(words: Choice, text: str) -> str:
    """The label of a reply: ``Decision:``; none where the prompt itself ends in it."""
    last = text.rstrip().rsplit("\n", 1)[-1]
    found = [(m, text[m.end() : m.end() + 80].split("\n", 1)[0]) for m in LABELLED.finditer(text)]
    offers = re.compile(rf"(?!\W*(?:is|are|does|if|when)\b).*{word(words.first)}", re.IGNORECASE)
    for pattern in (offers, _PLACEHOLDER):
        for match in (match for match, line in found if pattern.match(line)):
            label = match["label"] + ("：" if "：" in match[0] else ": ")
            completes = last.strip(" *#\"'").rstrip(":：").lower() == match["label"].lower()
            return "" if completes else label
    return ""
