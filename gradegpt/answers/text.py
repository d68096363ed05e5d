"""Normalise spelling: ``tidy`` strips the markup of a response, ``fold`` normalises an answer.

``tidy`` preserves lengths, so a span of its result is a span of the response: traditional
characters become simplified; hidden text, HTML tags, entities, and the verdict tags and frames of a
judge, which a response must not contain, become spaces. ``fold`` and ``plain`` change lengths but
not the content of an answer.
"""

from __future__ import annotations

import html
import re
import unicodedata
from functools import cache, lru_cache
from typing import Final

from gradegpt.answers.hidden import visible

_HAN = re.compile(r"[\u3400-\u9fff]")
_TAG = re.compile(
    r"</?(?:p|div|span|b|strong|i|em|u|br|li|ul|ol|font|center|h[1-6]|table|tr|td|th|tbody"
    r"|yes|no|response|reference|question|context)"
    r"(?:\s[^<>]{0,200})?/?>",
    re.IGNORECASE,
)
_LINES: Final = ("p", "/p", "di", "/di", "br", "li", "/li", "tr", "h")
_ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}\d{0,2}|#\d{2,4});")
_RAISED = re.compile(r"(?<=[A-Za-z0-9)])<(su[pb])>([-+−]?\w{1,4})</\1>(?!\w)", re.IGNORECASE)
"""A power or an index in HTML."""
_PICTURE = re.compile("[\U0001f300-\U0001faff\u2705\u274c\u2b55\ufe0f]+")
_DOUBLED = re.compile(r"\\\\(?=[A-Za-z()\[\]])")
"""A backslash that was escaped twice."""


def simplified(text: str) -> str:
    """The text with its traditional characters simplified one by one, of the same length."""
    if text.isascii() or _HAN.search(text) is None:
        return text
    signs, forms = _traditional()
    return text.translate(forms) if signs.search(text) else text


@cache
def _traditional() -> tuple[re.Pattern[str], dict[int, str]]:
    """The traditional characters, and the simplified form of each by OpenCC."""
    from opencc import OpenCC

    # 乾 and 徵 are simplified as well: 乾隆, 宫商角徵羽
    signs = [chr(code) for code in range(0x3400, 0xA000) if chr(code) not in "乾徵"]
    forms = OpenCC("t2s").convert("\n".join(signs)).split("\n")
    made = {a: b for a, b in zip(signs, forms, strict=True) if a != b}
    return re.compile(f"[{''.join(made)}]"), str.maketrans(made)


def tidy(text: str) -> str:
    """``text`` without what is hidden, HTML and traditional characters, of the same length."""
    text = visible(text)
    if "\\\\(" in text or "\\\\[" in text:
        text = _DOUBLED.sub(r" \\", text)
    if not text.isascii() and re.search(r"[^\W_]", text):
        text = _PICTURE.sub(lambda picture: " " * len(picture[0]), text)
    if "<" in text:
        text = _RAISED.sub(_raised, text)
        text = _TAG.sub(_blank, text)
    if "&" in text:
        text = _ENTITY.sub(_sign, text)
    return _BELOW_ZERO.sub(" -", simplified(text))


def _blank(match: re.Match[str]) -> str:
    breaks = match[0][1:].lower().startswith(_LINES)
    return ("\n" if breaks else " ") + " " * (len(match[0]) - 1)


def _sign(match: re.Match[str]) -> str:
    sign = html.unescape(match[0])
    return (sign if sign.isprintable() else " ").ljust(len(match[0]))


def _raised(match: re.Match[str]) -> str:
    return f"{'^' if match[1].lower() == 'sup' else '_'}{{{match[2]}}}".ljust(len(match[0]))


# --- normalisation ------------------------------------------------------------------------------

