"""Normalise spelling: ``tidy`` strips the markup of a response, ``fold`` normalises an answer.

``tidy`` preserves lengths, so a span of its result is a span of the response: traditional
characters become simplified; hidden text, HTML tags, entities, and the verdict tags and frames of a
judge, which a response must not contain, become spaces. ``fold`` and ``plain`` change lengths but
not the content of an answer. ``signs.tsv`` has the spellings of each sign.
"""

from __future__ import annotations

import html
import re
import unicodedata
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from gradegpt.answers.hidden import visible

_MARKUP: Final = re.compile(
    r"(?P<tag></?(?:p|div|span|b|strong|i|em|u|br|li|ul|ol|font|center|h[1-6]|table|tr|td|th|tbody"
    r"|yes|no|response|reference|question|context)(?:\s[^<>]{0,200})?/?>)"
    r"|(?<=[A-Za-z0-9)])<(?P<raised>su[pb])>(?P<index>[-+−]?\w{1,4})</(?P=raised)>(?!\w)"
    r"|(?P<entity>&(?:[A-Za-z]{2,8}\d{0,2}|#\d{2,4});)|(?P<zero>零下)(?=\s?\d)"
    "|[\U0001f300-\U0001faff\u2705\u274c\u2b55\ufe0f]+",
    re.IGNORECASE,
)
_LINES: Final = ("p", "/p", "di", "/di", "br", "li", "/li", "tr", "h")
_DOUBLED: Final = re.compile(r"\\\\(?=[A-Za-z()\[\]])")
"""A backslash that was escaped twice."""


def simplified(text: str) -> str:
    """The text with its traditional characters simplified one by one, of the same length."""
    if text.isascii():
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
    radicals = map(chr, (*range(0x2F00, 0x2FD6), *range(0xF900, 0xFADA)))  # ⽩ for 白
    made |= {sign: unicodedata.normalize("NFKC", sign) for sign in radicals}
    return re.compile(f"[{''.join(made)}]"), str.maketrans(made)


def tidy(text: str) -> str:
    """``text`` without what is hidden, HTML and traditional characters, of the same length."""
    text = visible(text)
    if "\\\\(" in text or "\\\\[" in text:
        text = _DOUBLED.sub(r" \\", text)
    if not text.isascii() or "<" in text or "&" in text:
        text = _MARKUP.sub(lambda found: _shown(found).ljust(len(found[0])), text)
    return simplified(text)


def _shown(markup: re.Match[str]) -> str:
    if tag := markup["tag"]:
        return "\n" if tag[1:].lower().startswith(_LINES) else ""
    if raised := markup["raised"]:
        return f"{'^' if raised.lower() == 'sup' else '_'}{{{markup['index']}}}"
    if entity := markup["entity"]:
        sign = html.unescape(entity)
        return sign if sign.isprintable() else ""
    # A text that is nothing but a picture keeps it.
    return " -" if markup["zero"] else "" if any(map(str.isalnum, markup.string)) else markup[0]


# --- normalisation ------------------------------------------------------------------------------

_SPELLINGS: Final = {
    spelling: {"SPACE": " ", "NOTHING": ""}.get(sign, sign)
    for line in Path(__file__).with_name("signs.tsv").read_text(encoding="utf-8").splitlines()[1:]
    for sign, _, spellings in [line.partition("\t")]
    for spelling in spellings.split()
} | {"\\ ": " "}
_CHARACTERS: Final = str.maketrans({one: sign for one, sign in _SPELLINGS.items() if len(one) == 1})
CIRCLED: Final = "".join(map(chr, range(0x2460, 0x2474)))
"""① to ⑳, which NFKC would turn into digits."""
_BEFORE: Final = _CHARACTERS | {ord(sign): f"({n})" for n, sign in enumerate(CIRCLED, start=1)}
_COMMAND: Final = re.compile(r"\\(?:[a-z]+(?=[A-Z])|[A-Za-z]+|(?<!\\\\)[%${}(),;!: ])")
r"""A command of LaTeX; also that of 25^\circC, which lacks its space."""
_FONT: Final = re.compile(
    r"\\(?:text(?:bf|it|rm)?|math(?:rm|bf|bb|it)|boldsymbol|operatorname|bm|mbox|ce)"
    r"\s*\{((?:[^{}]|\{[^{}]*\})*)\}"
)
_RAISED: Final = re.compile(
    r"\^\s*(?:\{\s*(°|'[\s']*)\s*\}|(°|'+))|(?<=\d)\s*\^\s*\{?\s*((?:o|st|nd|rd|th)\b)\s*\}?"
)
"""What looks like a power: a degree, primes and the ending of an ordinal."""
SYSTEM: Final = re.compile(
    r"(?:\\left\s*\\\{\s*\\begin\{(?:array|aligned)\}(?:\{[lcr]+\})?|\\begin\{cases\})"
    r"(?P<rows>[^&]*?)\\end\{\w+\}(?:\s*\\right\s*\.)?"
)
"""A system of equations or its solution, which has no columns."""
_SHORT_FRACTION: Final = re.compile(r"\\frac\s*(?:(\d)|\{(\d+)\})\s*(?:(\d)|\{(\d+)\})")
_POWER: Final = re.compile("[⁺⁻]?[⁰¹²³⁴-⁹ⁿˣʸᵏᵐᵃᵇᵗ]+")
_IN_WORDS: Final = re.compile(
    r"(?<=\d)(?:(?=[¼-¾⅐-⅞])|\s*又\s*(?=\d+\s*/|\\[dt]?frac)|\s*比\s*(?=\d))"
    r"|零下(?=\s?\d)|根号(?=\s?[\d(一二三四五六七八九])|(?<=[\d)])\s?[兀派Π](?![\u3400-\u9fff])"
)
"""The gap of a mixed number, 1½ and 1又1/2, and in words a ratio, 1比2, a minus, a root sign, π."""
_WRITTEN: Final = {"比": ":", "零下": "-", "根号": "√"} | dict.fromkeys("兀派Π", "π")
_TIE: Final = re.compile(r"(?<=[}$])~|(?<=[a-z]\{)~|(?<=[\d.])~(?=[A-Za-z])|~(?=[\\$])")
"""The ``~`` of LaTeX that is a space, as in 3~cm; elsewhere it negates, or means "about"."""
_BACKSLASH: Final = re.compile(r"(?<=\d)\\(?=\d)")
_PARALLEL: Final = re.compile(r"(?<=[A-Za-z])\s?//\s?(?=[A-Za-zα-ω])")


