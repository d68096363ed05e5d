"""Equivalent forms of texts that are not parsed as a value, and what the question asks for."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers import units
from gradegpt.answers.write import HAN

from ..lexicon import NO_OPTION_EN, NO_OPTION_ZH

REACTION: Final = re.compile(r"[A-Z][a-z]?(?:[₀-₉]|_\{?\d).*(?:=|→|->|\\to|arrow)")
_ARROW: Final = re.compile(r"\s*(?:=+|→|⟶|-+>|\\(?:right|longright)arrow|\\to(?![a-z]))\s*")
_INDICES: Final = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_RAISED: Final = str.maketrans({"²": "^2", "³": "^3"})
_POWER: Final = re.compile(r"\^(?:\{([23])\}|([23])(?!\d))")
_NO_TEX: Final = re.compile(r"[\u3400-\u9fff$√]|(?<!\\)%|(?<![\\A-Za-z{])[A-Za-z]{4,}|\d\*")
_MAX: Final = 120
_NAMES: Final = "|".join(
    re.escape(name)
    for name in sorted((n for u in units.UNITS for ns in u[2:] for n in ns), key=len, reverse=True)
)
_COUNTERS: Final = "个只人本支张棵岁次块名条页辆件套种倍角台盒箱袋瓶杯组排头枚题篇层户"
_ASKED_ZH: Final = re.compile(
    rf"(?:多少|几)(?P<unit>{_NAMES}|[{_COUNTERS}])(?![\u3400-\u9fff]?分之)"
)
_ASKED_EN: Final = re.compile(
    r"\b[Hh]ow (?:many|much) (?P<unit>(?!(?:less|times|plus|this|is|was|does|has|its)\b)"
    r"[a-z]{2,12}s)\b"
    rf"|\bin (?P<symbol>(?=[a-z/²³]{{2}}|[mLgs°][.?])(?:{_NAMES}))(?=[.?,;)\s])"
)
_WHEN: Final = re.compile(r"\b(?:what|which) year\b|\bwhen\b|哪一?年|何时|什么时候", re.IGNORECASE)


def is_year(text: str, question: str) -> bool:
    """Whether the answer is a year that the question asks for."""
    return bool(re.fullmatch(r"1\d\d\d|20\d\d", text) and _WHEN.search(question))


def unit_in_question(question: str) -> str:
    """The unit that the question asks for; empty where it asks for none or for several."""
    asked = [m["unit"] for m in _ASKED_ZH.finditer(question)]
    asked += [m["unit"] or m["symbol"] for m in _ASKED_EN.finditer(question)]
    return asked[0] if len({*asked}) == 1 else ""


def in_math(text: str) -> str:
    """The text between dollars; unchanged if it has words or code in it."""
    return text if _NO_TEX.search(text) else f"${text}$"


def rewritten(text: str) -> list[str]:
    """Forms of a reaction, ratio, matrix, unparsed formula, or of "none of the options"."""
    if text in (*NO_OPTION_ZH, *NO_OPTION_EN):
        return [*NO_OPTION_ZH, *NO_OPTION_EN]
    if len(text) > _MAX or HAN.search(text):
        return []
    if REACTION.search(text):
        return _reaction(text)
    if "matrix}" in text:
        return _matrix(text)
    terms = re.split(r"\s*[:：∶]\s*", text)
    if len(terms) > 1 and all(re.fullmatch(r"\d+(?:\.\d+)?", term) for term in terms):
        return [joint.join(terms) for joint in (":", " : ", "∶", "：")]
    return _respaced(text)


def _respaced(text: str) -> list[str]:
    """Forms with dollars, with powers as ``^`` or superscripts, and with other spacing."""
    made = [in_math(text), text.translate(_RAISED)]
    made.append(_POWER.sub(lambda m: "²" if "2" in m[0] else "³", text))
    made.append(re.sub(r"(?<=[\w)²³])\s*([-+=])\s*(?=[\w(√\\])", r" \1 ", text))
    if not re.search(r"[A-Za-z]\s+[A-Za-z\d]", text):
        made.append(re.sub(r"(?<=[\w)²³])\s+([-+=])\s+", r"\1", text))
    return [*made, in_math(made[1])]


def _matrix(text: str) -> list[str]:
    """Forms with other brackets, and with other spacing between the entries."""
    other = ("p", "b") if "pmatrix" in text else ("b", "p")
    made = [text, text.replace(f"{other[0]}matrix", f"{other[1]}matrix")]
    made += [re.sub(r"\s*(\\\\|&)\s*", r"\1", m) for m in made]
    return [*made, *(in_math(m) for m in made)]


def _reaction(text: str) -> list[str]:
    """Forms with another arrow, other indices, or the reagents reversed; the sides are kept."""
    found = _ARROW.search(text)
    if found is None or len(_ARROW.findall(text)) > 1:
        return []
    before, after = text[: found.start()].strip(), text[found.end() :].strip()
    turned = " + ".join(re.split(r"\s*\+\s*", before)[::-1])
    arrows = ("=", " = ", "→", " → ", " -> ")
    made = [f"{left}{arrow}{after}" for arrow in arrows for left in (before, turned)]
    flat = [m.translate(_INDICES) for m in made[:6:2]]
    latex = re.sub(r"([₀-₉])", lambda m: f"_{m[1].translate(_INDICES)}", f"{before} = {after}")
    arrowed = latex.replace(" = ", " \\rightarrow ")
    return [*made, *flat, f"${arrowed}$", f"${latex}$"]