_SPACING = re.compile(
    r"(?<!\\)\\(?:(?:left|right|displaystyle|quad|qquad|limits|big|Big)(?![a-zA-Z])|[,;!: ])"
)
_WRAPPER = re.compile(
    r"\\(?:text|textbf|textit|mathrm|mathbf|mathbb|mathit|boldsymbol|operatorname|bm|mbox)"
    r"\s*\{((?:[^{}]|\{[^{}]*\})*)\}"
)
_ORDINAL = re.compile(
    r"(?<=\d)\s*\^\s*\{?\s*(?:\\(?:mathrm|text|rm|textrm)\b\s*)?\{?\s*(st|nd|rd|th)\s*\}{0,2}"
)
_DEGREES = re.compile(
    r"\^\s*\{?\s*\\(?:text|mathrm|rm)\s*\{\s*o\s*\}\s*\}?|\^\s*\{?\s*\\circ\s*\}?|\\circ(?![a-zA-Z])|\\degree"
)
_GREEK = re.compile(
    r"\\((?:var)?(?:alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|rho|sigma|tau"
    r"|upsilon|phi|chi|psi|omega)|Gamma|Delta|Theta|Lambda|Xi|Sigma|Phi|Psi|Omega)(?![a-zA-Z])[ ]?"
)
_UNICODE_NAMES: Final = {"lambda": "LAMDA", "Lambda": "LAMDA"}
"""Letters whose Unicode name differs from the command."""
_SYMBOLS: Final = {
    r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\cfrac": r"\frac",
    r"\leqslant": "≤", r"\leq": "≤", r"\le ": "≤", r"\geqslant": "≥", r"\geq": "≥", r"\ge ": "≥",
    r"\neq": "≠", r"\times": "×", r"\cdot": "·", r"\div": "÷", r"\pi": "π", r"\infty": "∞",
    r"\cupdot": "∪", r"\cup": "∪", r"\cap": "∩", r"\in ": "∈", r"\in(": "∈(",
    r"\in[": "∈[", r"\pm": "±", r"\%": "%", r"\$": "$",
    r"\langle": "(", r"\rangle": ")", r"\{": "{", r"\}": "}", r"\lbrace": "{", r"\rbrace": "}",
}  # fmt: skip
SYSTEM = re.compile(
    r"(?:\\left\s*\\\{\s*\\begin\{(?:array|aligned)\}(?:\{[lcr]+\})?|\\begin\{cases\})"
    r"(?P<rows>[^&]*?)\\end\{\w+\}(?:\s*\\right\s*\.)?"
)
"""A system of equations or its solution, which has no columns."""
_SHORT_FRACTION = re.compile(r"\\frac\s*(?:(\d)|\{(\d+)\})\s*(?:(\d)|\{(\d+)\})")
CIRCLED: Final = "".join(map(chr, range(0x2460, 0x2474)))
"""① to ⑳, which NFKC would turn into digits."""
_FOLDED: Final = str.maketrans("．。、，；：−ϵϕϑ–—‘’", "..,,;:-εφθ--''") | {
    ord(sign): f"({n})" for n, sign in enumerate(CIRCLED, start=1)
}
_SUPERSCRIPT = re.compile("[⁺⁻]?[⁰¹²³⁴-⁹ⁿˣʸᵏᵐᵃᵇᵗ]+")
_MIXED = re.compile(r"(?<=\d)(?=[¼-¾⅐-⅞])")
_IN_CHINESE = re.compile(r"\d\s*[又比]")
_AND_A_PART = re.compile(r"(?<=\d)\s*又\s*(?=\d+\s*/|\\[dt]?frac)")
_RATIO_IN_WORDS = re.compile(r"(?<=\d)\s*比\s*(?=\d)")
_BELOW_ZERO = re.compile(r"零下(?=\s?\d)")
_FOLDABLE = re.compile(r"[^\x00-\x7f]|[\\$*~]|\{,")
"""Anything that ``fold`` could change; most short answers have none of it."""


def _power(match: re.Match[str]) -> str:
    digits = unicodedata.normalize("NFKC", match[0]).replace("−", "-")
    return f"^{digits}" if len(digits) == 1 else f"^{{{digits}}}"


@lru_cache(maxsize=16384)
def fold(text: str) -> str:
    """NFKC (full width to half), without LaTeX spacing and fonts, symbols as Unicode."""
    if _FOLDABLE.search(text) is None:
        return text
    text = _SUPERSCRIPT.sub(_power, simplified(text))  # before NFKC, which would turn 10² into 102
    text = _BELOW_ZERO.sub("-", _MIXED.sub(" ", text))
    text = (
        _AND_A_PART.sub(" ", _RATIO_IN_WORDS.sub(":", text)) if _IN_CHINESE.search(text) else text
    )
    text = unicodedata.normalize("NFKC", text.translate(_FOLDED)).replace("\u2044", "/")
    text = text.replace("{,}", ",").replace("$", " ").replace("**", "").replace("~", " ")
    return _without_latex(text) if "\\" in text else text


def _letter(match: re.Match[str]) -> str:
    r"""The Greek letter of a command; that of ``\varepsilon`` and ``\epsilon`` is the same."""
    name = match[1].removeprefix("var")
    case = "CAPITAL" if name[0].isupper() else "SMALL"
    return unicodedata.lookup(f"GREEK {case} LETTER {_UNICODE_NAMES.get(name, name)}".upper())


def _in_a_row(system: re.Match[str]) -> str:
    """The rows of a system of equations, or of its solution, as a list."""
    return ", ".join(row.strip(" ,;，；\n") for row in system["rows"].split(r"\\"))


def _without_latex(text: str) -> str:
    text = SYSTEM.sub(_in_a_row, text)
    text = _ORDINAL.sub(r"\1", _GREEK.sub(_letter, text))
    for _ in range(3):
        text = _WRAPPER.sub(r"\1", text)
    text = _DEGREES.sub("°", text)
    for latex, symbol in _SYMBOLS.items():
        text = text.replace(latex, symbol)
    text = _SHORT_FRACTION.sub(r"\\frac{\1\2}{\3\4}", text)
    return _SPACING.sub(" ", text).replace("\\(", "").replace("\\)", "")


_APART = re.compile(r"\d\s+\d")
_BLANKS = re.compile(r"(?<!\d)\s+|\s+(?!\d)|(?<=\d)\s+(?=\d{3}(?!\d))")
"""All spaces but those that separate two numbers: 1 000 is one number, 1 05 is two."""


@lru_cache(maxsize=16384)
def plain(text: str) -> str:
    """``fold`` without spaces, case and final punctuation; equal results mean the same text."""
    text = fold(text)
    bare = _BLANKS.sub("", text) if _APART.search(text) else "".join(text.split())
    return bare.casefold().strip(".,;:!'\"`*")
