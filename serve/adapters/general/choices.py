"""The words for right and wrong between which a prompt lets a judge choose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .statements import asked, meanings
from .words import (
    LABELLED,
    LOOSE,
    OTHER_TASK,
    PAIRS,
    QUOTED_PAIR,
    THIRDS,
    Pair,
    beside,
    meaning,
    word,
)

_SINGLE: Final = re.compile(r"^[01ABYN]$")
_OUT: Final = re.compile(
    r"\b(?:output|respond|response|reply|answer|return|print|say|state|write|give|provide|end|"
    r"conclude|choose|"
    r"select|label|classif|award|assign|indicate|only|either|verdict|judg|decision|grade|score|format|"
    r"one of|mark|as)|"
    r"输出|回答|回复|返回|给出|只|仅|判|选择|结论|结果|标记|评", re.IGNORECASE,
)  # fmt: skip
_WRAPS: Final = (
    ("#### ", ""),
    ("\\boxed{", "}"),
    ("[[", "]]"),
    ("[", "]"),
    ("<", ">"),
    ("【", "】"),
)


class ContractError(Exception):
    """No form of a reply, or one that is not clear."""


class MeaningError(ContractError):
    """The words of a reply are clear, and it is not what they mean."""


@dataclass(frozen=True)
class Choice:
    """A pair of words as the prompt spells them, and its word for nothing to grade."""

    pair: Pair
    first: str
    second: str
    third: str | None
    wrapped: tuple[str, str] = ("", "")


def choice_in(text: str) -> Choice | None:
    """The pair of words between which the prompt lets a judge choose.

    Words that need a meaning come first: "correct or incorrect" is also how a task is described.

    Raises:
        ContractError: there are several.

    """
    found = {}
    lower = text.lower()
    for pair in (pair for pair in PAIRS if pair.may_be_in(lower)):
        if words := _spelt(pair, text):
            found[pair] = words
    for plain in (False, True):
        own = [words for pair, words in found.items() if pair.plain is plain]
        spelt = {(words.first, words.second) for words in own}
        if len(spelt) > 1:
            own = _mapped(own, text)
        if own:
            return own[0]
    loose = (words for pair in LOOSE if pair.may_be_in(lower) and (words := _spelt(pair, text)))
    return _stated(text) or next(loose, None) or _negated(text) or _one_sided(text)


_TOKEN: Final = r"[^\W_][\w -]{0,23}"
_STRONG: Final = re.compile(
    rf"[\"“'`‘「]({_TOKEN})[\"”'`’」]|\\boxed\{{({_TOKEN})\}}|\[\[?({_TOKEN})\]|<\w+>({_TOKEN})</|"
    rf"\*\*({_TOKEN})\*\*|\b([A-Z][A-Z_]{{1,24}}|[0-5]|[A-Z](?= (?:for|if|when) ))\b"
)
"""A word in quotes, a box, brackets, a tag or capitals, or a digit."""
_MOST_WORDS: Final = 40


def _strong(text: str) -> list[str]:
    """The words that lines about a reply stress, in their order; each once."""
    lines = [line for line in text.split("\n") if _OUT.search(line) or _LISTED.match(line)]
    words = [
        next(filter(None, m.groups()))
        for line in lines
        for m in _STRONG.finditer(line)
        if not LABELLED.fullmatch(line[m.start() : m.end() + 1])
    ]
    return list({word.lower(): word for word in reversed(words)}.values())[-_MOST_WORDS:]


_LISTED: Final = re.compile(r"\s*[-*•]\W*\w+\W*$")


def _negated(text: str) -> Choice | None:
    """A word and its negation, such as SUPPORTED and NOT_SUPPORTED, that answer the question."""
    words = {re.sub(r"[\W_]", "", word).lower(): word for word in _strong(text)}
    pairs = [
        (word, words[prefix + name])
        for name, word in words.items()
        for prefix in ("not", "no", "un", "in", "dis", "non", "mis")
        if prefix + name in words
    ]
    if len(pairs) != 1 or asked(text) != {"right"} or OTHER_TASK.search(pairs[0][0]):
        return None
    [(right, wrong)] = pairs
    if meaning(right) != "right" and not right.lower().startswith("support"):
        return None
    return Choice(Pair(right.lower(), wrong.lower()), right, wrong, None, _wrap(right, wrong, text))


def _stated(text: str) -> Choice | None:
    """Any two words of which the prompt says that one is for right and the other for wrong."""
    words = _strong(text)
    if not words:
        return None
    said = meanings(text, words)
    right, wrong = ([w for w in words if said[w] == {what}] for what in ("right", "wrong"))
    if len(right) != 1 or len(wrong) != 1:
        return None
    pair = Pair(right[0].lower(), wrong[0].lower())
    return Choice(pair, right[0], wrong[0], None, _wrap(right[0], wrong[0], text))


def _one_sided(text: str) -> Choice | None:
    """Two quoted alternatives of which one means right by itself: "正确" or "needs work"."""
    if asked(text) != {"right"}:
        return None
    rights = {pair.right for pair in PAIRS if pair.plain}
    for line in text.split("\n"):
        match = QUOTED_PAIR.search(line)
        if match is None or not _OUT.search(line):
            continue
        for first, second in (match.groups(), match.groups()[::-1]):
            if first.lower() in rights and meaning(second) not in ("right", "partly", "nothing"):
                return Choice(Pair(first.lower(), second.lower()), first, second, None)
    return None


def _mapped(several: list[Choice], text: str) -> list[Choice]:
    """Of several pairs the one whose words the prompt explains or wraps, or else asks for last."""
    explained = [w for w in several if _explained(w, text)]
    quoted = [w for w in several if all(_quoted(v, text) for v in (w.first, w.second))]
    offered = [w for w in several if not _only_condition(w, text)]
    for only in (offered, explained, quoted):
        if len(only) == 1:
            return only
    names = " and ".join(f"{w.first}/{w.second}" for w in several)
    raise ContractError(f"the prompt asks for {names}; it is not clear for which of them")


def _only_condition(words: Choice, text: str) -> bool:
    """Whether the words only say when to reply with others: "True if yes, False if no"."""
    return all(
        re.search(rf"\b(?:if|for|when)\W+{word(one)}", text, re.IGNORECASE)
        for one in (words.first, words.second)
    )


def _explained(words: Choice, text: str) -> bool:
    said = meanings(text, (words.first, words.second))
    return bool(said[words.first] & {"right", "wrong"}) and bool(
        said[words.second] & {"right", "wrong"}
    )


def _spelt(pair: Pair, text: str) -> Choice | None:
    """A pair in the prompt's own spelling, where it offers both, side by side or each explained."""
    flags = (
        re.NOFLAG
        if _SINGLE.match(pair.right.upper()) and not pair.right.isdigit()
        else re.IGNORECASE
    )
    one, two = (pair.right.upper(), pair.wrong.upper()) if not flags else (pair.right, pair.wrong)
    if pair.right == "y" and re.search(r"(?P<quote>[\"'`])y(?P=quote)|[(\[]y */ *n[)\]]", text):
        one, two = "y", "n"
    for line in re.split(r"\n|(?<=[.。])\s", text):
        match = re.search(beside(one, two), line, flags)
        if match and (not pair.plain or (_OUT.search(line) and _emphatic(match, line))):
            return _words(pair, line, (one, two), flags, text)
    if not pair.plain or _SINGLE.match(one):
        said = meanings(text, (one, two))
        if said[one] & {"right", "wrong"} and said[two] & {"right", "wrong"}:
            return _words(pair, text, (one, two), flags, text)
    lines = [_quoted(value, text) or _under_label(value, text) for value in (one, two)]
    if all(lines) and not _SINGLE.match(one.upper()):
        return _words(pair, text, (one, two), flags, text)
    return None


