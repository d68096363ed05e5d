"""A Chinese sentence as tokens: words, numbers, marks, and mathematics as it stands.

Mathematics is replaced by a placeholder until the English is finished, so nothing that is done to
the words can touch it.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from data_gen.gloss.lexicon import Entry, lexicon, simplified
from gradegpt.answers.spelled import spelled

FIRST_HELD: Final = 0xE000
"""Placeholders are private-use characters from here on."""
_HOLDABLE: Final = 500
_CJK: Final = "\u3400-\u9fff"
_MARKS: Final = {"，": ",", "。": ".", "；": ";", "：": ":", "！": "!", "？": "?", "．": "."}
_WIDE: Final = {0xFEE0 + c: chr(c) for c in range(0x21, 0x7F) if chr(c) not in ",.;:!?~"}
_PLAIN_GROUP = re.compile(rf"[(\[][^()\[\]{_CJK}。；！？]*[)\]]")
_BOLD = re.compile(
    r"(?<![A-Za-z0-9)])\*\*|\*\*(?![A-Za-z0-9(])|^(?:#{1,6}|>)[ \t]+|(?<![A-Za-z0-9])__"
)
_HELD = re.compile(
    rf"(?:\$\$[^$]*\$\$|\$[^$]*\$|\\\(.*?\\\)|\\\[.*?\\\]|[^{_CJK}，。；：、！？．【】“”‘’《》「」…—∵∴])+"
)
_ITEM = re.compile(
    r"(?:\((?:\d{1,2}|[ivx]{1,4})\)|[①-⑳]|\d{1,2}\.(?!\d))"
    r"(?:\s+(?=\S)|(?=\$|\\\(|[A-Za-z]+ ?[=<>]))"
)
_NUMERAL = "零〇一二两三四五六七八九十百千万亿"
_SPELLED = re.compile(
    rf"负?[{_NUMERAL}]+(?:点[零〇一二三四五六七八九]+)?(?:分之[{_NUMERAL}]+(?:点[{_NUMERAL}]+)?)?"
)
_DIGITS = re.compile(r"-?\d+(?:\.\d+)?")
_SCALES: Final = {"万": "10,000", "亿": "100,000,000", "千": "1,000", "百": "100"}
_WORDS: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty",
)  # fmt: skip
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
    """Append mathematics with the marks around it; whether it leaves no doubt."""
    body = run.strip()
    gap = run[len(run.rstrip()) :] if body else run
    if any("\u3400" <= c <= "\u9fff" for c in run) or (tokens and re.search(r"\t|\s{2}", gap)):
        return False  # answers side by side say nothing of how they belong together
    while body and (body[0] in ",;:!?" or body == "." or body.startswith(". ")):
        tokens.append(Token("mark", body[0]))
        body = body[1:].lstrip()
    if not tokens or tokens[-1].kind in ("mark", "label"):
        item = _ITEM.match(body)
        if item:
            tokens.append(_held(item[0].rstrip(), held))
            body = body[item.end() :]
    marks = ""
    while body and body[-1] in ",;:!?.":
        marks, body = body[-1] + marks, body[:-1].rstrip()
    before, body, behind = _without_brackets(body)
    tokens += [Token("mark", c) for c in before]
    if body:
        tokens.append(Token("word", body) if body == "/" else _held(body, held))
    tokens += [Token("mark", c) for c in behind + marks]
    return _excess(body) == 0


def _held(body: str, held: list[str]) -> Token:
    held.append(body)
    return Token("held", body, chr(FIRST_HELD + len(held) - 1))


def _excess(body: str) -> int:
    """How many more brackets are opened than closed; [0,1) is even."""
    return sum(body.count(c) for c in "([{") - sum(body.count(c) for c in ")]}")


def _without_brackets(body: str) -> tuple[str, str, str]:
    """Round brackets that enclose words outside, split off at both ends."""
    before = behind = ""
    while _excess(body) > 0 and body.startswith("("):
        before, body = before + "(", body[1:].lstrip()
    if _excess(body) > 0 and body.endswith("("):
        behind, body = "(", body[:-1].rstrip()
    if _excess(body) < 0 and body.startswith(")"):
        before, body = before + ")", body[1:].lstrip()
    while _excess(body) < 0 and body.endswith(")"):
        behind, body = ")" + behind, body[:-1].rstrip()
    return before, body, behind


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
