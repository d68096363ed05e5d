"""The English gloss of a Chinese answer sentence, without a teacher.

A small grammar over a table of school words: possessors turned round, numbers with their measure
words, conditions, comparisons, lists. Mathematics stays as it is. A sentence with an unknown word,
or of a shape that the grammar does not know, has no gloss: half of one, or one in the wrong order,
would teach a model to make things up.
"""

from __future__ import annotations

import re
from typing import Final

from data_gen.gloss.clauses import Clause, Clauses
from data_gen.gloss.tokens import FIRST_HELD, Token, Tokens, tokenise
from gradegpt.answers.text import CIRCLED

__all__ = ["render_gloss"]

LONGEST: Final = 400
"""Longer sentences are not read, in characters."""
_LONGEST_STRETCH: Final = 60
_NO_ITEM: Final = ("和", "与", "、", "或", "是", "为", "的", "比", "到", "等于")
"""Behind one of these the number before it is no heading."""
_HEADING: Final = " "
"""Closes a stretch that a heading in brackets follows."""
_PUNCTUATION: Final = str.maketrans("，。；：！？（）【】", ",.;:!?()[]")
_CJK = re.compile(r"[\u3400-\u9fff]")
_ITEM = re.compile(r"[(]\s*(?:\d{1,2}|[ivx]{1,4})\s*[)]|\d{1,2}[.)]|[①-⑳]|[-*•]|\(?[a-h]\)")
_BECAUSE = re.compile(r"^(?:\[[A-Z][a-z ]+\] )?(?:because|since) ")
_SO = re.compile(r"^(?:so|hence|thus|therefore,?|then) ")
_HELD_CHAR = re.compile("[\ue000-\uf8ff]")


def render_gloss(sentence: str) -> str | None:
    """The sentence in English; none where it cannot be put faithfully."""
    if len(sentence) > LONGEST:
        return None
    if not _CJK.search(sentence):
        return " ".join(sentence.translate(_PUNCTUATION).split())
    read = tokenise(sentence)
    if read is None:
        return None
    text = _sentence(read)
    return None if text is None else _finish(text, read.held)


def _sentence(read: Tokens) -> str | None:
    """The stretches between marks, each rendered, with the marks between them."""
    pieces: list[str] = []
    before: Clause | None = None
    mark = ""
    depth = 0
    for stretch, closing in _stretches(read.tokens):
        if depth and mark == ")" and stretch:
            return None
        depth += {"(": 1, ")": -1}.get(closing, 0)
        clause = _stretch(stretch, closing)
        if clause is None or depth not in (0, 1):
            return None
        if clause.kind == "predicate" and pieces:
            if before is None or before.kind != "full" or mark != ",":
                return None
            clause = clause._replace(text=f"and {clause.text}")
        if mark == ")" and clause.text:
            return None
        if before is not None and _BECAUSE.search(before.text):
            clause = clause._replace(text=_SO.sub("", clause.text))
        pieces.append(f"{clause.text}{' ' if closing == '(' else ''}{closing}")
        before, mark = clause, closing
    text = " ".join(piece for piece in pieces if piece)
    return None if depth else text if mark else text.removesuffix(",")


def _stretches(tokens: tuple[Token, ...]) -> list[tuple[tuple[Token, ...], str]]:
    """Cut behind each mark, and before each heading in brackets."""
    found: list[tuple[tuple[Token, ...], str]] = []
    start = 0
    for place, token in enumerate(tokens):
        if token.kind == "mark":
            found.append((tokens[start:place], token.text))
            start = place + 1
        elif token.kind == "label" and any(t.kind != "label" for t in tokens[start:place]):
            found.append((tokens[start:place], _HEADING))
            start = place
    return [*found, (tokens[start:], "")]


def _stretch(tokens: tuple[Token, ...], closing: str) -> Clause | None:
    """What stands between two marks, with its number or heading in front."""
    if tokens and len(tokens) > 1 and tokens[0].text in CIRCLED:
        named = Clauses(tokens, before_colon=closing == ":").whole()
        if named is not None and named.kind == "full":  # ①正确: the number is the subject
            return named
    opening: list[str] = []
    if len(tokens) > 2 and tokens[1].text == "、" and tokens[0].text.isdigit():
        if tokens[2].kind == "held":
            return None
        opening, tokens = [f"{tokens[0].english}."], tokens[2:]
    while tokens and (
        tokens[0].kind == "label"
        or (len(tokens) > 1 and _ITEM.fullmatch(tokens[0].text) and tokens[1].text not in _NO_ITEM)
    ):
        opening.append(tokens[0].english)
        tokens = tokens[1:]
    if not tokens:
        return Clause(" ".join(opening), "link")
    if len(tokens) > _LONGEST_STRETCH:
        return None
    label = next((e.english for e in tokens[0].entries if e.category == "lab"), "")
    if closing == ":" and len(tokens) == 1 and label:
        clause: Clause | None = Clause(label, "link")
    else:
        clause = Clauses(tokens, before_colon=closing in (":", _HEADING)).whole()
    return clause and clause._replace(text=" ".join([*opening, clause.text]))


def _finish(text: str, held: tuple[str, ...]) -> str | None:
    """Blanks and capitals set, and the mathematics put back."""
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"\s+([,.;:!?)])", r"\1", text)
    text = re.sub(r",+([,.;:])", r"\1", text)
    text = re.sub(r"([(])\s+", r"\1", text).strip()
    text = re.sub(r"(?:^|(?<=[.!?\]] ))[a-z]", lambda m: m[0].upper(), text)
    if sorted(_HELD_CHAR.findall(text)) != [chr(FIRST_HELD + n) for n in range(len(held))]:
        return None
    return _HELD_CHAR.sub(lambda m: held[ord(m[0]) - FIRST_HELD], text)
