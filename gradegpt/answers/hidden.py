"""Text of a response that no reader sees, which must not hold an answer.

HTML comments, elements that are not shown, Markdown's comments and LaTeX's phantoms become spaces.
Zero-width characters move to the end of their word, so that they divide no number and no "not".
What is in code is shown, and stays. Lengths are preserved.
"""

from __future__ import annotations

import re

_CODE = r"(?P<code>```(?s:.*?)(?:```|\Z)|`[^`\n]{1,200}`)"
# A comment without its end hides the rest of the text; "<!-->" is a whole comment.
_COMMENT = r"<!--(?:-?>|(?s:.*?)(?:--!?>|\Z))"
_UNSHOWN = r"<(?P<unshown>script|style|template|title|noscript)\b(?s:.*?)(?:</(?P=unshown)\s*>|\Z)"
_INVISIBLE = (
    r"<(?P<tag>[a-z][a-z0-9]{0,15})(?=\s)(?=[^<>]{0,300}?(?:\shidden\b|display\s*:\s*none"
    r"|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0[\s;\"']))[^<>]{1,300}>"
    r"(?s:.*?)(?:</(?P=tag)\s*>|\Z)"
)
_MARKDOWN = r"^ {0,3}\[(?://|comment|#)[^\]\n]{0,40}\]:[^\n]*"
_PHANTOM = r"\\[hv]?phantom\s*\{(?:[^{}]|\{[^{}]{0,200}\}){0,300}\}"
_HIDDEN = re.compile(
    "|".join((_CODE, _COMMENT, _UNSHOWN, _INVISIBLE, _MARKDOWN, _PHANTOM)),
    re.IGNORECASE | re.MULTILINE,
)
_THINK = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_ZERO_WIDTH = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_WORD = re.compile(r"[^\s,.;:!?，。；：！？、]+")


def after_thought(text: str) -> int:
    """Where the reply of a reasoning model begins, after what it thinks (``<think>…</think>``).

    Its beginning may be missing, since some chat templates write it. The length of the text if the
    thought has no end; 0 where the text does not begin with one.
    """
    if "think" not in text:
        return 0
    begun = _THINK.match(text) is not None
    ends = [end.end() for end in _THOUGHT.finditer(text)]
    if not ends:
        return len(text) if begun else 0
    return ends[-1] if begun else 0 if _THINK.search(text, 0, ends[0]) else ends[0]


def visible(text: str) -> str:
    """``text`` with spaces for what is not shown, of the same length."""
    if "<" in text or "]:" in text or "phantom" in text:
        text = _HIDDEN.sub(_blank, text)
    if not text.isascii() and _ZERO_WIDTH.search(text):
        text = _WORD.sub(_joined, text)
    return text


def _blank(match: re.Match[str]) -> str:
    return match[0] if match["code"] else re.sub(r"[^\n]", " ", match[0])


def _joined(match: re.Match[str]) -> str:
    return _ZERO_WIDTH.sub("", match[0]).ljust(len(match[0]))