def _quoted(value: str, text: str) -> bool:
    """Whether a line asks for the word itself."""
    quoted = rf"(?:[\"'`“‘「>]|\*\*|\[|boxed\{{)\s*(?:[^\n\"'`“”]{{0,24}}[:：]\s*)?{word(value)}"
    shouted = word(value.upper()) if value.isascii() else r"(?!)"
    return any(
        _OUT.search(line) and (re.search(quoted, line, re.IGNORECASE) or re.search(shouted, line))
        for line in text.split("\n")
    )


def _under_label(value: str, text: str) -> bool:
    """Whether a line is the whole reply with the word: ``Verdict: correct``."""
    under = re.compile(rf"[*\"'`]*\s*{word(value)}\W*(?:\n|\Z)", re.IGNORECASE)
    return any(under.match(text, label.end()) for label in LABELLED.finditer(text))


def _emphatic(match: re.Match[str], line: str) -> bool:
    """Whether words with a meaning of their own are offered, and do not describe the task."""
    before = line[: match.start()]
    described = re.search(
        r"(?:whether|if|is|are|be|or not|是否)\b[^,.:\"'`]*$", before, re.IGNORECASE
    )
    return not described or before.rstrip(" ").endswith(('"', "'", "`", "“", "*", "[", ":"))


