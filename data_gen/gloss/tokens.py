"""A Chinese sentence as tokens: words, numbers, marks, and mathematics as it stands.

Mathematics is replaced by a placeholder until the English is finished, so nothing that is done to
the words can touch it.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from data_gen.gloss.lexicon import Entry, lexicon, simplified
from gradegpt.rules.numerals import spelled

FIRST_HELD: Final = 0xE000
"""Placeholders are private-use characters from here on."""
_HOLDABLE: Final = 500
_CJK: Final = "\u3400-\u9fff"
_MARKS: Final = {"，": ",", "。": ".", "；": ";", "：": ":", "！": "!", "？": "?", "．": "."}
_WIDE: Final = {0xFEE0 + c: chr(c) for c in range(0x21, 0x7F) if chr(c) not in ",.;:!?~"}
_PLAIN_GROUP = re.compile(rf"[(\[][^()\[\]{_CJK}。；！？]*[)\]]")
_BOLD = re.compile(r"(?<![A-Za-z0-9)])\*\*|\*\*(?![A-Za-z0-9(])|^#{1,6}[ \t]+|(?<![A-Za-z0-9])__")
_HELD = re.compile(
    rf"(?:\$\$[^$]*\$\$|\$[^$]*\$|\\\(.*?\\\)|\\\[.*?\\\]|[^{_CJK}，。；：、！？．【】“”‘’《》「」…—∵∴])+"
)
_NUMERAL = "零〇一二两三四五六七八九十百千万亿"
_SPELLED = re.compile(
    rf"负?[{_NUMERAL}]+(?:点[零〇一二三四五六七八九]+)?(?:分之[{_NUMERAL}]+(?:点[{_NUMERAL}]+)?)?"
)
_DIGITS = re.compile(r"-?\d+(?:\.\d+)?")
_SCALES: Final = {"万": "10,000", "亿": "100,000,000", "千": "1,000", "百": "100"}
_WORDS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
).split()
_PARTS: Final = (
    "half",
    "third",
    "quarter",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
)


class Token(NamedTuple):
    """``kind``: word, number, held (mathematics), mark or label. ``english`` of all but words."""

    kind: str
    text: str
    english: str = ""
    entries: tuple[Entry, ...] = ()


class Tokens(NamedTuple):
    """The tokens, and what the placeholders stand for, in their order."""

    tokens: tuple[Token, ...]
    held: tuple[str, ...]


def tokenise(sentence: str) -> Tokens | None:
    """The tokens of a sentence, or none where a word is unknown."""
    text = _BOLD.sub("", sentence.translate(simplified()).translate(_WIDE))
    text = re.sub("“([^“”\u3400-\u9fff]*)”", r'"\1"', text)
    text = _PLAIN_GROUP.sub(lambda m: m[0].replace("，", ",").replace("．", "."), text).strip()
    if re.search("[\ue000-\uf8ff\ufffd]", text):
        return None
    tokens: list[Token] = []
    held: list[str] = []
    position = 0
    while position < len(text):
        end = _take(text, position, tokens, held)
        if end is None or len(held) > _HOLDABLE:
            return None
        position = end
    return Tokens(tuple(tokens), tuple(held))


def _take(text: str, position: int, tokens: list[Token], held: list[str]) -> int | None:
    """Append the token at ``position``; where it ends."""
    char = text[position]
    if char in _MARKS:
        tokens.append(Token("mark", _MARKS[char]))
        return position + 1
    if char == "【":
        return _take_label(text, position, tokens)
    if match := _HELD.match(text, position):
        return match.end() if _hold(match[0], tokens, held) else None
    word = _longest_word(text, position)
    number = _SPELLED.match(text, position)
    scaled = _SCALES.get(char) if tokens and _DIGITS.fullmatch(tokens[-1].text) else None
    if scaled and len(word) <= 1:
        last = tokens.pop()
        tokens.append(Token("number", last.text + char, f"{last.english} × {scaled}"))
        return position + 1
    if number and len(number[0]) > len(word):
        english = _in_words(number[0])
        tokens.append(Token("number", number[0], english))
        return number.end() if english else None
    if not word:
        return None
    tokens.append(Token("word", word, entries=lexicon().entries[word]))
    return position + len(word)


def _longest_word(text: str, position: int) -> str:
    table = lexicon()
    for length in range(min(table.longest, len(text) - position), 0, -1):
        if (word := text[position : position + length]) in table.entries:
            return word
    return ""


def _take_label(text: str, position: int, tokens: list[Token]) -> int | None:
    end = text.find("】", position)
    name = text[position + 1 : end].strip() if end > 0 else ""
    english = next((e.english for e in lexicon().entries.get(name, ()) if e.category == "lab"), "")
    tokens.append(Token("label", name, f"[{english}]"))
    return end + 1 if english else None


def _hold(run: str, tokens: list[Token], held: list[str]) -> bool:
    """Append mathematics with the marks around it; whether its brackets leave no doubt."""
    if any("\u3400" <= c <= "\u9fff" for c in run):
        return False
    body = run.strip()
    after: list[Token] = []
    while body and (body[0] in ",;:!?" or body == "." or body.startswith(". ")):
        tokens.append(Token("mark", body[0]))
        body = body[1:].lstrip()
    while body and (body[-1] in ",;:!?" or body.endswith(".")):
        after.insert(0, Token("mark", body[-1]))
        body = body[:-1].rstrip()
    excess = sum(body.count(c) for c in "([{") - sum(body.count(c) for c in ")]}")
    while excess > 0 and body.startswith("("):
        tokens.append(Token("mark", "("))
        body, excess = body[1:].lstrip(), excess - 1
    while excess < 0 and body.endswith(")"):
        after.insert(0, Token("mark", ")"))
        body, excess = body[:-1].rstrip(), excess + 1
    if body == "/":
        tokens.append(Token("word", body))
    elif body:
        tokens.append(Token("held", body, chr(FIRST_HELD + len(held))))
        held.append(body)
    tokens += after
    return excess == 0


def _in_words(numeral: str) -> str:
    """三分之二 -> "two thirds", 百分之五 -> "five percent", 三十六 -> "36"; empty if unreadable."""
    below, parts, above = numeral.partition("分之")
    if not parts:
        value = spelled(numeral)
        if value is None or value < 0:
            return "" if value is None else f"{float(value):g}"
        whole = value.denominator == 1
        if whole and value <= 20:
            return _WORDS[int(value)]
        return f"{int(value):,}" if whole else f"{float(value):g}"
    top, bottom = _in_words(above), spelled(below)
    if not top or bottom is None:
        return ""
    if bottom == 100:
        return f"{top} percent"
    if 2 <= bottom <= 10:
        part = _PARTS[int(bottom) - 2]
        several = "" if top == "one" else "s"
        return f"{top} {'halve' if several and bottom == 2 else part}{several}"
    return f"{top}/{int(bottom)}" if top.isdigit() else f"{spelled(above)}/{int(bottom)}"
