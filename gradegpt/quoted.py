"""The spans of a quote and of a reference that a comparison may name; long ones are clipped.

All texts are bytes: constrained decoding sees tokens, which may be parts of characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from gradegpt.answers.options import LETTERS
from gradegpt.answers.spans import JOINTS
from gradegpt.boundaries import begins_whole, ends_whole, occurrences, sum_end
from gradegpt.fit import ELISION

LONG: Final = 100
"""Characters from which on an answer may end anywhere, also in an ellipsis."""
LONGEST: Final = 120
"""Most characters of an answer, as in the training rows."""
_CLIPPED: Final = ELISION.encode()
_BLANKS: Final = re.compile(r"\s{2}")
_LETTERS: Final = LETTERS.encode()
"""Option letters; chosen options may be joined: BD for B and D."""
_MARKS: Final = f"{JOINTS}。*"
_NO_START: Final = tuple(mark.encode() for mark in _MARKS)
"""Marks with which no answer begins."""
_HEADING: Final = re.compile(
    r"答案?|解答?|因此|所以|综上(?:所述)?|[故则即]|\b(?:answer|so|hence|thus|therefore)\b",
    re.IGNORECASE,
)
_LAYOUT: Final = re.compile(r"\\(?:begin|end)\{\w+\*?\}|\\[\[\]()]")
"""Delimiters of formulas."""
_CONTENT: Final = re.compile(f"[^\\s{_MARKS}$]")
"""Any sign other than marks; quotes and answers have at least one."""
_WORD_FIRST: Final = re.compile(rb"[A-Za-z]{3}[^\s\d]*\s[^\d]*\d")
"""A word before a number, as in "nine sausages is 25 minutes"; the number starts later."""
_SENTENCE: Final = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{4}|[\u3400-\u9fff]|####")
"""Signs of a reference that is more than a formula."""
_FORMULA: Final = re.compile(r"[\d=+^\\]")
_OPTION: Final = re.compile(
    rb"[\s$({\\]*(?:(?:rm|bf|text|mathrm|mathbf)\b\s*\{?\s*)?(?!II)[%b]+[\s})$.]*" % _LETTERS
)
_WRAPPING: Final = " $().。"
"""Signs around a formula that may be omitted."""
_ARTICLE: Final = re.compile(r"(?:the|an?)\s+(?=\w)", re.IGNORECASE)
_NAME: Final = re.compile(r"[^\W\d_]{2}")
"""Two adjacent letters or characters, which every name has."""
_DENIES: Final = re.compile(
    r"\b(?:no|not|never|neither|nor|none|without|cannot|instead|rather)\b|n['’]t\b"
    r"|[不没非无未否]",
    re.IGNORECASE,
)


class Quoted:
    """A quote and the answers in it; spaces are ignored except between words."""

    def __init__(self, line: bytes) -> None:
        self._line = line.rstrip()
        self.squeezed, self._at = _squeezed(self._line)
        self._result = sum_end(self._line)
        self._chosen = bytes(b for b in self.squeezed if b in _LETTERS)

    def holds(self, answer: bytes, *, whole: bool, number: bool = False) -> bool:
        """Whether the answer occurs in the quote, and, with ``whole``, is complete or long.

        ``number`` excludes answers that begin before the result of the last calculation, or with
        words before a number.
        """
        answer, clipped = _unclipped(answer)
        text = answer.decode(errors="ignore")
        broken = not answer.startswith(text.encode())  # incomplete character, followed by another
        if broken or text[:1].isspace():
            return False
        if len(text) > LONGEST or (clipped and not _is_long(answer)):
            return False
        if whole and not (has_content(answer) or _is_long(answer)):
            return False
        squeezed, _ = _squeezed(answer)
        wide = _BLANKS.search(text) is not None
        letters = squeezed.replace(b" ", b"")
        if all(b in _LETTERS for b in letters) and letters in self._chosen:
            return bool(letters) and not wide
        any_end = not whole or _is_long(answer)
        word_ends = text[-1:].isspace() and squeezed[-1:].isalpha()
        return any(
            (any_end or ends_whole(self._line, start, end))
            and not (word_ends and self._line[end : end + 1].isalpha())
            for start, end in self._spans(squeezed)
            if not (number and (start < self._result or _WORD_FIRST.match(self._line, start)))
            and not (wide and not self._line.startswith(answer, start))
        )

    def naming(self, reference: bytes) -> list[bytes]:
        """The spans with the words of the reference, article and case aside.

        Empty if the quote has a negation: "not Paris" does not give Paris.
        """
        line, text = (t.decode(errors="ignore") for t in (self._line, reference))
        bare = text.strip().rstrip(".。")
        article = _ARTICLE.match(bare)
        words = bare[article.end() if article else 0 :].split()
        name = " ".join(words)
        if not _NAME.search(name) or len(name) > LONGEST or _DENIES.search(line):
            return []
        spaced = ("(?:(?:the|an?) )?" if article else "") + r"\s+".join(map(re.escape, words))
        whole = rf"(?<![A-Za-z0-9]){spaced}(?![A-Za-z0-9])"
        return [m[0].encode() for m in re.finditer(whole, line, re.IGNORECASE)]

    def _spans(self, squeezed: bytes) -> Iterator[tuple[int, int]]:
        """The spans of an answer in the line."""
        for at in occurrences(squeezed, self.squeezed) if squeezed else ():
            start = self._at[at]
            begins = begins_whole(self._line, start) and has_content(self._line[start:])
            if begins and not self._line.startswith(_NO_START, start):
                yield start, self._at[at + len(squeezed) - 1] + 1


def names(answer: bytes, reference: bytes, *, whole: bool) -> bool:
    """Whether the answer occurs in the reference, and, with ``whole``, is complete or long."""
    if whole and reference and not answer.strip():
        return False
    bare, clipped = _unclipped(answer)
    if len(bare.decode(errors="ignore")) > LONGEST:
        return False
    if _is_formula(reference):
        return _names_formula(answer, reference, whole=whole)
    if clipped and _is_long(bare) and bare in reference:
        return True
    begun = [at for at in occurrences(answer, reference) if begins_whole(reference, at)]
    if not whole or _is_long(answer):
        return bool(begun)
    return any(ends_whole(reference, at, at + len(answer)) for at in begun)


@lru_cache(maxsize=4096)
def _is_formula(reference: bytes) -> bool:
    """Whether the reference is only a formula, a number, or several of these."""
    text = reference.decode(errors="ignore")
    no_more = len(text) <= LONG and not (_SENTENCE.search(text) or is_option(reference))
    return no_more and _FORMULA.search(text) is not None


def _names_formula(answer: bytes, reference: bytes, *, whole: bool) -> bool:
    """Whether the answer is the formula (``whole``) or its beginning, enclosing signs aside."""
    if whole:
        text, named = (t.decode(errors="ignore").strip(_WRAPPING) for t in (reference, answer))
        return answer in reference and named == text
    inside = reference.decode(errors="ignore").lstrip(_WRAPPING).encode()
    starts = range(len(reference) - len(inside) + 1)
    return any(reference.startswith(answer, at) for at in starts if begins_whole(reference, at))


def is_option(text: bytes) -> bool:
    """Whether the text is only option letters, also in LaTeX."""
    return _OPTION.fullmatch(text) is not None


def has_content(text: bytes) -> bool:
    """Whether the text has more than marks, layout and headings such as 答."""
    bare = _LAYOUT.sub("", _HEADING.sub("", text.decode(errors="ignore")))
    return _CONTENT.search(bare) is not None


def is_text(text: bytes) -> bool:
    """Whether the bytes are complete characters."""
    return text.decode(errors="ignore").encode() == text


def _is_long(answer: bytes) -> bool:
    return is_text(answer) and len(answer.decode()) >= LONG


def _unclipped(answer: bytes) -> tuple[bytes, bool]:
    """The answer without an ellipsis at its end, and whether it had one."""
    return answer.removesuffix(_CLIPPED), answer.endswith(_CLIPPED)


def _squeezed(text: bytes) -> tuple[bytes, list[int]]:
    """The text without spaces except for one between letters, and the offset of each byte."""
    kept, found, at = bytearray(), list[int](), 0
    gap: int | None = None
    for char in text.decode(errors="surrogateescape"):
        piece = char.encode(errors="surrogateescape")
        if char.isspace():
            gap = at if gap is None else gap
        else:
            if gap is not None and kept[-1:].isalpha() and piece.isalpha():
                kept += b" "
                found.append(gap)
            gap = None
            kept += piece
            found += range(at, at + len(piece))
        at += len(piece)
    return bytes(kept), found