def _words(pair: Pair, line: str, values: tuple[str, str], flags: int, text: str) -> Choice:
    first, second = (_spelling(value, line, flags) for value in values)
    third = None
    for name in THIRDS:
        if name != pair.wrong and re.search(word(name), text, re.IGNORECASE):
            third = _spelling(
                name, line if re.search(word(name), line, re.IGNORECASE) else text, re.IGNORECASE
            )
            break
    return Choice(pair, first, second, third, _wrap(first, second, line))


def _spelling(value: str, text: str, flags: int) -> str:
    """A word as the text has it: in quotes if it is quoted somewhere, else as it comes last."""
    quoted = re.search(rf"(?:[\"'`“‘「\[{{])({word(value)})(?=[\"'`”’」\]}}])", text, flags)
    if quoted:
        return quoted[1]
    found = [m[0] for m in re.finditer(word(value), text, flags)]
    loud = [one for one in found if one.isupper() or one.istitle()]
    return (loud or found or [value])[-1 if not loud else 0]


def _wrap(first: str, second: str, text: str) -> tuple[str, str]:
    for opening, closing in _WRAPS:
        if all(f"{opening}{one}{closing}" in text for one in (first, second)):
            return opening, closing
    return "", ""


def choice_of_values(values: Sequence[str]) -> Choice | None:
    """The words that are shown as the two values of a key."""
    shown = {value.lower(): value for value in values}
    for pair in PAIRS:
        if set(shown) == {pair.right, pair.wrong}:
            return Choice(pair, shown[pair.right], shown[pair.wrong], None)
    return None


def choice_of_listed(values: str) -> Choice | None:
    """The words for right and wrong among all that a key may have: "correct|partial|wrong"."""
    words = [w.strip("\"'`“”<>[](){}. ") for w in _BETWEEN_VALUES.split(values.strip(" ,}"))]
    found = [
        choice
        for at, first in enumerate(words)
        for second in words[at + 1 :]
        if (choice := choice_of_values([first, second])) is not None
    ]
    return found[0] if len(found) == 1 else None


_BETWEEN_VALUES: Final = re.compile(r"\s*(?:\||/|,|、|或者?|\bor\b)\s*")


def choice_of_examples(text: str, examples: str) -> Choice | None:
    """The words of solved items under the label with which the prompt ends."""
    last = text.rstrip().rsplit("\n", 1)[-1].strip()
    if not last.endswith((":", "：")):
        return None
    values = re.findall(rf"^\W*{re.escape(last)}[ \t]*(\S[^\n]{{0,30}})$", examples, re.MULTILINE)
    return choice_of_values([value.strip(" .") for value in values])
