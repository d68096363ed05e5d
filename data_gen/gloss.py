"""The English gloss of a Chinese answer sentence, without a teacher.

Answer sentences are few in kind ("所以答案是…", "故选…"), and their word order is close to English,
so the longest matches of a phrase table render them, mathematics kept verbatim. A sentence with a
phrase that the table lacks is not rendered at all: half a gloss would teach a model to make things
up.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

TABLE: Final = Path(__file__).parent / "text" / "gloss.tsv"


def _read_table() -> dict[str, str]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("\t") for line in lines if line and not line.startswith("#"))
    return {chinese: english for chinese, _, english in pairs}


_PHRASES: Final = _read_table()
_LONGEST: Final = max(map(len, _PHRASES))
_PUNCTUATION: Final = str.maketrans("，。；：、！？（）【】“”．", ',.;:,!?()[]"".')
_CJK = re.compile(r"[\u3400-\u9fff]")
_MATH = re.compile(r"\$[^$]*\$|\\\(.*?\\\)|\\boxed\{.*\}")


def render_gloss(sentence: str) -> str | None:
    """The sentence in English, or none where a phrase is not known."""
    pieces: list[str] = []
    position = 0
    for math in _MATH.finditer(sentence):
        words = _words(sentence[position : math.start()])
        if words is None or _CJK.search(math[0]):
            return None
        pieces += [*words, math[0]]
        position = math.end()
    words = _words(sentence[position:])
    return None if words is None else _polish(" ".join([*pieces, *words]))


def _words(text: str) -> list[str] | None:
    pieces: list[str] = []
    position = 0
    while position < len(text):
        if not _CJK.match(text, position):
            end = next((m.start() for m in [_CJK.search(text, position)] if m), len(text))
            pieces.append(text[position:end].translate(_PUNCTUATION).strip())
            position = end
            continue
        for length in range(min(_LONGEST, len(text) - position), 0, -1):
            if (phrase := text[position : position + length]) in _PHRASES:
                pieces.append(_PHRASES[phrase])
                position += length
                break
        else:
            return None
    return pieces


def _polish(text: str) -> str:
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"\s+([,.;:!?)\]])", r"\1", text)
    text = re.sub(r"([(\[])\s+", r"\1", text).strip()
    return text[:1].upper() + text[1:]
