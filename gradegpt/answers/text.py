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
_PRIMES = re.compile(r"\^\s*\{?\s*((?:\\prime\s*)+)\}?")
_LETTERS: Final = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma \
tau upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega"
)
_GREEK: Final = {
    name: unicodedata.lookup(
        f"GREEK {'SMALL' if name.islower() else 'CAPITAL'} LETTER "
        + name.upper().replace("LAMBDA", "LAMDA")
    )
    for name in _LETTERS.split()
}
"""Greek letters; that of ``varepsilon`` and ``epsilon`` is the same."""
_TABLE: Final = r"""
    leqslant=≤ leq=≤ le=≤ geqslant=≥ geq=≥ ge=≥ neq=≠ ne=≠ times=× cdot=· div=÷ pi=π infty=∞
    cupdot=∪ cup=∪ cap=∩ in=∈ notin=∉ pm=± %=% $=$ langle=( rangle=) {={ }=} lbrace={ rbrace=} (= )=
    perp=⊥ parallel=∥ cong=≌ sim=~ neg=¬ lnot=¬ land=∧ wedge=∧ lor=∨ vee=∨ subset=⊂ subseteq=⊆
    supset=⊃ supseteq=⊇ equiv=≡ angle=∠ triangle=△ forall=∀ exists=∃ because=∵ therefore=∴
    setminus=∖ dfrac=\frac tfrac=\frac cfrac=\frac
"""
_SPACES: Final = "left right displaystyle quad qquad limits big Big bigl bigr , ; !"
_SIGNS: Final = dict(pair.split("=", 1) for pair in _TABLE.split()) | dict.fromkeys(
    (*_SPACES.split(), ":", " "), " "
)
r"""The sign that each command of LaTeX stands for; ``\,`` and its like are spaces."""
_COMMAND = re.compile(r"\\([A-Za-z]+)( ?)|(?<!\\)\\([%${}(),;!: ])")
_SAME_SIGNS: Final = str.maketrans(
    "．。、，；：−ϵϕϑ–—‘’′⟂∼∽≅⩽≦⩾≧∣⋅∙∕⁄", "..,,;:-εφθ--'''⊥~~≌≤≤≥≥|··//"
)
"""Spellings of one sign; every other sign is another one."""
SYSTEM = re.compile(
    r"(?:\\left\s*\\\{\s*\\begin\{(?:array|aligned)\}(?:\{[lcr]+\})?|\\begin\{cases\})"
    r"(?P<rows>[^&]*?)\\end\{\w+\}(?:\s*\\right\s*\.)?"
)
"""A system of equations or its solution, which has no columns."""
_SHORT_FRACTION = re.compile(r"\\frac\s*(?:(\d)|\{(\d+)\})\s*(?:(\d)|\{(\d+)\})")
CIRCLED: Final = "".join(map(chr, range(0x2460, 0x2474)))
"""① to ⑳, which NFKC would turn into digits."""
_FOLDED: Final = _SAME_SIGNS | {ord(sign): f"({n})" for n, sign in enumerate(CIRCLED, start=1)}
_SUPERSCRIPT = re.compile("[⁺⁻]?[⁰¹²³⁴-⁹ⁿˣʸᵏᵐᵃᵇᵗ]+")
_MIXED = re.compile(r"(?<=\d)(?=[¼-¾⅐-⅞])")
_IN_CHINESE = re.compile(r"\d\s*[又比]")
_AND_A_PART = re.compile(r"(?<=\d)\s*又\s*(?=\d+\s*/|\\[dt]?frac)")
_RATIO_IN_WORDS = re.compile(r"(?<=\d)\s*比\s*(?=\d)")
_BELOW_ZERO = re.compile(r"零下(?=\s?\d)")
_TIE = re.compile(r"(?<=[\d}$.])~(?=[A-Za-z\\$])|(?<=[a-z]\{)~|~(?=\\)|(?<=})~")
"""The ``~`` of LaTeX that is a space, as in 3~cm; elsewhere it negates, or means "about"."""
_PARALLEL = re.compile(r"(?<=[A-Za-z])\s?//\s?(?=[A-Za-zα-ω])")
_FOLDABLE = re.compile(r"[^\x00-\x7f]|[\\$*~]|\{,|//")
"""Anything that ``fold`` could change; most short answers have none of it."""


def _power(match: re.Match[str]) -> str:
    digits = unicodedata.normalize("NFKC", match[0]).replace("−", "-")
    return f"^{digits}" if len(digits) == 1 else f"^{{{digits}}}"


