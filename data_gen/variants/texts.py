"""Other forms of texts that are not parsed as a value, and hard negatives of texts."""

from __future__ import annotations

import random
import re
from typing import Final

from gradegpt.answers import units
from gradegpt.answers.words import TRENDS, UNCHANGED, any_of

from ..forms.write import HAN
from ..phrases import CLASSES, NO_OPTION_EN, NO_OPTION_ZH
from .edits import numeral_edits

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


_LONGEST: Final = 120
_CLASS_LONGEST: Final = 30
"""Longest text in which a word is replaced by another of its class, in characters."""
_PLAIN_VERB: Final = re.compile(
    r"不是|(?<![不就还只但可于])是(?!否|不)|不能|(?<![不可功])能(?![力量源否])"
)


def _read_opposites() -> dict[str, list[str]]:
    """For each word its opposites, the most similar first."""
    made: dict[str, list[str]] = {}
    for one, other, *between in TRENDS:
        for mine, theirs in (one.split("/"), other.split("/")), (other.split("/"), one.split("/")):
            for n, word in enumerate(mine):
                first = theirs[min(n, len(theirs) - 1)]
                made[word] = [first, *(w for w in theirs if w != first), *between]
    return made | {word: moved.split("/") for same, moved in UNCHANGED for word in same.split("/")}


_OPPOSITES: Final = _read_opposites()
_CLASS: Final = {w: line.split("/") for line in CLASSES for w in line.split("/")}
_OPPOSITES_RE, _CLASS_RE = any_of(_OPPOSITES), any_of(_CLASS)


def near_texts(rng: random.Random, text: str) -> list[str]:
    """The opposite trend, another word of the class, a negation, another number; may be empty."""
    if len(text) > _LONGEST or "\n" in text:
        return []
    made: list[str] = []
    found = _OPPOSITES_RE.findall(text)
    if found:
        # "First up, then down" has one opposite; "up" also has "unchanged".
        most = len(_OPPOSITES[found[0]]) if len(found) == 1 else 1
        made += [_reversed(text, n) for n in range(most)]
    elif len(text) <= _CLASS_LONGEST and len(named := _CLASS_RE.findall(text)) == 1:
        others = [w for w in _CLASS[named[0]] if w != named[0]]
        made += [text.replace(named[0], w) for w in rng.sample(others, min(4, len(others)))]
    return [*made, *_negated(text), *numeral_edits(rng, text, most=6)]


def _reversed(text: str, n: int) -> str:
    """Every trend word replaced by its opposite, so that "first up, then down" is reversed."""
    return _OPPOSITES_RE.sub(lambda m: _OPPOSITES[m[0]][n % len(_OPPOSITES[m[0]])], text)


def _negated(text: str) -> list[str]:
    """A sentence with a single verb, negated or with its negation removed."""
    for yes, no in ((" is not ", " is "), (" are not ", " are "), (" cannot ", " can ")):
        if text.count(yes) == 1:
            return [text.replace(yes, no)]
        if text.count(no) == 1 and " not " not in text and "n't" not in text:
            return [text.replace(no, yes)]
    found = _PLAIN_VERB.findall(text)
    if len(found) != 1:
        return []
    word = found[0]
    return [text.replace(word, word[1:] if word[0] == "不" else f"不{word}")]