@lru_cache(maxsize=16384)
def fold(text: str) -> str:
    """NFKC (full width to half), without LaTeX spacing and fonts, symbols as Unicode."""
    if not text.isascii():
        # Powers before NFKC, which would turn 10² into 102.
        text = _POWER.sub(_power, simplified(text))
        text = _IN_WORDS.sub(lambda m: _WRITTEN.get(m[0].strip(), " "), text)
        text = unicodedata.normalize("NFKC", text.translate(_BEFORE)).translate(_CHARACTERS)
    text = _TIE.sub(" ", text) if "~" in text else text
    text = (
        text.replace("{,}", ",")
        .replace("{+}", "+")
        .replace("{=}", "=")
        .replace("$", " ")
        .replace("**", "")
    )
    text = _PARALLEL.sub("∥", text) if "//" in text else text
    if "\\" in text:
        text = _BACKSLASH.sub("/", text)
        text = _COMMAND.sub(lambda known: _SPELLINGS.get(known[0], known[0]), _in_rows(text))
        for _ in range(3):
            text = _FONT.sub(r"\1", text)
        text = _SHORT_FRACTION.sub(r"\\frac{\1\2}{\3\4}", text)
    return _RAISED.sub(_lowered, text) if "^" in text else text


def _power(raised: re.Match[str]) -> str:
    digits = unicodedata.normalize("NFKC", raised[0]).replace("−", "-")
    return f"^{digits}" if len(digits) == 1 else f"^{{{digits}}}"


def _lowered(raised: re.Match[str]) -> str:
    return "".join(raised[raised.lastindex or 0].split()).replace("o", "°")


def _in_rows(text: str) -> str:
    """The text with the rows of each system of equations as a list."""
    return SYSTEM.sub(lambda m: ", ".join(r.strip(" ,;，；\n") for r in m[1].split(r"\\")), text)


_BLANKS: Final = re.compile(r"(?<!\d)\s+|\s+(?!\d)|(?<=\d)\s+(?=\d{3}(?!\d))")
"""All spaces but those that separate two numbers: 1 000 is one number, 1 05 is two."""
_TAIL: Final = 40
"""Characters in which the end is searched for, so that a long row of signs takes no time."""
_END: Final = re.compile(
    r"(?:(?<![\d)'])(?<!(?<![A-Za-zα-ω])[A-Za-zα-ω])(?:!|(?<![A-Z])['\"]+)|[.,;:`*])+\Z"
)
"""What may be left out at the end; not the prime of f' or AB', nor the factorial of n!."""
_QUOTED: Final = re.compile(r"(['\"`*“])(?P<inner>[^'\"`*“”]*)['\"`*”][.,;:!]*")


@lru_cache(maxsize=16384)
def plain(text: str) -> str:
    """``fold`` without spaces, case and final punctuation; equal results mean the same text."""
    bare = fold(text)
    if bare.isalnum():
        return bare.casefold()
    bare = _BLANKS.sub("", bare)
    if quoted := _QUOTED.fullmatch(bare):
        bare = quoted["inner"]
    bare = bare.lstrip(".,;:'\"`*")
    return (bare[:-_TAIL] + _END.sub("", bare[-_TAIL:])).casefold()


LEFT_OUT: Final = (
    " \t\n\r\xa0.,;:?!'\"`*$()&…《》〈〉「」『』【】“”·—´\u200b-\u200f\u2060\ufeff\ufe0f"
)
"""Signs that may be left out between the words of a text; every other sign distinguishes it."""
_SIGN: Final = re.compile(
    r"(?<![A-Za-zα-ω])-|-(?![A-Za-z])|\d[.,:]\d|&&+|(?<=[\d)])!|_"  # a hyphen joins words
    r"|(?<![A-Za-z'\"])[A-Za-z]\d?['\"]+(?![A-Za-z'\"])|(?<=[A-Z]{2})'+(?![A-Za-z])"  # primes
    rf"|\\[A-Za-z]+|[^\w\s\-{LEFT_OUT}]"
)


def signs(text: str) -> list[str]:
    """The signs of a text that may not be left out, in order: the ∥ of AB∥CD, the prime of f'."""
    return _SIGN.findall(fold(text))
