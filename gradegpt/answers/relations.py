"""Relations between named things: AB∥CD, l⊥α, △ABC≌△DEF, a∈A, A⊂B, AB=CD."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from gradegpt.answers.text import fold

_SPELLINGS: Final = {
    "//": "∥", "\\parallel": "∥", "‖": "∥", "\\perp": "⊥", "\\cong": "≌", "≅": "≌",
    "\\sim": "∽", "\\notin": "∉", "\\in": "∈", "\\subseteq": "⊆", "\\subset": "⊂",
    "\\triangle": "△", "\\angle": "∠",
}  # fmt: skip
_SYMMETRIC: Final = "∥⊥≌∽=≠"
_EXCLUSIVE: Final = ({"∥", "⊥"}, {"∈", "∉"}, {"=", "≠"})
"""Signs that cannot both hold between the same things."""
_THING: Final = r"[△∠]?(?:[A-Z]{1,4}|[a-zα-ω])'?"
_RELATION: Final = re.compile(rf"({_THING})([∥⊥≌∽∈∉⊂⊆=≠])({_THING})")
_SIGN: Final = re.compile(r"[∥⊥≌≅∽∈∉⊂⊆=≠‖]|//|\\")


class Named(NamedTuple):
    """Two things and the sign between them."""

    left: str
    sign: str
    right: str


def relation(text: str) -> Named | None:
    """The relation that the whole text is; None for any other text, equations of numbers too."""
    if len(text) > 60 or _SIGN.search(text) is None:
        return None
    text = "".join(fold(text).split()).strip(".,;")
    for spelling, sign in _SPELLINGS.items():
        text = text.replace(spelling, sign)
    match = _RELATION.fullmatch(text)
    if match is None:
        return None
    found = Named(match[1], match[2], match[3])
    equation = found.sign in "=≠" and min(len(found.left), len(found.right)) < 2
    return None if equation else found


def same(one: Named, other: Named) -> bool | None:
    """Whether the two state the same; None where neither is shown, as for AB∥CD and AB=CD."""
    alike = _things(one) == _things(other)
    if one.sign == other.sign:
        if alike:
            return True
        return False if one.sign in "∈∉" and sorted(one) == sorted(other) else None
    return False if alike and {one.sign, other.sign} in _EXCLUSIVE else None


def _things(one: Named) -> object:
    """What is compared: corresponding vertices of triangles, points of a segment unordered."""
    if one.left[0] == one.right[0] == "△" and len(one.left) == len(one.right):
        return frozenset(map(frozenset, zip(one.left[1:], one.right[1:], strict=True)))
    sides = [
        "".join(sorted(side)) if re.fullmatch("[A-Z]{2}", side) else side
        for side in (one.left, one.right)
    ]
    return sorted(sides) if one.sign in _SYMMETRIC else sides