@lru_cache(maxsize=16384)
def fold(text: str) -> str:
    """NFKC (full width to half), without LaTeX spacing and fonts, symbols as Unicode."""
    if _FOLDABLE.search(text) is None:
        return text
    if not text.isascii():
        # Powers before NFKC, which would turn 10² into 102.
        text = _SUPERSCRIPT.sub(_power, simplified(text))
        text = _BELOW_ZERO.sub("-", _MIXED.sub(" ", text))
        if _IN_CHINESE.search(text):
            text = _AND_A_PART.sub(" ", _RATIO_IN_WORDS.sub(":", text))
        text = unicodedata.normalize("NFKC", text.translate(_FOLDED)).translate(_SAME_SIGNS)
    text = _TIE.sub(" ", text) if "~" in text else text
    text = text.replace("{,}", ",").replace("$", " ").replace("**", "")
    text = _PARALLEL.sub("∥", text) if "//" in text else text
    return _without_latex(text) if "\\" in text else text


def _in_a_row(system: re.Match[str]) -> str:
    """The rows of a system of equations, or of its solution, as a list."""
    return ", ".join(row.strip(" ,;，；\n") for row in system["rows"].split(r"\\"))


def _without_latex(text: str) -> str:
    text = _ORDINAL.sub(r"\1", SYSTEM.sub(_in_a_row, text))
    text = _PRIMES.sub(lambda m: "'" * m[1].count("prime"), _DEGREES.sub("°", text))
    text = _COMMAND.sub(_symbol, text)
    for _ in range(3):
        text = _WRAPPER.sub(r"\1", text)
    return _SHORT_FRACTION.sub(r"\\frac{\1\2}{\3\4}", text)


def _symbol(match: re.Match[str]) -> str:
    """What a command stands for; itself where unknown."""
    name, space = match[1] or match[3], match[2] or ""
    letter = _GREEK.get(name.removeprefix("var"))
    return letter or _SIGNS.get(name, "\\" + name) + space


_APART = re.compile(r"\d\s+\d")
_BLANKS = re.compile(r"(?<!\d)\s+|\s+(?!\d)|(?<=\d)\s+(?=\d{3}(?!\d))")
"""All spaces but those that separate two numbers: 1 000 is one number, 1 05 is two."""
_TAIL: Final = 40
"""Characters in which the end is searched for, so that a long row of signs takes no time."""
_END = re.compile(
    r"(?:(?<![\d)'])(?<!(?<![A-Za-zα-ω])[A-Za-zα-ω])(?:!|(?<![A-Z])['\"]+)|[.,;:`*])+\Z"
)
"""What may be left out at the end; not the prime of f' or AB', nor the factorial of n!."""
_QUOTED = re.compile(r"(['\"`*“])(?P<inner>[^'\"`*“”]*)['\"`*”][.,;:!]*")


@lru_cache(maxsize=16384)
def plain(text: str) -> str:
    """``fold`` without spaces, case and final punctuation; equal results mean the same text."""
    text = fold(text)
    bare = _BLANKS.sub("", text) if _APART.search(text) else "".join(text.split())
    if quoted := _QUOTED.fullmatch(bare):
        bare = quoted["inner"]
    bare = bare.lstrip(".,;:'\"`*")
    return (bare[:-_TAIL] + _END.sub("", bare[-_TAIL:])).casefold()


LEFT_OUT: Final = (
    " \t\n\r\xa0.,;:?!'\"`*$()&…《》〈〉「」『』【】“”·—´\u200b-\u200f\u2060\ufeff\ufe0f"
)
"""Signs that may be left out between the words of a text; every other sign distinguishes it."""
_SIGN = re.compile(
    r"(?<![A-Za-zα-ω])-|-(?![A-Za-z])|\d[.,:]\d|&&+|(?<=[\d)])!|_"  # a hyphen joins words
    r"|(?<![A-Za-z'\"])[A-Za-z]\d?['\"]+(?![A-Za-z'\"])|(?<=[A-Z]{2})'+(?![A-Za-z])"  # primes
    rf"|\\[A-Za-z]+|[^\w\s\-{LEFT_OUT}]"
)


def signs(text: str) -> list[str]:
    """The signs of a text that may not be left out, in order: the ∥ of AB∥CD, the prime of f'."""
    return _SIGN.findall(fold(text))
