"""The parts of an answer, in order: other marks, separators and forms of each."""

from __future__ import annotations

import random
import re
from typing import Final, NamedTuple

from data_gen.forms import answers, atoms
from data_gen.forms.base import HAN, Answer
from gradegpt.answers.values import split_top

_MARK: Final = re.compile(
    r"(?:^|(?<=[\s;；,，。]))(?:[(（]\s*(?:\d|[ivx]{1,3}|[a-f]|[一二三四五])\s*[)）]|\d[)）]|[a-d]\.\s)\s*"
    r"|[①-⑨]\s*|第[一二三四五六]空\s*[:：]?\s*|(?:^|(?<=[\s;,]))(?:first|second|third)\s*:\s*"
    r"|(?<=[\d)\]a-z])(?:[(（]\s*(?:[2-9]|[b-f]|[ivx]{2,3}|[二三四五])\s*[)）])\s*"
)
_TRAIL: Final = re.compile(r"[\s,，;；。]*$")
_CIRCLED: Final = "①②③④⑤⑥⑦⑧⑨"
_ORDINALS: Final = ("first", "second", "third")


class Parts(NamedTuple):
    """The parts of an answer, and the text before each and after the last."""

    between: list[str]
    parts: list[str]
    after: str

    def rebuilt(self, parts: list[str]) -> str:
        """The same marks with other parts; fewer parts take the first marks."""
        marked = zip(self.between, parts, strict=False)
        return "".join(mark + part for mark, part in marked) + self.after


def split_parts(text: str) -> Parts | None:
    """``(1) 3; (2) 5`` or ``3; 5``, as marks and parts."""
    marks = [m for m in _MARK.finditer(text) if _depth(text[: m.start()]) <= 0]
    if len(marks) > 1 and not text[: marks[0].start()].strip():
        starts = [m.end() for m in marks]
        ends = [*(m.start() for m in marks[1:]), len(text)]
        return _cut(text, starts, ends)
    if marks:
        return None
    for pattern in (r"\n+", r"\s*[;；]\s*", r"\s*[,，、]\s*"):
        pieces = _separated(text, pattern)
        if len(pieces) > 1:
            return _cut(text, [a for a, _ in pieces], [b for _, b in pieces])
    return None


def _depth(text: str) -> int:
    """How many brackets stand open at the end: (1, 2) holds no mark of a part."""
    return sum(map(text.count, "([{（")) - sum(map(text.count, ")]}）"))


def _separated(text: str, pattern: str) -> list[tuple[int, int]]:
    """The spans between separators that stand in no bracket."""
    signs = {"\n"} if "n" in pattern else {*pattern} - {*"\\s*[]"}
    pieces, at = [], 0
    for piece in split_top(text, "".join(sorted(signs))):
        pieces.append((at, at + len(piece)))
        at += len(piece) + 1
    return pieces


def _cut(text: str, starts: list[int], ends: list[int]) -> Parts | None:
    between, parts, at = [], [], 0
    for start, end in zip(starts, ends, strict=True):
        piece = text[start:end]
        body = _TRAIL.sub("", piece).strip()
        if not body:
            return None
        offset = start + piece.index(body)
        between.append(text[at:offset])
        parts.append(body)
        at = offset + len(body)
    return Parts(between, parts, text[at:])


def same_parts(rng: random.Random, answer: Answer) -> list[str]:
    """The parts with other marks, separators, and forms of each."""
    found = split_parts(answer.text)
    if found is None:
        return _only_part(rng, answer)
    made = _marked(found.parts)
    for n, part in enumerate(found.parts):
        forms = _part_forms(rng, answer, part)
        for form in rng.sample(forms, min(3, len(forms))):
            other = [*found.parts[:n], form, *found.parts[n + 1 :]]
            made += [found.rebuilt(other), rng.choice(_marked(other))]
    drawn = [rng.choice([p, *_part_forms(rng, answer, p)]) for p in found.parts]
    return [*made, *_marked(drawn)[:3]]


def _only_part(rng: random.Random, answer: Answer) -> list[str]:
    """One part where others are missing, with its mark."""
    mark = _MARK.match(answer.text)
    lead, part = (mark[0], answer.text[mark.end() :]) if mark else ("", answer.text)
    forms = answers.same_part(rng, answer.part(part)) if part else []
    return [lead + form for form in forms]


def _part_forms(rng: random.Random, answer: Answer, part: str) -> list[str]:
    forms = answers.same_part(rng, answer.part(part))
    return [f for f in forms if not {",", "，", ";", "；", "、", "\n"} & ({*f} - {*part})]


def _marked(parts: list[str]) -> list[str]:
    numbered = list(enumerate(parts, start=1))
    if len(parts) > len(_CIRCLED):
        return []
    made = [
        "; ".join(f"({n}) {p}" for n, p in numbered), "".join(f"（{n}）{p}" for n, p in numbered),
        " ".join(f"({n}) {p}" for n, p in numbered), "；".join(f"({n}){p}" for n, p in numbered),
        " ".join(f"{_CIRCLED[n - 1]} {p}" for n, p in numbered),
        "\n".join(f"({n}) {p}" for n, p in numbered), "\n".join(f"{n}) {p}" for n, p in numbered),
        "，".join(f"第{'一二三四五六七八九'[n - 1]}空{p}" for n, p in numbered), "\n".join(parts),
    ]  # fmt: skip
    if not any({";", "；"} & {*p} for p in parts):
        made += ["; ".join(parts), "；".join(parts)]
    if len(parts) <= len(_ORDINALS) and not HAN.search("".join(parts)):
        told = zip(_ORDINALS, parts, strict=False)
        made.append(", ".join(f"{name}: {p}" for name, p in told))
    return made


def near_parts(rng: random.Random, answer: Answer) -> list[str]:
    """Another part in one place, two parts exchanged, or the last one missing."""
    found = split_parts(answer.text)
    if found is None:
        return atoms.near(rng, answer)
    parts = found.parts
    made: list[str] = []
    made += [
        found.rebuilt([*parts[:n], parts[n + 1], parts[n], *parts[n + 2 :]])
        for n in range(len(parts) - 1)
    ]
    for n, part in enumerate(parts):
        others = answers.near_part(rng, answer.part(part))[:4]
        made += [found.rebuilt([*parts[:n], other, *parts[n + 1 :]]) for other in others]
    missing = _TRAIL.sub("", found.between[0] + found.rebuilt(parts[:-1])[len(found.between[0]) :])
    return [*made, missing]
