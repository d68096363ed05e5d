"""Free text: what is trivially the same, and a plain negation; all else is not to be shown."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.rules.compare.base import Comparison
from gradegpt.rules.normalise import plain

_OPPOSITES: Final = (
    ("增大", "减小"), ("增加", "减少"), ("升高", "降低"), ("上升", "下降"), ("变大", "变小"),
    ("偏大", "偏小"), ("偏高", "偏低"), ("顺时针", "逆时针"), ("吸热", "放热"), ("大于", "小于"),
    ("正反应", "逆反应"), ("左", "右"), ("超重", "失重"),
    ("increase", "decrease"), ("increases", "decreases"), ("clockwise", "counterclockwise"),
    ("greater", "less"), ("higher", "lower"), ("larger", "smaller"), ("left", "right"),
    ("up", "down"), ("positive", "negative"),
)  # fmt: skip
_OPPOSITE: Final = {a: b for x, y in _OPPOSITES for a, b in ((x, y), (y, x))}
_FILLER = re.compile(r"^(?:the|an?)(?=[^a-z])|[\s\"'“”‘’《》.。,，;；:：]", re.IGNORECASE)


def compare_text(reference: str, answer: str) -> Comparison:
    """The same words but for articles, quotes and punctuation; or a word against its opposite."""
    wanted, given = _bare(reference), _bare(answer)
    if wanted and wanted == given:
        return Comparison(True, "text:same-words")
    if _OPPOSITE.get(wanted) == given:
        return Comparison(False, "text:opposite")
    return Comparison(None, "text:not-shown")


def _bare(text: str) -> str:
    return plain(_FILLER.sub(lambda m: "" if m[0].strip().isalpha() else " ", text.strip()))
