"""Text of a response that no reader sees, which must not hold an answer.

HTML comments, elements that are not shown, Markdown's comments and LaTeX's phantoms become spaces.
Zero-width characters move to the end of their word, so that they divide no number and no "not".
What is in code is shown, and stays. Lengths are preserved.
"""

from __future__ import annotations

import re
from typing import Final

_HIDDEN: Final = re.compile(
    r"(?P<code>```(?s:.*?)(?:```|\Z)|`[^`\n]{1,200}`)"
    # A comment without its end hides the rest of the text; "<!-->" is a whole comment.
    r"|<!--(?:-?>|(?s:.*?)(?:--!?>|\Z))"
    r"|<(?P<unshown>script|style|template|title|noscript)\b(?s:.*?)(?:</(?P=unshown)\s*>|\Z)"
    r"|<(?P<tag>[a-z][a-z0-9]{0,15})(?=\s)(?=[^<>]{0,300}?(?:\shidden\b|display\s*:\s*none"
    r"|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0[\s;\"']))[^<>]{1,300}>"
    r"(?s:.*?)(?:</(?P=tag)\s*>|\Z)"
    r"|^ {0,3}\[(?://|comment|#)[^\]\n]{0,40}\]:[^\n]*"
    r"|\\[hv]?phantom\s*\{(?:[^{}]|\{[^{}]{0,200}\}){0,300}\}",
    re.IGNORECASE | re.MULTILINE,
)
_THOUGHT: Final = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_ZERO_WIDTH: Final = dict.fromkeys(
    [0xAD, *range(0x200B, 0x2010), *range(0x2060, 0x2065), 0xFEFF], ""
)
_WORD: Final = re.compile(r"[^\s,.;:!?，。；：！？、]+")


def after_thought(text: str) -> int:
    """Where the reply of a reasoning model begins, after what it thinks (``<think>…</think>``).

    Its beginning may be missing, since some chat templates write it. The length of the text if the
    thought has no end; 0 where the text does not begin with one.
    """
    tags = [*_THOUGHT.finditer(text)] if "think" in text else []
    begun = bool(tags) and not tags[0][1] and not text[: tags[0].start()].strip()
    ends = [tag.end() for tag in tags if tag[1]]
    if begun:
        return ends[-1] if ends else len(text)
    return ends[0] if ends and tags[0][1] else 0


def visible(text: str) -> str:
    """``text`` with spaces for what is not shown, of the same length."""
    if "<" in text or "]:" in text or "phantom" in text:
        text = _HIDDEN.sub(
            lambda found: found[0] if found["code"] else re.sub(r"[^\n]", " ", found[0]), text
        )
    if not text.isascii() and any(chr(sign) in text for sign in _ZERO_WIDTH):
        text = _WORD.sub(lambda word: word[0].translate(_ZERO_WIDTH).ljust(len(word[0])), text)
    return text
